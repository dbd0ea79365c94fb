"""A segment search inside a Spark worker: the series of one Spark partition are one batch of the engine.

The plan is chosen here, from a sample of the series at hand. When the rows do not fit into `sort_memory` they are
sorted on disk and fed in chunks. A search that cannot be fed so gets batches of whole series; then one series must fit
into memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.modes.segments.aggregates.registry import install
from sparkrex.spark.worker import WorkerTask

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.segments.aggregates.registry import Shipped
    from sparkrex.modes.segments.plan import SegmentSearch
    from sparkrex.modes.segments.runner import SegmentRunner

SERIES = "rex_series"
"""A column that numbers the series of rows that Spark has ordered."""
_BATCH_SHARE = 8
"""Whole series are gathered up to this share of `sort_memory`, unless one is larger."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentTask(WorkerTask):
    """One search, shipped to the workers with the aggregates that the user has registered and it uses."""

    plan: SegmentSearch
    aggregates: tuple[Shipped, ...] = ()

    def _results(self, batches: Iterator[pa.RecordBatch], evaluator: Evaluator) -> Iterator[pa.Table]:
        install(self.aggregates)
        yield from WorkerTask._results(self, batches, evaluator)

    def _answered(self, table: pa.Table, evaluator: Evaluator) -> pa.Table:
        from sparkrex.modes.segments.engine import run_search

        return run_search(self.plan, table, evaluator, self.settings)

    def _streamed(self, batches: Iterator[pa.RecordBatch], evaluator: Evaluator) -> Iterator[pa.Table]:
        """Search ordered rows, in chunks or some whole series at a time."""
        first = next(batches, None)
        if first is None:
            return
        rows = chain((first,), batches)
        runner = self._runner(pa.Table.from_batches([first]).slice(0, 0), evaluator)
        if runner.refusal is None:
            yield from WorkerTask._streamed(self, rows, evaluator)
            return
        for table, offsets in self._whole_series(rows):
            yield FedSearch(self, runner).feed(table, offsets, opens=True, closes=True)

    def _relation(self, sample: pa.Table, evaluator: Evaluator) -> FedSearch:
        return FedSearch(self, self._runner(sample, evaluator))

    def _runner(self, sample: pa.Table, evaluator: Evaluator) -> SegmentRunner:
        from sparkrex.modes.segments.runner import SegmentRunner

        sample = self.numbered(sample, np.zeros(1, np.int64))
        return SegmentRunner(self.plan, sample, tuple(self._keys()), evaluator, self.settings)

    def numbered(self, rows: pa.Table, offsets: NDArray[np.int64]) -> pa.Table:
        """Rows that Spark has ordered with the number of their series; others as they are."""
        if self.carried.cut is None:
            return rows
        number = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        return rows.append_column(SERIES, pa.array(number))

    def _whole_series(self, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[pa.Table, NDArray[np.int64]]]:
        """Rows up to the end of a series, with the offsets of all series among them.

        All are in memory: searching takes several times the size of the rows.
        """
        kept: list[pa.RecordBatch] = []
        n_bytes = 0
        enough = smallest = self.settings.sort_memory // _BATCH_SHARE
        for batch in batches:
            kept.append(batch)
            n_bytes += batch.nbytes
            if n_bytes < enough:
                continue
            table = pa.Table.from_batches(kept)
            offsets = self._offsets(table)
            last = int(offsets[-2])
            if not last:
                enough = 2 * n_bytes  # a long series: look again when there is much more
                continue
            yield table.slice(0, last), offsets[:-1]
            kept = table.slice(last).to_batches()
            n_bytes, enough = sum(part.nbytes for part in kept), smallest
        if kept:
            table = pa.Table.from_batches(kept)
            yield table, self._offsets(table)


class FedSearch:
    """A runner that takes ordered rows chunk by chunk. Between chunks one series at most is open, as slot 0."""

    def __init__(self, task: SegmentTask, runner: SegmentRunner) -> None:
        self.task = task
        self.runner = runner
        self.state = runner.open()

    def feed(self, chunk: pa.Table, offsets: NDArray[np.int64], *, opens: bool, closes: bool) -> pa.Table:
        """See `spark.worker.Fed`."""
        from sparkrex.matching.feeding import chunk_feed, partition_named

        rows = self.task.numbered(chunk, offsets)
        feed = chunk_feed(rows, offsets, 0, opens=opens, closes=closes)
        keys = [column for column, _ in self.task.key_names]
        with partition_named(feed, keys, keys):
            result = self.runner.feed(self.state, feed)
        self.state = self.state.select(feed.slots[-1:])
        return result
