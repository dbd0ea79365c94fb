"""Expressions as the host's SQL: templates filled in from the leaves up, each reference as the caller spells it."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias

from sparkrex.ir.guards import can_fail
from sparkrex.ir.scalar import Aggregate, Call, ClassifierAt, ColumnAt, Expression, Literal, MatchNumber

if TYPE_CHECKING:
    from collections.abc import Callable

Leaf: TypeAlias = ColumnAt | ClassifierAt | MatchNumber | Aggregate


def render(expression: Expression, leaf: Callable[[Leaf], str]) -> str:
    """SQL of the expression; `leaf` gives the SQL of everything that is read from the match."""
    match expression:
        case Literal(value):
            return render_literal(value)
        case Call("and" | "or") if any(can_fail(operand) for operand in expression.operands[1:]):
            return _guarded(expression, leaf)
        case Call():
            text = expression.template.format(*(render(operand, leaf) for operand in expression.operands))
            return text if _is_closed(text) else f"({text})"
        case _:
            return leaf(expression)


def _is_closed(text: str) -> bool:
    """Whether the text is one parenthesis or one call, so that no operator around it can tear it apart."""
    opening = text.find("(")
    if opening < 0 or not (opening == 0 or text[:opening].replace("_", "a").isalnum()):
        return False
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and place >= opening:
            return place == len(text) - 1
    return False


def _guarded(expression: Call, leaf: Callable[[Leaf], str]) -> str:
    """AND and OR whose later operands are evaluated only where the earlier ones leave it open.

    Hosts evaluate both sides of AND and OR for whole batches; of CASE they evaluate the branches taken.
    """
    word, decided = ("AND", "FALSE") if expression.function == "and" else ("OR", "TRUE")
    texts = [render(operand, leaf) for operand in expression.operands]
    result = texts[-1]
    for text in reversed(texts[:-1]):
        result = f"(CASE WHEN {text} IS {decided} THEN {decided} ELSE ({text} {word} {result}) END)"
    return result


def render_literal(value: object) -> str:
    """A plain value as SQL."""
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case int():
            return f"({value})" if value < 0 else str(value)
        case Decimal():
            return f"({value:f})" if value < 0 else f"{value:f}"
        case float():
            return f"CAST('{value!r}' AS DOUBLE)"
        case str():
            return "'" + value.replace("'", "''") + "'"
        case _:
            raise TypeError(f"not a literal: {value!r}")


def leaves(expression: Expression) -> list[Leaf]:
    """What the expression reads from the match, each once, left to right."""
    found: dict[Leaf, None] = {}
    pending = [expression]
    while pending:
        node = pending.pop()
        if isinstance(node, Call):
            pending.extend(reversed(node.operands))
        elif not isinstance(node, Literal):
            found[node] = None
    return list(found)


def reads_relation(expression: Expression) -> bool:
    """Whether a window function or subquery occurs outside aggregates."""
    pending = [expression]
    while pending:
        node = pending.pop()
        if isinstance(node, Call):
            if node.reads_relation:
                return True
            pending.extend(node.operands)
    return False
