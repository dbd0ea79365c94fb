"""Counts and sums over segments, by scan and by lookup in prefix sums.

Arguments are the same in all kernels of aggregates: `values` int64 or float64 per row of the batch; `nulls` uint8 per
row, empty if nothing is NULL; `start`, `end` int64 per segment, both rows included; `result` and `is_null` per segment,
filled. `offsets` cut the batch into partitions, and no segment reaches over a cut, so that prefix sums may run on.
"""

from __future__ import annotations

import math

import numpy as np

from sparkrex.kernels.arithmetic import add_checked
from sparkrex.kernels.cached import njit
from sparkrex.kernels.double_double import add_pairs, two_sum

HUGE = 1e140
"""Beyond it (relative to the largest power of two we rescale by) squares may overflow."""
LOST = 1e-18
"""Below this share of a prefix sum fewer than ten digits of a difference are certain."""


@njit(cache=True, nogil=True)
def is_null_at(nulls, row):
    """Whether a row is NULL; `nulls` may be empty."""
    return nulls.shape[0] > 0 and nulls[row] != 0


@njit(cache=True, nogil=True)
def count_prefix(nulls, counts):
    """counts[r] = rows before r that are not NULL."""
    for row in range(counts.shape[0] - 1):
        counts[row + 1] = counts[row] + (0 if is_null_at(nulls, row) else 1)


@njit(cache=True, nogil=True)
def count_scan(nulls, start, end, result):
    """How many rows of each segment are not NULL."""
    for k in range(start.shape[0]):
        n = 0
        for row in range(start[k], end[k] + 1):
            if not is_null_at(nulls, row):
                n += 1
        result[k] = n


@njit(cache=True, nogil=True)
def int_sum_scan(values, nulls, start, end, result, counts):
    """Sums in int64 and numbers of values; False if a sum left int64."""
    for k in range(start.shape[0]):
        total = np.int64(0)
        n = 0
        for row in range(start[k], end[k] + 1):
            if not is_null_at(nulls, row):
                total, overflowed = add_checked(total, values[row])
                if overflowed:
                    return False
                n += 1
        result[k] = total
        counts[k] = n
    return True


@njit(cache=True, nogil=True)
def int_sum_prefix(values, nulls, sums):
    """Prefix sums in int64. False if the sum of all absolute values leaves int64: then a segment's sum may, too."""
    largest = np.int64(0)
    for row in range(values.shape[0]):
        value = np.int64(0) if is_null_at(nulls, row) else values[row]
        if value == np.iinfo(np.int64).min:
            return False
        largest, overflowed = add_checked(largest, abs(value))
        if overflowed:
            return False
        sums[row + 1] = sums[row] + value
    return True


@njit(cache=True, nogil=True)
def _float_sum(values, nulls, start, end):
    high = 0.0
    low = 0.0
    plain = 0.0
    n = 0
    for row in range(start, end + 1):
        if not is_null_at(nulls, row):
            plain += values[row]
            high, error = two_sum(high, values[row])
            low += error
            n += 1
    # With infinities the errors are NaN, the plain sum is not.
    return (high + low if math.isfinite(plain) else plain), n


@njit(cache=True, nogil=True)
def float_sum_scan(values, nulls, start, end, result, counts):
    """Compensated sums and numbers of values."""
    for k in range(start.shape[0]):
        result[k], counts[k] = _float_sum(values, nulls, start[k], end[k])


@njit(cache=True, nogil=True)
def float_sum_prefix(values, nulls, sums, counts):
    """Prefix sums as pairs; counts of values, of those that are not 0, of those that are not finite.

    Returns the largest absolute prefix sum.
    """
    high = 0.0
    low = 0.0
    largest = 0.0
    for row in range(values.shape[0]):
        counts[row + 1] = counts[row]
        if not is_null_at(nulls, row):
            value = values[row]
            counts[row + 1, 0] += 1
            if not abs(value) < HUGE:
                counts[row + 1, 2] += 1
            elif value != 0:
                counts[row + 1, 1] += 1
                high, low = add_pairs(high, low, value, 0.0)
                largest = max(largest, abs(high))
        sums[row + 1, 0] = high
        sums[row + 1, 1] = low
    return largest


@njit(cache=True, nogil=True)
def float_sum_lookup(sums, counts, largest, values, nulls, start, end, result, n_values):
    """Differences of prefix sums; a sum that nearly cancels is scanned instead."""
    for k in range(start.shape[0]):
        first = start[k]
        after = end[k] + 1
        n_values[k] = counts[after, 0] - counts[first, 0]
        if counts[after, 2] != counts[first, 2]:
            result[k], _ = _float_sum(values, nulls, first, end[k])
        elif counts[after, 1] == counts[first, 1]:
            result[k] = 0.0
        else:
            high, low = add_pairs(sums[after, 0], sums[after, 1], -sums[first, 0], -sums[first, 1])
            if abs(high) <= LOST * largest:
                high, _ = _float_sum(values, nulls, first, end[k])
                low = 0.0
            result[k] = high + low
