"""Truth bitmaps to symbols: rows on which the same conditions hold are the same to a pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.physical.rows.viability import Viability

MOST_BITS = 63
_BITS_OF_A_TABLE = 16


def symbols_of(bitmaps: NDArray[np.uint8], viability: Viability) -> NDArray[np.uint16]:
    """The number of every row's symbol."""
    n_bits, n_rows = bitmaps.shape
    if n_bits > _BITS_OF_A_TABLE:
        return _by_sorting(bitmaps, viability)
    bits: NDArray[Any] = np.zeros(n_rows, np.uint16)
    if n_bits <= 8:
        narrow = np.zeros(n_rows, np.uint8)
        for bit in range(n_bits):
            np.bitwise_or(narrow, bitmaps[bit] << np.uint8(bit), out=narrow)
        bits[:] = narrow
    else:
        for bit in range(n_bits):
            np.bitwise_or(bits, bitmaps[bit].astype(np.uint16) << np.uint16(bit), out=bits)
    if n_bits <= 3:
        # As many symbols as the smallest table holds anyway.
        for pattern in range(1 << n_bits):
            viability.symbol(pattern)
        if viability.symbols == list(range(1 << n_bits)):
            return bits
    present = np.flatnonzero(np.bincount(bits, minlength=1 << n_bits))
    number = np.zeros(1 << n_bits, np.uint16)
    number[present] = [viability.symbol(int(pattern)) for pattern in present]
    numbered: NDArray[np.uint16] = number[bits]
    return numbered


def _by_sorting(bitmaps: NDArray[np.uint8], viability: Viability) -> NDArray[np.uint16]:
    bits = np.zeros(bitmaps.shape[1], np.uint64)
    for bit, holds in enumerate(bitmaps):
        bits |= holds.astype(np.uint64) << np.uint64(bit)
    present, place = np.unique(bits, return_inverse=True)
    number = np.array([viability.symbol(int(pattern)) for pattern in present], np.uint16)
    numbered: NDArray[np.uint16] = number[place]
    return numbered
