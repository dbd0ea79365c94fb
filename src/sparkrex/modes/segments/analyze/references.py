"""Whose segment a reference means: visible from where it stands, one, and never in a circle.

A variable under `~` is bound nowhere but there, so it can be seen from inside the same `~` only. A variable that stands
at two places which one match goes through has two segments, and a reference to it none; in two branches of an
alternation it has at most one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkrex.errors import AnalysisError
from sparkrex.modes.segments import pattern as sp
from sparkrex.scalar.expression import Aggregate, ColumnAt, Expression, references, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sparkrex.modes.segments.pattern import SegmentPattern
    from sparkrex.source import Source, Span


@dataclass(frozen=True, slots=True)
class Reference:
    """A mention of the rows of a variable; only in plain queries may it be of several."""

    variables: frozenset[str]
    span: Span | None

    @property
    def variable(self) -> str:
        """The one variable."""
        (name,) = self.variables
        return name


def references_of(expression: Expression) -> Iterator[Reference]:
    """All mentions of variables in the expression, in order."""
    for node in walk(expression):
        if isinstance(node, ColumnAt) and node.target.variables is not None:
            yield Reference(node.target.variables, node.span)
        elif isinstance(node, Aggregate) and node.variables is not None and not _reads_pairs(node):
            yield Reference(node.variables, node.span)


def _reads_pairs(aggregate: Aggregate) -> bool:
    """Whether the arguments themselves say whose rows they read."""
    return any(part.target.variables for argument in aggregate.arguments for part in references(argument))


def check_visible(pattern: SegmentPattern, reference: Reference, by: str | None, source: Source) -> None:
    """Fail unless variable `by` (None: MEASURES) sees one segment of the variable it refers to."""
    target = reference.variable
    counts = {_from_outside(pattern, target)} if by is None else _from_inside(pattern, target, by)
    if min(counts, default=1) == 0:
        raise AnalysisError(
            "REX220", f"{target} is under ~ and cannot be referred to from outside", source, reference.span,
            hint=f"what ~ excludes has no segment; refer to {target} from inside the same ~",
        )
    if max(counts, default=1) > 1:
        raise AnalysisError(
            "REX220", f"{target} occurs at several places of the pattern, so a reference to it is ambiguous",
            source, reference.span, hint=f"give each place a variable of its own, defined like {target}",
        )


def _from_outside(pattern: SegmentPattern, target: str) -> int:
    """How many segments of the variable one match of the pattern can have, seen from outside."""
    match pattern:
        case sp.PointVariable(name) | sp.SegmentVariable(name):
            return int(name == target)
        case sp.Not():
            return 0
        case sp.Alternation(options):
            return max(_from_outside(option, target) for option in options)
        case _:
            return sum(_from_outside(part, target) for part in sp.children(pattern))


def _from_inside(pattern: SegmentPattern, target: str, by: str) -> set[int]:
    """The same as every place of variable `by` in the pattern sees it."""
    if isinstance(pattern, sp.PointVariable | sp.SegmentVariable):
        return {0} if pattern.name == by else set()
    parts = sp.children(pattern)
    inside = [_from_inside(part, target, by) for part in parts]
    outside = [_from_outside(part, target) for part in parts]
    found: set[int] = set()
    for number, counts in enumerate(inside):
        others = outside[:number] + outside[number + 1 :]
        if isinstance(pattern, sp.Alternation):
            found |= {max(count, *others) for count in counts}
        else:
            found |= {count + sum(others) for count in counts}
    return found


def check_no_circle(refers: Mapping[str, Sequence[Reference]], source: Source) -> None:
    """Fail if conditions refer to each other in a circle: no order of evaluation would do."""
    done: set[str] = set()

    def follow(variable: str, path: list[str]) -> None:
        for reference in refers.get(variable, ()):
            if reference.variable in path:
                circle = [*path[path.index(reference.variable) :], reference.variable]
                raise AnalysisError(
                    "REX219", f"conditions refer to each other in a circle: {' -> '.join(circle)}", source,
                    reference.span, hint="move one of them to the variable that is matched later",
                )
            if reference.variable not in done:
                follow(reference.variable, [*path, reference.variable])
        done.add(variable)

    for variable in refers:
        if variable not in done:
            follow(variable, [variable])


def is_mapped_before(pattern: SegmentPattern, target: str, by: str) -> bool:
    """Whether every match that has rows of both maps the one row of `target` before all rows of `by`.

    Then what the standard calls RUNNING and FINAL are the same to `by`. Asked of patterns without And and Not.
    """
    if _from_outside(pattern, target) != 1 or _is_repeated(pattern, target):
        return False
    return _comes_first(pattern, target, by)


def _is_repeated(pattern: SegmentPattern, target: str) -> bool:
    if isinstance(pattern, sp.Kleene):
        return _from_outside(pattern, target) > 0
    return any(_is_repeated(part, target) for part in sp.children(pattern))


def _comes_first(pattern: SegmentPattern, target: str, by: str) -> bool:
    parts = sp.children(pattern)
    if isinstance(pattern, sp.Concatenation):
        has_target = [_from_outside(part, target) > 0 for part in parts]
        has_by = [_from_outside(part, by) > 0 for part in parts]
        if any(has_target) and any(has_by[: has_target.index(True)]):
            return False
    return all(_comes_first(part, target, by) for part in parts)
