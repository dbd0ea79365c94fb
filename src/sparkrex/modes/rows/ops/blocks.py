"""Truth bitmaps of row conditions that are evaluated one block of rows at a time, when the search first needs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.ordered import Columns
from sparkrex.evaluate.bitmaps import evaluate_bitmaps
from sparkrex.modes.rows.kernels.ops import BLOCK_BITS
from sparkrex.scalar.expression import ColumnAt, walk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sparkrex.modes.rows.problem import Problem
    from sparkrex.scalar.expression import Expression
    from sparkrex.scalar.split import Condition

BLOCK_ROWS = 1 << BLOCK_BITS


_MOST_BLOCKS = 64


class BlockBitmaps:
    """The bitmaps of some conditions over a frame; `fill` evaluates a block.

    A condition that is asked for again is evaluated for twice as many blocks as before: an evaluation has a cost of its
    own, and what was needed in some blocks will be in most.
    """

    def __init__(self, conditions: Sequence[Condition], frame: Columns, problem: Problem) -> None:
        self.conditions = conditions
        self.frame = frame
        self.problem = problem
        self.threads = problem.settings.thread_count()
        n_blocks = (frame.n_rows + BLOCK_ROWS - 1) >> BLOCK_BITS
        self.bitmaps = np.empty((len(conditions), frame.n_rows), np.uint8)
        self.is_filled = np.zeros((len(conditions), n_blocks), np.uint8)
        self._n_next = np.ones(len(conditions), np.int64)

    def fill(self, number: int, block: int, step: int = 1) -> None:
        """Evaluate a condition for the rows of a block, and of some that come next in the search's direction."""
        if self.is_filled[number, block]:
            return
        condition = self.conditions[number]
        first_block, last_block = block, block
        for _ in range(int(self._n_next[number]) - 1):
            following = last_block + 1 if step > 0 else first_block - 1
            if not 0 <= following < self.is_filled.shape[1] or self.is_filled[number, following]:
                break
            first_block, last_block = min(first_block, following), max(last_block, following)
        self._n_next[number] = min(2 * self._n_next[number], _MOST_BLOCKS)
        begin = first_block << BLOCK_BITS
        end = min((last_block + 1) << BLOCK_BITS, self.frame.n_rows)
        assert condition.row is not None  # conditions without one have no bitmap
        first, last = _reach(condition.row)
        low, high = max(0, begin + first), min(self.frame.n_rows, end + last)
        problem = self.problem
        _, values = evaluate_bitmaps(
            [condition], self._rows(low, high), problem.evaluator, problem.plan.source, self.threads
        )
        self.bitmaps[number, begin:end] = values[0, begin - low : end - low]
        self.is_filled[number, first_block : last_block + 1] = 1

    def _rows(self, low: int, high: int) -> Columns:
        """The rows of a block with the neighbours that are read; partitions are cut there."""
        frame = self.frame
        if (low, high) == (0, frame.n_rows):
            return frame
        inner = frame.offsets[(frame.offsets > low) & (frame.offsets < high)]
        offsets = np.concatenate(([low], inner, [high])) - low
        if frame.order is None:
            return Columns(frame.table.slice(low, high - low), offsets)
        return Columns(frame.table.take(pa.array(frame.order[low:high])), offsets)


def _reach(expression: Expression) -> tuple[int, int]:
    """From which row, counted from the row under test, to which row a row condition reads."""
    shifts = [node.target.shift for node in walk(expression) if isinstance(node, ColumnAt)]
    return min(0, *shifts, 0), max(0, *shifts, 0)
