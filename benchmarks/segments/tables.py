"""The figures of the segment benchmark as tables: lists of lines of cells, the header first."""

from __future__ import annotations

from collections import defaultdict
from statistics import mean, median
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.modes.segments.planner.rule_planners import RULE_PLANNERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from benchmarks.segments.instance import Instance
    from benchmarks.segments.operators import Curve
    from benchmarks.segments.scaling import Growth

Lines = list[list[str]]
MEDIAN_GOAL, MOST_GOAL, WORST_GOAL = 1.2, 2.0, 5.0
EVALUATIONS_GOAL = 6.0
_BASELINES = ("T-ReX Batch", "AFA", "nested AFA")


def by_template(instances: Iterable[Instance]) -> dict[str, list[Instance]]:
    """The instances of each template."""
    found: dict[str, list[Instance]] = defaultdict(list)
    for instance in instances:
        found[instance.template].append(instance)
    return found


def table_4(instances: Sequence[Instance]) -> Lines:
    """Median slow-down of each planner over the fastest plan of each instance, random ones not among them."""
    lines = [["template", "instances", "matches", "optimizer ms", "optimizer", *RULE_PLANNERS]]
    for name, group in by_template(instances).items():
        cells = [name, str(len(group)), f"{median(i.n_matches for i in group):,.0f}"]
        ours = [seconds for i in group if (seconds := i.planners.get("optimizer")) is not None]
        cells.append(f"{1000 * median(ours):.1f}" if ours else "")
        lines.append([*cells, *(_slow_down(group, planner) for planner in ("optimizer", *RULE_PLANNERS))])
    return lines


def _slow_down(group: Sequence[Instance], planner: str) -> str:
    ratios = []
    for instance in group:
        known = [seconds for seconds in instance.planners.values() if seconds is not None]
        if planner in instance.planners and known:
            seconds = instance.planners[planner]
            ratios.append(float("inf") if seconds is None else seconds / min(known))
    if not ratios:
        return ""
    middle = median(ratios)
    return "t.o." if middle == float("inf") else f"{middle:.1f}"


def regret_lines(instances: Sequence[Instance]) -> Lines:
    """Regret of the optimizer's plan, by template and over all."""
    lines = [["template", "median", "95%", "worst", "goals"]]
    groups = {**by_template(instances), "all": list(instances)}
    for name, group in groups.items():
        regrets = [instance.regret for instance in group if instance.regret is not None]
        if regrets:
            middle, most, worst = median(regrets), float(np.quantile(regrets, 0.95, method="higher")), max(regrets)
            goals = [(middle, MEDIAN_GOAL), (most, MOST_GOAL), (worst, WORST_GOAL)]
            verdict = ", ".join(f"{goal:g} {'ok' if value <= goal else 'MISSED'}" for value, goal in goals)
            lines.append([name, *(f"{value:.2f}" for value in (middle, most, worst)), verdict])
    return lines


def table_7(instances: Sequence[Instance]) -> Lines:
    """NDCG of the order of plans by cost, beside a random order's, and milliseconds of sampling and planning."""
    samples = sorted({n for instance in instances for n in instance.ranking})
    header = ["template", *(f"NDCG {n}" for n in samples), "random order"]
    lines = [[*header, *(f"sampling ms {n}" for n in samples), *(f"optimizer ms {n}" for n in samples)]]
    for name, group in by_template(instances).items():
        if all(instance.ranking for instance in group):
            cells = [f"{mean(i.ranking[n]['ndcg'] for i in group):.2f}" for n in samples]
            cells.append(f"{mean(i.ranking[samples[0]]['random'] for i in group):.2f}")
            for part in ("sampling", "optimizing"):
                cells += [f"{1000 * median(i.ranking[n][part] for i in group):.2f}" for n in samples]
            lines.append([name, *cells])
    return lines


