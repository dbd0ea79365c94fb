"""The measurements as Figure 8 and Tables 2 and 3 of the paper: lists of lines of cells, the header first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.events.throughput import STAGES
from benchmarks.events.workload import QUERIES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.events.measuring import Bench
    from benchmarks.events.throughput import Throughput

Lines = list[list[str]]
WINDOWS = (500, 1000, 1500, 2000)
RISING = (0.7, 0.55)
LENGTHS = {"p1s2": 250, "p1s3": 250, "p2s2": 4.5, "p2s3": 140, "p3s2": 250, "p3s3": 250}
"""Match lengths of the paper's Table 2."""
PAPER_RUNS = {"p1s2": 2, "p1s3": 2, "p2s2": 0.01, "p2s3": 2, "p3s2": 2, "p3s3": 2}
"""Its runs per time step."""
PAPER_MERGED = {
    (500, "p1s3"): 47.9, (500, "p2s3"): 47.8, (500, "p3s3"): 47.8, (1000, "p1s3"): 50.9, (1000, "p2s3"): 48.3,
    (1000, "p3s3"): 45.8, (1500, "p1s3"): 66.6, (1500, "p2s3"): 55.7, (1500, "p3s3"): 44.9, (2000, "p1s3"): 75.3,
    (2000, "p2s3"): 60.4, (2000, "p3s3"): 50.6,
}
"""Percent of runs merged in the paper's Table 3."""
LENGTH_TOLERANCE = 0.1
LATER = ("p1s3", "p2s2", "p2s3", "p3s2", "p3s3")
"""p1s2 is the same as p1s3."""
SKIPPING = ("p1s3", "p2s3", "p3s3")
SAVED_GOALS = {(500, "p1s3"): 1.7, (500, "p2s3"): 1.7, (500, "p3s3"): 1.7, (2000, "p1s3"): 3.5, (2000, "p2s3"): 3.5}
"""Run-steps of basic over those of merging, p = 0.7, matches not constructed."""
SPREAD_GOAL = 1.5


def table_2(bench: Bench, rising: float) -> Lines:
    """Match lengths, runs at a time, and what matching and construction cost; without merging, as in the paper.

    Runs are those of both symbols together; the paper's figures are such.
    """
    lines = [["", *QUERIES]]
    runs = [bench.run(name, rising=rising, algorithm="basic") for name in QUERIES]
    bare = [bench.run(name, rising=rising, algorithm="basic", constructs=False) for name in QUERIES]
    merged = [bench.run(name, rising=rising) for name in QUERIES]
    shares = [min(1.0, off.cpu / on.cpu) for on, off in zip(runs, bare, strict=True)]
    lines.append(["match length", *(f"{run.match_length:.1f}" for run in runs)])
    if rising == RISING[0]:
        lines.append(["in the paper", *(f"{LENGTHS[name]:g}" for name in QUERIES)])
    lines.append(["runs/time step", *(f"{run.runs:.3g}" for run in runs)])
    if rising == RISING[0]:
        lines.append(["in the paper", *(f"{PAPER_RUNS[name]:g}" for name in QUERIES)])
    lines.append(["runs/time step, merged", *(f"{run.runs:.3g}" for run in merged)])
    lines.append(["matching cost", *(f"{share:.0%}" for share in shares)])
    return [*lines, ["construction cost", *(f"{1 - share:.0%}" for share in shares)]]


def wrong_lengths(bench: Bench) -> list[str]:
    """The queries whose matches are not as long as the paper's: then the stream or the semantics is not the paper's."""
    wrong = []
    for name, length in LENGTHS.items():
        found = bench.run(name, algorithm="basic").match_length
        if abs(found - length) > LENGTH_TOLERANCE * length:
            wrong.append(f"{name}: matches have {found:.1f} events, in the paper's Table 2 {length:g}")
    return wrong


