"""Spreads and regression of gathered values, against exact fractions; values of any size, infinities and NaN."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.modes.segments.kernels import exact
from tests.modes.segments.kernels.columns import KINDS, check_equal, drawn

from sparkrex.modes.segments.kernels import gathered
from sparkrex.modes.segments.kernels.gathered import R2, R2_SIGNED, SLOPE

FINITE = [kind for kind in KINDS if kind != "extremes"]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", FINITE)
def test_values_are_gathered_relative_to_the_first(kind: str, seed: int) -> None:
    column = drawn(kind, seed)
    longest = gathered.longest_segment(column.start, column.end)
    assert longest == max([1, *(column.end - column.start + 1).tolist()])
    for k in range(column.n_segments):
        x = np.full(longest, -99.0)
        n = gathered.gather(column.values, column.nulls, column.start[k], column.end[k], x)
        values = column.of(k)
        assert x[:n].tolist() == [float(value - values[0]) for value in values]
        assert gathered.is_zero(x, n) == (len(set(values)) < 2)
        if n:
            assert gathered.spread_of(x, n) == pytest.approx(float(exact.squares(values, values)), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("largest", [1e-320, 1e-200, 0.3, 0.5, 1.0, 7.0, 1e140, 1e308])
def test_a_power_of_two_brings_values_near_one(largest: float) -> None:
    power = gathered.power_for(largest)
    assert math.frexp(power)[0] == 0.5
    assert 0.5 <= largest * power < 1 or power == 2.0**1000
    assert [gathered.power_for(value) for value in (0.0, math.inf, math.nan)] == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_squares_neither_vanish_nor_overflow(scale: float) -> None:
    x, y = (np.array(values) * scale for values in ([0.0, 1.0, 3.0, 2.0], [0.0, 2.0, 5.0, 5.0]))
    for kind, value in {R2: 0.9, R2_SIGNED: 0.9, SLOPE: 1.8}.items():
        found, is_null = gathered.regression_of(kind, x, y, 4)
        assert not is_null
        assert found == pytest.approx(value)
    square, power = gathered.scaled_spread(x, 4)
    assert square / power / power == pytest.approx(5.0 * scale * scale)


@pytest.mark.parametrize("kind", [R2, R2_SIGNED, SLOPE])
def test_regression_of_random_values(kind: int) -> None:
    generator = np.random.default_rng(kind)
    for n in range(2, 9):
        x, y = (generator.integers(-4, 5, n) for _ in range(2))
        given = ((x - x[0]).astype(np.float64), (y - y[0]).astype(np.float64))
        found, is_null = gathered.regression_of(kind, *given, n)
        check_equal([None if is_null else found], [exact.regression(kind, x.tolist(), y.tolist())], 1e-9)


def test_rounding_of_r2_reaches_its_threshold() -> None:
    assert gathered.rounded_r2(0.7 - 1e-15) == gathered.rounded_r2(0.7 + 1e-15) == 0.7
    assert math.isnan(gathered.rounded_r2(math.nan))
    # Two points are exactly on a line.
    assert gathered.regression_of(R2, np.array([0.0, 0.1]), np.array([0.0, 0.3]), 2) == (1.0, False)


def test_infinities_make_nan_not_null() -> None:
    found, is_null = gathered.regression_of(R2, np.array([0.0, 1.0, 2.0]), np.array([0.0, math.inf, 1.0]), 3)
    assert (math.isnan(found), is_null) == (True, False)
