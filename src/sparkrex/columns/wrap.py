"""Arrow arrays and NumPy arrays over the same memory.

`pa.array` and `to_numpy` would do, but the first call of either loads pandas if that is installed: a third of a second
and 35 MB for every process and every Spark worker that never uses it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def wrap(values: NDArray[Any], is_null: NDArray[np.bool_] | None = None) -> pa.Array:
    """Numbers or booleans as an Arrow array, not copied where the memory allows; NULL where `is_null`."""
    validity = None if is_null is None else _bits(~is_null)
    data = _bits(values) if values.dtype == np.bool_ else pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [validity, data])


def wrap_strings(texts: Sequence[str]) -> pa.Array:
    """A few strings as an Arrow array."""
    parts = [text.encode() for text in texts]
    offsets = np.cumsum([0, *map(len, parts)], dtype=np.int64)
    return pa.Array.from_buffers(
        pa.large_string(), len(parts), [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(parts))]
    )


def unwrap(values: pa.Array) -> NDArray[Any]:
    """The array in NumPy, copied only where it must be."""
    kind = values.type
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    if values.null_count or not len(values) or not (is_number or pa.types.is_boolean(kind)):
        array: NDArray[Any] = values.to_numpy(zero_copy_only=False)
        return array
    data = values.buffers()[1]
    first, end = values.offset, values.offset + len(values)
    if is_number:
        return np.frombuffer(data, kind.to_pandas_dtype(), end)[first:]
    first_byte = first // 8
    bits = np.frombuffer(data, np.uint8, -(-end // 8) - first_byte, first_byte)
    return np.unpackbits(bits, count=end - 8 * first_byte, bitorder="little")[first - 8 * first_byte :].view(np.bool_)


def _bits(flags: NDArray[np.bool_]) -> pa.Buffer:
    return pa.py_buffer(np.packbits(flags, bitorder="little"))
