"""`window(...)`: how long a segment may be.

    window(n)  window(low, high)                                 rows, first and last included
    window(column, size [, unit])  window(column, low, high [, unit])      the column's last value minus its first

Bounds are inclusive, NULL for none; `low` 0 of rows means 1. Times need a unit; on a column of numbers it says nothing,
the bounds being the column's own numbers. A conjunct of a condition that bounds the variable's own segment becomes a
`Window`; anywhere else it is an ordinary condition.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from sqlglot import exp

from sparkrex.errors import nearest
from sparkrex.modes.segments.pattern import Window
from sparkrex.scalar.analyze.place import Place
from sparkrex.scalar.expression import (
    Aggregate,
    Call,
    ColumnAt,
    Difference,
    End,
    Expression,
    Literal,
    Semantics,
    Target,
)
from sparkrex.syntax.units import MICROSECONDS, NO_FIXED_LENGTH

if TYPE_CHECKING:
    from sparkrex.modes.segments.analyze.expressions import SegmentConverter
    from sparkrex.source import Span

_DATES = (exp.DataType.Type.DATE, exp.DataType.Type.DATE32)


@dataclass(frozen=True, slots=True)
class WindowCall:
    """A window as written: whose segment it bounds (None: all rows so far), and how."""

    variables: frozenset[str] | None
    window: Window
    span: Span


def read_window(converter: SegmentConverter, node: exp.Expr) -> WindowCall:
    """A call of window(...)."""
    span = converter.span(node)
    arguments = [argument.unnest() for argument in node.expressions]
    if not 1 <= len(arguments) <= 4:
        raise converter.error("REX218", "window takes one to four arguments", span, hint=_usage(converter))
    if _is_bound(arguments[0]):
        if len(arguments) > 2 or arguments[-1].name.upper().removesuffix("S") in MICROSECONDS:
            raise converter.error(
                "REX218", "a window with a unit needs a column", span, hint=_usage(converter, arguments),
            )
        low, high = _bounds(converter, arguments, span)
        if any(bound is not None and bound.denominator != 1 for bound in (low, high)):
            raise converter.error("REX218", "a window of rows has whole numbers as bounds", span)
        if low == 0:
            low = Fraction(1)
        _check_not_empty(converter, low, high, span)
        return WindowCall(converter.unqualified, Window(None, _plain(low), _plain(high)), span)
    return _column_window(converter, arguments, span)


def _column_window(converter: SegmentConverter, arguments: list[exp.Expr], span: Span) -> WindowCall:
    reference = converter.convert_node(arguments[0], Place())
    if not isinstance(reference, ColumnAt) or not _is_last(reference.target):
        raise converter.error("REX218", "window takes a column, not an expression", span, hint=_usage(converter))
    has_unit = len(arguments) > 2 and not _is_bound(arguments[-1])
    bounds = arguments[1:-1] if has_unit else arguments[1:]
    if not 1 <= len(bounds) <= 2:
        raise converter.error(
            "REX218", "window needs a size, or a lower and an upper bound", span, hint=_usage(converter)
        )
    scale = _scale(converter, reference, arguments[0], arguments[-1] if has_unit else None, span)
    low, high = _bounds(converter, bounds, span)
    _check_not_empty(converter, low, high, span)
    scaled = [None if bound is None else _plain(bound * scale) for bound in (low, high)]
    return WindowCall(reference.target.variables, Window(reference.column, scaled[0], scaled[1]), span)


def _is_last(target: Target) -> bool:
    return target.end is End.LAST and not target.offset and not target.shift


def _scale(
    converter: SegmentConverter, reference: ColumnAt, node: exp.Expr, unit: exp.Expr | None, span: Span
) -> Fraction:
    """What one of the unit is in the column's own unit."""
    size = None if unit is None else _unit(converter, unit, span)
    kind = next(column.type for column in converter.scope.columns if column.name == reference.column)
    if kind.is_type(*exp.DataType.NUMERIC_TYPES):
        return Fraction(1)
    if not kind.is_type(*exp.DataType.TEMPORAL_TYPES):
        raise converter.error(
            "REX214", f"window needs a column of times or numbers, not {kind.sql()}", converter.span(node)
        )
    if size is None:
        raise converter.error(
            "REX218", f"a window on {reference.column} needs a unit: it is a {kind.sql()}", span,
            hint=f"window({reference.column}, low, high, DAY)",
        )
    return Fraction(size, MICROSECONDS["DAY"]) if kind.is_type(*_DATES) else Fraction(size)


