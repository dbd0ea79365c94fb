"""A segment search inside a Spark worker: the series of one Spark partition are one batch of the engine.

The plan is chosen here, from a sample of the series at hand. When the rows do not fit into `sort_memory` they are
sorted on disk and searched in batches of whole series; one series must fit into memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.errors import RexError
from sparkrex.modes.segments.aggregates.registry import install
from sparkrex.spark.worker import WorkerTask

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.segments.aggregates.registry import Shipped
    from sparkrex.modes.segments.plan import SegmentSearch

SERIES = "rex_series"
"""A column that numbers the series of rows that Spark has ordered."""
# Searching takes several times the size of the rows.
_BATCH_SHARE = 8


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
        """Search ordered rows, some whole series at a time."""
        for table, offsets in self._whole_series(batches):
            if self.carried.cut is not None:
                number = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
                table = table.append_column(SERIES, pa.array(number))
            try:
                yield self._answered(table, evaluator)
            except RexError as error:
                if [name for name, _ in error.partition] == [SERIES]:
                    row = int(offsets[error.partition[0][1]])
                    error.partition = tuple((name, table.column(name)[row].as_py()) for name, _ in self.key_names)
                raise

    def _whole_series(self, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[pa.Table, NDArray[np.int64]]]:
        """Rows up to the end of a series, with the offsets of all series among them."""
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
