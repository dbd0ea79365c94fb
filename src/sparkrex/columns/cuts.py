"""Cutting ordered rows into partitions where the key changes, also across chunks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.columns.keys import partition_integers

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from sparkrex.stopwatch import Stopwatch


def cut_partitions(table: pa.Table, keys: list[str]) -> NDArray[np.int64]:
    """Offsets of the runs of equal keys in a table ordered by them."""
    n_rows = table.num_rows
    changes = np.zeros(max(n_rows - 1, 0), np.bool_)
    for name in keys:
        keys_of_rows = partition_integers(table.column(name), [(0, n_rows)])
        changes |= keys_of_rows[1:] != keys_of_rows[:-1]
    return np.concatenate(([0], np.flatnonzero(changes) + 1, [n_rows])).astype(np.int64)


@dataclass(frozen=True, eq=False, slots=True)
class Chunk:
    """Rows `first` to `last` of partitions in order: `offsets` cut them, counted from `first`.

    `opens` says that the first row begins a partition, `closes` that the last row ends one.
    """

    first: int
    last: int
    offsets: NDArray[np.int64]
    opens: bool
    closes: bool


def cut_chunks(offsets: NDArray[np.int64], step: int) -> Iterator[Chunk]:
    """Partitions in chunks of `step` rows."""
    n_rows = int(offsets[-1])
    opens = True
    for first in range(0, n_rows, step):
        last = min(first + step, n_rows)
        inside = offsets[(offsets > first) & (offsets < last)]
        closes = bool(np.isin(last, offsets))
        yield Chunk(first, last, np.concatenate(([first], inside, [last])) - first, opens, closes)
        opens = closes


def lap_order(watch: Stopwatch, offsets: NDArray[np.int64], *, goes_on: bool = False) -> None:
    """Lap that rows have been put in order and cut into partitions, of which the first may go on from the last time."""
    sizes = np.diff(offsets)
    n_opened = len(sizes) - (goes_on and len(sizes) > 0)
    if len(sizes):
        if goes_on:
            sizes[0] += watch.open_rows
        watch.open_rows = int(sizes[-1])
        watch.largest = max(watch.largest, int(sizes.max()))
    watch.lap("order", {"rows": int(offsets[-1] - offsets[0]), "partitions": n_opened})
