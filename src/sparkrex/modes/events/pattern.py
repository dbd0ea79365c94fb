"""The event pattern algebra of SASE+.

Immutable trees over events that follow each other, not necessarily as neighbours. Equality means *same pattern*: spans
do not take part. `str(node)` is SASE+ text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from sparkrex.syntax.nodes import Node

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Event(Node):
    """One event of a type, bound to a variable: `Alert a`. Under a Kleene it is an array, and written `b[]`."""

    type: str
    variable: str

    def __str__(self) -> str:
        return f"{self.type} {self.variable}"


@dataclass(frozen=True, slots=True)
class Sequence(Node):
    """One pattern after the other: `SEQ(...)`."""

    items: tuple[EventPattern, ...]

    def __post_init__(self) -> None:
        if not self.items:
            raise ValueError("a sequence has items")

    def __str__(self) -> str:
        return f"SEQ({', '.join(map(str, self.items))})"


@dataclass(frozen=True, slots=True)
class AllOf(Node):
    """All of several patterns, in any order: `AND(...)`. Their events may come between each other."""

    items: tuple[EventPattern, ...]

    def __post_init__(self) -> None:
        if not self.items:
            raise ValueError("a conjunction has items")

    def __str__(self) -> str:
        return f"AND({', '.join(map(str, self.items))})"


@dataclass(frozen=True, slots=True)
class AnyOf(Node):
    """One of several patterns; at least two."""

    options: tuple[EventPattern, ...]

    def __post_init__(self) -> None:
        if len(self.options) < 2:
            raise ValueError("an alternation has at least two options")

    def __str__(self) -> str:
        return f"({' | '.join(map(str, self.options))})"


@dataclass(frozen=True, slots=True)
class Kleene(Node):
    """`body` from `minimum` to `maximum` times (None: no bound): `Shipment+ b[]`, `SEQ(A a[], B b[])*`."""

    body: EventPattern
    minimum: int
    maximum: int | None

    def __post_init__(self) -> None:
        if self.minimum < 0 or (self.maximum is not None and self.maximum < max(1, self.minimum)):
            raise ValueError("a quantifier allows something")

    def __str__(self) -> str:
        signs = {(0, None): "*", (1, None): "+", (0, 1): "?"}
        upper = "" if self.maximum is None else self.maximum
        sign = signs.get((self.minimum, self.maximum), f"{{{self.minimum},{upper}}}")
        if isinstance(self.body, Event):
            return f"{self.body.type}{sign} {self.body.variable}[]"
        return f"{self.body}{sign}"


@dataclass(frozen=True, slots=True)
class Absent(Node):
    """No such event: `~(Recall r)`. Only an item of the outermost SEQ or AND."""

    event: Event

    def __str__(self) -> str:
        return f"~({self.event})"


EventPattern: TypeAlias = Event | Sequence | AllOf | AnyOf | Kleene | Absent


def children(pattern: EventPattern) -> tuple[EventPattern, ...]:
    """The direct parts."""
    match pattern:
        case Sequence(items=parts) | AllOf(items=parts) | AnyOf(options=parts):
            return parts
        case Kleene(body=body):
            return (body,)
        case Absent(event=event):
            return (event,)
        case _:
            return ()


def events(pattern: EventPattern) -> Iterator[Event]:
    """All components in order of appearance, the negated ones too."""
    pending = [pattern]
    while pending:
        node = pending.pop()
        if isinstance(node, Event):
            yield node
        pending.extend(reversed(children(node)))


def positive_variables(pattern: EventPattern) -> tuple[str, ...]:
    """The variables that a match binds, in order of appearance."""
    negated = {event.variable for event in absences(pattern)}
    return tuple(event.variable for event in events(pattern) if event.variable not in negated)


def absences(pattern: EventPattern) -> tuple[Event, ...]:
    """The negated components, in order of appearance."""
    items = pattern.items if isinstance(pattern, Sequence | AllOf) else (pattern,)
    return tuple(item.event for item in items if isinstance(item, Absent))


def has_any_order(pattern: EventPattern) -> bool:
    """Whether AND is anywhere in it."""
    return isinstance(pattern, AllOf) or any(map(has_any_order, children(pattern)))


def around_absences(pattern: EventPattern) -> list[tuple[list[EventPattern], list[EventPattern]]]:
    """For every negated component of a sequence the other items before it and after it. In AND there is no such place:
    it is negated between the first and the last event of a match."""
    if not isinstance(pattern, Sequence):
        return []
    places = [place for place, item in enumerate(pattern.items) if isinstance(item, Absent)]
    return [
        (
            [item for item in pattern.items[:place] if not isinstance(item, Absent)],
            [item for item in pattern.items[place:] if not isinstance(item, Absent)],
        )
        for place in places
    ]


def allows_empty(pattern: EventPattern) -> bool:
    """Whether a match may have no event of it."""
    match pattern:
        case Sequence(items=items) | AllOf(items=items):
            return all(map(allows_empty, items))
        case AnyOf(options=options):
            return any(map(allows_empty, options))
        case Kleene(body=body, minimum=minimum):
            return minimum == 0 or allows_empty(body)
        case _:
            return isinstance(pattern, Absent)
