"""What runs in a Spark worker under EXPLAIN ANALYZE: a task whose result is counted rather than given.

It gives one row of numbers instead, so that measuring is one more `mapInArrow`, which every kind of session has.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from sparkrex.stopwatch import Stopwatch

if TYPE_CHECKING:
    from collections.abc import Iterator

MEASURED = (
    "seconds double, given bigint, largest bigint, laps array<struct<stage: string, seconds: double>>, "
    "counts array<struct<stage: string, word: string, number: bigint>>"
)
"""The columns of a task's row, in Spark's words. `given` are the rows that it would have given."""
_SCHEMA = pa.schema({
    "seconds": pa.float64(), "given": pa.int64(), "largest": pa.int64(),
    "laps": pa.list_(pa.struct({"stage": pa.string(), "seconds": pa.float64()})),
    "counts": pa.list_(pa.struct({"stage": pa.string(), "word": pa.string(), "number": pa.int64()})),
})


class Watched(Protocol):
    """A task that tells a watch of its stages."""

    def watched(self, batches: Iterator[pa.RecordBatch], watch: Stopwatch) -> Iterator[pa.RecordBatch]:
        """What it gives."""
        ...


@dataclass(frozen=True, slots=True)
class Measuring:
    """A task, measured. What it waits for is a stage of its own, `receive`."""

    task: Watched

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One row."""
        watch, waiting = Stopwatch(), _Waiting(batches)
        since = perf_counter()
        n_given = sum(result.num_rows for result in self.task.watched(waiting.read(watch), watch))
        seconds = perf_counter() - since
        by_stage = {"receive": waiting.seconds}
        for stage, took, _ in watch.laps:
            by_stage[stage] = by_stage.get(stage, 0.0) + took
        laps = [{"stage": stage, "seconds": took} for stage, took in by_stage.items()]
        counts = [
            {"stage": stage, "word": word, "number": number} for (stage, word), number in watch.counts.items()
        ]
        row = {"seconds": seconds, "given": n_given, "largest": watch.largest, "laps": laps, "counts": counts}
        yield pa.RecordBatch.from_pylist([row], _SCHEMA)


class _Waiting:
    """How long somebody waits for batches."""

    def __init__(self, batches: Iterator[pa.RecordBatch]) -> None:
        self._batches = batches
        self.seconds = 0.0

    def read(self, watch: Stopwatch) -> Iterator[pa.RecordBatch]:
        """The batches; the time that they take is not on the watch."""
        while True:
            since = perf_counter()
            batch = next(self._batches, None)
            seconds = perf_counter() - since
            self.seconds += seconds
            watch.leave_out(seconds)
            if batch is None:
                return
            yield batch
