"""count, sum, avg. Sums of whole numbers are exact in int64, beyond it an error; those of doubles are compensated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sparkrex.errors import ExecutionError
from sparkrex.modes.segments.aggregates.contract import Aggregate, Cost, CostClass, null_marks, room
from sparkrex.modes.segments.kernels.sums import (
    count_prefix,
    count_scan,
    float_sum_lookup,
    float_sum_prefix,
    float_sum_scan,
    int_sum_prefix,
    int_sum_scan,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.modes.segments.aggregates.contract import Columns, Nulls, Rows, Values

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

    def scan_many(self, columns: Columns, nulls: Nulls, start: Rows, end: Rows) -> Values:
        """See the protocol."""
        result, is_null = room(len(start), np.int64)
        marks = null_marks(*nulls)
        if len(marks):
            count_scan(marks, start, end, result)
        else:
            result = end - start + 1
        return result, is_null

    def index(self, columns: Columns, nulls: Nulls, offsets: Rows, longest: int | None) -> Rows | None:
        """See the protocol."""
        return counts_before(null_marks(*nulls), int(offsets[-1]))

    def lookup(self, index: Rows, start: Rows, end: Rows) -> Values:
        """See the protocol."""
        return index[end + 1] - index[start], np.zeros(len(start), np.bool_)


@dataclass(frozen=True, eq=False, slots=True)
class WholeSums:
    """Prefix sums in int64, and counts of values."""

    sums: Rows
    counts: Rows


@dataclass(frozen=True, eq=False, slots=True)
class RealSums:
    """Prefix sums as pairs of doubles, counts, and the column itself for segments whose sum nearly cancels."""

    sums: NDArray[np.float64]
    counts: Rows
    largest: float
    values: NDArray[np.float64]
    nulls: NDArray[np.uint8]


class Sum(Aggregate):
    """The sum of the values; NULL without any."""

    name = "sum"
    cost = INDEXED

    def scan_many(self, columns: Columns, nulls: Nulls, start: Rows, end: Rows) -> Values:
        """See the protocol."""
        values, marks = columns[0], null_marks(*nulls)
        counts = np.empty(len(start), np.int64)
        result = np.zeros(len(start), values.dtype)
        if values.dtype == np.int64:
            if not int_sum_scan(values, marks, start, end, result, counts):
                raise ExecutionError("REX405", f"{self.name} of whole numbers is beyond 64 bits", None, None)
        else:
            float_sum_scan(values, marks, start, end, result, counts)
        return self.of(result, counts), counts == 0

    def index(self, columns: Columns, nulls: Nulls, offsets: Rows, longest: int | None) -> WholeSums | RealSums | None:
        """See the protocol. None where a sum could be beyond 64 bits: a scan finds out which."""
        values, marks = columns[0], null_marks(*nulls)
        if values.dtype == np.int64:
            sums = np.zeros(len(values) + 1, np.int64)
            return WholeSums(sums, counts_before(marks, len(values))) if int_sum_prefix(values, marks, sums) else None
        pairs, counts = np.zeros((len(values) + 1, 2)), np.zeros((len(values) + 1, 3), np.int64)
        largest = float_sum_prefix(values, marks, pairs, counts)
        return RealSums(pairs, counts, largest, values, marks)

    def lookup(self, index: WholeSums | RealSums, start: Rows, end: Rows) -> Values:
        """See the protocol."""
        if isinstance(index, WholeSums):
            counts = index.counts[end + 1] - index.counts[start]
            return self.of(index.sums[end + 1] - index.sums[start], counts), counts == 0
        result, counts = np.empty(len(start)), np.empty(len(start), np.int64)
        float_sum_lookup(
            index.sums, index.counts, index.largest, index.values, index.nulls, start, end, result, counts
        )
        return self.of(result, counts), counts == 0

    def of(self, sums: NDArray[Any], counts: Rows) -> NDArray[Any]:
        """The value from sum and number of values."""
        return sums


class Avg(Sum):
    """The mean of the values; NULL without any. Sums beyond 64 bits are rounded: the mean of such is anyway."""

    name = "avg"

    def scan_many(self, columns: Columns, nulls: Nulls, start: Rows, end: Rows) -> Values:
        """See the protocol."""
        try:
            return super().scan_many(columns, nulls, start, end)
        except ExecutionError:
            return super().scan_many((columns[0].astype(np.float64),), nulls, start, end)

    def index(self, columns: Columns, nulls: Nulls, offsets: Rows, longest: int | None) -> WholeSums | RealSums | None:
        """See the protocol."""
        found = super().index(columns, nulls, offsets, longest)
        return found or super().index((columns[0].astype(np.float64),), nulls, offsets, longest)

    def of(self, sums: NDArray[Any], counts: Rows) -> NDArray[Any]:
        """See `Sum`."""
        return sums / np.maximum(counts, 1)
