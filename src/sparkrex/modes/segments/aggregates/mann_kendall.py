"""mann_kendall_test: Z with ties and continuity correction; the index by dynamic programming inside the window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sparkrex.modes.segments.aggregates.contract import Aggregate, Cost, CostClass, longest_of, null_marks, room
from sparkrex.modes.segments.aggregates.sums import counts_before
from sparkrex.modes.segments.kernels.trends import mann_kendall_lookup, mann_kendall_scan, mann_kendall_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.modes.segments.aggregates.contract import Columns, Nulls, Rows, Values
    from sparkrex.modes.segments.kernels.pivots import Partitions

LARGEST_TABLE = 1 << 23
"""Entries of a table over all rows; beyond, tables are made of a block of rows at a time, and not kept for long."""
_LARGEST_FOR_32_BITS = 1000
"""Rows for which the weights of ties, below 2 w^3 + 3 w^2, fit into 32 bits; S would up to 65535."""
_LARGEST_WINDOW = 1 << 10
"""Rows of a segment beyond which there are no blocks: they would have fewer rows than that."""


@dataclass(frozen=True, eq=False, slots=True)
class Table:
    """S and the weights of ties for every start row and length; no ties, no second table."""

    statistics: NDArray[Any]
    ties: NDArray[Any]
    counts: Rows

    @classmethod
    def of(cls, values: NDArray[Any], marks: NDArray[np.uint8], offsets: Rows, window: int) -> Table:
        """The table of some rows for segments of up to `window` of them."""
        shape = (len(values), window)
        kind = np.int32 if window <= _LARGEST_FOR_32_BITS else np.int64
        statistics, ties = np.empty(shape, kind), np.empty((0, window), kind)
        if not mann_kendall_table(values, marks, offsets, statistics, ties):
            ties = np.empty(shape, kind)
            mann_kendall_table(values, marks, offsets, statistics, ties)
        return cls(statistics, ties, counts_before(marks, len(values)))

    def lookup(self, start: Rows, end: Rows) -> Values:
        """Z and NULL marks."""
        result, is_null = room(len(start))
        mann_kendall_lookup(self.statistics, self.ties, self.counts, start, end, result, is_null)
        return result, is_null


@dataclass(eq=False)
class Blocks:
    """The table, a block of start rows at a time. Segments mostly come in order: the last block is kept."""

    values: NDArray[Any]
    marks: NDArray[np.uint8]
    offsets: Rows
    window: int
    latest: tuple[int, Table] | None = None

    @property
    def n_rows(self) -> int:
        """Start rows of a block."""
        return max(1, LARGEST_TABLE // (2 * self.window))

    def table(self, block: int) -> Table:
        """The table of a block: of its rows, and of those that its segments reach."""
        if self.latest is None or self.latest[0] != block:
            begin = block * self.n_rows
            stop = min(len(self.values), begin + self.n_rows + self.window - 1)
            inner = self.offsets[(self.offsets > begin) & (self.offsets < stop)]
            offsets = np.concatenate(([begin], inner, [stop])) - begin
            marks = self.marks[begin:stop] if len(self.marks) else self.marks
            self.latest = (block, Table.of(self.values[begin:stop], marks, offsets, self.window))
        return self.latest[1]

    def lookup(self, start: Rows, end: Rows) -> Values:
        """Z and NULL marks."""
        result, is_null = room(len(start))
        blocks = start // self.n_rows
        for block in np.unique(blocks).tolist():
            places = np.flatnonzero(blocks == block)
            begin = block * self.n_rows
            result[places], is_null[places] = self.table(block).lookup(start[places] - begin, end[places] - begin)
        return result, is_null


class MannKendall(Aggregate):
    """Z of the Mann-Kendall trend test; NULL for fewer than two values or if all are equal."""

    name = "mann_kendall_test"
    # Comparing pairs is quadratic; from 40 rows on the scan sorts.
    cost = Cost(CostClass.QUADRATIC, CostClass.QUADRATIC, CostClass.CONSTANT)

    def scan_many(
        self, columns: Columns, nulls: Nulls, partitions: Partitions, start: Rows, end: Rows
    ) -> Values:
        """See the protocol."""
        result, is_null = room(len(start))
        mann_kendall_scan(columns[0], null_marks(*nulls), start, end, result, is_null)
        return result, is_null

    def index(
        self, columns: Columns, nulls: Nulls, partitions: Partitions, longest: int | None
    ) -> Table | Blocks | None:
        """See the protocol. None if not even a table of few rows is worth while."""
        values, marks = columns[0], null_marks(*nulls)
        offsets = partitions.offsets
        window = longest_of(offsets, longest)
        if len(values) * window <= LARGEST_TABLE:
            return Table.of(values, marks, offsets, window)
        return Blocks(values, marks, offsets, window) if window <= _LARGEST_WINDOW else None

    def lookup(self, index: Table | Blocks, start: Rows, end: Rows) -> Values:
        """See the protocol."""
        return index.lookup(start, end)
