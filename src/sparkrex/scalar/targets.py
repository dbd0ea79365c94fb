"""Expressions with other targets: the same conditions, said of other rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sparkrex.scalar.expression import Aggregate, Call, ColumnAt, Expression, Target

if TYPE_CHECKING:
    from collections.abc import Callable

    from sparkrex.source import Span


def with_targets(expression: Expression, change: Callable[[Target, Span | None], Target]) -> Expression:
    """The expression with the targets of its references changed, and the semantics of its aggregates alike."""
    match expression:
        case ColumnAt(target):
            return replace(expression, target=change(target, expression.span))
        case Call(operands=operands):
            return replace(expression, operands=tuple(with_targets(part, change) for part in operands))
        case Aggregate():
            target = change(Target(expression.variables, expression.semantics), expression.span)
            return replace(expression, semantics=target.semantics)
        case _:
            return expression
