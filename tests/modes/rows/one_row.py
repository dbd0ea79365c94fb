"""A matcher of its own, outside the package: patterns of one variable, `PATTERN (A)`, need no search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sparkrex.evaluate.bitmaps import evaluate_bitmaps
from sparkrex.languages.match_recognize.row_pattern import Variable
from sparkrex.matching.matches import Matches
from sparkrex.modes.rows.matcher import Matcher

if TYPE_CHECKING:
    from sparkrex.columns.ordered import Columns
    from sparkrex.modes.rows.matcher import Partitions


class OneRow(Matcher):
    """Every row that meets the condition is a match."""

    name = "one_row"

    @property
    def refusal(self) -> str | None:
        """It takes one variable, whose condition rows alone decide."""
        if not isinstance(self.problem.plan.pattern, Variable):
            return "the pattern is not one variable"
        reads_match = any(condition.context is not None for condition in self.problem.conditions)
        return "the condition reads the match" if reads_match else None

    @property
    def reason(self) -> str:
        """Why it is chosen."""
        return "the pattern is one variable"

    def describe(self) -> list[str]:
        """How it works."""
        return ["every row that holds is a match"]

    def find(self, frame: Columns, partitions: Partitions) -> Matches:
        """Rows near an open end wait for those that NEXT may read."""
        problem = self.problem
        numbers, bitmaps = evaluate_bitmaps(problem.conditions, frame, problem.evaluator, problem.plan.source)
        (name,) = problem.program.variables
        holds = bitmaps[numbers[name]].view(np.bool_) if name in numbers else np.ones(frame.n_rows, np.bool_)
        begin, end = frame.offsets[:-1], frame.offsets[1:]
        known = np.maximum(partitions.start, np.where(partitions.ends, end, end - problem.lookahead))
        place = np.repeat(np.arange(len(begin)), end - begin)
        row = np.arange(frame.n_rows)
        start = np.flatnonzero(holds & (row >= partitions.start[place]) & (row < known[place]))
        found = np.bincount(place[start], minlength=len(begin))
        before = np.cumsum(found) - found
        number = partitions.number[place[start]] + np.arange(len(start)) - before[place[start]]
        partitions.start[:], partitions.number[:] = known, partitions.number + found
        return Matches(start, start + 1, number, np.zeros(len(start), np.int16), np.arange(len(start) + 1))
