"""Rows as bytes in as few as their values need: what a stream costs follows the bytes that it moves.

Every row is written three times and read three times on its way (to the shuffle, to the worker, to the state and back).
Integers, days and times of one batch lie close together, so each column is written as its least value and distances
from that, in 1, 2 or 4 bytes. Other columns stay as they are. Who reads the bytes knows the schema.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sparkrex.columns.values import numpy_of, plain
from sparkrex.columns.wrap import wrap

if TYPE_CHECKING:
    from numpy.typing import NDArray

_COLUMN = struct.Struct("<Bq")
"""Of each column the bytes of a value, 0 if it is as it was, and the least value."""
_WIDTHS: tuple[tuple[int, type[np.unsignedinteger[Any]]], ...] = ((1, np.uint8), (2, np.uint16), (4, np.uint32))


@dataclass(frozen=True, eq=False, slots=True)
class NarrowRows:
    """Rows of which some columns are distances from a least value; `head` says which, and from what."""

    head: bytes
    rows: pa.Table

    @staticmethod
    def of(rows: pa.Table) -> NarrowRows:
        """The rows, each column in as few bytes as it needs."""
        found = [_narrowed(plain(column)) for column in rows.columns]
        head = b"".join(_COLUMN.pack(width, least) for width, least, _ in found)
        return NarrowRows(head, pa.table([column for *_, column in found], rows.column_names))

    def take(self, order: pa.Array) -> NarrowRows:
        """The rows in another order."""
        return NarrowRows(self.head, self.rows.take(order).combine_chunks())

    def write(self, start: int = 0, length: int | None = None) -> bytes:
        """Some of the rows as bytes."""
        (batch,) = self.rows.slice(start, length).to_batches()
        return self.head + batch.serialize().to_pybytes()  # type: ignore[no-any-return]


def write_rows(rows: pa.Table) -> bytes:
    """Rows as bytes."""
    return NarrowRows.of(rows.combine_chunks()).write()


def read_rows(data: bytes, schema: pa.Schema) -> pa.Table:
    """Rows that were written."""
    columns = [_COLUMN.unpack_from(data, number * _COLUMN.size) for number in range(len(schema))]
    written = pa.schema([
        pa.field(field.name, _UNSIGNED[width] if width else field.type)
        for field, (width, _) in zip(schema, columns, strict=True)
    ])
    buffer = pa.py_buffer(data[len(schema) * _COLUMN.size :])  # a copy, since Arrow wants columns aligned in memory
    batch = pa.ipc.read_record_batch(buffer, written)
    found = [
        _widened(column, least, field.type) if width else column
        for column, (width, least), field in zip(batch.columns, columns, schema, strict=True)
    ]
    return pa.Table.from_arrays(found, schema=schema)


_UNSIGNED = {1: pa.uint8(), 2: pa.uint16(), 4: pa.uint32()}


def _narrowed(column: pa.Array) -> tuple[int, int, pa.Array]:
    """Bytes of a value, the least value, and the column; 0 bytes if nothing is won."""
    storage = _storage(column.type)
    if storage is None or not len(column) or column.null_count == len(column):
        return 0, 0, column
    stored = column if column.type == storage else column.view(storage)
    is_null = numpy_of(stored.is_null()) if stored.null_count else None
    values = _numbers(stored)
    known = values if is_null is None else values[~is_null]
    least, most = int(known.min()), int(known.max())
    for width, kind in _WIDTHS:
        if width >= values.dtype.itemsize:
            break
        if most - least <= np.iinfo(kind).max:
            # A difference that wraps around is right again in fewer bits. Under a NULL stands whatever comes out.
            distances = (values - values.dtype.type(least)).astype(kind)
            validity = None if is_null is None else stored.buffers()[0]
            if is_null is not None and stored.offset:
                validity = wrap(~is_null).buffers()[1]
            return width, least, pa.Array.from_buffers(
                _UNSIGNED[width], len(column), [validity, pa.py_buffer(distances)]
            )
    return 0, 0, column


def _widened(column: pa.Array, least: int, kind: pa.DataType) -> pa.Array:
    """A narrowed column as it was."""
    storage = _storage(kind)
    if storage is None:
        raise ValueError(f"a {kind} is never narrowed")
    values = _numbers(column).astype(storage.to_pandas_dtype())
    values += values.dtype.type(least)
    validity = column.buffers()[0] if column.null_count else None
    found = pa.Array.from_buffers(storage, len(column), [validity, pa.py_buffer(values)])
    return found if kind == storage else found.view(kind)


def _storage(kind: pa.DataType) -> pa.DataType | None:
    """The signed integers that a type is stored as; None for other types."""
    if pa.types.is_signed_integer(kind):
        return kind
    if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
        return pa.int32() if kind.bit_width == 32 else pa.int64()
    return None


def _numbers(column: pa.Array) -> NDArray[Any]:
    """The integers of an array, whatever stands under its NULLs."""
    dtype = np.dtype(column.type.to_pandas_dtype())
    return np.frombuffer(column.buffers()[1], dtype, len(column), column.offset * dtype.itemsize)
