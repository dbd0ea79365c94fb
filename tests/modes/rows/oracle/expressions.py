"""The value of an expression of DEFINE or MEASURES in a match.

What an expression can see is a `View`. In DEFINE the match is what has been mapped so far, the tested row included; in
MEASURES it is the whole match, of which RUNNING sees the rows up to the current one. AND, OR, CASE and COALESCE look
at their operands in order and only as far as they must, so that a guard guards.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, assert_never

from tests.modes.rows.oracle import aggregates, functions
from tests.modes.rows.oracle.errors import CannotEvaluate
from tests.modes.rows.oracle.spelling import check_plain, spelled

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
    Semantics,
    Target,
    references,
    walk,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class View:
    """A match in its partition, seen from one of its rows.

    `running` are the labels from the start row to the current row, `final` those of all rows mapped: the same in
    DEFINE. Both are empty in an empty match.
    """

    rows: Sequence[Mapping[str, Any]]
    start: int
    running: tuple[str, ...]
    final: tuple[str, ...]
    match_number: int | None
    dialect: str
    is_timeout: bool = False

    def labels(self, semantics: Semantics) -> tuple[str, ...]:
        """The mapping that references under these semantics see."""
        return self.final if semantics is Semantics.FINAL else self.running

    def at(self, index: int) -> View:
        """The same match seen from its row `index`."""
        return replace(self, running=self.final[: index + 1])

    def position(self, target: Target) -> int | None:
        """The target row's position in the partition; None if there is no such row."""
        if target.is_row_time:
            return self.start + max(0, len(self.final) - 1)
        indices = mapped_indices(self.labels(target.semantics), target.variables)
        if target.offset >= len(indices):
            return None
        index = indices[target.offset] if target.end is End.FIRST else indices[-1 - target.offset]
        position = self.start + index + target.shift
        return position if 0 <= position < len(self.rows) else None


def mapped_indices(labels: tuple[str, ...], variables: frozenset[str] | None) -> list[int]:
    """Which rows of the match are mapped to one of the variables; None: all."""
    return [index for index, label in enumerate(labels) if variables is None or label in variables]


def value(expression: Expression, view: View) -> Any:
    """The expression's value, None for NULL."""
    match expression:
        case Literal():
            return expression.value
        case ColumnAt(target, column):
            position = view.position(target)
            return None if position is None else view.rows[position][column]
        case ClassifierAt(target):
            position = view.position(target)
            if position is None or not view.start <= position < view.start + len(view.final):
                return None
            return view.final[position - view.start]
        case MatchNumber():
            return view.match_number
        case MatchStatus():
            return "TIMEOUT" if view.is_timeout else "MATCH" if view.final else "EMPTY"
        case Call():
            return _call(expression, view)
        case Aggregate():
            return _aggregate(expression, view)
        case _:
            assert_never(expression)


def value_of_row(expression: Expression, row: Mapping[str, Any], dialect: str) -> Any:
    """The value of an expression of PARTITION BY or ORDER BY: over a row alone."""
    return value(expression, View((row,), 0, ("",), ("",), 0, dialect))


def reads_mapping(expression: Expression, variable: str) -> bool:
    """Whether the variable's condition can depend on which variables earlier rows are mapped to.

    References to the variable's own last row and to rows whatever their variable do not: given the start row, they
    depend on the tested row's place only.
    """
    for node in references(expression):
        target = node.target
        if isinstance(node, ClassifierAt):
            if target != Target():
                return True
        elif target.variables is not None:
            is_tested_row = variable in target.variables and target.end is End.LAST and target.offset == 0
            if not is_tested_row:
                return True
    return any(
        node.variables is not None or any(isinstance(inner, ClassifierAt) for inner in walk(node))
        for node in walk(expression) if isinstance(node, Aggregate)
    )


def _aggregate(expression: Aggregate, view: View) -> Any:
    check_plain(expression)
    inputs = []
    for index in mapped_indices(view.labels(expression.semantics), expression.variables):
        row_view = view.at(index)
        if expression.filter is not None and value(expression.filter, row_view) is not True:
            continue
        arguments = tuple(value(argument, row_view) for argument in expression.arguments)
        inputs.append((arguments, [value(item.expression, row_view) for item in expression.order_by]))
    return aggregates.aggregate(expression, inputs, view.dialect)


def _call(expression: Call, view: View) -> Any:
    if expression.reads_relation or not expression.is_deterministic:
        raise CannotEvaluate(f"{expression.function}: not a function of its operands")
    special = _SPECIAL.get(expression.function)
    if special is not None:
        return special(expression.operands, view)
    name, constants = spelled(expression)
    return functions.apply(name, [*constants, *(value(operand, view) for operand in expression.operands)], view.dialect)


def _and(operands: tuple[Expression, ...], view: View) -> bool | None:
    result: bool | None = True
    for operand in operands:
        found = _truth(value(operand, view))
        if found is False:
            return False
        if found is None:
            result = None
    return result


def _or(operands: tuple[Expression, ...], view: View) -> bool | None:
    result: bool | None = False
    for operand in operands:
        found = _truth(value(operand, view))
        if found is True:
            return True
        if found is None:
            result = None
    return result


def _truth(found: Any) -> bool | None:
    if found is None or isinstance(found, bool):
        return found
    raise CannotEvaluate(f"{type(found).__name__} as a truth value")


def _case(operands: tuple[Expression, ...], view: View) -> Any:
    for place in range(0, len(operands) - 1, 2):
        if value(operands[place], view) is True:
            return value(operands[place + 1], view)
    return value(operands[-1], view) if len(operands) % 2 else None


def _coalesce(operands: tuple[Expression, ...], view: View) -> Any:
    for operand in operands:
        found = value(operand, view)
        if found is not None:
            return found
    return None


def _try_cast(operands: tuple[Expression, ...], view: View) -> Any:
    operand, type_name = (value(operand, view) for operand in operands)
    return functions.try_cast(operand, type_name, view.dialect)


_SPECIAL: dict[str, Callable[[tuple[Expression, ...], View], Any]] = {
    "and": _and,
    "or": _or,
    "case": _case,
    "if": _case,
    "coalesce": _coalesce,
    "try_cast": _try_cast,
}
