"""Counts and sums of whole numbers over segments, by scan and by lookup in prefix sums, which are exact.

Arguments are the same in all kernels of aggregates: `values` int64 or float64 per row of the batch; `nulls` uint8 per
row, empty if nothing is NULL; `start`, `end` int64 per segment, both rows included; `result` and `is_null` per segment,
filled. `offsets` cut the batch into partitions, and no segment reaches over a cut, so that prefix sums may run on.
"""

from __future__ import annotations

import numpy as np

from sparkrex.kernels.arithmetic import add_checked
from sparkrex.kernels.cached import njit
from sparkrex.kernels.inlined import inlined

HUGE = 1e140
"""Beyond it sums of squares may overflow."""


@inlined
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
