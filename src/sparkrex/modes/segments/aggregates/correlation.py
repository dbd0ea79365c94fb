"""corr: of two segments' columns, paired by position, or of two columns of one segment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.modes.segments.aggregates.contract import Aggregate, null_marks, room
from sparkrex.modes.segments.kernels.correlation import Side, correlation_scan

if TYPE_CHECKING:
    from sparkrex.modes.segments.aggregates.contract import Columns, Nulls, Rows, Values
    from sparkrex.modes.segments.kernels.pivots import Partitions


class Corr(Aggregate):
    """Pearson's coefficient; NULL unless both segments have the same number of rows, two or more, and vary.

    No index: how two segments lie to each other is different for each pair of them.
    """

    name = "corr"
    arity = 2
    n_segments = 2

    def scan_pairs(
        self, columns: Columns, nulls: Nulls, start: Rows, end: Rows, other_start: Rows, other_end: Rows
    ) -> Values:
        """See the protocol."""
        result, is_null = room(len(start))
        one = Side(columns[0], null_marks(nulls[0]), start, end)
        other = Side(columns[1], null_marks(nulls[1]), other_start, other_end)
        correlation_scan(one, other, result, is_null)
        return result, is_null

    def scan_many(
        self, columns: Columns, nulls: Nulls, partitions: Partitions, start: Rows, end: Rows
    ) -> Values:
        """See the protocol: two columns of the same segment."""
        return self.scan_pairs(columns, nulls, start, end, start, end)
