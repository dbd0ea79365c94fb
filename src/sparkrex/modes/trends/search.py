"""Units through kernels: which kernel, its room, threads, and Ctrl-C."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from sparkrex.kernels.lazy import FEW_ROWS
from sparkrex.modes.trends.kernels.by_event import Entries, advance_by_event
from sparkrex.modes.trends.kernels.by_state import advance_by_state
from sparkrex.modes.trends.kernels.machine import Rows, Units
from sparkrex.modes.trends.plan import Counts
from sparkrex.threads import spread

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from sparkrex.modes.trends.kernels.machine import Machine, Pairs
    from sparkrex.modes.trends.kernels.places import Store, Weights
    from sparkrex.modes.trends.layout import Layout
    from sparkrex.modes.trends.units import UnitRows


@dataclass(eq=False, slots=True)
class Kept:
    """What is kept of units: places (per state and class, or per class), times seen, marks of negated parts, entries.

    The entries of a unit are cut by `offsets`.
    """

    store: Store
    clock: NDArray[np.int64]
    marks: NDArray[np.int64]
    entries: Entries
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.clock)


@dataclass(frozen=True, eq=False, slots=True)
class Problem:
    """What stays the same for all units of a feed."""

    layout: Layout
    machine: Machine
    pairs: Pairs
    weights: Weights
    rows: Rows
    n_parts: int
    algorithm: str

    @property
    def n_places(self) -> int:
        """Places of a unit."""
        n_states = self.machine.n_states if self.algorithm == BY_STATE else 0
        return int(n_states + self.machine.n_kinds)


BY_STATE, BY_EVENT = "by state", "by event"


def new_entries(layout: Layout, n_entries: int) -> Entries:
    """Room for entries."""
    numbers = np.zeros((3, n_entries), np.int64)
    return Entries(
        numbers[0], numbers[1], np.zeros(n_entries, np.int64), numbers[2], np.zeros(n_entries, np.bool_),
        layout.store(n_entries),
    )


def fresh(layout: Layout, n_units: int, n_places: int, n_parts: int) -> Kept:
    """Units that have seen nothing."""
    return Kept(
        layout.store(n_units * n_places), np.zeros(n_units, np.int64), np.full(n_units * n_parts, -1, np.int64),
        new_entries(layout, 0), np.zeros(n_units + 1, np.int64),
    )


def search(problem: Problem, units: UnitRows, kept: Kept, threads: int) -> Kept:
    """Advance all units by their rows. `kept` is what they were, and is written over."""
    run = _run_by_state if problem.algorithm == BY_STATE else _run_by_event
    return run(problem, units, kept, threads)


def _run_by_state(problem: Problem, units: UnitRows, kept: Kept, threads: int) -> Kept:
    layout, machine = problem.layout, problem.machine
    arguments = _units(units)
    kernel = _form(advance_by_state, units, layout)

    def task(begin: int, end: int, budget: NDArray[np.int64]) -> None:
        room = layout.store(machine.n_states + 2)
        kernel(
            arguments, problem.rows, machine, layout.shape, problem.weights, kept.store, room, begin, end, budget
        )

    _spread(task, units, threads)
    return kept


def _run_by_event(problem: Problem, units: UnitRows, kept: Kept, threads: int) -> Kept:
    layout, machine = problem.layout, problem.machine
    arguments = _units(units)
    kernel = _form(advance_by_event, units, layout)
    n_held = np.diff(kept.offsets)
    n_rows = units.end - units.first
    room = n_held + n_rows * _most_entries(machine)
    n_kept = np.zeros(len(units.first), np.int64)
    capacity = np.where(units.closes, 0, room)
    kept_first = np.cumsum(capacity) - capacity
    written = new_entries(layout, int(capacity.sum()))

    def task(begin: int, end: int, budget: NDArray[np.int64]) -> None:
        entries = new_entries(layout, int(room[begin:end].max(initial=0)) + 1)
        kernel(
            arguments, problem.rows, machine, problem.pairs, layout.shape, problem.weights, kept.store, kept.clock,
            kept.marks, kept.entries, kept.offsets, entries, layout.store(1), np.empty(problem.n_parts, np.int64),
            written, kept_first, n_kept, begin, end, budget,
        )

    _spread(task, units, threads)
    offsets = np.concatenate(([0], np.cumsum(n_kept)))
    places = np.repeat(kept_first - offsets[:-1], n_kept) + np.arange(int(offsets[-1]))
    return Kept(kept.store, kept.clock, kept.marks, take_entries(written, places, layout), offsets)


def take_entries(entries: Entries, places: NDArray[np.int64], layout: Layout) -> Entries:
    """The entries at some places."""
    return Entries(
        entries.time[places], entries.row[places], entries.state[places], entries.latest[places],
        entries.is_over[places], take_places(entries.store, places, layout),
    )


def take_places(store: Store, places: NDArray[np.int64], layout: Layout) -> Store:
    """The places at some positions."""
    shape = layout.shape
    return type(store)(
        _take_lines(store.numbers, places, shape.n_numbers), _take_lines(store.reals, places, shape.n_reals),
        store.extremes.reshape(-1, shape.n_extremes)[places].reshape(-1) if shape.n_extremes else store.extremes,
        store.seen[places],
    )


def _take_lines(lines: NDArray[Any], places: NDArray[np.int64], n_lines: int) -> NDArray[Any]:
    if not n_lines:
        return lines[:0]
    return np.ascontiguousarray(lines.reshape(-1, n_lines * 3)[places].reshape(-1, 3))


def _most_entries(machine: Machine) -> int:
    """How many entries one event may make."""
    conditional = (machine.end_open != 0) | (machine.end_blocked != 0)
    sums = np.concatenate(([0], np.cumsum(conditional)))
    per_state = 1 + sums[machine.end_offsets[1:]] - sums[machine.end_offsets[:-1]]
    found = 0
    for first, last in zip(machine.symbol_offsets[:-1], machine.symbol_offsets[1:], strict=True):
        found = max(found, int(per_state[machine.symbol_states[first:last]].sum()))
    return max(1, found)


def _units(units: UnitRows) -> Units:
    return Units(units.first, units.end, units.closes)


def _form(kernel: Any, units: UnitRows, layout: Layout) -> Callable[..., Any]:
    """The kernel as plain Python for numbers of all digits, and for a few rows."""
    is_small = int((units.end - units.first).sum()) + len(units.first) <= FEW_ROWS // 10
    chosen: Callable[..., Any] = kernel.interpreted if layout.counts is Counts.TEXT or is_small else kernel
    return chosen


def _spread(
    task: Callable[[int, int, NDArray[np.int64]], None], units: UnitRows, threads: int
) -> None:
    """`task` for ranges of units with about as many rows each; interrupted, the kernels return."""
    n_rows = np.cumsum(units.end - units.first + 1)
    total = int(n_rows[-1]) if len(n_rows) else 0
    if not total:
        return
    pieces = max(1, min(threads, total >> 16))
    shares = [total * piece // pieces for piece in range(1, pieces)]
    cuts = np.unique([0, *np.searchsorted(n_rows, shares), len(n_rows)]).tolist()
    ranges = list(pairwise(cuts))
    budgets = {piece: np.zeros(1, np.int64) for piece in ranges}

    def give_up() -> None:
        for budget in budgets.values():
            budget[0] = 1

    spread(lambda begin, end: task(begin, end, budgets[begin, end]), ranges, give_up)
