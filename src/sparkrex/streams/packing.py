"""Rows on their way to the operator: in blobs, a few for each bucket, so that nobody handles them one by one.

A bucket's number follows from the hash of its keys. Its id is what Spark partitions by: small
numbers would leave many of Spark's partitions empty, so ids are chosen of which every remainder is hit as often.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.blobs import blobs, spread_ids
from sparkrex.columns.narrow import read_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

MOST_BUCKETS = 256


def pack(
    batches: Iterable[pa.RecordBatch], n_buckets: int, hashed: Callable[[pa.Table], NDArray[np.int64]]
) -> Iterator[tuple[int, bytes]]:
    """Blobs with the ids of their buckets; an empty one for every bucket without rows, which so learns of the batch."""
    is_filled = np.zeros(n_buckets, np.bool_)
    for number, blob in blobs(batches, n_buckets, hashed):
        is_filled[number] = True
        yield BUCKET_IDS[number], blob
    for number in np.flatnonzero(~is_filled).tolist():
        yield BUCKET_IDS[number], b""


def unpack(packed: Iterable[bytes], schema: pa.Schema) -> pa.Table:
    """The rows of some blobs."""
    return pa.concat_tables([schema.empty_table(), *(read_rows(blob, schema) for blob in packed if blob)])


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


BUCKET_IDS = spread_ids(MOST_BUCKETS)
"""By number, the ids of buckets."""
