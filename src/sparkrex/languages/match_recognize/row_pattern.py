"""The row pattern algebra of SQL:2016, and what T-ReX adds to its syntax (`&` and `~`).

Immutable trees. Equality means *same pattern*: spans do not take part. `str(node)` is SQL pattern text. Names of
variables are canonical here: unquoted ones already folded.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from sparkrex.syntax.nodes import Node


@dataclass(frozen=True, slots=True)
class RowNode(Node):
    """What every node of a row pattern has."""

    def __str__(self) -> str:
        # Imported here because display matches on the classes of this module.
        from sparkrex.languages.match_recognize.display import pattern_text

        return pattern_text(self)  # type: ignore[arg-type]  # RowNode itself is never built


@dataclass(frozen=True, slots=True)
class Variable(RowNode):
    """One row that satisfies the variable's definition."""

    name: str


@dataclass(frozen=True, slots=True)
class Concatenation(RowNode):
    """One pattern after the other; at least two."""

    items: tuple[RowPattern, ...]

    def __post_init__(self) -> None:
        _require(len(self.items) >= 2, "a concatenation has at least two items")


@dataclass(frozen=True, slots=True)
class Alternation(RowNode):
    """One of several patterns, the earlier preferred; at least two."""

    options: tuple[RowPattern, ...]

    def __post_init__(self) -> None:
        _require(len(self.options) >= 2, "an alternation has at least two options")


@dataclass(frozen=True, slots=True)
class Quantified(RowNode):
    """`body` from `minimum` to `maximum` times (None: no bound); greedy prefers more, reluctant prefers fewer."""

    body: RowPattern
    minimum: int
    maximum: int | None
    is_greedy: bool = True

    def __post_init__(self) -> None:
        _require(self.minimum >= 0, "a quantifier's minimum is not negative")
        _require(self.maximum is None or self.maximum >= max(1, self.minimum), "a quantifier allows something")


@dataclass(frozen=True, slots=True)
class Permutation(RowNode):
    """All orders of the items, preferred in lexicographic order of their positions."""

    items: tuple[RowPattern, ...]

    def __post_init__(self) -> None:
        _require(len(self.items) >= 1, "a permutation has items")


@dataclass(frozen=True, slots=True)
class Exclusion(RowNode):
    """Rows that are matched but left out of ALL ROWS PER MATCH."""

    body: RowPattern


class AnchorKind(Enum):
    """Where an anchor holds: before the partition's first row, or after its last."""

    START = "^"
    END = "$"


@dataclass(frozen=True, slots=True)
class Anchor(RowNode):
    """Matches no row, only a place."""

    kind: AnchorKind


@dataclass(frozen=True, slots=True)
class Empty(RowNode):
    """`()`: matches no row, anywhere."""


@dataclass(frozen=True, slots=True)
class Conjunction(RowNode):
    """Rows that all items match (`&`); at least two. Only segment queries have it."""

    items: tuple[RowPattern, ...]

    def __post_init__(self) -> None:
        _require(len(self.items) >= 2, "a conjunction has at least two items")


@dataclass(frozen=True, slots=True)
class Negation(RowNode):
    """Rows that `body` does not match (`~`). Only segment queries have it."""

    body: RowPattern


RowPattern: TypeAlias = (
    Variable | Concatenation | Alternation | Quantified | Permutation | Exclusion | Anchor | Empty
    | Conjunction | Negation
)


def _require(holds: bool, rule: str) -> None:
    if not holds:
        raise ValueError(rule)


def variable(name: str) -> Variable:
    """Short for tests and rules: `variable("A")`."""
    return Variable(name)


def concatenation(*items: RowPattern) -> RowPattern:
    """The items one after the other; one item stands for itself, none is empty."""
    if not items:
        return Empty()
    return items[0] if len(items) == 1 else Concatenation(items)


def alternation(*options: RowPattern) -> RowPattern:
    """One of the options, the earlier preferred."""
    return options[0] if len(options) == 1 else Alternation(options)


def star(body: RowPattern, *, is_greedy: bool = True) -> Quantified:
    """`body*`."""
    return Quantified(body, 0, None, is_greedy)


def plus(body: RowPattern, *, is_greedy: bool = True) -> Quantified:
    """`body+`."""
    return Quantified(body, 1, None, is_greedy)


def optional(body: RowPattern, *, is_greedy: bool = True) -> Quantified:
    """`body?`."""
    return Quantified(body, 0, 1, is_greedy)
