"""zscore_outlier(x, n): how far a row is from the mean of the n rows that end there, in standard deviations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparkrex.modes.segments.aggregates.contract import Aggregate, Cost, CostClass, null_marks, room
from sparkrex.modes.segments.kernels.outliers import zscores

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sparkrex.modes.segments.aggregates.contract import Columns, Nulls, Rows, SegmentAggregate, Values
    from sparkrex.modes.segments.kernels.pivots import Partitions

_ROWS_AT_ONCE = 1 << 26
"""Rows that are read in a fraction of a second."""


class ZscoreOutlier(Aggregate):
    """For point variables. It reads rows before the segment, so it has an index (a value per row) and no scan."""

    name = "zscore_outlier"
    n_constants = 1
    needs_index = True
    cost = Cost(CostClass.LINEAR, CostClass.LINEAR, CostClass.CONSTANT)

    def __init__(self, size: int = 0) -> None:
        self.size = size

    def bound(self, constants: tuple[Any, ...]) -> SegmentAggregate:
        """See the protocol."""
        (size,) = constants
        if not isinstance(size, int) or size < 1:
            raise ValueError(f"{self.name} looks at a whole number of rows, at least 1, not {size!r}")
        return ZscoreOutlier(size)

    def scan_many(
        self, columns: Columns, nulls: Nulls, partitions: Partitions, start: Rows, end: Rows
    ) -> Values:
        """See the protocol."""
        raise TypeError(f"{self.name} is answered by lookup only")

    def index(
        self, columns: Columns, nulls: Nulls, partitions: Partitions, longest: int | None
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]] | None:
        """See the protocol."""
        result, is_null = room(len(columns[0]))
        # Every row reads `size` rows: some at a time, so that a search can be given up in between.
        size = min(self.size, len(columns[0]) + 1)
        n_at_once = max(1, _ROWS_AT_ONCE // size)
        for begin in range(0, len(columns[0]), n_at_once):
            zscores(columns[0], null_marks(*nulls), partitions.offsets, size, begin, begin + n_at_once, result, is_null)
        return result, is_null

    def lookup(self, index: tuple[NDArray[np.float64], NDArray[np.bool_]], start: Rows, end: Rows) -> Values:
        """See the protocol: the segment's last row, its only one for a point variable."""
        return index[0][end], index[1][end]
