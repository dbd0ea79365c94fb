"""The conditions of a row pattern, sorted by what decides them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sparkrex.modes.rows.program import Op
from sparkrex.scalar.expression import EACH_ROW, ClassifierAt, ColumnAt, End, aggregates, walk
from sparkrex.scalar.split import Condition, split_condition

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sparkrex.modes.rows.plan import MatchRecognize
    from sparkrex.modes.rows.program import Program
    from sparkrex.scalar.expression import Expression, Target


def split_conditions(plan: MatchRecognize) -> tuple[Condition, ...]:
    """The conditions of all defined variables."""
    return tuple(split_condition(definition.variable, definition.condition) for definition in plan.definitions)


def least_positions(program: Program) -> dict[str, int]:
    """By variable, how many rows of a match stand before any row that is mapped to it."""
    found: dict[str, int] = {}
    seen: set[int] = set()
    level, depth = [program.entry], 0
    while level:
        following: list[int] = []
        while level:
            at = level.pop()
            if at in seen:
                continue
            seen.add(at)
            match program.operation[at]:
                case Op.ACCEPT:
                    pass
                case Op.MATCH:
                    found.setdefault(program.variables[program.variable[at]], depth)
                    following.append(int(program.first[at]))
                case Op.SPLIT:
                    level += [int(program.first[at]), int(program.second[at])]
                case _:
                    level.append(int(program.first[at]))
        level, depth = following, depth + 1
    return found


def reach(plan: MatchRecognize, least: Mapping[str, int]) -> tuple[int, int]:
    """How many rows before and behind those of the match its conditions may read; `least` as in `least_positions`.

    A variable that stands behind other rows of the match reaches less far before it: DOWN of `STRT DOWN+` reads nothing
    there with PREV. What its condition is on rows that it cannot be mapped to, nobody asks.
    """
    before = behind = 0
    for definition in plan.definitions:
        for target in _targets(definition.condition):
            own = least.get(definition.variable, 0) if target == replace(EACH_ROW, shift=target.shift) else 0
            before = max(before, -target.shift - max(own, _least_of(target, least)))
            if target.end is End.LAST or target.shift > 0:
                behind = max(behind, target.shift - target.offset if target.end is End.LAST else target.shift)
        before = max([before, *_shifts_in_aggregates(definition.condition)])
    return before, max(0, behind)


def measured_reach(plan: MatchRecognize, least: Mapping[str, int]) -> int:
    """How many rows before a match's first row the measures may read."""
    before = 0
    for measure in plan.measures:
        for target in _targets(measure.expression):
            before = max(before, -target.shift - _least_of(target, least))
        before = max([before, *_shifts_in_aggregates(measure.expression)])
    return before


def _targets(expression: Expression) -> Iterator[Target]:
    return (node.target for node in walk(expression) if isinstance(node, ColumnAt | ClassifierAt))


def _least_of(target: Target, least: Mapping[str, int]) -> int:
    """The least position in a match of a row that a target shifts from."""
    return 0 if target.variables is None else min((least.get(name, 0) for name in target.variables), default=0)


def _shifts_in_aggregates(expression: Expression) -> Iterator[int]:
    """How far before an aggregated row is read, which may be the match's first."""
    return (-target.shift for aggregate in aggregates(expression) for target in _targets(aggregate))
