"""A workload of patterns, parsed once: detect, explain, or open a run whose rules change while events flow."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sparkrex.errors import AnalysisError, RexError, UnsupportedError
from sparkrex.faults import CallersError, called_back, faults_reported
from sparkrex.workloads.parsing import in_groups, parse_pattern
from sparkrex.workloads.sources import load_patterns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from sparkrex.languages.events.syntax import StreamOptions
    from sparkrex.modes.workload.explain import WorkloadExplained
    from sparkrex.modes.workload.language import PatternSource
    from sparkrex.modes.workload.plan import PlanOptions
    from sparkrex.modes.workload.planner.optimizer import Optimized
    from sparkrex.settings import Settings
    from sparkrex.workloads.explanation import WorkloadExplanation
    from sparkrex.workloads.found import Found
    from sparkrex.workloads.run import Run


class Workload:
    """Patterns that are watched together. `rex.workload` makes one.

    `names` are those of its patterns; `rejected` has the errors of patterns that could not be read, by name.
    """

    def __init__(
        self, patterns: Any, stream: StreamOptions, options: PlanOptions, dialect: str, settings: Settings, *,
        args: Any = None, strict: bool = False, on_progress: Callable[[int, float], None] | None = None,
    ) -> None:
        self.stream, self.options, self.dialect, self.settings = stream, options, dialect, settings
        self.args = args
        self.on_progress = None if on_progress is None else called_back(on_progress)
        self.patterns: dict[str, PatternSource] = {}
        self.rejected: dict[str, RexError] = {}
        self.last_plans: list[WorkloadExplained] = []
        """What was used by the last `detect` in memory."""
        for name, text in load_patterns(patterns).items():
            try:
                if isinstance(text, RexError):
                    raise text
                self.patterns[name] = self.parse(name, text)
            except RexError as error:
                if strict:
                    raise
                self.rejected[name] = error
        if not self.patterns:
            raise next(iter(self.rejected.values()))
        self._warn_of_rejected()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the patterns."""
        return tuple(self.patterns)

    def parse(self, name: str, text: str) -> PatternSource:
        """One more pattern in the same language."""
        if not isinstance(name, str) or not isinstance(text, str):
            wrong = name if not isinstance(name, str) else text
            raise TypeError(f"a pattern has a name and a text, and {wrong!r} is a {type(wrong).__name__}")
        with faults_reported(text):
            return parse_pattern(name, text, self.dialect, self.args)

    def detect(self, stream: Any, /, *, spark: Any = None) -> Found:
        """The matches of all patterns in a stream, which is given as for `rex.events`; in a streaming DataFrame as they
        are decided."""
        from sparkrex.columns.inputs import check_session, is_spark, to_arrow
        from sparkrex.columns.results import result_library
        from sparkrex.spark.files.opening import table_for_spark
        from sparkrex.workloads.detecting import detect_in_memory, detect_on_spark

        check_session(spark)
        if spark is not None or is_spark(stream):
            on_spark = table_for_spark("", stream)
            with self.reported():
                return detect_on_spark(self, on_spark, spark)
        table = to_arrow("", stream)
        with self.reported():
            return detect_in_memory(self, table, result_library([stream]))

    def drain(self, checkpoint: str | Path, stream: Any, /, *, spark: Any = None) -> Found:
        """The matches that a streaming query over the stream, which has stopped, has not given because only the end
        decides them. See `rex.drain`.

        The query was one of `detect(stream).table`. Of patterns with RETURN the events are drained."""
        from sparkrex.columns.inputs import check_session, is_spark
        from sparkrex.workloads.detecting import detect_on_spark

        check_session(spark)
        if not is_spark(stream):
            raise TypeError("drain() needs the streaming DataFrame that the query was started with")
        with self.reported():
            return detect_on_spark(self, stream, spark, str(checkpoint))

    def plan(self, stream: Any, /) -> list[Optimized]:
        """The shared plans that a stream in memory leads to, one for each set of keys; nothing is matched."""
        from sparkrex.columns.inputs import to_arrow
        from sparkrex.workloads.detecting import plan_in_memory

        table = to_arrow("", stream)
        with self.reported():
            return plan_in_memory(self, table)

    def explain(self, stream: Any = None, /, *, spark: Any = None) -> WorkloadExplanation:
        """The shared plan as a graph: which sub-pattern serves which patterns, costs, and what sharing gains.

        Rates and selectivities come from the stream. Without one it is the plan of the last `detect`, or else one for
        events that all come equally often.
        """
        from sparkrex.columns.inputs import check_session, is_spark, to_arrow
        from sparkrex.spark.files.opening import table_for_spark
        from sparkrex.workloads.explanation import explain_patterns

        check_session(spark)
        is_on_spark = spark is not None or (stream is not None and is_spark(stream))
        table = stream if stream is None else table_for_spark("", stream) if is_on_spark else to_arrow("", stream)
        with self.reported():
            return explain_patterns(self, table, spark)

    def open(self, *, adaptive: bool = True, drift: float = 2.0) -> Run:
        """A run that is fed chunk by chunk, in the order of time; patterns may be added and removed between chunks.

        An adaptive run improves its plan when a rate or a selectivity has changed by the factor `drift`, if that is
        worth the time.
        """
        from sparkrex.workloads.run import Run

        is_factor = isinstance(drift, int | float) and not isinstance(drift, bool) and drift > 1
        if not is_factor or not isinstance(adaptive, bool):
            raise AnalysisError(
                "REX217", f"adaptive={adaptive!r}, drift={drift!r}: one is True or False, the other a number above 1",
                None, None, hint="drift=2 plans anew when a rate has doubled or halved",
            )
        if self.settings.partition_gap is not None:
            raise UnsupportedError(
                "REX301", "partition_gap is set, and a run that is fed chunk by chunk does not end partitions at gaps",
                None, None, hint="detect(stream) does; or leave the setting out",
            )
        return Run(self, adaptive=adaptive, drift=drift)

    def groups(self, patterns: Mapping[str, PatternSource] | None = None) -> dict[tuple[str, ...], Any]:
        """The patterns by the attributes of their equivalence tests, each group as a query."""
        return in_groups(self.patterns if patterns is None else patterns, self)

    def with_options(self, **changes: Any) -> Workload:
        """The same patterns, planned otherwise; nothing is parsed again."""
        from copy import copy

        other = copy(self)
        other.options, other.last_plans = replace(self.options, **changes), []
        return other

    def __len__(self) -> int:
        return len(self.patterns)

    def __repr__(self) -> str:
        left_out = f", {len(self.rejected)} rejected" if self.rejected else ""
        return f"<Workload of {len(self.patterns)} patterns{left_out}>"

    @contextmanager
    def reported(self) -> Iterator[None]:
        """Faults are said to be ours; an error of the host has no place in the one text that it knows."""
        from sparkrex.workloads.parsing import NO_TEXT

        try:
            with faults_reported(""):
                yield
        except RexError as error:
            if error.source is NO_TEXT:
                error.source = error.span = None
            raise
        except CallersError as error:
            assert error.__cause__ is not None  # that is what it is for
            raise error.__cause__ from None

    def _warn_of_rejected(self) -> None:
        from sparkrex.warn import warn_user

        for name, error in self.rejected.items():
            warn_user(f"the pattern {name} is left out:\n{error}")
