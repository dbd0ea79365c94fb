"""What runs in a Spark worker before a task whose rows come in blobs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkrex.columns.narrow import read_rows
from sparkrex.spark.files.reading import PAYLOAD
from sparkrex.stopwatch import Stopwatch

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from sparkrex.spark.worker import WorkerTask


@dataclass(frozen=True, slots=True)
class Arriving:
    """A task over the rows of blobs."""

    task: WorkerTask
    schema: pa.Schema

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """What the task gives."""
        yield from self.watched(batches, Stopwatch())

    def watched(self, batches: Iterator[pa.RecordBatch], watch: Stopwatch) -> Iterator[pa.RecordBatch]:
        """The same, its stages on a watch."""
        yield from self.task.watched(self._rows(batches, watch), watch)

    def _rows(self, batches: Iterator[pa.RecordBatch], watch: Stopwatch) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for blob in batch.column(batch.schema.get_field_index(PAYLOAD)):
                rows = read_rows(blob.as_py(), self.schema)
                watch.lap("unpack", {"blobs": 1})
                yield from rows.to_batches()