def figure_8a(bench: Bench) -> Lines:
    """Throughput by predicate and strategy; p3 with other aggregates behind."""
    lines = [["query", *(f"p = {rising}: M events/s" for rising in RISING), "matches", "output events"]]
    for name in (*QUERIES, "p3maxs3", "p3avgs3"):
        runs = [bench.run(name, rising=rising, algorithm="basic") for rising in RISING]
        cells = [f"{run.rate / 1e6:.3g}" for run in runs]
        lines.append([name, *cells, f"{runs[0].n_matches:,}", f"{runs[0].n_output:,}"])
    return lines


def figure_8b(bench: Bench, windows: Sequence[int], rising: float) -> Lines:
    """Throughput by window."""
    lines = [["query", *(f"W = {window}: M events/s" for window in windows)]]
    for name in LATER:
        runs = [bench.run(name, window, rising, "basic") for window in windows]
        lines.append([name, *(f"{run.rate / 1e6:.3g}" for run in runs)])
    return lines


def figure_8c(bench: Bench, windows: Sequence[int], algorithm: str) -> Lines:
    """Processing cost over output complexity: nanoseconds per event of the output, and how far they spread."""
    header = [f"p = {rising} W = {window}" for rising in RISING for window in windows]
    lines = [["query", *header, "output events, M", "spread", "goal"]]
    for name in LATER:
        runs = [bench.run(name, window, rising, algorithm) for rising in RISING for window in windows]
        costs = [run.cost_of_output for run in runs]
        sizes = [run.n_output / 1e6 for run in runs]
        spread = max(costs) / min(costs)
        goal = f"{SPREAD_GOAL:g}x {'ok' if spread <= SPREAD_GOAL else 'MISSED'}"
        if sum(run.n_output for run in runs) < sum(run.n_events for run in runs):
            goal += ", less output than input: its cost is that of reading"
        cells = [f"{cost:.3g}" for cost in costs]
        lines.append([name, *cells, f"{min(sizes):.3g} to {max(sizes):.3g}", f"{spread:.2f}x", goal])
    return lines


def figure_8d(bench: Bench, rising: float) -> Lines:
    """Basic against backtrack, all results."""
    lines = [[
        "query", "basic M events/s", "backtrack M events/s", "ratio", "ratio, matching only", "edge evaluations",
        "agree", "read again/event", "answers",
    ]]
    for name in LATER:
        basic = bench.run(name, rising=rising, algorithm="basic")
        back = bench.run(name, rising=rising, algorithm="backtrack")
        tests = [run.statistics["edge_tests"] for run in (basic, back)]
        bare = [bench.run(name, rising=rising, algorithm=run.algorithm, constructs=False) for run in (basic, back)]
        lines.append([
            name, f"{basic.rate / 1e6:.3g}", f"{back.rate / 1e6:.3g}", f"{basic.rate / back.rate:.2f}",
            f"{bare[0].rate / bare[1].rate:.2f}", f"{tests[0]:,}",
            "yes" if tests[0] == tests[1] else f"NO, {tests[1]:,}",
            f"{back.statistics['back_steps'] / back.n_events:.2f}",
            "agree" if basic.checksum == back.checksum else "DIFFER",
        ])
    return lines


def figure_8e(bench: Bench, rising: float) -> Lines:
    """Basic against backtrack, non-overlapping results."""
    lines = [["query", "matches", "basic M events/s", "backtrack M events/s", "ratio", "run-steps ratio", "answers"]]
    for name in (*LATER, "p3*s2", "p3*s3"):
        basic, back = (
            bench.run(name, rising=rising, algorithm=algorithm, is_non_overlapping=True)
            for algorithm in ("basic", "backtrack")
        )
        steps = back.statistics["run_steps"] / max(1, basic.statistics["run_steps"])
        lines.append([
            name, f"{basic.n_matches:,}", f"{basic.rate / 1e6:.3g}", f"{back.rate / 1e6:.3g}",
            f"{basic.rate / back.rate:.2f}", f"{steps:.2f}", "agree" if basic.checksum == back.checksum else "DIFFER",
        ])
    return lines


