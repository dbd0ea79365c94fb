"""Counts and sums over segments, by scan and by prefix sums, against exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from tests.modes.segments.kernels.columns import KINDS, drawn

from sparkrex.modes.segments.kernels import sums

SEEDS = range(4)
WHOLE = ("empty", "one row", "integers", "far integers", "NULL")


def exact_sum(values: list[float]) -> float:
    """Rounded once; of infinities and NaN as additions give it."""
    if all(map(math.isfinite, values)):
        return float(sum(map(Fraction, values), Fraction(0)))
    return math.fsum(value for value in values if not math.isfinite(value)) if math.inf not in values or (
        -math.inf not in values) else math.nan


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", KINDS)
def test_counts(kind: str, seed: int) -> None:
    column = drawn(kind, seed)
    result, _ = column.results(np.int64)
    sums.count_scan(column.nulls, column.start, column.end, result)
    assert result.tolist() == [len(column.of(k)) for k in range(column.n_segments)]
    counts = np.zeros(column.n_rows + 1, np.int64)
    sums.count_prefix(column.nulls, counts)
    assert counts.tolist() == column.counts().tolist()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", WHOLE)
def test_sums_of_integers_are_exact(kind: str, seed: int) -> None:
    column = drawn(kind, seed)
    (result, _), (counts, _) = column.results(np.int64), column.results(np.int64)
    assert sums.int_sum_scan(column.values, column.nulls, column.start, column.end, result, counts)
    expected = [sum(column.of(k)) for k in range(column.n_segments)]
    assert result.tolist() == expected
    assert counts.tolist() == [len(column.of(k)) for k in range(column.n_segments)]
    prefix = np.zeros(column.n_rows + 1, np.int64)
    assert sums.int_sum_prefix(column.values, column.nulls, prefix)
    assert (prefix[column.end + 1] - prefix[column.start]).tolist() == expected


@pytest.mark.parametrize("values", [[2**62, 2**62], [-(2**63), -1], [2**63 - 1, 1]])
def test_a_sum_that_leaves_64_bits_is_told(values: list[int]) -> None:
    column, nothing = np.array(values), np.zeros(0, np.uint8)
    start, end = np.array([0]), np.array([1])
    assert not sums.int_sum_scan(column, nothing, start, end, np.zeros(1, np.int64), np.zeros(1, np.int64))
    assert not sums.int_sum_prefix(column, nothing, np.zeros(3, np.int64))
    # What is NULL is not added.
    nulls = np.array([0, 1], np.uint8)
    total = np.zeros(1, np.int64)
    assert sums.int_sum_scan(column, nulls, start, end, total, np.zeros(1, np.int64))
    assert total[0] == values[0]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", KINDS)
def test_sums_of_doubles(kind: str, seed: int) -> None:
    column = drawn(kind, seed)
    values = column.values.astype(np.float64)
    result, _ = column.results()
    counts, _ = column.results(np.int64)
    sums.float_sum_scan(values, column.nulls, column.start, column.end, result, counts)
    expected = [exact_sum([float(value) for value in column.of(k)]) for k in range(column.n_segments)]
    assert result.tolist() == pytest.approx(expected, rel=1e-15, nan_ok=True)
    assert counts.tolist() == [len(column.of(k)) for k in range(column.n_segments)]
    prefix, prefix_counts = np.zeros((column.n_rows + 1, 2)), np.zeros((column.n_rows + 1, 3), np.int64)
    largest = sums.float_sum_prefix(values, column.nulls, prefix, prefix_counts)
    looked_up, _ = column.results()
    n_values, _ = column.results(np.int64)
    sums.float_sum_lookup(
        prefix, prefix_counts, largest, values, column.nulls, column.start, column.end, looked_up, n_values
    )
    assert looked_up.tolist() == pytest.approx(expected, rel=1e-12, nan_ok=True)
    assert n_values.tolist() == counts.tolist()


def test_a_sum_after_large_ones_keeps_its_digits() -> None:
    values = np.array([1e16, 0.1, -1e16, 0.1, 0.2, 1e100, 0.3])
    nothing = np.zeros(0, np.uint8)
    prefix, counts = np.zeros((8, 2)), np.zeros((8, 3), np.int64)
    largest = sums.float_sum_prefix(values, nothing, prefix, counts)
    start, end = np.array([1, 3, 6]), np.array([1, 4, 6])
    result = np.zeros(3)
    sums.float_sum_lookup(prefix, counts, largest, values, nothing, start, end, result, np.zeros(3, np.int64))
    assert result.tolist() == pytest.approx([0.1, 0.3, 0.3], rel=1e-15)
