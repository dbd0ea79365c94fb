"""Row conditions at the ends of frames: what looks before a frame's first row, or behind its last, sees NULL.

A condition that looks so many rows back has as many other values, by how far its row is from the frame's first; the
same for rows ahead where frames end before the partition does. Each of them is a bitmap over all rows: evaluated as the
condition is, with a reference beyond the frame moved so far that no partition has a row there.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sparkrex.evaluate.bitmaps import evaluate_bitmaps
from sparkrex.modes.rows.conditions import least_positions, reach
from sparkrex.scalar.expression import Call, ColumnAt, Expression, walk
from sparkrex.scalar.split import Condition

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from sparkrex.columns.ordered import Columns
    from sparkrex.modes.rows.problem import Problem

_FAR = 1 << 40


@dataclass(frozen=True, slots=True)
class Edge:
    """How many rows from a frame's first, and from its last, a variable's condition differs."""

    back: int
    ahead: int

    def places(self) -> list[tuple[int, int]]:
        """Rows from the first and from the last at which it differs; beyond the width of an edge is one place."""
        return [
            (back, ahead) for back in range(self.back + 1) for ahead in range(self.ahead + 1)
            if back < self.back or ahead < self.ahead
        ]


def find_edges(problem: Problem, conditions: Sequence[Condition], *, is_bounded: bool) -> dict[str, Edge]:
    """The edges of variables whose row conditions have any.

    A variable that has as many rows of the match before it as it looks back never looks out of the frame.
    """
    least = least_positions(problem.program)
    found = {}
    for condition in conditions:
        if condition.row is None:
            continue
        shifts = [node.target.shift for node in walk(condition.row) if isinstance(node, ColumnAt)]
        back = max([0, *(-shift for shift in shifts)])
        if back <= least.get(condition.variable, 0):
            back = 0
        ahead = max([0, *shifts]) if is_bounded else 0
        if back or ahead:
            found[condition.variable] = Edge(back, ahead)
    return found


def reach_before(problem: Problem) -> int:
    """How many rows before a match's first its conditions read."""
    return max(0, reach(problem.plan, least_positions(problem.program))[0])


def evaluate_edges(
    problem: Problem, edges: dict[str, Edge], conditions: Sequence[Condition], frame: Columns
) -> tuple[dict[tuple[str, int, int], int], NDArray[np.uint8]]:
    """All edges as bitmaps: the line of each by variable and place."""
    lines: dict[tuple[str, int, int], int] = {}
    asked: list[Condition] = []
    by_name = {condition.variable: condition for condition in conditions}
    for name, edge in edges.items():
        row = by_name[name].row
        assert row is not None  # else it has no edge
        for back, ahead in edge.places():
            lines[name, back, ahead] = len(asked)
            seen = _seen(row, back if back < edge.back else _FAR, ahead if ahead < edge.ahead else _FAR)
            asked.append(Condition(f"{name} {back} {ahead}", seen, None))
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