def figure_8f(bench: Bench, rising: float) -> Lines:
    """Merging beside basic, matches constructed, W = 500."""
    lines = [["query", "basic M events/s", "merging M events/s", "gain", "run-steps saved", "answers"]]
    for name in QUERIES:
        basic, merging = (bench.run(name, rising=rising, algorithm=one) for one in ("basic", "nfab"))
        lines.append([
            name, f"{basic.rate / 1e6:.3g}", f"{merging.rate / 1e6:.3g}", f"{merging.rate / basic.rate:.2f}x",
            f"{saved(bench, name, 500, rising):.2f}x", "agree" if basic.checksum == merging.checksum else "DIFFER",
        ])
    return lines


def saved(bench: Bench, name: str, window: int, rising: float) -> float:
    """Run-steps of basic over those of merging."""
    basic, merging = (
        bench.run(name, window, rising, one, constructs=False).statistics["run_steps"] for one in ("basic", "nfab")
    )
    return basic / max(1, merging)


def figure_8g(bench: Bench, windows: Sequence[int], rising: float) -> Lines:
    """What merging gains, matches not constructed: run-steps, then throughput."""
    lines = [["W", *(f"{name} run-steps saved" for name in SKIPPING), *(f"{name} gain" for name in SKIPPING)]]
    for window in windows:
        cells = []
        for name in SKIPPING:
            value = saved(bench, name, window, rising)
            goal = SAVED_GOALS.get((window, name)) if rising == RISING[0] else None
            verdict = "" if goal is None else f" (goal {goal:g}x {'ok' if value >= goal else 'MISSED'})"
            cells.append(f"{value:.2f}x{verdict}")
        for name in SKIPPING:
            basic, merging = (bench.run(name, window, rising, one, constructs=False) for one in ("basic", "nfab"))
            cells.append(f"{basic.cpu / merging.cpu:.2f}x")
        lines.append([str(window), *cells])
    return lines


def table_3(bench: Bench, windows: Sequence[int], rising: float) -> Lines:
    """Runs merged, and the shared buffer with merging: its nodes, and the time to write them beside all matching.

    The paper's share of merged runs is that of run-steps saved: where all runs of a symbol are one, it is 1 - 1 / runs.
    """
    lines = [[
        "W", "query", "runs merged", "in the paper", "merges/start", "nodes/event", "of them unions", "buffer MB",
        "buffer update ms", "of matching",
    ]]
    for window in windows:
        for name in SKIPPING:
            run = bench.run(name, window, rising, constructs=False)
            cost = bench.buffer(name, window, rising)
            n_nodes = max(1, cost.n_events + cost.n_unions)
            paper = PAPER_MERGED.get((window, name)) if rising == RISING[0] else None
            lines.append([
                str(window), name, f"{1 - 1 / saved(bench, name, window, rising):.1%}", f"{paper}%" if paper else "",
                f"{run.statistics['merges'] / max(1, run.n_starts):.2f}", f"{n_nodes / run.n_events:.2f}",
                f"{cost.n_unions / n_nodes:.2%}", f"{cost.n_bytes / 1e6:.1f}", f"{1000 * cost.seconds:.1f}",
                f"{cost.seconds / run.cpu:.0%}",
            ])
    return lines


def throughput_lines(found: Sequence[Throughput]) -> Lines:
    """Events per second of processor time, then by the clock, stage by stage."""
    header = ["query", "events", "matches", "output events"]
    lines = [[*header, *(f"{stage} M/s" for stage in STAGES), *(f"{stage} M/s, clock" for stage in STAGES[1:]), "goal"]]
    for one in found:
        verdicts = ", ".join(
            f"{stage} {'ok' if one.rate(stage) >= one.goal else 'MISSED'}" for stage in ("kernel", "table to matches")
        )
        lines.append([
            one.query, f"{one.n_events:,}", f"{one.n_matches:,}", f"{one.n_output:,}",
            *(f"{one.rate(stage) / 1e6:.3g}" for stage in STAGES),
            *(f"{one.rate(stage, is_wall=True) / 1e6:.3g}" for stage in STAGES[1:]), f"{one.goal / 1e6:g}M: {verdicts}",
        ])
    return lines
