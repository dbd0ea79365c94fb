"""Truth bitmaps to symbols: rows on which the same conditions hold are the same to a pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.modes.rows.automaton.viability import Viability

MOST_BITS = 63
_BITS_OF_A_SYMBOL = 8
"""Up to so many bits, every combination is a symbol, numbered as its bits are."""
_BITS_OF_A_TABLE = 16
_BLOCK = 1 << 16
"""Rows whose bits stay in the cache while they are put together."""


def symbols_of(bitmaps: NDArray[np.uint8], viability: Viability) -> NDArray[np.uint16]:
    """The number of every row's symbol."""
    n_bits, n_rows = bitmaps.shape
    if n_bits > _BITS_OF_A_TABLE:
        return _by_sorting(bitmaps, viability)
    bits = np.empty(n_rows, np.uint16)
    narrow: Any = np.uint8 if n_bits <= 8 else np.uint16
    for begin in range(0, n_rows, _BLOCK):
        here = np.zeros(min(_BLOCK, n_rows - begin), narrow)
        for bit in range(n_bits):
            here |= bitmaps[bit, begin : begin + _BLOCK].astype(narrow, copy=False) << narrow(bit)
        bits[begin : begin + _BLOCK] = here
    if n_bits <= _BITS_OF_A_SYMBOL:
        for pattern in range(1 << n_bits):
            viability.symbol(pattern)
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
