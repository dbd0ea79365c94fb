"""Split every condition into what rows alone decide and what the match decides.

A condition is a conjunction. Conjuncts whose references all stand at a fixed distance from the row under test are *row*
conditions: the host evaluates them once for all rows. The rest is the *context* condition, tested during the search; in
it every maximal part that reads one target row is a *projection*, computed by the host once per row and read at the
target.

Guards. A part that can fail (a division, a cast, a call) is evaluated only where its guard lets it be reached: a
conjunct after a context conjunct, a branch of CASE, a later argument of AND, OR or COALESCE stays where it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sparkrex.scalar.expression import (
    Aggregate,
    Call,
    ClassifierAt,
    ColumnAt,
    Expression,
    Literal,
    MatchNumber,
    MatchStatus,
    Target,
    walk,
)
from sparkrex.scalar.guards import can_fail
from sparkrex.source import Span

if TYPE_CHECKING:
    from collections.abc import Sequence


CURRENT = Target()


@dataclass(frozen=True, slots=True)
class Projection:
    """A row-local expression, every reference at the current row, read at `target`. Stands for a sub-expression."""

    target: Target
    expression: Expression


@dataclass(frozen=True, slots=True)
class Condition:
    """The two parts of one variable's condition; None where there is nothing to test."""

    variable: str
    row: Expression | None
    context: Expression | None


def split_condition(variable: str, condition: Expression) -> Condition:
    """The two parts of one condition."""
    row: list[Expression] = []
    context: list[Expression] = []
    for conjunct in conjuncts(condition):
        if is_row_condition(conjunct) and (not context or not can_fail(conjunct)):
            row.append(conjunct)
        else:
            context.append(conjunct)
    return Condition(variable, conjunction(row), conjunction(context))


def conjuncts(condition: Expression) -> list[Expression]:
    """The parts of a conjunction, in order; the condition itself if it is none."""
    if isinstance(condition, Call) and condition.function == "and":
        return [part for operand in condition.operands for part in conjuncts(operand)]
    return [condition]


def conjunction(parts: Sequence[Expression]) -> Expression | None:
    """The condition that all parts hold, None for no parts; it stands where they do."""
    if len(parts) < 2:
        return parts[0] if parts else None
    spans = [part.span for part in parts if part.span is not None]
    span = Span(min(span.start for span in spans), max(span.end for span in spans)) if spans else None
    return Call("and", tuple(parts), span=span)


def is_row_condition(expression: Expression) -> bool:
    """Whether the row and its neighbours at fixed distances decide it."""
    for node in walk(expression):
        if isinstance(node, Aggregate | MatchNumber | MatchStatus | ClassifierAt):
            return False
        if isinstance(node, ColumnAt) and replace(node.target, shift=0) != CURRENT:
            return False
    return True


def context_level(expression: Expression) -> int:
    """What of the match a context condition reads: 1 its start and number alone, 2 how its rows are mapped."""
    for node in walk(expression):
        if isinstance(node, ClassifierAt):
            return 2
        if isinstance(node, ColumnAt) and node.target.variables is not None:
            return 2
        if isinstance(node, Aggregate) and node.variables is not None:
            return 2
    return 1


def mapped_variables(expression: Expression) -> frozenset[str] | None:
    """The variables whose rows a context condition reads; None if it also reads how other rows are mapped."""
    found: set[str] = set()
    for node in walk(expression):
        if isinstance(node, ClassifierAt):
            return None
        if isinstance(node, ColumnAt):
            found |= node.target.variables or set()
        if isinstance(node, Aggregate):
            found |= node.variables or set()
    return frozenset(found)


def row_local(expression: Expression, *, is_guarded: bool) -> Projection | None:
    """The expression as a projection if it reads exactly one target row and may be computed for every row."""
    if isinstance(expression, ColumnAt):
        return Projection(expression.target, replace(expression, target=CURRENT))
    if not isinstance(expression, Call):
        return None
    targets: set[Target] = set()
    for node in walk(expression):
        if isinstance(node, Aggregate | MatchNumber | MatchStatus | ClassifierAt):
            return None
        if isinstance(node, ColumnAt):
            targets.add(node.target)
    if len(targets) != 1 or (is_guarded and can_fail(expression)):
        return None
    return Projection(next(iter(targets)), at_current_row(expression))


def at_current_row(expression: Expression) -> Expression:
    """The same expression with every reference at the current row."""
    match expression:
        case ColumnAt():
            return replace(expression, target=CURRENT)
        case Call(operands=operands):
            return replace(expression, operands=tuple(at_current_row(part) for part in operands))
        case _:
            return expression


def is_constant(expression: Expression) -> bool:
    """Whether nothing of the rows or the match is read."""
    return all(isinstance(node, Literal | Call) for node in walk(expression))
