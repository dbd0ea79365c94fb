"""Proofs in one line, in the words of the query: `price > PREV(price)` rather than targets and shifts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.scalar.expression import Aggregate, Call, ColumnAt, Literal, Target
from sparkrex.scalar.forms import written

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sparkrex.scalar.expression import Expression


def write(expression: Expression) -> str:
    """The expression as people write it."""
    match expression:
        case Literal(bool(value)):
            return str(value).upper()
        case Literal(str(text)):
            return "'" + text.replace("'", "''") + "'"
        case ColumnAt(target, column) if target == Target(shift=target.shift):
            if not target.shift:
                return column
            name, distance = ("PREV", -target.shift) if target.shift < 0 else ("NEXT", target.shift)
            return f"{name}({column})" if distance == 1 else f"{name}({column}, {distance})"
        case Call("not", (Call("is_null", (part,), None),), None):
            return f"({write(part)} IS NOT NULL)"
        case Call(operands=operands):
            return written(expression, [write(operand) for operand in operands])
        case Aggregate() | _:
            return str(expression)


def write_all(conditions: Sequence[Expression]) -> str:
    """A conjunction, without the parentheses around it."""
    if len(conditions) == 1:
        return _bare(write(conditions[0]))
    return " AND ".join(_bare(text) if " OR " not in text else text for text in map(write, conditions))


def _bare(text: str) -> str:
    """The text without parentheses around all of it."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for position, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and position < len(text) - 1:
            return text
    return text[1:-1]
