"""The order of released rows: partition by partition, as ORDER BY says, and beyond that by what rows hold.

A batch that is run again after a failure gets its rows in another order, cut into other blobs, and must give the same
result. So nothing may depend on how rows arrived: rows that ORDER BY leaves equal are ordered by all their columns.
"""

from __future__ import annotations

import math
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
    if not rows.num_rows:
        return rows, np.zeros(1, np.int64)
    every = [(0, rows.num_rows)]
    of_keys = [numpy_of(plain(rows.column(HASH))).astype(np.int64)]
    of_keys += [partition_integers(rows.column(name), every) for name in keys]
    of_order = []
    for key in plan.order_by:
        assert isinstance(key.expression, ColumnAt)  # workers have columns
        of_order += order_words(rows.column(key.expression.column), key.is_descending, key.nulls_first, every)
    of_keys = [_ranks(word) for word in _joined(of_keys)]
    words = _joined([*of_keys, *of_order])
    # Whether equal rows keep their order does not matter: what holds them apart is settled behind, or nothing is.
    order = np.argsort(words[0]) if len(words) == 1 else np.lexsort(words[::-1])
    changes = np.zeros(rows.num_rows + 1, np.bool_)
    changes[[0, -1]] = True
    for word in of_keys:
        arranged = word[order]
        changes[1:-1] |= arranged[1:] != arranged[:-1]
    order = _settle_ties(rows, order, words)
    return rows.take(wrap(order)), np.flatnonzero(changes)


def _joined(words: list[NDArray[np.int64]]) -> list[NDArray[np.int64]]:
    """One word that orders rows as several do, if 63 bits are enough; one word is sorted several times as fast."""
    leasts = [int(word.min()) for word in words]
    spans = [int(word.max()) - least + 1 for word, least in zip(words, leasts, strict=True)]
    if math.prod(spans).bit_length() > 63:
        return words
    found = np.zeros(len(words[0]), np.int64)
    for word, least, span in zip(words, leasts, spans, strict=True):
        if span > 1:
            found *= span
            found += word - least
    return [found]


def _ranks(word: NDArray[np.int64]) -> NDArray[np.int64]:
    """Small numbers that order rows as a word does."""
    encoded = pa.array(word).dictionary_encode()
    distinct, codes = numpy_of(encoded.dictionary), numpy_of(encoded.indices)
    ranks = np.empty(len(distinct), np.int64)
    ranks[np.argsort(distinct)] = np.arange(len(distinct))
    found: NDArray[np.int64] = ranks[codes]
    return found


def _settle_ties(rows: pa.Table, order: NDArray[np.int64], words: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """The order with rows that are equal in all words ordered by all their columns."""
    is_tied = np.zeros(len(order), np.bool_)
    is_same = np.ones(max(len(order) - 1, 0), np.bool_)
    for word in words:
        arranged = word[order]
        is_same &= arranged[1:] == arranged[:-1]
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
