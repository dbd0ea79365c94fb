"""Correlation of two segments, paired by position. Arguments as in `sums`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sparkrex.kernels.cached import njit
from sparkrex.kernels.double_double import distance
from sparkrex.modes.segments.kernels.gathered import is_zero, longest_segment, moments
from sparkrex.modes.segments.kernels.sums import is_null_at

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray


class Side(NamedTuple):
    """A column and segments in it; a start of -1 means that there is none."""

    values: NDArray[Any]
    nulls: NDArray[np.uint8]
    start: NDArray[np.int64]
    end: NDArray[np.int64]


@njit(cache=True, nogil=True)
def correlation_scan(one, other, result, is_null):
    """Correlation of two segments paired by position."""
    x_values, x_nulls, x_start, x_end = one
    y_values, y_nulls, y_start, y_end = other
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
        if n < 2 or is_zero(x, n) or is_zero(y, n):
            continue
        is_null[k] = False
        xx, yy, xy, _, _ = moments(x, y, n)
        if n == 2 and xy == xy:
            result[k] = 1.0 if xy > 0 else -1.0
        else:
            result[k] = max(-1.0, min(1.0, xy / math.sqrt(xx * yy))) if xy == xy else xy
