"""Comparisons as formulas over points: in which order two values are compared, and what is then said of them.

Values are compared in the type that all operands are brought to. Beside a double that is a double, so integers and
decimals are rounded first: their doubles are other variables than they themselves, of which nothing is known but their
order.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from sparkrex.scalar.expression import Call, ColumnAt, Expression, Literal
from sparkrex.scalar.prove.facts import Facts, ValueKind
from sparkrex.scalar.prove.formulas import Formula, compare_points
from sparkrex.scalar.prove.linear import compare_exactly
from sparkrex.scalar.prove.points import (
    DOUBLE,
    EXACT,
    ORIGIN,
    TEXT,
    TIME,
    Constant,
    Domain,
    Point,
    Product,
    Sum,
    Variable,
)
from sparkrex.scalar.prove.values import (
    double_of,
    kind_of,
    number_of,
    single_of,
    small_integer_of,
    time_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sparkrex.scalar.prove.formulas import Number

_EXACT_KINDS = {ValueKind.INTEGER, ValueKind.DECIMAL}
_EXACT_DOUBLE = 2**53


def compare(
    operator: str, left: Expression, right: Expression, facts: Facts, operands: Sequence[Expression] | None = None
) -> Formula | None:
    """What it says that two values, neither of them NULL, compare so; None if nothing is known of such values.

    `operands` are all that are brought to one type, where there are more than the two.
    """
    kinds = {kind_of(operand, facts) for operand in operands or (left, right) if operand != Literal(None)}
    if kinds <= _EXACT_KINDS:
        formula = compare_exactly(operator, left, right, facts)
        if formula is not None:
            return formula
    elif kinds <= {*_EXACT_KINDS, ValueKind.DOUBLE}:
        return _compare_doubles(operator, left, right, facts)
    elif kinds == {ValueKind.TEXT}:
        return compare_points(operator, _text(left), _text(right))
    elif kinds == {ValueKind.TIME}:
        return compare_points(operator, _time(left), _time(right))
    elif kinds == {ValueKind.BOOLEAN}:
        return _compare_booleans(operator, left, right)
    if ValueKind.OTHER in kinds and (operator not in ("eq", "ne") or left == right):
        return None
    if operands is not None and len({_type_of(operand) for operand in operands}) > 2:
        return None  # which type they are brought to depends on the others
    return _compare_alone(operator, left, right, facts)


def _type_of(operand: Expression) -> object:
    return type(operand.value) if isinstance(operand, Literal) else operand


# -- doubles ----------------------------------------------------------------------------------------------------------


def _compare_doubles(operator: str, left: Expression, right: Expression, facts: Facts) -> Formula:
    for one, other, is_swapped in ((left, right, False), (right, left, True)):
        limit = double_of(other)
        is_integer = number_of(one) is None and kind_of(one, facts) is ValueKind.INTEGER
        if is_integer and limit is not None and -_EXACT_DOUBLE < limit < _EXACT_DOUBLE:
            # Rounding to a double keeps the order, and integers up to 2**53 as they are: so it changes nothing in
            # comparisons with what is smaller than that.
            points: tuple[Point, Point] = (Variable(one, EXACT, ValueKind.INTEGER), ORIGIN)
            return compare_points(operator, *(points[::-1] if is_swapped else points), -limit if is_swapped else limit)
    return compare_points(operator, _double(left, facts), _double(right, facts))


def _double(expression: Expression, facts: Facts) -> Point:
    number = double_of(expression)
    if number is not None:
        return Constant(number, DOUBLE)
    if isinstance(expression, Call) and kind_of(expression, facts) is ValueKind.DOUBLE:
        match expression.function, expression.operands:
            case "add", (one, other):
                for value, addend in ((one, double_of(other)), (other, double_of(one))):
                    if addend is not None:
                        return _sum(value, addend, facts)
            case "subtract", (one, other):
                addend = double_of(other)
                if addend is not None:
                    return _sum(one, -addend, facts)
            case "multiply", (one, other):
                for value, factor in ((one, double_of(other)), (other, double_of(one))):
                    if factor:
                        return _product(value, factor, facts)
            case "divide", (one, other):
                # A quotient is the product with the inverse, which need not be a double, rounded once.
                divisor = double_of(other)
                if divisor:
                    return _product(one, Fraction(1) / divisor, facts)
    return _double_variable(expression, facts)


def _double_variable(expression: Expression, facts: Facts) -> Variable:
    return Variable(expression, DOUBLE, kind_of(expression, facts))


def _sum(value: Expression, addend: Number, facts: Facts) -> Point:
    variable = _double_variable(value, facts)
    return Sum(variable, addend) if addend else variable


def _product(value: Expression, factor: Number, facts: Facts) -> Point:
    variable = _double_variable(value, facts)
    return Product(variable, factor) if factor != 1 else variable


# -- other kinds ------------------------------------------------------------------------------------------------------


def _text(expression: Expression) -> Point:
    match expression:
        case Literal(str(text)):
            return Constant(text, TEXT)
        case _:
            return Variable(expression, TEXT, ValueKind.TEXT)


def _time(expression: Expression) -> Point:
    moment = time_of(expression)
    return Variable(expression, TIME, ValueKind.TIME) if moment is None else Constant(moment, TIME)


def truth_of(expression: Expression) -> Variable:
    """A condition, or a boolean, as a variable: 1 where it is TRUE, 0 where it is FALSE."""
    return Variable(expression, EXACT, ValueKind.BOOLEAN)


def _compare_booleans(operator: str, left: Expression, right: Expression) -> Formula:
    limit = 0
    points: list[Point] = []
    for side, sign in ((left, -1), (right, 1)):
        if isinstance(side, Literal):
            limit += sign * int(bool(side.value))
            points.append(ORIGIN)
        else:
            points.append(truth_of(side))
    return compare_points(operator, points[0], points[1], limit)


def _compare_alone(operator: str, left: Expression, right: Expression, facts: Facts) -> Formula:
    """A comparison in an order of its own: what is known of it says nothing of other comparisons.

    Numbers of one type, and constants that all types of numbers hold, are compared in one order. So are values of an
    unknown type and small integers: whatever the type, it is brought to the same one beside each of them.
    """
    for one, other, is_swapped in ((left, right, False), (right, left, True)):
        kind = kind_of(one, facts)
        if isinstance(one, Literal) or kind is ValueKind.OTHER:
            continue
        number = None
        if kind in (ValueKind.NUMBER, ValueKind.DECIMAL):
            number = single_of(other)
        elif kind is None:
            number = small_integer_of(other)
        if number is not None:
            domain = _own_domain(one)
            points: tuple[Point, Point] = (Variable(one, domain, None), Constant(number, domain))
            return compare_points(operator, *(points[::-1] if is_swapped else points))
    are_numbers = kind_of(left, facts) is kind_of(right, facts) is ValueKind.NUMBER
    if are_numbers and _own_domain(left) == _own_domain(right):
        domain = _own_domain(left)
    else:
        domain = Domain("pair", frozenset((left, right)))
    return compare_points(operator, Variable(left, domain, None), Variable(right, domain, None))


def _own_domain(expression: Expression) -> Domain:
    """The order of the values of one type: of a column at any row, or of the expression alone."""
    return Domain("type", expression.column if isinstance(expression, ColumnAt) else expression)

