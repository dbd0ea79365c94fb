"""What is known of a table's columns, for proofs about conditions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sparkrex.scalar.prove import Facts, ValueKind

_DECIMAL_DIGITS = 18
_NUMBERS = (ValueKind.INTEGER, ValueKind.DECIMAL, ValueKind.DOUBLE)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable


def facts_of(
    schema: pa.Schema, table: pa.Table | None = None, columns: Iterable[str] | None = None,
    signed: Collection[str] | None = None,
) -> Facts:
    """The kinds of columns, and what the table shows of their values.

    Give the table only if it has all rows: of rows to come nothing is known. `columns` are those to look at, and
    `signed` those whose least value is looked for, which takes time; all if None.
    """
    names = [name for name in (schema.names if columns is None else columns) if schema.names.count(name) == 1]
    kinds = {name: value_kind(schema.field(name).type) for name in names}
    if table is None:
        return Facts(kinds)
    return Facts(
        kinds,
        frozenset(name for name in names if table.column(name).null_count == 0),
        frozenset(
            name for name in names
            if kinds[name] in _NUMBERS and (signed is None or name in signed) and is_positive(table.column(name))
        ),
    )


def value_kind(type_: pa.DataType) -> ValueKind:
    """The kind of values of an Arrow type."""
    if pa.types.is_dictionary(type_):
        type_ = type_.value_type
        return ValueKind.TEXT if _is_text(type_) else ValueKind.OTHER
    if pa.types.is_integer(type_):
        return ValueKind.INTEGER
    if pa.types.is_float64(type_):
        return ValueKind.DOUBLE
    if pa.types.is_decimal128(type_) and 0 <= type_.scale <= type_.precision <= _DECIMAL_DIGITS:
        return ValueKind.DECIMAL
    if pa.types.is_floating(type_) or pa.types.is_decimal(type_):
        return ValueKind.NUMBER
    if pa.types.is_boolean(type_):
        return ValueKind.BOOLEAN
    if _is_text(type_):
        return ValueKind.TEXT
    # A time with a zone is compared with constants by rules of the session's zone, one in nanoseconds may be rounded.
    is_plain_time = pa.types.is_time(type_) or (pa.types.is_timestamp(type_) and type_.tz is None)
    if pa.types.is_date32(type_) or (is_plain_time and type_.unit != "ns"):
        return ValueKind.TIME
    return ValueKind.OTHER


def _is_text(type_: pa.DataType) -> bool:
    return bool(pa.types.is_string(type_) or pa.types.is_large_string(type_))


def is_positive(values: pa.ChunkedArray) -> bool:
    """Whether every value that is not NULL is above zero. Arrow leaves NaN out of a minimum, and NaN is above zero."""
    return all(_is_positive(chunk) for chunk in values.chunks)


def _is_positive(values: pa.Array) -> bool:
    is_plain = pa.types.is_integer(values.type) or pa.types.is_float64(values.type)
    if is_plain and len(values) and values.null_count == 0:
        lowest = values.to_numpy().min()  # several times as fast as Arrow's, and NaN if there is one
        if not np.isnan(lowest):
            return bool(lowest > 0)
    least = pc.min(values)
    return not least.is_valid or not least.as_py() <= 0
