"""Units through kernels: which kernel, its room, threads, and Ctrl-C."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from sparkrex.kernels.lazy import FEW_ROWS
from sparkrex.modes.trends.choose import BY_EVENT, BY_GAP, BY_OPEN, BY_RANK, BY_STATE
from sparkrex.modes.trends.kernels.by_event import Entries, advance_by_event
from sparkrex.modes.trends.kernels.by_gap import advance_by_gap
from sparkrex.modes.trends.kernels.by_open import OpenPlaces, advance_by_open
from sparkrex.modes.trends.kernels.by_rank import ABOVE, BELOW, SAME, Trees, advance_by_rank
from sparkrex.modes.trends.kernels.by_state import advance_by_state
from sparkrex.modes.trends.kernels.counting import count_exact, count_log
from sparkrex.modes.trends.kernels.machine import (
    ANY,
    CONTIGUOUS,
    EQUAL,
    GREATER,
    GREATER_OR_EQUAL,
    LESS,
    LESS_OR_EQUAL,
    UNEQUAL,
    Rows,
    Units,
)
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
    """What is kept of units: places, times seen, registers (numbers that an algorithm has of its own), entries.

    The entries of a unit are cut by `offsets`.
    """

    store: Store
    clock: NDArray[np.int64]
    registers: NDArray[np.int64]
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
        """Places of a unit; the last are one per class of trends."""
        n_states = int(self.machine.n_states)
        inner = {BY_STATE: n_states, BY_RANK: n_states}.get(self.algorithm, 0)
        if self.algorithm == BY_GAP:
            inner = self.n_gaps * (1 + int(max(part.max() for part in self.gap_places)))
        return inner + int(self.machine.n_kinds)

    @property
    def gap_places(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """By state, the place in a gap of what goes on from it, and of what ended in it; -1 for none.

        What ended is kept apart only where events to come may reject it.
        """
        machine = self.machine
        is_positive = machine.negated_of < 0
        is_positive[0] = False
        n_tests = np.concatenate(([0], np.cumsum((machine.end_open | machine.end_blocked) != 0)))
        has_end = is_positive & (n_tests[machine.end_offsets[:-1]] < n_tests[machine.end_offsets[1:]])
        stays = np.where(is_positive, np.cumsum(is_positive) - 1, -1)
        return stays, np.where(has_end, is_positive.sum() + np.cumsum(has_end) - 1, -1)

    @property
    def n_gaps(self) -> int:
        """How many gaps a unit can have: one more than what may part them, and one that may be empty."""
        return 2 + self.n_parts + int((self.machine.negated_of >= 0).sum())

    @property
    def fresh_registers(self) -> list[int]:
        """Of a unit that has seen nothing: marks; and by gap the latest beginnings, where gaps begin, how many."""
        marks = [-1] * self.n_parts
        if self.algorithm != BY_GAP:
            return marks
        return [*marks, *[-1] * (int(self.machine.n_states) + 1), *[0] * self.n_gaps, 1]


def new_entries(layout: Layout, n_entries: int) -> Entries:
    """Room for entries."""
    numbers = np.zeros((4, n_entries), np.int64)
    return Entries(
        numbers[0], numbers[1], numbers[2], numbers[3], np.zeros(n_entries, np.bool_), layout.store(n_entries)
    )


def fresh(problem: Problem, n_units: int) -> Kept:
    """Units that have seen nothing."""
    registers = problem.fresh_registers
    return Kept(
        problem.layout.store(n_units * problem.n_places), np.zeros(n_units, np.int64),
        np.tile(np.array(registers, np.int64), (n_units, 1)), new_entries(problem.layout, 0),
        np.zeros(n_units + 1, np.int64),
    )


def search(problem: Problem, units: UnitRows, kept: Kept, threads: int) -> Kept:
    """Advance all units by their rows. `kept` is what they were, and is written over."""
    return _RUNS[problem.algorithm](problem, units, kept, threads)


def _run_by_state(problem: Problem, units: UnitRows, kept: Kept, threads: int) -> Kept:
    layout, machine = problem.layout, problem.machine
    arguments = _units(units)
    kernel = _form(advance_by_state, units, layout)
    counting = _counting(problem) if kernel is advance_by_state else None
    reached = units.first.copy()

    def task(begin: int, end: int, budget: NDArray[np.int64]) -> None:
        if counting is not None:
            counting(arguments, problem.rows, machine, kept.store, reached, begin, end, budget)
        room = layout.store(machine.n_states + 2)
        kernel(
            arguments._replace(first=reached), problem.rows, machine, layout.shape, problem.weights, kept.store, room,
            begin, end, budget,
        )

    _spread(task, units, threads)
    return kept


def _counting(problem: Problem) -> Callable[..., Any] | None:
    """The kernel that goes ahead where trends are only counted, if there is one."""
    machine = problem.machine
    if problem.layout.shape != (1, 0, 0) or problem.rows.has_ties or machine.end_kinds.any():
        return None
    if problem.layout.counts is Counts.EXACT:
        return count_exact
    return count_log if machine.semantics == ANY else None


def _run_by_gap(problem: Problem, units: UnitRows, kept: Kept, threads: int) -> Kept:
    layout, machine, n_parts = problem.layout, problem.machine, problem.n_parts
    arguments = _units(units)
    kernel = _form(advance_by_gap, units, layout)
    cuts = np.cumsum([n_parts, machine.n_states + 1, problem.n_gaps])
    marks, latest, gap_starts, n_gaps = (
        np.ascontiguousarray(part).reshape(-1) for part in np.split(kept.registers, cuts, axis=1)
    )

    def task(begin: int, end: int, budget: NDArray[np.int64]) -> None:
        kernel(
            arguments, problem.rows, machine, layout.shape, problem.weights, kept.store, kept.clock, marks, latest,
            gap_starts, n_gaps, problem.n_gaps, *problem.gap_places, layout.store(1),
            layout.store(2 * machine.n_states + 1),
            np.empty(machine.n_states + 1, np.int64), np.empty(n_parts, np.int64), begin, end, budget,
        )

    _spread(task, units, threads)
    widths = (n_parts, machine.n_states + 1, problem.n_gaps, 1)
    written = zip((marks, latest, gap_starts, n_gaps), widths, strict=True)
    registers = np.concatenate([part.reshape(len(kept), width) for part, width in written], axis=1)
    return Kept(kept.store, kept.clock, registers, kept.entries, kept.offsets)


@dataclass(frozen=True, eq=False, slots=True)
class _Writing:
    """Where kernels write the entries that are left: units that stay open have room for all they may have."""

    entries: Entries
    first: NDArray[np.int64]
    n_written: NDArray[np.int64]

    @staticmethod
    def room(problem: Problem, units: UnitRows, room: NDArray[np.int64]) -> _Writing:
        capacity = np.where(units.closes, 0, room)
        return _Writing(
            new_entries(problem.layout, int(capacity.sum())), np.cumsum(capacity) - capacity,
            np.zeros(len(units.first), np.int64),
        )

    def kept(self, kept: Kept, registers: NDArray[np.int64], layout: Layout) -> Kept:
        """What was written."""
        offsets = np.concatenate(([0], np.cumsum(self.n_written)))
        places = np.repeat(self.first - offsets[:-1], self.n_written) + np.arange(int(offsets[-1]))
        return Kept(kept.store, kept.clock, registers, take_entries(self.entries, places, layout), offsets)


def _run_by_event(problem: Problem, units: UnitRows, kept: Kept, threads: int) -> Kept:
    layout, machine = problem.layout, problem.machine
    arguments = _units(units)
    kernel = _form(advance_by_event, units, layout)
    room = _room_by_event(problem, units, np.diff(kept.offsets))
    writing = _Writing.room(problem, units, room)
    marks = np.ascontiguousarray(kept.registers).reshape(-1)

    def task(begin: int, end: int, budget: NDArray[np.int64]) -> None:
        entries = new_entries(layout, int(room[begin:end].max(initial=0)) + 1)
        kernel(
            arguments, problem.rows, machine, problem.pairs, layout.shape, problem.weights, kept.store, kept.clock,
            marks, kept.entries, kept.offsets, entries, layout.store(1), np.empty(problem.n_parts, np.int64),
            writing.entries, writing.first, writing.n_written, begin, end, budget,
        )

    _spread(task, units, threads)
    return writing.kept(kept, marks.reshape(kept.registers.shape), layout)


def _room_by_event(problem: Problem, units: UnitRows, n_held: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many entries a unit may have at a time.

    Under contiguous semantics only the events of the last time can be followed, and what is over goes when it is more
    than half; but trends that what follows may still reject are kept to the end.
    """
    machine = problem.machine
    room: NDArray[np.int64] = n_held + (units.end - units.first) * _most_entries(machine)
    is_kept = (machine.end_open != 0) | (machine.end_blocked != 0)
    if machine.semantics != CONTIGUOUS or is_kept.any():
        return room
    n_tied = _most_tied(problem.rows) * _most_entries(machine)
    bound: NDArray[np.int64] = 2 * np.maximum(n_held, n_tied) + n_tied + 9
    return np.minimum(room, bound)


