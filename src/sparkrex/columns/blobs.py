"""Rows put into blobs by bucket, so that nobody on their way handles them one by one.

Spark moves a few large rows then, between the tasks of a stream or from those that read files to those that match.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.narrow import NarrowRows
from sparkrex.columns.wrap import wrap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

MOST_NUMBERS = 1 << 16
"""Buckets there can be: numbers of 16 bits are sorted by counting."""
_GATHERED = 64 << 20
"""Bytes of rows that are put into blobs at a time."""


def blobs(
    batches: Iterable[pa.RecordBatch], n_buckets: int, hashed: Callable[[pa.Table], NDArray[np.int64]]
) -> Iterator[tuple[int, bytes]]:
    """Blobs with the numbers of their buckets, none of a bucket without rows. Rows of a bucket keep their order."""
    kind = np.uint8 if n_buckets <= 1 << 8 else np.uint16
    for table in _gathered(batches):
        if n_buckets == 1:
            yield 0, NarrowRows.of(table.combine_chunks()).write()
            continue
        numbers = (hashed(table) % n_buckets).astype(kind)
        order = np.argsort(numbers, kind="stable")
        rows = NarrowRows.of(table).take(wrap(order))
        cuts = np.concatenate(([0], np.cumsum(np.bincount(numbers, minlength=n_buckets))))
        for number in np.flatnonzero(np.diff(cuts)).tolist():
            yield number, rows.write(cuts[number], cuts[number + 1] - cuts[number])


def _gathered(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    kept: list[pa.RecordBatch] = []
    n_bytes = 0
    for batch in batches:
        if batch.num_rows:
            kept.append(batch)
            n_bytes += batch.nbytes
        if n_bytes >= _GATHERED:
            yield pa.Table.from_batches(kept)
            kept, n_bytes = [], 0
    if kept:
        yield pa.Table.from_batches(kept)


def spread_ids(n_buckets: int) -> tuple[int, ...]:
    """The least number of each remainder of Spark's hash by the number of buckets, in the order of the remainders."""
    found: dict[int, int] = {}
    number = 0
    while len(found) < n_buckets:
        hashed = spark_hash(number)
        found.setdefault((hashed - (hashed >> 31 << 32)) % n_buckets, number)  # Spark has it as a signed number
        number += 1
    return tuple(found[remainder] for remainder in range(n_buckets))


def spark_hash(number: int, seed: int = 42) -> int:
    """What Spark partitions an int by: Murmur 3 over its four bytes, as an unsigned number."""
    word = _rotated(number * 0xCC9E2D51 & _WORD, 15) * 0x1B873593 & _WORD
    found = _rotated(seed ^ word, 13) * 5 + 0xE6546B64 & _WORD
    found ^= 4  # its length
    found = (found ^ found >> 16) * 0x85EBCA6B & _WORD
    found = (found ^ found >> 13) * 0xC2B2AE35 & _WORD
    return found ^ found >> 16


_WORD = 0xFFFFFFFF


def _rotated(word: int, by: int) -> int:
    return (word << by | word >> (32 - by)) & _WORD
