"""Spreads, regression and correlation over segments, by scan and by lookup in prefix sums (see `segment_sums`).

How a lookup stays accurate: values are taken relative to their partition's first one (exactly) and brought to at most 1
by a power of two (exactly); sums and products are pairs of doubles; and where a segment's variance is so small beside
the prefix sums that digits were lost all the same, or where it holds infinities or NaN, the segment is scanned.
"""

from __future__ import annotations

import math

import numpy as np

from sparkrex.kernels.cached import njit
from sparkrex.kernels.double_double import (
    add_pairs,
    difference,
    distance,
    multiply_pairs,
    subtract_sums,
)
from sparkrex.modes.segments.kernels.sums import HUGE, LOST, is_null_at

R2 = 0
R2_SIGNED = 1
SLOPE = 2

_DULL = 1e-3
"""A variance of less than this share of the squares about the first value has lost three of sixteen digits."""
_TINY = 1e-280
"""Squares below have lost digits to underflow."""
_MANY = 4096
"""Plain sums of more rows than this are not trusted."""

_R2_DIGITS = 1e12


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
def next_changes(values, nulls, offsets, changes):
    """For every row the first later row of its partition whose value differs from the first value at or after it.

    So a segment has but one value, or none, if changes[start] > end.
    """
    for partition in range(offsets.shape[0] - 1):
        after = offsets[partition + 1]
        upcoming = np.int64(-1)
        for row in range(after - 1, offsets[partition] - 1, -1):
            if is_null_at(nulls, row):
                changes[row] = after if upcoming < 0 else changes[upcoming]
                continue
            if upcoming < 0:
                changes[row] = after
            elif values[upcoming] == values[row]:
                changes[row] = changes[upcoming]
            else:
                changes[row] = upcoming
            upcoming = row


@njit(cache=True, nogil=True)
def moment_prefix(x, nulls, is_finite, scale, sums, counts):
    """Prefix sums of x and x^2 as pairs (four columns); counts of values and of those that are not finite."""
    for row in range(x.shape[0]):
        sums[row + 1] = sums[row]
        counts[row + 1] = counts[row]
        if is_null_at(nulls, row):
            continue
        counts[row + 1, 0] += 1
        if not is_finite[row]:
            counts[row + 1, 1] += 1
            continue
        high = x[row, 0] * scale
        low = x[row, 1] * scale
        _add(sums, row + 1, 0, high, low)
        high, low = multiply_pairs(high, low, high, low)
        _add(sums, row + 1, 2, high, low)


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
def _difference(sums, first, after, column):
    return subtract_sums(sums[after, column], sums[after, column + 1], sums[first, column], sums[first, column + 1])


@njit(cache=True, nogil=True)
def _centred(n, product_high, product_low, a_high, a_low, b_high, b_low):
    """n * sum(ab) - sum(a) * sum(b)."""
    left_high, left_low = multiply_pairs(product_high, product_low, np.float64(n), 0.0)
    right_high, right_low = multiply_pairs(a_high, a_low, b_high, b_low)
    high, low = add_pairs(left_high, left_low, -right_high, -right_low)
    return high + low


@njit(cache=True, nogil=True)
def _gather(values, nulls, start, end, x):
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
def _scaled_spread(x, n):
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
def _spread(x, n):
    """The same in the values' own unit."""
    square, scale = _scaled_spread(x, n)
    return square / scale / scale


@njit(cache=True, nogil=True)
def spread_scan(values, nulls, start, end, lost, is_root, result, is_null):
    """Variance or its root, the sum of squares divided by n - lost; NULL unless n > lost."""
    x = np.empty(longest_segment(start, end))
    for k in range(start.shape[0]):
        n = _gather(values, nulls, start[k], end[k], x)
        is_null[k] = n <= lost
        if n > lost:
            variance = _spread(x, n) / (n - lost)
            result[k] = math.sqrt(variance) if is_root else variance


