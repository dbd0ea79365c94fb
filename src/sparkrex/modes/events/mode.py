"""Event queries as a mode."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from sparkrex.modes.events.engine import buffer_events, check_events, event_results, explain_events, explain_for_workers
from sparkrex.modes.events.located import locate_events
from sparkrex.modes.events.nfab.matcher import NfabMatcher
from sparkrex.modes.events.runner import EventRunner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa

    from sparkrex.hosts.host import Evaluator
    from sparkrex.matching.located import Located
    from sparkrex.modes.events.explain import EventsExplained
    from sparkrex.modes.events.plan import EventQuery
    from sparkrex.settings import Settings
    from sparkrex.spark.lowering import Lowered
    from sparkrex.spark.worker import Carried, WorkerTask
    from sparkrex.stopwatch import Stopwatch


class EventsMode:
    """See `modes.protocol.Mode` and `Buffered`."""

    matchers: ClassVar[tuple[str, ...]] = ("nfab", "basic", "backtrack")

    def results(
        self, plan: EventQuery, table: pa.Table, evaluator: Evaluator, settings: Settings, watch: Stopwatch
    ) -> Iterator[pa.Table]:
        """Drop what cannot take part, arrange, match, return."""
        return event_results(plan, table, evaluator, settings, watch)

    def runner(
        self, plan: EventQuery, sample: pa.Table, keys: tuple[str, ...], evaluator: Evaluator, settings: Settings,
        watch: Stopwatch | None = None,
    ) -> EventRunner:
        """By the automaton. Keys are read by the caller alone."""
        return EventRunner(plan, NfabMatcher(plan, evaluator, settings))

    def explain(
        self, plan: EventQuery, table: pa.Table, evaluator: Evaluator, settings: Settings, *, analyze: bool
    ) -> EventsExplained:
        """The automaton, and which equalities partition the stream."""
        return explain_events(plan, table, evaluator, settings, analyze=analyze)

    def locate(
        self, plan: EventQuery, table: pa.Table, evaluator: Evaluator, settings: Settings
    ) -> Located:
        """See `modes.protocol.Locating`."""
        return locate_events(plan, table, evaluator, settings)

    def buffer(self, plan: EventQuery, table: pa.Table, evaluator: Evaluator, settings: Settings) -> pa.Table:
        """The nodes of all runs, with pointers to those before."""
        return buffer_events(plan, table, evaluator, settings)

    def lower(
        self, plan: EventQuery, input_name: str, settings: Settings, wanted: frozenset[str] | None,
        types: Callable[[Lowered, Sequence[str]], pa.Schema],
    ) -> Lowered:
        """Cut so that kernels can hold what conditions read, as far as that goes: Spark knows the types."""
        from sparkrex.modes.events.lower import lower_events, tested_projections, unheld_projections

        unheld: frozenset[str] = frozenset()
        while True:
            lowered = lower_events(plan, input_name, wanted, unheld)
            found = unheld_projections(lowered, types(lowered, tested_projections(lowered)))
            if found <= unheld:
                return lowered
            unheld |= found

    def task(
        self, lowered: Lowered, written: EventQuery, sample: pa.Table, carried: Carried, evaluator: Evaluator,
        settings: Settings, pickled: Callable[[object], object],
    ) -> WorkerTask:
        """Conditions must be ones that kernels test."""
        from sparkrex.spark.worker import WorkerTask

        query: EventQuery = lowered.worker  # type: ignore[assignment]  # this mode lowered it
        check_events(query, sample, evaluator, settings)
        names = tuple(zip(lowered.keys, (key.name for key in written.partition_by), strict=True))
        return WorkerTask(mode=self, plan=query, carried=carried, settings=settings, key_names=names)

    def explain_for_workers(
        self, written: EventQuery, lowered: Lowered, sample: pa.Table, types: Callable[[Sequence[str]], pa.Schema],
        evaluator: Evaluator, settings: Settings,
    ) -> EventsExplained:
        """With the keys of equalities that Spark partitions by, as the user wrote them."""
        equal_by = tuple(lowered.equal[name] for name in lowered.worker.equal_by)
        return explain_for_workers(replace(written, equal_by=equal_by), evaluator, settings)


MODE = EventsMode()
