"""When a condition is TRUE, FALSE, not TRUE or not FALSE, as formulas of two-valued logic.

SQL's logic has three values, so "not TRUE" and "FALSE" are two things: `x < 10` is not TRUE where x is NULL. A
comparison is TRUE or FALSE where nothing in it is NULL. What is not understood, or may differ from one evaluation to
the next, constrains nothing, whichever of the four is asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkrex.scalar.expression import Call, Expression, Literal, is_volatile
from sparkrex.scalar.prove.comparisons import compare, truth_of
from sparkrex.scalar.prove.formulas import FALSE, TRUE, Formula, Nullness, all_of, compare_points, complement, some_of
from sparkrex.scalar.prove.points import ORIGIN
from sparkrex.scalar.prove.values import is_condition, null_makers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sparkrex.scalar.prove.facts import Facts

_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")


@dataclass(frozen=True, slots=True)
class Truth:
    """When a condition has which truth value."""

    true: Formula
    false: Formula
    not_true: Formula
    not_false: Formula

    def negated(self) -> Truth:
        """NOT."""
        return Truth(self.false, self.true, self.not_false, self.not_true)


_UNKNOWN = Truth(TRUE, TRUE, TRUE, TRUE)
_NULL = Truth(FALSE, FALSE, TRUE, TRUE)


def truth(condition: Expression, facts: Facts) -> Truth:
    """When the condition has which truth value."""
    match condition:
        case Literal(None):
            return _NULL
        case Literal(bool(value)):
            return _decided(TRUE if value else FALSE, FALSE if value else TRUE)
        case Call(function=name, operands=operands) if is_condition(condition):
            return _truth_of_call(condition, name, operands, facts)
        case _:
            return _opaque(condition, facts)


def _decided(true: Formula, false: Formula) -> Truth:
    """A condition that is never NULL."""
    return Truth(true, false, false, true)


def _opaque(condition: Expression, facts: Facts) -> Truth:
    if is_volatile(condition):
        return _UNKNOWN
    variable = truth_of(condition)
    return _strict(
        (condition,), compare_points("eq", variable, ORIGIN, 1), compare_points("eq", variable, ORIGIN, 0), facts
    )


def _strict(makers: Sequence[Expression] | None, holds: Formula, fails: Formula, facts: Facts) -> Truth:
    """A condition that is NULL exactly where one of these is NULL (None: everywhere), and else holds or fails."""
    if makers is None:
        return _NULL
    null, known = _nullness(makers, facts)
    true, false = all_of(known, holds), all_of(known, fails)
    return Truth(true, false, some_of(null, false), some_of(null, true))


def _nullness(makers: Sequence[Expression], facts: Facts) -> tuple[Formula, Formula]:
    """That some of these are NULL, and that none is."""
    able = [maker for maker in makers if not facts.is_never_null(maker)]
    return (
        some_of(*(Nullness(maker, True) for maker in able)), all_of(*(Nullness(maker, False) for maker in able)),
    )


def _truth_of_call(condition: Expression, name: str, operands: Sequence[Expression], facts: Facts) -> Truth:
    match name, operands:
        case "and", _:
            return _conjunction([truth(part, facts) for part in operands])
        case "or", _:
            return _conjunction([truth(part, facts).negated() for part in operands]).negated()
        case "not", (part,):
            return truth(part, facts).negated()
        case "is_true", (part,):
            inner = truth(part, facts)
            return _decided(inner.true, inner.not_true)
        case "is_false", (part,):
            inner = truth(part, facts)
            return _decided(inner.false, inner.not_false)
        case "is_null", (part,):
            null, known = _null(part, facts)
            return _decided(null, known)
        case "between", (value, low, high):
            return _conjunction([
                _comparison("ge", value, low, facts, operands), _comparison("le", value, high, facts, operands)
            ])
        case "in", (value, *options):
            return _conjunction([_comparison("ne", value, option, facts, operands) for option in options]).negated()
        case ("is_distinct_from" | "is_not_distinct_from"), (left, right):
            same = _not_distinct(left, right, facts)
            return same if name == "is_not_distinct_from" else same.negated()
        case _, (left, right) if name in _COMPARISONS:
            return _comparison(name, left, right, facts)
        case _:
            return _opaque(condition, facts)


def _conjunction(parts: Sequence[Truth]) -> Truth:
    return Truth(
        all_of(*(part.true for part in parts)), some_of(*(part.false for part in parts)),
        some_of(*(part.not_true for part in parts)), all_of(*(part.not_false for part in parts)),
    )


def _comparison(
    operator: str, left: Expression, right: Expression, facts: Facts, operands: Sequence[Expression] | None = None
) -> Truth:
    if any(is_volatile(operand) for operand in (left, right)):
        return _UNKNOWN
    for one, other in ((left, right), (right, left)):
        is_asked_for_truth = isinstance(other, Literal) and isinstance(other.value, bool) and is_condition(one)
        if is_asked_for_truth and operator in ("eq", "ne"):
            inner = truth(one, facts)
            return inner if other == Literal(operator == "eq") else inner.negated()
    makers = _makers(left, right)
    holds = compare(operator, left, right, facts, operands)
    fails = compare(complement(operator), left, right, facts, operands)
    if holds is None or fails is None:
        return _UNKNOWN if operands is not None else _opaque(Call(operator, (left, right)), facts)
    return _strict(makers, holds, fails, facts)


def _makers(*sides: Expression) -> list[Expression] | None:
    """What makes a comparison of these NULL; None if it always is."""
    found: dict[Expression, None] = {}
    for side in sides:
        makers = null_makers(side)
        if makers is None:
            return None
        found.update(dict.fromkeys(makers))
    return list(found)


def _null(part: Expression, facts: Facts) -> tuple[Formula, Formula]:
    """That it is NULL, and that it is not."""
    if is_volatile(part):
        return TRUE, TRUE
    if is_condition(part):
        inner = truth(part, facts)
        return all_of(inner.not_true, inner.not_false), some_of(inner.true, inner.false)
    makers = null_makers(part)
    return (TRUE, FALSE) if makers is None else _nullness(makers, facts)


def _not_distinct(left: Expression, right: Expression, facts: Facts) -> Truth:
    if is_volatile(left) or is_volatile(right):
        return _UNKNOWN
    one, other = _null(left, facts), _null(right, facts)
    equal = _comparison("eq", left, right, facts)
    return _decided(
        some_of(all_of(one[0], other[0]), equal.true),
        some_of(all_of(one[0], other[1]), all_of(one[1], other[0]), equal.false),
    )
