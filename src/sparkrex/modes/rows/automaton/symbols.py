"""Truth bitmaps to symbols: rows on which the same conditions hold are the same to a pattern."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sparkrex.kernels.lazy import FEW_ROWS
from sparkrex.modes.rows.kernels.automaton import join_bits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.modes.rows.automaton.viability import Viability

MOST_BITS = 63
_BITS_OF_A_SYMBOL = 8
"""Up to so many bits, every combination is a symbol, numbered as its bits are."""
_BITS_OF_A_TABLE = 16


def symbols_of(
    bitmaps: NDArray[np.uint8], viability: Viability, begin: int = 0, end: int | None = None,
    out: NDArray[np.uint16] | None = None,
) -> NDArray[np.uint16]:
    """The number of every row's symbol, of the rows from `begin` to `end`; in `out` if there is one."""
    n_bits, n_rows = len(bitmaps), (bitmaps.shape[1] if end is None else end) - begin
    symbols = np.empty(n_rows, np.uint16) if out is None else out
    if n_bits > _BITS_OF_A_TABLE:
        symbols[:] = _by_sorting(bitmaps[:, begin : begin + n_rows], viability)
        return symbols
    join = join_bits if n_rows > FEW_ROWS else _join_bits
    join(bitmaps, begin, symbols)
    if n_bits <= _BITS_OF_A_SYMBOL:
        for pattern in range(1 << n_bits):
            viability.symbol(pattern)
        return symbols
    present = np.flatnonzero(np.bincount(symbols, minlength=1 << n_bits))
    number = np.zeros(1 << n_bits, np.uint16)
    number[present] = [viability.symbol(int(pattern)) for pattern in present]
    symbols[:] = number[symbols]
    return symbols


def _join_bits(bitmaps: NDArray[np.uint8], begin: int, symbols: NDArray[np.uint16]) -> None:
    """As the kernel of that name."""
    symbols[:] = 0
    for bit, holds in enumerate(bitmaps):
        symbols |= holds[begin : begin + len(symbols)].astype(np.uint16) << np.uint16(bit)


def _by_sorting(bitmaps: NDArray[np.uint8], viability: Viability) -> NDArray[np.uint16]:
    bits = np.zeros(bitmaps.shape[1], np.uint64)
    for bit, holds in enumerate(bitmaps):
        bits |= holds.astype(np.uint64) << np.uint64(bit)
    present, place = np.unique(bits, return_inverse=True)
    number = np.array([viability.symbol(int(pattern)) for pattern in present], np.uint16)
    numbered: NDArray[np.uint16] = number[place]
    return numbered
