"""A row pattern inside a Spark worker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkrex.spark.worker import WorkerTask
from sparkrex.stopwatch import Stopwatch

if TYPE_CHECKING:
    import pyarrow as pa

    from sparkrex.hosts.host import Evaluator
    from sparkrex.matching.feeding import ChunkFed
    from sparkrex.modes.rows.plan import MatchRecognize


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsTask(WorkerTask):
    """One row pattern, shipped to the workers."""

    plan: MatchRecognize

    def _answered(self, table: pa.Table, evaluator: Evaluator) -> pa.Table:
        from sparkrex.modes.rows.engine import run_pattern

        return run_pattern(self.plan, table, evaluator, self.settings, Stopwatch())

    def _relation(self, sample: pa.Table, evaluator: Evaluator) -> ChunkFed:
        from sparkrex.matching.feeding import ChunkFed
        from sparkrex.modes.rows.runner import RowRunner

        return ChunkFed(RowRunner.of(self.plan, sample, tuple(self._keys()), evaluator, self.settings))
