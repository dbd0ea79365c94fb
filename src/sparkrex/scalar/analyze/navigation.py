"""Row pattern functions: FIRST, LAST, PREV, NEXT, CLASSIFIER, those of the whole match, and RUNNING and FINAL.

A navigation leaves no node of its own: the references under it get its target row. The rules of the standard kept here:
FIRST or LAST may stand directly inside PREV or NEXT and nothing else nests; everything under one navigation reads
the rows of one variable; FINAL has no meaning in DEFINE.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sparkrex.scalar.analyze.aggregate_names import is_aggregate
from sparkrex.scalar.analyze.references import required_variables, target_row
from sparkrex.scalar.analyze.spans import span_after_comma
from sparkrex.scalar.expression import (
    ROW_TIME,
    Aggregate,
    Call,
    ClassifierAt,
    ColumnAt,
    End,
    Expression,
    MatchNumber,
    MatchStatus,
    Semantics,
    Target,
    references,
)
from sparkrex.syntax.scalar_text import row_pattern_function

if TYPE_CHECKING:
    from sparkrex.scalar.analyze.expressions import Converter
    from sparkrex.scalar.analyze.place import Place
    from sparkrex.source import Span

_NAVIGATION = ("FIRST", "LAST", "PREV", "NEXT", "RUNNING", "FINAL")
# No partition has so many rows, and the positions of further ones might not fit 64 bits.
_FURTHEST = 1 << 40
_NESTING = "FIRST or LAST may be directly inside PREV or NEXT, nothing else"


def convert_row_pattern_function(converter: Converter, node: exp.Expr, name: str, place: Place) -> Expression:
    """A call of the row pattern function `name`."""
    span = converter.span(node)
    if converter.row_only:
        raise converter.error("REX207", f"{name} is not allowed in {converter.row_only}", span)
    match name:
        case "CLASSIFIER":
            return _classifier(converter, node, place, span)
        case "MATCH_NUMBER":
            if node.expressions:
                raise converter.error("REX213", "MATCH_NUMBER takes no argument", span)
            return MatchNumber(span=span)
        case "MATCH_SEQUENCE_NUMBER":
            if place.each_row or place.navigation is not None:
                raise converter.error("REX210", "MATCH_SEQUENCE_NUMBER cannot be inside other functions", span)
            # Snowflake: the row's number inside the match.
            return Aggregate("count", (), None, Semantics.RUNNING, span=span)
        case "MATCH_STATUS" | "MATCH_ROWTIME":
            return _of_whole_match(converter, node, name, place, span)
        case "RUNNING" | "FINAL":
            return _with_semantics(converter, node, Semantics[name], place, span)
        case _:
            result = _navigation(converter, node, name, place, span)
            _check_one_variable(converter, result, name, span)
            return result


def _classifier(converter: Converter, node: exp.Expr, place: Place, span: Span) -> Expression:
    variables = None
    if len(node.expressions) > 1:
        raise converter.error("REX213", "CLASSIFIER takes at most one pattern variable", span)
    if node.expressions:
        argument = node.expressions[0]
        if not isinstance(argument, exp.Column) or argument.args.get("table"):
            raise converter.error("REX207", "CLASSIFIER takes the name of a pattern variable", span)
        variables = required_variables(converter, argument.this, converter.span(argument))
    return ClassifierAt(target_row(converter, variables, place), span=span)


def _of_whole_match(converter: Converter, node: exp.Expr, name: str, place: Place, span: Span) -> Expression:
    """MATCH_STATUS() and MATCH_ROWTIME(): what is only known of a finished match."""
    if node.expressions:
        raise converter.error("REX213", f"{name} takes no argument", span)
    if converter.in_define:
        raise converter.error(
            "REX209", f"{name}() is of the finished match: a condition cannot ask for it", span,
            hint=None if name == "MATCH_STATUS" else "the time of the row under test is its own column",
        )
    if place.each_row or place.navigation is not None:
        raise converter.error(
            "REX210", f"{name}() is of the match, not of its rows: it cannot be inside other functions of them", span
        )
    if name == "MATCH_STATUS":
        return MatchStatus(span=span)
    column = converter.scope.row_time
    if column is None:
        raise converter.error(
            "REX207", "MATCH_ROWTIME() is the first column of ORDER BY, and there is none", span,
            hint="begin ORDER BY with a column, not an expression",
        )
    return ColumnAt(ROW_TIME, column, span=span)


def _with_semantics(
    converter: Converter, node: exp.Expr, semantics: Semantics, place: Place, span: Span
) -> Expression:
    name = semantics.value
    if semantics is Semantics.FINAL and converter.in_define:
        raise converter.error(
            "REX209", "FINAL is not allowed in DEFINE: the match is not complete yet", span,
            hint="leave FINAL out, or move the condition to a WHERE around MATCH_RECOGNIZE",
        )
    inner = node.expressions[0]
    if row_pattern_function(inner) not in ("FIRST", "LAST") and not is_aggregate(inner, converter.scope):
        raise converter.error(
            "REX207", f"{name} goes with FIRST, LAST and aggregates only", span,
            hint=f"for PREV and NEXT write it inside: PREV({name} LAST(...))",
        )
    return converter.convert_node(inner, replace(place, semantics=semantics))


def _navigation(converter: Converter, node: exp.Expr, name: str, place: Place, span: Span) -> Expression:
    if place.each_row:
        raise converter.error("REX210", f"{name} cannot be inside an aggregate", span)
    if not 1 <= len(node.expressions) <= 2:
        raise converter.error("REX213", f"{name} takes an expression and an optional offset", span)
    is_physical = name in ("PREV", "NEXT")
    offset = _offset(converter, node, name) if len(node.expressions) == 2 else int(is_physical)
    outer = place.navigation
    if outer is not None and (is_physical or outer.shift == 0 or outer.end is not End.LAST or outer.offset):
        around = "PREV or NEXT" if outer.shift else "FIRST or LAST"
        raise converter.error("REX207", f"{name} cannot be inside {around}", span, hint=_NESTING)
    argument = node.expressions[0].unnest()
    if not is_physical:
        _refuse_nested(converter, argument, name)
        shift = 0 if outer is None else outer.shift
        target = Target(None, place.semantics or Semantics.RUNNING, End[name], offset, shift)
        return converter.convert_node(argument, replace(place, navigation=target, semantics=None))
    shift = -offset if name == "PREV" else offset
    if _is_first_or_last(argument):
        return _shift_reads(_inner_navigation(converter, argument, place), shift)
    _refuse_nested(converter, argument, name)
    return converter.convert_node(argument, replace(place, navigation=Target(shift=shift), semantics=None))


def _inner_navigation(converter: Converter, argument: exp.Expr, place: Place) -> Expression:
    """The FIRST or LAST in PREV(FIRST(x), 2), not shifted yet."""
    semantics: Semantics | None = None
    name = row_pattern_function(argument)
    if name in ("RUNNING", "FINAL"):
        semantics = Semantics[name]
        if semantics is Semantics.FINAL and converter.in_define:
            span = converter.span(argument)
            raise converter.error("REX209", "FINAL is not allowed in DEFINE: the match is not complete yet", span)
        argument = argument.expressions[0]
    return converter.convert_node(argument, replace(place, navigation=None, semantics=semantics))


def _offset(converter: Converter, node: exp.Expr, name: str) -> int:
    argument, offset = node.expressions
    if isinstance(offset, exp.Literal) and not offset.is_string and offset.name.isdigit():
        return min(int(offset.name), _FURTHEST)
    what = "must not be negative" if isinstance(offset, exp.Neg) else "must be a whole number written out"
    span = span_after_comma(converter.span(argument), converter.scope.source)
    raise converter.error("REX208", f"the offset of {name} {what}", span)


def _is_first_or_last(node: exp.Expr) -> bool:
    """FIRST or LAST, with RUNNING or FINAL in front of it or without."""
    name = row_pattern_function(node)
    if name in ("RUNNING", "FINAL"):
        return _is_first_or_last(node.expressions[0])
    return name in ("FIRST", "LAST")


def _refuse_nested(converter: Converter, argument: exp.Expr, name: str) -> None:
    for inner in argument.find_all(exp.Anonymous):
        nested = row_pattern_function(inner)
        if nested in _NAVIGATION:
            span = converter.span(inner)
            raise converter.error("REX207", f"{nested} cannot be inside {name}", span, hint=_NESTING)


def _check_one_variable(converter: Converter, expression: Expression, name: str, span: Span) -> None:
    """Everything under one navigation reads the rows of one variable, and at least one row."""
    sets = {reference.target.variables for reference in references(expression)}
    if not sets:
        raise converter.error("REX207", f"{name} needs a column or CLASSIFIER() to navigate", span)
    if len(sets) > 1:
        raise converter.error(
            "REX211", f"{name} mixes rows of different variables", span,
            hint="qualify every column with the same variable",
        )


def _shift_reads(expression: Expression, shift: int) -> Expression:
    match expression:
        case ColumnAt() | ClassifierAt():
            return replace(expression, target=replace(expression.target, shift=shift))
        case Call():
            return replace(expression, operands=tuple(_shift_reads(part, shift) for part in expression.operands))
        case _:
            return expression
