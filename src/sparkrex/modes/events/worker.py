"""An event query inside a Spark worker: its partitions are those of one Spark partition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from sparkrex.spark.worker import WorkerTask

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from sparkrex.hosts.host import Evaluator
    from sparkrex.matching.feed import Feed
    from sparkrex.modes.events.plan import EventQuery
    from sparkrex.modes.events.runner import EventRunner


@dataclass(frozen=True, slots=True, kw_only=True)
class EventTask(WorkerTask):
    """One event query, shipped to the workers."""

    plan: EventQuery

    def _answered(self, table: pa.Table, evaluator: Evaluator) -> pa.Table:
        from sparkrex.modes.events.engine import run_events

        return run_events(self.plan, table, evaluator, self.settings)

    def _keys(self) -> list[str]:
        """Those of equalities too. Rows without a value there are one partition of many that could be: any union of
        partitions gives the same matches."""
        return [*(key.name for key in self.plan.partition_by), *self.plan.equal_by]

    def _streamed(self, batches: Iterator[pa.RecordBatch], evaluator: Evaluator) -> Iterator[pa.Table]:
        """Chunk by chunk, or all rows at once if that is what the algorithm needs."""
        from sparkrex.columns.arrange import Arrangement
        from sparkrex.matching.feed import Feed

        if self._runner(evaluator).refusal is None:
            yield from WorkerTask._streamed(self, batches, evaluator)
            return
        rows = list(batches)
        if rows:
            table = pa.Table.from_batches(rows)
            feed = Feed.whole(table, Arrangement(None, self._offsets(table), table.num_rows))
            yield self._relation(table.slice(0, 0), evaluator).answer(feed)

    def _relation(self, sample: pa.Table, evaluator: Evaluator) -> FedEvents:
        return FedEvents(self._runner(evaluator), [key.name for key in self.plan.partition_by])

    def _runner(self, evaluator: Evaluator) -> EventRunner:
        from sparkrex.modes.events.nfab.matcher import NfabMatcher
        from sparkrex.modes.events.runner import EventRunner

        return EventRunner(self.plan, NfabMatcher(self.plan, evaluator, self.settings))


class FedEvents:
    """A runner over chunks of ordered partitions, of which one may be open. `keys` are the columns that hold keys."""

    def __init__(self, runner: EventRunner, keys: list[str]) -> None:
        self._runner = runner
        self._keys = keys
        self._state = runner.open()
        self._slot = 0

    def feed(self, chunk: pa.Table, offsets: NDArray[np.int64], *, opens: bool, closes: bool) -> pa.Table:
        """What this chunk decides of the result."""
        from sparkrex.matching.feeding import chunk_feed

        feed = chunk_feed(chunk, offsets, self._slot, opens=opens, closes=closes)
        self._slot += len(offsets) - 2 + closes
        return self.answer(feed)

    def answer(self, feed: Feed) -> pa.Table:
        """What a feed decides; an error names the partition by its key."""
        from sparkrex.matching.feeding import partition_named

        with partition_named(feed, self._keys, self._keys):
            return self._runner.feed(self._state, feed)
