"""count, sum, avg. Sums of whole numbers are exact in int64, beyond it an error; those of doubles are compensated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sparkrex.errors import ExecutionError
from sparkrex.modes.segments.aggregates.contract import Aggregate, Cost, CostClass, longest_of, null_marks, room
from sparkrex.modes.segments.kernels.pivots import NO_PLACES, Partitions, Places, stretches_of
from sparkrex.modes.segments.kernels.real_sums import RealColumn, RealTable, real_counts, real_sum, real_table
from sparkrex.modes.segments.kernels.sums import count_prefix, count_scan, int_sum_prefix, int_sum_scan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.modes.segments.aggregates.contract import Columns, Nulls, Rows, Values

NO_TABLE = RealTable(NO_PLACES, np.empty((0, 0, 2)), np.empty((0, 2), np.int64))
"""For a scan."""
_MASK = np.int64(0xFFFFFFFF)
INDEXED = Cost(CostClass.LINEAR, CostClass.LINEAR, CostClass.CONSTANT)


def counts_before(nulls: NDArray[np.uint8], n_rows: int) -> Rows:
    """For every row, and the end, how many values before it are not NULL."""
    counts = np.zeros(n_rows + 1, np.int64)
    count_prefix(nulls, counts)
    return counts


class Count(Aggregate):
    """Rows whose value is not NULL; without a column, rows."""

    name = "count"
    cost = INDEXED

    def scan_many(
        self, columns: Columns, nulls: Nulls, partitions: Partitions, start: Rows, end: Rows
    ) -> Values:
        """See the protocol."""
        result, is_null = room(len(start), np.int64)
        marks = null_marks(*nulls)
        if len(marks):
            count_scan(marks, start, end, result)
        else:
            result = end - start + 1
        return result, is_null

    def index(self, columns: Columns, nulls: Nulls, partitions: Partitions, longest: int | None) -> Rows | None:
        """See the protocol."""
        return counts_before(null_marks(*nulls), int(partitions.offsets[-1]))

    def lookup(self, index: Rows, start: Rows, end: Rows) -> Values:
        """See the protocol."""
        return index[end + 1] - index[start], np.zeros(len(start), np.bool_)


@dataclass(frozen=True, eq=False, slots=True)
class WholeSums:
    """Prefix sums in int64, and counts of values."""

    sums: Rows
    counts: Rows


@dataclass(frozen=True, eq=False, slots=True)
class WideSums:
    """Sums of whole numbers that may be beyond 64 bits: of their upper and of their lower 32 bits."""

    upper: WholeSums
    lower: WholeSums


@dataclass(frozen=True, eq=False, slots=True)
class RealSums:
    """A table of block sums, and the column itself for the rows at the ends of segments."""

    column: RealColumn
    table: RealTable


class Sum(Aggregate):
    """The sum of the values; NULL without any."""

    name = "sum"
    cost = INDEXED

    def scan_many(
        self, columns: Columns, nulls: Nulls, partitions: Partitions, start: Rows, end: Rows
    ) -> Values:
        """See the protocol."""
        values, marks = columns[0], null_marks(*nulls)
        if values.dtype != np.int64:
            return self._real(RealColumn(values, marks, partitions), NO_TABLE, start, end)
        counts, result = np.empty(len(start), np.int64), np.zeros(len(start), np.int64)
        if not int_sum_scan(values, marks, start, end, result, counts):
            return self._sum_beyond_64_bits(columns, nulls, partitions, start, end)
        return self.of(result, counts), counts == 0

    def index(
        self, columns: Columns, nulls: Nulls, partitions: Partitions, longest: int | None
    ) -> WholeSums | WideSums | RealSums | None:
        """See the protocol. None where a sum could be beyond 64 bits: a scan finds out which."""
        values, marks = columns[0], null_marks(*nulls)
        if values.dtype == np.int64:
            sums = np.zeros(len(values) + 1, np.int64)
            return WholeSums(sums, counts_before(marks, len(values))) if int_sum_prefix(values, marks, sums) else None
        places, n_blocks = Places.of(partitions, longest_of(partitions.offsets, longest))
        stretches = stretches_of(partitions, places)
        block_sums = np.zeros((places.levels + 2 if len(stretches) else 0, n_blocks, 2))
        counts = np.zeros((len(values) + 1, 2), np.int64)
        real_counts(values, marks, counts)
        real_table(values, marks, stretches, block_sums)
        return RealSums(RealColumn(values, marks, partitions), RealTable(places, block_sums, counts))

    def lookup(self, index: WholeSums | WideSums | RealSums, start: Rows, end: Rows) -> Values:
        """See the protocol."""
        if isinstance(index, RealSums):
            return self._real(index.column, index.table, start, end)
        if isinstance(index, WideSums):
            upper, lower = (part.sums[end + 1] - part.sums[start] for part in (index.upper, index.lower))
            counts = index.upper.counts[end + 1] - index.upper.counts[start]
            return self.of(_together(upper, lower), counts), counts == 0
        counts = index.counts[end + 1] - index.counts[start]
        return self.of(index.sums[end + 1] - index.sums[start], counts), counts == 0

    def _real(self, column: RealColumn, table: RealTable, start: Rows, end: Rows) -> Values:
        result, counts = np.empty(len(start)), np.empty(len(start), np.int64)
        real_sum(column, table, start, end, result, counts)
        return self.of(result, counts), counts == 0

    def _sum_beyond_64_bits(
        self, columns: Columns, nulls: Nulls, partitions: Partitions, start: Rows, end: Rows
    ) -> Values:
        """The values of segments, at least one of which has a sum beyond 64 bits."""
        raise ExecutionError("REX405", f"{self.name} of whole numbers is beyond 64 bits", None, None)

    def of(self, sums: NDArray[Any], counts: Rows) -> NDArray[Any]:
        """The value from sum and number of values."""
        return sums


class Avg(Sum):
    """The mean of the values; NULL without any. Sums beyond 64 bits are rounded once: the mean of such is anyway."""

    name = "avg"

    def _sum_beyond_64_bits(
        self, columns: Columns, nulls: Nulls, partitions: Partitions, start: Rows, end: Rows
    ) -> Values:
        sums = []
        for half in _halves(columns[0]):
            counts, result = np.empty(len(start), np.int64), np.zeros(len(start), np.int64)
            int_sum_scan(half, null_marks(*nulls), start, end, result, counts)
            sums.append(result)
        return self.of(_together(*sums), counts), counts == 0

    def index(
        self, columns: Columns, nulls: Nulls, partitions: Partitions, longest: int | None
    ) -> WholeSums | WideSums | RealSums | None:
        """See the protocol."""
        found = super().index(columns, nulls, partitions, longest)
        if found is not None:
            return found
        upper, lower = (super(Avg, self).index((half,), nulls, partitions, longest) for half in _halves(columns[0]))
        assert isinstance(upper, WholeSums)  # too few rows for halves of 32 bits to add up to 64
        assert isinstance(lower, WholeSums)
        return WideSums(upper, lower)

    def of(self, sums: NDArray[Any], counts: Rows) -> NDArray[Any]:
        """See `Sum`."""
        return sums / np.maximum(counts, 1)


def _halves(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    upper, lower = values >> 32, values & _MASK
    upper.flags.writeable = lower.flags.writeable = False  # as columns are
    return upper, lower


def _together(upper: Rows, lower: Rows) -> NDArray[np.float64]:
    """Sums from those of the halves: where 64 bits are enough, the double nearest to the sum."""
    upper, lower = upper + (lower >> 32), lower & _MASK
    is_whole = (upper >= -(1 << 31)) & (upper < 1 << 31)
    whole = (np.where(is_whole, upper, 0) << 32) | lower
    return np.where(is_whole, whole.astype(np.float64), upper * 4294967296.0 + lower)
