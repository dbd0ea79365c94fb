"""Segment search as a mode."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sparkrex.columns.ordered import Columns
from sparkrex.errors import UnsupportedError
from sparkrex.modes.segments.engine import explain_search, search_results
from sparkrex.modes.segments.explain import SearchExplained
from sparkrex.modes.segments.located import locate_segments
from sparkrex.modes.segments.planning import plan_search, rewrite_search
from sparkrex.modes.segments.runner import SegmentRunner
from sparkrex.scalar.expression import Aggregate, walk
from sparkrex.stopwatch import Stopwatch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa

    from sparkrex.hosts.host import Evaluator
    from sparkrex.matching.located import Located
    from sparkrex.modes.segments.aggregates.registry import Shipped
    from sparkrex.modes.segments.plan import SegmentSearch
    from sparkrex.reasons.answer import Why
    from sparkrex.reasons.asked import Asked
    from sparkrex.settings import Settings
    from sparkrex.spark.lowering import Lowered
    from sparkrex.spark.worker import Carried, WorkerTask


class SegmentsMode:
    """See `modes.protocol.Mode`."""

    matchers: ClassVar[tuple[str, ...]] = ()

    def results(
        self, plan: SegmentSearch, table: pa.Table, evaluator: Evaluator, settings: Settings, watch: Stopwatch
    ) -> Iterator[pa.Table]:
        """Rewrite, plan, search."""
        return search_results(plan, table, evaluator, settings, watch)

    def runner(
        self, plan: SegmentSearch, sample: pa.Table, keys: tuple[str, ...], evaluator: Evaluator, settings: Settings,
        watch: Stopwatch | None = None,
    ) -> SegmentRunner:
        """It plans over the first rows."""
        return SegmentRunner(plan, sample, keys, evaluator, settings, watch=watch or Stopwatch())

    def why(
        self, plan: SegmentSearch, table: pa.Table, evaluator: Evaluator, settings: Settings, asked: Asked
    ) -> Why:
        """The smallest parts of the pattern without a segment."""
        from sparkrex.modes.segments.why.answer import why_not

        return why_not(plan, table, evaluator, settings, asked)

    def explain(
        self, plan: SegmentSearch, table: pa.Table, evaluator: Evaluator, settings: Settings, *, analyze: bool
    ) -> SearchExplained:
        """Rewriting, logical and physical plan."""
        return explain_search(plan, table, evaluator, settings, analyze=analyze)

    def locate(
        self, plan: SegmentSearch, table: pa.Table, evaluator: Evaluator, settings: Settings
    ) -> Located:
        """See `modes.protocol.Locating`."""
        return locate_segments(plan, table, evaluator, settings)

    def lower(
        self, plan: SegmentSearch, input_name: str, settings: Settings, wanted: frozenset[str] | None,
        types: Callable[[Lowered, Sequence[str]], pa.Schema],
    ) -> Lowered:
        """Spark evaluates every part that reads one row."""
        from sparkrex.modes.segments.lower import lower_search

        return lower_search(plan, input_name)

    def task(
        self, lowered: Lowered, written: SegmentSearch, sample: pa.Table, carried: Carried, evaluator: Evaluator,
        settings: Settings, pickled: Callable[[object], object],
    ) -> WorkerTask:
        """Planned over no rows: what is wrong with the search shows before any job."""
        from sparkrex.modes.segments.lower import cut_by_spark
        from sparkrex.modes.segments.worker import SERIES, SegmentTask

        search: SegmentSearch = lowered.worker  # type: ignore[assignment]  # this mode lowered it
        if carried.is_ordered:
            search = cut_by_spark(search, SERIES, keeps_order=set(lowered.order) <= set(sample.column_names))
        plan_search(search, Columns(sample, np.zeros(1, np.int64)), evaluator, settings)
        return SegmentTask(
            mode=self, plan=search, carried=carried, settings=settings, key_names=lowered.key_names(),
            aggregates=_ship_aggregates(search, pickled),
        )

    def explain_for_workers(
        self, written: SegmentSearch, lowered: Lowered, sample: pa.Table, types: Callable[[Sequence[str]], pa.Schema],
        evaluator: Evaluator, settings: Settings,
    ) -> SearchExplained:
        """The logical plan of what the user wrote; workers make the physical one from what they sample."""
        found = rewrite_search(written, types(written.columns_read()).empty_table(), settings.without_rules)
        return SearchExplained(written, found.steps, found.logical)


def _ship_aggregates(search: SegmentSearch, pickled: Callable[[object], object]) -> tuple[Shipped, ...]:
    """The aggregates of the user's own that a search calls; workers learn them from the task."""
    from sparkrex.modes.segments.aggregates.registry import shipped

    expressions = [*(measure.expression for measure in search.measures), *search.tested()]
    calls = {node.function: node for e in expressions for node in walk(e) if isinstance(node, Aggregate)}
    found = shipped(calls)
    for one in found:
        try:
            pickled(one)
        except Exception as error:  # whatever pickling the user's object raises
            raise UnsupportedError(
                "REX301", f"the aggregate {one[0].name} cannot be sent to Spark's workers: {error}", search.source,
                calls[one[0].name].span or search.span, hint="keep what cannot be pickled out of the class",
            ) from error
    return found


MODE = SegmentsMode()
