"""Partial results as Spark's workers send them to each other: first by partition and window, then merged by group."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sparkrex.matching.state import State
from sparkrex.modes.plan import Plan
from sparkrex.modes.trends.merge import combine_partials, merge_arranged, merge_partials
from sparkrex.modes.trends.results import PARTIAL_PLACES, result_table
from sparkrex.spark.worker import WorkerTask

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from sparkrex.hosts.host import Evaluator
    from sparkrex.matching.feed import Feed
    from sparkrex.modes.trends.layout import Layout
    from sparkrex.modes.trends.plan import TrendQuery
    from sparkrex.scalar.expression import Expression
    from sparkrex.settings import Settings
    from sparkrex.stopwatch import Stopwatch


@dataclass(frozen=True, slots=True, kw_only=True)
class PartialTask(WorkerTask):
    """Counts the trends of partitions, and sends one row for every group and window, however many partitions it had."""

    layout: Layout

    def _results(
        self, batches: Iterator[pa.RecordBatch], evaluator: Evaluator, watch: Stopwatch
    ) -> Iterator[pa.Table]:
        query: TrendQuery = self.plan  # type: ignore[assignment]  # the mode's own task
        for partials in WorkerTask._results(self, batches, evaluator, watch):
            combined = combine_partials(query, self.layout, partials)
            watch.lap("combine", {"groups in windows": combined.num_rows})
            yield combined


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedGroups(Plan):
    """The partial results of a query, to be merged: a partition is a group in a window."""

    mode: ClassVar[str] = "trends"
    keyword: ClassVar[str] = "MATCH_TRENDS"
    returns_keys: ClassVar[bool] = False

    query: TrendQuery
    layout: Layout

    def output_columns(self) -> tuple[str, ...]:
        """Those of the query."""
        return self.query.output_columns()

    def row_times(self) -> tuple[str, ...]:
        """Those of the query."""
        return self.query.row_times()

    def tested(self) -> tuple[Expression, ...]:
        """Nothing."""
        return ()

    def searched_columns(self) -> set[str]:
        """What is known of the trends."""
        return {PARTIAL_PLACES}


class GroupMerging:
    """Answers `MergedGroups`: see `modes.protocol.Answering`."""

    def results(
        self, plan: MergedGroups, table: pa.Table, evaluator: Evaluator, settings: Settings, watch: Stopwatch
    ) -> Iterator[pa.Table]:
        """All groups at once."""
        merged = merge_partials(plan.query, plan.layout, table, settings.thread_count())
        watch.lap("merge", {"groups in windows": merged.num_rows})
        yield merged

    def runner(
        self, plan: MergedGroups, sample: pa.Table, keys: tuple[str, ...], evaluator: Evaluator, settings: Settings,
        watch: Stopwatch | None = None,
    ) -> GroupRunner:
        """For groups that are in order already."""
        return GroupRunner(plan)


@dataclass(frozen=True, slots=True)
class GroupRunner:
    """See `matching.runner`."""

    plan: MergedGroups

    @property
    def refusal(self) -> str | None:
        """There are few partial results of a group: no more than tasks that found some."""
        return "the partial results of a group are merged at once"

    def open(self) -> State:
        """Nothing is kept."""
        return State(np.zeros((), [("n_rows", np.int64)])[()])

    def feed(self, state: State, feed: Feed) -> pa.Table:
        """The results of groups."""
        assert feed.is_whole
        query, layout = self.plan.query, self.plan.layout
        return result_table(query, layout, merge_arranged(query, layout, feed.table, feed.arrangement))


MERGING = GroupMerging()
