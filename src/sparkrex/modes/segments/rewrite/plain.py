"""Plain queries under ALL MATCHES become segment queries: the rules of appendix B, in the order of its example."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from sparkrex.modes.segments.planner.make_logical import untranslated
from sparkrex.modes.segments.rewrite import (
    decompose_conditions,
    drop_irrelevant,
    factor_alternatives,
    points_to_segments,
    reassign_conditions,
    unions_to_segments,
)
from sparkrex.modes.segments.rewrite.driver import to_fixpoint
from sparkrex.modes.segments.rewrite.searches import search_text

if TYPE_CHECKING:
    from sparkrex.modes.segments.plan import SegmentSearch
    from sparkrex.modes.segments.rewrite.driver import Step
    from sparkrex.modes.segments.rewrite.sizes import Units


def rewrite_plain(search: SegmentSearch, units: Units) -> tuple[SegmentSearch, list[Step]]:
    """The segment search that means the same, and how it came about. Other searches stay as they are.

    If references remain that no segment stands for, the search is still `is_plain`, and no logical plan means the same.
    """
    if not search.is_plain:
        return search, []
    rules = (
        (factor_alternatives.NAME, _factor),
        (unions_to_segments.NAME, unions_to_segments.unions_to_segments),
        (points_to_segments.NAME, points_to_segments.stars_to_segments),
        (points_to_segments.NAME, partial(points_to_segments.pluses_to_segments, units=units)),
        (unions_to_segments.NAME, unions_to_segments.repeated_to_segments),
        (reassign_conditions.NAME, partial(reassign_conditions.reassign_conditions, units=units)),
        (decompose_conditions.NAME, decompose_conditions.decompose_conditions),
        (drop_irrelevant.NAME, drop_irrelevant.drop_irrelevant),
    )
    search, steps = to_fixpoint(search, rules, search_text)
    if next(untranslated(search), None) is None:
        search = replace(search, is_plain=False, subsets=())
    return search, steps


def _factor(search: SegmentSearch) -> SegmentSearch | None:
    pattern = factor_alternatives.factored(search.pattern)
    return None if pattern is search.pattern else replace(search, pattern=pattern)
