"""What stays of open partitions between feeds: instances of nodes with their cells, and matches that wait.

Rows and cells are counted from the first that is held back of their partition, so that they mean the same in the frame
of the next feed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.values import ints_of, numpy_of, plain
from sparkrex.columns.wrap import wrap
from sparkrex.matching.slot_table import offsets_of
from sparkrex.matching.state import ROWS
from sparkrex.matching.waking import NEVER
from sparkrex.modes.events.nfab.contract import EventMatches
from sparkrex.modes.workload.cells import reachable
from sparkrex.modes.workload.kernels import codes
from sparkrex.modes.workload.kernels.arguments import Cells
from sparkrex.modes.workload.search import Instances
from sparkrex.modes.workload.waiting import Waiting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.matching.feed import Feed, Frame
    from sparkrex.matching.state import State
    from sparkrex.modes.workload.prepared import Prepared
    from sparkrex.modes.workload.search import Search

INSTANCES, CELLS, WAITING = "instances", "cells", "waiting"
_OWNER, _LOW, _HIGH, _IS_ROW, _VALUES = range(5)
"""Lines of instances: the node, first and last row, which values are rows, values."""


@dataclass(frozen=True, eq=False, slots=True)
class Kept:
    """Instances of nodes, one a column (see `_OWNER`), and cells: row, first row, cell before. Rows are the frame's."""

    instances: NDArray[np.int64]
    cells: NDArray[np.int64]

    @staticmethod
    def joined(prepared: Prepared, parts: list[Kept]) -> Kept:
        """Those of several segments: their cells are numbered one after the other."""
        first = offsets_of(np.array([part.cells.shape[1] for part in parts], np.int64))
        shifted = [part._with_cells_from(int(begin)) for part, begin in zip(parts, first, strict=False)]
        nothing = Kept(np.empty((_VALUES + prepared.width, 0), np.int64), np.empty((3, 0), np.int64))
        return Kept(*(
            np.concatenate([getattr(part, name) for part in (nothing, *shifted)], axis=1)
            for name in ("instances", "cells")
        ))

    def _with_cells_from(self, begin: int) -> Kept:
        instances, cells = self.instances.copy(), self.cells.copy()
        instances[_VALUES:] += begin * ~_are_rows(instances)
        cells[2] += begin * (cells[2] >= 0)
        return Kept(instances, cells)


def _are_rows(instances: NDArray[np.int64]) -> NDArray[np.bool_]:
    """By value and instance whether it is a row; what is none of its node's slots is one too, so that it stays."""
    found: NDArray[np.bool_] = (instances[_IS_ROW] >> np.arange(len(instances) - _VALUES)[:, None]) & 1 == 1
    return found


def kept_of(search: Search, first: int, places: NDArray[np.int64]) -> Kept:
    """What a search leaves that rows to come may complete: of the partitions `places` of its segment.

    The segment begins at the frame's row `first`. Leaves have no instances that must be kept: rows are enough.
    """
    prepared, open_from, offsets = search.prepared, search.rows.open_from, search.arrays.offsets
    width = prepared.width
    is_kept = np.zeros(len(offsets) - 1, np.bool_)
    is_kept[places] = True
    parts = [np.empty((_VALUES + width, 0), np.int64)]
    lasts: list[NDArray[np.int64]] = []
    for place, node in enumerate(prepared.nodes):
        if not node.keeps or node.kind == codes.LEAF or not search.store.arenas[place, codes.N]:
            continue
        own = search.instances(place)
        partition = np.searchsorted(offsets[1:], own.high, side="right")
        window = prepared.windows.index(node.window)
        own = own.where(is_kept[partition] & (own.low >= open_from[window, partition]))
        lines = np.zeros((_VALUES + width, len(own.low)), np.int64)
        lines[_OWNER], lines[_LOW], lines[_HIGH] = place, own.low + first, own.high + first
        cells_at = [slot for slot, is_kleene in enumerate(node.slots_are_kleene) if is_kleene]
        lines[_IS_ROW] = (1 << width) - 1 - sum(1 << slot for slot in cells_at)
        for slot, (values, is_kleene) in enumerate(zip(own.values, node.slots_are_kleene, strict=True)):
            lines[_VALUES + slot] = values if is_kleene else values + first
            if is_kleene:
                lasts.append(values)
        parts.append(lines)
    instances = np.concatenate(parts, axis=1)
    n_cells = int(search.at[codes.N_CELLS])
    needed = reachable(search.cells.before[:n_cells], lasts)
    number = np.cumsum(needed) - 1
    row, began, before = (array[:n_cells][needed] for array in search.cells)
    cells = np.stack([row + first, began + first, np.where(before < 0, -1, number[before])])
    is_cell = ~_are_rows(instances)
    instances[_VALUES:][is_cell] = number[instances[_VALUES:][is_cell]]
    return Kept(instances, cells)


