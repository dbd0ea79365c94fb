"""What a runner keeps of open windows between two feeds, in the tables of its state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sparkrex.columns.gather import take_or_null
from sparkrex.columns.wrap import wrap
from sparkrex.matching.slot_table import offsets_of
from sparkrex.modes.trends.kernels.by_event import Entries
from sparkrex.modes.trends.packing import pack_places, pack_units, unpack_places, unpack_units
from sparkrex.modes.trends.search import Kept, fresh, take_places
from sparkrex.modes.trends.units import OpenWindows
from sparkrex.scalar.expression import ColumnAt

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.matching.feed import Feed
    from sparkrex.matching.state import State
    from sparkrex.modes.trends.arranged import ArrangedRows
    from sparkrex.modes.trends.kernels.places import Store
    from sparkrex.modes.trends.layout import Layout
    from sparkrex.modes.trends.plan import TrendQuery
    from sparkrex.modes.trends.search import Problem
    from sparkrex.modes.trends.units import UnitRows
    from sparkrex.settings import Settings

_NO_WINDOW = np.iinfo(np.int64).min
FRESH = np.array((0, 0, _NO_WINDOW), np.dtype([("n_seen", "i8"), ("n_done", "i8"), ("last_window", "i8")]))[()]
"""Of a slot: events counted so far, how many of the rows held back have been searched, the last window that began."""
WINDOWS, ENTRIES = "windows", "entries"
"""The tables beside that of rows: a row per open window, and a row per entry, window by window."""


@dataclass(frozen=True, eq=False, slots=True)
class KeptBefore:
    """The windows of a feed's slots that were open before, and their entries, which `entry_offsets` cut by slot."""

    opened: OpenWindows
    windows: pa.Table | None
    entries: pa.Table | None
    entry_offsets: NDArray[np.int64]


def read_kept(state: State, feed: Feed) -> KeptBefore:
    """The open windows of the feed's slots, with what is kept of them."""
    n_slots = len(feed.slots)
    if feed.is_whole:
        return KeptBefore(OpenWindows.none(), None, None, np.zeros(n_slots + 1, np.int64))
    table, offsets = state.tables[WINDOWS].read(feed.slots)
    entries, entry_offsets = state.tables[ENTRIES].read(feed.slots)
    place = np.repeat(np.arange(n_slots), np.diff(offsets))
    number = np.empty(0, np.int64) if table is None else table.column("number").to_numpy()
    return KeptBefore(OpenWindows(place, number), table, entries, entry_offsets)


def continue_units(before: KeptBefore, units: UnitRows, problem: Problem, rows: ArrangedRows) -> Kept:
    """What is kept of every unit: from before, or nothing."""
    kept = fresh(problem, len(units.first))
    if before.windows is None:
        return kept
    is_old = units.before >= 0
    old = units.before[is_old]
    unit_of = np.empty(before.windows.num_rows, np.int64)  # every window that was open still has a unit
    unit_of[old] = np.flatnonzero(is_old)
    places, stored = unpack_units(problem.layout, before.windows, unit_of, problem.n_places)
    _write_places(kept.store, places, stored, problem.layout)
    kept.clock[is_old] = before.windows.column("clock").to_numpy()[old]
    n_registers = kept.registers.shape[1]
    if n_registers:
        registers = before.windows.column("registers").combine_chunks().flatten().to_numpy()
        kept.registers[is_old] = registers.reshape(-1, n_registers)[old]
    if before.entries is None:
        return kept
    # Entries are in the order of windows, by slot, and units of old windows come in that order too.
    n_entries = before.windows.column("n_entries").to_numpy()
    lengths = np.zeros(len(units.first), np.int64)
    lengths[is_old] = n_entries[old]
    table = before.entries
    slots_of = np.repeat(np.arange(len(before.entry_offsets) - 1), np.diff(before.entry_offsets))
    row = table.column("row").to_numpy()
    entries = Entries(
        table.column("time").to_numpy().copy(),
        np.where(row < 0, -1, row + rows.offsets[slots_of]),
        table.column("state").to_numpy().copy(), table.column("latest").to_numpy().copy(),
        table.column("is_over").to_numpy().astype(np.bool_), unpack_places(problem.layout, table.column("places")),
    )
    return Kept(kept.store, kept.clock, kept.registers, entries, offsets_of(lengths))


