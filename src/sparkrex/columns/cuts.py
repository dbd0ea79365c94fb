"""Cutting ordered rows into partitions where the key changes, also across chunks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sparkrex.columns.keys import partition_integers

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray


def cut_partitions(table: pa.Table, keys: list[str]) -> NDArray[np.int64]:
    """Offsets of the runs of equal keys in a table ordered by them."""
    n_rows = table.num_rows
    changes = np.zeros(max(n_rows - 1, 0), np.bool_)
    for name in keys:
        keys_of_rows = partition_integers(table.column(name), [(0, n_rows)])
        changes |= keys_of_rows[1:] != keys_of_rows[:-1]
    return np.concatenate(([0], np.flatnonzero(changes) + 1, [n_rows])).astype(np.int64)
