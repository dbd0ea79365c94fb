"""Row patterns in windows as a mode."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from sparkrex.modes.rows.relation_columns import add_relation_columns
from sparkrex.modes.windows.choose import SEARCHES, choose_search
from sparkrex.modes.windows.engine import window_results
from sparkrex.modes.windows.explain import WindowExplained
from sparkrex.stopwatch import Stopwatch

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.windows.plan import PatternWindow
    from sparkrex.settings import Settings


class WindowsMode:
    """See `modes.protocol.Mode`."""

    matchers: ClassVar[tuple[str, ...]] = tuple(kind.name for kind in SEARCHES)

    def results(
        self, plan: PatternWindow, table: pa.Table, evaluator: Evaluator, settings: Settings, watch: Stopwatch
    ) -> Iterator[pa.Table]:
        """In one piece: rows come in the order of the input."""
        yield window_results(plan, table, evaluator, settings, watch)

    def explain(
        self, plan: PatternWindow, table: pa.Table, evaluator: Evaluator, settings: Settings, *, analyze: bool
    ) -> WindowExplained:
        """The search and the reasons; with `analyze`, after a run, its stages."""
        from dataclasses import replace

        search, sample = add_relation_columns(plan.search, table.slice(0, 0), evaluator)
        choice = choose_search(replace(plan, search=search), sample, evaluator, settings)
        watch = Stopwatch()
        if analyze:
            window_results(plan, table, evaluator, settings, watch)
        return WindowExplained(plan, choice, watch.laps)


MODE = WindowsMode()
