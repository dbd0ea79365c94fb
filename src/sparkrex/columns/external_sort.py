"""Sorting more rows than fit: sorted runs on disk, merged block by block.

A run is as many rows as may be sorted at once, written in order; the merge holds one block of every run. Order is that
of `arrange`, and ties keep input order, as they do in memory.
"""

from __future__ import annotations

import itertools
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.arrange import SortKey, arrange
from sparkrex.columns.wrap import wrap

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

# Sorting a run takes about twice its size beside it, and merging about three times the blocks.
_RUN_SHARE, _MERGE_SHARE, _GATHER_SHARE = 16, 16, 128
_LEAST_MEMORY = 1 << 20
_FAN_IN = 64
_PIECE_ROWS = 4_096


@dataclass(frozen=True, slots=True)
class SortColumn:
    """A column to sort by, with its direction."""

    name: str
    is_descending: bool = False
    nulls_first: bool = True


@dataclass(frozen=True, slots=True)
class Sizes:
    """`run_bytes` are sorted at once, at most `fan_in` runs are merged at once, and `merge_bytes` of them are held.

    Rows are gathered into tables of `gather_bytes`; runs are written and read in pieces of `piece_rows`.
    """

    run_bytes: int
    merge_bytes: int
    gather_bytes: int
    fan_in: int = _FAN_IN
    piece_rows: int = _PIECE_ROWS

    @staticmethod
    def within(memory: int) -> Sizes:
        """Sizes with which the sort stays well below `memory` bytes."""
        memory = max(memory, _LEAST_MEMORY)
        return Sizes(memory // _RUN_SHARE, memory // _MERGE_SHARE, memory // _GATHER_SHARE)


def gather(batches: Iterable[pa.RecordBatch | pa.Table], n_bytes: int) -> Iterator[pa.Table]:
    """The rows in contiguous tables of about so many bytes.

    What Spark sends lies in many small objects of Python's heap, which would not shrink again: the rows are copied out.
    """
    kept: list[pa.Table] = []
    size = 0
    for batch in batches:
        if not batch.num_rows:
            continue
        kept.append(batch if isinstance(batch, pa.Table) else pa.Table.from_batches([batch]))
        size += batch.nbytes
        if size >= n_bytes:
            yield _drain(kept)
            size = 0
    if kept:
        yield _drain(kept)


def _drain(kept: list[pa.Table]) -> pa.Table:
    """All rows in one piece; the list lets go of them before anybody works with the copy."""
    table = pa.concat_tables(kept).combine_chunks()
    kept.clear()
    return table


def sorted_batches(
    tables: Iterable[pa.Table], by: Sequence[SortColumn], sizes: Sizes, folder: str | None = None
) -> Iterator[pa.RecordBatch]:
    """The rows in order. What does not fit goes to files below `folder`, which are gone when the last row is out."""
    with tempfile.TemporaryDirectory(prefix="sparkrex-", dir=folder) as name:
        files = (Path(name) / f"{number}.arrows" for number in itertools.count())
        runs = [
            _write(next(files), _take_in_pieces(table, _order(table, by), sizes.piece_rows))
            for table in gather(tables, sizes.run_bytes)
        ]
        # What the runs took goes back to the system: matching needs room for itself.
        pa.default_memory_pool().release_unused()
        while len(runs) > sizes.fan_in:
            runs = [
                _write(next(files), _merge(runs[first : first + sizes.fan_in], by, sizes))
                for first in range(0, len(runs), sizes.fan_in)
            ]
        yield from _merge(runs, by, sizes)


def _order(table: pa.Table, by: Sequence[SortColumn]) -> NDArray[np.int64]:
    keys = [SortKey(table.column(key.name), key.is_descending, key.nulls_first) for key in by]
    order = arrange((), keys, table.num_rows).order
    return np.arange(table.num_rows) if order is None else order


def _take_in_pieces(table: pa.Table, order: NDArray[np.int64], piece_rows: int) -> Iterator[pa.RecordBatch]:
    """The rows in this order, in pieces."""
    for first in range(0, len(order), piece_rows):
        yield from table.take(wrap(order[first : first + piece_rows])).combine_chunks().to_batches()


def _write(path: Path, batches: Iterator[pa.RecordBatch]) -> Path:
    first = next(batches)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, first.schema) as writer:
        writer.write_batch(first)
        for batch in batches:
            writer.write_batch(batch)
    return path


class _Run:
    """A run while it is merged: `block` holds its next rows, never none before the run ends."""

    def __init__(self, file: pa.NativeFile, block_bytes: int) -> None:
        self.reader = pa.ipc.open_stream(file)
        self.block_bytes = block_bytes
        self.block = pa.Table.from_batches([], self.reader.schema)
        self.advance(0)

    def advance(self, n_rows: int) -> None:
        """Let go of the first rows; read on if none is left."""
        self.block = self.block.slice(n_rows)
        if self.block.num_rows:
            return
        pieces: list[pa.RecordBatch] = []
        size = 0
        for piece in self.reader:
            pieces.append(piece)
            size += piece.nbytes
            if size >= self.block_bytes:
                break
        self.block = pa.Table.from_batches(pieces, self.reader.schema)


def _merge(paths: Sequence[Path], by: Sequence[SortColumn], sizes: Sizes) -> Iterator[pa.RecordBatch]:
    """The rows of sorted runs in order; the files are removed."""
    with ExitStack() as stack:
        runs = []
        for path in paths:
            file = stack.enter_context(pa.OSFile(str(path)))
            path.unlink()  # the open file is all we need, and a process that is killed leaves nothing behind
            runs.append(_Run(file, sizes.merge_bytes // len(paths)))
        while runs:
            counts = _ripe(runs, by)
            ripe = pa.concat_tables([run.block.slice(0, count) for run, count in zip(runs, counts, strict=True)])
            ripe = ripe.combine_chunks()
            for run, count in zip(runs, counts, strict=True):
                run.advance(count)
            runs = [run for run in runs if run.block.num_rows]
            yield from _take_in_pieces(ripe, _order(ripe, by), sizes.piece_rows)


def _ripe(runs: Sequence[_Run], by: Sequence[SortColumn]) -> list[int]:
    """How many rows of every block may go out: those that no row still unread can precede.

    They are the rows up to the smallest last row of any block, found by bisection in all blocks at once. Among equal
    rows the earlier run goes first, so rows are compared in the order of the runs.
    """
    lengths = np.array([run.block.num_rows for run in runs])
    ends = np.cumsum(lengths)
    names = list(dict.fromkeys(key.name for key in by))  # PARTITION BY k ORDER BY k names a column twice
    keys = pa.concat_tables([run.block.select(names) for run in runs]).combine_chunks()

    def ranks(rows: NDArray[np.int64]) -> NDArray[np.int64]:
        order = _order(keys.take(wrap(rows)), by)
        result = np.empty_like(order)
        result[order] = np.arange(len(order))
        return result

    bound = int(np.argmin(ranks(ends - 1)))
    low, high = np.zeros(len(runs), np.int64), lengths.copy()
    low[bound] = lengths[bound]
    probe = np.zeros(len(runs), np.int64)
    while (is_open := low < high).any():
        rows = np.where(is_open, ends - lengths + probe, ends - 1)
        rows[bound] = ends[bound] - 1
        rank = ranks(rows)
        is_ripe = rank <= rank[bound]
        low = np.where(is_open & is_ripe, probe + 1, low)
        high = np.where(is_open & ~is_ripe, probe, high)
        probe = (low + high) // 2
    return [int(count) for count in low]