def put_into(
    state: State, feed: Feed, frame: Frame, kept: Kept, first_held: NDArray[np.int64]
) -> None:
    """Keep partial matches. `first_held` is the first row that is held back of each partition."""
    cells = kept.cells
    place = np.searchsorted(frame.end, cells[0], side="right")
    order = np.argsort(place, kind="stable")
    number = np.empty(len(order), np.int64)
    begin = offsets_of(np.bincount(place, minlength=len(feed.slots)))
    number[order] = np.arange(len(order)) - begin[place[order]]
    held = first_held[place]
    before = np.where(cells[2] < 0, -1, number[cells[2]]) if len(order) else cells[2]
    table = pa.table({
        "row": wrap((cells[0] - held)[order]), "first": wrap((cells[1] - held)[order]), "before": wrap(before[order]),
    })
    state.tables[CELLS].write(feed.slots, table, begin)
    lines = kept.instances.copy()
    is_row = _are_rows(lines)
    place = np.searchsorted(frame.end, lines[_HIGH], side="right")
    held = first_held[place]
    lines[_LOW] -= held
    lines[_HIGH] -= held
    if len(order):
        lines[_VALUES:] = np.where(is_row, lines[_VALUES:] - held, number[np.where(is_row, 0, lines[_VALUES:])])
    else:
        lines[_VALUES:] -= held
    order = np.argsort(place, kind="stable")
    names = ["owner", "low", "high", "is_row", *(f"v{slot}" for slot in range(len(lines) - _VALUES))]
    table = pa.table([wrap(line) for line in np.ascontiguousarray(lines[:, order])], names=names)
    state.tables[INSTANCES].write(feed.slots, table, offsets_of(np.bincount(place, minlength=len(feed.slots))))


def put_waiting(
    state: State, feed: Feed, frame: Frame, waiting: dict[int, Waiting], first_held: NDArray[np.int64],
    prepared: Prepared,
) -> None:
    """Keep matches that wait. One row per event: pattern and clause, which match it is of, whether that is decided."""
    clauses = np.array([root.clause for root in prepared.roots], np.int64)
    columns: list[list[NDArray[np.int64]]] = []
    n_matches = 0
    for pattern, own in waiting.items():
        length = np.diff(own.matches.offsets)
        match = np.repeat(np.arange(len(length)) + n_matches, length)
        n_matches += len(length)
        columns.append([
            np.full(len(match), pattern), np.repeat(clauses[own.root], length), match,
            np.repeat(own.is_decided.astype(np.int64), length), own.matches.rows, own.matches.labels.astype(np.int64),
        ])
    lines = np.concatenate([np.empty((6, 0), np.int64), *(np.stack(one) for one in columns)], axis=1)
    place = np.searchsorted(frame.end, lines[4], side="right")
    lines[4] -= first_held[place]
    order = np.argsort(place, kind="stable")
    names = ["pattern", "clause", "match", "is_decided", "row", "label"]
    table = pa.table([wrap(line) for line in np.ascontiguousarray(lines[:, order])], names=names)
    state.tables[WAITING].write(feed.slots, table, offsets_of(np.bincount(place, minlength=len(feed.slots))))


