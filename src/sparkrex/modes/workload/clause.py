"""The normal form of a pattern: clauses, in which nothing is left of SEQ, AND, OR but what holds between two events.

A clause is a set of *items*, the events or arrays of events that a match has, and *links* between pairs of them: one
comes before the other, they are different events, a value of one compares with a value of the other. SEQ(A a, B b, C c)
has three items and a link `before` for each pair; AND(A a, B b) has none. So every part of a clause, whatever its
items, is again a set of items with the links between them, and two parts are the same sub-pattern if their items and
links are.

Labels and keys are values that can be hashed and compared, and all that planners know of them. Items with equal labels
have the same events; links with equal keys say the same. Negated components are not here: they are tested on whole
matches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable

BEFORE, DIFFERENT = ("before",), ("different",)
"""Keys of links that no condition stands for: one event comes before the other, they are two events."""

STRUCTURAL = frozenset({BEFORE, DIFFERENT})
SYMMETRIC = frozenset({DIFFERENT})
"""Keys that say the same in both directions."""


@dataclass(frozen=True, slots=True)
class Item:
    """A positive component: one event, or under a Kleene a non-empty array of events."""

    variable: str
    label: Hashable
    is_kleene: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """What must hold between two items, given by their places in the clause; `key` is read from first to second."""

    first: int
    second: int
    key: Hashable


@dataclass(frozen=True, slots=True)
class Joint:
    """A condition on three items or more, which are read in this order."""

    items: tuple[int, ...]
    key: Hashable


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause of a pattern. `window` is its size in units of its clock, None if there is no bound.

    Clauses of different clocks (time, events counted) have no label in common.
    """

    pattern: str
    items: tuple[Item, ...]
    links: tuple[Link, ...] = ()
    joints: tuple[Joint, ...] = ()
    window: float | None = None
