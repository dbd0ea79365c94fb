"""Keys by which equalities between variables partition a stream (`analyze.equalities`), as columns of its rows.

NaN equals NaN and -0.0 equals 0.0, as hosts and kernels compare them; a NULL equals nothing, so its row is a partition
of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.keys import encoded, partition_integers
from sparkrex.columns.values import kind_of, numpy_of, plain
from sparkrex.columns.wrap import wrap

if TYPE_CHECKING:
    from numpy.typing import NDArray


def has_plain_equality(type_: pa.DataType) -> bool:
    """Whether equal values are those that kernels and `partition_integers` call equal; not of nested types."""
    return kind_of(type_) is not None


def partition_column(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """The same partitions, but each NULL one of its own."""
    is_null = numpy_of(plain(plain(values).is_null()))
    if not is_null.any():
        return values
    every_row = [(0, len(values))]
    codes = encoded(wrap(partition_integers(values, every_row)), every_row)
    codes[is_null] = len(codes) + np.arange(int(is_null.sum()))
    return pa.chunked_array([wrap(codes)])


def ranks(order: NDArray[np.int64] | None, n_rows: int) -> NDArray[np.int64]:
    """By row of a table, its position in the order; `order[i]` is the row at position i, None if they agree."""
    found = np.arange(n_rows)
    if order is not None:
        found[order] = np.arange(n_rows)
    return found

