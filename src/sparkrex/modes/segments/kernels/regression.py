"""R^2, signed R^2 and slope of the least-squares line of y over x, from sums (see `co_moments`)."""

from __future__ import annotations

import numpy as np

from sparkrex.kernels.cached import njit
from sparkrex.modes.segments.kernels.co_moments import N_AT, N_SUMS, centred, is_certain, pairs_in, segment_sums
from sparkrex.modes.segments.kernels.gathered import SLOPE, gather, longest_segment, regression_from, regression_of


@njit(cache=True, nogil=True)
def regression(kind, pairs, table, start, end, result, is_null):
    """The value of each segment; NULL for fewer than two pairs or if x, or y but for the slope, does not vary."""
    longest = longest_segment(start, end)
    x = np.empty(longest)
    y = np.empty(longest)
    x_values, y_values, nulls, _ = pairs
    _, _, _, x_changes, y_changes = table
    at = np.full(N_AT, -1, np.int64)
    parts = np.empty((3, N_SUMS))
    has_changes = x_changes.shape[0] > 0
    for k in range(start.shape[0]):
        first = start[k]
        last = end[k]
        n, is_finite = pairs_in(pairs, table, first, last)
        result[k] = 0.0
        # Infinities do not vary either, but their distances are NaN: that is left to the gathered values.
        is_null[k] = n < 2 or (has_changes and is_finite and x_changes[first] > last)
        if is_null[k]:
            continue
        if has_changes and is_finite and y_changes[first] > last:
            is_null[k] = kind != SLOPE
            continue
        if is_finite:
            a, b, c, d, e = segment_sums(pairs, table, first, last, at, parts)
            xx = centred(n, c, a, a)
            yy = centred(n, d, b, b)
            if is_certain(n, c, xx) and is_certain(n, d, yy):
                result[k] = regression_from(kind, n, xx, yy, centred(n, e, a, b), 1.0, 1.0)
                continue
        n = gather(x_values, nulls, first, last, x)
        gather(y_values, nulls, first, last, y)
        result[k], is_null[k] = regression_of(kind, x, y, n)
