"""Rows on their way to the operator: in blobs, a few for each bucket, so that nobody handles them one by one.

A bucket's number follows from the hash of its keys. Its id is what Spark partitions by: small
numbers would leave many of Spark's partitions empty, so ids are chosen of which every remainder is hit as often.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.wrap import wrap
from sparkrex.streams.narrow import NarrowRows, read_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

MOST_BUCKETS = 256
_GATHERED = 64 << 20
"""Bytes of rows that are put into blobs at a time."""


def pack(
    batches: Iterable[pa.RecordBatch], n_buckets: int, hashed: Callable[[pa.Table], NDArray[np.int64]]
) -> Iterator[tuple[int, bytes]]:
    """Blobs with the ids of their buckets; an empty one for every bucket without rows, which so learns of the batch."""
    is_filled = np.zeros(n_buckets, np.bool_)
    for table in _gathered(batches):
        numbers = (hashed(table) % n_buckets).astype(np.uint8)
        is_filled[numbers] = True
        order = np.argsort(numbers, kind="stable")
        rows = NarrowRows.of(table).take(wrap(order))
        cuts = np.concatenate(([0], np.cumsum(np.bincount(numbers, minlength=n_buckets))))
        for number in np.flatnonzero(np.diff(cuts)).tolist():
            yield BUCKET_IDS[number], rows.write(cuts[number], cuts[number + 1] - cuts[number])
    for number in np.flatnonzero(~is_filled).tolist():
        yield BUCKET_IDS[number], b""


def unpack(blobs: Iterable[bytes], schema: pa.Schema) -> pa.Table:
    """The rows of some blobs."""
    return pa.concat_tables([schema.empty_table(), *(read_rows(blob, schema) for blob in blobs if blob)])


def compressed(data: bytes) -> bytes:
    """A part of a state as it is stored: the longer, the more its way to and from the store costs."""
    short: bytes = pa.compress(data, codec="lz4", asbytes=True)
    return len(data).to_bytes(8, "little") + short


def size_of(data: bytes) -> int:
    """How many bytes were compressed."""
    return int.from_bytes(data[:8], "little")


def decompressed(data: bytes) -> bytes:
    """What was compressed."""
    found: bytes = pa.decompress(memoryview(data)[8:], decompressed_size=size_of(data), codec="lz4", asbytes=True)
    return found


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


def _spread_ids() -> tuple[int, ...]:
    """The least number of each remainder of Spark's hash by the number of buckets, in the order of the remainders."""
    found: dict[int, int] = {}
    number = 0
    while len(found) < MOST_BUCKETS:
        found.setdefault(spark_hash(number) % MOST_BUCKETS, number)
        number += 1
    return tuple(found[remainder] for remainder in range(MOST_BUCKETS))


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


BUCKET_IDS = _spread_ids()
"""By number, the ids of buckets."""
