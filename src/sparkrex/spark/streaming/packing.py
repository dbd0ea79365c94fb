"""Rows into blobs before the stateful operator, and result rows out of blobs behind it, as `mapInArrow` wants it.

What is shipped is a function by value that looks for the package first (`spark.shipping`); these are what it runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark import TaskContext

from sparkrex.columns.hashing import hashes_of
from sparkrex.columns.narrow import read_rows
from sparkrex.streams.packing import pack

if TYPE_CHECKING:
    from collections.abc import Iterator

BUCKET, PAYLOAD = "rex_bucket", "rex_payload"
_ROWS_OF_A_BATCH = 100_000


@dataclass(frozen=True, slots=True)
class Packing:
    """Rows of a map task as blobs by bucket, which values in the columns `hashed` say. No two patterns have one
    `marker`: see `spark.streaming.reuse`."""

    schema: pa.Schema
    hashed: tuple[str, ...]
    n_buckets: int
    marker: str

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One blob or more of each bucket; empty ones tell the others of the batch."""
        context = TaskContext.get()
        is_first = context is None or context.partitionId() == 0
        rows = (self._as_expected(batch) for batch in batches if batch.num_rows)
        for bucket, blob in pack(rows, self.n_buckets, partial(hashes_of, names=self.hashed)):
            if not blob and not is_first:
                continue  # that there is a batch has to be said once, not by every task
            yield pa.record_batch({BUCKET: pa.array([bucket], pa.int32()), PAYLOAD: pa.array([blob], pa.binary())})

    def _as_expected(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Spark may send large strings, or say otherwise what can be NULL."""
        if batch.schema.equals(self.schema):
            return batch
        table = pa.Table.from_batches([batch]).select(self.schema.names).cast(self.schema)
        (cast,) = table.combine_chunks().to_batches()
        return cast


@dataclass(frozen=True, slots=True)
class Unpacking:
    """Result rows out of the blobs of the operator; it gives none for a call that decides nothing."""

    schema: pa.Schema

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows."""
        for batch in batches:
            for blob in batch.column(PAYLOAD):
                if blob.is_valid:
                    yield from read_rows(blob.as_py(), self.schema).to_batches(max_chunksize=_ROWS_OF_A_BATCH)
