"""Row patterns as a mode."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import pyarrow as pa

from sparkrex.modes.rows.choose import MATCHERS
from sparkrex.modes.rows.engine import explain_pattern, locate_matches, pattern_results
from sparkrex.modes.rows.explain import RowsExplained
from sparkrex.modes.rows.runner import RowRunner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sparkrex.hosts.host import Evaluator
    from sparkrex.matching.located import Located
    from sparkrex.matching.slices import SliceNeeds
    from sparkrex.modes.rows.plan import MatchRecognize
    from sparkrex.modes.rows.slice_search import RowSlices
    from sparkrex.reasons.answer import Why
    from sparkrex.reasons.asked import Asked
    from sparkrex.settings import Settings
    from sparkrex.spark.lowering import Lowered
    from sparkrex.spark.worker import Carried, WorkerTask
    from sparkrex.stopwatch import Stopwatch


class RowsMode:
    """See `modes.protocol.Mode`."""

    matchers: ClassVar[tuple[str, ...]] = tuple(name for kind in MATCHERS for name in (kind.name, *kind.other_names))

    def results(
        self, plan: MatchRecognize, table: pa.Table, evaluator: Evaluator, settings: Settings, watch: Stopwatch
    ) -> Iterator[pa.Table]:
        """Arrange, match, read."""
        return pattern_results(plan, table, evaluator, settings, watch)

    def runner(
        self, plan: MatchRecognize, sample: pa.Table, keys: tuple[str, ...], evaluator: Evaluator, settings: Settings,
        watch: Stopwatch | None = None,
    ) -> RowRunner:
        """By the matcher that fits."""
        return RowRunner.of(plan, sample, keys, evaluator, settings, watch)

    def explain(
        self, plan: MatchRecognize, table: pa.Table, evaluator: Evaluator, settings: Settings, *, analyze: bool
    ) -> RowsExplained:
        """The matcher and the reasons."""
        return explain_pattern(plan, table, evaluator, settings, analyze=analyze)

    def locate(
        self, plan: MatchRecognize, table: pa.Table, evaluator: Evaluator, settings: Settings
    ) -> Located:
        """See `modes.protocol.Locating`."""
        return locate_matches(plan, table, evaluator, settings)

    def lower(
        self, plan: MatchRecognize, input_name: str, settings: Settings, wanted: frozenset[str] | None,
        types: Callable[[Lowered, Sequence[str]], pa.Schema],
    ) -> Lowered:
        """Every part that speaks of one row is Spark's."""
        from sparkrex.modes.rows.lower import lower, moved_times_of

        lowered = lower(plan, input_name, wanted, reports=settings.reports)
        times = moved_times_of(plan)
        if times and pa.types.is_timestamp(types(lowered, lowered.order[:1]).types[0]):
            return lower(plan, input_name, wanted, reports=settings.reports, times=times)
        return lowered

    def task(
        self, lowered: Lowered, written: MatchRecognize, sample: pa.Table, carried: Carried, evaluator: Evaluator,
        settings: Settings, pickled: Callable[[object], object],
    ) -> WorkerTask:
        """A matcher must take it, and its conditions be booleans."""
        from sparkrex.modes.rows.choose import check_conditions, choose_matcher
        from sparkrex.spark.worker import WorkerTask

        plan: MatchRecognize = lowered.worker  # type: ignore[assignment]  # this mode lowered it
        check_conditions(choose_matcher(plan, sample, evaluator, settings))
        return WorkerTask(mode=self, plan=plan, carried=carried, settings=settings, key_names=lowered.key_names())

    def why(
        self, plan: MatchRecognize, table: pa.Table, evaluator: Evaluator, settings: Settings, asked: Asked
    ) -> Why:
        """Need and blockers of every start."""
        from sparkrex.modes.rows.why.answer import why_not

        return why_not(plan, table, evaluator, settings, asked)

    def explain_for_workers(
        self, written: MatchRecognize, lowered: Lowered, sample: pa.Table, types: Callable[[Sequence[str]], pa.Schema],
        evaluator: Evaluator, settings: Settings,
    ) -> RowsExplained:
        """The matcher is chosen for what travels."""
        from sparkrex.modes.rows.choose import choose_matcher
        from sparkrex.modes.rows.timeouts import describe_timeouts

        plan: MatchRecognize = lowered.worker  # type: ignore[assignment]  # this mode lowered it
        choice = choose_matcher(plan, sample, evaluator, settings)
        timeouts = describe_timeouts(choice.problem)
        return RowsExplained(
            written, choice, timeouts=timeouts, sharing="one partition by one task",
            regrouped=tuple(one.function for one in lowered.gathered),
        )

    def slice_needs(
        self, written: MatchRecognize, plan: MatchRecognize, sample: pa.Table, evaluator: Evaluator, settings: Settings
    ) -> SliceNeeds | str:
        """Where a match is bounded."""
        from sparkrex.modes.rows.slice_needs import slice_needs

        return slice_needs(written, plan, sample, evaluator, settings)

    def slice_search(
        self, plan: MatchRecognize, sample: pa.Table, needs: SliceNeeds, evaluator: Evaluator, settings: Settings
    ) -> RowSlices:
        """By the matcher that fits."""
        from sparkrex.modes.rows.slice_search import RowSlices

        return RowSlices.of(plan, sample, needs, evaluator, settings)


MODE = RowsMode()
