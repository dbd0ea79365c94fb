"""Times in nanoseconds, whose arithmetic the in-memory host does in microseconds, or not at all.

DuckDB rounds a time in nanoseconds when it adds an interval or takes a difference, silently, and for times with a zone
it has neither. Comparing, choosing (COALESCE, CASE, LEAST) and reading them is exact. So such a time is handed to any
other function in whole microseconds, and the host raises an error where it has none: answers are exact or refused.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sparkrex.scalar.expression import Aggregate, Call, ColumnAt, Expression, walk

if TYPE_CHECKING:
    from sparkrex.scalar.analyze.scope import Scope

_ZONED, _PLAIN = "TIMESTAMPTZ", "TIMESTAMP"
_COMPARING = frozenset({
    "eq", "ne", "lt", "le", "gt", "ge", "is_not_distinct_from", "is_distinct_from", "between", "in",
})
_CHOOSING = frozenset({
    "coalesce", "nullif", "least", "greatest", "least_strict", "greatest_strict", "case", "min", "max", "first", "last",
    "any_value",
})
_EXACT = _COMPARING | _CHOOSING | {"is_null", "not", "and", "or", "cast", "try_cast", "count", "count_if"}


def keep_nanoseconds(call: Expression, scope: Scope) -> Expression:
    """The call, its times in nanoseconds made whole microseconds unless it takes them as they are."""
    if not isinstance(call, Call) or scope.host_dialect != "duckdb" or call.reads_relation:
        return call
    kinds = [_nanosecond_type(operand, scope) for operand in call.operands]
    if not any(kinds):
        return call
    if call.function not in _EXACT:
        operands = [
            operand if kind is None else _whole_microseconds(operand, kind)
            for operand, kind in zip(call.operands, kinds, strict=True)
        ]
        return replace(call, operands=tuple(operands))
    if call.function in _COMPARING:
        # The host does not compare zoned ones with times in microseconds; the others it does, kernels do not.
        is_zoned = _ZONED in kinds
        operands = [
            _in_nanoseconds(operand, is_zoned) if kind is None and (is_zoned or _reads_columns(operand)) else operand
            for operand, kind in zip(call.operands, kinds, strict=True)
        ]
        return replace(call, operands=tuple(operands))
    return call


def _in_nanoseconds(operand: Expression, is_zoned: bool) -> Expression:
    name = "in_zoned_nanoseconds" if is_zoned else "in_nanoseconds"
    return Call(name, (operand,), can_fail=False, span=operand.span)


def _reads_columns(expression: Expression) -> bool:
    return any(isinstance(part, ColumnAt | Aggregate) for part in walk(expression))


def _whole_microseconds(operand: Expression, kind: str) -> Expression:
    # It counts as safe to evaluate for every row: that a column is too fine is a fault of the column, not of a row.
    name = "whole_zoned_microseconds" if kind == _ZONED else "whole_microseconds"
    return Call(name, (operand,), can_fail=False, span=operand.span)


def _nanosecond_type(expression: Expression, scope: Scope) -> str | None:
    """The type in microseconds of a time in nanoseconds; None for anything else."""
    match expression:
        case ColumnAt():
            kind = next((column.type for column in scope.columns if column.name == expression.column), None)
            return None if kind is None else _in_microseconds(kind)
        case Call(function) if function in _CHOOSING:
            values = expression.operands
            if function == "case":  # WHEN, THEN, ..., and ELSE if their number is odd
                values = values[1::2] + (values[-1:] if len(values) % 2 else ())
            return next((found for value in values if (found := _nanosecond_type(value, scope))), None)
        case Aggregate(function) if function in _CHOOSING and expression.arguments:
            return _nanosecond_type(expression.arguments[0], scope)
    return None


def _in_microseconds(kind: exp.DataType) -> str | None:
    if kind.is_type(exp.DType.TIMESTAMP_NS):
        return _PLAIN
    is_zoned = kind.is_type(exp.DType.TIMESTAMPTZ)
    return _ZONED if is_zoned and [size.name for size in kind.expressions] == ["9"] else None
