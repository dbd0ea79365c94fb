"""Row conditions at the ends of frames: what looks before a frame's first row, or behind its last, sees NULL.

A condition that looks so many rows back has as many other values, by how far its row is from the frame's first; the
same for rows ahead where frames end before the partition does. Each of them is a bitmap over all rows: evaluated as the
condition is, with a reference beyond the frame moved so far that no partition has a row there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.evaluate.bitmaps import evaluate_bitmaps
from sparkrex.modes.rows.conditions import least_positions, reach
from sparkrex.scalar.expression import Call, ColumnAt, Expression, walk
from sparkrex.scalar.split import Condition

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.columns.ordered import Columns
    from sparkrex.modes.rows.problem import Problem

_FAR = 1 << 40


@dataclass(frozen=True, slots=True)
class Edge:
    """How many rows from a frame's first, and from its last, a variable's condition differs."""

    back: int
    ahead: int


def find_edges(problem: Problem, frame: Columns, *, is_bounded: bool) -> dict[str, Edge]:
    """The edges of variables whose row conditions have any; none is wider than a partition.

    A variable that has as many rows of the match before it as it looks back never looks out of the frame.
    """
    least = least_positions(problem.program)
    longest = int(np.diff(frame.offsets).max(initial=0))
    found = {}
    for condition in problem.conditions:
        if condition.row is None:
            continue
        shifts = _shifts(condition.row)
        back = max([0, *(-shift for shift in shifts)])
        if back <= least.get(condition.variable, 0):
            back = 0
        ahead = max([0, *shifts]) if is_bounded else 0
        if back or ahead:
            found[condition.variable] = Edge(min(back, longest), min(ahead, longest))
    return found


def _shifts(expression: Expression) -> list[int]:
    """How far a row condition looks, in order and once each."""
    return sorted({node.target.shift for node in walk(expression) if isinstance(node, ColumnAt)})


def reach_before(problem: Problem) -> int:
    """How many rows before a match's first its conditions read."""
    return max(0, reach(problem.plan, least_positions(problem.program))[0])


def evaluate_edges(
    problem: Problem, edges: dict[str, Edge], frame: Columns
) -> tuple[dict[str, NDArray[np.int32]], NDArray[np.uint8]]:
    """All edges as bitmaps; by variable the line of each, by rows from the frame's first and from its last.

    What is seen changes only at distances that the condition looks: there are no more bitmaps than such distances, or,
    at both ends, pairs of them. Beyond the edges, the last place of all, the line is -1: the condition itself.
    """
    lines: dict[str, NDArray[np.int32]] = {}
    asked: list[Condition] = []
    by_name = {condition.variable: condition for condition in problem.conditions}
    for name, edge in edges.items():
        row = by_name[name].row
        assert row is not None  # else it has no edge
        shifts = _shifts(row)
        backs = np.array([0, *(-shift for shift in reversed(shifts) if shift < 0)])
        aheads = np.array([0, *(shift for shift in shifts if shift > 0)])
        if not edge.back:
            backs = backs[:1]
        if not edge.ahead:
            aheads = aheads[:1]
        line_of = np.full((len(backs), len(aheads)), -1, np.int32)
        for place, back in enumerate(backs.tolist()):
            for other, ahead in enumerate(aheads.tolist()):
                sees_all = place == len(backs) - 1, other == len(aheads) - 1
                if not all(sees_all):
                    line_of[place, other] = len(asked)
                    seen = _seen(row, _FAR if sees_all[0] else back, _FAR if sees_all[1] else ahead)
                    asked.append(Condition(f"{name} {place} {other}", seen, None))
        from_first = np.searchsorted(backs, np.arange(edge.back + 1), side="right") - 1
        from_last = np.searchsorted(aheads, np.arange(edge.ahead + 1), side="right") - 1
        lines[name] = line_of[np.ix_(from_first, from_last)]
    threads = problem.settings.thread_count()
    _, bitmaps = evaluate_bitmaps(asked, frame, problem.evaluator, problem.plan.source, threads)
    return lines, bitmaps


def _seen(expression: Expression, back: int, ahead: int) -> Expression:
    """The condition of a row so many rows from the first and from the last of its frame."""
    match expression:
        case ColumnAt(target) if target.shift < -back:
            return replace(expression, target=replace(target, shift=-_FAR))
        case ColumnAt(target) if target.shift > ahead:
            return replace(expression, target=replace(target, shift=_FAR))
        case Call(operands=operands):
            return replace(expression, operands=tuple(_seen(part, back, ahead) for part in operands))
        case _:
            return expression