def _run_by_rank(problem: Problem, units: UnitRows, kept: Kept, threads: int) -> Kept:
    layout, machine, pairs = problem.layout, problem.machine, problem.pairs
    arguments = _units(units)
    kernel = _form(advance_by_rank, units, layout)
    trees = _make_trees(machine, pairs)
    n_keys = np.diff(kept.offsets) + units.end - units.first
    writing = _Writing.room(problem, units, np.diff(kept.offsets) + (units.end - units.first) * _most_entries(machine))
    n_tied = _most_tied(problem.rows) * _most_entries(machine)

    def task(begin: int, end: int, budget: NDArray[np.int64]) -> None:
        n_room = int(n_keys[begin:end].max(initial=0)) + 1
        kernel(
            arguments, problem.rows, machine, pairs, layout.shape, problem.weights, trees, kept.store, kept.entries,
            kept.offsets, new_entries(layout, n_tied + 1), layout.store(1),
            layout.store(len(trees.comparison) * n_room), n_room, np.empty((len(pairs.left), n_room), np.int64),
            np.zeros(len(pairs.left), np.int64), np.empty(n_room, np.int64), writing.entries, writing.first,
            writing.n_written, begin, end, budget,
        )

    _spread(task, units, threads)
    return writing.kept(kept, kept.registers, layout)


