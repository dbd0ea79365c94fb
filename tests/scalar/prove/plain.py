"""The judge of proofs: SQL's conditions evaluated value by value, straight from their definitions.

Knows nothing of the prover. Integers and decimals are Python's exact numbers, doubles are floats, NULL is None. A value
beside a double becomes a double. NaN equals itself and is above every number.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

from sparkrex.scalar.expression import Call, ColumnAt, Expression, Literal

Reference: TypeAlias = tuple[str, int]
"""A column and a shift."""

Row: TypeAlias = Mapping[Reference, Any]
Evaluated: TypeAlias = Callable[[Row], Any]

_ORDERS: dict[str, Callable[[int], bool]] = {
    "eq": lambda sign: sign == 0, "ne": lambda sign: sign != 0, "lt": lambda sign: sign < 0,
    "le": lambda sign: sign <= 0, "gt": lambda sign: sign > 0, "ge": lambda sign: sign >= 0,
}


def evaluated(expression: Expression) -> Evaluated:
    """A function from a row to the value."""
    match expression:
        case Literal(value):
            constant = _exact(value)
            return lambda _: constant
        case ColumnAt(target, column):
            reference = (column, target.shift)
            return lambda row: _exact(row[reference])
        case Call(name, operands):
            parts = [evaluated(operand) for operand in operands]
            function = _function(name)
            return lambda row: function([part(row) for part in parts])
    raise AssertionError(expression)


def _exact(value: Any) -> Any:
    return Fraction(value) if isinstance(value, Decimal) else value


def _function(name: str) -> Callable[[list[Any]], Any]:
    if name in _ORDERS:
        return lambda values: _compared(name, *values)
    return _FUNCTIONS[name]


def order(left: Any, right: Any) -> int:
    """-1, 0 or 1."""
    if isinstance(left, float) or isinstance(right, float):
        left, right = float(left), float(right)
        if math.isnan(left) or math.isnan(right):
            return int(math.isnan(left)) - int(math.isnan(right))
    return int(left > right) - int(left < right)


def _compared(name: str, left: Any, right: Any) -> bool | None:
    return None if left is None or right is None else _ORDERS[name](order(left, right))


def _and(values: list[Any]) -> bool | None:
    if any(value is False for value in values):
        return False
    return None if None in values else True


def _or(values: list[Any]) -> bool | None:
    if any(value is True for value in values):
        return True
    return None if None in values else False


def _not(values: list[Any]) -> bool | None:
    return None if values[0] is None else not values[0]


def _aligned(values: list[Any]) -> list[Any]:
    """Values as they are after all of them were brought to one type."""
    if any(isinstance(value, float) for value in values):
        return [None if value is None else float(value) for value in values]
    return values


def _between(values: list[Any]) -> bool | None:
    value, low, high = _aligned(values)
    return _and([_compared("ge", value, low), _compared("le", value, high)])


def _in(values: list[Any]) -> bool | None:
    value, *options = _aligned(values)
    return _or([_compared("eq", value, option) for option in options])


def _arithmetic(on_exact: Callable[[Any, Any], Any]) -> Callable[[list[Any]], Any]:
    def compute(values: list[Any]) -> Any:
        left, right = values
        if left is None or right is None:
            return None
        if isinstance(left, float) or isinstance(right, float):
            return on_exact(float(left), float(right))
        return on_exact(left, right)

    return compute


def _divide(values: list[Any]) -> float | None:
    left, right = values
    if left is None or right is None:
        return None
    return float(left) / float(right)


def _distinct(values: list[Any]) -> bool:
    left, right = values
    if left is None or right is None:
        return (left is None) != (right is None)
    return order(left, right) != 0


_FUNCTIONS: dict[str, Callable[[list[Any]], Any]] = {
    "and": _and, "or": _or, "not": _not,
    "is_null": lambda values: values[0] is None,
    "is_true": lambda values: values[0] is True,
    "is_false": lambda values: values[0] is False,
    "between": _between, "in": _in,
    "add": _arithmetic(lambda left, right: left + right),
    "subtract": _arithmetic(lambda left, right: left - right),
    "multiply": _arithmetic(lambda left, right: left * right),
    "divide": _divide,
    "negate": lambda values: None if values[0] is None else -values[0],
    "abs": lambda values: None if values[0] is None else abs(values[0]),
    "is_distinct_from": _distinct,
    "is_not_distinct_from": lambda values: not _distinct(values),
}
