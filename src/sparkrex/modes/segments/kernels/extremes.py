"""Smallest, largest and middle values of segments. Arguments as in `sums`; NaN is above every number."""

from __future__ import annotations

import math

import numpy as np

from sparkrex.kernels.arithmetic import less
from sparkrex.kernels.cached import njit
from sparkrex.modes.segments.kernels.gathered import longest_segment
from sparkrex.modes.segments.kernels.sums import is_null_at


@njit(cache=True, nogil=True)
def extreme_scan(values, nulls, start, end, is_max, result, is_null):
    """The smallest or largest value of each segment."""
    for k in range(start.shape[0]):
        is_null[k] = True
        for row in range(start[k], end[k] + 1):
            if not is_null_at(nulls, row):
                value = values[row]
                if is_null[k] or (less(result[k], value) if is_max else less(value, result[k])):
                    result[k] = value
                is_null[k] = False


@njit(cache=True, nogil=True)
def sparse_table(values, nulls, neutral, is_max, table):
    """table[l, r] = extreme of the 2^l rows from r on (fewer at the end of the batch); NULL counts as `neutral`."""
    n_levels, n_rows = table.shape
    for row in range(n_rows):
        table[0, row] = neutral if is_null_at(nulls, row) else values[row]
    for level in range(1, n_levels):
        half = np.int64(1) << (level - 1)
        for row in range(n_rows):
            a = table[level - 1, row]
            b = table[level - 1, min(row + half, n_rows - 1)]
            table[level, row] = (b if less(a, b) else a) if is_max else (b if less(b, a) else a)


@njit(cache=True, nogil=True)
def extreme_lookup(table, counts, start, end, is_max, result, is_null):
    """The extreme of two powers of two that cover the segment; counts[r] = values before row r that are not NULL."""
    for k in range(start.shape[0]):
        is_null[k] = counts[end[k] + 1] == counts[start[k]]
        level = math.frexp(np.float64(end[k] - start[k] + 1))[1] - 1
        a = table[level, start[k]]
        b = table[level, end[k] + 1 - (np.int64(1) << level)]
        result[k] = (b if less(a, b) else a) if is_max else (b if less(b, a) else a)


@njit(cache=True, nogil=True)
def median_scan(values, nulls, start, end, result, is_null):
    """The middle value, or the mean of the two middle ones."""
    x = np.empty(longest_segment(start, end), values.dtype)
    for k in range(start.shape[0]):
        n = 0
        for row in range(start[k], end[k] + 1):
            if not is_null_at(nulls, row):
                x[n] = values[row]
                n += 1
        is_null[k] = n == 0
        if n:
            x[:n].sort()
            low = np.float64(x[(n - 1) // 2])
            high = np.float64(x[n // 2])
            # Halves first: the sum of two large doubles may overflow.
            result[k] = low if low == high else low / 2 + high / 2
