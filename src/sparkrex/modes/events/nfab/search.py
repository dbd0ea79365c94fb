"""A search over a range of partitions: the arrays that `kernels.nfab.advance` works in, and more room when it asks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sparkrex.modes.events.kernels import codes
from sparkrex.modes.events.kernels import nfab as kernel
from sparkrex.modes.events.kernels.absence import status_of
from sparkrex.modes.events.kernels.arguments import Ends, Lookup, Nodes, Partitions, Records, Waiting, Work
from sparkrex.modes.events.kernels.matches import recheck_ends, revive
from sparkrex.modes.events.nfab.kept import Left
from sparkrex.modes.events.nfab.waiting import join_ends, select_ends, set_aside
from sparkrex.modes.events.nfab.writing import Writer, longer, repeated, resized

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.modes.events.kernels.arguments import Automaton, Options
    from sparkrex.modes.events.nfab.frame import FeedArrays
    from sparkrex.modes.events.nfab.kept import Part

# What one of each takes: a node, an end, an end that waits.
_NODE_BYTES, _END_BYTES, _WAITING_BYTES = 34, 25, 33
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
class Bounds:
    """Partitions of a search: see `kernels.arguments.Partitions`."""

    low: NDArray[np.int64]
    high: NDArray[np.int64]
    unseen: NDArray[np.int64]
    open_from: NDArray[np.int64]
    blocked: NDArray[np.int64]

    def part(self, begin: int, end: int) -> Bounds:
        """Those of a range; `blocked` is shared."""
        low, high, unseen, open_from = (
            array[begin:end].copy() for array in (self.low, self.high, self.unseen, self.open_from)
        )
        return Bounds(low, high, unseen, open_from, self.blocked[begin:end])


@dataclass(frozen=True, slots=True)
class Ways:
    """What becomes of ends: `lists_open` writes undecided matches too, instead of keeping their ends. Where a pattern
    `is_ambiguous`, the ends of one last event are given at once. Matches come `in_order` where it shows."""

    lists_open: bool
    is_ambiguous: bool
    in_order: bool


class Search:
    """`run` once; then its properties tell what it found and what is still under way."""

    def __init__(
        self, arrays: FeedArrays, automaton: Automaton, options: Options, ways: Ways, bounds: Bounds, part: Part,
        share: Share, budget: NDArray[np.int64],
    ) -> None:
        self._arrays, self._options, self._ways, self._share, self._budget = arrays, options, ways, share, budget
        self._plan = arrays.plan(automaton, options)
        self._absences = arrays.absences_of_runs
        self.writer = Writer(share.most, budget)
        n_runs, n_nodes = part.runs.shape[1], len(part.nodes.row)
        n_most = int(np.diff(part.run_offsets).max(initial=0))
        records = Records(repeated(arrays.initial[0], n_runs + 1), repeated(arrays.initial[1], n_runs + 1),
                          np.empty((0, 0), np.int64))
        self._partitions = Partitions(
            bounds.low, bounds.high, bounds.unseen, bounds.open_from, bounds.blocked, part.run_offsets, part.runs,
            records.ints, records.floats,
        )
        self._at = np.zeros(codes.N_PLACES, np.int64)
        self._at[codes.N_NODES] = self._at[codes.N_KEPT_NODES] = n_nodes
        self._waiting = part.waiting
        self._waits = np.zeros(len(bounds.low), np.bool_)  # by partition, whether an end waits
        self._lookup = arrays.lookup
        self._n_sides, self._n_fields = (2, codes.N_FIELDS) if self._lookup is None else (3, codes.N_FIELDS + 1)
        # On all sides, its place in `used`, and in `hits` where runs are looked up.
        self._run_bytes = 8 * (self._n_sides * self._n_fields + (1 if self._lookup is None else 3))
        n_room = max(64, 2 * n_most)
        self._set_runs(np.zeros((self._n_sides, self._n_fields, n_room), np.int64))
        self._left = np.empty((codes.N_FIELDS, 0), np.int64)
        self._table = np.full(256, -1, np.int64)
        self._set_records(repeated(arrays.initial[0], n_room + 1), repeated(arrays.initial[1], n_room + 1))
        # Without records every run that ends still writes a place; it is never read.
        self._free = np.empty(n_room + 2, np.int64)
        self._nodes = part.nodes
        self._resize_nodes(max(1024, n_nodes))
        self._n_kept_nodes = n_nodes
        self._ends = Ends(
            np.empty(1024, np.int64), np.empty(1024, np.int64), np.empty(1024, np.int64), np.zeros(1024, np.uint8)
        )
        self._working_bytes = 0
        self.failed_row = -1  # where memory was short, in the partition that needed it
        self.statistics = np.zeros(codes.N_STATISTICS, np.int64)

    def run(self) -> tuple[int, int]:
        """Search to the end: DONE or what ended it, and the row or state where that was."""
        status, where = self._revive()
        if status == codes.DONE and len(self._waiting.node):
            status, where = self._decide_waiting()
        while status == codes.DONE:
            status = kernel.advance(
                self._at, self._partitions, self._work(), self._plan, self._absences, self._room_of_lookup,
                self._budget, self.statistics,
            )
            if status not in (codes.DONE, codes.NEEDS_ROOM):
                where = int(self._at[codes.WHERE])
                break
            is_done = status == codes.DONE
            status, where = self._write_matches()
            if is_done or status != codes.DONE:
                break
            status, where = self._make_room()
        self._share.take(self.writer.n_bytes)
        return status, where

    # -- what is left at the end ---------------------------------------------------------------------------------

    @property
    def nodes(self) -> Nodes:
        """The buffer, without the room for more."""
        self._resize_nodes(int(self._at[codes.N_NODES]))
        return self._nodes

    @property
    def ends(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The node and the first row allowed of every end that was not written."""
        n_ends = self._at[codes.N_ENDS]
        return self._ends.node[:n_ends], self._ends.first[:n_ends]

    def left(self, begin: int) -> Left:
        """What rows to come may change, without all nodes that this does not reach. The buffer is given away."""
        n_left = int(self._at[codes.N_LEFT])
        runs, waiting, nodes = self._left[:, :n_left].copy(), self._waiting, self._nodes
        roots = np.concatenate((runs[codes.NODE], waiting.node))
        n_nodes = 0
        if len(roots):
            n_all = int(self._at[codes.N_NODES])
            n_nodes = kernel.compact(room_to_move(n_all), roots, nodes, np.int64(n_all), self._bounds())
        # In place, and then cut to what is left, so that the room which the search had is given back.
        self._resize_nodes(n_nodes)
        runs[codes.NODE] = roots[:n_left]
        return Left(begin, runs, self._nodes, waiting._replace(node=roots[n_left:]))

    # -- at the beginning ----------------------------------------------------------------------------------------

    def _revive(self) -> tuple[int, int]:
        """Write the records of runs that wait, which are of this frame."""
        runs = self._partitions.runs
        if not runs.shape[1]:
            return codes.DONE, 0
        ints, floats = self._partitions.record_ints, self._partitions.record_floats
        failed = revive(runs, self._nodes, self._plan.values, Records(ints, floats, floats.view(np.int64)))
        return (codes.DONE, 0) if failed < 0 else (codes.OVERFLOW, int(runs[codes.START, failed]))

    def _decide_waiting(self) -> tuple[int, int]:
        """Write the matches of ends that waited for rows which are there now."""
        waiting, arrays = self._waiting, self._arrays
        states = np.zeros(len(waiting.node), np.int64)
        error = recheck_ends(
            waiting, self._nodes, self._partitions, arrays.absences, arrays.events.ties, self._plan.values,
            arrays.initial, self._budget, states,
        )
        if error < 0:
            return int(status_of.py_func(error)), int(waiting.first[int((states < 0).argmax())])
        is_kept = states != codes.REFUSED
        waiting = select_ends(waiting, is_kept)
        waiting.is_open[:] = states[is_kept] == codes.UNDECIDED
        goes = ~self._waiting_ones(waiting.place, waiting.last, waiting.is_open)
        self._waiting = select_ends(waiting, ~goes)
        decided = select_ends(waiting, goes)
        if not len(decided.node):
            return codes.DONE, 0
        ends = Ends(decided.node, decided.last, decided.first, np.zeros(len(decided.node), np.uint8))
        n_bytes = sum(array.nbytes for array in ends)
        self._working_bytes = self._at[codes.N_NODES] * _NODE_BYTES + len(waiting.node) * _WAITING_BYTES + n_bytes
        return self._write(ends, len(decided.node))

    # -- between the rows ----------------------------------------------------------------------------------------

    def _work(self) -> Work:
        return Work(
            self._runs, self._left, self._free, self._table, self._used, self._nodes, self._ends, self._records
        )

    def _write_matches(self) -> tuple[int, int]:
        at = self._at
        if self._options.keeps_buffer or not at[codes.N_ENDS]:
            return codes.DONE, 0
        if len(self._arrays.absences.at_end) and not self._ways.lists_open:
            self._set_aside()
        n_ends = int(at[codes.N_ENDS])
        at[codes.N_ENDS] = 0
        if not self._options.constructs or not n_ends:
            return codes.DONE, 0
        return self._write(self._ends, n_ends)

    def _write(self, ends: Ends, n_ends: int) -> tuple[int, int]:
        result = self.writer.write(ends, n_ends, self._nodes, self._share.left(self._working_bytes))
        if result > 0:
            end = self.writer.last_end
            self.failed_row = int(ends.row[end])
            variable_of = self._plan.automaton.state_variable.tolist()
            return codes.TOO_MANY_MATCHES, variable_of.index(self._nodes.label[ends.node[end]])
        if result < 0:
            return codes.STOPPED, 0
        self._share.take(self._working_bytes + self.writer.n_bytes)
        return codes.DONE, 0

    def _waiting_ones(
        self, place: NDArray[np.int64], row: NDArray[np.int64], is_open: NDArray[np.uint8]
    ) -> NDArray[np.bool_]:
        ways = self._ways
        return set_aside(place, row, is_open, self._waits, together=ways.is_ambiguous, in_order=ways.in_order)

    def _set_aside(self) -> None:
        """Take the ends that wait out of the ends."""
        n_ends = self._at[codes.N_ENDS]
        node, row, first = self._ends.node[:n_ends], self._ends.row[:n_ends], self._ends.first[:n_ends]
        is_open = self._ends.is_open[:n_ends]
        if not is_open.any() and not self._waits.any():
            return
        place = np.searchsorted(self._partitions.high, row, side="right")
        waits = self._waiting_ones(place, row, is_open)
        # Runs of different first rows are apart, so that all histories of the node have one.
        new = Waiting(place[waits], node[waits], self._nodes.youngest[node[waits]], row[waits], is_open[waits])
        self._waiting = join_ends(self._waiting, new)
        n_left = int(n_ends - waits.sum())
        for array in (node, row, first):
            array[:n_left] = array[~waits]
        is_open[:] = 0
        self._at[codes.N_ENDS] = n_left
        self._at[codes.N_KEPT_NODES] = self._at[codes.N_NODES]

    def _make_room(self) -> tuple[int, int]:
        """Room for one more row, whatever it brings; more if that is cheap. All is counted as if it were full."""
        at = self._at
        n_runs, side = int(at[codes.N_RUNS]), int(at[codes.SIDE])
        most_edges = int(self._options.most_edges)
        most_new = n_runs * (most_edges + 1) + most_edges
        is_full = at[codes.N_NODES] + 2 * most_new > len(self._nodes.row)
        if is_full and at[codes.N_NODES] > 2 * self._n_kept_nodes + _MANY_NODES:
            self._compact()
        spare, is_of_runs = self._spare(most_new)
        if spare < 0:
            self._compact()
            spare, is_of_runs = self._spare(most_new)
        if spare < 0:
            self.failed_row = min(int(at[codes.ROW]), int(self._partitions.high[at[codes.PARTITION]]) - 1)
            state = int(self._runs[side, codes.STATE, n_runs // 2]) if n_runs else 0
            return codes.TOO_MANY_RUNS if is_of_runs else codes.TOO_MANY_NODES, state
        spare //= 4
        n_table, n_records, n_nodes, n_ends, n_left = self._needed(most_new)
        n_room = self._runs.shape[2]
        if most_new > n_room:
            n_room = _room(n_room, most_new, spare, self._run_bytes)
            wider = np.empty((self._n_sides, self._n_fields, n_room), np.int64)
            # The other sides are written anew at every row.
            wider[side, :, :n_runs] = self._runs[side, :, :n_runs]
            self._set_runs(wider)
        if n_left > self._left.shape[1]:
            n_room = _room(self._left.shape[1], n_left, spare, 8 * codes.N_FIELDS)
            longer_left = np.empty((codes.N_FIELDS, n_room), np.int64)
            longer_left[:, : self._left.shape[1]] = self._left
            self._left = longer_left
        if n_table > len(self._table):
            self._table = np.full(n_table, -1, np.int64)
        if n_records > len(self._records.ints):
            n_room = _room(len(self._records.ints), n_records, spare, self._record_bytes)
            self._set_records(longer(self._records.ints, n_room), longer(self._records.floats, n_room))
            self._free = longer(self._free, n_room + 1)
        if n_nodes > len(self._nodes.row):
            n_room = _room(len(self._nodes.row), n_nodes, spare, _NODE_BYTES)
            self._resize_nodes(n_room)
        # The fewer ends have room, the more often matches are written out in between.
        n_room = _room(len(self._ends.node), n_ends, spare, _END_BYTES)
        if not self._options.keeps_buffer:
            n_room = max(n_ends, min(n_room, _MOST_ENDS))
        if n_room > len(self._ends.node):
            self._ends = Ends._make(resized(array, n_room) for array in self._ends)
        self._share.take(self._working_bytes + self.writer.n_bytes)
        return codes.DONE, 0

    def _needed(self, most_new: int) -> tuple[int, int, int, int, int]:
        """How long the hash table, the records, the buffer, the ends and the runs that are left must be."""
        at = self._at
        n_table = len(self._table)
        while n_table < 2 * most_new:
            n_table *= 2
        n_known = len(self._records.ints)
        n_records = max(n_known, int(at[codes.N_RECORDS]) + most_new) if self._record_bytes else 0
        n_nodes = max(len(self._nodes.row), int(at[codes.N_NODES]) + 2 * most_new)
        n_left = self._left.shape[1]
        if at[codes.ROW] == self._partitions.high[at[codes.PARTITION]]:
            n_left = max(n_left, int(at[codes.N_LEFT] + at[codes.N_RUNS]))
        return n_table, n_records, n_nodes, max(len(self._ends.node), int(at[codes.N_ENDS]) + most_new), n_left

    def _spare(self, most_new: int) -> tuple[int, bool]:
        """What is left of the memory with room for a row (negative: not enough), and whether runs take most of it."""
        n_table, n_records, n_nodes, n_ends, n_left = self._needed(most_new)
        run_bytes = max(self._runs.shape[2], most_new) * self._run_bytes + 8 * n_table + n_records * self._record_bytes
        run_bytes += 8 * codes.N_FIELDS * n_left
        node_bytes = n_nodes * _NODE_BYTES
        self._working_bytes = run_bytes + node_bytes + n_ends * _END_BYTES + len(self._waiting.node) * _WAITING_BYTES
        return self._share.left(self._working_bytes + self.writer.n_bytes), run_bytes > node_bytes

    def _compact(self) -> None:
        """Throw away the nodes that nothing reaches any more."""
        at, partitions = self._at, self._partitions
        if self._options.keeps_buffer:
            return
        n_nodes, n_runs, n_left = int(at[codes.N_NODES]), int(at[codes.N_RUNS]), int(at[codes.N_LEFT])
        later = partitions.runs[codes.NODE, partitions.run_offsets[at[codes.PARTITION] + 1] :]
        groups = (
            self._runs[at[codes.SIDE], codes.NODE, :n_runs], self._left[codes.NODE, :n_left], later,
            self._waiting.node,
        )
        roots = np.concatenate(groups)
        at[codes.N_NODES] = kernel.compact(
            room_to_move(n_nodes), roots, self._nodes, np.int64(n_nodes), self._bounds(int(at[codes.PARTITION]))
        )
        for group, found in zip(groups, np.split(roots, np.cumsum([len(group) for group in groups])[:-1]), strict=True):
            group[:] = found
        # Those of other partitions are among those of this one now.
        at[codes.N_KEPT_NODES] = self._n_kept_nodes = at[codes.N_NODES]

    def _bounds(self, partition: int | None = None) -> NDArray[np.int64]:
        """By row, the first row of its partition that a match to come may start with, for `compact`: in a partition
        that the search is in, behind it nothing is known yet.

        Empty where runs of different first rows are apart: of such a run nothing is outside the window but all.
        """
        if self._arrays.apart.by_start:
            return np.empty(0, np.int64)
        partitions, window_first = self._partitions, self._arrays.events.window_first
        bounds = partitions.open_from.copy()
        if partition is not None:
            bounds[partition:] = partitions.low[partition:]
            row = max(int(partitions.low[partition]), int(self._at[codes.ROW]) - 1)
            if row < partitions.high[partition]:
                bounds[partition] = window_first[row]
        lengths = partitions.high - partitions.low
        before = np.zeros(int(partitions.low[0]) if len(lengths) else 0, np.int64)
        return np.concatenate((before, np.repeat(bounds, lengths)))

    def _resize_nodes(self, n_room: int) -> None:
        self._nodes = Nodes._make(resized(array, n_room) for array in self._nodes)

    def _set_runs(self, runs: NDArray[np.int64]) -> None:
        n_room = runs.shape[2]
        self._runs, self._used = runs, np.empty(n_room, np.int64)
        self._room_of_lookup: Lookup | None = None
        if self._lookup is not None:
            n_states = len(self._lookup[0])
            room = (np.zeros(n_states, np.int64), np.zeros(n_states, np.int64), np.empty((2, n_room + 1), np.int64))
            self._room_of_lookup = Lookup._make([*self._lookup, *room])

    def _set_records(self, ints: NDArray[np.int64], floats: NDArray[np.float64]) -> None:
        self._records = Records(ints, floats, floats.view(np.int64))
        n_values = ints.shape[1] + floats.shape[1]
        self._record_bytes = 8 * (n_values + 1) if n_values else 0  # and a place among those that are free


def room_to_move(n_nodes: int) -> NDArray[Any]:
    """Where `kernels.nfab.compact` writes the new numbers of nodes: in half the room, but for a very large buffer."""
    return np.full(n_nodes, -1, np.int32 if n_nodes < 1 << 31 else np.int64)


def _room(length: int, needed: int, spare: int, size: int) -> int:
    """How long to make an array that is too short: twice as long, if what is spare allows that."""
    return max(needed, min(2 * length, needed + spare // size))
