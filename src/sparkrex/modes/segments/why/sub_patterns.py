"""The sub-patterns of a segment pattern that mean something by themselves.

Every node is one, and so are neighbouring items of a concatenation, and several items of an And. One whose conditions
refer to a variable outside of it means nothing alone, and what is inside a Not is not looked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from sparkrex.modes.segments.pattern import (
    And,
    Concatenation,
    Not,
    PointVariable,
    SegmentPattern,
    SegmentVariable,
    children,
)
from sparkrex.scalar.expression import Aggregate, ClassifierAt, ColumnAt, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sparkrex.modes.segments.plan import SegmentSearch
    from sparkrex.source import Span

MOST_ITEMS_OF_AND = 6
"""Of a larger And only the items and the whole are looked into."""


@dataclass(frozen=True, slots=True)
class SubPattern:
    """A sub-pattern, and the places of the next smaller ones in it that mean something by themselves."""

    pattern: SegmentPattern
    parts: tuple[int, ...]


def sub_patterns(search: SegmentSearch) -> list[SubPattern]:
    """Each once, smaller ones first; the last one is the whole pattern."""
    found: list[SubPattern] = []
    _add(search.pattern, search, found, {})
    return found


def _add(
    pattern: SegmentPattern, search: SegmentSearch, found: list[SubPattern],
    known: dict[SegmentPattern, tuple[int, ...]],
) -> tuple[int, ...]:
    """Add a sub-pattern behind those in it; the places that stand for it: its own, or of what is in it."""
    if pattern not in known:
        inside = [place for smaller in _smaller(pattern) for place in _add(smaller, search, found, known)]
        parts = tuple(dict.fromkeys(inside))
        if pattern is search.pattern or is_closed(pattern, search):
            found.append(SubPattern(pattern, parts))
            parts = (len(found) - 1,)
        known[pattern] = parts
    return known[pattern]


def _smaller(pattern: SegmentPattern) -> Iterator[SegmentPattern]:
    """The next smaller sub-patterns."""
    match pattern:
        case Concatenation(items=items, shares=shares) if len(items) > 2:
            yield Concatenation(items[:-1], shares[:-1], span=_around(items[:-1]))
            yield Concatenation(items[1:], shares[1:], span=_around(items[1:]))
        case And(items=items) if 2 < len(items) <= MOST_ITEMS_OF_AND:
            for fewer in combinations(items, len(items) - 1):
                yield And(fewer, span=_around(fewer))
        case Not():
            pass  # what must not be there is not missed
        case _:
            yield from children(pattern)


def _around(items: tuple[SegmentPattern, ...]) -> Span | None:
    spans = [item.span for item in items if item.span is not None]
    return None if len(spans) < len(items) else spans[0].to(spans[-1])


def variables_in(pattern: SegmentPattern) -> set[str]:
    """The variables of a pattern."""
    if isinstance(pattern, PointVariable | SegmentVariable):
        return {pattern.name}
    return {name for part in children(pattern) for name in variables_in(part)}


def is_closed(pattern: SegmentPattern, search: SegmentSearch) -> bool:
    """Whether no condition in it refers to a variable outside."""
    inside = variables_in(pattern)
    for definition in search.definitions:
        if definition.variable not in inside or definition.condition is None:
            continue
        for node in walk(definition.condition):
            if isinstance(node, ColumnAt | ClassifierAt):
                names = node.target.variables
            elif isinstance(node, Aggregate):
                names = node.variables
            else:
                continue
            if names is not None and not names <= inside:
                return False
    return True