def figure_22a(instances: Sequence[Instance]) -> Lines:
    """Median speed-up of T-ReX, planning included, and by how much fewer conditions it tests."""
    lines = [["template", "T-ReX ms", *(f"x {b}" for b in _BASELINES), "evaluations", *(f"x {b}" for b in _BASELINES)]]
    fewer = []
    for name, group in by_template(instances).items():
        ours = [seconds for i in group if (seconds := i.executors.get("T-ReX")) is not None]
        if not ours:
            continue
        evaluations = median(i.evaluations["T-ReX"] for i in group if "T-ReX" in i.evaluations)
        lines.append([
            name, f"{1000 * median(ours):.1f}", *(_ratio(group, base, "T-ReX") for base in _BASELINES),
            f"{evaluations:,.0f}", *(_fewer(group, base) for base in _BASELINES),
        ])
        if "AFA" in group[0].evaluations:
            fewer.append(float(_fewer(group, "AFA") or "nan"))
    if fewer:
        middle = float(np.nanmedian(fewer))
        verdict = "ok" if middle >= EVALUATIONS_GOAL else "MISSED"
        slower = [
            name for name, group in by_template(instances).items()
            if any((cell := _ratio(group, base, "T-ReX")) and float(cell) < 1 for base in ("AFA", "AFA not shared"))
        ]
        time = f"slower than AFA, sharing or not: {', '.join(slower) or 'none'}"
        lines.append(["median", "", "", time, "", "", "", f"{middle:.1f} ({EVALUATIONS_GOAL:g}x {verdict})", ""])
    return lines


def figure_22b(instances: Sequence[Instance]) -> Lines:
    """Median speed-up by sharing the computation of aggregates, of each executor over itself."""
    names = ("T-ReX", *_BASELINES)
    lines = [["template", *names]]
    for name, group in by_template(instances).items():
        cells = [_ratio(group, f"{kind} not shared", kind) for kind in names]
        if any(cells):
            lines.append([name, *cells])
    return lines


def _ratio(group: Sequence[Instance], slow: str, fast: str) -> str:
    ratios = []
    for instance in group:
        if slow in instance.executors and instance.executors.get(fast) is not None:
            seconds = instance.executors[slow]
            ratios.append(float("inf") if seconds is None else seconds / (instance.executors[fast] or 1.0))
    return f"{median(ratios):.2f}" if ratios else ""


def _fewer(group: Sequence[Instance], baseline: str) -> str:
    ratios = [
        i.evaluations[baseline] / max(1, i.evaluations["T-ReX"])
        for i in group if baseline in i.evaluations and "T-ReX" in i.evaluations
    ]
    return f"{median(ratios):.2f}" if ratios else ""


def curve_lines(curve: Curve) -> Lines:
    """Milliseconds over the parameter, and who wins."""
    lines = [[f"{curve.figure}: {curve.parameter}", *(f"{value:g}" for value in curve.values), ""]]
    for name, seconds in curve.seconds.items():
        lines.append([f"{name} ms", *(f"{1000 * one:.1f}" for one in seconds), "WRONG" if curve.wrong else ""])
    wins = [min(curve.seconds, key=lambda name: curve.seconds[name][k]) for k in range(len(curve.values))]
    return [*lines, ["fastest", *wins, ""]]


def growth_lines(growths: Sequence[Growth]) -> Lines:
    """Seconds and memory at each length of the series, and the power of the growth of time."""
    lines = [["query", *(f"{size:,} rows" for size in growths[0].sizes), "growth"]]
    for growth in growths:
        cells = [
            f"{1000 * seconds:.0f} ms, {megabytes:.0f} MB, {rows:,} matches"
            for seconds, megabytes, rows in zip(growth.seconds, growth.megabytes, growth.rows, strict=True)
        ]
        powers = np.diff(np.log(growth.seconds)) / np.diff(np.log(growth.sizes))
        lines.append([growth.query, *cells, ", ".join(f"n^{power:.2f}" for power in powers)])
    return lines
