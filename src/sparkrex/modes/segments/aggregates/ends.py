"""first and last: the value in the segment's first or last row, NULL or not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sparkrex.modes.segments.aggregates.contract import Aggregate, Cost, CostClass

if TYPE_CHECKING:
    from sparkrex.modes.segments.aggregates.contract import Columns, Nulls, Rows, Values
    from sparkrex.modes.segments.kernels.pivots import Partitions


class EndValue(Aggregate):
    """The value at one end; needs no index, and is its own."""

    cost = Cost(CostClass.CONSTANT, CostClass.CONSTANT, CostClass.CONSTANT)

    def __init__(self, name: str) -> None:
        self.name = name

    def scan_many(
        self, columns: Columns, nulls: Nulls, partitions: Partitions, start: Rows, end: Rows
    ) -> Values:
        """See the protocol."""
        return self._at_end(columns, nulls, start, end)

    def _at_end(self, columns: Columns, nulls: Nulls, start: Rows, end: Rows) -> Values:
        rows = start if self.name == "first" else end
        marks = nulls[0]
        is_null = np.zeros(len(rows), np.bool_) if marks is None or not len(marks) else marks[rows] != 0
        return columns[0][rows], is_null

    def index(
        self, columns: Columns, nulls: Nulls, partitions: Partitions, longest: int | None
    ) -> tuple[Columns, Nulls] | None:
        """See the protocol."""
        return columns, nulls

    def lookup(self, index: tuple[Columns, Nulls], start: Rows, end: Rows) -> Values:
        """See the protocol."""
        return self._at_end(*index, start, end)
