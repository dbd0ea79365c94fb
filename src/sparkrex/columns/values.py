"""Arrow arrays as the int64 and float64 arrays that kernels read, and the kinds of values they hold.

A kind says what an int64 means: an integer, a boolean, a day, a time, a scaled decimal, a string's code. Two values can
be compared if their kinds agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sparkrex.columns.wrap import unwrap, wrap_strings

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Kind:
    """`name` is int, float, bool, date, timestamp, time, decimal, string or interval; `detail` a scale or unit."""

    name: str
    detail: str | int | None = None


_EXACT_INTEGER, _EXACT_POWER = 1 << 53, 22
"""Integers up to here, and powers of ten with exponents up to there, are doubles."""

INT, FLOAT, BOOL, STRING, INTERVAL = Kind("int"), Kind("float"), Kind("bool"), Kind("string"), Kind("interval")


def kind_of(type_: pa.DataType) -> Kind | None:
    """The kind of an Arrow type, None if kernels cannot hold it."""
    if pa.types.is_dictionary(type_):
        return kind_of(type_.value_type)
    if pa.types.is_boolean(type_):
        return BOOL
    if pa.types.is_integer(type_) and type_ != pa.uint64():
        return INT
    if pa.types.is_floating(type_):
        return FLOAT
    if pa.types.is_date32(type_):
        return Kind("date")
    if pa.types.is_timestamp(type_):
        return Kind("timestamp", type_.unit + ("" if type_.tz is None else " zoned"))
    if pa.types.is_time(type_):
        return Kind("time", type_.unit)
    if pa.types.is_decimal128(type_) and type_.precision <= 18:
        return Kind("decimal", type_.scale)
    if pa.types.is_string(type_) or pa.types.is_large_string(type_):
        return STRING
    return None


def plain(values: pa.ChunkedArray | pa.Array) -> pa.Array:
    """One contiguous array, dictionaries decoded."""
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks() if values.num_chunks != 1 else values.chunk(0)
    if isinstance(values, pa.ChunkedArray):
        values = pa.concat_arrays(values.chunks) if values.num_chunks else pa.array([], values.type)
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    return values


def numpy_of(values: pa.Array) -> NDArray[Any]:
    """The array in NumPy, copied only where it must be.

    Numbers and booleans are read from their buffers, because the first call of `to_numpy` loads pandas.
    """
    kind = values.type
    buffer = values.buffers()[1] if values.null_count == 0 and len(values) and pa.types.is_primitive(kind) else None
    if buffer is not None and pa.types.is_boolean(kind):
        first, last = values.offset, values.offset + len(values)
        octets = np.frombuffer(buffer, np.uint8, (last + 7) // 8 - first // 8, first // 8)
        return np.unpackbits(octets, bitorder="little")[first % 8 :][: len(values)].view(np.bool_)
    if buffer is not None and (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        dtype = np.dtype(kind.to_pandas_dtype())
        return np.frombuffer(buffer, dtype, len(values), values.offset * dtype.itemsize)
    return unwrap(values)


def nulls_of(values: pa.Array) -> NDArray[np.uint8]:
    """1 where the value is NULL."""
    if values.null_count == 0:
        return np.zeros(len(values), np.uint8)
    return numpy_of(values.is_null()).astype(np.uint8)


def floats_of(values: pa.Array) -> NDArray[np.float64]:
    """The values as doubles, decimals as the nearest ones; NULL rows hold 0."""
    if pa.types.is_decimal(values.type):
        return _nearest(values)
    values = values.cast(pa.float64())
    return numpy_of(pc.fill_null(values, 0.0))


def _nearest(values: pa.Array) -> NDArray[np.float64]:
    """The nearest doubles of decimals. Arrow's cast multiplies by a power of ten, which is itself rounded."""
    kind = kind_of(values.type)
    if kind is not None and 0 <= values.type.scale <= _EXACT_POWER:
        scaled = _unscaled_integers(values)
        if not len(scaled) or max(-int(scaled.min()), int(scaled.max())) <= _EXACT_INTEGER:
            unit = np.float64(10.0**values.type.scale)
            return np.true_divide(scaled, unit)  # both are exact, and a quotient is rounded once
    return numpy_of(pc.fill_null(values.cast(pa.string()).cast(pa.float64()), 0.0))


def ints_of(values: pa.Array) -> NDArray[np.int64]:
    """The values of any kind but float and string as integers; NULL rows hold 0."""
    kind = values.type
    if pa.types.is_boolean(kind):
        return numpy_of(pc.fill_null(values, False)).astype(np.int64)
    if pa.types.is_decimal(kind):
        return _unscaled_integers(values)
    if not pa.types.is_integer(kind):
        values = values.view(pa.int32() if kind.bit_width == 32 else pa.int64())
    return numpy_of(pc.fill_null(values.cast(pa.int64()), 0))


def python_value(scalar: pa.Scalar) -> object:
    """The value for people; Python knows no times after the year 9999, which are texts."""
    try:
        return scalar.as_py()
    except (OverflowError, ValueError):
        return str(np.datetime64(int(ints_of(pa.repeat(scalar, 1))[0]), getattr(scalar.type, "unit", "D")))


def _unscaled_integers(values: pa.Array) -> NDArray[np.int64]:
    """Unscaled values of decimals with at most 18 digits: the low half of each 128-bit integer."""
    filled = pc.fill_null(values, pa.scalar(0, values.type))
    words = np.frombuffer(filled.buffers()[1], np.int64)
    return words[2 * filled.offset : 2 * (filled.offset + len(filled)) : 2].copy()


class StringCodes:
    """One code per distinct string of a batch, ordered as the strings are: codes compare as strings do."""

    def __init__(self, columns: list[pa.Array], literals: list[str]) -> None:
        distinct = [column.cast(pa.large_string()).unique().drop_null() for column in columns]
        distinct.append(wrap_strings(literals))
        everything = pa.concat_arrays(distinct).unique()
        self._strings = everything.take(pc.array_sort_indices(everything))
        self._codes = {literal: self._find(literal) for literal in literals}

    def _find(self, text: str) -> int:
        return int(pc.index_in(wrap_strings([text]), value_set=self._strings)[0].as_py())

    def code(self, text: str) -> int:
        """The code of one of the literals."""
        return self._codes[text]

    def encode(self, column: pa.Array) -> NDArray[np.int64]:
        """Codes of a column; NULL rows hold 0."""
        found = pc.index_in(column.cast(pa.large_string()), value_set=self._strings)
        return numpy_of(pc.fill_null(found.cast(pa.int64()), 0))
