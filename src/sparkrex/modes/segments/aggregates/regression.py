"""linear_reg_r2, linear_reg_r2_signed, linear_reg_slope (Example 2 of the paper, made safe for large offsets)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.modes.segments.aggregates.contract import Aggregate, longest_of, null_marks, room
from sparkrex.modes.segments.aggregates.sums import INDEXED
from sparkrex.modes.segments.kernels.co_moments import N_SUMS, Pairs, PairTable, next_changes, pair_counts, pair_table
from sparkrex.modes.segments.kernels.pivots import NO_PLACES, Places, stretches_of
from sparkrex.modes.segments.kernels.regression import regression

if TYPE_CHECKING:
    from sparkrex.modes.segments.aggregates.contract import Columns, Nulls, Rows, Values
    from sparkrex.modes.segments.kernels.pivots import Partitions

_NO_ROWS = np.empty(0, np.int64)
NO_TABLE = PairTable(NO_PLACES, np.empty((0, 0, N_SUMS)), np.empty((0, 2), np.int64), _NO_ROWS, _NO_ROWS)
"""For a scan."""


@dataclass(frozen=True, eq=False, slots=True)
class PairSums:
    """A table of block sums, and the columns themselves for the rows at the ends of segments."""

    pairs: Pairs
    table: PairTable

    @classmethod
    def of(cls, pairs: Pairs, longest: int | None) -> PairSums:
        """The table for segments of up to `longest` rows."""
        offsets = pairs.partitions.offsets
        places, n_blocks = Places.of(pairs.partitions, longest_of(offsets, longest))
        stretches = stretches_of(pairs.partitions, places)
        sums = np.zeros((places.levels + 2 if len(stretches) else 0, n_blocks, N_SUMS))
        counts = np.zeros((len(pairs.x) + 1, 2), np.int64)
        pair_counts(pairs.x, pairs.y, pairs.nulls, counts)
        pair_table(pairs, stretches, sums)
        x_changes = y_changes = np.empty(len(pairs.x), np.int64)
        next_changes(pairs.x, pairs.nulls, offsets, x_changes)
        if pairs.y is not pairs.x:
            y_changes = np.empty(len(pairs.y), np.int64)
            next_changes(pairs.y, pairs.nulls, offsets, y_changes)
        return cls(pairs, PairTable(places, sums, counts, x_changes, y_changes))


class Regression(Aggregate):
    """A figure of the least-squares line of y over x; rows in which either is NULL are left out."""

    arity = 2
    cost = INDEXED

    def __init__(self, name: str, kind: int) -> None:
        self.name = name
        self.kind = kind

    def scan_many(
        self, columns: Columns, nulls: Nulls, partitions: Partitions, start: Rows, end: Rows
    ) -> Values:
        """See the protocol."""
        x, y = columns
        return self._over(Pairs(x, y, null_marks(*nulls), partitions), NO_TABLE, start, end)

    def index(self, columns: Columns, nulls: Nulls, partitions: Partitions, longest: int | None) -> PairSums | None:
        """See the protocol."""
        x, y = columns
        return PairSums.of(Pairs(x, y, null_marks(*nulls), partitions), longest)

    def lookup(self, index: PairSums, start: Rows, end: Rows) -> Values:
        """See the protocol."""
        return self._over(index.pairs, index.table, start, end)

    def _over(self, pairs: Pairs, table: PairTable, start: Rows, end: Rows) -> Values:
        result, is_null = room(len(start))
        regression(self.kind, pairs, table, start, end, result, is_null)
        return result, is_null
