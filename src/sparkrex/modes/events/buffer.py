"""Compressed output: the buffer that all matches share, as a table of pointers, and the matches out of it.

Every entry is a pointer to a predecessor. An entry of an event has its variable and the event; without a predecessor it
begins a match. An entry without a variable leads on to a history that its node shares: where runs were merged, a node
has two. An entry without a node is where a match ends: it leads to the match's last event.

Versions say which pointers belong together: a pointer's is the latest first event (as a number in order of the stream)
of all histories that lead to it, an end's is the earliest that its window still allows. From an end one may follow the
pointers whose version is not below the end's; each way to an event without a predecessor is one match. Matches are
numbered in their partition, which has a number, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.gather import take_or_null
from sparkrex.columns.values import numpy_of, plain
from sparkrex.columns.wrap import wrap, wrap_strings
from sparkrex.modes.events.plan import MATCH_ID, VARIABLE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.modes.events.nfab.contract import EventBuffer

_COLUMNS = ("node", VARIABLE, "event", "predecessor", "version", "partition")


def buffer_table(
    buffer: EventBuffer, place: NDArray[np.int64], variables: tuple[str, ...], columns: tuple[str, ...],
    table: pa.Table, order: NDArray[np.int64] | None,
) -> pa.Table:
    """The buffer with its events' columns. `place` is the partition of every node, and `order[i]` the table's row of
    the event at position i."""
    number = np.arange(len(buffer.row))
    is_union = buffer.label < 0
    unions, n_ends = number[is_union], len(buffer.end_node)
    events = number[~is_union]
    node = np.concatenate((events, unions, unions, np.full(n_ends, -1)))
    predecessor = np.concatenate(
        (buffer.before[events], buffer.before[unions], buffer.other[unions], buffer.end_node)
    )
    version = np.concatenate(
        (
            buffer.youngest[events], buffer.youngest[buffer.before[unions]], buffer.youngest[buffer.other[unions]],
            buffer.end_first,
        )
    )
    partition = np.concatenate((place[events], place[unions], place[unions], place[buffer.end_node]))
    nothing = np.full(len(node) - len(events), -1)
    rows = buffer.row[events] if order is None else order[buffer.row[events]]
    rows = np.concatenate((rows, nothing))
    labels = np.concatenate((buffer.label[events].astype(np.int64), nothing))
    values = [_in_one_piece(take_or_null(table.column(name), rows)) for name in columns]
    fields = [pa.field(name, column.type) for name, column in zip(columns, values, strict=True)]
    event = pa.StructArray.from_arrays(values, fields=fields, mask=wrap(rows < 0))
    names = wrap_strings(variables).cast(pa.string())
    # Oldest first: an entry's predecessor stands before it, ends come last.
    sequence = np.argsort(np.where(node < 0, len(number), node), kind="stable")
    made = pa.table(
        [
            wrap(node, node < 0), take_or_null(names, labels), event, wrap(predecessor, predecessor < 0), wrap(version),
            wrap(partition),
        ],
        names=list(_COLUMNS),
    )
    return made.take(wrap(sequence))


def _in_one_piece(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def decompress_events(compressed: pa.Table) -> pa.Table:
    """The matches, one row per event, as RETURN EVENTS shows them."""
    if tuple(compressed.column_names) != _COLUMNS:
        raise TypeError(f"a table with the columns {', '.join(_COLUMNS)} is expected, as buffer() gives it")
    entries = _read(compressed)
    first, partition, items = _histories(entries)
    n_events = items.length[first]
    offsets = np.concatenate(([0], np.cumsum(n_events)))
    taken = np.empty(int(offsets[-1]), np.int64)
    at, place = first, offsets[:-1].copy()
    while len(at):
        taken[place] = items.entry[at]
        at, place = items.behind[at], place + 1
        at, place = at[at >= 0], place[at >= 0]
    event = plain(compressed.column("event"))
    match_id = np.repeat(_numbers(partition), n_events)
    columns = [take_or_null(field, taken) for field in event.flatten()]
    return pa.table(
        [wrap(match_id), take_or_null(compressed.column(VARIABLE), taken), *columns],
        names=[MATCH_ID, VARIABLE, *(field.name for field in event.type)],
    )


def _numbers(partition: NDArray[np.int64]) -> NDArray[np.int64]:
    """By match, its number among those of its partition, from 1."""
    order = np.argsort(partition, kind="stable")
    ordered = partition[order]
    numbers = np.empty(len(order), np.int64)
    numbers[order] = 1 + np.arange(len(order)) - np.searchsorted(ordered, ordered)
    return numbers


@dataclass(frozen=True, eq=False, slots=True)
class _Entries:
    """Per entry its version, predecessor (-1: none) and partition; per node the entry of its event, or of its two
    histories."""

    partition: NDArray[np.int64]
    version: NDArray[np.int64]
    predecessor: NDArray[np.int64]
    ends: NDArray[np.int64]
    event_of: NDArray[np.int64]
    first_of: NDArray[np.int64]
    second_of: NDArray[np.int64]


def _read(compressed: pa.Table) -> _Entries:
    node, predecessor, version = (
        numpy_of(plain(compressed.column(name)).fill_null(-1)) for name in ("node", "predecessor", "version")
    )
    is_event = numpy_of(plain(compressed.column(VARIABLE)).is_valid())
    n_nodes = int(node.max(initial=-1)) + 1
    event_of, first_of, second_of = (np.full(n_nodes, -1) for _ in range(3))
    events, shared = np.flatnonzero(is_event), np.flatnonzero(~is_event & (node >= 0))
    event_of[node[events]] = events
    first_of[node[shared[::-1]]] = shared[::-1]
    second_of[node[shared]] = shared
    partition = numpy_of(plain(compressed.column("partition")))
    return _Entries(partition, version, predecessor, np.flatnonzero(node < 0), event_of, first_of, second_of)


@dataclass(frozen=True, eq=False, slots=True)
class _Items:
    """Events of histories: the entry, the item of the event behind it (-1: none), how many there are from it on."""

    entry: NDArray[np.int64]
    behind: NDArray[np.int64]
    length: NDArray[np.int64]


def _histories(entries: _Entries) -> tuple[NDArray[np.int64], NDArray[np.int64], _Items]:
    """The item of every match's first event, in order of the ends, and its partition. All matches go back one step at
    a time."""
    at, bound = entries.predecessor[entries.ends], entries.version[entries.ends]
    partition = entries.partition[entries.ends]
    item = np.full(len(at), -1)
    found: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    lengths = [np.empty(0, np.int64)]
    n_items = 0
    length = np.zeros(len(at), np.int64)
    while (live := np.flatnonzero(at >= 0)).size:
        shared = live[entries.event_of[at[live]] < 0]
        if shared.size:
            first, second = entries.first_of[at[shared]], entries.second_of[at[shared]]
            goes_first = entries.version[first] >= bound[shared]
            goes_second = entries.version[second] >= bound[shared]
            n_ways = np.ones(len(at), np.int64)
            n_ways[shared] = goes_first.astype(np.int64) + goes_second
            # The second way stands first, then the first: the order in which the engine constructs matches.
            way = np.where(goes_second, second, first)
            at[shared] = entries.predecessor[way]
            copied = np.repeat(np.arange(len(at)), n_ways)
            is_copy = np.concatenate(([False], copied[1:] == copied[:-1])) if len(copied) else copied > 0
            first_way = np.full(len(at), -1)
            first_way[shared] = entries.predecessor[first]
            at = np.where(is_copy, first_way[copied], at[copied])
            bound, item, length, partition = bound[copied], item[copied], length[copied], partition[copied]
            continue
        entry = entries.event_of[at[live]]
        found.append((entry, item[live].copy()))
        length[live] += 1
        lengths.append(length[live].copy())
        item[live] = n_items + np.arange(len(live))
        n_items += len(live)
        at[live] = entries.predecessor[entry]
    nothing = np.empty(0, np.int64)
    return item, partition, _Items(
        np.concatenate([entry for entry, _ in found] or [nothing]),
        np.concatenate([behind for _, behind in found] or [nothing]), np.concatenate(lengths),
    )
