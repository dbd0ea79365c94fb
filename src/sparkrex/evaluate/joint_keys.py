"""Values of two columns that are compared with each other as integers: keys in one order.

Kernels compare keys, whatever the values are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sparkrex.columns.values import floats_of, ints_of, kind_of, nulls_of, numpy_of
from sparkrex.columns.wrap import wrap
from sparkrex.errors import AnalysisError, UnsupportedError
from sparkrex.kernels.null_key import NULL_KEY

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.source import Source, Span

_SIGN_OUT = np.int64(0x7FFFFFFFFFFFFFFF)


def joint_keys(
    left: pa.Array, right: pa.Array, source: Source, span: Span
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The keys of both sides of a comparison, which stands at `span`; NULL_KEY where a value is NULL."""
    left, right = _of_one_type(left, right, source, span)
    keys = own_keys(left), own_keys(right)
    if keys[0] is not None and keys[1] is not None:
        return keys[0], keys[1]
    if pa.types.is_nested(left.type):
        raise UnsupportedError(
            "REX301", f"a comparison of events by values of type {left.type}", source, span,
            hint="compare a part of it",
        )
    # By the order of all values that occur.
    both = pa.concat_arrays([left, right]).dictionary_encode()
    order = numpy_of(pc.array_sort_indices(both.dictionary).cast(pa.int64()))
    ranks = np.empty(len(order) + 1, np.int64)
    ranks[order] = np.arange(len(order))
    codes = ranks[numpy_of(both.indices.cast(pa.int64()).fill_null(len(order)))]
    return _with_null(codes[: len(left)], left), _with_null(codes[len(left) :], right)


def own_keys(values: pa.Array) -> NDArray[np.int64] | None:
    """Keys that mean the same in every comparison with values of this type; None if there are none such."""
    kind = kind_of(values.type)
    if kind is None or kind.name == "string":
        return None
    keys = order_keys(values)
    return None if len(keys) and int(keys.min()) <= int(NULL_KEY) else _with_null(keys, values)


def _with_null(keys: NDArray[np.int64], values: pa.Array) -> NDArray[np.int64]:
    return np.where(nulls_of(values) == 1, NULL_KEY, keys) if values.null_count else keys


def _of_one_type(left: pa.Array, right: pa.Array, source: Source, span: Span) -> tuple[pa.Array, pa.Array]:
    """Both sides in the type that hosts compare them in."""
    one, other = left.type, right.type
    if one == other:
        return left, right
    target: pa.DataType | None = None
    if pa.types.is_null(one) or pa.types.is_null(other):
        target = other if pa.types.is_null(one) else one
    elif all(_is_number(kind) for kind in (one, other)):
        target = _number_type(one, other)
    elif all(pa.types.is_date(kind) or pa.types.is_timestamp(kind) for kind in (one, other)):
        zones = {kind.tz for kind in (one, other) if pa.types.is_timestamp(kind)}
        units = {kind.unit for kind in (one, other) if pa.types.is_timestamp(kind)}
        if len(zones) == 1:
            target = pa.timestamp("ns" if "ns" in units else "us", zones.pop())
    elif all(pa.types.is_string(kind) or pa.types.is_large_string(kind) for kind in (one, other)):
        target = pa.large_string()
    if target is None:
        raise AnalysisError(
            "REX214", f"a {one} and a {other} cannot be compared", source, span, hint="cast one of them",
        )
    return _cast(left, target), _cast(right, target)


def _cast(values: pa.Array, target: pa.DataType) -> pa.Array:
    if pa.types.is_decimal(values.type) and pa.types.is_floating(target):
        return wrap(floats_of(values), nulls_of(values) == 1)
    return pc.cast(values, target, safe=not pa.types.is_floating(target))


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _number_type(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    if pa.types.is_floating(one) or pa.types.is_floating(other):
        return pa.float64()
    if pa.types.is_integer(one) and pa.types.is_integer(other):
        return pa.int64()
    scale = max(kind.scale for kind in (one, other) if pa.types.is_decimal(kind))
    return pa.decimal128(38, scale)


def order_keys(values: pa.Array) -> NDArray[np.int64]:
    """Integers that are ordered as the values are; NaN is above all numbers, -0.0 equals 0.0, NULL rows hold any."""
    if not pa.types.is_floating(values.type):
        return ints_of(values)
    floats = floats_of(values) + 0.0
    floats = np.where(np.isnan(floats), np.nan, floats)
    bits = floats.view(np.int64)
    return np.where(bits < 0, bits ^ _SIGN_OUT, bits)
