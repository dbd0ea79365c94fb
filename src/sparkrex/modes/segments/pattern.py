"""The segment pattern algebra of T-ReX.

A pattern matches segments [i, j] of a partition's rows, first and last row included. Immutable trees; equality means
*same pattern*: spans do not take part. No node matches an empty segment: repetitions of zero are expanded, and the
junctions of concatenations decided, when a written pattern becomes such a tree (Definition 2.1 of the paper asks for
the neighbours as written, so later flattening or re-association must never decide them again).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from sparkrex.source import Span


@dataclass(frozen=True, slots=True)
class Node:
    """What every pattern node has: its place in the query, if it came from one."""

    span: Span | None = field(default=None, kw_only=True, compare=False, repr=False)

    def __str__(self) -> str:
        from sparkrex.modes.segments.display import segment_pattern_text

        return segment_pattern_text(self)  # type: ignore[arg-type]  # Node itself is never built


@dataclass(frozen=True, slots=True)
class PointVariable(Node):
    """One row, the segment [i, i], that satisfies the variable's condition."""

    name: str


@dataclass(frozen=True, slots=True)
class SegmentVariable(Node):
    """A segment that satisfies the variable's condition."""

    name: str


@dataclass(frozen=True, slots=True)
class Concatenation(Node):
    """One pattern after the other; at least two.

    `shares[k]` says how items k and k + 1 meet: True if the last row of one is the first row of the next, False if they
    are on neighbouring rows.
    """

    items: tuple[SegmentPattern, ...]
    shares: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Alternation(Node):
    """One of several patterns; at least two."""

    options: tuple[SegmentPattern, ...]


@dataclass(frozen=True, slots=True)
class Kleene(Node):
    """`body` from `minimum` (at least 1) to `maximum` (None: no bound) times; `shares` says how iterations meet."""

    body: SegmentPattern
    minimum: int
    maximum: int | None
    shares: bool


@dataclass(frozen=True, slots=True)
class And(Node):
    """A segment that all items match; at least two."""

    items: tuple[SegmentPattern, ...]


@dataclass(frozen=True, slots=True)
class Not(Node):
    """A segment of the partition that the body does not match."""

    body: SegmentPattern


SegmentPattern: TypeAlias = PointVariable | SegmentVariable | Concatenation | Alternation | Kleene | And | Not


@dataclass(frozen=True, slots=True)
class Window:
    """How long a segment may be, both bounds inclusive, None for no bound.

    Without a column the bounds count rows (j - i + 1); with one they bound the column's last value minus its first, in
    the column's own unit: microseconds for timestamps, days for dates, its own numbers otherwise.
    """

    column: str | None
    low: float | None
    high: float | None


def children(pattern: SegmentPattern) -> tuple[SegmentPattern, ...]:
    """The direct parts of a pattern, in order."""
    match pattern:
        case Concatenation(items=items) | And(items=items):
            return items
        case Alternation(options=options):
            return options
        case Kleene(body=body) | Not(body=body):
            return (body,)
        case PointVariable() | SegmentVariable():
            return ()
