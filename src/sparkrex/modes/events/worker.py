"""An event query inside a Spark worker: its partitions are those of one Spark partition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkrex.spark.worker import WorkerTask

if TYPE_CHECKING:
    import pyarrow as pa

    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.events.plan import EventQuery
    from sparkrex.modes.events.streamed import StreamedEvents


@dataclass(frozen=True, slots=True, kw_only=True)
class EventTask(WorkerTask):
    """One event query, shipped to the workers."""

    plan: EventQuery

    def _answered(self, table: pa.Table, evaluator: Evaluator) -> pa.Table:
        from sparkrex.modes.events.engine import run_events

        return run_events(self.plan, table, evaluator, self.settings)

    def _prepared(self, table: pa.Table) -> pa.Table:
        """In order of keys if matches are numbered: rows arrive in no order, and the same ones must get the same
        numbers when Spark runs a task again. What is sorted on disk or by Spark is in that order anyway."""
        from sparkrex.columns.arrange import SortKey, arrange
        from sparkrex.columns.wrap import wrap

        if self.plan.measures is not None:
            return table
        keys = [SortKey(table.column(name), False, True) for name in self._keys()]
        order = arrange([], keys, table.num_rows).order
        return table if order is None else table.take(wrap(order))

    def _keys(self) -> list[str]:
        """Those of equalities too. Rows without a value there are one partition of many that could be: any union of
        partitions gives the same matches."""
        return [*(key.name for key in self.plan.partition_by), *self.plan.equal_by]

    def _relation(self, sample: pa.Table, evaluator: Evaluator) -> StreamedEvents:
        from sparkrex.modes.events.nfab.matcher import NfabMatcher
        from sparkrex.modes.events.streamed import StreamedEvents

        matcher = NfabMatcher(self.plan, evaluator, self.settings)
        return StreamedEvents(self.plan, matcher, evaluator, [key.name for key in self.plan.partition_by])
