"""The logical plan of a segment search: the pattern with its windows embedded, and who refers to whose segments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from sparkrex.modes.segments.pattern import Window
    from sparkrex.scalar.expression import Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Common:
    """What every node has.

    `windows` must all hold for a segment of this node. `needs` are variables matched outside this sub-tree that
    conditions below refer to; `gives` are variables bound below that somebody outside, or MEASURES, refers to.
    """

    windows: tuple[Window, ...] = ()
    needs: frozenset[str] = frozenset()
    gives: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Leaf(Common):
    """A variable, or several that one segment satisfies. Without variables and condition: any segment."""

    variables: tuple[str, ...]
    condition: Expression | None
    is_point: bool


@dataclass(frozen=True, slots=True)
class Concat(Common):
    """Parts one after the other; `shares[k]` says whether parts k and k + 1 share a row."""

    parts: tuple[Logical, ...]
    shares: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Both(Common):
    """All parts match the same segment (And)."""

    parts: tuple[Logical, ...]


@dataclass(frozen=True, slots=True)
class Either(Common):
    """One of the parts matches (Or)."""

    parts: tuple[Logical, ...]


@dataclass(frozen=True, slots=True)
class Repeat(Common):
    """The part from `minimum` to `maximum` times (Kleene)."""

    part: Logical
    minimum: int
    maximum: int | None
    shares: bool


@dataclass(frozen=True, slots=True)
class Neither(Common):
    """The part does not match (Not)."""

    part: Logical


Logical: TypeAlias = Leaf | Concat | Both | Either | Repeat | Neither


def parts(node: Logical) -> tuple[Logical, ...]:
    """The direct parts of a node."""
    match node:
        case Concat(parts=found) | Both(parts=found) | Either(parts=found):
            return found
        case Repeat(part=part) | Neither(part=part):
            return (part,)
        case Leaf():
            return ()
