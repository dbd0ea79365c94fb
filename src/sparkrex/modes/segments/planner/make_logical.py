"""A segment search becomes a logical tree: one leaf a variable, windows where they prune, references resolved.

A window prunes if it counts rows or bounds the column that the rows ascend by, without NULLs. On any other column it is
a condition: its last value minus its first.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from sparkrex.modes.segments import pattern as sp
from sparkrex.modes.segments.planner.lengths import merged
from sparkrex.modes.segments.planner.logical import Both, Concat, Either, Leaf, Neither, Repeat
from sparkrex.modes.segments.planner.references import (
    NOTHING,
    annotated,
    bound,
    of_others,
    variables_read,
    with_parts,
    without_rows,
)
from sparkrex.scalar.expression import (
    Aggregate,
    Call,
    ColumnAt,
    Difference,
    End,
    Literal,
    Semantics,
    Target,
    aggregates,
    references,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sparkrex.modes.segments.pattern import SegmentPattern, Window
    from sparkrex.modes.segments.plan import SegmentDefinition, SegmentSearch
    from sparkrex.modes.segments.planner.logical import Logical
    from sparkrex.scalar.expression import Expression

ONE_ROW = sp.Window(None, None, 1)


def order_column(search: SegmentSearch) -> str | None:
    """The column whose windows may prune, provided it has no NULLs: the first of ORDER BY, ascending."""
    first = search.order_by[0] if search.order_by else None
    return None if first is None or first.is_descending else first.column


def make_logical(search: SegmentSearch, pruning_column: str | None) -> Logical:
    """The logical tree. `pruning_column` is `order_column(search)`, or None if it has NULLs."""
    tree = _made(search.pattern, search, pruning_column)
    wanted = frozenset(search.measured)
    if search.skip is not None:
        wanted |= search.skip.variables
    return annotated(_settle_references(tree, NOTHING), wanted)


def _made(pattern: SegmentPattern, search: SegmentSearch, pruning_column: str | None) -> Logical:
    def made(part: SegmentPattern) -> Logical:
        return _made(part, search, pruning_column)

    match pattern:
        case sp.PointVariable(name):
            return _leaf(search.definition(name), pruning_column, is_point=True)
        case sp.SegmentVariable(name):
            return _leaf(search.definition(name), pruning_column, is_point=False)
        case sp.Concatenation(items, shares):
            return Concat(tuple(map(made, items)), shares)
        case sp.Alternation(options):
            return Either(tuple(map(made, options)))
        case sp.And(items):
            return Both(tuple(map(made, items)))
        case sp.Kleene(body, minimum, maximum, shares):
            return Repeat(made(body), minimum, maximum, shares)
        case sp.Not(body):
            return Neither(made(body))
        case _:
            assert_never(pattern)


def _leaf(definition: SegmentDefinition, pruning_column: str | None, *, is_point: bool) -> Leaf:
    windows = [ONE_ROW] if is_point else []
    conditions: list[Expression] = []
    for window in definition.windows:
        if window.column is None or window.column == pruning_column:
            windows.append(window)
        else:
            conditions += _as_conditions(window, definition.variable)
    condition = definition.condition
    if condition is not None and not (isinstance(condition, Literal) and condition.value is True):
        conditions.append(condition)
    return Leaf((definition.variable,), conjunction(conditions), is_point, windows=merged(*windows))


def _as_conditions(window: Window, variable: str) -> list[Expression]:
    last, first = (
        ColumnAt(Target(frozenset((variable,)), Semantics.FINAL, end), window.column or "")
        for end in (End.LAST, End.FIRST)
    )
    length = Call("subtract", (last, first), difference=Difference.NUMBER)
    tests: list[Expression] = []
    if window.low is not None:
        tests.append(Call("ge", (length, Literal(window.low))))
    if window.high is not None:
        tests.append(Call("le", (length, Literal(window.high))))
    return tests


def conjunction(conditions: list[Expression]) -> Expression | None:
    """All of them together; None if there are none."""
    if len(conditions) < 2:
        return conditions[0] if conditions else None
    return Call("and", tuple(conditions))


def _settle_references(node: Logical, visible: frozenset[str]) -> Logical:
    """References to variables of other options become NULL: the branch is not taken where this one is.

    `visible` are the variables bound outside of the node in the same match.
    """
    match node:
        case Leaf(variables=variables, condition=condition):
            absent = variables_read(condition) - visible - frozenset(variables)
            return node if condition is None or not absent else replace(node, condition=without_rows(condition, absent))
        case Concat(parts=inside) | Both(parts=inside):
            names = of_others([bound(part) for part in inside])
            pairs = zip(inside, names, strict=True)
            return replace(node, parts=tuple(_settle_references(part, visible | others) for part, others in pairs))
        case _:
            return with_parts(node, lambda part: _settle_references(part, visible))


def untranslated(search: SegmentSearch) -> Iterator[ColumnAt | Aggregate]:
    """References of a plain query that no segment stands for.

    A segment has one variable and is seen as a whole; a plain query may refer to the rows mapped so far, to several
    variables, in several iterations.
    """
    if not search.is_plain:
        return
    for definition in search.definitions:
        for variables, semantics, node in _mentions(definition.condition):
            if variables is None or len(variables) > 1 or semantics is not Semantics.FINAL:
                yield node
    for measure in search.measures:
        for variables, _, node in _mentions(measure.expression):
            if variables is not None and (len(variables) > 1 or most_of(search.pattern, min(variables)) > 1):
                yield node


def _mentions(
    expression: Expression | None,
) -> Iterator[tuple[frozenset[str] | None, Semantics, ColumnAt | Aggregate]]:
    """Whose rows an expression reads, and how; what stands inside aggregates reads the aggregated row."""
    if expression is None:
        return
    for node in references(expression):
        if isinstance(node, ColumnAt):
            yield node.target.variables, node.target.semantics, node
    for aggregate in aggregates(expression):
        yield aggregate.variables, aggregate.semantics, aggregate


def most_of(pattern: SegmentPattern, name: str) -> int:
    """How many rows or segments of the variable a match may have; 2 stands for all above 1."""
    match pattern:
        case sp.PointVariable(found) | sp.SegmentVariable(found):
            return int(found == name)
        case sp.Alternation(options):
            return max(most_of(option, name) for option in options)
        case sp.Kleene(body):
            return 2 * most_of(body, name)
        case _:
            return sum(most_of(part, name) for part in sp.children(pattern))