def _run_by_open(problem: Problem, units: UnitRows, kept: Kept, threads: int) -> Kept:
    layout, machine, pairs = problem.layout, problem.machine, problem.pairs
    arguments = _units(units)
    kernel = _form(advance_by_open, units, layout)
    n_keys = np.diff(kept.offsets) + units.end - units.first
    writing = _Writing.room(problem, units, np.diff(kept.offsets) + (units.end - units.first) * _most_entries(machine))
    n_tied = _most_tied(problem.rows) * _most_entries(machine)
    n_states = machine.n_states + 1
    closers = machine.closer_pairs.max(axis=1, initial=-1)
    column_of = np.where(closers >= 0, pairs.offsets[closers], -1)

    def task(begin: int, end: int, budget: NDArray[np.int64]) -> None:
        n_room = int(n_keys[begin:end].max(initial=0)) + 2
        words = (np.zeros((n_states, (n_room >> shift) + 2), np.uint64) for shift in (6, 12, 18))
        opened = OpenPlaces(
            column_of, layout.store(n_states * n_room), np.zeros(n_states * n_room, np.int64), *words
        )
        kernel(
            arguments, problem.rows, machine, pairs, layout.shape, problem.weights, kept.store, kept.entries,
            kept.offsets, new_entries(layout, n_tied + 1), layout.store(1), opened, n_room,
            np.empty((len(pairs.left), n_room), np.int64), np.zeros(len(pairs.left), np.int64),
            np.empty(n_room, np.int64), np.zeros(4, np.int64), writing.entries, writing.first, writing.n_written, begin,
            end, budget,
        )

    _spread(task, units, threads)
    return writing.kept(kept, kept.registers, layout)


_RUNS = {
    BY_STATE: _run_by_state, BY_GAP: _run_by_gap, BY_RANK: _run_by_rank, BY_OPEN: _run_by_open, BY_EVENT: _run_by_event,
}


def _make_trees(machine: Machine, pairs: Pairs) -> Trees:
    """The trees that edges with comparisons read, each once."""
    sides = {LESS: (BELOW,), LESS_OR_EQUAL: (BELOW,), GREATER: (ABOVE,), GREATER_OR_EQUAL: (ABOVE,), EQUAL: (SAME,),
             UNEQUAL: (BELOW, ABOVE)}
    wanted: dict[tuple[int, int, int], None] = {}
    read: list[list[tuple[int, int, int]]] = []
    for source, pair in zip(machine.edge_sources.tolist(), machine.edge_pairs.tolist(), strict=True):
        trees = []
        if source and pair >= 0:
            comparison = int(pairs.offsets[pair])
            trees = [(source, comparison, side) for side in sides[int(pairs.operators[comparison])]]
        wanted.update(dict.fromkeys(trees))
        read.append(trees)
    ordered = sorted(wanted)
    number = {tree: place for place, tree in enumerate(ordered)}
    states = np.array([state for state, _, _ in ordered], np.int64)
    return Trees(
        np.searchsorted(states, np.arange(machine.n_states + 2)).astype(np.int64),
        np.array([comparison for _, comparison, _ in ordered], np.int64),
        np.array([side for _, _, side in ordered], np.int64),
        np.array([number[trees[0]] if trees else -1 for trees in read], np.int64),
        np.array([number[trees[1]] if len(trees) > 1 else -1 for trees in read], np.int64),
    )


def _most_tied(rows: Rows) -> int:
    """How many events have one time, at the most."""
    if not rows.has_ties:
        return 1
    starts = np.flatnonzero(rows.tied == 0)
    return int(np.diff([*starts.tolist(), len(rows.tied)]).max(initial=1))


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
