"""Hashes of keys, which say the bucket of a row and where its slot is looked for.

They are computed from the keys wherever they are needed, before rows are packed and when they are released: a hash that
travelled with every row would be a third of what a stream moves and keeps. So they depend on nothing but the values:
not on the machine, the batch, or the order of rows. Keys that are equal have one hash: NULL is one value, NaN too, and
-0.0 is 0.0.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sparkrex.columns.values import numpy_of, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Words = NDArray[np.uint64]

_ODD = np.uint64(0x9E3779B97F4A7C15)
_FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_NULL = np.uint64(0xD1B54A32D192ED03)
_BASE = 0xA0761D6478BD642F
"""Texts are numbers in this base; it is odd, so that there is an inverse."""
_OCTETS_AT_ONCE = 1 << 20


def hashes_of(rows: pa.Table, names: Sequence[str]) -> NDArray[np.int64]:
    """A hash for each row, of its values in some columns."""
    found = np.zeros(rows.num_rows, np.uint64)
    for name in names:
        column = plain(rows.column(name))
        words = _words(column)
        if column.null_count:
            words = np.where(np.asarray(column.is_null()), _NULL, words)
        found = _mixed(found * _ODD + words)
    return found.view(np.int64)


def _mixed(words: Words) -> Words:
    """Bits that depend on all bits of a word: the finish of SplitMix64."""
    words = words + _ODD
    words = (words ^ (words >> np.uint64(30))) * _FACTORS[0]
    words = (words ^ (words >> np.uint64(27))) * _FACTORS[1]
    return words ^ (words >> np.uint64(31))


def _words(column: pa.Array) -> Words:
    """A word for each value; under a NULL stands anything."""
    kind = column.type
    if pa.types.is_floating(kind):
        values = numpy_of(pc.fill_null(column.cast(pa.float64()), 0.0)) + 0.0  # -0.0 is 0.0 then
        return np.where(np.isnan(values), np.nan, values).view(np.uint64)
    if pa.types.is_boolean(kind):
        return numpy_of(pc.fill_null(column, False)).astype(np.uint64)
    if pa.types.is_integer(kind):
        return _integers(column)
    if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
        return _integers(column.view(pa.int32() if kind.bit_width == 32 else pa.int64()))
    if pa.types.is_decimal(kind):
        halves = np.frombuffer(column.buffers()[1], np.uint64).reshape(-1, kind.bit_width // 64)
        halves = halves[column.offset : column.offset + len(column)]
        found = np.zeros(len(column), np.uint64)
        for half in halves.T:
            found = _mixed(found * _ODD + half)
        return found
    if _is_text(kind):
        return _texts(column)
    # Other types cannot be keys of a stream, except one that has nothing but NULL.
    return np.zeros(len(column), np.uint64)


def _integers(column: pa.Array) -> Words:
    return numpy_of(pc.fill_null(column, 0)).astype(np.int64).view(np.uint64)


def _is_text(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind) or pa.types.is_binary(kind) or pa.types.is_large_string(kind)
        or pa.types.is_large_binary(kind)
    )


def _texts(column: pa.Array) -> Words:
    """Of each distinct text once."""
    encoded = column.dictionary_encode()
    if not len(encoded.dictionary):
        return np.zeros(len(column), np.uint64)
    found: Words = _distinct_texts(encoded.dictionary)[numpy_of(pc.fill_null(encoded.indices, 0))]
    return found


def _distinct_texts(column: pa.Array) -> Words:
    """Texts as numbers in a large base, modulo 2 to the power of 64, and their lengths.

    What stands before a text is taken away again: sums up to its end and its beginning are subtracted, and divided by
    the power of the base at its beginning.
    """
    is_large = pa.types.is_large_binary(column.type) or pa.types.is_large_string(column.type)
    width = np.int64 if is_large else np.int32
    _, offsets, data = column.buffers()
    bounds = np.frombuffer(offsets, width)[column.offset : column.offset + len(column) + 1].astype(np.int64)
    octets = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
    found = np.empty(len(column), np.uint64)
    first = 0
    while first < len(column):
        last = int(np.searchsorted(bounds, bounds[first] + _OCTETS_AT_ONCE, side="right")) - 1
        last = min(max(last, first + 1), len(column))
        own = bounds[first : last + 1] - bounds[first]
        room = 1 << int(own[-1]).bit_length()
        powers, inverses = _powers(_BASE, room), _powers(pow(_BASE, -1, 1 << 64), room)
        digits = octets[bounds[first] : bounds[last]].astype(np.uint64) + np.uint64(1)
        sums = np.zeros(len(digits) + 1, np.uint64)
        np.cumsum(digits * powers[: len(digits)], dtype=np.uint64, out=sums[1:])
        found[first:last] = (sums[own[1:]] - sums[own[:-1]]) * inverses[own[:-1]] + np.diff(own).astype(np.uint64)
        first = last
    return found


@lru_cache(8)
def _powers(base: int, n: int) -> Words:
    """1, base, base squared, and so on."""
    factors = np.full(n, np.uint64(base), np.uint64)
    factors[0] = 1
    return np.cumprod(factors, dtype=np.uint64)
