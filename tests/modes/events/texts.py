"""Random event queries as SASE+ text, where the language can say them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.modes.events.pattern import AnyOf, Event, Kleene, Sequence, absences, events
from sparkrex.modes.events.plan import Strategy
from sparkrex.scalar.expression import Aggregate, Call, ColumnAt, End, Expression, Literal, Target, walk
from sparkrex.scalar.forms import written
from sparkrex.syntax.units import WindowUnit

if TYPE_CHECKING:
    from collections.abc import Callable

    from sparkrex.modes.events.pattern import EventPattern
    from sparkrex.modes.events.plan import EventQuery

ANY_EVENT = {"Any": "kind IS NOT NULL"}
"""The type that every event of a test is of."""


class CannotSayError(Exception):
    """The language has no words for it, or they would mean something else."""


def text_of(query: EventQuery) -> str:
    """The query, with RETURN EVENTS."""
    pattern = query.pattern
    if any(isinstance(node, Kleene) and isinstance(node.body, Kleene) for node in _nodes(pattern)):
        raise CannotSayError("a Kleene of a Kleene")
    said = [f"[{key.name}]" for key in query.partition_by]
    words = _Words(pattern)
    for role in ("begin", "take", "leave", "absent"):
        for definition in getattr(query, role):
            if role in ("take", "leave") and definition.variable not in words.repeated:
                if role == "leave":
                    raise CannotSayError("of a component that has one event at most nothing is said as an array")
                continue  # never asked
            said += [words.of(conjunct, role, definition.variable) for conjunct in _conjuncts(definition.condition)]
    said = [one for one in said if one]
    names = ", ".join(event.variable for event in events(pattern))
    where = f"WHERE {query.strategy.value}({names}) {{ {' AND '.join(said)} }}" if said else (
        f"WHERE {query.strategy.value}({names})"
    )
    output = "OUTPUT NON-OVERLAPPING" if query.is_non_overlapping else ""
    return f"PATTERN {pattern} {where} {_within(query)} {output} RETURN EVENTS"


def _within(query: EventQuery) -> str:
    window = query.window
    if window is None:
        return ""
    match window.unit:
        case WindowUnit.EVENTS:
            return f"WITHIN {window.size} EVENTS"
        case WindowUnit.TIME:
            return f"WITHIN {window.size} microseconds"
        case WindowUnit.NUMBER:
            return f"WITHIN {window.size}"


def _nodes(pattern: EventPattern) -> list[EventPattern]:
    match pattern:
        case Sequence(items=parts) | AnyOf(options=parts):
            return [pattern, *(node for part in parts for node in _nodes(part))]
        case Kleene(body=body):
            return [pattern, *_nodes(body)]
        case _:
            return [pattern]


def _conjuncts(condition: Expression) -> list[Expression]:
    if isinstance(condition, Call) and condition.function == "and":
        return [part for operand in condition.operands for part in _conjuncts(operand)]
    return [condition]


class _Words:
    """References of one pattern in the words of the language."""

    def __init__(self, pattern: EventPattern) -> None:
        self.negated = {event.variable for event in absences(pattern)}
        self.repeated: set[str] = set()
        self.arrays: set[str] = set()
        for node in _nodes(pattern):
            if isinstance(node, Kleene):
                inside = {event.variable for event in events(node)}
                if node.maximum != 1:
                    self.repeated |= inside
                if node.maximum != 1 or isinstance(node.body, Event):
                    self.arrays |= inside
        items = pattern.items if isinstance(pattern, Sequence) else (pattern,)
        self.item_of = {event.variable: number for number, item in enumerate(items) for event in events(item)}

    def of(self, condition: Expression, role: str, variable: str) -> str:
        """A conjunct of the variable's condition; empty for the test of its type, which PATTERN makes."""
        if isinstance(condition, Call) and condition.operands and _is_type_test(condition):
            return ""
        nodes = list(walk(condition))
        if role != "leave" and not any(isinstance(node, ColumnAt) and node.target == Target() for node in nodes):
            raise CannotSayError("it would be tested elsewhere")
        names = {name for node in nodes if isinstance(node, ColumnAt) for name in node.target.variables or ()}
        names |= {name for node in nodes if isinstance(node, Aggregate) for name in node.variables or ()}
        if len({self.item_of[name] for name in names}) < len(names):
            raise CannotSayError("a conjunct that may speak of two alternatives")
        return self._text(condition, lambda node: self._reference(node, role, variable))

    def _text(self, condition: Expression, reference: Callable[[ColumnAt | Aggregate], str]) -> str:
        match condition:
            case ColumnAt() | Aggregate():
                return reference(condition)
            case Literal(value):
                return repr(value)
            case Call(operands=operands):
                return written(condition, [self._text(operand, reference) for operand in operands])
            case _:
                raise CannotSayError(str(condition))

    def _reference(self, node: ColumnAt | Aggregate, role: str, variable: str) -> str:
        if isinstance(node, Aggregate):
            name = _only(node.variables)
            column = "".join(f".{one.column}" for one in node.arguments if isinstance(one, ColumnAt))
            if name not in self.arrays:
                raise CannotSayError("an aggregate of a single event")
            self._check(name, role, variable)
            index = "[..i-1]" if (name, role) == (variable, "take") else "[]"
            return f"{node.function}({name}{index}{column})"
        if node.target == Target():
            index = {"begin": "[1]", "take": "[i]"}.get(role, "") if variable in self.repeated else ""
            return f"{variable}{index}.{node.column}"
        name = _only(node.target.variables)
        self._check(name, role, variable)
        if name not in self.repeated:
            return f"{name}.{node.column}"
        if node.target.end is End.FIRST:
            return f"{name}[1].{node.column}"
        index = "i-1" if (name, role) == (variable, "take") else f"{name}.LEN"
        return f"{name}[{index}].{node.column}"

    def _check(self, name: str, role: str, variable: str) -> None:
        """Within one item of the sequence the order of events is not that of the text."""
        if name != variable and role != "absent" and self.item_of[name] == self.item_of[variable]:
            raise CannotSayError("a reference inside one item")


def _only(variables: frozenset[str] | None) -> str:
    if variables is None or len(variables) != 1:
        raise CannotSayError("several variables at once")
    return next(iter(variables))


def _is_type_test(condition: Call) -> bool:
    first = condition.operands[0]
    return condition.function == "eq" and isinstance(first, ColumnAt) and first.column == "kind"


def can_be_said(query: EventQuery) -> bool:
    """Whether `text_of` has words for it. Equivalence tests of strict contiguity say a little more than ours do."""
    uses_key = any(
        isinstance(node, ColumnAt) and node.column == "k"
        for definition in query.conditions() for node in walk(definition.condition)
    )
    if query.strategy is Strategy.STRICT and uses_key:
        return False
    try:
        text_of(query)
    except CannotSayError:
        return False
    return True
