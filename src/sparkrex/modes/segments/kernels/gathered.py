"""Spreads, regression and correlation of gathered values: a segment's own, without NULLs, relative to the first.

Two passes, rescaled by a power of two: as accurate as doubles get, for values of any size, infinities and NaN included.
"""

from __future__ import annotations

import math

import numpy as np

from sparkrex.kernels.cached import njit
from sparkrex.kernels.double_double import distance
from sparkrex.modes.segments.kernels.sums import is_null_at

R2 = 0
R2_SIGNED = 1
SLOPE = 2

_R2_DIGITS = 1e12


@njit(cache=True, nogil=True)
def gather(values, nulls, start, end, x):
    """The segment's values relative to the first of them, without NULLs; how many."""
    n = 0
    base = values[start]
    for row in range(start, end + 1):
        if not is_null_at(nulls, row):
            if n == 0:
                base = values[row]
            x[n] = distance(values[row], base)
            n += 1
    return n


@njit(cache=True, nogil=True)
def longest_segment(start, end):
    """Rows of the longest segment."""
    longest = 1
    for k in range(start.shape[0]):
        longest = max(longest, end[k] - start[k] + 1)
    return longest


@njit(cache=True, nogil=True)
def power_for(largest):
    """The power of two that brings `largest` into [0.5, 1), or near enough that squares neither vanish nor overflow."""
    return math.ldexp(1.0, min(-math.frexp(largest)[1], 1000)) if 0.0 < largest < np.inf else 1.0


@njit(cache=True, nogil=True)
def scaled_spread(x, n):
    """sum((x - mean)^2) of n doubles relative to the first of them, rescaled, and the scale; two passes."""
    largest = 0.0
    total = 0.0
    for k in range(n):
        largest = max(largest, abs(x[k]))
        total += x[k]
    scale = power_for(largest)
    mean = total * scale / n
    square = 0.0
    rest = 0.0
    for k in range(n):
        dx = x[k] * scale - mean
        square += dx * dx
        rest += dx
    return square - rest * rest / n, scale


@njit(cache=True, nogil=True)
def spread_of(x, n):
    """The same in the values' own unit."""
    square, scale = scaled_spread(x, n)
    return square / scale / scale


@njit(cache=True, nogil=True)
def is_zero(x, n):
    for k in range(n):  # noqa: SIM110  # Numba compiles no generator
        if x[k] != 0.0:
            return False
    return True


@njit(cache=True, nogil=True)
def moments(x, y, n):
    """sum((x - mean)^2), the same of y and of the product, all rescaled; and the two scales."""
    x_largest = 0.0
    y_largest = 0.0
    x_total = 0.0
    y_total = 0.0
    for k in range(n):
        x_largest = max(x_largest, abs(x[k]))
        y_largest = max(y_largest, abs(y[k]))
        x_total += x[k]
        y_total += y[k]
    x_scale = power_for(x_largest)
    y_scale = power_for(y_largest)
    x_mean = x_total * x_scale / n
    y_mean = y_total * y_scale / n
    xx = 0.0
    yy = 0.0
    xy = 0.0
    x_rest = 0.0
    y_rest = 0.0
    for k in range(n):
        dx = x[k] * x_scale - x_mean
        dy = y[k] * y_scale - y_mean
        xx += dx * dx
        yy += dy * dy
        xy += dx * dy
        x_rest += dx
        y_rest += dy
    return xx - x_rest * x_rest / n, yy - y_rest * y_rest / n, xy - x_rest * y_rest / n, x_scale, y_scale


@njit(cache=True, nogil=True)
def rounded_r2(value):
    """The value to twelve decimal places. Not quite at the half: there are values that lie exactly there."""
    return np.floor(value * _R2_DIGITS + 0.51) / _R2_DIGITS


@njit(cache=True, nogil=True)
def regression_from(kind, n, xx, yy, xy, x_scale, y_scale):
    """The value from moments of variables that do vary."""
    if kind == SLOPE:
        return xy / xx * x_scale / y_scale
    if n == 2 and xy == xy:
        r2 = 1.0
    else:
        # R^2 of whole numbers is often exactly a threshold such as 0.7. Rounded, it compares the same however it was
        # computed, and the threshold is reached where it is reached.
        r2 = rounded_r2((xy / xx) * (xy / yy))
        r2 = min(r2, 1.0) if r2 == r2 else r2
    return -r2 if kind == R2_SIGNED and xy < 0 else r2


@njit(cache=True, nogil=True)
def regression_of(kind, x, y, n):
    """The value and whether it is NULL, of gathered values."""
    if n < 2 or is_zero(x, n):
        return 0.0, True
    if is_zero(y, n):
        return 0.0, kind != SLOPE
    xx, yy, xy, x_scale, y_scale = moments(x, y, n)
    return regression_from(kind, n, xx, yy, xy, x_scale, y_scale), False
