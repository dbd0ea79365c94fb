"""Figures 5 to 13 of the paper: events per window, groups, and selectivity, each under several semantics.

At every point the engine and the approaches that can answer the query are measured in turn, and their answers compared.
An approach that died at a point is not tried at the points behind it, which are harder.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.trends.answers import answer_of, difference, n_trends
from benchmarks.trends.approaches import APPROACHES, DiesError, Limits, refusal, run
from benchmarks.trends.data import events, in_parts, selective_factor
from benchmarks.trends.engine import arranged, ask
from benchmarks.trends.prepare import prepare
from benchmarks.trends.queries import ACTIVITY, STOCK, TRIPS, grouped_trips, selective_stock
from benchmarks.trends.workload import ANY, CONTIGUOUS, NEXT, SEMANTICS, SHORT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pyarrow as pa

    from benchmarks.trends.workload import HowCounted, Workload

    Make = Callable[[], tuple[Workload, pa.Table]]

ENGINE, COUNTING = "SparkRex", "counting"
"""From a table to a table; and of it without putting events in order, as the other approaches have them."""
ALL = (ENGINE, COUNTING, *APPROACHES)
MOST_PREPARED = 20_000_000
"""Events that the approaches get at the most, for the memory that their preparation takes; under skip-till-any-match
none of them lives to see more."""
FEW_EVENTS = 20
"""Enough to compile what counts their trends, and too few to have many."""
LONG = 2.0
"""Runs of an approach that take more seconds are not repeated."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds of the processor, and bytes kept at the most."""

    seconds: float
    n_bytes: int


@dataclass(eq=False)
class Point:
    """One point of a figure: what was measured by approach; a text says why nothing was."""

    x: float
    n_events: int
    algorithm: str = ""
    n_trends: str = ""
    measured: dict[str, Measured | str] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)


@dataclass(eq=False)
class Figure:
    """A figure: what grows along it, and the streams and queries at its points, the easiest first."""

    name: str
    title: str
    axis: str
    counts: HowCounted
    makes: list[tuple[float, Make]]
    points: list[Point] = field(default_factory=list)

    def died_at(self, approach: str) -> tuple[float | None, float | None]:
        """The last point that an approach answered, and the first at which it died."""
        answered, died = None, None
        for point in self.points:
            found = point.measured.get(approach)
            if isinstance(found, Measured):
                answered = point.x
            elif found is not None and found.startswith("dies") and died is None:
                died = point.x
        return answered, died


FULL_SIZES = {
    "5": (300, 600, 1_000, 1_500, 2_000, 3_000, 10_000, 100_000), "6": (1_000, 10_000, 100_000, 1_000_000),
    "7": (10_000, 100_000, 1_000_000, 4_000_000), "8": (10_000, 20_000, 30_000, 40_000, 50_000, 60_000),
    "9": (100_000, 1_000_000, 4_000_000, 10_000_000), "10": (100_000, 1_000_000, 5_000_000, 20_000_000, 100_000_000),
    "11": (100_000, 1_000_000, 4_000_000, 10_000_000),
    "12": (2_000, 1_000, 500, 300, 200, 100, 30, 5), "13": (0.1, 0.3, 0.5, 0.7, 0.9),
}
"""Events per window; groups; selectivity."""
QUICK_SIZES = {
    "5": (300, 1_000, 3_000), "6": (1_000, 10_000), "7": (1_000, 10_000), "8": (10_000, 40_000), "9": (10_000, 30_000),
    "10": (50_000, 100_000), "11": (10_000, 30_000), "12": (500, 100, 5), "13": (0.1, 0.9),
}
N_EVENTS = {"12": (50_000, 10_000), "13": (50_000, 10_000)}
"""Of figures along which events per window do not grow, and when it has to be quick."""