@njit(cache=True, nogil=True)
def spread_lookup(sums, counts, changes, scale, values, nulls, start, end, lost, is_root, result, is_null):
    """The same from prefix sums."""
    x = np.empty(longest_segment(start, end))
    for k in range(start.shape[0]):
        first = start[k]
        after = end[k] + 1
        n = counts[after, 0] - counts[first, 0]
        is_null[k] = n <= lost
        if n <= lost:
            continue
        square = 0.0
        is_certain = counts[after, 1] == counts[first, 1]
        if is_certain and changes[first] < after:
            high, low = _difference(sums, first, after, 0)
            square_high, square_low = _difference(sums, first, after, 2)
            square = _centred(n, square_high, square_low, high, low, high, low)
            is_certain = square > LOST * n * sums[after, 2]
            square = square / n / scale / scale
        if not is_certain:
            square = _spread(x, _gather(values, nulls, first, end[k], x))
        variance = square / (n - lost)
        result[k] = math.sqrt(variance) if is_root else variance


@njit(cache=True, nogil=True)
def _is_zero(x, n):
    for k in range(n):  # noqa: SIM110  # Numba compiles no generator
        if x[k] != 0.0:
            return False
    return True


@njit(cache=True, nogil=True)
def _moments(x, y, n):
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
def _regression(kind, n, xx, yy, xy, x_scale, y_scale):
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
def _regression_of(kind, x, y, n):
    """The value and whether it is NULL, of gathered values."""
    if n < 2 or _is_zero(x, n):
        return 0.0, True
    if _is_zero(y, n):
        return 0.0, kind != SLOPE
    xx, yy, xy, x_scale, y_scale = _moments(x, y, n)
    return _regression(kind, n, xx, yy, xy, x_scale, y_scale), False


@njit(cache=True, nogil=True)
def regression_scan(kind, x_values, y_values, nulls, start, end, result, is_null):
    """R^2, signed R^2 or slope of y over x; `nulls` marks rows in which either is NULL."""
    longest = longest_segment(start, end)
    x = np.empty(longest)
    y = np.empty(longest)
    for k in range(start.shape[0]):
        n = _gather(x_values, nulls, start[k], end[k], x)
        _gather(y_values, nulls, start[k], end[k], y)
        result[k], is_null[k] = _regression_of(kind, x, y, n)


@njit(cache=True, nogil=True)
def regression_lookup(
    kind, sums, counts, x_changes, y_changes, x_scale, y_scale, x_values, y_values, nulls, start, end, short, result,
    is_null
):
    """The same from prefix sums; `short` is how many rows are added up faster than prefix sums are subtracted.

    Candidates mostly come in order, the ends of one start after the other. Then sums relative to the start's own first
    value are cheaper than differences of pairs, and as good unless the values are far from that first one.
    """
    if start.shape[0] == 0:
        return
    longest = longest_segment(start, end)
    x = np.empty(longest)
    y = np.empty(longest)
    run = np.zeros(5)
    run_start = np.int64(-1)
    run_after = np.int64(-1)
    x_base = x_values[0]
    y_base = y_values[0]
    for k in range(start.shape[0]):
        first = start[k]
        after = end[k] + 1
        n = counts[after, 0] - counts[first, 0]
        # Infinities do not vary either, but their distances are NaN: that is left to the scan.
        is_finite = counts[after, 1] == counts[first, 1]
        is_null[k] = n < 2 or (is_finite and x_changes[first] >= after)
        result[k] = 0.0
        if is_null[k]:
            continue
        if is_finite and y_changes[first] >= after:
            is_null[k] = kind != SLOPE
            continue
        if is_finite:
            if first != run_start or after < run_after:
                run_start = first
                run_after = first
                run[:] = 0.0
                while is_null_at(nulls, run_after):
                    run_after += 1
                x_base = x_values[run_after]
                y_base = y_values[run_after]
            if after - run_after <= short:
                for row in range(run_after, after):
                    if not is_null_at(nulls, row):
                        dx = distance(x_values[row], x_base)
                        dy = distance(y_values[row], y_base)
                        run[0] += dx
                        run[1] += dy
                        run[2] += dx * dx
                        run[3] += dy * dy
                        run[4] += dx * dy
                run_after = after
                xx = run[2] - run[0] * run[0] / n
                yy = run[3] - run[1] * run[1] / n
                if xx > _DULL * run[2] + _TINY and yy > _DULL * run[3] + _TINY and n < _MANY:
                    result[k] = _regression(kind, n, xx, yy, run[4] - run[0] * run[1] / n, 1.0, 1.0)
                    continue
            x_high, x_low = _difference(sums, first, after, 0)
            y_high, y_low = _difference(sums, first, after, 2)
            high, low = _difference(sums, first, after, 4)
            xx = _centred(n, high, low, x_high, x_low, x_high, x_low)
            high, low = _difference(sums, first, after, 6)
            yy = _centred(n, high, low, y_high, y_low, y_high, y_low)
            if xx > LOST * n * sums[after, 4] and yy > LOST * n * sums[after, 6]:
                high, low = _difference(sums, first, after, 8)
                xy = _centred(n, high, low, x_high, x_low, y_high, y_low)
                result[k] = _regression(kind, n, xx, yy, xy, x_scale, y_scale)
                continue
        n = _gather(x_values, nulls, first, end[k], x)
        _gather(y_values, nulls, first, end[k], y)
        result[k], is_null[k] = _regression_of(kind, x, y, n)


