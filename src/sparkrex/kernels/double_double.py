"""Numbers as unevaluated sums of two doubles (about 106 bits), for prefix sums whose differences must stay exact.

A pair (high, low) stands for high + low, low being at most half a unit in the last place of high. The error-free
transformations of Dekker and Knuth; none of this survives `fastmath`.
"""

from __future__ import annotations

import numpy as np
from numba import types
from numba.extending import overload

from sparkrex.kernels.cached import njit

_SPLIT = 134217729.0  # 2^27 + 1
_LOW_BITS = np.int64(0xFFFFFFFF)


@njit(cache=True, nogil=True)
def two_sum(a, b):
    """a + b and its rounding error."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@njit(cache=True, nogil=True)
def two_product(a, b):
    """a * b and its rounding error."""
    product = a * b
    a_big = _SPLIT * a
    a_high = a_big - (a_big - a)
    a_low = a - a_high
    b_big = _SPLIT * b
    b_high = b_big - (b_big - b)
    b_low = b - b_high
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


@njit(cache=True, nogil=True)
def add_pairs(a_high, a_low, b_high, b_low):
    """Sum of two pairs, also where they cancel."""
    high, error = two_sum(a_high, b_high)
    low, rest = two_sum(a_low, b_low)
    high, error = two_sum(high, error + low)
    return two_sum(high, error + rest)


@njit(cache=True, nogil=True)
def subtract_sums(a_high, a_low, b_high, b_low):
    """Difference of two pairs, with an error relative to the pairs, not to what is left of them.

    That is no more than prefix sums have in them anyway.
    """
    high, error = two_sum(a_high, -b_high)
    error += a_low - b_low
    total = high + error
    return total, error - (total - high)


@njit(cache=True, nogil=True)
def multiply_pairs(a_high, a_low, b_high, b_low):
    """Product of two pairs."""
    high, low = two_product(a_high, b_high)
    return two_sum(high, low + (a_high * b_low + a_low * b_high))


@njit(cache=True, nogil=True)
def _int_difference(a, b):
    # In halves, since the difference of two int64 may need 65 bits.
    upper = np.float64((a >> 32) - (b >> 32)) * 4294967296.0
    return two_sum(upper, np.float64((a & _LOW_BITS) - (b & _LOW_BITS)))


@njit(cache=True, nogil=True)
def _float_difference(a, b):
    return two_sum(a, -b)


def difference(a, b):
    """a - b as a pair: exact, of two int64 as of two doubles."""
    return _int_difference(a, b) if isinstance(a, int | np.integer) else _float_difference(a, b)


@overload(difference)
def _compiled_difference(a, b):
    chosen = _int_difference if isinstance(a, types.Integer) else _float_difference
    return lambda a, b: chosen(a, b)


@njit(cache=True, nogil=True)
def _int_distance(a, b):
    if (a ^ b) >= 0:  # of the same sign: the difference is an int64
        return np.float64(a - b)
    high, low = _int_difference(a, b)
    return high + low


@njit(cache=True, nogil=True)
def _float_distance(a, b):
    return a - b


def distance(a, b):
    """a - b as one double, rounded once, of two int64 as of two doubles."""
    return _int_distance(a, b) if isinstance(a, int | np.integer) else _float_distance(a, b)


@overload(distance)
def _compiled_distance(a, b):
    chosen = _int_distance if isinstance(a, types.Integer) else _float_distance
    return lambda a, b: chosen(a, b)
