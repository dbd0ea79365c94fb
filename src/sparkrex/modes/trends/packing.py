"""Places as bytes, one value per place: for states that are saved, and for what Spark's workers send each other."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sparkrex.modes.trends.plan import Counts
from sparkrex.modes.trends.search import take_places

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.modes.trends.kernels.places import Store
    from sparkrex.modes.trends.layout import Layout

FILLED, PLACES = "filled", "places"
"""Columns of units that are packed."""


def pack_places(layout: Layout, store: Store) -> pa.Array:
    """A binary value for every place, of one size unless numbers have all their digits."""
    n_places = len(store.seen)
    if layout.counts is Counts.TEXT:
        return _pack_digits(layout, store)
    joined = np.concatenate([_bytes_of(part, n_places) for part in store], axis=1)
    kind = pa.binary(sum(part.nbytes for part in layout.store(1)))
    return pa.Array.from_buffers(kind, n_places, [None, pa.py_buffer(joined.reshape(-1).view(np.uint8))])


def pack_units(layout: Layout, store: Store, n_places: int) -> dict[str, pa.Array]:
    """The places of units with `n_places` each, as columns by unit: which of them have trends, and those as bytes.

    Most have none: of gaps there is room for the most that a unit can have, and of classes for all there are.
    """
    n_numbers = layout.shape.n_numbers
    is_filled = (store.numbers[::n_numbers] != 0).any(axis=1)
    filled = np.flatnonzero(is_filled)
    offsets = np.concatenate(([0], np.cumsum(is_filled.reshape(-1, n_places).sum(axis=1)))).astype(np.int32)
    numbers = (filled % n_places).astype(np.int32)
    packed = pack_places(layout, take_places(store, filled, layout))
    cuts = pa.array(offsets)
    return {
        FILLED: pa.ListArray.from_arrays(cuts, pa.array(numbers)), PLACES: pa.ListArray.from_arrays(cuts, packed),
    }


def unpack_units(
    layout: Layout, columns: pa.Table, unit_of: NDArray[np.int64], n_places: int
) -> tuple[NDArray[np.int64], Store]:
    """The places that were packed, and where they are if the unit of line i is `unit_of[i]`."""
    filled = columns.column(FILLED).combine_chunks()
    lengths = filled.value_lengths().to_numpy()
    where = np.repeat(unit_of * n_places, lengths) + filled.flatten().to_numpy()
    return where, unpack_places(layout, columns.column(PLACES).combine_chunks().flatten())


def unpack_places(layout: Layout, packed: pa.ChunkedArray) -> Store:
    """The places that were packed."""
    n_places = len(packed)
    store = layout.store(n_places)
    if layout.counts is Counts.TEXT:
        _unpack_digits(layout, packed, store)
        return store
    if not n_places:
        return store
    data = np.frombuffer(b"".join(packed.to_pylist()), np.uint8).reshape(n_places, -1)
    first = 0
    for part in store:
        width = part.nbytes // n_places
        if width:
            part[...] = np.ascontiguousarray(data[:, first : first + width]).view(part.dtype).reshape(part.shape)
        first += width
    return store


def _bytes_of(part: NDArray[Any], n_places: int) -> NDArray[np.uint8]:
    if not part.size:
        return np.empty((n_places, 0), np.uint8)
    return np.ascontiguousarray(part).view(np.uint8).reshape(n_places, -1)


def _pack_digits(layout: Layout, store: Store) -> pa.Array:
    shape = layout.shape
    texts = []
    for place in range(len(store.seen)):
        numbers = store.numbers[place * shape.n_numbers : (place + 1) * shape.n_numbers, 0]
        reals = store.reals[place * shape.n_reals : (place + 1) * shape.n_reals, 0]
        extremes = store.extremes[place * shape.n_extremes : (place + 1) * shape.n_extremes]
        texts.append(json.dumps([
            [hex(number) for number in numbers],
            [_parts_of(real) for real in reals],
            extremes.tolist(), int(store.seen[place]),
        ]).encode())
    return pa.array(texts, pa.large_binary())


def _parts_of(real: Any) -> list[str] | str:
    """Above and below the line of a fraction; an infinity or NaN as text."""
    if isinstance(real, float):
        return str(real)
    return [hex(Fraction(real).numerator), hex(Fraction(real).denominator)]


def _unpack_digits(layout: Layout, packed: pa.ChunkedArray, store: Store) -> None:
    shape = layout.shape
    for place, text in enumerate(packed.to_pylist()):
        numbers, reals, extremes, seen = json.loads(text)
        for number, digits in enumerate(numbers):
            store.numbers[place * shape.n_numbers + number, 0] = int(digits, 16)
        for real, parts in enumerate(reals):
            total = Fraction(*(int(part, 16) for part in parts)) if isinstance(parts, list) else float(parts)
            store.reals[place * shape.n_reals + real, 0] = total
        store.extremes[place * shape.n_extremes : (place + 1) * shape.n_extremes] = extremes
        store.seen[place] = seen
