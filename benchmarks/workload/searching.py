"""How soon a search is as good as a long one, and how long it takes to change the plan of a run."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

from benchmarks.workload.drawing import draw
from benchmarks.workload.engine import Search, plan, workload_of

if TYPE_CHECKING:
    from benchmarks.workload.figures import DataSet

CLOSE = 1.1
"""Goal: the short search is within 10 % of the long one."""
SWITCH_GOAL = 1.0
N_CHANGES = 5


@dataclass(frozen=True, slots=True)
class Searched:
    """A workload: costs of the plans of a short and of a long search, with seconds and steps of both."""

    seed: int
    short: float
    long: float
    short_steps: int
    long_steps: int

    @property
    def ratio(self) -> float:
        """How much more the short search's plan costs."""
        return self.short / self.long


@dataclass(frozen=True, slots=True)
class Switched:
    """Seconds by the clock of the feeds with which a plan changed, and of one without a change: medians."""

    n_patterns: int
    added: float
    removed: float
    unchanged: float
    n_held: int


def measure_search(data: DataSet, n_patterns: int, seed: int, short: float, long: float) -> Searched:
    """The same sequence of steps, stopped early and late."""
    patterns = draw(data.domain, n_patterns, data.rules, seed)
    first, second = (plan(patterns, data.stream, "sa-edge", Search(limit, seed)).optimized for limit in (short, long))
    return Searched(seed, first.cost, second.cost, first.steps, second.steps)


def measure_switch(data: DataSet, n_patterns: int, seconds: float) -> Switched:
    """Patterns added to and removed from a run that has a window of events in flight.

    A chunk of 10 events follows every change: a feed without a change says how much of the time is theirs.
    """
    patterns = draw(data.domain, n_patterns + N_CHANGES, data.rules)
    names = list(patterns)
    begin = {name: patterns[name] for name in names[:n_patterns]}
    n_held = round(2 * data.rules.window.size * data.stream.n_events / data.stream.minutes)
    added, removed, unchanged = [], [], []
    workload = workload_of(begin, data.stream, seconds=seconds, max_steps=None)
    with workload.open(adaptive=False) as run:
        run.feed(data.stream.table.slice(0, n_held))
        at = n_held

        def feed() -> float:
            nonlocal at
            since = perf_counter()
            run.feed(data.stream.table.slice(at, 10))
            at += 10
            return perf_counter() - since

        feed()
        for old, new in zip(names, names[n_patterns:], strict=False):
            unchanged.append(feed())
            since = perf_counter()
            run.add(new, patterns[new].text())
            added.append(perf_counter() - since + feed())
            since = perf_counter()
            run.remove(old)
            removed.append(perf_counter() - since + feed())
    return Switched(n_patterns, median(added), median(removed), median(unchanged), n_held)
