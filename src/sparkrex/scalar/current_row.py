"""In DEFINE, name the current row as such.

While variable A is tested on a row, that row counts as A's last. So `A.x` in A's own definition, and a union variable
that holds A, mean the current row. Saying so lets conditions that look like they depend on the match be seen to depend
on the row alone. The classifier of the current row is A; the row after it is not mapped yet, so its classifier is NULL.
"""

from __future__ import annotations

from dataclasses import replace

from sparkrex.scalar.expression import Call, ClassifierAt, ColumnAt, End, Expression, Literal, Target


def name_current_row(expression: Expression, variable: str) -> Expression:
    """The condition of `variable` with references to the row under test made plain."""
    match expression:
        case ColumnAt(target):
            return replace(expression, target=_plain(target, variable))
        case ClassifierAt(target):
            plain = _plain(target, variable)
            if plain == Target():
                return Literal(variable, span=expression.span)
            if plain.variables is None and plain.end is End.LAST and plain.shift > plain.offset:
                return Literal(None, span=expression.span)
            return replace(expression, target=plain)
        case Call(operands=operands):
            return replace(expression, operands=tuple(name_current_row(part, variable) for part in operands))
        case _:
            return expression


def _plain(target: Target, variable: str) -> Target:
    is_current = target.end is End.LAST and target.offset == 0 and (
        target.variables is None or variable in target.variables
    )
    return Target(shift=target.shift) if is_current else target
