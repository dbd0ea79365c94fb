"""The conditions of a row pattern, sorted by what decides them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.scalar.expression import ClassifierAt, ColumnAt, End, walk
from sparkrex.scalar.split import Condition, split_condition

if TYPE_CHECKING:
    from sparkrex.modes.rows.plan import MatchRecognize


def split_conditions(plan: MatchRecognize) -> tuple[Condition, ...]:
    """The conditions of all defined variables."""
    return tuple(split_condition(definition.variable, definition.condition) for definition in plan.definitions)


def reach(plan: MatchRecognize) -> tuple[int, int]:
    """How many rows before and behind a row its conditions may read beside those of the match itself."""
    before = behind = 0
    for definition in plan.definitions:
        for node in walk(definition.condition):
            if isinstance(node, ColumnAt | ClassifierAt):
                shift = node.target.shift
                before = max(before, -shift)
                if node.target.end is End.LAST or shift > 0:
                    behind = max(behind, shift - node.target.offset if node.target.end is End.LAST else shift)
    return before, max(0, behind)


def measure_reach(plan: MatchRecognize) -> tuple[int, int]:
    """How many rows before a match's first and behind its last row the measures may read."""
    before = behind = 0
    for measure in plan.measures:
        for node in walk(measure.expression):
            if isinstance(node, ColumnAt | ClassifierAt):
                before = max(before, -node.target.shift)
                reaches = node.target.shift - (node.target.offset if node.target.end is End.LAST else 0)
                behind = max(behind, reaches)
    return before, behind