@njit(cache=True, nogil=True)
def correlation_scan(
    x_values, x_nulls, y_values, y_nulls, x_start, x_end, y_start, y_end, result, is_null
):
    """Correlation of two segments paired by position; a start of -1 means that there is no segment."""
    longest = longest_segment(x_start, x_end)
    x = np.empty(longest)
    y = np.empty(longest)
    for k in range(x_start.shape[0]):
        is_null[k] = True
        n_rows = x_end[k] - x_start[k] + 1
        if x_start[k] < 0 or y_start[k] < 0 or n_rows < 2 or y_end[k] - y_start[k] + 1 != n_rows:
            continue
        n = 0
        x_base = x_values[0]
        y_base = y_values[0]
        for row in range(n_rows):
            x_row = x_start[k] + row
            y_row = y_start[k] + row
            if not is_null_at(x_nulls, x_row) and not is_null_at(y_nulls, y_row):
                if n == 0:
                    x_base = x_values[x_row]
                    y_base = y_values[y_row]
                x[n] = distance(x_values[x_row], x_base)
                y[n] = distance(y_values[y_row], y_base)
                n += 1
        if n < 2 or _is_zero(x, n) or _is_zero(y, n):
            continue
        is_null[k] = False
        xx, yy, xy, _, _ = _moments(x, y, n)
        if n == 2 and xy == xy:
            result[k] = 1.0 if xy > 0 else -1.0
        else:
            result[k] = max(-1.0, min(1.0, xy / math.sqrt(xx * yy))) if xy == xy else xy


@njit(cache=True, nogil=True)
def zscores(values, nulls, offsets, size, begin, stop, result, is_null):
    """For every row its distance from the mean of the `size` rows that end there, in population standard deviations.

    Only rows from `begin` up to `stop` are written. NULL where the partition has fewer rows before it, where the value
    is NULL, or where the values do not vary.
    """
    x = np.empty(max(1, size))
    for partition in range(np.searchsorted(offsets, begin, side="right") - 1, offsets.shape[0] - 1):
        if offsets[partition] >= stop:
            break
        for row in range(max(begin, offsets[partition]), min(stop, offsets[partition + 1])):
            is_null[row] = True
            first = row - size + 1
            if first < offsets[partition] or is_null_at(nulls, row):
                continue
            n = _gather(values, nulls, first, row, x)
            if _is_zero(x, n):
                continue
            is_null[row] = False
            square, scale = _scaled_spread(x, n)
            total = 0.0
            for k in range(n):
                total += (x[n - 1] - x[k]) * scale
            result[row] = total / n / math.sqrt(square / n)
