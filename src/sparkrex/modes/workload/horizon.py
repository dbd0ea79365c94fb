"""Times as numbers, and the time before a time: no event to come is at or before it, if events come in order."""

from __future__ import annotations

from decimal import Decimal
from math import inf, nextafter

import pyarrow as pa


def before(time: pa.Scalar) -> pa.Scalar | None:
    """The largest value of the type below a time; None where there is none, or the type has no such thing."""
    kind = time.type
    if not time.is_valid:
        return None
    if pa.types.is_floating(kind):
        return pa.scalar(nextafter(time.as_py(), -inf), kind)
    if pa.types.is_decimal(kind):
        return pa.scalar(time.as_py() - Decimal(1).scaleb(-kind.scale), kind)
    bits = {1: pa.int8(), 2: pa.int16(), 4: pa.int32(), 8: pa.int64()}
    if pa.types.is_integer(kind):
        return pa.scalar(time.as_py() - 1, kind) if time.as_py() > _least(kind) else None
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind) or pa.types.is_time(kind):
        number = time.cast(bits[kind.bit_width // 8]).as_py()
        return pa.scalar(number - 1, bits[kind.bit_width // 8]).cast(kind)
    return None


def number_of(time: pa.Scalar) -> float | None:
    """A time as a number, in the unit of its type; None for what has none."""
    kind = time.type
    if not time.is_valid:
        return None
    if pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind):
        return float(time.as_py())
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind) or pa.types.is_time(kind):
        return float(time.cast(pa.int32() if kind.bit_width == 32 else pa.int64()).as_py())
    return None


def _least(kind: pa.DataType) -> int:
    return 0 if pa.types.is_unsigned_integer(kind) else -(2 ** (kind.bit_width - 1))