def make_figures(folder: Path, *, is_quick: bool) -> list[Figure]:
    """All figures; 10, 12 and 13 under all semantics, where the paper has skip-till-any-match."""
    sizes = QUICK_SIZES if is_quick else FULL_SIZES
    of_events = (
        ("5", "activity", ACTIVITY, ANY), ("6", "activity", ACTIVITY, NEXT), ("7", "activity", ACTIVITY, CONTIGUOUS),
        ("8", "nasdaq", STOCK, ANY), ("9", "flights", TRIPS, NEXT), ("10", "nasdaq", STOCK, ANY),
        ("10 next", "nasdaq", STOCK, NEXT), ("10 contiguous", "nasdaq", STOCK, CONTIGUOUS),
        ("11", "flights", TRIPS, CONTIGUOUS),
    )
    found = [
        Figure(
            name, f"{_QUERY_OF[data]} under {SHORT[semantics]}, {data}", "events per window", counts_for(semantics),
            [
                (n, partial(_of_events, data, folder, workload.under(semantics), int(n)))
                for n in sizes[name.split()[0]] if semantics == ANY or n <= MOST_PREPARED
            ],
        )
        for name, data, workload, semantics in of_events
    ]
    for semantics in SEMANTICS:
        n_events = N_EVENTS["12"][is_quick]
        found.append(Figure(
            f"12 {SHORT[semantics]}", f"q2 under {SHORT[semantics]}, {n_events:,} flights", "groups",
            counts_for(semantics), [(n, partial(_of_groups, folder, semantics, n_events, int(n))) for n in sizes["12"]],
        ))
    for semantics in SEMANTICS:
        n_events = N_EVENTS["13"][is_quick]
        found.append(Figure(
            f"13 {SHORT[semantics]}", f"q3 under {SHORT[semantics]}, {n_events:,} bars", "selectivity",
            counts_for(semantics),
            [(share, partial(_of_selectivity, folder, semantics, n_events, share)) for share in sizes["13"]],
        ))
    return found


_QUERY_OF = {"activity": "q4", "nasdaq": "q3 without comparison", "flights": "q2"}


def counts_for(semantics: str) -> HowCounted:
    """Numbers of trends grow beyond all digits where any event may be skipped."""
    return "log" if semantics == ANY else "exact"


def _of_events(data: str, folder: Path, workload: Workload, n_events: int) -> tuple[Workload, pa.Table]:
    table = events(data, folder, n_events)
    read = [*workload.read_columns(), *(["posture", "heart_rate"] if data == "activity" else [])]
    return workload, table.select(read)


def _of_groups(folder: Path, semantics: str, n_events: int, n_groups: int) -> tuple[Workload, pa.Table]:
    return grouped_trips(semantics), in_parts(events("flights", folder, n_events), n_groups)


def _of_selectivity(folder: Path, semantics: str, n_events: int, share: float) -> tuple[Workload, pa.Table]:
    table = events("nasdaq", folder, n_events)
    return selective_stock(semantics, selective_factor(table, share)), table


def measure_figure(figure: Figure, limits: Limits, repeat: int) -> list[str]:
    """Measure all points; what is wrong."""
    dead: set[str] = set()
    for x, make in figure.makes:
        workload, table = make()
        point = Point(x, table.num_rows)
        figure.points.append(point)
        measure_point(point, workload, table, figure.counts, limits, repeat, dead)
    return [f"Figure {figure.name} at {point.x:g}: {text}" for point in figure.points for text in point.wrong]


def measure_point(
    point: Point, workload: Workload, table: pa.Table, counts: HowCounted, limits: Limits, repeat: int, dead: set[str]
) -> None:
    """The engine and every approach that is not dead yet; those that die are added."""
    asked = ask(workload, table, counts, repeat)
    with arranged(
        workload.text(), table, counts, time=workload.time, type=workload.type, keys=workload.partition_by
    ) as opened:
        n_bytes, _ = opened.kept()
        counting = opened.counting_seconds(repeat)
    point.algorithm, point.n_trends = asked.algorithm, n_trends(asked.answer)
    point.measured[ENGINE] = Measured(asked.seconds, n_bytes)
    point.measured[COUNTING] = Measured(counting, n_bytes)
    if not asked.answer:
        point.wrong.append("there is no trend")
    able = [approach for approach in APPROACHES if not refusal(approach, workload)]
    point.measured |= dict.fromkeys((approach for approach in able if approach in dead), "dies")
    living = [approach for approach in able if approach not in dead]
    if not living:
        return
    prepared = prepare(workload, table)
    for approach in living:
        try:
            outcome = run(approach, prepared, limits)
        except DiesError as error:
            point.measured[approach] = f"dies: {error}"
            dead.add(approach)
            continue
        problem = difference(asked.answer, answer_of(prepared, outcome.tally))
        if problem is not None:
            point.wrong.append(f"{approach} differs at {problem}")
        seconds = [outcome.seconds]
        if outcome.seconds < LONG:
            seconds += [run(approach, prepared, limits).seconds for _ in range(repeat - 1)]
        point.measured[approach] = Measured(median(seconds), outcome.n_bytes)


def warm_up(folder: Path) -> None:
    """Run every approach once over few events: kernels that are still to be compiled are, in no time that counts."""
    limits = Limits(600.0, 1 << 24)
    for figure in (one for one in make_figures(folder, is_quick=True) if one.name in ("5", "13 next")):
        workload, table = figure.makes[0][1]()
        prepared = prepare(workload, table.slice(0, FEW_EVENTS))
        for approach in APPROACHES:
            if not refusal(approach, workload):
                run(approach, prepared, limits)
