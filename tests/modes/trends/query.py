"""Trend queries as the tests write and draw them: small trees of their own, which know nothing of the engine."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import date
    from decimal import Decimal

ANY, NEXT, CONTIGUOUS = "skip-till-any-match", "skip-till-next-match", "contiguous"

Number: TypeAlias = "int | float | Decimal"


# Patterns.


def _hash_once(node: Any) -> int:
    """What a pattern is hashed by; the oracle looks patterns up all the time."""
    known: int | None = node.__dict__.get("hash")
    if known is None:
        known = node.__dict__["hash"] = hash((node.__class__, *(getattr(node, one.name) for one in fields(node))))
    return known


@dataclass(frozen=True)
class Leaf:
    """One event of a type, bound to a variable; the text says the variable if it `is_named`."""

    type: str
    variable: str
    is_named: bool = True

    __hash__ = _hash_once


@dataclass(frozen=True)
class Seq:
    """One item after the other."""

    items: tuple[Pattern, ...]

    __hash__ = _hash_once


@dataclass(frozen=True)
class Either:
    """One of several patterns."""

    options: tuple[Pattern, ...]

    __hash__ = _hash_once


@dataclass(frozen=True)
class Repeat:
    """The body from `least` to `most` times (None: no bound)."""

    body: Pattern
    least: int
    most: int | None

    __hash__ = _hash_once


@dataclass(frozen=True)
class Absent:
    """No trend of the body there: an item of a `Seq`."""

    body: Pattern

    __hash__ = _hash_once


Pattern: TypeAlias = Leaf | Seq | Either | Repeat | Absent


def parts(pattern: Pattern) -> tuple[Pattern, ...]:
    """The direct parts."""
    match pattern:
        case Seq(items=found) | Either(options=found):
            return found
        case Repeat(body=body) | Absent(body=body):
            return (body,)
        case Leaf():
            return ()


def nodes(pattern: Pattern) -> Iterator[Pattern]:
    """The pattern and all that is in it, in order of appearance."""
    yield pattern
    for part in parts(pattern):
        yield from nodes(part)


def leaves(pattern: Pattern) -> tuple[Leaf, ...]:
    """All components, those of negated parts too."""
    return tuple(node for node in nodes(pattern) if isinstance(node, Leaf))


def absences(pattern: Pattern) -> tuple[Absent, ...]:
    """The negated parts."""
    return tuple(node for node in nodes(pattern) if isinstance(node, Absent))


def positive_leaves(pattern: Pattern) -> tuple[Leaf, ...]:
    """The components that trends bind."""
    negated = {leaf for absent in absences(pattern) for leaf in leaves(absent)}
    return tuple(leaf for leaf in leaves(pattern) if leaf not in negated)


def allows_empty(pattern: Pattern) -> bool:
    """Whether a trend may have no event of it."""
    match pattern:
        case Seq(items=items):
            return all(map(allows_empty, items))
        case Either(options=options):
            return any(map(allows_empty, options))
        case Repeat(body=body, least=least):
            return least == 0 or allows_empty(body)
        case _:
            return isinstance(pattern, Absent)


# Conditions and aggregates.


@dataclass(frozen=True, slots=True)
class Term:
    """An expression of one event: a column, plus a number; or, without a column, a constant."""

    column: str | None
    plus: Any = 0

    def of(self, row: Mapping[str, Any]) -> Any:
        """Its value, None for NULL."""
        if self.column is None:
            return self.plus
        value = row[self.column]
        return value if value is None or not self.plus else value + self.plus


@dataclass(frozen=True, slots=True)
class Local:
    """A condition on single events of a variable, or of all variables of a type: `name.left operator name.right`.

    The operator is a comparison, or IS NULL or IS NOT NULL, which have no right side.
    """

    name: str
    left: Term
    operator: str
    right: Term | None = None


@dataclass(frozen=True, slots=True)
class Adjacent:
    """A condition on an event and the one directly after it: `before.left operator NEXT(after).right`."""

    before: str
    after: str
    left: Term
    operator: str
    right: Term


Function: TypeAlias = Literal["COUNT", "MIN", "MAX", "SUM", "AVG"]


@dataclass(frozen=True, slots=True)
class Aggregate:
    """COUNT (of trends without a name, of events without an argument), MIN, MAX, SUM or AVG."""

    function: Function
    name: str | None = None
    argument: Term | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """WITHIN size SLIDE slide (None: not said), from the origin on (None: not said).

    Sizes are microseconds for times, events if it `counts_events`, and numbers of the time column otherwise.
    """

    size: Number
    slide: Number | None = None
    origin: Number | date | None = None
    counts_events: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """One trend query; `patterns` are two if they are joined by `&`. Conditions are joined by AND."""

    patterns: tuple[Pattern, ...]
    semantics: str
    returned: tuple[str | Aggregate, ...] = (Aggregate("COUNT"),)
    local: tuple[Local, ...] = ()
    adjacent: tuple[Adjacent, ...] = ()
    equivalent: tuple[str, ...] = ()
    group_by: tuple[str, ...] = ()
    least_length: int = 1
    window: Window | None = None
    time: str = "t"
    tie_break: tuple[str, ...] = ()
    has_strict_ties: bool = True

    def variables_of(self, name: str) -> frozenset[str]:
        """The variables that a name in WHERE or RETURN means.

        A variable that the pattern names, else all positive ones of a type, else its negated ones.
        """
        everything = [leaf for pattern in self.patterns for leaf in leaves(pattern)]
        if any(leaf.is_named and leaf.variable == name for leaf in everything):
            return frozenset({name})
        positive = [leaf for pattern in self.patterns for leaf in positive_leaves(pattern) if leaf.type == name]
        return frozenset(leaf.variable for leaf in positive or everything if leaf.type == name)
