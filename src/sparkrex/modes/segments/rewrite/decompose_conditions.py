"""Rule 4 of appendix B: a segment variable with several conjuncts becomes an And of variables with one each.

`DD AS c1 AND c2 AND window` becomes `DD_1 & DD_2 & DD_3`, so that the planner may choose which is tested first.

Proof. A segment satisfies a conjunction iff it satisfies every conjunct, NULL counting as not; each conjunct refers
to the new variable where it referred to the old, which is the same segment. Others refer to the first of the new.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sparkrex.modes.segments import pattern as sp
from sparkrex.modes.segments.plan import SegmentDefinition
from sparkrex.modes.segments.planner.references import renamed
from sparkrex.modes.segments.rewrite.searches import conjuncts, defining, with_pattern

if TYPE_CHECKING:
    from sparkrex.modes.segments.pattern import SegmentPattern
    from sparkrex.modes.segments.plan import SegmentSearch
    from sparkrex.modes.segments.rewrite.sizes import Units


def decompose_conditions(search: SegmentSearch, _: Units) -> SegmentSearch | None:
    """Replace one segment variable of several conjuncts by an And of variables with one each.

        PATTERN (A S) DEFINE SEGMENT S AS last(price) > 2 AND window(1, 5)
        -> PATTERN (A (S_1 & S_2)) DEFINE SEGMENT S_1 AS (price[S_1 final last] > 2), SEGMENT S_2 AS window(1..5 rows)
        PATTERN (A S) DEFINE SEGMENT S AS window(1, 5)
        -> stays
    """
    for definition in search.definitions:
        clauses = conjuncts(definition.condition)
        n_clauses = len(clauses) + len(definition.windows)
        if not definition.is_segment or n_clauses < 2:
            continue
        names = _names(search, definition.variable, n_clauses)
        new = [
            SegmentDefinition(name, True, (), renamed(clause, {definition.variable: name}), definition.span)
            for name, clause in zip(names, clauses, strict=False)
        ]
        new += [
            SegmentDefinition(name, True, (window,), None, definition.span)
            for name, window in zip(names[len(clauses) :], definition.windows, strict=True)
        ]
        first = {definition.variable: names[0]}
        return defining(
            replace(
                search,
                pattern=_apart(search.pattern, definition.variable, names),
                definitions=tuple(
                    one if one.condition is None else replace(one, condition=renamed(one.condition, first))
                    for one in search.definitions
                ),
                measures=tuple(
                    replace(measure, expression=renamed(measure.expression, first)) for measure in search.measures
                ),
                measured=tuple(first.get(name, name) for name in search.measured),
            ),
            *new,
        )
    return None


def _names(search: SegmentSearch, variable: str, n_names: int) -> list[str]:
    taken = {definition.variable for definition in search.definitions} | {one.name for one in search.subsets}
    stem = variable
    while any(f"{stem}_{number + 1}" in taken for number in range(n_names)):
        stem += "_"
    return [f"{stem}_{number + 1}" for number in range(n_names)]


def _apart(pattern: SegmentPattern, variable: str, names: list[str]) -> SegmentPattern:
    if isinstance(pattern, sp.SegmentVariable):
        return sp.And(tuple(map(sp.SegmentVariable, names))) if pattern.name == variable else pattern
    changed = with_pattern(pattern, lambda part: _apart(part, variable, names))
    if isinstance(changed, sp.And):
        items = tuple(one for item in changed.items for one in (item.items if isinstance(item, sp.And) else (item,)))
        return replace(changed, items=items)
    return changed
