"""Rule 1 of appendix B: repeated point variables become segment variables.

On a star. `L x* R` is `L x+ R | L R` once zero repetitions are expanded. If x is always true and nobody refers to it,
both together become `L X R` with `SEGMENT X AS true`, where X shares its last row with R (its first row with L, if
there is no R). Proof: let X be [k, m] with R from m. If m > k, rows k to m - 1 are mapped to x; if m = k, there is no x
and R is next to L. Every way to match either alternative is met once. X then stands on a row that is not x's, hence
nobody may refer to x: guarded. A star of a variable with a condition on time stays: that row would be in its window.

On a plus. `x+` becomes X, all kinds of junctions kept: the same rows. If x is always true, so is X. If its condition is
`col - first(x.col) <= size` and rows ascend by col, X is `window(col, 0, size)`: every row satisfies the condition iff
the last does, being the farthest from the first. (A NULL of col is first or last in the order, so if the ends are not
NULL nothing between them is.) `window(1, null)` of the paper says nothing here, since no segment is empty. References
to x from conditions become references to X where all of x+ comes before (see rule 2), else the rule does not fire; nor
does it if x occurs other than as x+, or in several stretches of one match. As the issue has it, the plus must stand
between always-true unreferenced stars or at the ends of the pattern.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sparkrex.modes.segments import pattern as sp
from sparkrex.modes.segments.plan import SegmentDefinition
from sparkrex.modes.segments.planner.make_logical import order_column
from sparkrex.modes.segments.rewrite.searches import (
    Mention,
    chain,
    comes_before,
    defining,
    is_always_true,
    is_referenced,
    links,
    mentions,
    new_name,
    referring_anew,
    with_pattern,
)
from sparkrex.modes.segments.rewrite.sizes import Units, size
from sparkrex.scalar.expression import Call, ColumnAt, End, Semantics, Target

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sparkrex.modes.segments.pattern import SegmentPattern
    from sparkrex.modes.segments.plan import SegmentSearch


def convert_stars(search: SegmentSearch, _: Units) -> SegmentSearch | None:
    """Turn one variable under a star, always true and never referred to, into a segment variable.

        PATTERN (A* B) DEFINE B AS price > 1
        -> PATTERN (AA B) DEFINE B AS (price[B final last] > 1), SEGMENT AA AS true
        PATTERN (A* B) DEFINE B AS price > last(A.price)
        -> stays
    """
    for definition in search.definitions:
        if definition.is_segment or not is_always_true(definition) or is_referenced(search, definition.variable):
            continue
        name = new_name(search, definition.variable)
        pattern = _without_star(search.pattern, definition.variable, name)
        if pattern is not search.pattern:
            return defining(replace(search, pattern=pattern), SegmentDefinition(name, True, (), None))
    return None


def _without_star(pattern: SegmentPattern, variable: str, name: str) -> SegmentPattern:
    pattern = with_pattern(pattern, lambda part: _without_star(part, variable, name))
    if not isinstance(pattern, sp.Alternation):
        return pattern
    options = list(pattern.options)
    for option in pattern.options:
        found = _with_and_without(option, variable, name)
        if found is not None and option in options and found[1] in options:
            options[options.index(option)] = found[0]
            options.remove(found[1])
    if len(options) == len(pattern.options):
        return pattern
    return options[0] if len(options) == 1 else replace(pattern, options=tuple(dict.fromkeys(options)))


def _with_and_without(
    option: SegmentPattern, variable: str, name: str
) -> tuple[SegmentPattern, SegmentPattern] | None:
    """For an option with x+ in its chain: the chain with X instead, and the chain without either."""
    items, shares = links(option)
    plus = sp.Kleene(sp.PointVariable(variable), 1, None, False)
    if len(items) < 2 or items.count(plus) != 1:
        return None
    place = items.index(plus)
    before, after = shares[:place], shares[place:]
    # How the neighbours meet without x, and how X meets each of them.
    if place == 0:
        if after[0]:
            return None
        new, joint = (True, *after[1:]), after[1:]
    elif place == len(items) - 1:
        if before[-1]:
            return None
        new, joint = (*before[:-1], True), before[:-1]
    else:
        if before[-1] and after[0]:
            return None
        is_shared = before[-1] or after[0]
        new = (*before[:-1], is_shared, True, *after[1:])
        joint = (*before[:-1], is_shared, *after[1:])
    rest = items[:place] + items[place + 1 :]
    with_segment = (*items[:place], sp.SegmentVariable(name), *items[place + 1 :])
    return chain(with_segment, new), chain(rest, joint)


def convert_pluses(search: SegmentSearch, units: Units) -> SegmentSearch | None:
    """Turn one variable under a plus into a segment variable; a bound on the order column becomes its window.

        PATTERN (D+) DEFINE D AS n - first(D.n) <= 5
        -> PATTERN (DD) DEFINE SEGMENT DD AS window(n ..5)
        PATTERN (D+) DEFINE D AS n - first(D.n) < 5
        -> stays
    """
    for definition in search.definitions:
        windows = _windows(search, definition, units)
        places = list(_places(search, search.pattern, definition.variable, (True, True)))
        if windows is None or not places or not all(places) or not _may_be_referred_to(search, definition.variable):
            continue
        variable, name = definition.variable, new_name(search, definition.variable)
        pattern = _without_plus(search.pattern, variable, name)
        changed = referring_anew(search, frozenset((variable,)), name, lambda mention: not mention.is_of_its_own_row)
        return defining(replace(changed, pattern=pattern), SegmentDefinition(name, True, windows, None))
    return None


def _windows(search: SegmentSearch, definition: SegmentDefinition, units: Units) -> tuple[sp.Window, ...] | None:
    """The windows that say the same of a stretch as the condition does of each of its rows, None if none do."""
    if definition.is_segment:
        return None
    if is_always_true(definition):
        return ()
    column = order_column(search)
    match definition.condition:
        case Call("le", (Call("subtract", (ColumnAt(last, subject), ColumnAt(first, other))), limit)):
            own = frozenset((definition.variable,))
            is_growth = (
                subject == other == column
                and last == Target(own, Semantics.FINAL, End.LAST)
                and first == Target(own, Semantics.RUNNING, End.FIRST)
            )
            longest = size(limit, subject, units)
            if is_growth and not definition.windows and longest is not None and longest >= 0:
                return (sp.Window(column, None, longest),)
    return None


def _places(
    search: SegmentSearch, pattern: SegmentPattern, variable: str, free: tuple[bool, bool]
) -> Iterator[bool]:
    """For every occurrence of the variable: whether it is x+ between stars, or ends of the pattern, on both sides."""
    match pattern:
        case sp.PointVariable(name):
            if name == variable:
                yield False
        case sp.Kleene(sp.PointVariable(name), 1, None) if name == variable:
            yield all(free)
        case sp.Concatenation(items):
            for place, item in enumerate(items):
                left = free[0] if place == 0 else _is_star(search, items[place - 1])
                right = free[1] if place == len(items) - 1 else _is_star(search, items[place + 1])
                yield from _places(search, item, variable, (left, right))
        case sp.Alternation() | sp.And():
            for part in sp.children(pattern):
                yield from _places(search, part, variable, free)
        case _:
            for part in sp.children(pattern):
                yield from _places(search, part, variable, (False, False))


def _is_star(search: SegmentSearch, pattern: SegmentPattern) -> bool:
    """Whether this is what the first part of the rule makes of a star."""
    return (
        isinstance(pattern, sp.SegmentVariable)
        and is_always_true(search.definition(pattern.name))
        and not is_referenced(search, pattern.name)
    )


def _may_be_referred_to(search: SegmentSearch, variable: str) -> bool:
    """Whether one stretch of rows is all that references can mean, and all of them can be converted."""

    def is_fine(mention: Mention) -> bool:
        if mention.by == variable:
            return True  # the condition goes away
        if mention.variables != frozenset((variable,)):
            return False
        return mention.by is None or (
            mention.is_of_a_stretch and comes_before(search.pattern, frozenset((variable,)), mention.by)
        )

    referring = [mention for mention in mentions(search) if variable in (mention.variables or ())]
    return _most_stretches(search.pattern, variable) <= 1 and all(map(is_fine, referring))


def _most_stretches(pattern: SegmentPattern, variable: str) -> int:
    match pattern:
        case sp.PointVariable(name):
            return int(name == variable)
        case sp.Kleene(sp.PointVariable(name)):
            return int(name == variable)
        case sp.Alternation(options):
            return max(_most_stretches(option, variable) for option in options)
        case sp.Kleene(body):
            return 2 * _most_stretches(body, variable)
        case _:
            return sum(_most_stretches(part, variable) for part in sp.children(pattern))


def _without_plus(pattern: SegmentPattern, variable: str, name: str) -> SegmentPattern:
    if pattern == sp.Kleene(sp.PointVariable(variable), 1, None, False):
        return sp.SegmentVariable(name)
    return with_pattern(pattern, lambda part: _without_plus(part, variable, name))