def write_kept(
    state: State, feed: Feed, rows: ArrangedRows, units: UnitRows, kept: Kept, until: NDArray[np.int64],
    problem: Problem, groups: Groups, settings: Settings,
) -> None:
    """Keep what is open: windows, entries, the rows that entries read, and those that wait for their time."""
    n_slots = len(feed.slots)
    is_open = ~units.closes[units.window_unit]
    place, number, unit = units.window_place[is_open], units.window_number[is_open], units.window_unit[is_open]
    places = take_places(kept.store, _spans(unit * problem.n_places, problem.n_places), problem.layout)
    n_entries = np.diff(kept.offsets)[unit]
    entry_of = np.repeat(kept.offsets[unit] - offsets_of(n_entries)[:-1], n_entries) + np.arange(n_entries.sum())
    entry_slot = np.repeat(place, n_entries)
    windows = pa.table({
        **{f"group {name}": values for name, values in groups.take(np.flatnonzero(is_open)).items()},
        "number": wrap(number), "clock": wrap(kept.clock[unit]), "n_entries": wrap(n_entries),
        **pack_units(problem.layout, places, problem.n_places), "registers": _lists_of(kept.registers[unit]),
    })
    row_of = kept.entries.row[entry_of]
    waiting = rows.offsets[1:] - until
    used, read_by = np.unique(row_of[row_of >= 0], return_inverse=True)
    slot_of_used = np.searchsorted(rows.offsets, used, side="right") - 1
    n_used = np.bincount(slot_of_used, minlength=n_slots)
    local = np.full(len(row_of), -1, np.int64)
    local[row_of >= 0] = read_by - offsets_of(n_used)[:-1][slot_of_used[read_by]] if len(used) else 0
    entries = pa.table({
        "time": wrap(kept.entries.time[entry_of]), "row": wrap(local), "state": wrap(kept.entries.state[entry_of]),
        "latest": wrap(kept.entries.latest[entry_of]),
        "is_over": wrap(kept.entries.is_over[entry_of].astype(np.int8)),
        "places": pack_places(problem.layout, take_places(kept.entries.store, entry_of, problem.layout)),
    })
    state.tables[WINDOWS].write(feed.slots, windows, offsets_of(np.bincount(place, minlength=n_slots)))
    state.tables[ENTRIES].write(feed.slots, entries, offsets_of(np.bincount(entry_slot, minlength=n_slots)))
    state.numbers["n_done"][feed.slots] = n_used
    state.numbers["n_seen"][feed.slots] = rows.n_seen
    if len(units.window_place):
        highest = state.numbers["last_window"][feed.slots]
        np.maximum.at(highest, units.window_place, units.window_number)
        state.numbers["last_window"][feed.slots] = highest
    # Slot by slot: the rows that entries read, then those that wait.
    wait_rows = _spans_of(until, waiting)
    slot = np.concatenate([slot_of_used, np.repeat(np.arange(n_slots), waiting)])
    held = np.concatenate([used, wait_rows])[np.argsort(slot, kind="stable")]
    state.hold(feed, rows.take(held), np.where(feed.closes, 0, n_used + waiting), settings)


class Groups:
    """The values of GROUP-BY, by window: kept with windows from before, since a slot may have no row any more."""

    def __init__(self, query: TrendQuery, rows: ArrangedRows, windows: pa.Table | None, units: UnitRows) -> None:
        before = units.before[units.window_unit]
        n_before = 0 if windows is None else windows.num_rows
        self._places = np.where(before >= 0, before, n_before + rows.first_row(units.window_place))
        self._columns: dict[str, pa.ChunkedArray] = {}
        for key in query.partition_by:
            if key.name in query.group_by:
                column = rows.table.column(_column(key.expression))
                parts = column.chunks
                if windows is not None:
                    parts = [*(chunk.cast(column.type) for chunk in windows.column(f"group {key.name}").chunks), *parts]
                self._columns[key.name] = pa.chunked_array(parts, column.type)

    def take(self, windows: NDArray[np.int64]) -> dict[str, pa.ChunkedArray]:
        """The values of some windows."""
        return {name: take_or_null(column, self._places[windows]) for name, column in self._columns.items()}


def _lists_of(lines: NDArray[np.int64]) -> pa.Array:
    """One list per line; lines of no numbers have one that nobody reads."""
    n_lines, width = lines.shape
    values = lines.reshape(-1) if width else np.zeros(n_lines, np.int64)
    return pa.FixedSizeListArray.from_arrays(wrap(values), max(1, width))


def _column(expression: Any) -> str:
    assert isinstance(expression, ColumnAt)  # partitions are by columns
    return expression.column


def _spans(first: NDArray[np.int64], length: int) -> NDArray[np.int64]:
    return (first[:, None] + np.arange(length)).reshape(-1)


def _spans_of(first: NDArray[np.int64], length: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.repeat(first - offsets_of(length)[:-1], length) + np.arange(int(length.sum()))


def _write_places(store: Store, places: NDArray[np.int64], other: Store, layout: Layout) -> None:
    shape = layout.shape
    for target, source, width in zip(store, other, (shape.n_numbers, shape.n_reals, shape.n_extremes, 1), strict=True):
        if width:
            lines = target.reshape(-1, width, *target.shape[1:])
            lines[places] = source.reshape(len(places), width, *target.shape[1:])