def take_out(state: State, feed: Feed, frame: Frame, prepared: Prepared) -> tuple[Kept, dict[int, Waiting]]:
    """What was kept of the slots of a feed: instances, and by pattern matches that wait."""
    cells = np.empty((3, 0), np.int64)
    table, offsets = state.tables[CELLS].read(feed.slots)
    first_cell = offsets[:-1]
    if table is not None:
        cells = _numbers(table)
        place = np.repeat(np.arange(len(feed.slots)), np.diff(offsets))
        cells[:2] += frame.begin[place]
        cells[2] += first_cell[place] * (cells[2] >= 0)
    instances = np.empty((_VALUES + prepared.width, 0), np.int64)
    table, offsets = state.tables[INSTANCES].read(feed.slots)
    if table is not None:
        instances = _numbers(table)
        place = np.repeat(np.arange(len(feed.slots)), np.diff(offsets))
        is_row, begin = _are_rows(instances), frame.begin[place]
        instances[_LOW] += begin
        instances[_HIGH] += begin
        instances[_VALUES:] += np.where(is_row, begin, first_cell[place])
    return Kept(instances, cells), _take_waiting(state, feed, frame, prepared)


def _take_waiting(state: State, feed: Feed, frame: Frame, prepared: Prepared) -> dict[int, Waiting]:
    table, offsets = state.tables[WAITING].read(feed.slots)
    found: dict[int, Waiting] = {}
    if table is None:
        return found
    lines = _numbers(table)
    place = np.repeat(np.arange(len(feed.slots)), np.diff(offsets))
    lines[4] += frame.begin[place]
    for pattern in np.unique(lines[0]).tolist():
        own = lines[:, lines[0] == pattern]
        own_place = place[lines[0] == pattern]
        begins = np.ones(own.shape[1], np.bool_)
        begins[1:] = (own[2, 1:] != own[2, :-1]) | (own_place[1:] != own_place[:-1])
        first = np.flatnonzero(begins)
        matches = EventMatches(own[4], own[5].astype(np.int16), np.append(first, own.shape[1]))
        found[pattern] = Waiting(matches, prepared.root_of[own[1, first]], own[3, first] == 1)
    return found


def waiting_until(
    state: State, slots: NDArray[np.int64], time: str, sizes: NDArray[np.int64], horizon: int
) -> NDArray[np.int64]:
    """For each slot the least horizon above this one at which the window of a match that waits is over; else `NEVER`.

    `sizes` are those of the clauses' windows in the integers that times are counted in, `NEVER` where none ends.
    """
    found = np.full(len(slots), NEVER)
    table, offsets = state.tables[WAITING].read(slots)
    rows, first_row = state.tables[ROWS].read(slots)
    if table is None or rows is None:
        return found
    _, clause, _, is_decided, row, _ = _numbers(table)
    place = np.repeat(np.arange(len(slots)), np.diff(offsets))
    # The first event of a match is its first row; those of others are later, and change nothing.
    began = ints_of(plain(rows.column(time)))[first_row[place] + row]
    ends = (is_decided == 0) & (began <= NEVER - sizes[clause])
    when = np.where(ends, began, 0) + np.where(ends, sizes[clause], 0)
    ends &= when > horizon
    np.minimum.at(found, place[ends], when[ends])
    return found


def _numbers(table: pa.Table) -> NDArray[np.int64]:
    return np.stack([numpy_of(plain(column)) for column in table.columns]).astype(np.int64)


def restored(kept: Kept, prepared: Prepared, first: int, begin: int, end: int) -> tuple[dict[int, Instances], Cells]:
    """What a segment takes up that begins at `first`: the instances that end in the rows `begin` to `end`."""
    found: dict[int, Instances] = {}
    cells = kept.cells
    lines = kept.instances[:, (kept.instances[_HIGH] >= begin) & (kept.instances[_HIGH] < end)]
    is_row = _are_rows(lines)
    for owner in np.unique(lines[_OWNER]).tolist():
        mine = lines[_OWNER] == owner
        own = lines[:, mine]
        values = own[_VALUES : _VALUES + len(prepared.nodes[owner].labels)]
        values = values - first * is_row[: len(values), mine]
        order = np.argsort(own[_HIGH], kind="stable")
        found[owner] = Instances(values[:, order], own[_LOW, order] - first, own[_HIGH, order] - first)
    return found, Cells(cells[0] - first, cells[1] - first, cells[2].copy())
