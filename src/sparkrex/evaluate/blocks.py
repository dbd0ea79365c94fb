"""SQL operators over a block of rows as NumPy arrays: NULLs, NaN and failures included.

Nothing here raises for bad values. Where the host may fail (an overflow, a zero divisor) or may round in another way,
the row is marked, and a mark counts only where the row reaches it: AND, OR, CASE and COALESCE drop the marks of
operands that they do not evaluate. Marks may be too many, never too few: if one is left in a condition, the host
evaluates it.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Mask: TypeAlias = "NDArray[np.bool_] | np.bool_ | None"

_SMALLEST, _LARGEST = -(2**63), 2**63 - 1
_EXACT_DOUBLE = 2**53
_PYTHON = {np.add: operator.add, np.subtract: operator.sub, np.multiply: operator.mul}


class Value:
    """One value a row, or a single one for all rows.

    `nulls` is true where the value is NULL, `failures` where computing it may fail; None: nowhere. What `data` holds in
    such rows means nothing. `has_nan` is None if that is not known.
    """

    __slots__ = ("_bounds", "data", "failures", "has_nan", "nulls")

    def __init__(self, data: Any, nulls: Mask = None, failures: Mask = None, has_nan: bool | None = None) -> None:
        self.data = data
        self.nulls = nulls
        self.failures = failures
        self.has_nan = has_nan
        self._bounds: tuple[int, int] | None = None

    def bounds(self) -> tuple[int, int]:
        """The least and the largest integer, rows without a meaning included."""
        if self._bounds is None:
            self._bounds = (int(np.min(self.data)), int(np.max(self.data)))
        return self._bounds

    def holds_nan(self) -> bool:
        """Whether a double of it may be NaN."""
        if self.has_nan is None:
            self.has_nan = bool(np.isnan(np.min(self.data)))
        return self.has_nan


def either(left: Mask, right: Mask) -> Mask:
    """Where one of the masks is true."""
    if left is None:
        return right
    return left if right is None else left | right


def within(mask: Mask, where: Any) -> Mask:
    """The mask, only where `where` is true."""
    return None if mask is None else mask & where


def _true(value: Value) -> Any:
    return value.data if value.nulls is None else value.data > value.nulls


def _not_false(value: Value) -> Any:
    return value.data if value.nulls is None else value.data | value.nulls


def _where(condition: Any, value: Value, otherwise: Value, failures: Mask = None) -> Value:
    """`value` where the condition is true, `otherwise` elsewhere."""
    nulls: Mask = None
    if value.nulls is not None or otherwise.nulls is not None:
        nulls = np.where(condition, _mask(value.nulls), _mask(otherwise.nulls))
    if value.failures is not None or otherwise.failures is not None:
        failures = either(failures, np.where(condition, _mask(value.failures), _mask(otherwise.failures)))
    return Value(np.where(condition, value.data, otherwise.data), nulls, failures)


def _mask(mask: Mask) -> NDArray[np.bool_] | np.bool_:
    return np.False_ if mask is None else mask


# -- logic ------------------------------------------------------------------------------------------------------------


def conjunction(values: Sequence[Value]) -> Value:
    """AND: a later operand is reached where none before it is false."""
    result = values[0]
    for value in values[1:]:
        if result.nulls is None and value.nulls is None and value.failures is None:
            result = Value(result.data & value.data, None, result.failures)
            continue
        reached = _not_false(result)
        true = _true(result) & _true(value)
        failures = either(result.failures, within(value.failures, reached))
        result = Value(true, (reached & _not_false(value)) > true, failures)
    return result


def both(values: Sequence[Value]) -> Value:
    """Whether all are true; unlike with AND each is computed, whatever the others are."""
    failures = None
    for value in values:
        failures = either(failures, value.failures)
    found = conjunction(values)
    return Value(found.data, found.nulls, failures)


def disjunction(values: Sequence[Value]) -> Value:
    """OR: a later operand is reached where none before it is true."""
    result = values[0]
    for value in values[1:]:
        if result.nulls is None and value.nulls is None and value.failures is None:
            result = Value(result.data | value.data, None, result.failures)
            continue
        decided = _true(result)
        true = decided | _true(value)
        failures = either(result.failures, within(value.failures, ~decided))
        result = Value(true, (_not_false(result) | _not_false(value)) > true, failures)
    return result


def negation(value: Value) -> Value:
    """NOT."""
    return Value(~value.data, value.nulls, value.failures)


def is_null(value: Value) -> Value:
    """IS NULL."""
    return Value(_mask(value.nulls), None, value.failures)


def is_true(value: Value) -> Value:
    """IS TRUE."""
    return Value(_true(value), None, value.failures)


def is_false(value: Value) -> Value:
    """IS FALSE."""
    return Value(~_not_false(value), None, value.failures)


# -- comparison -------------------------------------------------------------------------------------------------------


def _less_data(left: Value, right: Value, is_float: bool) -> Any:
    data = np.less(left.data, right.data)
    if is_float and right.holds_nan():
        data = data | (np.isnan(right.data) > np.isnan(left.data))
    return data


def _equal_data(left: Value, right: Value, is_float: bool) -> Any:
    data = np.equal(left.data, right.data)
    if is_float and left.holds_nan() and right.holds_nan():
        data = data | (np.isnan(left.data) & np.isnan(right.data))
    return data


def compare(function: str, left: Value, right: Value, is_float: bool) -> Value:
    """A comparison by its canonical name. NaN equals NaN and is above every number; -0.0 equals 0.0."""
    match function:
        case "eq":
            data = _equal_data(left, right, is_float)
        case "ne":
            data = ~_equal_data(left, right, is_float)
        case "lt":
            data = _less_data(left, right, is_float)
        case "gt":
            data = _less_data(right, left, is_float)
        case "le":
            data = ~_less_data(right, left, is_float)
        case _:
            data = ~_less_data(left, right, is_float)
    return Value(data, either(left.nulls, right.nulls), either(left.failures, right.failures))


def is_distinct(left: Value, right: Value, is_float: bool) -> Value:
    """IS DISTINCT FROM."""
    differs = ~_equal_data(left, right, is_float)
    failures = either(left.failures, right.failures)
    if left.nulls is None and right.nulls is None:
        return Value(differs, None, failures)
    one, both = _mask(left.nulls), _mask(right.nulls)
    return Value((one ^ both) | (differs > (one | both)), None, failures)


# -- choices ----------------------------------------------------------------------------------------------------------


def case(conditions: Sequence[Value], values: Sequence[Value]) -> Value:
    """CASE: one value a condition, then the value of ELSE."""
    result = values[-1]
    for condition, value in zip(reversed(conditions), reversed(values[:-1]), strict=True):
        result = _where(_true(condition), value, result, condition.failures)
    return result


def coalesce(values: Sequence[Value]) -> Value:
    """COALESCE."""
    result = values[-1]
    for value in reversed(values[:-1]):
        if value.nulls is None:
            result = value
            continue
        known = ~value.nulls
        failures = either(value.failures, within(result.failures, value.nulls))
        result = _where(known, Value(value.data), Value(result.data, result.nulls))
        result.failures = failures
    return result


def null_if(value: Value, other: Value, equal: Value) -> Value:
    """NULLIF: `equal` compares the two."""
    return Value(value.data, either(value.nulls, _true(equal)), either(value.failures, other.failures))


def extreme(values: Sequence[Value], is_greatest: bool, is_strict: bool, is_float: bool) -> Value:
    """GREATEST and LEAST; a NULL among the values makes a strict one NULL and is passed over by the other."""
    result = values[0]
    for value in values[1:]:
        better = _less_data(result, value, is_float) if is_greatest else _less_data(value, result, is_float)
        failures = either(result.failures, value.failures)
        if is_strict:
            nulls = either(result.nulls, value.nulls)
        else:
            nulls = None if result.nulls is None or value.nulls is None else result.nulls & value.nulls
            better = better if value.nulls is None else better > value.nulls
            better = better if result.nulls is None else better | result.nulls
        result = Value(np.where(better, value.data, result.data), nulls, failures)
    return result


# -- arithmetic -------------------------------------------------------------------------------------------------------


def integer_arithmetic(function: Any, left: Value, right: Value, limits: tuple[int, int]) -> Value:
    """Sum, difference or product of int64; a result outside the limits is a failure."""
    nulls = either(left.nulls, right.nulls)
    failures = either(left.failures, right.failures)
    data = function(left.data, right.data)
    corners = [_PYTHON[function](one, other) for one in left.bounds() for other in right.bounds()]
    if min(corners) >= _SMALLEST and max(corners) <= _LARGEST:
        if limits[0] > min(corners) or limits[1] < max(corners):
            failures = either(failures, _mask_outside_nulls((data < limits[0]) | (data > limits[1]), nulls))
        return Value(data, nulls, failures)
    # Some result may have wrapped. Doubles tell which are far from the limits; the rest is left to the host.
    size = np.abs(function(np.asarray(left.data, np.float64), np.asarray(right.data, np.float64)))
    return Value(data, nulls, either(failures, _mask_outside_nulls(size > 0.999 * limits[1], nulls)))


def _mask_outside_nulls(mask: Any, nulls: Mask) -> Mask:
    """The mask outside NULLs; None if it is true nowhere."""
    if nulls is not None:
        mask = mask > nulls
    return mask if np.any(mask) else None


def limited(value: Value, limits: tuple[int, int]) -> Value:
    """The integer, a failure outside the limits."""
    low, high = value.bounds()
    if limits[0] <= low and high <= limits[1]:
        return value
    outside = _mask_outside_nulls((value.data < limits[0]) | (value.data > limits[1]), value.nulls)
    return Value(value.data, value.nulls, either(value.failures, outside))


def float_arithmetic(function: Any, left: Value, right: Value) -> Value:
    """Sum, difference or product of doubles."""
    return Value(
        function(left.data, right.data), either(left.nulls, right.nulls), either(left.failures, right.failures)
    )


def _zeros(divisor: Value) -> Mask:
    """Where the divisor is zero. The host tests it before it looks at the dividend."""
    return None if np.all(divisor.data) else _mask_outside_nulls(divisor.data == 0, divisor.nulls)


def float_division(left: Value, right: Value, on_zero: str) -> Value:
    """Quotient of doubles. A zero divisor gives what IEEE says, a `failure`, or the dividend times `infinity`."""
    data = np.true_divide(left.data, right.data)
    failures = either(left.failures, right.failures)
    zeros = None if on_zero == "ieee" else _zeros(right)
    if zeros is not None and on_zero == "failure":
        failures = either(failures, zeros)
    elif zeros is not None:
        data = np.where(zeros, left.data * np.inf, data)
    return Value(data, either(left.nulls, right.nulls), failures)


def float_remainder(left: Value, right: Value, fails_on_zero: bool) -> Value:
    """Remainder of doubles with the sign of the dividend."""
    failures = either(left.failures, right.failures)
    if fails_on_zero:
        failures = either(failures, _zeros(right))
    return Value(np.fmod(left.data, right.data), either(left.nulls, right.nulls), failures)


def integer_division(left: Value, right: Value, *, is_remainder: bool) -> Value:
    """Quotient of int64, truncated, or its remainder, which has the sign of the dividend."""
    failures = either(either(left.failures, right.failures), _zeros(right))
    if left.bounds()[0] == _SMALLEST:
        failures = either(failures, left.data == _SMALLEST)
    divisor = np.where(right.data == 0, np.int64(1), right.data)
    remainder = np.fmod(left.data, divisor)
    data = remainder if is_remainder else np.floor_divide(left.data - remainder, divisor)
    return Value(data, either(left.nulls, right.nulls), failures)


def integer_sign(function: Any, value: Value, limits: tuple[int, int]) -> Value:
    """ABS or negation of int64."""
    value = limited(value, (-limits[1], limits[1]))
    return Value(function(value.data), value.nulls, value.failures)


def as_double(value: Value, scale: int) -> Value:
    """A scaled integer as a double."""
    data = np.asarray(value.data, np.float64)
    if scale:
        # The host rounds larger decimals in two steps.
        value = limited(value, (-_EXACT_DOUBLE, _EXACT_DOUBLE))
        data = data / 10.0**scale
    return Value(data, value.nulls, value.failures, has_nan=False)


def as_long(value: Value) -> Value:
    """An integer, date or time in 64 bits."""
    if getattr(value.data, "dtype", None) == np.int64:
        return value
    return Value(np.asarray(value.data, np.int64), value.nulls, value.failures)
