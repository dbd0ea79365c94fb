"""Figures 10, 11, 12 and 14 of the paper: what is drawn and searched along each axis.

Figure 12 repeats the axes of 10 and 11 for other methods; here each axis is measured once, with all of its methods on
the same workloads. Along the axes of windows, patterns are drawn for the data set's own window and given another one.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from benchmarks.workload.drawing import draw, draw_sharing, with_window
from benchmarks.workload.engine import REORDERED, Search
from benchmarks.workload.gains import measure_gains
from benchmarks.workload.pattern import Window

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.workload.domain import Domain
    from benchmarks.workload.drawing import Rules, Workload
    from benchmarks.workload.gains import Gains
    from benchmarks.workload.stream import Stream

BEST = "sa-edge"
NEIGHBOURHOODS = ("edge", "edge-prefix", "vertex4", "vertex8")
SEARCHES = tuple(f"{search}-{where}" for search in ("sa", "ts") for where in NEIGHBOURHOODS)
OTHERS = ("sh", "sh-rr", "sh-mdt")
NAMES = ("10", "11a", "11b", "11c", "11d", "14ab", "14cd")


@dataclass(frozen=True, eq=False, slots=True)
class DataSet:
    """A domain, its events, and the rules of workloads on it."""

    name: str
    domain: Domain
    stream: Stream
    rules: Rules


@dataclass(frozen=True, slots=True)
class Scale:
    """How much is measured. `budget` is how many partial matches the base may make in a pass."""

    n_workloads: int
    seconds: float
    repeat: int
    budget: float
    n_patterns: int = 100
    workload_sizes: tuple[int, ...] = (10, 25, 50, 100, 200)
    pattern_sizes: tuple[int, ...] = (4, 5, 6, 7)
    search_seconds: tuple[float, ...] = (1, 3, 10, 30, 60, 180)
    windows: tuple[float, ...] = (0.33, 0.67, 1.0, 1.33, 2.0)
    shares: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0)
    differences: tuple[float, ...] = (0.2, 0.4, 0.6, 0.8, 1.0)


FULL = Scale(n_workloads=10, seconds=180.0, repeat=3, budget=2e8)
QUICK = Scale(
    n_workloads=3, seconds=10.0, repeat=3, budget=3e7, workload_sizes=(10, 50, 100), pattern_sizes=(4, 5, 7),
    search_seconds=(1, 3, 10), windows=(0.33, 1.0, 2.0), shares=(0.0, 0.5, 1.0), differences=(0.2, 0.6, 1.0),
)


@dataclass(eq=False)
class Figure:
    """A figure of one data set; `points` are what was measured at each place, workload by workload."""

    name: str
    title: str
    axis: str
    data: str
    methods: tuple[str, ...]
    points: dict[float, list[Gains]] = field(default_factory=dict)


def measure_figure(
    name: str, data: DataSet, scale: Scale, tell: Callable[[str], None] = lambda _: None
) -> tuple[Figure, list[str]]:
    """A figure, and what is wrong with its answers."""
    title, axis, methods = _TITLES[name]
    figure, problems = Figure(name, title, axis, data.name, methods), []
    for x in _PLACES[name](data, scale):
        for seed in range(scale.n_workloads):
            search = Search(x if name == "11b" else scale.seconds, seed)
            patterns = _DRAWN[name](data, scale, x, seed)
            found = measure_gains(patterns, data.stream, methods, search, scale.repeat, scale.budget)
            figure.points.setdefault(x, []).append(found)
            problems += [f"Figure {name}, {data.name}, {axis} {x:g}: {text}" for text in found.wrong]
            tell(f"Figure {name}, {data.name}: {axis} {x:g}, workload {seed + 1}")
    return figure, problems


def _plain(data: DataSet, scale: Scale, _: float, seed: int) -> Workload:
    return draw(data.domain, scale.n_patterns, data.rules, seed)


def _of_workload_size(data: DataSet, _: Scale, x: float, seed: int) -> Workload:
    return draw(data.domain, int(x), data.rules, seed)


def _of_pattern_size(data: DataSet, scale: Scale, x: float, seed: int) -> Workload:
    return draw(data.domain, scale.n_patterns, replace(data.rules, size=int(x)), seed)


def _of_window(data: DataSet, scale: Scale, x: float, seed: int) -> Workload:
    return with_window(_plain(data, scale, x, seed), Window(int(x)))


def _of_count_window(data: DataSet, scale: Scale, x: float, seed: int) -> Workload:
    return with_window(_plain(data, scale, x, seed), Window(int(x), "events"))


def _of_density(data: DataSet, scale: Scale, x: float, seed: int) -> Workload:
    return draw_sharing(data.domain, scale.n_patterns, data.rules, seed, x)


def _of_difference(data: DataSet, scale: Scale, x: float, seed: int) -> Workload:
    """The paper's axis refers to the largest difference in its data; so does ours."""
    rates = data.domain.per_window(data.rules.window.size, data.rules.window.unit).values()
    rules = replace(data.rules, max_difference=x * (max(rates) - min(rates)))
    return draw(data.domain, scale.n_patterns, rules, seed)


def _windows(data: DataSet, scale: Scale) -> list[int]:
    return [round(factor * data.rules.window.size) for factor in scale.windows]


def _count_windows(data: DataSet, scale: Scale) -> list[int]:
    n_events = data.rules.window.size * sum(data.domain.rates.values())
    return [round(factor * n_events) for factor in scale.windows]


_TITLES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "10": ("Figures 10 and 12 a, e: workload size", "patterns", (REORDERED, *OTHERS, *SEARCHES)),
    "11a": ("Figures 11 a and 12 b, f: pattern size", "types", (REORDERED, *OTHERS, BEST, "ts-edge")),
    "11b": ("Figure 11 b: time of search", "seconds", (REORDERED, BEST, "ts-edge")),
    "11c": ("Figures 11 c and 12 c, g: window", "minutes", (REORDERED, *OTHERS, BEST, "ts-edge")),
    "11d": ("Figures 11 d and 12 d, h: window of events", "events", (REORDERED, *OTHERS, BEST, "ts-edge")),
    "14ab": ("Figure 14 a, b: density of the graph", "share that shares most", (REORDERED, "sh", BEST, "ts-edge")),
    "14cd": ("Figure 14 c, d: difference of rates", "difference", (REORDERED, "sh", BEST, "ts-edge")),
}
_PLACES: dict[str, Callable[[DataSet, Scale], Sequence[float]]] = {
    "10": lambda _, scale: scale.workload_sizes, "11a": lambda _, scale: scale.pattern_sizes,
    "11b": lambda _, scale: scale.search_seconds, "11c": _windows, "11d": _count_windows,
    "14ab": lambda _, scale: scale.shares, "14cd": lambda _, scale: scale.differences,
}
_DRAWN: dict[str, Callable[[DataSet, Scale, float, int], Workload]] = {
    "10": _of_workload_size, "11a": _of_pattern_size, "11b": _plain, "11c": _of_window, "11d": _of_count_window,
    "14ab": _of_density, "14cd": _of_difference,
}
