"""What the nfab matcher keeps of open partitions between feeds: in a frame as arrays, in a state as tables by slot.

In a frame rows are positions in it, and nodes are numbered in one row. In a state both are relative to their slot: rows
to the first one that is held back, nodes to the slot's first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sparkrex.columns.values import plain
from sparkrex.columns.wrap import unwrap, wrap
from sparkrex.matching.slot_table import offsets_of
from sparkrex.modes.events.kernels import codes
from sparkrex.modes.events.kernels.arguments import Nodes, Waiting
from sparkrex.modes.events.kernels.matches import UNION
from sparkrex.modes.events.nfab.contract import EventMatches

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from sparkrex.matching.slot_table import SlotTable
    from sparkrex.matching.state import State

FRESH = np.array((0, -1), [("n_matches", np.int64), ("blocked", np.int64)])
"""By slot: how many matches it has had, and the last row of the last one, where later ones must not overlap it."""

RUNS, NODES, ENDS, EVENTS, LENGTHS = TABLES = ("runs", "nodes", "ends", "events", "lengths")
"""Runs and nodes; ends of matches that are not given yet; where only one of overlapping matches is kept instead of them
undecided matches, their events and how many each has."""

_RUN_FIELDS = {"state": codes.STATE, "node": codes.NODE, "start": codes.START, "last": codes.LAST}


def no_nodes() -> Nodes:
    """An empty buffer."""
    return Nodes(
        np.empty(0, np.int64), np.empty(0, np.int16), np.empty(0, np.int64), np.empty(0, np.int64),
        np.empty(0, np.int64),
    )


RUN_BYTES = 8 * len(_RUN_FIELDS) + sum(array.itemsize for array in no_nodes())
"""What a run takes beside its event: it has a node for that."""


def no_ends() -> Waiting:
    """None waits."""
    return Waiting._make([*(np.empty(0, np.int64) for _ in range(4)), np.empty(0, np.uint8)])


def no_runs() -> NDArray[np.int64]:
    """None waits."""
    return np.empty((codes.N_FIELDS, 0), np.int64)


@dataclass(slots=True)
class Kept:
    """What is under way in the partitions of a frame.

    `runs` are (fields, runs), of which LABEL and RECORD are not known yet, and `nodes` the buffer that they share;
    offsets cut both into partitions. `waiting` are ends, `undecided` matches of the partitions `undecided_place`.
    `blocked` is by partition.
    """

    blocked: NDArray[np.int64]
    run_offsets: NDArray[np.int64]
    runs: NDArray[np.int64]
    node_offsets: NDArray[np.int64]
    nodes: Nodes
    waiting: Waiting
    undecided: EventMatches
    undecided_place: NDArray[np.int64]

    @staticmethod
    def nothing(n_partitions: int) -> Kept:
        """Partitions that begin."""
        offsets = np.zeros(n_partitions + 1, np.int64)
        return Kept(
            np.full(n_partitions, -1), offsets, no_runs(), offsets, no_nodes(), no_ends(), EventMatches.none(),
            np.empty(0, np.int64),
        )

    def part(self, begin: int, end: int) -> Part:
        """What is under way in some partitions, numbered as if there were no others. Nodes are taken out of here if
        they are all of them: they may be many."""
        runs = slice(self.run_offsets[begin], self.run_offsets[end])
        first, last = int(self.node_offsets[begin]), int(self.node_offsets[end])
        if first == 0 and last == self.node_offsets[-1]:
            nodes, self.nodes = self.nodes, no_nodes()
        else:
            nodes = Nodes._make(array[first:last].copy() for array in self.nodes)
            nodes.before[nodes.before >= 0] -= first
            nodes.other[(nodes.label == UNION) & (nodes.other >= 0)] -= first
        of_part = self.runs[:, runs].copy()
        of_part[codes.NODE] -= first
        ends = (self.waiting.place >= begin) & (self.waiting.place < end)
        waiting = Waiting._make(array[ends] for array in self.waiting)
        return Part(
            self.run_offsets[begin : end + 1] - self.run_offsets[begin], of_part, nodes,
            waiting._replace(place=waiting.place - begin, node=waiting.node - first),
        )


@dataclass(slots=True)
class Part:
    """What is under way in a range of partitions."""

    run_offsets: NDArray[np.int64]
    runs: NDArray[np.int64]
    nodes: Nodes
    waiting: Waiting


# -- out of a state -----------------------------------------------------------------------------------------------


def take_out(state: State, slots: NDArray[np.int64], begin: NDArray[np.int64]) -> Kept:
    """What is kept of some slots, whose partitions begin at these rows of the frame. The state keeps it no longer."""
    blocked = state.numbers["blocked"][slots]
    blocked[blocked >= 0] += begin[blocked >= 0]
    kept = Kept.nothing(len(slots))
    kept.blocked = blocked
    nodes, kept.node_offsets = _columns(state.tables[NODES], slots)
    first_node = kept.node_offsets[:-1]
    if nodes is not None:
        kept.nodes = _read_nodes(nodes, kept.node_offsets, begin)
    columns, kept.run_offsets = _columns(state.tables[RUNS], slots)
    if columns is not None:
        place = _places(kept.run_offsets)
        kept.runs = np.zeros((codes.N_FIELDS, len(place)), np.int64)
        for number, values in zip(_RUN_FIELDS.values(), columns, strict=True):
            kept.runs[number] = values
        kept.runs[codes.NODE] += first_node[place]
        kept.runs[codes.START] += begin[place]
        kept.runs[codes.LAST] += begin[place]
    columns, offsets = _columns(state.tables[ENDS], slots)
    if columns is not None:
        place = _places(offsets)
        node, first, last, is_open = columns
        kept.waiting = Waiting(
            place, node + first_node[place], first + begin[place], last + begin[place], is_open.copy()
        )
    columns, offsets = _columns(state.tables[EVENTS], slots)
    if columns is not None:
        rows, labels = columns
        lengths, length_offsets = _columns(state.tables[LENGTHS], slots)
        assert lengths is not None  # a match has events
        kept.undecided = EventMatches(rows + begin[_places(offsets)], labels.copy(), offsets_of(next(lengths)))
        kept.undecided_place = _places(length_offsets)
    return kept


def _columns(table: SlotTable, slots: NDArray[np.int64]) -> tuple[Iterator[NDArray[Any]] | None, NDArray[np.int64]]:
    """The columns of some slots, one after the other; the table has them no longer."""
    found, offsets = table.read(slots)
    table.clear(slots)
    return None if found is None else _one_by_one(found.columns), offsets


def _one_by_one(columns: list[pa.ChunkedArray]) -> Iterator[NDArray[Any]]:
    """Each is let go of when the next is asked for: a long one need not be there twice with all others."""
    while columns:
        yield unwrap(plain(columns.pop(0)))


def _places(offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def _read_nodes(columns: Iterator[NDArray[Any]], offsets: NDArray[np.int64], begin: NDArray[np.int64]) -> Nodes:
    lengths = np.diff(offsets)
    (of_one,) = np.flatnonzero(lengths)[:2].tolist() if np.count_nonzero(lengths) == 1 else (None,)
    # One partition may have very many nodes.
    to_row = begin[of_one] if of_one is not None else np.repeat(begin, lengths)
    to_node: Any = 0 if of_one is not None else np.repeat(offsets[:-1], lengths)
    row = next(columns) + to_row
    label = next(columns).copy()
    before: NDArray[np.int64] = next(columns) + to_node
    before[before < to_node] = -1
    other = next(columns).copy()
    if of_one is None:
        is_union = (label == UNION) & (other >= 0)
        other[is_union] += to_node[is_union]
    return Nodes(row, label, before, other, next(columns) + to_row)


# -- into a state -------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Left:
    """What a search leaves of some partitions, the first of which is partition `begin` of the frame: `runs`, whose
    RECORD is their partition, and ends, of partitions counted from there."""

    begin: int
    runs: NDArray[np.int64]
    nodes: Nodes
    waiting: Waiting


def kept_of(
    parts: Sequence[Left], undecided: EventMatches, undecided_place: NDArray[np.int64], blocked: NDArray[np.int64],
    high: NDArray[np.int64],
) -> Kept:
    """What is left of all partitions of a frame, which end at the rows `high`; nodes are numbered by partition."""
    kept = Kept.nothing(len(high))
    kept.blocked, kept.undecided, kept.undecided_place = blocked, undecided, undecided_place
    parts = [part for part in parts if len(part.nodes.row)]
    if not parts:
        return kept
    by_part = [_by_partition(part, high) for part in parts]
    kept.runs = _joined([runs for runs, *_ in by_part], axis=1)
    kept.nodes = Nodes._make(_joined(list(each)) for each in zip(*(nodes for _, nodes, *_ in by_part), strict=True))
    kept.waiting = Waiting._make(_joined(list(each)) for each in zip(*(ends for _, _, ends, _ in by_part), strict=True))
    kept.run_offsets = offsets_of(np.bincount(kept.runs[codes.RECORD], minlength=len(high)))
    kept.node_offsets = offsets_of(np.sum([n_nodes for *_, n_nodes in by_part], axis=0))
    return kept


def _joined(arrays: list[NDArray[Any]], axis: int = 0) -> NDArray[Any]:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays, axis=axis)


def _by_partition(
    left: Left, high: NDArray[np.int64]
) -> tuple[NDArray[np.int64], Nodes, Waiting, NDArray[np.int64]]:
    """Runs, nodes and ends, partition after partition, with numbers of nodes that count from their partition's first;
    and how many nodes each partition has."""
    runs, nodes = left.runs, left.nodes
    runs[codes.RECORD] += left.begin
    order = np.argsort(left.waiting.place, kind="stable")
    waiting = Waiting._make(array[order] for array in left.waiting)
    waiting.place[:] += left.begin
    places = np.unique(np.concatenate((runs[codes.RECORD], waiting.place)))
    if len(places) == 1:
        n_nodes = np.zeros(len(high), np.int64)
        n_nodes[places] = len(nodes.row)
        return runs, nodes, waiting, n_nodes
    place = np.searchsorted(high, nodes.row, side="right")
    order = np.argsort(place, kind="stable")
    n_nodes = np.bincount(place, minlength=len(high))
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order)) - np.repeat(offsets_of(n_nodes)[:-1], n_nodes)
    before, other = number[nodes.before], np.where(nodes.label == UNION, number[nodes.other], nodes.other)
    before[nodes.before < 0] = -1
    other[nodes.other < 0] = -1
    runs[codes.NODE] = number[runs[codes.NODE]]
    return (
        runs, Nodes._make(array[order] for array in nodes._replace(before=before, other=other)),
        waiting._replace(node=number[waiting.node]), n_nodes,
    )


def lowest_rows(kept: Kept, high: NDArray[np.int64]) -> NDArray[np.int64]:
    """By partition, the first row that something refers to; the one behind its last if nothing does."""
    lowest = high.copy()
    for rows, lengths in (
        (kept.nodes.row, np.diff(kept.node_offsets)),
        (kept.undecided.rows, _event_counts(kept, len(high))),
    ):
        has_rows = np.flatnonzero(lengths)
        if len(has_rows):
            least = np.minimum.reduceat(rows, offsets_of(lengths)[has_rows])
            lowest[has_rows] = np.minimum(lowest[has_rows], least)
    return lowest


def put_into(state: State, slots: NDArray[np.int64], kept: Kept, first: NDArray[np.int64]) -> None:
    """Keep it in the state. `first` are the rows that are held back first."""
    state.numbers["blocked"][slots] = np.where(kept.blocked >= 0, kept.blocked - first, -1)
    place = kept.runs[codes.RECORD]
    start, last = kept.runs[codes.START] - first[place], kept.runs[codes.LAST] - first[place]
    _write(state.tables[RUNS], slots, kept.run_offsets, {
        "state": kept.runs[codes.STATE], "node": kept.runs[codes.NODE], "start": start, "last": last,
    })
    waiting = kept.waiting
    of_end = first[waiting.place]
    _write(state.tables[ENDS], slots, offsets_of(np.bincount(waiting.place, minlength=len(slots))), {
        "node": waiting.node, "first": waiting.first - of_end, "last": waiting.last - of_end,
        "is_open": waiting.is_open,
    })
    counts = _event_counts(kept, len(slots))
    _write(state.tables[EVENTS], slots, offsets_of(counts), {
        "row": kept.undecided.rows - np.repeat(first, counts), "label": kept.undecided.labels,
    })
    _write(state.tables[LENGTHS], slots, offsets_of(np.bincount(kept.undecided_place, minlength=len(slots))), {
        "length": np.diff(kept.undecided.offsets),
    })
    nodes = kept.nodes
    lengths = np.diff(kept.node_offsets)
    # In place: they may be many.
    for at, length, distance in _spans(kept.node_offsets, lengths, first):
        nodes.row[at : at + length] -= distance
        nodes.youngest[at : at + length] -= distance
    _write(state.tables[NODES], slots, kept.node_offsets, nodes._asdict())


def _spans(
    offsets: NDArray[np.int64], lengths: NDArray[np.int64], distance: NDArray[np.int64]
) -> Iterator[tuple[Any, Any, Any]]:
    """Of one partition its span; of many all of them at once."""
    has_nodes = np.flatnonzero(lengths)
    if len(has_nodes) == 1:
        yield offsets[has_nodes[0]], lengths[has_nodes[0]], distance[has_nodes[0]]
    elif len(has_nodes):
        yield 0, int(offsets[-1]), np.repeat(distance, lengths)


def _event_counts(kept: Kept, n_partitions: int) -> NDArray[np.int64]:
    """By partition, the events of matches that are undecided."""
    counts = np.bincount(kept.undecided_place, np.diff(kept.undecided.offsets), n_partitions)
    return counts.astype(np.int64)


def _write(
    table: SlotTable, slots: NDArray[np.int64], offsets: NDArray[np.int64], columns: dict[str, NDArray[Any]]
) -> None:
    table.write(slots, pa.table({name: wrap(values) for name, values in columns.items()}), offsets)
