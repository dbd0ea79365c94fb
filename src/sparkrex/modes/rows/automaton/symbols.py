"""Truth bitmaps to symbols: rows on which the same conditions hold are the same to a pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sparkrex.kernels.lazy import FEW_ROWS
from sparkrex.modes.rows.kernels.automaton import add_bit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.modes.rows.automaton.viability import Viability

MOST_BITS = 63
_BITS_OF_A_SYMBOL = 8
"""Up to so many bits, every combination is a symbol, numbered as its bits are."""
_BITS_OF_A_TABLE = 16
_BLOCK = 1 << 15
"""Rows whose bits stay in the cache while they are put together."""


def symbols_of(bitmaps: NDArray[np.uint8], viability: Viability) -> NDArray[np.uint16]:
    """The number of every row's symbol."""
    n_bits, n_rows = bitmaps.shape
    if n_bits > _BITS_OF_A_TABLE:
        return _by_sorting(bitmaps, viability)
    bits = np.zeros(n_rows, np.uint16)
    add = add_bit if n_rows > FEW_ROWS else _add_bit
    for begin in range(0, n_rows, _BLOCK):
        for bit in range(n_bits):
            add(bitmaps[bit, begin : begin + _BLOCK], bit, bits[begin : begin + _BLOCK])
    if n_bits <= _BITS_OF_A_SYMBOL:
        for pattern in range(1 << n_bits):
            viability.symbol(pattern)
        return bits
    present = np.flatnonzero(np.bincount(bits, minlength=1 << n_bits))
    number = np.zeros(1 << n_bits, np.uint16)
    number[present] = [viability.symbol(int(pattern)) for pattern in present]
    numbered: NDArray[np.uint16] = number[bits]
    return numbered


def _add_bit(holds: NDArray[np.uint8], bit: int, symbols: NDArray[np.uint16]) -> None:
    """As the kernel of that name."""
    symbols |= holds.astype(np.uint16) << np.uint16(bit)


def _by_sorting(bitmaps: NDArray[np.uint8], viability: Viability) -> NDArray[np.uint16]:
    bits = np.zeros(bitmaps.shape[1], np.uint64)
    for bit, holds in enumerate(bitmaps):
        bits |= holds.astype(np.uint64) << np.uint64(bit)
    present, place = np.unique(bits, return_inverse=True)
    number = np.array([viability.symbol(int(pattern)) for pattern in present], np.uint16)
    numbered: NDArray[np.uint16] = number[place]
    return numbered
