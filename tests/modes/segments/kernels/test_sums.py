"""Counts and sums of whole numbers over segments, by scan and by prefix sums."""

from __future__ import annotations

import numpy as np
import pytest
from tests.modes.segments.kernels.columns import KINDS, drawn

from sparkrex.modes.segments.kernels import sums

SEEDS = range(4)
WHOLE = ("empty", "one row", "integers", "far integers", "NULL")


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
