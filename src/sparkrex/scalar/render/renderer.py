"""Expressions as a host's SQL, from the leaves up, each reference as the caller spells it.

`Renderer` is what hosts share: how calls nest, how AND guards what can fail, literals. What a host writes in its own
way is in the table it is made with: `render_duckdb.DUCKDB`, `render_spark.SPARK`. Nobody else writes or reads SQL of
expressions.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, TypeAlias

from sqlglot.errors import UnsupportedError as SqlglotUnsupported

from sparkrex.errors import UnsupportedError
from sparkrex.scalar.expression import (
    Aggregate,
    Call,
    ClassifierAt,
    ColumnAt,
    Expression,
    Literal,
    MatchNumber,
    MatchStatus,
)
from sparkrex.scalar.forms import PLAIN, call_form
from sparkrex.scalar.guards import can_fail

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sparkrex.scalar.forms import Form
    from sparkrex.scalar.host_syntax import HostSyntax

Leaf: TypeAlias = ColumnAt | ClassifierAt | MatchNumber | MatchStatus | Aggregate


@dataclass(frozen=True, slots=True)
class Renderer:
    """Writes the SQL of one host. `forms` are its own forms of functions and aggregates, by name."""

    host: str
    forms: Mapping[str, Form]
    aggregates: Mapping[str, str]

    def render(self, expression: Expression, leaf: Callable[[Leaf], str]) -> str:
        """SQL of the expression; `leaf` gives the SQL of everything that is read from the match."""
        match expression:
            case Literal(value):
                return render_literal(value)
            case Call("and" | "or") if any(can_fail(operand) for operand in expression.operands[1:]):
                operands = [self.render(operand, leaf) for operand in expression.operands]
                return _render_guarded(expression.function, operands)
            case Call():
                return self.call(expression, [self.render(operand, leaf) for operand in expression.operands])
            case _:
                return leaf(expression)

    def call(self, call: Call, operands: Sequence[str]) -> str:
        """SQL of a call over operands that are SQL."""
        text = self.template(call).format(*operands)
        return text if _is_closed(text) else f"({text})"

    def aggregate(self, node: Aggregate, arguments: Sequence[str]) -> str:
        """SQL of an aggregate's call alone: its filter, order and DISTINCT are the caller's."""
        if node.syntax is not None:
            return self._translate_syntax(node, node.syntax).format(*arguments)
        if node.function == "count" and not arguments:
            return "count(*)"
        return self.aggregates.get(node.function, call_form(node.function, len(arguments))).format(*arguments)

    def template(self, call: Call) -> str:
        """The SQL of a call with `{0}`, `{1}`, ... for its operands."""
        if call.syntax is not None:
            return self._translate_syntax(call, call.syntax)
        if call.to is not None:
            self._translate_syntax(call, call.to)  # the form of a cast asks again, and what is known is kept
        form = self.forms.get(call.function) or PLAIN[call.function]
        return form if isinstance(form, str) else form(call)

    def _translate_syntax(self, node: Call | Aggregate, syntax: HostSyntax) -> str:
        try:
            return syntax.template(self.host)
        except SqlglotUnsupported as error:
            raise UnsupportedError(
                "REX301", f"this cannot be translated to {self.host}", None, node.span, notes=(str(error).strip(),),
                hint="write it with functions that both know",
            ) from error


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


def _render_guarded(function: str, operands: Sequence[str]) -> str:
    """AND and OR whose later operands are evaluated only where the earlier ones leave it open.

    Hosts evaluate both sides of AND and OR for whole batches; of CASE they evaluate the branches taken.
    """
    word, decided = ("AND", "FALSE") if function == "and" else ("OR", "TRUE")
    result = operands[-1]
    for text in reversed(operands[:-1]):
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
