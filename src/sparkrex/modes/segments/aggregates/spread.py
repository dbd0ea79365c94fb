"""var and stddev, of the sample (n - 1) and of the population (n), from sums of x and x^2."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.modes.segments.aggregates.contract import Aggregate, null_marks, room
from sparkrex.modes.segments.aggregates.regression import NO_TABLE, PairSums
from sparkrex.modes.segments.aggregates.sums import INDEXED
from sparkrex.modes.segments.kernels.co_moments import Pairs
from sparkrex.modes.segments.kernels.spread import spread

if TYPE_CHECKING:
    from sparkrex.modes.segments.aggregates.contract import Columns, Nulls, Rows, Values
    from sparkrex.modes.segments.kernels.co_moments import PairTable
    from sparkrex.modes.segments.kernels.pivots import Partitions


class Spread(Aggregate):
    """Variance or standard deviation; NULL unless there are more values than the divisor loses."""

    cost = INDEXED

    def __init__(self, name: str, is_sample: bool, is_root: bool) -> None:
        self.name = name
        self.lost = int(is_sample)
        self.is_root = is_root

    def scan_many(
        self, columns: Columns, nulls: Nulls, partitions: Partitions, start: Rows, end: Rows
    ) -> Values:
        """See the protocol."""
        return self._over(Pairs(columns[0], columns[0], null_marks(*nulls), partitions), NO_TABLE, start, end)

    def index(self, columns: Columns, nulls: Nulls, partitions: Partitions, longest: int | None) -> PairSums | None:
        """See the protocol."""
        return PairSums.of(Pairs(columns[0], columns[0], null_marks(*nulls), partitions), longest)

    def lookup(self, index: PairSums, start: Rows, end: Rows) -> Values:
        """See the protocol."""
        return self._over(index.pairs, index.table, start, end)

    def _over(self, pairs: Pairs, table: PairTable, start: Rows, end: Rows) -> Values:
        result, is_null = room(len(start))
        spread(pairs, table, start, end, self.lost, self.is_root, result, is_null)
        return result, is_null
