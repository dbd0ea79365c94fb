"""Checked integers, and doubles compared as SQL does."""

from __future__ import annotations

import numpy as np

from sparkrex.kernels.lazy import njit

SMALLEST, LARGEST = np.int64(-(2**63)), np.int64(2**63 - 1)


@njit(cache=True, nogil=True)
def less(a, b):
    """`a < b` for doubles: NaN equals NaN and is above every number."""
    return a < b or (b != b and a == a)


@njit(cache=True, nogil=True)
def equal(a, b):
    """`a = b` for doubles, NaN included."""
    return a == b or (a != a and b != b)


# Overflow is looked for before computing: compiled code may take for granted that signed arithmetic does not wrap, and
# then drops a check of its result.


@njit(cache=True, nogil=True)
def add_checked(a, b):
    """Sum and whether it overflowed."""
    if (b > 0 and a > LARGEST - b) or (b < 0 and a < SMALLEST - b):
        return np.int64(0), True
    return a + b, False


@njit(cache=True, nogil=True)
def subtract_checked(a, b):
    """Difference and whether it overflowed."""
    if (b < 0 and a > LARGEST + b) or (b > 0 and a < SMALLEST + b):
        return np.int64(0), True
    return a - b, False


@njit(cache=True, nogil=True)
def multiply_checked(a, b):
    """Product and whether it overflowed; the smallest integer itself counts as overflow unless a factor is 1."""
    if a == 0 or b == 0:
        return np.int64(0), False
    if a == 1 or b == 1:
        return a * b, False
    if a == SMALLEST or b == SMALLEST or abs(a) > LARGEST // abs(b):
        return np.int64(0), True
    return a * b, False
