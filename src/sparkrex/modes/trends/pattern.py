"""The pattern algebra of trend aggregates.

Immutable trees over events that follow each other. Equality means *same pattern*: spans do not take part. `str(node)`
is text of the language.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from sparkrex.syntax.nodes import Node

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Event(Node):
    """One event of a type, bound to a variable: `Stock S`. A component without a variable is bound to its type."""

    type: str
    variable: str

    def __str__(self) -> str:
        return self.type if self.variable == self.type else f"{self.type} {self.variable}"


@dataclass(frozen=True, slots=True)
class Sequence(Node):
    """One pattern after the other: `SEQ(...)`."""

    items: tuple[TrendPattern, ...]

    def __post_init__(self) -> None:
        if not self.items:
            raise ValueError("a sequence has items")

    def __str__(self) -> str:
        return f"SEQ({', '.join(map(str, self.items))})"


@dataclass(frozen=True, slots=True)
class AnyOf(Node):
    """One of several patterns; at least two."""

    options: tuple[TrendPattern, ...]

    def __post_init__(self) -> None:
        if len(self.options) < 2:
            raise ValueError("an alternation has at least two options")

    def __str__(self) -> str:
        return f"({' | '.join(map(str, self.options))})"


@dataclass(frozen=True, slots=True)
class Kleene(Node):
    """`body` from `minimum` to `maximum` times (None: no bound): `Stock S+`, `SEQ(A, B)*`."""

    body: TrendPattern
    minimum: int
    maximum: int | None

    def __post_init__(self) -> None:
        if self.minimum < 0 or (self.maximum is not None and self.maximum < max(1, self.minimum)):
            raise ValueError("a quantifier allows something")

    def __str__(self) -> str:
        signs = {(0, None): "*", (1, None): "+", (0, 1): "?"}
        upper = "" if self.maximum is None else self.maximum
        sign = signs.get((self.minimum, self.maximum), f"{{{self.minimum},{upper}}}")
        inner = f"({self.body})" if isinstance(self.body, Kleene) else str(self.body)
        return f"{inner}{sign}"


@dataclass(frozen=True, slots=True)
class Absent(Node):
    """No trend of the body there: `~(Recall r)`, `~SEQ(C c, D d)`. An item of a sequence, not inside another one."""

    body: TrendPattern

    def __str__(self) -> str:
        return f"~({self.body})" if isinstance(self.body, Event) else f"~{self.body}"


TrendPattern: TypeAlias = Event | Sequence | AnyOf | Kleene | Absent


def children(pattern: TrendPattern) -> tuple[TrendPattern, ...]:
    """The direct parts."""
    match pattern:
        case Sequence(items=parts) | AnyOf(options=parts):
            return parts
        case Kleene(body=body) | Absent(body=body):
            return (body,)
        case _:
            return ()


def nodes(pattern: TrendPattern) -> Iterator[TrendPattern]:
    """The pattern and everything under it, in order of appearance."""
    pending = [pattern]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(children(node)))


def events(pattern: TrendPattern) -> Iterator[Event]:
    """All components in order of appearance, those of negated parts too."""
    return (node for node in nodes(pattern) if isinstance(node, Event))


def absences(pattern: TrendPattern) -> tuple[Absent, ...]:
    """The negated parts, in order of appearance."""
    return tuple(node for node in nodes(pattern) if isinstance(node, Absent))


def negated_variables(pattern: TrendPattern) -> frozenset[str]:
    """The variables of negated parts, which no trend binds."""
    return frozenset(event.variable for absent in absences(pattern) for event in events(absent))


def allows_empty(pattern: TrendPattern) -> bool:
    """Whether a trend may have no event of it."""
    match pattern:
        case Sequence(items=items):
            return all(map(allows_empty, items))
        case AnyOf(options=options):
            return any(map(allows_empty, options))
        case Kleene(body=body, minimum=minimum):
            return minimum == 0 or allows_empty(body)
        case _:
            return isinstance(pattern, Absent)
