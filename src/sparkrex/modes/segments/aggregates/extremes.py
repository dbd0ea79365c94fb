"""min, max and range, from sparse tables; median, by scan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sparkrex.errors import ExecutionError
from sparkrex.modes.segments.aggregates.contract import Aggregate, Cost, CostClass, longest_of, null_marks, room
from sparkrex.modes.segments.aggregates.sums import INDEXED, counts_before
from sparkrex.modes.segments.kernels.extremes import extreme_lookup, extreme_scan, median_scan, sparse_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.modes.segments.aggregates.contract import Columns, Nulls, Rows, Values
    from sparkrex.modes.segments.kernels.pivots import Partitions


@dataclass(frozen=True, eq=False, slots=True)
class SparseTable:
    """The extreme of every power of two of rows."""

    table: NDArray[Any]
    counts: Rows


class Extreme(Aggregate):
    """The smallest or the largest value."""

    cost = INDEXED

    def __init__(self, name: str, is_max: bool) -> None:
        self.name = name
        self.is_max = is_max

    def scan_many(
        self, columns: Columns, nulls: Nulls, partitions: Partitions, start: Rows, end: Rows
    ) -> Values:
        """See the protocol."""
        result, is_null = room(len(start), columns[0].dtype)
        extreme_scan(columns[0], null_marks(*nulls), start, end, self.is_max, result, is_null)
        return result, is_null

    def index(self, columns: Columns, nulls: Nulls, partitions: Partitions, longest: int | None) -> SparseTable | None:
        """See the protocol. Rows times the logarithm of the longest segment."""
        values, marks = columns[0], null_marks(*nulls)
        table = np.empty((longest_of(partitions.offsets, longest).bit_length(), len(values)), values.dtype)
        sparse_table(values, marks, self._neutral(values.dtype), self.is_max, table)
        return SparseTable(table, counts_before(marks, len(values)))

    def lookup(self, index: SparseTable, start: Rows, end: Rows) -> Values:
        """See the protocol."""
        result, is_null = room(len(start), index.table.dtype)
        extreme_lookup(index.table, index.counts, start, end, self.is_max, result, is_null)
        return result, is_null

    def _neutral(self, kind: np.dtype[Any]) -> Any:
        """What never wins: below all for the largest, above all (among doubles that is NaN) for the smallest."""
        if kind == np.int64:
            bounds = np.iinfo(np.int64)
            return np.int64(bounds.min if self.is_max else bounds.max)
        return np.float64(-np.inf if self.is_max else np.nan)


class Range(Aggregate):
    """The largest less the smallest value."""

    name = "range"
    cost = INDEXED
    _ends = (Extreme("max", is_max=True), Extreme("min", is_max=False))

    def scan_many(
        self, columns: Columns, nulls: Nulls, partitions: Partitions, start: Rows, end: Rows
    ) -> Values:
        """See the protocol."""
        (high, is_null), (low, _) = (
            extreme.scan_many(columns, nulls, partitions, start, end) for extreme in self._ends
        )
        return self._find_between(high, low, is_null), is_null

    def index(
        self, columns: Columns, nulls: Nulls, partitions: Partitions, longest: int | None
    ) -> tuple[SparseTable | None, ...] | None:
        """See the protocol."""
        return tuple(extreme.index(columns, nulls, partitions, longest) for extreme in self._ends)

    def lookup(self, index: tuple[SparseTable, SparseTable], start: Rows, end: Rows) -> Values:
        """See the protocol."""
        (high, is_null), (low, _) = (
            extreme.lookup(part, start, end) for extreme, part in zip(self._ends, index, strict=True)
        )
        return self._find_between(high, low, is_null), is_null

    def _find_between(self, high: NDArray[Any], low: NDArray[Any], is_null: NDArray[np.bool_]) -> NDArray[Any]:
        with np.errstate(invalid="ignore"):  # infinity less infinity is NaN
            distance: NDArray[Any] = np.where(is_null, high.dtype.type(0), high - low)
        if high.dtype == np.int64 and (distance < 0).any():
            raise ExecutionError("REX405", "range of whole numbers is beyond 64 bits", None, None)
        return distance


class Median(Aggregate):
    """The middle value, or the mean of the two in the middle."""

    name = "median"
    cost = Cost(CostClass.LINEAR)

    def scan_many(
        self, columns: Columns, nulls: Nulls, partitions: Partitions, start: Rows, end: Rows
    ) -> Values:
        """See the protocol."""
        result, is_null = room(len(start))
        median_scan(columns[0], null_marks(*nulls), start, end, result, is_null)
        return result, is_null
