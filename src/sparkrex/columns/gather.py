"""Reading columns at positions: takes with NULL where there is no row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sparkrex.columns.wrap import wrap
from sparkrex.threads import ranges, spread

if TYPE_CHECKING:
    from numpy.typing import NDArray


def take_or_null(values: pa.ChunkedArray | pa.Array, rows: NDArray[np.int64], threads: int = 1) -> pa.ChunkedArray:
    """Values at these rows; NULL where the row is negative."""
    if pa.types.is_null(values.type):
        return pa.chunked_array([pa.nulls(len(rows))])
    array = _one_array(values, len(rows))
    is_missing = None
    if len(rows) and rows.min() < 0:
        is_missing = rows < 0
    if array is not None and len(array) and not array.null_count and _is_plain(array.type):
        return pa.chunked_array([_take_plain(array, rows, is_missing, threads)])
    indices = wrap(rows, is_missing)
    if array is None:
        return values.take(indices)
    return pa.chunked_array([array.take(indices)])


def put_in_order(array: NDArray[Any], order: NDArray[np.int64] | None, threads: int = 1) -> NDArray[Any]:
    """The array's values at the rows of an order, the array itself if there is none."""
    if order is None:
        return array
    result = np.empty(len(order), array.dtype)
    # In the mode `raise`, NumPy would fill a buffer first.
    spread(
        lambda begin, end: np.take(array, order[begin:end], out=result[begin:end], mode="clip"),
        ranges(len(order), threads),
    )
    return result


def shifted_positions(offsets: NDArray[np.int64], n_rows: int, shift: int) -> NDArray[np.int64]:
    """For every row the row `shift` further in its partition, -1 where there is none."""
    positions = np.arange(shift, n_rows + shift, dtype=np.int64)
    if shift:
        # Only the rows within |shift| of a partition's edge can leave it.
        lengths = np.diff(offsets)
        edge = np.minimum(lengths, abs(shift))
        first = offsets[:-1] if shift < 0 else offsets[1:] - edge
        leaving = np.repeat(first - np.concatenate(([0], np.cumsum(edge)[:-1])), edge) + np.arange(int(edge.sum()))
        positions[leaving] = -1
    return positions


def _one_array(values: pa.ChunkedArray | pa.Array, n_taken: int) -> pa.Array | None:
    """The values in one piece, None if they are in several and putting these together would cost more than it saves."""
    if isinstance(values, pa.Array):
        return values
    if values.num_chunks == 1:
        return values.chunk(0)
    # Above two gigabytes, the offsets of strings would not fit one array.
    can_join = values.num_chunks > 0 and (_is_plain(values.type) or values.nbytes < 1 << 31)
    if not can_join or 8 * n_taken < len(values):
        return None
    return pa.concat_arrays(values.chunks)


def _is_plain(kind: pa.DataType) -> bool:
    """Whether the values are numbers of 8 to 64 bits, whatever they mean."""
    return bool(
        pa.types.is_integer(kind) or pa.types.is_float32(kind) or pa.types.is_float64(kind) or pa.types.is_date(kind)
        or pa.types.is_timestamp(kind) or pa.types.is_time(kind) or pa.types.is_duration(kind)
    )


def _take_plain(
    array: pa.Array, rows: NDArray[np.int64], is_missing: NDArray[np.bool_] | None, threads: int
) -> pa.Array:
    if len(rows) and rows.max() >= len(array):
        raise IndexError(f"row {rows.max()} of {len(array)}")
    width = array.type.bit_width // 8
    numbers = np.frombuffer(array.buffers()[1], f"i{width}")[array.offset : array.offset + len(array)]
    taken = put_in_order(numbers, rows, threads)
    valid = None if is_missing is None else pa.py_buffer(np.packbits(~is_missing, bitorder="little"))
    return pa.Array.from_buffers(array.type, len(rows), [valid, pa.py_buffer(taken)])


def refitted(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """Rows with other columns: what they do not have is NULL."""
    columns = [
        rows.column(field.name).cast(field.type) if field.name in rows.column_names
        else pa.nulls(rows.num_rows, field.type) for field in schema
    ]
    return pa.table(columns, schema=schema)