def _unit(converter: SegmentConverter, node: exp.Expr, span: Span) -> int:
    """The unit in microseconds."""
    written = node.name.upper()
    is_name = isinstance(node, exp.Column | exp.Var | exp.Identifier) and not node.args.get("table")
    singular = written.removesuffix("S")
    if is_name and singular in MICROSECONDS:
        return MICROSECONDS[singular]
    if is_name and singular in NO_FIXED_LENGTH:
        raise converter.error(
            "REX218", f"{written} has no fixed length", span, hint="give the window in days: window(column, 0, 31, DAY)"
        )
    units = ", ".join(MICROSECONDS)
    raise converter.error(
        "REX218", "the last argument of this window is not a unit of time", span,
        hint=(nearest(written, MICROSECONDS) if is_name else None) or f"one of {units}",
    )


def _is_bound(node: exp.Expr) -> bool:
    value = node.this if isinstance(node, exp.Neg) else node
    return isinstance(value, exp.Null) or (isinstance(value, exp.Literal) and not value.is_string)


def _bounds(
    converter: SegmentConverter, nodes: list[exp.Expr], span: Span
) -> tuple[Fraction | None, Fraction | None]:
    """Lower and upper bound; a single one is both."""
    bounds: list[Fraction | None] = []
    for node in nodes:
        if not _is_bound(node):
            raise converter.error("REX218", "the bounds of a window are numbers written out, or NULL", span)
        if isinstance(node, exp.Null):
            bounds.append(None)
            continue
        value = Fraction(Decimal(node.this.name if isinstance(node, exp.Neg) else node.name))
        if isinstance(node, exp.Neg) and value:
            raise converter.error("REX218", "a window cannot be negative", span)
        bounds.append(value)
    return bounds[0], bounds[-1]


def _check_not_empty(converter: SegmentConverter, low: Fraction | None, high: Fraction | None, span: Span) -> None:
    if high is not None and high < (low or 0):
        raise converter.error(
            "REX218", "this window is empty: its upper bound is below the lower one", span,
            hint="a segment has at least one row" if high == 0 else "the lower bound comes first",
        )


def _plain(bound: Fraction | None) -> float | None:
    if bound is None:
        return None
    return bound.numerator if bound.denominator == 1 else float(bound)


def _usage(converter: SegmentConverter, arguments: list[exp.Expr] | None = None) -> str:
    column = converter.time_column or "column"
    if arguments is None:
        return f"window(n), window(low, high), window({column}, size, DAY) or window({column}, low, high, DAY)"
    return f"window({', '.join([column, *(argument.sql() for argument in arguments)])})"


def window_condition(converter: SegmentConverter, call: WindowCall) -> Expression:
    """The window as an ordinary condition on the length of a segment."""
    window = call.window
    variables = call.variables if call.variables is not None else converter.own
    length: Expression
    if window.column is None:
        length = Aggregate("count", (), variables, Semantics.FINAL, span=call.span)
    else:
        last, first = (
            ColumnAt(Target(variables, Semantics.FINAL, end), window.column, span=call.span)
            for end in (End.LAST, End.FIRST)
        )
        difference = _difference(converter, window.column)
        length = Call("subtract", (last, first), difference=difference, span=call.span)
    tests: list[Expression] = []
    if window.low is not None:
        tests.append(Call("ge", (length, Literal(window.low)), span=call.span))
    if window.high is not None:
        tests.append(Call("le", (length, Literal(window.high)), span=call.span))
    if not tests:
        return Literal(True, span=call.span)
    return tests[0] if len(tests) == 1 else Call("and", tuple(tests), span=call.span)


def _difference(converter: SegmentConverter, name: str) -> Difference | None:
    """What last minus first in the column's own unit is."""
    kind = next(column.type for column in converter.scope.columns if column.name == name)
    if kind.is_type(*_DATES):
        return Difference.DAYS
    return Difference.NUMBER if kind.is_type(*exp.DataType.TEMPORAL_TYPES) else None
