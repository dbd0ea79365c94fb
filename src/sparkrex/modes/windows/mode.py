"""Row patterns in windows as a mode."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sparkrex.columns.arrange import Arrangement
from sparkrex.columns.ordered import Columns
from sparkrex.evaluate.bitmaps import evaluate_bitmaps
from sparkrex.modes.rows.relation_columns import add_relation_columns
from sparkrex.modes.windows.choose import SEARCHES, choose_search
from sparkrex.modes.windows.engine import window_results
from sparkrex.modes.windows.explain import WindowExplained
from sparkrex.modes.windows.frames import frame_ends
from sparkrex.modes.windows.located import locate_in_frames
from sparkrex.modes.windows.runner import WindowRunner
from sparkrex.stopwatch import Stopwatch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa

    from sparkrex.hosts.host import Evaluator
    from sparkrex.matching.located import Located
    from sparkrex.modes.windows.plan import PatternWindow
    from sparkrex.settings import Settings
    from sparkrex.spark.lowering import Lowered
    from sparkrex.spark.worker import Carried, WorkerTask


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
        search, sample = add_relation_columns(plan.search, table.slice(0, 0), evaluator)
        choice = choose_search(replace(plan, search=search), sample, evaluator, settings)
        watch = Stopwatch()
        if analyze:
            window_results(plan, table, evaluator, settings, watch)
        return WindowExplained(plan, choice, watch.laps)

    def locate(
        self, plan: PatternWindow, table: pa.Table, evaluator: Evaluator, settings: Settings
    ) -> Located:
        """See `modes.protocol.Locating`: each match once, whichever rows have it."""
        return locate_in_frames(plan, table, evaluator, settings)

    def runner(
        self, plan: PatternWindow, sample: pa.Table, keys: tuple[str, ...], evaluator: Evaluator, settings: Settings,
        watch: Stopwatch | None = None,
    ) -> WindowRunner:
        """For partitions that Spark has ordered."""
        return WindowRunner(plan, sample, keys, evaluator, settings, watch or Stopwatch())

    def lower(
        self, plan: PatternWindow, input_name: str, settings: Settings, wanted: frozenset[str] | None,
        types: Callable[[Lowered, Sequence[str]], pa.Schema],
    ) -> Lowered:
        """Every part that speaks of one row is Spark's."""
        from sparkrex.modes.windows.lower import lower_window

        return lower_window(plan, input_name, wanted)

    def task(
        self, lowered: Lowered, written: PatternWindow, sample: pa.Table, carried: Carried, evaluator: Evaluator,
        settings: Settings, pickled: Callable[[object], object],
    ) -> WorkerTask:
        """A search must take it, and its conditions be booleans."""
        from sparkrex.spark.worker import WorkerTask

        plan: PatternWindow = lowered.worker  # type: ignore[assignment]  # this mode lowered it
        problem = choose_search(plan, sample, evaluator, settings).problem
        evaluate_bitmaps(problem.conditions, Columns(sample, np.zeros(1, np.int64)), evaluator, plan.source)
        frame_ends(plan, sample, Arrangement(None, np.zeros(1, np.int64), 0), evaluator)  # of a type that fits?
        names = tuple((column, key.name) for column, key in zip(lowered.keys, written.partition_by, strict=True))
        return WorkerTask(mode=self, plan=plan, carried=carried, settings=settings, key_names=names)

    def explain_for_workers(
        self, written: PatternWindow, lowered: Lowered, sample: pa.Table, types: Callable[[Sequence[str]], pa.Schema],
        evaluator: Evaluator, settings: Settings,
    ) -> WindowExplained:
        """The search is chosen for what travels."""
        plan: PatternWindow = lowered.worker  # type: ignore[assignment]  # this mode lowered it
        return WindowExplained(written, choose_search(plan, sample, evaluator, settings))


MODE = WindowsMode()
