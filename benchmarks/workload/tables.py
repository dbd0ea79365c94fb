"""The figures as tables: lists of lines of cells, the header first. Of several workloads medians are shown."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from benchmarks.workload.adaptive import ADAPTIVE, STATIC
from benchmarks.workload.engine import BASE, REORDERED
from benchmarks.workload.figures import BEST
from benchmarks.workload.searching import CLOSE, SWITCH_GOAL

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchmarks.tables import Lines
    from benchmarks.workload.adaptive import Adapted
    from benchmarks.workload.figures import Figure
    from benchmarks.workload.gains import Gains
    from benchmarks.workload.promises import Promises
    from benchmarks.workload.scale import Scaled
    from benchmarks.workload.searching import Searched, Switched

COST_GOAL, THROUGHPUT_GOAL, MATCHED_GOAL = 20.0, 10.0, 0.5


def promise_lines(found: Sequence[Promises]) -> Lines:
    """One column for each data set."""
    rows: list[tuple[str, Callable[[Promises], str]]] = [
        ("data", lambda one: one.data),
        ("events", lambda one: f"{one.n_events:,}"),
        ("types", lambda one: str(one.n_types)),
        ("events per type and window", lambda one: _range(one.per_window)),
        ("conditions in the pool", lambda one: str(one.n_conditions)),
        ("their selectivities", lambda one: _range(one.selectivities)),
        ("patterns", lambda one: str(one.n_patterns)),
        ("forms", lambda one: ", ".join(f"{number} {form}" for form, number in sorted(one.forms.items()))),
        ("types of a pattern, mean", lambda one: f"{one.n_components:.1f}"),
        ("conditions of a pattern, mean", lambda one: f"{one.n_conditions_each:.1f}"),
        ("expected matches of a pattern in a window", lambda one: _range(one.expected)),
        ("expected matches in all", lambda one: f"{one.expected_total:,.0f}"),
        ("matches", lambda one: f"{one.n_matches:,}"),
        ("patterns with a match", lambda one: f"{one.share_matched:.0%} {_goal(one.share_matched, MATCHED_GOAL)}"),
        ("density of the graph", lambda one: f"{one.density:.2f}"),
    ]
    return [[title, *(cell(one) for one in found)] for title, cell in rows]


def gain_lines(figure: Figure, gain: Callable[[Gains, str, str], float]) -> Lines:
    """At each place the gain of every method over the base, and that of the best one over reordering."""
    has_density = figure.name == "14ab"
    lines = [[
        figure.axis, *(["density"] if has_density else []), *figure.methods, f"{BEST} over {REORDERED}",
        f"{BEST}, least", "most",
    ]]
    for x, found in figure.points.items():
        best = [gain(one, BEST, BASE) for one in found]
        lines.append([
            f"{x:g}", *([f"{median(one.density for one in found):.2f}"] if has_density else []),
            *(_times(median(gain(one, method, BASE) for one in found)) for method in figure.methods),
            _times(median(gain(one, BEST, REORDERED) for one in found)), _times(min(best)), _times(max(best)),
        ])
    return lines


def rate_lines(figure: Figure) -> Lines:
    """What the gains in throughput are made of: events per second, and how much there was to do."""
    lines = [[figure.axis, "events", "matches", "patterns with a match", f"{BASE}, events/s", f"{BEST}, events/s"]]
    for x, found in figure.points.items():
        lines.append([
            f"{x:g}", f"{median(one.n_events for one in found):,.0f}", f"{median(one.n_matches for one in found):,.0f}",
            f"{median(one.share_matched for one in found):.0%}",
            *(f"{median(one.throughput(method) for one in found):,.0f}" for method in (BASE, BEST)),
        ])
    return lines


def goal_lines(found: Sequence[Gains]) -> Lines:
    """Workload by workload, what is to be reached on the selective generator."""
    lines = [["workload", "plan cost, x", "goal", "throughput, x", "goal", "plan cost over sh, x", "over re, x"]]
    for number, one in enumerate(found, 1):
        cost, throughput = one.cost_gain(BEST), one.throughput_gain(BEST)
        lines.append([
            str(number), _times(cost), _goal(cost, COST_GOAL), _times(throughput), _goal(throughput, THROUGHPUT_GOAL),
            _times(one.cost_gain(BEST, "sh")), _times(one.cost_gain(BEST, REORDERED)),
        ])
    return lines


def unselective_lines(found: Sequence[Gains]) -> Lines:
    """Gains where most of the work is to make matches, and the share of time that goes into it."""
    lines = [[
        "workload", "events", "matches", "method", "plan cost, x", "throughput, x", "events/s", "matches/s", "emitting"
    ]]
    for number, one in enumerate(found, 1):
        for method, measured in one.methods.items():
            lines.append([
                str(number), f"{one.n_events:,}", f"{one.n_matches:,}", method, _times(one.cost_gain(method)),
                _times(one.throughput_gain(method)), f"{one.throughput(method):,.0f}",
                f"{one.n_matches / measured.seconds:,.0f}", f"{measured.emitting / measured.seconds:.0%}",
            ])
    return lines


def adaptive_lines(found: Mapping[int, Sequence[Adapted]]) -> Lines:
    """By the number of events between two changes."""
    lines = [[
        "events between changes", "changes per 1000 events", "events", "static, x", "adaptive, x", "switches",
        "plan cost by a switch, x", "search s",
    ]]
    for n_between, adapted in found.items():
        switches = [gain for one in adapted for gain in one.switches]
        lines.append([
            f"{n_between:,}", f"{1000 / n_between:g}", f"{median(one.n_events for one in adapted):,.0f}",
            *(_times(median(one.gain(run) for one in adapted)) for run in (STATIC, ADAPTIVE)),
            f"{median(len(one.switches) for one in adapted):g}", _times(median(switches)) if switches else "",
            f"{median(one.searching for one in adapted):.0f}",
        ])
    return lines


def search_lines(found: Sequence[Searched], short: float, long: float) -> Lines:
    """Workload by workload, how near the short search is."""
    lines = [["seed", f"cost after {short:.1f} s", "steps", f"after {long:.0f} s", "steps", "more", "goal"]]
    lines += [
        [
            str(one.seed), f"{one.short:,.1f}", f"{one.short_steps:,}", f"{one.long:,.1f}", f"{one.long_steps:,}",
            f"{one.ratio - 1:.1%}", "ok" if one.ratio <= CLOSE else "MISSED",
        ]
        for one in found
    ]
    return lines


def switch_lines(found: Switched) -> Lines:
    """Milliseconds."""
    goal = "ok" if max(found.added, found.removed) < SWITCH_GOAL else "MISSED"
    return [
        ["patterns", "events in flight", "pattern added, ms", "removed, ms", "feed without a change, ms", "goal"],
        [str(found.n_patterns), f"{found.n_held:,}",
         *(f"{1000 * one:.0f}" for one in (found.added, found.removed, found.unchanged)), goal],
    ]


def scale_lines(found: Scaled) -> Lines:
    """In memory, and on Spark if it was asked."""
    lines = [
        ["patterns", f"{found.n_patterns:,}"], ["events", f"{found.n_events:,}"],
        ["most of a type in a window", str(found.most_in_window)], ["seconds", f"{found.seconds:,.0f}"],
        ["events/s", f"{found.n_events / found.seconds:,.0f}"], ["matches", f"{found.n_matches:,}"],
        ["patterns with a match", f"{found.share_matched:.0%}"], ["MB of the table", f"{found.table:,.0f}"],
        ["MB that detection adds at most", f"{found.grown:,.0f}"], ["MB of the process at most", f"{found.peak:,.0f}"],
    ]
    if found.spark is not None:
        lines += [
            ["events on Spark", f"{found.n_spark_events:,}"], ["seconds on Spark", f"{found.spark:,.0f}"],
            ["answers", "DIFFER" if found.wrong else "the same"],
        ]
    return [["what", "measured"], *lines]


def _times(gain: float) -> str:
    return f"{gain:.1f}" if gain < 100 else f"{gain:,.0f}"


def _range(values: tuple[float, float]) -> str:
    return " to ".join(f"{value:.3g}" for value in values)


def _goal(value: float, goal: float) -> str:
    return f"({goal:g} {'ok' if value >= goal else 'MISSED'})"
