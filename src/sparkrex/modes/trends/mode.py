"""Trend aggregates as a mode."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from sparkrex.modes.trends.choose import ALGORITHMS
from sparkrex.modes.trends.engine import trend_results
from sparkrex.modes.trends.explain import TrendsExplained
from sparkrex.modes.trends.guarded import guarded
from sparkrex.modes.trends.layout import make_layout
from sparkrex.modes.trends.located import locate_windows
from sparkrex.modes.trends.runner import TrendRunner
from sparkrex.stopwatch import Stopwatch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa

    from sparkrex.hosts.host import Evaluator
    from sparkrex.matching.located import LocatedWindows
    from sparkrex.modes.trends.plan import TrendQuery
    from sparkrex.settings import Settings
    from sparkrex.spark.lowering import Lowered
    from sparkrex.spark.worker import Carried, WorkerTask


class TrendsMode:
    """See `modes.protocol.Mode`."""

    matchers: ClassVar[tuple[str, ...]] = ALGORITHMS

    def results(
        self, plan: TrendQuery, table: pa.Table, evaluator: Evaluator, settings: Settings, watch: Stopwatch
    ) -> Iterator[pa.Table]:
        """Arrange, count, merge by group."""
        return trend_results(plan, table, evaluator, settings, watch)

    def runner(
        self, plan: TrendQuery, sample: pa.Table, keys: tuple[str, ...], evaluator: Evaluator, settings: Settings,
        watch: Stopwatch | None = None,
    ) -> TrendRunner:
        """Keys are read as the plan's own."""
        return TrendRunner(guarded(plan), sample, evaluator, settings, settings.thread_count())

    def explain(
        self, plan: TrendQuery, table: pa.Table, evaluator: Evaluator, settings: Settings, *, analyze: bool
    ) -> TrendsExplained:
        """The automaton, and at which granularity trends are counted."""
        watch = Stopwatch()
        if analyze:
            for _ in trend_results(plan, table, evaluator, settings, watch):
                pass
        return TrendsExplained(plan, settings.matcher, watch.laps)

    def locate(
        self, plan: TrendQuery, table: pa.Table, evaluator: Evaluator, settings: Settings
    ) -> LocatedWindows:
        """See `modes.protocol.Locating`."""
        return locate_windows(plan, table, evaluator, settings)

    def lower(
        self, plan: TrendQuery, input_name: str, settings: Settings, wanted: frozenset[str] | None,
        types: Callable[[Lowered, Sequence[str]], pa.Schema],
    ) -> Lowered:
        """Spark evaluates whatever reads one event; the types of what it projects decide those of results."""
        from sparkrex.modes.trends.lower import lower_trends, with_results
        from sparkrex.spark.worker import WorkerEvaluator

        lowered = lower_trends(plan, input_name)
        sample = types(lowered, list(lowered.projections)).empty_table()
        return with_results(lowered, sample, WorkerEvaluator(lowered.worker, settings))

    def task(
        self, lowered: Lowered, written: TrendQuery, sample: pa.Table, carried: Carried, evaluator: Evaluator,
        settings: Settings, pickled: Callable[[object], object],
    ) -> WorkerTask:
        """Answered over no rows first: what is wrong with the query shows before any job."""
        from sparkrex.modes.trends.partials import MERGING, MergedGroups, PartialTask
        from sparkrex.spark.worker import WorkerTask

        if isinstance(lowered.worker, MergedGroups):
            return WorkerTask(mode=MERGING, plan=lowered.worker, carried=carried, settings=settings, key_names=())
        query: TrendQuery = lowered.worker  # type: ignore[assignment]  # this mode lowered it
        for _ in trend_results(query, sample, evaluator, settings, Stopwatch()):
            pass
        names = tuple(zip(lowered.keys, (key.name for key in written.partition_by), strict=True))
        if lowered.following is None:
            return WorkerTask(mode=self, plan=query, carried=carried, settings=settings, key_names=names)
        layout = make_layout(query, sample, evaluator)
        return PartialTask(
            mode=self, plan=query, carried=carried, settings=settings, key_names=names, layout=layout
        )

    def explain_for_workers(
        self, written: TrendQuery, lowered: Lowered, sample: pa.Table, types: Callable[[Sequence[str]], pa.Schema],
        evaluator: Evaluator, settings: Settings,
    ) -> TrendsExplained:
        """As in memory; groups of several partitions are merged in a second step."""
        return TrendsExplained(written, asked=settings.matcher)


MODE = TrendsMode()
