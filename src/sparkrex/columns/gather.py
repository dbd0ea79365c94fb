"""Reading columns at positions: takes with NULL where there is no row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from numpy.typing import NDArray


def take_or_null(values: pa.ChunkedArray | pa.Array, rows: NDArray[np.int64]) -> pa.ChunkedArray:
    """Values at these rows; NULL where the row is negative."""
    if isinstance(values, pa.Array):
        values = pa.chunked_array([values])
    is_missing = rows < 0
    indices = pa.array(rows, mask=is_missing) if is_missing.any() else pa.array(rows)
    if pa.types.is_null(values.type):
        return pa.chunked_array([pa.nulls(len(rows))])
    return values.take(indices)


def shifted_positions(offsets: NDArray[np.int64], n_rows: int, shift: int) -> NDArray[np.int64]:
    """For every row the row `shift` further in its partition, -1 where there is none."""
    positions = np.arange(n_rows, dtype=np.int64) + shift
    if shift:
        # Only the rows within |shift| of a partition's edge can leave it.
        lengths = np.diff(offsets)
        edge = np.minimum(lengths, abs(shift))
        first = offsets[:-1] if shift < 0 else offsets[1:] - edge
        leaving = np.repeat(first - np.concatenate(([0], np.cumsum(edge)[:-1])), edge) + np.arange(int(edge.sum()))
        positions[leaving] = -1
    return positions
