"""Numbers of trends, in three forms; all functions here do the right thing for the form of the arrays they get.

A number is a line of three in an array.

- int64, exact: the low and the high half of a 128-bit integer, and whether it has become too large for that. Too large
  stays too large, so that nothing wraps; whether it matters is for whoever reads the number.
- float64, for logarithms and for sums of doubles: a pair of doubles (see `kernels.double_double`) and an exponent; the
  number is (high + low) * 2^(512 * exponent). The pair is kept between 2^-256 and 2^256, so that no sum of two can
  leave the range of doubles, and a number whose exponent is two below another's is nothing beside it.
- object, for all digits: a Python int, or for sums of doubles a Fraction, a float where one is infinite or NaN. Only
  plain Python can compute with it.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numba import types
from numba.extending import overload

from sparkrex.kernels.double_double import add_pairs, two_product, two_sum
from sparkrex.kernels.inlined import inlined

_SIGN = np.int64(-(2**63))
_HALF = np.uint64(0xFFFFFFFF)
_SHIFT = np.uint64(32)
_LARGE, _SMALL = 2.0**256, 2.0**-256
_DOWN, _UP = 2.0**-512, 2.0**512


@inlined
def _add_exact(target, at, source, of):
    low = target[at, 0] + source[of, 0]
    before, more = target[at, 1], source[of, 1]
    # Compared without their signs: the low half has none.
    carry = np.int64((low ^ _SIGN) < (source[of, 0] ^ _SIGN))
    high = before + more + carry
    target[at, 0] = low
    target[at, 1] = high
    target[at, 2] |= source[of, 2] | np.int64(((before ^ high) & (more ^ high)) < 0)


@inlined
def _normalise(target, at):
    size = abs(target[at, 0])
    if size >= _LARGE:
        target[at, 0] *= _DOWN
        target[at, 1] *= _DOWN
        target[at, 2] += 1.0
    elif size < _SMALL and size > 0.0:
        target[at, 0] *= _UP
        target[at, 1] *= _UP
        target[at, 2] -= 1.0
    elif size == 0.0:
        target[at, 1] = 0.0
        target[at, 2] = 0.0


@inlined
def _add_scaled(target, at, high, low, exponent):
    if high == 0.0:
        return
    if not (abs(high) < np.inf and abs(target[at, 0]) < np.inf):
        target[at, 0] += high  # infinite or NaN, whatever the exponents
        target[at, 1] = 0.0
        target[at, 2] = 0.0
        return
    if target[at, 0] == 0.0:
        target[at, 0] = high
        target[at, 1] = low
        target[at, 2] = exponent
        return
    apart = target[at, 2] - exponent
    if apart <= -2.0:
        target[at, 0] = high
        target[at, 1] = low
        target[at, 2] = exponent
        return
    if apart >= 2.0:
        return
    if apart == 1.0:
        high *= _DOWN
        low *= _DOWN
    elif apart == -1.0:
        target[at, 0] *= _DOWN
        target[at, 1] *= _DOWN
        target[at, 2] = exponent
    high, low = add_pairs(target[at, 0], target[at, 1], high, low)
    target[at, 0] = high
    target[at, 1] = low
    size = abs(high)
    if size >= _LARGE or size < _SMALL:
        _normalise(target, at)


@inlined
def _add_log(target, at, source, of):
    _add_scaled(target, at, source[of, 0], source[of, 1], source[of, 2])


def _add_objects(one, other):
    """Their sum. A float is infinite or NaN, and what is finite changes nothing about it."""
    if isinstance(one, float) == isinstance(other, float):
        return one + other
    return one if isinstance(one, float) else other


def add(target, at, source, of):
    """target[at] += source[of]; both of one form."""
    kind = target.dtype.kind
    if kind == "O":
        target[at, 0] = _add_objects(target[at, 0], source[of, 0])
    else:
        (_add_exact if kind == "i" else _add_log)(target, at, source, of)


@overload(add)
def _compiled_add(target, at, source, of):
    chosen = _add_exact if isinstance(target.dtype, types.Integer) else _add_log
    return lambda target, at, source, of: chosen(target, at, source, of)


def set_one(target, at):
    """target[at] = 1."""
    target[at, 0] = 1
    target[at, 1] = 0
    target[at, 2] = 0


@overload(set_one)
def _compiled_set_one(target, at):
    def exact(target, at):
        target[at, 0] = 1
        target[at, 1] = 0
        target[at, 2] = 0

    return exact


def clear(target, at):
    """target[at] = 0."""
    target[at, 0] = 0
    target[at, 1] = 0
    target[at, 2] = 0


@overload(clear)
def _compiled_clear(target, at):
    def compiled(target, at):
        target[at, 0] = 0
        target[at, 1] = 0
        target[at, 2] = 0

    return compiled


@inlined
def _is_zero_exact(values, at):
    return values[at, 0] == 0 and values[at, 1] == 0 and values[at, 2] == 0


@inlined
def _is_zero_log(values, at):
    return values[at, 0] == 0.0


def is_zero(values, at):
    """Whether values[at] is 0."""
    kind = values.dtype.kind
    if kind == "O":
        return values[at, 0] == 0
    return (_is_zero_exact if kind == "i" else _is_zero_log)(values, at)


@overload(is_zero)
def _compiled_is_zero(values, at):
    chosen = _is_zero_exact if isinstance(values.dtype, types.Integer) else _is_zero_log
    return lambda values, at: chosen(values, at)


@inlined
def _multiply(low, high, factor):
    """The product of a 128-bit integer and a 64-bit one, and whether it is too large. All by magnitude."""
    is_negative = (high < 0) != (factor < 0)
    if high < 0:
        low = -low
        high = ~high + np.int64(low == 0)
    # The magnitude of the smallest integer is its own bits without a sign.
    size = np.uint64(-factor) if factor < 0 else np.uint64(factor)
    a = np.uint64(low)
    b = np.uint64(high)
    f0, f1 = size & _HALF, size >> _SHIFT
    a0, a1 = a & _HALF, a >> _SHIFT
    b0, b1 = b & _HALF, b >> _SHIFT
    # Digits in base 2^32, from the lowest; every sum fits, since a product of two digits leaves room for two more.
    part = a0 * f0
    d0 = part & _HALF
    part = a1 * f0 + (part >> _SHIFT)
    d1, carry = part & _HALF, part >> _SHIFT
    part = a0 * f1 + d1
    d1 = part & _HALF
    part = a1 * f1 + carry + (part >> _SHIFT)
    d2, d3 = part & _HALF, part >> _SHIFT
    part = b0 * f0 + d2
    d2 = part & _HALF
    part = b1 * f0 + d3 + (part >> _SHIFT)
    d3, d4 = part & _HALF, part >> _SHIFT
    part = b0 * f1 + d3
    d3 = part & _HALF
    d4 = d4 + (part >> _SHIFT) + b1 * f1  # only whether it is 0 matters, and then nothing was lost
    is_large = d4 != np.uint64(0) or d3 >> np.uint64(31) != np.uint64(0) or (b1 != np.uint64(0) and f1 != np.uint64(0))
    low = np.int64(d0 | (d1 << _SHIFT))
    high = np.int64(d2 | (d3 << _SHIFT))
    if is_negative:
        low = -low
        high = ~high + np.int64(low == 0)
    return low, high, is_large


@inlined
def _add_product_exact(target, at, source, of, weight):
    low, high, is_large = _multiply(source[of, 0], source[of, 1], weight)
    before = target[at, 1]
    total = target[at, 0] + low
    carry = np.int64((total ^ _SIGN) < (low ^ _SIGN))
    target[at, 0] = total
    result = before + high + carry
    target[at, 1] = result
    is_large |= ((before ^ result) & (high ^ result)) < 0
    # Too often nothing is nothing still.
    target[at, 2] |= np.int64(is_large or (source[of, 2] != 0 and weight != 0))


@inlined
def _add_product_log(target, at, source, of, weight):
    factor = np.float64(weight)
    if factor == 0.0 or source[of, 0] == 0.0:
        return
    exponent = source[of, 2]
    if abs(factor) >= _LARGE:
        factor *= _DOWN
        exponent += 1.0
    elif abs(factor) < _SMALL:
        factor *= _UP
        exponent -= 1.0
    high, low = two_product(source[of, 0], factor)
    high, low = two_sum(high, low + source[of, 1] * factor)
    if high != high:  # the weight is infinite or NaN
        _add_scaled(target, at, weight * source[of, 0], 0.0, target[at, 2])
        return
    if abs(high) >= _LARGE:
        high *= _DOWN
        low *= _DOWN
        exponent += 1.0
    elif abs(high) < _SMALL:
        high *= _UP
        low *= _UP
        exponent -= 1.0
    _add_scaled(target, at, high, low, exponent)


def add_product(target, at, source, of, weight):
    """target[at] += source[of] * weight; both of one form."""
    if target.dtype.kind == "O":
        if isinstance(weight, int | np.integer):
            target[at, 0] += source[of, 0] * int(weight)
        elif np.isfinite(weight):
            target[at, 0] = _add_objects(target[at, 0], source[of, 0] * Fraction(float(weight)))
        elif source[of, 0]:
            target[at, 0] = _add_objects(target[at, 0], float(weight))  # so often, it is still infinite or NaN
    else:
        (_add_product_exact if target.dtype.kind == "i" else _add_product_log)(target, at, source, of, weight)


@overload(add_product)
def _compiled_add_product(target, at, source, of, weight):
    chosen = _add_product_exact if isinstance(target.dtype, types.Integer) else _add_product_log
    return lambda target, at, source, of, weight: chosen(target, at, source, of, weight)
