"""Types of events: what makes an event one of a type.

A named condition (`types`) comes first; else the value of the type column is the name. Without both, all events are of
the one type that the pattern names.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sparkrex.errors import AnalysisError, nearest
from sparkrex.scalar.analyze.expressions import Converter
from sparkrex.scalar.expression import EACH_ROW, Call, ColumnAt, Expression, Literal
from sparkrex.source import Source, Span
from sparkrex.syntax.scalar_text import parse_expression
from sparkrex.syntax.tokens import tokenize

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sparkrex.languages.events.syntax import TypeItem
    from sparkrex.scalar.analyze.scope import InputColumn, Scope
    from sparkrex.syntax.items import Name, ScalarText

_NO_NAMES = (
    *exp.DataType.NUMERIC_TYPES, *exp.DataType.TEMPORAL_TYPES, *exp.DataType.NESTED_TYPES, exp.DataType.Type.BOOLEAN,
)
_NO_CONDITIONS = (*exp.DataType.NUMERIC_TYPES, *exp.DataType.TEXT_TYPES, *exp.DataType.TEMPORAL_TYPES)


@dataclass(frozen=True, slots=True)
class EventTypes:
    """The conditions of named types, and the column that holds the names of the others."""

    named: Mapping[str, Expression]
    column: InputColumn | None
    advice: str

    def condition(self, kind: Name, used: Sequence[Name], source: Source) -> Expression | None:
        """What an event of the type must fulfil, None if every event will do. `used` are the types of the pattern."""
        found = self._find_type(kind.text)
        if found is not None:
            return found
        if self.column is not None:
            reference = ColumnAt(EACH_ROW, self.column.name, span=kind.span)
            return Call("eq", (reference, Literal(kind.text, span=kind.span)), span=kind.span)
        if self.named:
            raise AnalysisError(
                "REX222", f"{kind.text} is not a type of events", source, kind.span,
                hint=nearest(kind.text, self.named) or f"types: {', '.join(self.named)}",
            )
        other = next((name for name in used if name.text != kind.text), None)
        if other is not None:
            later = max(kind, other, key=lambda name: name.span.start)
            raise AnalysisError(
                "REX222", f"nothing says which events are of type {later.text}", source, later.span, hint=self.advice
            )
        return None

    def names_in_column(self, used: Sequence[Name]) -> tuple[str, ...]:
        """The types of a pattern that are told by their name in the column, each once."""
        if self.column is None:
            return ()
        return tuple(dict.fromkeys(name.text for name in used if self._find_type(name.text) is None))

    def _find_type(self, name: str) -> Expression | None:
        if name in self.named:
            return self.named[name]
        return next((found for known, found in self.named.items() if known.lower() == name.lower()), None)


def check_type_column(column: InputColumn, source: Source | None, span: Span | None, advice: str) -> None:
    """The names of types are strings."""
    if column.type.is_type(*_NO_NAMES):
        raise AnalysisError(
            "REX214", f"the type column {column.name} is a {column.type.sql()}, not a string", source, span, hint=advice
        )


def conditions_in_query(items: tuple[TypeItem, ...], scope: Scope) -> dict[str, Expression]:
    """TYPES ( ... )."""
    return {item.name.text: _row_condition(item.condition, scope) for item in items}


def conditions_in_call(types: Mapping[str, str], scope: Scope) -> dict[str, Expression]:
    """Conditions that are separate texts. Their places mean nothing in the query, so they have none later on."""
    found = {}
    for name, text in types.items():
        own = replace(scope, source=Source(text))
        parsed = parse_expression(tokenize(own.source, own.dialect), own.source, own.dialect, Span(0, len(text)))
        found[name] = _without_places(_row_condition(parsed, own))
    return found


def _row_condition(text: ScalarText, scope: Scope) -> Expression:
    if isinstance(text.tree, exp.Alias):
        raise AnalysisError("REX104", "a condition has no alias", scope.source, text.span)
    converter = Converter(replace(scope, variables=()), text, in_define=True, row_only="the condition of a type")
    kind = converter.types.get(id(text.tree))
    if kind is not None and kind.is_type(*_NO_CONDITIONS):
        raise AnalysisError("REX214", f"a condition is a boolean, not {kind.sql()}", scope.source, text.span)
    return converter.convert()


def _without_places(expression: Expression) -> Expression:
    if isinstance(expression, Call):
        operands = tuple(map(_without_places, expression.operands))
        return replace(expression, operands=operands, span=None)
    return replace(expression, span=None)
