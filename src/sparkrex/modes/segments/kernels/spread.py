"""Variances and their roots, from sums of x and x^2 (see `co_moments`, with x for y)."""

from __future__ import annotations

import math

import numpy as np

from sparkrex.kernels.cached import njit
from sparkrex.modes.segments.kernels.co_moments import N_AT, N_SUMS, centred, is_certain, pairs_in, segment_sums
from sparkrex.modes.segments.kernels.gathered import gather, longest_segment, spread_of


@njit(cache=True, nogil=True)
def spread(pairs, table, start, end, lost, is_root, result, is_null):
    """The sum of squares about the mean divided by n - lost, or its root; NULL unless n > lost."""
    x = np.empty(longest_segment(start, end))
    x_values, _, nulls, _ = pairs
    _, _, _, x_changes, _ = table
    at = np.full(N_AT, -1, np.int64)
    parts = np.empty((3, N_SUMS))
    has_changes = x_changes.shape[0] > 0
    for k in range(start.shape[0]):
        first = start[k]
        last = end[k]
        n, is_finite = pairs_in(pairs, table, first, last)
        is_null[k] = n <= lost
        if n <= lost:
            continue
        square = 0.0
        is_known = is_finite and has_changes and x_changes[first] > last
        if is_finite and not is_known:
            total, _, squares, _, _ = segment_sums(pairs, table, first, last, at, parts)
            square = centred(n, squares, total, total)
            is_known = is_certain(n, squares, square)
            square /= n
        if not is_known:
            square = spread_of(x, gather(x_values, nulls, first, last, x))
        variance = square / (n - lost)
        result[k] = math.sqrt(variance) if is_root else variance
