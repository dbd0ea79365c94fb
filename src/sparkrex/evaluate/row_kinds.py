"""The kinds of values that blocks hold, and which of them the host brings together.

As in `columns.values`, and stricter: an integer has a width (0: unsigned), a float is not a double, times keep their
unit. Where the host would convert in a way of its own, `common_kind` refuses.
"""

from __future__ import annotations

import pyarrow as pa

from sparkrex.columns.values import BOOL, FLOAT, STRING, Kind

NULL, UNKNOWN = Kind("null"), Kind("unknown")
FLOAT32, DATE, MICROSECONDS = Kind("float32"), Kind("date"), Kind("timestamp", "us")
FLOATS = (FLOAT, FLOAT32)
UNSIGNED = Kind("int", 0)

# A decimal has at most 18 digits here. Dates and times stay away from those that stand for infinity.
DECIMAL_LIMITS = (1 - 10**18, 10**18 - 1)
TIME_LIMITS = (-(2**62), 2**62)
DATE_LIMITS = (-(2**30), 2**30)
LONG_LIMITS = (-(2**63), 2**63 - 1)


class CannotVectoriseError(Exception):
    """The condition is left to the host; says why."""


def row_kind(type_: pa.DataType) -> Kind | None:
    """The kind of values of an Arrow type, with the width of integers (0: unsigned); None if blocks cannot hold it."""
    if pa.types.is_dictionary(type_):
        type_ = type_.value_type
        return STRING if _is_string(type_) else None
    if pa.types.is_boolean(type_):
        return BOOL
    if pa.types.is_signed_integer(type_):
        return Kind("int", type_.bit_width)
    if pa.types.is_unsigned_integer(type_):
        return UNSIGNED if type_.bit_width < 64 else None
    if pa.types.is_float64(type_):
        return FLOAT
    if pa.types.is_float32(type_):
        return FLOAT32
    if pa.types.is_date32(type_):
        return DATE
    if pa.types.is_timestamp(type_):
        if type_.tz is None:
            return Kind("timestamp", type_.unit)
        return None if type_.unit == "ns" else Kind("timestamp", type_.unit + " zoned")
    if pa.types.is_time(type_):
        return None if type_.unit == "ns" else Kind("time", type_.unit)
    if pa.types.is_decimal128(type_) and type_.precision <= 18 and type_.scale >= 0:
        return Kind("decimal", type_.scale)
    return STRING if _is_string(type_) else None


def _is_string(type_: pa.DataType) -> bool:
    return bool(pa.types.is_string(type_) or pa.types.is_large_string(type_))


def common_kind(left: Kind, right: Kind) -> Kind:
    """The kind in which the host compares both."""
    if left == right or right == NULL:
        return left
    if left == NULL:
        return right
    names = {left.name, right.name}
    if names == {"int"}:
        # An unsigned integer is compared only, and every integer is compared as it is.
        widths = int(left.detail or 0), int(right.detail or 0)
        return Kind("int", max(widths) if min(widths) else 0)
    if names <= {"int", "decimal"}:
        return Kind("decimal", max(int(kind.detail or 0) for kind in (left, right) if kind.name == "decimal"))
    if names <= {"int", "decimal", "float", "float32"}:
        return FLOAT if "float" in names else FLOAT32
    if names == {"date", "timestamp"} and "us" in (left.detail, right.detail):
        return MICROSECONDS
    if names == {"timestamp"}:
        details = [str(kind.detail) for kind in (left, right)]
        if "ns" not in details and len({"zoned" in detail for detail in details}) == 1:
            return Kind("timestamp", "us zoned" if "zoned" in details[0] else "us")
    raise CannotVectoriseError(f"{left.name} with {right.name}")


def limits_of(kind: Kind) -> tuple[int, int]:
    """The least and the largest integer that the kind holds."""
    if kind.name == "decimal":
        return DECIMAL_LIMITS
    bits = int(kind.detail or 64)
    return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
