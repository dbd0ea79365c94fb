"""Feeding a runner with rows in order: all at once, or so many rows at a time."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.columns.arrange import Arrangement
from sparkrex.columns.cuts import cut_chunks
from sparkrex.columns.wrap import wrap
from sparkrex.errors import ExecutionError
from sparkrex.matching.feed import Feed
from sparkrex.matching.output import name_partition
from sparkrex.matching.side_rows import with_failures

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from sparkrex.matching.runner import Runner


def chunk_feed(
    chunk: pa.Table, offsets: NDArray[np.int64], slots: NDArray[np.int64], *, opens: bool, closes: bool
) -> Feed:
    """A chunk of ordered partitions: the first one goes on unless `opens`, the last one stays open unless `closes`."""
    n_partitions = len(offsets) - 1
    does_open, does_close = np.ones(n_partitions, np.bool_), np.ones(n_partitions, np.bool_)
    does_open[:1], does_close[-1:] = opens, closes
    return Feed(chunk, Arrangement(None, offsets, chunk.num_rows), slots, does_open, does_close)


def feeds_of(table: pa.Table, arrangement: Arrangement, chunk_rows: int | None) -> Iterator[Feed]:
    """All rows in one feed, or `chunk_rows` in each; each partition is a slot."""
    if chunk_rows is None or not table.num_rows:
        yield Feed.whole(table, arrangement)
        return
    if arrangement.order is not None:
        table = table.take(wrap(arrangement.order))
    slot = 0
    for chunk in cut_chunks(arrangement.offsets, chunk_rows):
        rows = table.slice(chunk.first, chunk.last - chunk.first)
        slots = slot + np.arange(len(chunk.offsets) - 1)
        yield chunk_feed(rows, chunk.offsets, slots, opens=chunk.opens, closes=chunk.closes)
        slot += len(slots) - 1 + chunk.closes


class ChunkFed:
    """A runner that takes ordered partitions chunk by chunk, one of them open between two.

    `keys` are the columns that hold a partition's keys, by which an error names it. `row_type` is that of the input
    row, if it travels.
    """

    def __init__(self, runner: Runner, keys: list[str], row_type: pa.DataType | None = None) -> None:
        self._runner = runner
        self._row_type = row_type
        self._keys = keys
        self._state = runner.open()
        self._slot = 0  # of the partition that is open

    def feed(self, chunk: pa.Table, offsets: NDArray[np.int64], *, opens: bool, closes: bool) -> pa.Table:
        """What this chunk decides of the result."""
        # The open partition is slot 0 or 1 in turn, so that there are no more slots than partitions in a chunk.
        slots = np.arange(2, len(offsets) + 1)
        slots[-1:], slots[:1] = 1 - self._slot, self._slot
        feed = chunk_feed(chunk, offsets, slots, opens=opens, closes=closes)
        with partition_named(feed, self._keys, self._keys):
            result = self._runner.feed(self._state, feed)
        self._slot = int(slots[-1])
        return with_failures(result, self._state.take_failures(), self._row_type)


@contextmanager
def partition_named(feed: Feed, names: list[str], keys: list[str]) -> Iterator[None]:
    """Inside, an error of a slot says in which partition it is: `keys` are the columns that hold its keys."""
    try:
        yield
    except ExecutionError as error:
        row = None if error.slot is None else feed.input_row(error.slot)
        if row is not None:
            name_partition(error, names, [feed.table.column(key) for key in keys], row)
        raise
