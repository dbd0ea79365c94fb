"""Expressions of event queries as SASE+ text, for EXPLAIN: `price > avg(a[..i-1].price)`."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from sparkrex.modes.events.pattern import Event, Kleene, children
from sparkrex.scalar.expression import Aggregate, Call, ColumnAt, End, Expression, Literal
from sparkrex.scalar.forms import written

if TYPE_CHECKING:
    from sparkrex.modes.events.pattern import EventPattern


def event_text(expression: Expression, arrays: frozenset[str], own: str | None = None) -> str:
    """The text of a condition on an event of the variable `own`, or, without one, of an expression of RETURN.

    `arrays` are the variables that have several events. A column alone is that of the event under test.
    """
    match expression:
        case ColumnAt(target=target, column=column):
            if target.variables is None:
                return column
            return f"{_reference(target.variables, target.end, arrays, own)}.{column}"
        case Aggregate(variables=variables, arguments=arguments):
            events = _reference(variables or frozenset(), None, arrays, own)
            each = [f"{events}.{event_text(argument, arrays, own)}" for argument in arguments]
            return f"{expression.function}({', '.join(each) or events})"
        case Call():
            return written(expression, [event_text(part, arrays, own) for part in expression.operands])
        case Literal(value=Decimal() as value):
            return f"{value:f}"
        case _:
            return str(expression)


def _reference(variables: frozenset[str], end: End | None, arrays: frozenset[str], own: str | None) -> str:
    """An event of a variable, or, without an end, all of them."""
    if len(variables) > 1:
        return "the first event"  # the one place where an event is meant whatever its variable
    name = next(iter(variables), "")
    if end is None:
        return f"{name}[..i-1]" if name == own else f"{name}[]"
    if name not in arrays:
        return name
    if end is End.FIRST:
        return f"{name}[1]"
    return f"{name}[i-1]" if name == own else f"{name}[{name}.LEN]"


def array_variables(pattern: EventPattern) -> frozenset[str]:
    """The variables under a repetition."""
    found: set[str] = set()
    pending = [(pattern, False)]
    while pending:
        node, is_repeated = pending.pop()
        if isinstance(node, Event) and is_repeated:
            found.add(node.variable)
        is_repeated = is_repeated or isinstance(node, Kleene)
        pending += [(child, is_repeated) for child in children(node)]
    return frozenset(found)
