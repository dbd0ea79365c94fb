"""The `interpreter` search of windows: plain Python, for conditions that kernels cannot hold."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.columns.arrange import Arrangement
from sparkrex.errors import ExecutionError
from sparkrex.modes.plan import SkipTo
from sparkrex.modes.rows.interpreter import Interpreter, Search
from sparkrex.modes.rows.matcher import Partitions
from sparkrex.modes.windows.edges import evaluate_edges, find_edges
from sparkrex.modes.windows.found import Found
from sparkrex.scalar.guards import can_fail
from sparkrex.scalar.split import Condition, conjunction

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.columns.ordered import Columns
    from sparkrex.modes.rows.problem import Problem


def when_tested(problem: Problem) -> Problem | None:
    """The problem with conditions that can fail evaluated where they are tested; None if there are none."""
    conditions = []
    fails = False
    for condition in problem.conditions:
        fails = fails or any(part is not None and can_fail(part) for part in (condition.row, condition.context))
        if condition.row is not None and can_fail(condition.row):
            parts = [condition.row] if condition.context is None else [condition.row, condition.context]
            conditions.append(Condition(condition.variable, None, conjunction(parts)))
        else:
            conditions.append(condition)
    return replace(problem, conditions=tuple(conditions)) if fails else None


class InterpretedSearch(Interpreter):
    """The interpreter of row patterns, in frames."""

    def search(self, frame: Columns, ends: NDArray[np.int64] | None, *, is_seek: bool) -> Found:
        """See `backtrack`."""
        return _FrameSearch(self, frame, ends, is_seek=is_seek).run_all()


class _FrameSearch(Search):
    def __init__(
        self, interpreter: Interpreter, frame: Columns, ends: NDArray[np.int64] | None, *, is_seek: bool
    ) -> None:
        super().__init__(interpreter, frame, Partitions.whole(frame.offsets))
        problem = self.problem
        self.ends = ends
        self.is_seek = is_seek
        self.edges = find_edges(problem, frame, is_bounded=ends is not None)
        self.lines, self.variants = evaluate_edges(problem, self.edges, frame)
        self.found_rows: list[int] = []
        self.begins_here, self.is_open = True, False
        self.plain = self.bitmaps.copy()

    def run_all(self) -> Found:
        """All partitions."""
        for low, behind in zip(self.frame.offsets[:-1].tolist(), self.frame.offsets[1:].tolist(), strict=True):
            row = low
            while row < behind:
                try:
                    row = self._try(row, behind if self.ends is None else int(self.ends[row]) + 1)
                except ExecutionError as error:
                    error.row = row
                    raise
        return Found(np.array(self.found_rows, np.int64), self.found())

    def _try(self, row: int, high: int) -> int:
        """Search the frame of a row; the next row to try."""
        self.low, self.high, self.limit = row, high, high
        self.arrangement = Arrangement(None, np.array([row, high]), self.frame.n_rows)
        self.known.clear()
        self._see_frame(row, high)
        try:
            for start in range(row, high if self.is_seek else row + 1):
                labels = self.match(start, 1)
                if labels is not None:
                    self.found_rows.append(row)
                    self.matches.append((start, 1, labels))
                    if not labels or self.problem.plan.skip.to is SkipTo.NEXT_ROW:
                        return row + 1
                    return self.rows_after(start, labels)
        finally:
            self.bitmaps[:, row:high] = self.plain[:, row:high]
        return row + 1

    def _see_frame(self, row: int, high: int) -> None:
        """Make bitmaps what conditions are in the frame."""
        for name, edge in self.edges.items():
            bitmap = self.bitmaps[self.numbers[name]]
            for at in {*range(row, min(high, row + edge.back)), *range(max(row, high - edge.ahead), high)}:
                line = self.lines[name][min(at - row, edge.back), min(high - 1 - at, edge.ahead)]
                bitmap[at] = self.variants[line, at]
