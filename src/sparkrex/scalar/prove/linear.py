"""Exact arithmetic of integers and decimals as linear forms: `2 * x + 1` is x twice and one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from sparkrex.scalar.expression import Call, ColumnAt
from sparkrex.scalar.prove.facts import Facts, ValueKind
from sparkrex.scalar.prove.formulas import Formula, Number, all_of, compare_numbers, compare_points
from sparkrex.scalar.prove.points import EXACT, ORIGIN, Point, Product, Variable
from sparkrex.scalar.prove.values import exact_number_of, is_operator, kind_of

if TYPE_CHECKING:
    from sparkrex.scalar.expression import Expression

_MIRRORED = {"eq": "eq", "ne": "ne", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}


@dataclass(frozen=True, slots=True)
class Linear:
    """The sum of variables times factors, and a constant. `is_scaled`: a decimal was multiplied in it."""

    factors: dict[Variable, Number]
    constant: Number
    is_scaled: bool = False

    def plus(self, other: Linear, times: Number) -> Linear:
        """The sum of this and a multiple of the other."""
        factors = dict(self.factors)
        for variable, factor in other.factors.items():
            factors[variable] = factors.get(variable, 0) + times * factor
        factors = {variable: factor for variable, factor in factors.items() if factor}
        return Linear(factors, self.constant + times * other.constant, self.is_scaled or other.is_scaled)


def compare_exactly(operator: str, left: Expression, right: Expression, facts: Facts) -> Formula | None:
    """A comparison of integers and decimals; None if it is of another form than `x op y + c` or `x op c * y`."""
    sides = [_linear(side, facts) for side in (left, right)]
    if sides[0] is None or sides[1] is None:
        return None
    difference = sides[0].plus(sides[1], -1)
    match list(difference.factors):
        case []:
            return compare_numbers(operator, difference.constant)
        case [variable] if not difference.is_scaled:
            return _solve(operator, difference, variable)
        case [one, other] if not difference.is_scaled or _are_alike(one, other):
            # Solved for both, since either of the two may be known to be positive.
            forms = [_solve(operator, difference, *pair) for pair in ((one, other), (other, one))]
            return all_of(*dict.fromkeys(forms))
        case _:
            return None


def _solve(operator: str, difference: Linear, variable: Variable, other: Variable | None = None) -> Formula:
    """The comparison of the difference with zero, as one of a variable with a multiple of the other."""
    factor = difference.factors[variable]
    rest: Point = ORIGIN
    if other is not None:
        ratio = _divide(-difference.factors[other], factor)
        rest = other if ratio == 1 else Product(other, ratio)
    limit = _divide(-difference.constant, factor)
    return compare_points(operator if factor > 0 else _MIRRORED[operator], variable, rest, limit)


def _linear(expression: Expression, facts: Facts) -> Linear | None:
    """The expression as a linear form. Of decimals only one operation: its result has more digits than they have."""
    number = exact_number_of(expression)
    if number is not None:
        return Linear({}, number)
    kind = kind_of(expression, facts)
    if kind not in (ValueKind.INTEGER, ValueKind.DECIMAL):
        return None
    if isinstance(expression, Call) and is_operator(expression, "add", "subtract", "multiply", "negate"):
        if kind is ValueKind.INTEGER:
            return _combined(expression, [_linear(part, facts) for part in expression.operands])
        return _combined(expression, [_plain_operand(part, facts) for part in expression.operands], is_decimal=True)
    return Linear({Variable(expression, EXACT, kind): 1}, 0)


def _plain_operand(expression: Expression, facts: Facts) -> Linear | None:
    number = exact_number_of(expression, is_computed=True)
    if number is not None:
        return Linear({}, number)
    if not isinstance(expression, ColumnAt):
        return None
    return Linear({Variable(expression, EXACT, kind_of(expression, facts)): 1}, 0)


def _combined(call: Call, operands: list[Linear | None], *, is_decimal: bool = False) -> Linear | None:
    parts = [part for part in operands if part is not None]
    if len(parts) < len(operands):
        return None
    nothing = Linear({}, 0)
    if call.function == "negate":
        return nothing.plus(parts[0], -1)
    one, other = parts
    if call.function in ("add", "subtract"):
        return one.plus(other, 1 if call.function == "add" else -1)
    if one.factors and other.factors:
        return None
    factor, multiplied = (other.constant, one) if one.factors else (one.constant, other)
    product = nothing.plus(multiplied, factor)
    return Linear(product.factors, product.constant, product.is_scaled or is_decimal)


def _are_alike(one: Variable, other: Variable) -> bool:
    """Whether hosts bring a multiple of one and the other to one type without loss: integers, or of one column."""
    if one.kind is other.kind is ValueKind.INTEGER:
        return True
    return (
        isinstance(one.expression, ColumnAt) and isinstance(other.expression, ColumnAt)
        and one.expression.column == other.expression.column
    )


def _divide(number: Number, divisor: Number) -> Number:
    quotient = Fraction(number) / divisor
    return quotient.numerator if quotient.denominator == 1 else quotient
