"""Places as bytes, one value per place: for states that are saved, and for what Spark's workers send each other."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sparkrex.modes.trends.plan import Counts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.modes.trends.kernels.places import Store
    from sparkrex.modes.trends.layout import Layout


def pack_places(layout: Layout, store: Store) -> pa.Array:
    """A binary value for every place."""
    n_places = len(store.seen)
    if layout.counts is Counts.TEXT:
        return _pack_digits(layout, store)
    parts = [_bytes_of(part, n_places) for part in store]
    joined = np.ascontiguousarray(np.concatenate(parts, axis=1))
    offsets = np.arange(n_places + 1, dtype=np.int64) * joined.shape[1]
    return pa.Array.from_buffers(
        pa.large_binary(), n_places, [None, pa.py_buffer(offsets), pa.py_buffer(joined.tobytes())]
    )


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
