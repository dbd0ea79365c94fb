"""The value of an expression in a segment search, on plain Python values, with three-valued logic.

An expression sees the partition's rows and, for each variable, the segment it is bound to, or None.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, assert_never

from tests.modes.segments import definitions
from tests.modes.segments.definitions import number, rank

from sparkrex.scalar.expression import (
    Aggregate,
    Call,
    ClassifierAt,
    ColumnAt,
    End,
    Expression,
    Literal,
    MatchNumber,
    MatchStatus,
    Target,
    walk,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

Segment = tuple[int, int]
"""First and last row, both in it, as positions in the partition."""


class CannotEvaluate(Exception):  # noqa: N818  # not an error of the search: the oracle does not know
    """The oracle does not know this function."""


@dataclass(frozen=True, slots=True)
class Scene:
    """What an expression can see: rows, who is bound where, the whole match, the row being aggregated."""

    rows: Sequence[Mapping[str, Any]]
    bindings: Mapping[str, Segment | None]
    whole: Segment | None = None
    row: int | None = None
    match_number: int | None = None

    def segment(self, variables: frozenset[str] | None) -> Segment | None:
        """The segment of a variable; without variables, the whole match."""
        if variables is None:
            return self.whole
        (name,) = variables
        return self.bindings.get(name)

    def position(self, target: Target) -> int | None:
        """The row that a reference reads, None if there is none."""
        if self.row is not None and target.variables is None:
            position = self.row
        else:
            segment = self.segment(target.variables)
            if segment is None or segment[0] + target.offset > segment[1]:
                return None
            position = segment[0] + target.offset if target.end is End.FIRST else segment[1] - target.offset
        position += target.shift
        return position if 0 <= position < len(self.rows) else None


def value(expression: Expression, scene: Scene) -> Any:
    """The expression's value, None for NULL."""
    match expression:
        case Literal():
            return expression.value
        case ColumnAt(target, column):
            position = scene.position(target)
            return None if position is None else scene.rows[position][column]
        case Aggregate():
            return _aggregate(expression, scene)
        case Call():
            return _call(expression, scene)
        case MatchNumber():
            return scene.match_number
        case ClassifierAt() | MatchStatus():
            raise CannotEvaluate(f"{expression} in a segment search")
        case _:
            assert_never(expression)


def variables_read(expression: Expression) -> frozenset[str]:
    """The variables whose segments an expression looks at."""
    return frozenset(_variables_read(expression))


def _variables_read(expression: Expression) -> Iterator[str]:
    for node in walk(expression):
        if isinstance(node, ColumnAt | ClassifierAt):
            yield from node.target.variables or ()
        elif isinstance(node, Aggregate):
            yield from node.variables or ()


def _aggregate(expression: Aggregate, scene: Scene) -> Any:
    if expression.order_by:
        raise CannotEvaluate("ORDER BY in an aggregate over segments")
    if expression.function == "corr":
        return definitions.corr(*(_column(argument, expression, scene) for argument in expression.arguments))
    if expression.function == "zscore_outlier":
        segment = scene.segment(expression.variables)
        if segment is None:
            return None
        column, size = expression.arguments
        n = value(size, scene)
        context = range(max(0, segment[1] - n + 1), segment[1] + 1)
        return definitions.zscore_outlier([value(column, replace(scene, row=row)) for row in context], n)
    if not definitions.is_known(expression.function):
        raise CannotEvaluate(expression.function)
    segment = scene.segment(expression.variables)
    if segment is None:
        return 0 if expression.function == "count" else None
    rows = [replace(scene, row=row) for row in range(segment[0], segment[1] + 1)]
    if expression.filter is not None:
        rows = [row for row in rows if value(expression.filter, row) is True]
    inputs = [tuple(value(argument, row) for argument in expression.arguments) for row in rows]
    return definitions.aggregate(expression.function, list(dict.fromkeys(inputs)) if expression.is_distinct else inputs)


def _column(argument: Expression, expression: Aggregate, scene: Scene) -> list[Any]:
    """One argument over the segment it names, or else over the aggregate's."""
    variables = variables_read(argument) or expression.variables
    segment = scene.segment(variables)
    if segment is None:
        return []
    return [value(_of_each_row(argument), replace(scene, row=row)) for row in range(segment[0], segment[1] + 1)]


def _of_each_row(argument: Expression) -> Expression:
    match argument:
        case ColumnAt():
            return replace(argument, target=Target())
        case Call():
            return replace(argument, operands=tuple(map(_of_each_row, argument.operands)))
        case _:
            return argument


def _call(expression: Call, scene: Scene) -> Any:
    function = expression.function
    if function in ("start_index", "end_index"):
        assert scene.whole is not None
        return scene.whole[function == "end_index"]
    given = [value(operand, scene) for operand in expression.operands]
    match function:
        case "and":
            return _and(given)
        case "or":
            return _not(_and([_not(item) for item in given]))
        case "between":
            operand, low, high = given
            return _and([_strict("le", low, operand), _strict("le", operand, high)])
        case "coalesce":
            return next((item for item in given if item is not None), None)
        case "case":
            for condition, result in zip(given[0::2], given[1::2], strict=False):
                if condition is True:
                    return result
            return given[-1] if len(given) % 2 else None
        case "is_null":
            return given[0] is None
        case "is_true" | "is_false":
            return given[0] is (function == "is_true")
        case "is_not_distinct_from" | "is_distinct_from":
            if None in given:
                return (given[0] is given[1]) is (function == "is_not_distinct_from")
            return _strict("eq" if function == "is_not_distinct_from" else "ne", *given)
        case "nullif":
            return None if _strict("eq", *given) is True else given[0]
        case "in":
            differs = _and([_strict("ne", given[0], item) for item in given[1:]])
            return _not(differs)
    return _strict(function, *given)


def _and(given: Sequence[bool | None]) -> bool | None:
    if any(item is False for item in given):
        return False
    return None if any(item is None for item in given) else True


def _not(given: bool | None) -> bool | None:
    return None if given is None else not given


def _strict(function: str, *given: Any) -> Any:
    """A function that is NULL as soon as an operand is."""
    if function not in _STRICT:
        raise CannotEvaluate(function)
    if any(item is None for item in given):
        return None
    operands = [_operand(item) for item in given]
    if any(isinstance(item, float) for item in operands):
        # Beside a double, SQL rounds a decimal to one.
        operands = [float(item) if isinstance(item, Fraction) else item for item in operands]
    return _STRICT[function](*operands)


def _operand(given: Any) -> Any:
    return given if isinstance(given, bool | str) else number(given)


def _truncated(left: Any, right: Any) -> Any:
    if right == 0:
        return None
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


_STRICT: dict[str, Callable[..., Any]] = {
    "add": lambda left, right: left + right,
    "subtract": lambda left, right: left - right,
    "multiply": lambda left, right: left * right,
    "divide": lambda left, right: None if right == 0 else left / right,
    "integer_divide": _truncated,
    "modulo": lambda left, right: None if right == 0 else left - right * _truncated(left, right),
    "negate": lambda operand: -operand,
    "abs": abs,
    "sqrt": math.sqrt,
    "not": lambda operand: not operand,
    # NaN is above every number and equal to itself.
    "eq": lambda left, right: rank(left) == rank(right),
    "ne": lambda left, right: rank(left) != rank(right),
    "lt": lambda left, right: rank(left) < rank(right),
    "le": lambda left, right: rank(left) <= rank(right),
    "gt": lambda left, right: rank(left) > rank(right),
    "ge": lambda left, right: rank(left) >= rank(right),
}
