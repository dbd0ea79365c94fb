"""Factoring: alternatives that begin, or end, with the same item are one chain with a choice in it.

`A X | B X` is `(A | B) X`, whatever the kind of junction, if it is the same in both. Expanding zero repetitions
(`A* X` is `A+ X | X`) leaves such alternatives, and the rules for plain queries look for the chain.

Proof. Concatenation distributes over alternation: [i, j] is matched by A then X or by B then X iff there is a row k
where X starts and what comes before is matched by A or by B. Which variables are bound is the same.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sparkrex.modes.segments import pattern as sp
from sparkrex.modes.segments.rewrite.searches import chain, links, with_pattern

if TYPE_CHECKING:
    from sparkrex.modes.segments.pattern import SegmentPattern
    from sparkrex.modes.segments.plan import SegmentSearch
    from sparkrex.modes.segments.rewrite.sizes import Units


def factor_alternatives(search: SegmentSearch, _: Units) -> SegmentSearch | None:
    """Take common first and last items out of alternatives.

        PATTERN (A B | C B)
        -> PATTERN ((A | C) B)
        PATTERN (A B | A C)
        -> PATTERN (A (B | C))
        PATTERN (A B | C D)
        -> stays
    """
    pattern = factored(search.pattern)
    return None if pattern is search.pattern else replace(search, pattern=pattern)


def factored(pattern: SegmentPattern) -> SegmentPattern:
    """The pattern with common first and last items taken out of alternations; itself, if there are none."""
    pattern = with_pattern(pattern, factored)
    if not isinstance(pattern, sp.Alternation):
        return pattern
    chains = [links(option) for option in pattern.options]
    if any(len(items) < 2 for items, _ in chains):
        return pattern
    if len({(items[-1], shares[-1]) for items, shares in chains}) == 1:
        last, is_shared = chains[0][0][-1], chains[0][1][-1]
        rest = sp.Alternation(tuple(chain(items[:-1], shares[:-1]) for items, shares in chains))
        return sp.Concatenation((factored(rest), last), (is_shared,), span=pattern.span)
    if len({(items[0], shares[0]) for items, shares in chains}) == 1:
        first, is_shared = chains[0][0][0], chains[0][1][0]
        rest = sp.Alternation(tuple(chain(items[1:], shares[1:]) for items, shares in chains))
        return sp.Concatenation((first, factored(rest)), (is_shared,), span=pattern.span)
    return pattern
