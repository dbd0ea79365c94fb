"""The approaches that the engine is compared with, each with limits of time and memory: above them it dies.

Times are of kernels only, over events that are in order and tested already, which the engine has to see to itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from time import process_time
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.trends import linking, online, two_step
from benchmarks.trends.linking import DONE, FULL, PAUSED, Candidates, Graph, link
from benchmarks.trends.online import Stored, Tally, aggregate_events, count_prefixes
from benchmarks.trends.two_step import aggregate_all, build_all, count_one_by_one
from benchmarks.trends.workload import ANY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from benchmarks.trends.prepare import Prepared
    from benchmarks.trends.workload import Workload

ONE_TREND, ALL_TRENDS, EVENT_GRAINED, FLATTENED = "one trend", "all trends", "event-grained", "flattened"
APPROACHES = (EVENT_GRAINED, FLATTENED, ONE_TREND, ALL_TRENDS)
TWO_STEP = (ONE_TREND, ALL_TRENDS)
N_STEPS = 10_000_000
"""After so many steps a kernel lets us look at the clock."""
NODE_BYTES = 8 + 1 + 8 + 8
"""Of an event in a stack: row, variable, unit, where its pointers begin."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Of one run: seconds of the processor, and bytes."""

    seconds: float
    n_bytes: int


class DiesError(Exception):
    """A limit is reached; the text says which."""


@dataclass(frozen=True, eq=False, slots=True)
class Outcome:
    """Seconds, the most bytes that a window needed at a time, and the answer."""

    seconds: float
    n_bytes: int
    tally: Tally


class _Clock:
    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.begin = process_time()

    def seconds(self) -> float:
        return process_time() - self.begin

    def run(self, kernel: Callable[..., int], *arguments: object) -> None:
        """Call the kernel until it is done."""
        while True:
            status = kernel(*arguments, N_STEPS)
            if status == FULL:
                raise DiesError(f"more than {self.limits.n_bytes >> 20} MiB")
            if status == DONE:
                return
            assert status == PAUSED  # there are no others
            if self.seconds() > self.limits.seconds:
                raise DiesError(f"more than {self.limits.seconds:g} s")


def refusal(approach: str, workload: Workload) -> str | None:
    """Why an approach cannot answer a query."""
    if approach != FLATTENED:
        return None
    if workload.semantics != ANY:
        return "A-Seq knows skip-till-any-match only"
    if workload.comparison is not None:
        return "A-Seq compares no adjacent events"
    return "counts only" if workload.aggregate is not None else None


def run(approach: str, prepared: Prepared, limits: Limits) -> Outcome:
    """The answer of an approach; raises DiesError."""
    return {
        ONE_TREND: _one_trend, ALL_TRENDS: _all_trends, EVENT_GRAINED: _event_grained, FLATTENED: _flattened,
    }[approach](prepared, limits)


def _tally(prepared: Prepared) -> Tally:
    n_units = len(prepared.units.first)
    return Tally(np.zeros(n_units), np.zeros(n_units, np.int64), np.zeros(n_units), np.zeros(n_units))


def _windows(prepared: Prepared) -> Iterator[tuple[int, int]]:
    """First and last unit of each."""
    return pairwise(prepared.window_offsets.tolist())


def _most_rows(prepared: Prepared) -> tuple[int, int]:
    """Of a unit, and of a window, at the most."""
    length = prepared.units.end - prepared.units.first
    if not len(length):
        return 0, 0
    return int(length.max()), int(np.add.reduceat(length, prepared.window_offsets[:-1]).max())


