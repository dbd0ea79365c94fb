"""Columns and tables of block sums, as the kernels of real sums and of co-moments take them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sparkrex.modes.segments.kernels import co_moments, real_sums
from sparkrex.modes.segments.kernels.co_moments import N_SUMS, Pairs, PairTable
from sparkrex.modes.segments.kernels.pivots import NO_PLACES, Partitions, Places, stretches_of
from sparkrex.modes.segments.kernels.real_sums import RealColumn, RealTable

if TYPE_CHECKING:
    from tests.modes.segments.kernels.columns import Column

_NOTHING = np.empty(0, np.int64)
SCAN = PairTable(NO_PLACES, np.empty((0, 0, N_SUMS)), np.empty((0, 2), np.int64), _NOTHING, _NOTHING)
REAL_SCAN = RealTable(NO_PLACES, np.empty((0, 0, 2)), np.empty((0, 2), np.int64))


def partitions_of(column: Column) -> Partitions:
    return Partitions.whole(column.offsets)


def pairs_of(x: Column, y: Column) -> Pairs:
    """Two columns with the same NULLs, or one twice."""
    return Pairs(x.values, y.values, x.nulls, partitions_of(x))


def pair_table_of(pairs: Pairs) -> PairTable:
    """The table for segments of any length."""
    n_rows = len(pairs.x)
    places, n_blocks = Places.of(pairs.partitions, max(n_rows, 1))
    stretches = stretches_of(pairs.partitions, places)
    sums = np.zeros((places.levels + 2 if len(stretches) else 0, n_blocks, N_SUMS))
    counts = np.zeros((n_rows + 1, 2), np.int64)
    co_moments.pair_counts(pairs.x, pairs.y, pairs.nulls, counts)
    co_moments.pair_table(pairs, stretches, sums)
    x_changes, y_changes = np.empty(n_rows, np.int64), np.empty(n_rows, np.int64)
    co_moments.next_changes(pairs.x, pairs.nulls, pairs.partitions.offsets, x_changes)
    co_moments.next_changes(pairs.y, pairs.nulls, pairs.partitions.offsets, y_changes)
    return PairTable(places, sums, counts, x_changes, y_changes)


def real_table_of(column: RealColumn) -> RealTable:
    """The table for segments of any length."""
    n_rows = len(column.values)
    places, n_blocks = Places.of(column.partitions, max(n_rows, 1))
    stretches = stretches_of(column.partitions, places)
    sums = np.zeros((places.levels + 2 if len(stretches) else 0, n_blocks, 2))
    counts = np.zeros((n_rows + 1, 2), np.int64)
    real_sums.real_counts(column.values, column.nulls, counts)
    real_sums.real_table(column.values, column.nulls, stretches, sums)
    return RealTable(places, sums, counts)
