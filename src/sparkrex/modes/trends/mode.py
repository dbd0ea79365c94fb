"""Trend aggregates as a mode."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from sparkrex.modes.trends.engine import trend_results
from sparkrex.modes.trends.runner import TrendRunner

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.trends.plan import TrendQuery
    from sparkrex.settings import Settings
    from sparkrex.stopwatch import Stopwatch


class TrendsMode:
    """See `modes.protocol.Mode`."""

    matchers: ClassVar[tuple[str, ...]] = ("by_state", "by_event")

    def results(
        self, plan: TrendQuery, table: pa.Table, evaluator: Evaluator, settings: Settings, watch: Stopwatch
    ) -> Iterator[pa.Table]:
        """Arrange, count, merge by group."""
        return trend_results(plan, table, evaluator, settings, watch)

    def runner(
        self, plan: TrendQuery, sample: pa.Table, keys: tuple[str, ...], evaluator: Evaluator, settings: Settings
    ) -> TrendRunner:
        """Keys are read as the plan's own."""
        return TrendRunner(plan, sample, evaluator, settings, settings.thread_count())


MODE = TrendsMode()
