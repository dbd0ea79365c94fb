"""How far rows are from the mean of those before them. Arguments as in `sums`."""

from __future__ import annotations

import math

import numpy as np

from sparkrex.kernels.cached import njit
from sparkrex.modes.segments.kernels.gathered import gather, is_zero, scaled_spread
from sparkrex.modes.segments.kernels.sums import is_null_at


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
            n = gather(values, nulls, first, row, x)
            if is_zero(x, n):
                continue
            is_null[row] = False
            square, scale = scaled_spread(x, n)
            total = 0.0
            for k in range(n):
                total += (x[n - 1] - x[k]) * scale
            result[row] = total / n / math.sqrt(square / n)
