"""What kind of value an expression has, which constants it may be compared with, and what makes it NULL."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING

from sparkrex.scalar.expression import Call, ClassifierAt, ColumnAt, Expression, Literal, MatchNumber, OnZero
from sparkrex.scalar.prove.facts import Facts, ValueKind

if TYPE_CHECKING:
    from sparkrex.scalar.prove.formulas import Number

_CONDITIONS = frozenset({
    "eq", "ne", "lt", "le", "gt", "ge", "and", "or", "not", "is_null", "is_true", "is_false", "between", "in", "like",
    "ilike", "is_distinct_from", "is_not_distinct_from",
})
_NUMBERS = (ValueKind.INTEGER, ValueKind.DECIMAL, ValueKind.DOUBLE, ValueKind.NUMBER)
_TEXT_FUNCTIONS = frozenset({"lower", "upper"})
_STRICT = frozenset({"add", "subtract", "multiply", "negate"})
"""Arithmetic that is NULL exactly where an operand is; what does not fit its type is an error."""

_DIGITS_COMPARED, _DIGITS_COMPUTED = 18, 9
"""Decimal literals that all hosts compare with integers and decimals exactly, and compute with exactly."""

_EXACT_DOUBLE = 2**53
_EXACT_SINGLE = 2**24
_EXACT_POWER = 22
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_TIMESTAMP = re.compile(r"(\d{4}-\d\d-\d\d)(?: (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?)?")


def is_operator(expression: Expression, *names: str) -> bool:
    """Whether it is one of these operators, and not a function of the host's that is called like it."""
    return isinstance(expression, Call) and expression.function in names and expression.syntax is None


def is_condition(expression: Expression) -> bool:
    """Whether it is a condition by its form."""
    return isinstance(expression, Call) and expression.function in _CONDITIONS and expression.syntax is None


def kind_of(expression: Expression, facts: Facts) -> ValueKind | None:
    """The kind of its values; None if that is not known, and for NULL."""
    match expression:
        case Literal(value):
            return _kind_of_literal(value)
        case ColumnAt(column=column):
            return facts.kinds.get(column, ValueKind.OTHER)
        case ClassifierAt():
            return ValueKind.TEXT
        case MatchNumber():
            return ValueKind.INTEGER
        case Call(function=name) if name in _TEXT_FUNCTIONS:
            return ValueKind.TEXT
        case Call(syntax=None):
            return ValueKind.BOOLEAN if is_condition(expression) else _kind_of_call(expression, facts)
        case _:
            return None


def _kind_of_literal(value: object) -> ValueKind | None:
    match value:
        case bool():
            return ValueKind.BOOLEAN
        case int():
            return ValueKind.INTEGER
        case Decimal():
            return ValueKind.DECIMAL
        case float():
            return ValueKind.DOUBLE
        case str():
            return ValueKind.TEXT
        case _:
            return None


def _kind_of_call(call: Call, facts: Facts) -> ValueKind | None:
    name = call.function
    if name == "cast":
        return ValueKind.TIME if time_of(call) is not None else None
    kinds = {kind_of(operand, facts) for operand in call.operands}
    if not kinds <= set(_NUMBERS):
        return None
    if name in ("negate", "abs"):
        (kind,) = kinds
        return kind
    if name in ("add", "subtract", "multiply"):
        if ValueKind.NUMBER in kinds:
            return ValueKind.NUMBER
        return next(kind for kind in (ValueKind.DOUBLE, ValueKind.DECIMAL, ValueKind.INTEGER) if kind in kinds)
    if name == "divide":
        # Hosts divide decimals to decimals or to doubles. Where zero gives infinity, integers whose types were not
        # known when the query was read may be meant to be divided to an integer.
        if ValueKind.DOUBLE in kinds and ValueKind.NUMBER not in kinds:
            return ValueKind.DOUBLE
        if kinds == {ValueKind.INTEGER} and call.on_zero is not OnZero.INFINITE:
            return ValueKind.DOUBLE
        return ValueKind.NUMBER
    return ValueKind.INTEGER if name == "modulo" and kinds == {ValueKind.INTEGER} else None


