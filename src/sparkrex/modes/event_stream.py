"""What is known of the stream of a query: its order, its types, how it treats ties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkrex.errors import AnalysisError, nearest
from sparkrex.modes.event_time import check_time_column
from sparkrex.modes.event_types import EventTypes, check_type_column, conditions_in_call, conditions_in_query
from sparkrex.modes.plan import OrderKey
from sparkrex.scalar.expression import EACH_ROW, ColumnAt
from sparkrex.source import Span

if TYPE_CHECKING:
    from sparkrex.languages.events.syntax import OptionsText, StreamOptions
    from sparkrex.scalar.analyze.scope import InputColumn, Scope


@dataclass(frozen=True, slots=True)
class Stream:
    """The columns of a stream that have a meaning, and the conditions of its types."""

    time: InputColumn
    tie_break: tuple[InputColumn, ...]
    types: EventTypes
    has_strict_ties: bool

    def order_keys(self, scope: Scope) -> tuple[OrderKey, ...]:
        """The time, then what orders events of one time."""
        return tuple(
            OrderKey(ColumnAt(EACH_ROW, column.name), False, scope.nulls_come_first(is_descending=False), column.name)
            for column in (self.time, *self.tie_break)
        )


@dataclass(frozen=True, slots=True)
class Spelling:
    """How a language is written inside SQL and called from Python, and how its text begins."""

    keyword: str
    function: str
    first: str


def find_stream(
    written: OptionsText | None, given: StreamOptions | None, scope: Scope, clause: Span, spelling: Spelling
) -> Stream:
    """The stream by the options of the text, or by those of the call: one of them has some. `clause` is the text."""
    if given is None:
        return _stream_in_query(written, scope, clause, spelling)
    if written is not None:
        raise AnalysisError(
            "REX107", "TIME is given in the query and in the call", scope.source, written.time.span,
            hint=f"inside {spelling.keyword} ( ... ) the query has it, for {spelling.function} the call",
        )
    advice = "type='column', or types={'Alert': \"kind = 'alert'\"}"
    kind = None if given.type is None else column_of_call(given.type, "type", scope)
    if kind is not None:
        check_type_column(kind, None, None, advice)
    time = column_of_call(given.time, "time", scope)
    check_time_column(time, f"time={given.time!r}", None, None)
    return Stream(
        time=time,
        tie_break=tuple(column_of_call(name, "tie_break", scope) for name in given.tie_break),
        types=EventTypes(conditions_in_call(given.types or {}, scope), kind, advice),
        has_strict_ties=given.has_strict_ties,
    )


def _stream_in_query(written: OptionsText | None, scope: Scope, clause: Span, spelling: Spelling) -> Stream:
    if written is None:
        raise AnalysisError(
            "REX107", "TIME is missing: nothing says how the events are ordered", scope.source,
            Span(clause.start, clause.start), hint=f"{spelling.keyword} (TIME column {spelling.first} ...)",
        )
    advice = "TYPE column, or TYPES (Alert AS kind = 'alert', ...)"
    kind = None if written.type is None else scope.column(written.type.text, written.type.span)
    if kind is not None and written.type is not None:
        check_type_column(kind, scope.source, written.type.span, advice)
    time = scope.column(written.time.text, written.time.span)
    check_time_column(time, f"TIME {written.time.text}", scope.source, written.time.span)
    return Stream(
        time=time,
        tie_break=tuple(scope.column(name.text, name.span) for name in written.tie_break),
        types=EventTypes(conditions_in_query(written.types, scope), kind, advice),
        has_strict_ties=written.has_strict_ties,
    )


def column_of_call(name: str, argument: str, scope: Scope) -> InputColumn:
    """A column that an argument of the call names."""
    found = scope.find_column(name, Span(0, 0))
    if found is None:
        names = [column.name for column in scope.columns]
        raise AnalysisError(
            "REX201", f"{argument}={name!r}: the input has no such column", None, None,
            hint=nearest(name, names) or f"the input has {', '.join(names) or 'no columns'}",
        )
    return found
