"""The state of a whole workload: that of the patterns that share, and one for each pattern of the event matcher.

Saved, it says which patterns it is of, so that a stream may go on with others: patterns that stay keep what they have
under way, what others had is dropped, and new ones begin with what comes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sparkrex.columns.gather import refitted
from sparkrex.columns.values import numpy_of, plain
from sparkrex.columns.wrap import wrap
from sparkrex.matching.slot_table import offsets_of
from sparkrex.matching.state import ROWS, State, cut_states, header_of
from sparkrex.modes.events.nfab import kept as of_events
from sparkrex.modes.workload.counts import COUNTS
from sparkrex.modes.workload.kept import CELLS, INSTANCES, WAITING

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from sparkrex.matching.slot_table import SlotTable

FRESH = np.zeros((), [("plan", np.int64)])
"""Of a slot: the number of the plan that has made its partial matches, where streams may change it; 0 for none."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The patterns of a state: those that share, with how many clauses each has, and the others, in their orders."""

    shared: tuple[tuple[str, int], ...] = ()
    own: tuple[str, ...] = ()

    @property
    def names(self) -> set[tuple[str, int]]:
        """The patterns; one that is answered otherwise than before is another."""
        return {*self.shared, *((name, -1) for name in self.own)}

    @property
    def first_clauses(self) -> dict[str, int]:
        """The number of the first clause of each pattern that shares."""
        begin = offsets_of(np.array([n for _, n in self.shared], np.int64)).tolist()
        return {name: first for (name, _), first in zip(self.shared, begin, strict=False)}


class WorkloadState(State):
    """The state of the patterns that share, and beside it one for each of the others."""

    own: list[State]
    layout: Layout

    @staticmethod
    def of(shared: State, own: list[State], layout: Layout) -> WorkloadState:
        """The states put together."""
        found = WorkloadState(shared.fresh)
        found.__dict__.update(shared.__dict__)
        found.own, found.layout = own, layout
        return found

    @staticmethod
    def fresh_of(layout: Layout) -> WorkloadState:
        """The state before the first feed."""
        return WorkloadState.of(new_state(), [State(of_events.FRESH, of_events.TABLES) for _ in layout.own], layout)

    @property
    def held(self) -> list[SlotTable]:
        """See `State`."""
        return [*super().held, *(table for state in self.own for table in state.held)]

    @property
    def nbytes(self) -> int:
        """Bytes of everything that is kept."""
        return State.nbytes.fget(self) + sum(state.nbytes for state in self.own)  # type: ignore[attr-defined,no-any-return]

    def reach(self, n_slots: int) -> None:
        """All states know of so many slots."""
        nobody = np.empty(0, np.int64)
        self.reset(nobody, up_to=n_slots)
        for state in self.own:
            state.reset(nobody, up_to=n_slots)

    def mark(self) -> None:
        """See `State`."""
        super().mark()
        for state in self.own:
            state.mark()

    def forget_mark(self) -> None:
        """See `State`."""
        super().forget_mark()
        for state in self.own:
            state.forget_mark()

    def undo(self) -> None:
        """See `State`."""
        super().undo()
        for state in self.own:
            state.undo()

    def select(self, slots: NDArray[np.int64]) -> WorkloadState:
        """Some slots as a state of their own."""
        own = [state.select(slots) for state in self.own]
        return WorkloadState.of(super().select(slots), own, self.layout)

    @staticmethod
    def merge(states: Sequence[Any]) -> WorkloadState:
        """The slots of several states, numbered one after the other."""
        for state in states:
            state._align()
        own = [State.merge(parts) for parts in zip(*(state.own for state in states), strict=True)]
        return WorkloadState.of(State.merge(states), own, states[0].layout)

    def snapshot(self, fingerprint: str) -> bytes:
        """Everything as bytes: the states, one after the other."""
        self._align()
        first = self.written(fingerprint, shared=self.layout.shared, own=self.layout.own)
        return b"".join([first, *(state.snapshot(fingerprint) for state in self.own)])

    def restore(self, data: bytes, fingerprint: str) -> WorkloadState:
        """The state that was saved, of the patterns that it was saved with."""
        first, *others = map(bytes, cut_states(memoryview(data)))
        header, _ = header_of(memoryview(first))
        layout = Layout(tuple((name, n) for name, n in header["shared"]), tuple(header["own"]))
        fresh = WorkloadState.fresh_of(layout)
        own = [state.restore(part, fingerprint) for state, part in zip(fresh.own, others, strict=True)]
        return WorkloadState.of(super().restore(first, fingerprint), own, layout)

    def _align(self) -> None:
        """A state of no pattern was never fed."""
        self.reach(max(state.n_slots for state in (self, *self.own)))


def new_state() -> State:
    """The state of patterns that share before the first feed, whatever the plan."""
    return State(FRESH, (INSTANCES, CELLS, WAITING, COUNTS))


def taken_over(
    old: WorkloadState, layout: Layout, stays: Collection[str], schema: pa.Schema
) -> WorkloadState:
    """The state with other patterns, over other columns. Those that stay keep all that is theirs.

    Partial matches are not kept: another plan makes others out of the rows that are held back.
    """
    names = {name for name, _ in layout.names & old.layout.names if name in stays}
    slots = np.arange(old.n_slots)
    found = WorkloadState.fresh_of(layout)
    found.reach(old.n_slots)
    own = dict(zip(old.layout.own, old.own, strict=True))
    for place, name in enumerate(layout.own):
        if name in names:
            found.own[place] = own[name]
            _refit(own[name].tables[ROWS], slots, schema)
    if layout.shared:
        found.tables[ROWS] = old.tables[ROWS]
        _refit(found.tables[ROWS], slots, schema)
    patterns = {name: number for number, (name, _) in enumerate(layout.shared) if name in names}
    numbers = np.array([patterns.get(name, -1) for name, _ in old.layout.shared], np.int64)
    clauses = np.full(sum(n for _, n in old.layout.shared), -1)
    before, after = old.layout.first_clauses, layout.first_clauses
    for name, n_clauses in old.layout.shared:
        if name in patterns:
            clauses[before[name] : before[name] + n_clauses] = after[name] + np.arange(n_clauses)
    for table, columns in ((COUNTS, {"pattern": numbers}), (WAITING, {"pattern": numbers, "clause": clauses})):
        _renumber(old.tables[table], found.tables[table], slots, columns)
    return found


def _refit(table: SlotTable, slots: NDArray[np.int64], schema: pa.Schema) -> None:
    rows, offsets = table.read(slots)
    table.write(slots, None if rows is None else refitted(rows, schema), offsets)


def _renumber(
    old: SlotTable, new: SlotTable, slots: NDArray[np.int64], numbers: Mapping[str, NDArray[np.int64]]
) -> None:
    """What is of patterns that stay, by their new numbers."""
    rows, offsets = old.read(slots)
    if rows is None:
        return
    place = np.repeat(slots, np.diff(offsets))
    for name, known in numbers.items():
        column = known[numpy_of(plain(rows.column(name)))]
        rows = rows.set_column(rows.column_names.index(name), name, wrap(column))
    keep = numpy_of(plain(rows.column("pattern"))) >= 0
    new.write(slots, rows.filter(wrap(keep)), offsets_of(np.bincount(place[keep], minlength=len(slots))))
