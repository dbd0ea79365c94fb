"""Sums of doubles over segments, by scan and from a table: against exact fractions, and the same double either way."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from tests.modes.segments.kernels.columns import KINDS, Column, check_equal, drawn, drawn_long
from tests.modes.segments.kernels.tables import REAL_SCAN, partitions_of, real_table_of

from sparkrex.modes.segments.kernels.pivots import Partitions
from sparkrex.modes.segments.kernels.real_sums import RealColumn, RealTable, real_counts, real_sum


def exact_sum(values: list[float]) -> float:
    """Rounded once; of infinities and NaN as additions give it."""
    if all(map(math.isfinite, values)):
        return float(sum(map(Fraction, values), Fraction(0)))
    has_both = math.inf in values and -math.inf in values
    return math.nan if has_both else math.fsum(value for value in values if not math.isfinite(value))


def real(column: Column) -> RealColumn:
    return RealColumn(column.values.astype(np.float64), column.nulls, partitions_of(column))


def summed(given: RealColumn, table: RealTable, column: Column) -> tuple[list[float], list[int]]:
    result, n_values = np.full(column.n_segments, -99.0), np.full(column.n_segments, -99)
    real_sum(given, table, column.start, column.end, result, n_values)
    return result.tolist(), n_values.tolist()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", KINDS)
def test_sums(kind: str, seed: int) -> None:
    columns = [drawn(kind, seed)]
    if kind not in ("empty", "one row"):
        columns.append(drawn_long(kind, seed))
    for column in columns:
        given = real(column)
        expected = [exact_sum([float(value) for value in column.of(k)]) for k in range(column.n_segments)]
        by_scan, from_table = (summed(given, table, column) for table in (REAL_SCAN, real_table_of(given)))
        check_equal(by_scan[0], expected, 1e-14)
        assert by_scan[1] == [len(column.of(k)) for k in range(column.n_segments)]
        np.testing.assert_array_equal(by_scan[0], from_table[0])
        assert by_scan[1] == from_table[1]


@pytest.mark.parametrize("seed", range(4))
def test_a_part_of_a_partition_gives_the_same_doubles(seed: int) -> None:
    values = np.random.default_rng(seed).normal(size=60) * 10.0 ** np.random.default_rng(seed).integers(-8, 8, 60)
    nothing, lost = np.zeros(0, np.uint8), 5 + 7 * seed
    whole = RealColumn(values, nothing, Partitions.whole(np.array([0, 60])))
    # The first rows are gone: the part knows where it begins in its partition.
    part = RealColumn(values[lost:].copy(), nothing, Partitions(np.array([0, 60 - lost]), np.array([lost])))
    pairs = [(a, b) for a in range(lost, 60, 3) for b in range(a, 60, 4)]
    start, end = (np.array([pair[k] for pair in pairs]) for k in range(2))
    segments = Column(values, nothing, np.array([0, 60]), start, end)
    moved = Column(values[lost:], nothing, np.array([0, 60 - lost]), start - lost, end - lost)
    expected = summed(whole, REAL_SCAN, segments)
    for table in (REAL_SCAN, real_table_of(part)):
        assert summed(part, table, moved) == expected


def test_counts_of_values_and_of_those_that_are_not_finite_or_huge() -> None:
    values = np.array([1.0, math.inf, 5.0, math.nan, 1e200, -2.0])
    counts = np.zeros((7, 2), np.int64)
    real_counts(values, np.array([0, 0, 1, 0, 0, 0], np.uint8), counts)
    assert counts.tolist() == [[0, 0], [1, 0], [2, 1], [2, 1], [3, 2], [4, 3], [5, 3]]


def test_a_sum_after_large_ones_keeps_its_digits() -> None:
    values = np.array([1e16, 0.1, -1e16, 0.1, 0.2, 1e100, 0.3])
    start, end = np.array([1, 3, 6, 0]), np.array([1, 4, 6, 3])
    column = Column(values, np.zeros(0, np.uint8), np.array([0, 7]), start, end)
    found, _ = summed(real(column), real_table_of(real(column)), column)
    assert found == pytest.approx([0.1, 0.3, 0.3, 0.2], rel=1e-15)
