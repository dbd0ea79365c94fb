"""The order of released rows: partition by partition, as ORDER BY says, and beyond that by what rows hold.

A batch that is run again after a failure gets its rows in another order, cut into other blobs, and must give the same
result. So nothing may depend on how rows arrived: rows that ORDER BY leaves equal are ordered by all their columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.keys import order_words, partition_integers
from sparkrex.columns.values import numpy_of, plain
from sparkrex.columns.wrap import wrap
from sparkrex.scalar.expression import ColumnAt
from sparkrex.streams.packing import HASH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sparkrex.modes.plan import Plan


def ordered_partitions(rows: pa.Table, plan: Plan, keys: Sequence[str]) -> tuple[pa.Table, NDArray[np.int64]]:
    """The rows in order, and the offsets that cut them into partitions."""
    every = [(0, rows.num_rows)]
    words = [numpy_of(plain(rows.column(HASH)))]
    words += [partition_integers(rows.column(name), every) for name in keys]
    n_keys = len(words)
    for key in plan.order_by:
        assert isinstance(key.expression, ColumnAt)  # workers have columns
        words += order_words(rows.column(key.expression.column), key.is_descending, key.nulls_first, every)
    order = np.lexsort(words[::-1])
    changes = np.zeros(rows.num_rows + 1, np.bool_)
    changes[[0, -1]] = True
    for word in words[:n_keys]:
        changes[1:-1] |= word[order[1:]] != word[order[:-1]]
    order = _settle_ties(rows, order, words)
    return rows.take(wrap(order)), np.flatnonzero(changes)


def _settle_ties(rows: pa.Table, order: NDArray[np.int64], words: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """The order with rows that are equal in all words ordered by all their columns."""
    is_tied = np.zeros(len(order), np.bool_)
    is_same = np.ones(max(len(order) - 1, 0), np.bool_)
    for word in words:
        is_same &= word[order[1:]] == word[order[:-1]]
    is_tied[1:] |= is_same
    is_tied[:-1] |= is_same
    places = np.flatnonzero(is_tied)
    if not len(places):
        return order
    tied = rows.take(wrap(order[places]))
    group = np.cumsum(np.concatenate(([True], ~is_same)))[places]
    columns: list[NDArray[np.int64]] = []
    for column in tied.columns:
        columns += order_words(_comparable(column), False, False, [(0, len(places))])
    settled = order.copy()
    settled[places] = order[places][np.lexsort([*columns[::-1], group])]
    return settled


def _comparable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The column, or texts of its values where they have no order."""
    kind = column.type
    if pa.types.is_nested(kind) or kind == pa.month_day_nano_interval():
        return pa.chunked_array([pa.array([repr(value) for value in column.to_pylist()], pa.string())])
    return column
