"""Rule 5 of appendix B: variables that ask for nothing and that nobody refers to are dropped.

(1) `P & Z` becomes P if Z is a *segment* variable that is always true: any segment satisfies Z. (As printed the rule is
also for point variables; but `P & z` has only the one-row segments of P.)

(2) A pattern `P z` with z an always-true point variable becomes P with one more row after it (`rows_after`). Proof: the
matches of `P z` are the segments [i, j] of P with the row j + 1, which must exist, and which is the match's last. As
printed the rule forgets both: P's segments that end on the partition's last row, and the end that is reported.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sparkrex.modes.segments import pattern as sp
from sparkrex.modes.segments.rewrite.searches import chain, defining, is_always_true, is_referenced, with_pattern

if TYPE_CHECKING:
    from sparkrex.modes.segments.pattern import SegmentPattern
    from sparkrex.modes.segments.plan import SegmentSearch
    from sparkrex.modes.segments.rewrite.sizes import Units


def drop_irrelevant(search: SegmentSearch, _: Units) -> SegmentSearch | None:
    """Drop variables that are always true and never referred to: from an And, or one at the pattern's end.

        PATTERN (A & W) DEFINE SEGMENT A AS last(price) > 2, SEGMENT W AS true
        -> PATTERN (A) DEFINE SEGMENT A AS (price[A final last] > 2)
        PATTERN (A B) DEFINE A AS price > 1
        -> PATTERN (A) DEFINE A AS (price[A final last] > 1), then 1 row(s) more
        PATTERN (A B) DEFINE B AS price > 1
        -> stays
    """
    irrelevant = {
        one.variable for one in search.definitions if is_always_true(one) and not is_referenced(search, one.variable)
    }
    pattern = _without(search.pattern, irrelevant)
    if pattern is not search.pattern:
        return defining(replace(search, pattern=pattern))
    match search.pattern:
        case sp.Concatenation((*items, sp.PointVariable(name)), (*shares, False)) if name in irrelevant:
            shorter = chain(tuple(items), tuple(shares))
            return defining(replace(search, pattern=shorter, rows_after=search.rows_after + 1))
    return None


def _without(pattern: SegmentPattern, irrelevant: set[str]) -> SegmentPattern:
    """The pattern without such segment variables in its Ands."""
    pattern = with_pattern(pattern, lambda part: _without(part, irrelevant))
    if not isinstance(pattern, sp.And):
        return pattern
    kept = tuple(
        item for item in pattern.items if not (isinstance(item, sp.SegmentVariable) and item.name in irrelevant)
    )
    if len(kept) == len(pattern.items):
        return pattern
    kept = kept or pattern.items[:1]
    return kept[0] if len(kept) == 1 else replace(pattern, items=kept)