class _Linked:
    """Memory for the stacks and pointers of one window at a time."""

    def __init__(self, prepared: Prepared, clock: _Clock) -> None:
        of_unit, of_window = _most_rows(prepared)
        n_nodes = of_window * prepared.n_variables
        n_pointers = min(clock.limits.n_bytes // 4, n_nodes * of_unit * prepared.n_variables) + 1
        self.prepared, self.clock = prepared, clock
        self.graph = Graph(
            np.empty(n_nodes, np.int64), np.empty(n_nodes, np.int8), np.empty(n_nodes, np.int64),
            np.zeros(n_nodes + 1, np.int64), np.empty(n_pointers, np.int32),
        )
        shape = (prepared.n_variables, of_unit)
        self.candidates = Candidates(np.zeros(shape[0], np.int64), np.empty(shape, np.int32), np.zeros(shape, np.bool_))

    def link(self, first: int, last: int) -> tuple[int, int]:
        """How many nodes and pointers the units of a window have."""
        progress = np.zeros(4, np.int64)
        progress[linking.UNIT], progress[linking.ROW] = first, -1
        prepared = self.prepared
        self.clock.run(
            link, prepared.events, prepared.units, last, prepared.machine, self.graph, self.candidates, progress
        )
        return int(progress[linking.N_NODES]), int(progress[linking.N_POINTERS])


def _one_trend(prepared: Prepared, limits: Limits) -> Outcome:
    clock = _Clock(limits)
    tally, linked = _tally(prepared), _Linked(prepared, clock)
    most = 0
    trend: NDArray[np.int64] = np.empty(len(linked.graph.row) + 1, np.int64)
    pointer = np.empty_like(trend)
    for first, last in _windows(prepared):
        n_nodes, n_pointers = linked.link(first, last)
        progress = np.zeros(3, np.int64)
        clock.run(
            count_one_by_one, prepared.events, prepared.machine, linked.graph, n_nodes, trend, pointer, tally, progress
        )
        most = max(most, n_nodes * NODE_BYTES + 4 * n_pointers + 16 * int(progress[two_step.LONGEST]))
    return Outcome(clock.seconds(), most, tally)


def _all_trends(prepared: Prepared, limits: Limits) -> Outcome:
    clock = _Clock(limits)
    tally, linked = _tally(prepared), _Linked(prepared, clock)
    first_trend = np.zeros(len(linked.graph.row) + 1, np.int64)
    # Half for the trends' events; a trend is as long as its offset where it has two of them.
    items = np.empty(limits.n_bytes // 8, np.int32)
    offsets = np.zeros(limits.n_bytes // 16, np.int64)
    most = 0
    for first, last in _windows(prepared):
        n_nodes, n_pointers = linked.link(first, last)
        progress = np.zeros(3, np.int64)
        clock.run(build_all, prepared.machine, linked.graph, n_nodes, first_trend, offsets, items, progress)
        aggregate_all(prepared.events, prepared.machine, linked.graph, n_nodes, first_trend, offsets, items, tally)
        of_trends = 8 * int(progress[two_step.N_TRENDS]) + 4 * int(progress[two_step.N_ITEMS])
        most = max(most, n_nodes * NODE_BYTES + 4 * n_pointers + of_trends)
    return Outcome(clock.seconds(), most, tally)


def _event_grained(prepared: Prepared, limits: Limits) -> Outcome:
    clock = _Clock(limits)
    tally = _tally(prepared)
    of_unit, of_window = _most_rows(prepared)
    shape = (prepared.n_variables, of_unit)
    n_rows = of_window * prepared.n_variables
    stored = Stored(
        np.zeros(shape[0], np.int64), np.empty(shape), np.empty(shape), np.empty(shape), np.empty(shape),
        np.zeros(shape, np.bool_), np.empty(n_rows, np.int64), np.empty(n_rows), np.zeros((shape[0], 3)),
    )
    most = 0
    for first, last in _windows(prepared):
        progress = np.array([first, -1, 0], np.int64)
        clock.run(
            aggregate_events, prepared.events, prepared.units, last, prepared.machine, stored, tally, progress
        )
        most = max(most, int(progress[online.N_STORED]) * (16 + 8 * (prepared.workload.comparison is not None)))
    return Outcome(clock.seconds(), most, tally)


def _flattened(prepared: Prepared, limits: Limits) -> Outcome:
    clock = _Clock(limits)
    tally = _tally(prepared)
    counters = np.empty((_most_rows(prepared)[0] + 2, prepared.n_variables))
    most = 0
    for first, last in _windows(prepared):
        progress = np.array([first, -1, 0, 0], np.int64)
        clock.run(count_prefixes, prepared.events, prepared.units, last, prepared.machine, counters, tally, progress)
        most = max(most, 8 * int(progress[online.N_STORED]))
    return Outcome(clock.seconds(), most, tally)
