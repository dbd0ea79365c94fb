"""A search over a range of partitions: the arrays that `kernels.nfab.advance` works in, and more room when it asks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sparkrex.modes.events.kernels import codes
from sparkrex.modes.events.kernels import nfab as kernel
from sparkrex.modes.events.kernels.lookup import UNKNOWN
from sparkrex.modes.events.nfab.writing import Writer, longer, repeated, resized

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.modes.events.nfab.frame import FeedArrays
    from sparkrex.modes.events.nfab.state import Ends, Nodes, Runs

# What one of each takes: a node, an end, an end that is undecided.
_NODE_BYTES, _END_BYTES, _UNDECIDED_BYTES = 34, 25, 24
_MOST_ENDS = 1 << 16
_MANY_NODES = 1 << 16


@dataclass(frozen=True, slots=True)
class Share:
    """The part of one search in the memory that searches at the same time have together."""

    taken: NDArray[np.int64]
    own: int
    most: int

    def left(self, n_bytes: int) -> int:
        """What would be left if this search took so much."""
        return self.most - (int(self.taken.sum()) - int(self.taken[self.own])) - n_bytes

    def take(self, n_bytes: int) -> None:
        """This search has so much now."""
        self.taken[self.own] = n_bytes


@dataclass(frozen=True, slots=True)
class Options:
    """What a search is to do: `lists_open` writes undecided matches too, instead of keeping their ends."""

    strategy: int
    merges: bool
    constructs: bool
    only_first: bool
    keeps_buffer: bool
    lists_open: bool


class Search:
    """`run` once; then its properties tell what it found and what is still under way."""

    def __init__(
        self, arrays: FeedArrays, automaton: tuple[NDArray[Any], ...], options: Options, offsets: NDArray[np.int64],
        share: Share, budget: NDArray[np.int64], *, closes: bool,
    ) -> None:
        self._offsets, self._closes, self._options, self._share = offsets, closes, options, share
        self._absences = arrays.absences_of_runs
        path, machine, columns = arrays.path(), arrays.context.machine(), arrays.context.columns
        self.writer = Writer(share.most, budget)
        self._window_first = arrays.window_first
        self._variable_of = automaton[5]
        self._most_edges = max(1, int(np.diff(automaton[0]).max(initial=0)))
        self._what = (
            automaton, arrays.events,
            (np.int64(options.strategy), options.merges, options.only_first and options.constructs,
             options.keeps_buffer),
            np.int64(self._most_edges), self._absences, arrays.reads, arrays.apart,
        )
        self._conditions = (path, arrays.tests, machine, columns, columns[3].view(np.int64))
        self._budget = budget
        self._at = np.zeros(10, np.int64)
        self._at[kernel.ROW] = offsets[0]
        self._at[kernel.N_RECORDS] = 1
        self._at[kernel.BLOCKED] = -1
        self._lookup = arrays.lookup
        self._n_sides, self._n_fields = (2, codes.N_FIELDS) if self._lookup is None else (3, codes.N_FIELDS + 1)
        # On all sides, its place in `used`, and in `hits` where runs are looked up.
        self._run_bytes = 8 * (self._n_sides * self._n_fields + (1 if self._lookup is None else 3))
        self._set_runs(np.zeros((self._n_sides, self._n_fields, 64), np.int64))
        self._table = np.full(256, -1, np.int64)
        self._set_records(repeated(arrays.initial[0], 64), repeated(arrays.initial[1], 64))
        # Without records every run that ends still writes a place; it is never read.
        self._free = np.empty(65, np.int64)
        self._nodes: Nodes = (
            np.empty(1024, np.int64), np.empty(1024, np.int16), np.empty(1024, np.int64), np.empty(1024, np.int64),
            np.empty(1024, np.int64),
        )
        self._n_kept_nodes = 0
        self._ends: tuple[NDArray[Any], ...] = (
            np.empty(1024, np.int64), np.empty(1024, np.int64), np.empty(1024, np.int64), np.zeros(1024, np.uint8),
        )
        self._undecided: Ends = (np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64))
        self._working_bytes = 0
        self.failed_row = -1  # where memory was short, in the partition that needed it
        self.statistics = np.zeros(codes.N_STATISTICS, np.int64)

    def go_on(
        self, row: int, blocked: int, runs: Runs, labels: NDArray[np.int64],
        records: tuple[NDArray[np.int64], NDArray[np.float64]], nodes: Nodes, undecided: Ends,
    ) -> None:
        """Begin in the middle of the first partition: with runs, their records behind that of no events, the buffer.

        The buffer is the search's own from now on.
        """
        n_runs, n_nodes, at = len(labels), len(nodes[0]), self._at
        at[kernel.ROW], at[kernel.BLOCKED], at[kernel.N_RUNS], at[kernel.N_NODES] = row, blocked, n_runs, n_nodes
        n_room = max(64, 2 * n_runs)
        self._set_runs(np.zeros((self._n_sides, self._n_fields, n_room), np.int64))
        if self._lookup is not None:
            self._runs[0, codes.AWAITS, :n_runs] = UNKNOWN  # until they are tested
        fields = (codes.STATE, codes.NODE, codes.START, codes.LAST, codes.LABEL)
        for number, values in zip(fields, (*runs, labels), strict=True):
            self._runs[0, number, :n_runs] = values
        if self._record_bytes:
            self._runs[0, codes.RECORD, :n_runs] = np.arange(1, n_runs + 1)
            at[kernel.N_RECORDS] = n_runs + 1
        self._set_records(*(longer(values, n_room) for values in records))
        self._free = np.empty(n_room + 1, np.int64)
        self._nodes = nodes
        self._resize_nodes(max(1024, n_nodes))
        self._n_kept_nodes = n_nodes
        self._undecided = undecided

    def run(self) -> tuple[int, int]:
        """Search to the end: DONE or what ended it, and the row or state where that was."""
        status, where = codes.DONE, 0
        while len(self._offsets) > 1:
            status = kernel.advance(
                self._at, self._offsets, self._closes, self._runs, self._nodes, self._ends, self._free, self._table,
                self._used, *self._what, self._room_of_lookup, *self._conditions, *self._records,
                np.empty(0, np.int16), self._budget, self.statistics,
            )
            if status not in (codes.DONE, codes.NEEDS_ROOM):
                where = int(self._at[kernel.WHERE])
                break
            is_done = status == codes.DONE
            status, where = self._write_matches()
            if status == codes.DONE and not is_done:
                status, where = self._make_room()
            if is_done or status != codes.DONE:
                break
        self._share.take(self.writer.n_bytes)
        return status, where

    # -- what is left at the end ---------------------------------------------------------------------------------

    @property
    def blocked(self) -> int:
        """The last row of the last match, where only the first of overlapping ones is kept; else -1."""
        return int(self._at[kernel.BLOCKED])

    @property
    def runs(self) -> Runs:
        """Those that wait for more rows of the last partition."""
        n_runs = 0 if self._closes or len(self._offsets) < 2 else int(self._at[kernel.N_RUNS])
        left = self._runs[self._at[kernel.SIDE], :, :n_runs]
        return left[codes.STATE], left[codes.NODE], left[codes.START], left[codes.LAST]

    @property
    def nodes(self) -> Nodes:
        """The buffer, without the room for more."""
        self._resize_nodes(int(self._at[kernel.N_NODES]))
        return self._nodes

    @property
    def undecided(self) -> Ends:
        """Ends of matches that rows to come decide."""
        return self._undecided

    @property
    def ends(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The node and the first row allowed of every end that was not written."""
        n_ends = self._at[kernel.N_ENDS]
        return self._ends[0][:n_ends], self._ends[2][:n_ends]

    # -- between the rows ----------------------------------------------------------------------------------------

    def _write_matches(self) -> tuple[int, int]:
        at, options = self._at, self._options
        if options.keeps_buffer or not at[kernel.N_ENDS]:
            return codes.DONE, 0
        if not self._closes and not options.lists_open:
            self._set_aside()
        n_ends = int(at[kernel.N_ENDS])
        at[kernel.N_ENDS] = 0
        if not options.constructs or not n_ends:
            return codes.DONE, 0
        result = self.writer.write(self._ends, n_ends, self._nodes, self._share.left(self._working_bytes))
        if result > 0:
            end = self.writer.last_end
            self.failed_row = int(self._ends[1][end])
            return codes.TOO_MANY_MATCHES, self._variable_of.tolist().index(self._nodes[1][self._ends[0][end]])
        if result < 0:
            return codes.STOPPED, 0
        self._share.take(self._working_bytes + self.writer.n_bytes)
        return codes.DONE, 0

    def _set_aside(self) -> None:
        """Take the ends that are open out of the ends."""
        n_ends = self._at[kernel.N_ENDS]
        node, row, first, is_open = self._ends
        waits = is_open[:n_ends] != 0
        if not waits.any():
            return
        # Runs of different first rows are apart, so that all histories of the node have one.
        new = (node[:n_ends][waits], self._nodes[4][node[:n_ends][waits]], row[:n_ends][waits])
        nodes, firsts, lasts = (np.concatenate(pair) for pair in zip(self._undecided, new, strict=True))
        self._undecided = (nodes, firsts, lasts)
        n_left = int(n_ends - waits.sum())
        for array in (node, row, first):
            array[:n_left] = array[:n_ends][~waits]
        is_open[:n_ends] = 0
        self._at[kernel.N_ENDS] = n_left

    def _make_room(self) -> tuple[int, int]:
        """Room for one more row, whatever it brings; more if that is cheap. All is counted as if it were full."""
        at = self._at
        n_runs, side = int(at[kernel.N_RUNS]), int(at[kernel.SIDE])
        most_new = n_runs * (self._most_edges + 1) + self._most_edges
        is_full = at[kernel.N_NODES] + 2 * most_new > len(self._nodes[0])
        if is_full and at[kernel.N_NODES] > 2 * self._n_kept_nodes + _MANY_NODES:
            self._compact()
        spare, is_of_runs = self._spare(most_new)
        if spare < 0:
            self._compact()
            spare, is_of_runs = self._spare(most_new)
        if spare < 0:
            self.failed_row = int(at[kernel.ROW])
            state = int(self._runs[side, codes.STATE, n_runs // 2]) if n_runs else 0
            return codes.TOO_MANY_RUNS if is_of_runs else codes.TOO_MANY_NODES, state
        spare //= 4
        n_table, n_records, n_nodes, n_ends = self._needed(most_new)
        n_room = self._runs.shape[2]
        if most_new > n_room:
            n_room = _room(n_room, most_new, spare, self._run_bytes)
            wider = np.empty((self._n_sides, self._n_fields, n_room), np.int64)
            # The other sides are written anew at every row.
            wider[side, :, :n_runs] = self._runs[side, :, :n_runs]
            self._set_runs(wider)
        if n_table > len(self._table):
            self._table = np.full(n_table, -1, np.int64)
        if n_records > len(self._records[0]):
            n_room = _room(len(self._records[0]), n_records, spare, self._record_bytes)
            self._set_records(longer(self._records[0], n_room), longer(self._records[1], n_room))
            self._free = longer(self._free, n_room + 1)
        if n_nodes > len(self._nodes[0]):
            n_room = _room(len(self._nodes[0]), n_nodes, spare, _NODE_BYTES)
            self._resize_nodes(n_room)
        # The fewer ends have room, the more often matches are written out in between.
        n_room = _room(len(self._ends[0]), n_ends, spare, _END_BYTES)
        if not self._options.keeps_buffer:
            n_room = max(n_ends, min(n_room, _MOST_ENDS))
        if n_room > len(self._ends[0]):
            self._ends = tuple(resized(array, n_room) for array in self._ends)
            self._ends[3][:] = 0  # where no end is judged, none is written to be open
        self._share.take(self._working_bytes + self.writer.n_bytes)
        return codes.DONE, 0

    def _needed(self, most_new: int) -> tuple[int, int, int, int]:
        """How long the hash table, the records, the buffer and the ends must be."""
        at = self._at
        n_table = len(self._table)
        while n_table < 2 * most_new:
            n_table *= 2
        n_records = max(len(self._records[0]), int(at[kernel.N_RECORDS]) + most_new) if self._record_bytes else 0
        n_nodes = max(len(self._nodes[0]), int(at[kernel.N_NODES]) + 2 * most_new)
        return n_table, n_records, n_nodes, max(len(self._ends[0]), int(at[kernel.N_ENDS]) + most_new)

    def _spare(self, most_new: int) -> tuple[int, bool]:
        """What is left of the memory with room for a row (negative: not enough), and whether runs take most of it."""
        n_table, n_records, n_nodes, n_ends = self._needed(most_new)
        run_bytes = max(self._runs.shape[2], most_new) * self._run_bytes + 8 * n_table + n_records * self._record_bytes
        node_bytes = n_nodes * _NODE_BYTES
        self._working_bytes = run_bytes + node_bytes + n_ends * _END_BYTES + len(self._undecided[0]) * _UNDECIDED_BYTES
        return self._share.left(self._working_bytes + self.writer.n_bytes), run_bytes > node_bytes

    def _compact(self) -> None:
        """Throw away the nodes that nothing reaches any more."""
        at = self._at
        if self._options.keeps_buffer:
            return
        n_nodes, n_runs = int(at[kernel.N_NODES]), int(at[kernel.N_RUNS])
        row = max(int(self._offsets[at[kernel.PARTITION]]), int(at[kernel.ROW]) - 1)
        at[kernel.N_NODES] = self._n_kept_nodes = kernel.compact(
            room_to_move(n_nodes), self._runs[at[kernel.SIDE], codes.NODE], n_runs, self._undecided[0],
            len(self._undecided[0]), self._nodes, n_nodes, self._window_first[row],
        )

    def _resize_nodes(self, n_room: int) -> None:
        row, label, before, other, youngest = (resized(array, n_room) for array in self._nodes)
        self._nodes = (row, label, before, other, youngest)

    def _set_runs(self, runs: NDArray[np.int64]) -> None:
        n_room = runs.shape[2]
        self._runs, self._used = runs, np.empty(n_room, np.int64)
        self._room_of_lookup: tuple[NDArray[np.int64], ...] | None = None
        if self._lookup is not None:
            n_states = len(self._lookup[0])
            by_state = (np.zeros(n_states, np.int64), np.zeros(n_states, np.int64))
            self._room_of_lookup = (*self._lookup, *by_state, np.empty((2, n_room + 1), np.int64))

    def _set_records(self, ints: NDArray[np.int64], floats: NDArray[np.float64]) -> None:
        self._records = (ints, floats, floats.view(np.int64))
        n_values = ints.shape[1] + floats.shape[1]
        self._record_bytes = 8 * (n_values + 1) if n_values else 0  # and a place among those that are free


def room_to_move(n_nodes: int) -> NDArray[Any]:
    """Where `kernels.nfab.compact` writes the new numbers of nodes: in half the room, but for a very large buffer."""
    return np.full(n_nodes, -1, np.int32 if n_nodes < 1 << 31 else np.int64)


def _room(length: int, needed: int, spare: int, size: int) -> int:
    """How long to make an array that is too short: twice as long, if what is spare allows that."""
    return max(needed, min(2 * length, needed + spare // size))
