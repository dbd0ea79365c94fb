"""A workload as a language without a keyword of SQL: its clause are event queries, each a text of its own."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sparkrex.errors import AnalysisError, RexError
from sparkrex.modes.events.analyze.query import analyze_events
from sparkrex.modes.events.nfab.any_order import compile_any_order
from sparkrex.modes.events.nfab.automaton import compile_automaton
from sparkrex.modes.events.pattern import has_any_order
from sparkrex.modes.events.plan import MATCH_ID, VARIABLE, Strategy
from sparkrex.modes.workload.plan import PATTERN, NamedQuery, WorkloadPlan
from sparkrex.source import Source, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sparkrex.languages.events.syntax import StreamOptions
    from sparkrex.modes.events.language.syntax import EventText
    from sparkrex.modes.events.plan import EventQuery
    from sparkrex.modes.sub_clauses import Relation
    from sparkrex.modes.workload.plan import PlanOptions
    from sparkrex.scalar.analyze.scope import Scope

_IN_PATTERN = "in the pattern "


@dataclass(frozen=True, slots=True)
class PatternSource:
    """A pattern as it was written, parsed."""

    name: str
    text: EventText
    source: Source

    def keys(self) -> tuple[str, ...]:
        """The attributes that partition the stream for it, by which patterns are answered together."""
        if self.text.strategy.strategy is Strategy.STRICT:
            return ()
        return tuple(sorted({name.text.lower() for name in self.text.equivalences}))


@dataclass(frozen=True, slots=True)
class WorkloadText:
    """Patterns with the same keys, and how their plan is found."""

    patterns: tuple[PatternSource, ...]
    options: PlanOptions


@contextmanager
def in_pattern(name: str, text: str | None = None) -> Iterator[None]:
    """Inside, an error says in which pattern it is; one without a place, or in another text, is of the stream."""
    try:
        yield
    except RexError as error:
        if error.position is not None and (text is None or error.source is None or error.source.text == text):
            name_pattern(error, name)
        raise


def name_pattern(error: RexError, name: str) -> None:
    """Say in which pattern an error is."""
    if not is_named(error):
        error.notes = (f"{_IN_PATTERN}{name}", *error.notes)


def is_named(error: RexError) -> bool:
    """Whether an error says in which pattern it is."""
    return any(note.startswith(_IN_PATTERN) for note in error.notes)


class WorkloadLanguage:
    """See `modes.protocol.Language`. Nothing is parsed by it: who makes a workload has parsed its patterns."""

    def parse(self, *_: Any) -> WorkloadText:
        """There is no such text."""
        raise AssertionError("a workload is made of patterns, not of a text")

    def mode(self, clause: WorkloadText) -> str:
        """Always the same."""
        return "workload"

    def analyze(
        self, clause: WorkloadText, scope: Scope, relation: Relation, options: StreamOptions | None
    ) -> WorkloadPlan:
        """Every pattern over the columns of the stream."""
        patterns = []
        for pattern in clause.patterns:
            with in_pattern(pattern.name, pattern.source.text):
                patterns.append(NamedQuery(pattern.name, _query(pattern, scope, options)))
        first = patterns[0].query
        return WorkloadPlan(
            input_columns=first.input_columns, partition_by=first.partition_by, order_by=first.order_by, measures=None,
            dialect=first.dialect, source=first.source, span=first.span, patterns=tuple(patterns),
            options=clause.options,
        )

    def variables(self, clause: WorkloadText) -> tuple[str, ...]:
        """None: references are rewritten before sqlglot reads them."""
        return ()

    def pattern_text(self, clause: WorkloadText) -> str:
        """All of them."""
        return "; ".join(f"{one.name}: PATTERN {one.text.pattern.pattern}" for one in clause.patterns)

    def key_trees(self, clause: WorkloadText) -> list[Any]:
        """None: attributes of equivalence tests are names."""
        return []


def _query(pattern: PatternSource, scope: Scope, options: StreamOptions | None) -> EventQuery:
    scope = replace(scope, source=pattern.source)
    query = analyze_events(pattern.text, scope, Span(0, len(pattern.source.text)), options)
    for name in query.input_columns:
        if name.lower() in (PATTERN, MATCH_ID, VARIABLE):
            raise AnalysisError(
                "REX205", f"the stream has a column {name}, and so has the result of a workload", pattern.source,
                None, hint="rename the stream's column",
            )
    window = query.window
    if window is not None and not window.size:
        raise AnalysisError(
            "REX226", "a window of zero: no two events are within it", pattern.source, window.span or query.span,
            hint="WITHIN says how far the last event of a match may be from the first",
        )
    # What is too large for the event matcher is refused whoever answers it: the same text has the same error.
    (compile_any_order if has_any_order(query.pattern) else compile_automaton)(query.pattern, query.source)
    return query


LANGUAGE = WorkloadLanguage()
