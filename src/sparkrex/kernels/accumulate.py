"""Aggregates over found matches, accumulated in row order."""

from __future__ import annotations

import numpy as np
from numba import njit

from sparkrex.kernels.machine import (
    AVG,
    COUNT,
    COUNT_IF,
    MAX,
    MIN,
    STDDEV_SAMP,
    SUM,
    VAR_SAMP,
    add_checked,
    less,
)


@njit(cache=True, nogil=True)
def accumulate_ints(label_offsets, takes_part, values, nulls, kind, running, result, reals, is_null):
    """Aggregate integers (booleans, times) per match, or per mapped row if `running`.

    Parameters
    ----------
    label_offsets : int64, n_matches + 1
    takes_part : bool per mapped row
    values, nulls : int64 and bool per mapped row
    kind : one of the kinds of `kernels.machine`
    result, reals, is_null : int64, float64, bool per output, filled; averages and variances go to `reals`

    Returns False if a sum left int64.
    """
    for m in range(label_offsets.shape[0] - 1):
        count = np.int64(0)
        whole = np.int64(0)
        mean = 0.0
        square = 0.0
        for i in range(label_offsets[m], label_offsets[m + 1]):
            if takes_part[i] and not nulls[i]:
                value = values[i]
                if kind == COUNT_IF:
                    count += value
                else:
                    count += 1
                    if kind in (SUM, AVG):
                        whole, overflowed = add_checked(whole, value)
                        if overflowed:
                            return False
                    elif kind == MIN:
                        whole = value if count == 1 else min(whole, value)
                    elif kind == MAX:
                        whole = value if count == 1 else max(whole, value)
                    elif kind >= VAR_SAMP:
                        delta = value - mean
                        mean += delta / count
                        square += delta * (value - mean)
            if running or i == label_offsets[m + 1] - 1:
                to = i if running else m
                is_null[to] = False
                if kind in (COUNT, COUNT_IF):
                    result[to] = count
                elif count == 0 or (count == 1 and (kind in (VAR_SAMP, STDDEV_SAMP))):
                    is_null[to] = True
                elif kind == AVG:
                    reals[to] = whole / count
                elif kind <= MAX:
                    result[to] = whole
                else:
                    freedom = count - 1 if (kind in (VAR_SAMP, STDDEV_SAMP)) else count
                    reals[to] = np.sqrt(square / freedom) if kind >= STDDEV_SAMP else square / freedom
    return True


@njit(cache=True, nogil=True)
def accumulate_floats(label_offsets, takes_part, values, nulls, kind, running, result, reals, is_null):
    """The same for doubles. NaN is above every number."""
    for m in range(label_offsets.shape[0] - 1):
        count = np.int64(0)
        real = 0.0
        square = 0.0
        for i in range(label_offsets[m], label_offsets[m + 1]):
            if takes_part[i] and not nulls[i]:
                value = values[i]
                count += 1
                if kind in (SUM, AVG):
                    real += value
                elif kind == MIN:
                    if count == 1 or less(value, real):
                        real = value
                elif kind == MAX:
                    if count == 1 or less(real, value):
                        real = value
                elif kind >= VAR_SAMP:
                    delta = value - real
                    real += delta / count
                    square += delta * (value - real)
            if running or i == label_offsets[m + 1] - 1:
                to = i if running else m
                is_null[to] = False
                if kind == COUNT:
                    result[to] = count
                elif count == 0 or (count == 1 and (kind in (VAR_SAMP, STDDEV_SAMP))):
                    is_null[to] = True
                elif kind == AVG:
                    reals[to] = real / count
                elif kind <= MAX:
                    reals[to] = real
                else:
                    freedom = count - 1 if (kind in (VAR_SAMP, STDDEV_SAMP)) else count
                    reals[to] = np.sqrt(square / freedom) if kind >= STDDEV_SAMP else square / freedom
    return True
