"""Rule 2 of appendix B: the rows of a union variable, where they are one stretch, become a segment variable.

`A* D+ B* Z` with `SUBSET U = (A, D, B)` becomes `((A* D+ B*) & UU) Z`, and references to U become references to UU. A
variable that is repeated is treated as the union of itself: `D+` becomes `D+ & DD`.

Proof. Let P be the sub-pattern that is wrapped: it holds all of U's variables (or, in an alternation, all of each
option that has any) and no others, outside of any repetition. In a match, P has one segment; every row of it is mapped
to a variable of U, and no other row is. So U's rows are UU's segment, and where an option without U is taken both have
no rows. A condition's reference is RUNNING: the rows mapped up to now. Where all of P comes before the variable whose
condition it is, these are all of U's rows, which is what a reference to UU reads. Any other reference stays.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sparkrex.modes.segments import pattern as sp
from sparkrex.modes.segments.plan import SegmentDefinition
from sparkrex.modes.segments.planner.make_logical import most_of
from sparkrex.modes.segments.rewrite.searches import (
    Mention,
    chain,
    comes_before,
    defining,
    mentions,
    new_name,
    reads_pairs,
    referring_anew,
    variables_of,
    with_pattern,
)
from sparkrex.scalar.expression import Aggregate

if TYPE_CHECKING:
    from sparkrex.modes.segments.pattern import SegmentPattern
    from sparkrex.modes.segments.plan import SegmentSearch
    from sparkrex.modes.segments.rewrite.sizes import Units


class _IsNoStretchError(Exception):
    """The rows are not one stretch in every match."""


def convert_unions(search: SegmentSearch, _: Units) -> SegmentSearch | None:
    """Give a segment variable to the largest union of several variables whose rows are one stretch.

        PATTERN (A B+ Z) SUBSET U = (A, B) DEFINE Z AS count(U.price) > 2
        -> PATTERN (((A B+) & UU) > Z) DEFINE Z AS (final count(price[running last] over UU) > 2), SEGMENT UU AS true
        PATTERN (A C B Z) SUBSET U = (A, B) DEFINE Z AS count(U.price) > 2
        -> stays
    """
    return _convert_unions(search, [names for names in _mentioned_unions(search) if len(names) > 1])


def convert_repeated(search: SegmentSearch, _: Units) -> SegmentSearch | None:
    """Give a segment variable to a repeated variable that somebody refers to.

        PATTERN (A B+ C) DEFINE C AS count(B.price) > 2
        -> PATTERN (A > (B+ & BB) > C) DEFINE C AS (final count(price[running last] over BB) > 2), SEGMENT BB AS true
        PATTERN (A B+ C) DEFINE B AS count(B.price) > 2
        -> stays
    """
    return _convert_unions(search, [names for names in _mentioned_unions(search) if len(names) == 1])


def _mentioned_unions(search: SegmentSearch) -> list[frozenset[str]]:
    found = {mention.variables for mention in mentions(search) if mention.is_of_a_stretch and mention.variables}
    return sorted(found, key=lambda names: (-len(names), sorted(names)))


def _convert_unions(search: SegmentSearch, unions: list[frozenset[str]]) -> SegmentSearch | None:
    points = _points(search.pattern)
    for names in unions:
        if not names <= points or (len(names) == 1 and most_of(search.pattern, min(names)) < 2):
            continue

        def is_meant(mention: Mention) -> bool:
            if mention.by is None:
                return not isinstance(mention.node, Aggregate) or not reads_pairs(mention.node)
            rows = mention.variables or frozenset()
            return mention.is_of_a_stretch and comes_before(search.pattern, rows, mention.by)

        if not any(mention.variables == names and is_meant(mention) for mention in mentions(search)):
            continue
        called = next((one.name for one in search.subsets if one.variables == names), min(names))
        new = new_name(search, called)
        try:
            pattern = _wrap_stretch(search.pattern, names, new)
        except _IsNoStretchError:
            continue
        changed = replace(referring_anew(search, names, new, is_meant), pattern=pattern)
        return defining(changed, SegmentDefinition(new, True, (), None))
    return None


def _points(pattern: SegmentPattern) -> frozenset[str]:
    if isinstance(pattern, sp.PointVariable):
        return frozenset((pattern.name,))
    return frozenset[str]().union(*map(_points, sp.children(pattern)))


def _wrap_stretch(pattern: SegmentPattern, names: frozenset[str], new: str) -> SegmentPattern:
    """The pattern with the stretch of these variables wrapped."""
    if not variables_of(pattern) & names:
        return pattern
    if _has_only(pattern, names):
        return sp.And((pattern, sp.SegmentVariable(new)))
    match pattern:
        case sp.Alternation():
            return with_pattern(pattern, lambda option: _wrap_stretch(option, names, new))
        case sp.And(items) if sum(bool(variables_of(item) & names) for item in items) == 1:
            return with_pattern(pattern, lambda item: _wrap_stretch(item, names, new))
        case sp.Concatenation(items, shares):
            has_some = [bool(variables_of(item) & names) for item in items]
            first, last = has_some.index(True), len(items) - 1 - has_some[::-1].index(True)
            if first == last:
                inner = _wrap_stretch(items[first], names, new)
            else:
                if not all(_has_only(item, names) for item in items[first : last + 1]):
                    raise _IsNoStretchError
                inner = sp.And((chain(items[first : last + 1], shares[first:last]), sp.SegmentVariable(new)))
            return chain((*items[:first], inner, *items[last + 1 :]), shares[:first] + shares[last:])
        case _:
            raise _IsNoStretchError


def _has_only(pattern: SegmentPattern, names: frozenset[str]) -> bool:
    """Whether every row of the pattern's segments is mapped to one of the variables."""
    match pattern:
        case sp.PointVariable(name):
            return name in names
        case sp.And(items):
            return any(_has_only(item, names) for item in items)
        case sp.Not() | sp.SegmentVariable():
            return False
        case _:
            return all(_has_only(part, names) for part in sp.children(pattern))
