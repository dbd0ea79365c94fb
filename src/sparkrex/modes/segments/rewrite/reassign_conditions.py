"""Rule 3 of appendix B: a conjunct that refers to another segment variable alone is assigned to that variable.

`Z AS mann_kendall_test(UU.temp) >= 3 AND c` becomes `UU AS mann_kendall_test(temp) >= 3`, `Z AS c`. A conjunct that
bounds the growth of the order column becomes a window.

Proof. Guard: every match that has a segment of Z has exactly one of Z and exactly one of X, and likewise every match
that has one of X; no repetition and no Not is around either. Then the conjunct, which reads X's segment only, is tested
once per match, on the same segment, whether it belongs to Z or to X; a match needs it to hold in both cases. Without
the guard Z may be repeated, or be in an option in which X is NULL, or X in one without Z, and the rule does not fire.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

from sparkrex.modes.segments import pattern as sp
from sparkrex.modes.segments.planner.make_logical import conjunction, order_column
from sparkrex.modes.segments.planner.references import variables_read
from sparkrex.modes.segments.rewrite.searches import conjuncts, defining, variables_of
from sparkrex.modes.segments.rewrite.sizes import Units, size
from sparkrex.scalar.expression import Call, ColumnAt, End

if TYPE_CHECKING:
    from sparkrex.modes.segments.pattern import SegmentPattern
    from sparkrex.modes.segments.plan import SegmentDefinition, SegmentSearch
    from sparkrex.scalar.expression import Expression


def reassign_conditions(search: SegmentSearch, units: Units) -> SegmentSearch | None:
    """Move the conjuncts of one variable that read another segment variable alone to that one.

        PATTERN (A S Z) DEFINE SEGMENT S AS true, Z AS last(S.price) > 2 AND price > 1
        -> PATTERN (A S Z) DEFINE SEGMENT S AS (price[S final last] > 2), Z AS (price[Z final last] > 1)
        PATTERN (A S Z) DEFINE SEGMENT S AS true, Z AS last(S.n) - first(S.n) <= 5
        -> PATTERN (A S Z) DEFINE SEGMENT S AS window(n ..5)
        PATTERN (A S Z+) DEFINE SEGMENT S AS true, Z AS count(S.price) > 2
        -> stays
    """
    segments = {one.variable for one in search.definitions if one.is_segment}
    for definition in search.definitions:
        moved: dict[str, list[Expression]] = {}
        kept: list[Expression] = []
        for part in conjuncts(definition.condition):
            goal = _goal(search, part, definition.variable, segments)
            moved.setdefault(goal, []).append(part) if goal is not None else kept.append(part)
        if moved:
            changed = [replace(definition, condition=conjunction(kept))]
            changed += [_with(search, search.definition(goal), parts, units) for goal, parts in moved.items()]
            return defining(search, *changed)
    return None


def _goal(search: SegmentSearch, part: Expression, variable: str, segments: set[str]) -> str | None:
    names = variables_read(part)
    if len(names) != 1 or not names <= segments or variable in names:
        return None
    (goal,) = names
    return goal if _together(search.pattern, variable, goal) <= {(0, 0), (1, 1)} else None


def _together(pattern: SegmentPattern, one: str, other: str) -> set[tuple[int, int]]:
    """How many segments of the two variables a match may have; (2, 2) stands for all that the rule cannot use."""
    match pattern:
        case sp.PointVariable(name) | sp.SegmentVariable(name):
            return {(int(name == one), int(name == other))}
        case sp.Alternation(options):
            return set[tuple[int, int]]().union(*(_together(option, one, other) for option in options))
        case sp.Kleene(body) | sp.Not(body):
            return {(2, 2)} if variables_of(body) & {one, other} else {(0, 0)}
        case _:
            found = {(0, 0)}
            for part in sp.children(pattern):
                inside = _together(part, one, other)
                found = {(min(a + c, 2), min(b + d, 2)) for (a, b), (c, d) in product(found, inside)}
            return found


def _with(
    search: SegmentSearch, definition: SegmentDefinition, parts: list[Expression], units: Units
) -> SegmentDefinition:
    windows = list(definition.windows)
    rest = conjuncts(definition.condition)
    for part in parts:
        window = _window(search, part, units)
        if window is None:
            rest.append(part)
        else:
            windows.append(window)
    return replace(definition, windows=tuple(windows), condition=conjunction(rest))


def _window(search: SegmentSearch, part: Expression, units: Units) -> sp.Window | None:
    """The window that a comparison of the order column's last minus its first value is."""
    match part:
        case Call("le" | "ge" | "between" as comparison, (Call("subtract", (last, first)), *bounds)):
            column = order_column(search)
            if column is None or not (_is_end(last, column, End.LAST) and _is_end(first, column, End.FIRST)):
                return None
            sizes = [size(bound, column, units) for bound in bounds]
            if any(one is None or one < 0 for one in sizes):
                return None
            if comparison == "between":
                return sp.Window(column, sizes[0], sizes[1])
            return sp.Window(column, None, sizes[0]) if comparison == "le" else sp.Window(column, sizes[0], None)
    return None


def _is_end(node: Expression, column: str, end: End) -> bool:
    return (
        isinstance(node, ColumnAt) and node.column == column and node.target.end is end
        and not node.target.offset and not node.target.shift
    )
