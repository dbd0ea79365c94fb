"""Smallest, largest and middle values of segments, against sorted lists; NaN is above every number."""

from __future__ import annotations

import math
from statistics import median
from typing import Any

import numpy as np
import pytest
from tests.modes.segments.kernels.columns import KINDS, check_equal, drawn, values_of

from sparkrex.modes.segments.kernels import extremes


def in_order(values: list[Any]) -> list[Any]:
    return sorted(values, key=lambda value: (math.isnan(value), value))


@pytest.mark.parametrize("is_max", [False, True])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", KINDS)
def test_extremes(kind: str, seed: int, is_max: bool) -> None:
    column = drawn(kind, seed)
    expected = [in_order(column.of(k))[-1 if is_max else 0] if column.of(k) else None for k in range(column.n_segments)]
    dtype = column.values.dtype.type
    result, is_null = column.results(dtype)
    extremes.extreme_scan(column.values, column.nulls, column.start, column.end, is_max, result, is_null)
    check_equal(values_of(result, is_null), expected)
    if column.n_rows == 0:
        return
    neutral: Any = (-math.inf if is_max else math.nan) if dtype is np.float64 else (
        np.iinfo(np.int64).min if is_max else np.iinfo(np.int64).max
    )
    table = np.zeros((column.n_rows.bit_length(), column.n_rows), dtype)
    extremes.sparse_table(column.values, column.nulls, dtype(neutral), is_max, table)
    result, is_null = column.results(dtype)
    extremes.extreme_lookup(table, column.counts(), column.start, column.end, is_max, result, is_null)
    check_equal(values_of(result, is_null), expected)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", KINDS)
def test_medians(kind: str, seed: int) -> None:
    column = drawn(kind, seed)
    result, is_null = column.results()
    extremes.median_scan(column.values, column.nulls, column.start, column.end, result, is_null)
    for k in range(column.n_segments):
        values = in_order(column.of(k))
        assert bool(is_null[k]) == (not values)
        if values:
            low, high = float(values[(len(values) - 1) // 2]), float(values[len(values) // 2])
            expected = low if low == high else median([low, high])
            assert result[k] == pytest.approx(expected, nan_ok=True)


def test_the_mean_of_two_large_doubles_does_not_overflow() -> None:
    result, is_null = np.zeros(1), np.zeros(1, np.bool_)
    nothing = np.zeros(0, np.uint8)
    extremes.median_scan(np.array([1e308, 1.5e308]), nothing, np.array([0]), np.array([1]), result, is_null)
    assert result[0] == 1.25e308
