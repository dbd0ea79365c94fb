# mypy: disallow-untyped-defs=False, disallow-untyped-decorators=False, disallow-untyped-calls=False
# mypy: check-untyped-defs=False
"""Prefix sums of x, y, x^2, y^2 and x y, as an automaton subtracts them: pairs of doubles over a whole series."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

from sparkrex.kernels.double_double import add_pairs, difference, multiply_pairs, subtract_sums
from sparkrex.modes.segments.aggregates.contract import NOTHING_NULL
from sparkrex.modes.segments.kernels.gathered import power_for
from sparkrex.modes.segments.kernels.sums import HUGE, is_null_at

if TYPE_CHECKING:
    from numpy.typing import NDArray


def prefix_sums(x: NDArray[Any], y: NDArray[Any], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
    """Ten columns: a pair for each of the five sums over the rows before."""
    both = []
    for values in (x, y):
        pairs, is_finite = np.empty((len(values), 2)), np.empty(len(values), np.bool_)
        largest = centre(values, NOTHING_NULL, offsets, pairs, is_finite) if len(values) else 0.0
        both.append((pairs, is_finite, power_for(largest)))
    (x_pairs, x_finite, x_scale), (y_pairs, y_finite, y_scale) = both
    sums, counts = np.zeros((len(x) + 1, 10)), np.zeros((len(x) + 1, 2), np.int64)
    pair_prefix(x_pairs, y_pairs, NOTHING_NULL, x_finite, y_finite, x_scale, y_scale, sums, counts)
    return sums


@njit(cache=True, nogil=True)
def centre(values, nulls, offsets, pairs, is_finite):
    """Every value minus its partition's first one, as an exact pair; NULL gives 0.

    Infinities, NaN and huge values are marked and give 0. Returns the largest absolute difference.
    """
    largest = 0.0
    for partition in range(offsets.shape[0] - 1):
        base = values[0]
        has_base = False
        for row in range(offsets[partition], offsets[partition + 1]):
            is_finite[row] = True
            pairs[row, 0] = 0.0
            pairs[row, 1] = 0.0
            if is_null_at(nulls, row):
                continue
            value = values[row]
            if not abs(value) < HUGE:
                is_finite[row] = False
                continue
            if not has_base:
                base = value
                has_base = True
            pairs[row, 0], pairs[row, 1] = difference(value, base)
            largest = max(largest, abs(pairs[row, 0]))
    return largest

@njit(cache=True, nogil=True)
def pair_prefix(x, y, nulls, x_finite, y_finite, x_scale, y_scale, sums, counts):
    """Prefix sums of x, y, x^2, y^2, x y as pairs (ten columns); counts of pairs and of those that are not finite."""
    for row in range(x.shape[0]):
        sums[row + 1] = sums[row]
        counts[row + 1] = counts[row]
        if is_null_at(nulls, row):
            continue
        counts[row + 1, 0] += 1
        if not (x_finite[row] and y_finite[row]):
            counts[row + 1, 1] += 1
            continue
        x_high = x[row, 0] * x_scale
        x_low = x[row, 1] * x_scale
        y_high = y[row, 0] * y_scale
        y_low = y[row, 1] * y_scale
        _add(sums, row + 1, 0, x_high, x_low)
        _add(sums, row + 1, 2, y_high, y_low)
        high, low = multiply_pairs(x_high, x_low, x_high, x_low)
        _add(sums, row + 1, 4, high, low)
        high, low = multiply_pairs(y_high, y_low, y_high, y_low)
        _add(sums, row + 1, 6, high, low)
        high, low = multiply_pairs(x_high, x_low, y_high, y_low)
        _add(sums, row + 1, 8, high, low)

@njit(cache=True, nogil=True)
def _add(sums, row, column, high, low):
    sums[row, column], sums[row, column + 1] = add_pairs(sums[row, column], sums[row, column + 1], high, low)

@njit(cache=True, nogil=True)
def between(sums, first, after, column):
    return subtract_sums(sums[after, column], sums[after, column + 1], sums[first, column], sums[first, column + 1])

@njit(cache=True, nogil=True)
def centred(n, product_high, product_low, a_high, a_low, b_high, b_low):
    """n * sum(ab) - sum(a) * sum(b)."""
    left_high, left_low = multiply_pairs(product_high, product_low, np.float64(n), 0.0)
    right_high, right_low = multiply_pairs(a_high, a_low, b_high, b_low)
    high, low = add_pairs(left_high, left_low, -right_high, -right_low)
    return high + low
