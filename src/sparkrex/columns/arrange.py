"""Partitions and their order.

Rows are grouped by the partition key, groups in order of first appearance, and ordered inside a group by the sort keys;
ties keep input order. Keys are compared as the hosts compare them: NULL keys are one group, NaN equals NaN and is above
every number, -0.0 equals 0.0, strings compare by their UTF-8 bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sparkrex.columns import keys as key_columns
from sparkrex.columns.counting import arrange_by_counting, first_rows
from sparkrex.columns.keys import encoded, order_words, partition_integers
from sparkrex.threads import ranges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sparkrex.columns.counting import Scatter
    from sparkrex.columns.keys import Pieces

_PIECE_ROWS = 1 << 16
"""Fewer rows are not worth a thread."""


@dataclass(frozen=True, eq=False, slots=True)
class SortKey:
    """A key column with its direction, and its name if it is a column of the table."""

    values: pa.ChunkedArray
    is_descending: bool
    nulls_first: bool
    name: str | None = None

    @property
    def is_its_words(self) -> bool:
        """Whether the values, as they lie in memory, are what is sorted."""
        kind = self.values.type
        is_plain = pa.types.is_int64(kind) or pa.types.is_timestamp(kind)
        return bool(is_plain) and not self.is_descending and not self.values.null_count


@dataclass(frozen=True, eq=False, slots=True)
class Arrangement:
    """Rows in order, cut into partitions by `offsets`: `known_order`, or what a scatter makes, or as they lie.

    `kept` has columns that somebody has put in order, by name: numbers of 64 bits without NULLs, for others to read.
    `scatter` puts numbers in order faster than reading them by `order`, which is made when it is first asked for.
    """

    known_order: NDArray[np.int64] | None
    offsets: NDArray[np.int64]
    n_rows: int
    kept: dict[str, NDArray[Any]] = field(default_factory=dict)
    scatter: Scatter | None = None

    @property
    def order(self) -> NDArray[np.int64] | None:
        """`order[i]` is the input row at position i, None if the input is in order already."""
        return self.known_order if self.scatter is None else self.scatter.order

    def input_rows(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Input rows at these positions."""
        return positions if self.order is None else self.order[positions]

    def partition_rows(self) -> NDArray[np.int64]:
        """An input row of each partition; any row for one that has none."""
        if self.scatter is not None and len(self.scatter.groups.first_rows) == len(self.offsets) - 1:
            return self.scatter.groups.first_rows
        return self.input_rows(np.minimum(self.offsets[:-1], self.offsets[-1] - 1))


def arrange(
    partition_by: Sequence[pa.ChunkedArray], order_by: Sequence[SortKey], n_rows: int, threads: int = 1
) -> Arrangement:
    """Order and partitions of `n_rows` rows."""
    if n_rows == 0:
        return Arrangement(None, np.zeros(1, np.int64), 0)
    pieces = ranges(n_rows, threads, _PIECE_ROWS)
    keys = _keys_of(partition_by, pieces)
    words = [
        word for key in order_by for word in order_words(key.values, key.is_descending, key.nulls_first, pieces)
    ]
    if n_rows <= key_columns.FEW_ROWS:
        order, offsets = _arrange_few(keys, words, n_rows)
        return Arrangement(order, offsets, n_rows)
    counted = arrange_by_counting(keys, words, n_rows, pieces)
    kept: dict[str, NDArray[Any]] = {}
    if counted.words is not None and len(order_by) == 1 and order_by[0].is_its_words and order_by[0].name is not None:
        kept[order_by[0].name] = counted.words
    return Arrangement(counted.order, counted.offsets, n_rows, kept, counted.scatter)


def first_of_partitions(
    partition_by: Sequence[pa.ChunkedArray], n_rows: int, threads: int = 1
) -> NDArray[np.int64]:
    """The first row of each partition, in no order; there is at least one row."""
    pieces = ranges(n_rows, threads, _PIECE_ROWS)
    keys = _keys_of(partition_by, pieces)
    return np.zeros(1, np.int64) if keys is None else first_rows(keys, pieces)


def _keys_of(partition_by: Sequence[pa.ChunkedArray], pieces: Pieces) -> NDArray[np.int64] | None:
    """Integers that are equal where all partition keys are; None if there are none."""
    keys = None
    for column in partition_by:
        integers = partition_integers(column, pieces)
        keys = integers if keys is None else _combine_keys(keys, integers)
    return keys


def _number_groups(integers: NDArray[np.int64]) -> NDArray[np.int64]:
    return encoded(pa.array(integers), [(0, len(integers))])


def _combine_keys(keys: NDArray[np.int64], more: NDArray[np.int64]) -> NDArray[np.int64]:
    """Integers that are equal where both are."""
    if (_span(keys) * _span(more)).bit_length() > 62:
        # Both are then below the number of rows, so the product stays far inside int64.
        keys, more = _number_groups(keys), _number_groups(more)
    joined: NDArray[np.int64] = (keys - keys.min()) * _span(more) + (more - more.min())
    return joined


def _span(integers: NDArray[np.int64]) -> int:
    return int(integers.max()) - int(integers.min()) + 1


def _arrange_few(
    keys: NDArray[np.int64] | None, words: list[NDArray[np.int64]], n_rows: int
) -> tuple[NDArray[np.int64] | None, NDArray[np.int64]]:
    groups = None if keys is None else _number_groups(keys)
    sorting = words if groups is None else [groups, *words]
    order = None
    if sorting and n_rows > 1 and not _is_sorted(sorting):
        order = np.lexsort(sorting[::-1]).astype(np.int64, copy=False)
    if groups is None:
        return order, np.array([0, n_rows], np.int64)
    arranged = groups if order is None else groups[order]
    cuts = np.flatnonzero(arranged[1:] != arranged[:-1]) + 1
    return order, np.concatenate(([0], cuts, [n_rows])).astype(np.int64)


def _is_sorted(words: list[NDArray[np.int64]]) -> bool:
    """Whether the rows are in order already: one pass per word over the rows that earlier words leave tied."""
    tied: NDArray[np.bool_] | None = None
    for word in words:
        before, after = word[:-1], word[1:]
        in_order = before <= after if tied is None else ~tied | (before <= after)
        if not in_order.all():
            return False
        is_equal = before == after
        tied = is_equal if tied is None else tied & is_equal
        if not tied.any():
            return True
    return True