def null_makers(expression: Expression) -> tuple[Expression, ...] | None:
    """Expressions that make it NULL where one of them is NULL, and nothing else does; None for NULL itself."""
    match expression:
        case Literal(value):
            return None if value is None else ()
        case Call(function=name, operands=operands) if expression.syntax is None and (
            name in _STRICT or _is_division_by_literal(expression)
        ):
            found: dict[Expression, None] = {}
            for operand in operands:
                makers = null_makers(operand)
                if makers is None:
                    return None
                found.update(dict.fromkeys(makers))
            return tuple(found)
        case Call() if time_of(expression) is not None:
            return ()
        case _:
            return (expression,)


def _is_division_by_literal(call: Call) -> bool:
    return call.function == "divide" and isinstance(call.operands[1], Literal) and double_of(call.operands[1]) != 0


# -- constants --------------------------------------------------------------------------------------------------------


def number_of(expression: Expression) -> int | Decimal | float | None:
    """The number that is written there, None if it is no finite number."""
    match expression:
        case Literal(bool()):
            return None
        case Literal(int() | Decimal() | float() as value):
            return value if math.isfinite(value) else None
        case Call("negate", (Literal(int() | Decimal() | float() as value),)) if not isinstance(value, bool):
            return -value if math.isfinite(value) else None
        case _:
            return None


def exact_number_of(expression: Expression, *, is_computed: bool = False) -> Number | None:
    """A literal that is compared, or computed, exactly with integers and decimals; None if it may not be."""
    value = number_of(expression)
    if isinstance(value, Decimal):
        digits, scale = _size(value)
        most = _DIGITS_COMPUTED if is_computed else _DIGITS_COMPARED
        return _plain(Fraction(value)) if digits <= most and 0 <= scale <= most else None
    return value if isinstance(value, int) and abs(value) < 2**64 else None


def double_of(expression: Expression) -> Number | None:
    """A literal as the double that it becomes beside doubles; None if hosts may round it in another way."""
    value = number_of(expression)
    match value:
        case float():
            return _plain(Fraction(value))
        case int() if abs(value) <= 2**63:
            return int(float(value))
        case Decimal():
            # The host divides its digits by a power of ten: correctly rounded only if both are doubles.
            scale = max(0, -int(value.as_tuple().exponent))
            if abs(value.scaleb(scale)) <= _EXACT_DOUBLE and scale <= _EXACT_POWER:
                return _plain(Fraction(float(value)))
    return None


def single_of(expression: Expression) -> Number | None:
    """A literal that numbers of single precision and wide decimals are compared with exactly; None for others.

    Not a double: beside it a wide decimal is rounded.
    """
    value = number_of(expression)
    if value is None or isinstance(value, float):
        return None
    exact = Fraction(value)
    if isinstance(value, Decimal) and max(_size(value)) > _DIGITS_COMPUTED:
        return None
    is_short = abs(exact.numerator) <= _EXACT_SINGLE and exact.denominator & (exact.denominator - 1) == 0
    return _plain(exact) if is_short and exact.denominator <= _EXACT_SINGLE else None


def small_integer_of(expression: Expression) -> int | None:
    """An integer literal with which values of an unknown type are compared as one type."""
    value = number_of(expression)
    return value if isinstance(value, int) and abs(value) <= _EXACT_SINGLE else None


def time_of(expression: Expression) -> str | None:
    """A date or timestamp that is written in full, so that texts are ordered as times are."""
    match expression:
        case Call("cast", (Literal(str(text)), Literal("DATE"))) if _DATE.fullmatch(text):
            return f"{text} 00:00:00.000000"
        case Call("cast", (Literal(str(text)), Literal("TIMESTAMP"))):
            found = _TIMESTAMP.fullmatch(text)
            if found is not None:
                day, clock, fraction = found.groups()
                return f"{day} {clock or '00:00:00'}.{(fraction or '').ljust(6, '0')}"
    return None


def _size(value: Decimal) -> tuple[int, int]:
    """Digits and scale."""
    _, digits, exponent = value.as_tuple()
    return max(len(digits), -int(exponent)), -int(exponent)


def _plain(number: Fraction) -> Number:
    """The number, as an integer if it is one: those are much faster."""
    return number.numerator if number.denominator == 1 else number
