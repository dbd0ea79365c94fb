"""What was measured, as tables: lists of lines of cells, the header first."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from benchmarks.trends.approaches import APPROACHES, TWO_STEP
from benchmarks.trends.figures import ALL, COUNTING, ENGINE, Measured
from benchmarks.trends.goals import GAIN, STATE_BYTES
from benchmarks.trends.workload import SHORT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.tables import Lines
    from benchmarks.trends.figures import Figure, Point
    from benchmarks.trends.goals import Gain, Kept, Rate
    from benchmarks.trends.on_spark import OnSpark


def query_lines(points: dict[str, Point]) -> Lines:
    """q1 to q4: seconds by approach, and how many times those of the engine."""
    lines = [["query", "events", "trends", "algorithm", *(f"{name} s" for name in ALL), "answers"]]
    for name, point in points.items():
        ours = point.measured[ENGINE]
        cells = []
        for approach in ALL:
            found = point.measured.get(approach)
            if isinstance(found, Measured) and isinstance(ours, Measured):
                ratio = "" if approach in (ENGINE, COUNTING) else f" ({found.seconds / ours.seconds:.2g}x)"
                cells.append(f"{found.seconds:.3f}{ratio}")
            else:
                cells.append(found if isinstance(found, str) else "cannot")
        lines.append([name, f"{point.n_events:,}", point.n_trends, point.algorithm, *cells, _verdict(point)])
    return lines


def latency_lines(figure: Figure) -> Lines:
    """Milliseconds until a window is answered."""
    lines = _lines(figure, lambda point, found: _short(1000 * found.seconds))
    for line, cells in zip(lines, [["trends", "answers"], *(_ends(point) for point in figure.points)], strict=True):
        line += cells
    return lines


def throughput_lines(figure: Figure) -> Lines:
    """Million events per second."""
    return _lines(figure, lambda point, found: _short(point.n_events / found.seconds / 1e6))


def state_lines(figure: Figure) -> Lines:
    """KiB that are kept at the most: state, graph, counters, or stacks, pointers and trends."""
    lines = _lines(figure, lambda point, found: f"{found.n_bytes / 1024:,.1f}")
    place = lines[0].index(COUNTING)
    return [[*line[:place], *line[place + 1 :]] for line in lines]


def _lines(figure: Figure, shown: Callable[[Point, Measured], str]) -> Lines:
    approaches = [name for name in ALL if any(name in point.measured for point in figure.points)]
    lines = [[figure.axis, *approaches]]
    for point in figure.points:
        found = (point.measured[approach] for approach in approaches)
        cells = [shown(point, one) if isinstance(one, Measured) else one for one in found]
        lines.append([along(figure, point.x), *cells])
    return lines


def _short(value: float) -> str:
    """Three digits, without an exponent."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def along(figure: Figure, x: float) -> str:
    """A place on the figure's axis."""
    return f"{x:.0%}" if figure.axis == "selectivity" else f"{x:,.0f}"


def _ends(point: Point) -> list[str]:
    return [point.n_trends, _verdict(point)]


def _verdict(point: Point) -> str:
    if point.n_trends == "0":
        return "no trend"
    is_compared = any(isinstance(point.measured.get(approach), Measured) for approach in APPROACHES)
    return "DIFFER" if point.wrong else "agree" if is_compared else "not compared"


def death_lines(figures: Sequence[Figure]) -> Lines:
    """Where two-step approaches die."""
    lines = [["figure", "what", "along", *(text for name in TWO_STEP for text in (f"{name} answers", "dies at"))]]
    for figure in figures:
        cells = []
        for approach in TWO_STEP:
            answered, died = figure.died_at(approach)
            cells.append("nothing" if answered is None else f"up to {along(figure, answered)}")
            cells.append("not here" if died is None else along(figure, died))
        lines.append([figure.name, figure.title, figure.axis, *cells])
    return lines


def rate_lines(rates: Sequence[Rate]) -> Lines:
    """Events per second of processor time and by the clock, beside the goals."""
    lines = [["query", "counts", "events", "s", "M events/s", "M events/s, clock", "goal"]]
    for rate in rates:
        verdict = "ok" if rate.rate >= rate.goal else "MISSED"
        lines.append([
            f"{rate.pattern} under {SHORT[rate.semantics]}", rate.counts, f"{rate.n_events:,}",
            f"{median(rate.cpu):.3f}", f"{rate.rate / 1e6:.1f}", f"{rate.n_events / median(rate.wall) / 1e6:.1f}",
            f"{rate.goal / 1e6:.0f}M {verdict}",
        ])
    return lines


def kept_lines(states: Sequence[Kept]) -> Lines:
    """Bytes per group and window."""
    lines = [["query", "open windows", "MiB", "bytes per group and window", "goal"]]
    for kept in states:
        verdict = "ok" if kept.per_window < STATE_BYTES else "MISSED"
        lines.append([
            kept.query, f"{kept.n_windows:,}", f"{kept.n_bytes / 2**20:.1f}", f"{kept.per_window:.0f}",
            f"below {STATE_BYTES} {verdict}",
        ])
    return lines


def gain_lines(gain: Gain) -> Lines:
    """q3 of one company, against event-grained aggregators."""
    ours = f"{gain.seconds:.3f}"
    lines = [
        ["who", "events", "s", f"s for {gain.n_events:,} events", "gain", "goal"],
        [f"SparkRex {gain.algorithm}", f"{gain.n_events:,}", ours, ours, "", ""],
    ]
    for name, n_events, seconds in gain.others:
        whole = gain.extrapolated(n_events, seconds)
        ratio = whole / gain.seconds
        lines.append([
            name, f"{n_events:,}", f"{seconds:.2f}", f"{whole:,.1f} (extrapolated)", f"{ratio:,.0f}x",
            f"{GAIN}x {'ok' if ratio >= GAIN else 'MISSED'}",
        ])
    return lines


def spark_lines(found: Sequence[OnSpark]) -> Lines:
    """Queries in both places."""
    lines = [["query", "events", "rows", "trends", "in memory s", "on Spark s", "answers"]]
    lines += [
        [
            one.query, f"{one.n_events:,}", f"{one.n_rows:,}", one.n_trends, f"{one.memory:.2f}", f"{one.spark:.2f}",
            "DIFFER" if one.wrong else "the same",
        ]
        for one in found
    ]
    return lines
