"""Spreads, regression, correlation and distances from the mean, by scan and by lookup, against exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from tests.modes.segments.kernels.columns import KINDS, Column, check_equal, drawn, values_of

from sparkrex.modes.segments.kernels import moments

SEEDS = range(4)
FINITE = tuple(kind for kind in KINDS if kind != "extremes")


def squares(x: list[Any], y: list[Any]) -> Fraction:
    """The sum of products of distances from the means."""
    a, b = ([Fraction(value) for value in values] for values in (x, y))
    products = sum((p * q for p, q in zip(a, b, strict=True)), Fraction(0))
    return products - sum(a, Fraction(0)) * sum(b, Fraction(0)) / len(a)


def indexed(column: Column) -> tuple[Any, ...]:
    """Differences from the first value as pairs, which are finite, their scale, and where values change."""
    pairs, is_finite = np.zeros((column.n_rows, 2)), np.zeros(column.n_rows, np.bool_)
    largest = moments.centre(column.values, column.nulls, column.offsets, pairs, is_finite)
    changes = np.zeros(column.n_rows, np.int64)
    moments.next_changes(column.values, column.nulls, column.offsets, changes)
    return pairs, is_finite, moments.power_for(largest), changes



@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", [kind for kind in FINITE if kind != "empty"])
def test_differences_from_the_first_value_are_exact(kind: str, seed: int) -> None:
    column = drawn(kind, seed)
    pairs, is_finite, scale, changes = indexed(column)
    assert is_finite.all()
    assert math.frexp(scale)[0] == 0.5
    for low, high in pairwise(column.offsets):
        rows = [row for row in range(low, high) if not len(column.nulls) or not column.nulls[row]]
        for row in range(low, high):
            later = [other for other in rows if other >= row]
            base = Fraction(column.values[rows[0]].item()) if rows else Fraction(0)
            expected = Fraction(column.values[row].item()) - base if row in rows else 0
            assert Fraction(pairs[row, 0]) + Fraction(pairs[row, 1]) == expected
            differing = (other for other in later if column.values[other] != column.values[later[0]])
            assert changes[row] == next(differing, high)


def test_huge_values_infinities_and_nan_are_marked() -> None:
    values = np.array([1e200, math.inf, 2.0, math.nan, 5.0])
    pairs, is_finite = np.zeros((5, 2)), np.zeros(5, np.bool_)
    assert moments.centre(values, np.zeros(0, np.uint8), np.array([0, 5]), pairs, is_finite) == 3.0
    assert is_finite.tolist() == [False, False, True, False, True]
    assert pairs[:, 0].tolist() == [0, 0, 0, 0, 3]


@pytest.mark.parametrize("is_root", [False, True])
@pytest.mark.parametrize("lost", [0, 1])
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", FINITE)
def test_spreads(kind: str, seed: int, lost: int, is_root: bool) -> None:
    column = drawn(kind, seed)
    expected: list[float | None] = []
    for k in range(column.n_segments):
        values = column.of(k)
        variance = float(squares(values, values) / (len(values) - lost)) if len(values) > lost else None
        expected.append(math.sqrt(variance) if is_root and variance is not None else variance)
    result, is_null = column.results()
    segments = (column.values, column.nulls, column.start, column.end)
    moments.spread_scan(*segments, lost, is_root, result, is_null)
    check_equal(values_of(result, is_null), expected, 1e-9)
    if column.n_rows:
        pairs, is_finite, scale, changes = indexed(column)
        sums, counts = np.zeros((column.n_rows + 1, 4)), np.zeros((column.n_rows + 1, 2), np.int64)
        moments.moment_prefix(pairs, column.nulls, is_finite, scale, sums, counts)
        result, is_null = column.results()
        moments.spread_lookup(sums, counts, changes, scale, *segments, lost, is_root, result, is_null)
        check_equal(values_of(result, is_null), expected, 1e-9)


def regression(kind: int, x: list[Any], y: list[Any]) -> float | None:
    """R^2, signed R^2 or slope; NULL as the page of segments says."""
    if len(x) < 2 or len(set(x)) == 1:
        return None
    xx, yy, xy = squares(x, x), squares(y, y), squares(x, y)
    if kind == moments.SLOPE:
        return float(xy / xx)
    if len(set(y)) == 1:
        return None
    r2 = float(xy * xy / xx / yy)
    return -r2 if kind == moments.R2_SIGNED and xy < 0 else r2


@pytest.mark.parametrize("wanted", [moments.R2, moments.R2_SIGNED, moments.SLOPE])
@pytest.mark.parametrize("short", [0, 1_000])
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", [kind for kind in FINITE if kind not in ("empty", "NULL")])
def test_regression(kind: str, seed: int, short: int, wanted: int) -> None:
    y = drawn(kind, seed)
    generator = np.random.default_rng(seed)
    x_values = np.cumsum(generator.integers(0, 3, y.n_rows)) + 1_700_000_000_000_000 * (seed % 2)
    x = Column(x_values, y.nulls, y.offsets, y.start, y.end)
    expected = [regression(wanted, x.of(k), y.of(k)) for k in range(y.n_segments)]
    result, is_null = y.results()
    moments.regression_scan(wanted, x.values, y.values, y.nulls, y.start, y.end, result, is_null)
    check_equal(values_of(result, is_null), expected, 1e-9)
    x_pairs, x_finite, x_scale, x_changes = indexed(x)
    y_pairs, y_finite, y_scale, y_changes = indexed(y)
    sums, counts = np.zeros((y.n_rows + 1, 10)), np.zeros((y.n_rows + 1, 2), np.int64)
    moments.pair_prefix(x_pairs, y_pairs, y.nulls, x_finite, y_finite, x_scale, y_scale, sums, counts)
    result, is_null = y.results()
    moments.regression_lookup(
        wanted, sums, counts, x_changes, y_changes, x_scale, y_scale, x.values, y.values, y.nulls, y.start, y.end,
        short, result, is_null,
    )
    check_equal(values_of(result, is_null), expected, 1e-9)


def test_rounding_of_r2_reaches_its_threshold() -> None:
    assert moments.rounded_r2(0.7 - 1e-15) == moments.rounded_r2(0.7 + 1e-15) == 0.7
    assert math.isnan(moments.rounded_r2(math.nan))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", [kind for kind in FINITE if kind != "empty"])
def test_correlation_of_two_segments(kind: str, seed: int) -> None:
    x = drawn(kind, seed)
    order = np.random.default_rng(seed).permutation(x.n_segments)
    y_start, y_end = x.start[order].copy(), x.end[order].copy()
    if x.n_segments > 2:
        y_start[0] = -1  # there is no segment
    result, is_null = x.results()
    moments.correlation_scan(
        x.values, x.nulls, x.values, x.nulls, x.start, x.end, y_start, y_end, result, is_null
    )
    for k in range(x.n_segments):
        n_rows = int(x.end[k] - x.start[k])
        expected = None
        if y_start[k] >= 0 and y_end[k] - y_start[k] == n_rows:
            rows = [
                (x.start[k] + i, y_start[k] + i) for i in range(n_rows + 1)
                if not len(x.nulls) or not (x.nulls[x.start[k] + i] or x.nulls[y_start[k] + i])
            ]
            a, b = ([x.values[pair[side]].item() for pair in rows] for side in range(2))
            if len(set(a)) > 1 and len(set(b)) > 1:
                expected = float(squares(a, b)) / math.sqrt(squares(a, a) * squares(b, b))
        check_equal([None if is_null[k] else result[k]], [expected], 1e-9)


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", [kind for kind in FINITE if kind != "empty"])
def test_distances_from_the_mean_of_the_rows_before(kind: str, seed: int, size: int) -> None:
    column = drawn(kind, seed)
    result, is_null = np.full(column.n_rows, -99.0), np.zeros(column.n_rows, np.bool_)
    # In two parts, as threads share the work.
    middle = column.n_rows // 3
    for begin, stop in ((0, middle), (middle, column.n_rows)):
        moments.zscores(column.values, column.nulls, column.offsets, size, begin, stop, result, is_null)
    for low, high in pairwise(column.offsets):
        for row in range(low, high):
            window = Column(column.values, column.nulls, column.offsets, np.array([row - size + 1]), np.array([row]))
            is_here = not len(column.nulls) or not column.nulls[row]
            values = window.of(0) if row - size + 1 >= low and is_here else []
            expected = None
            if len(set(values)) > 1:
                mean = sum(map(Fraction, values)) / len(values)
                expected = float(Fraction(values[-1]) - mean) / math.sqrt(squares(values, values) / len(values))
            check_equal([None if is_null[row] else result[row]], [expected], 1e-9)
