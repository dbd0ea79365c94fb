"""How a segment is cut for adding up, so that its value is one double: by scan, by lookup, in a part of its partition.

Rounding depends on the order of additions, so that order is a property of the segment and of nothing else. Rows are
counted from the first one of their partition, and every `BLOCK` of them are a block. The *pivot* of a segment of
several blocks is the block after its first one, up to its last, whose number is divisible by the highest power of two:
there is only one. A segment is then

    rows of its first block | whole blocks up to the pivot | whole blocks from the pivot on | rows of its last block

and each of the four is added up by itself: rows in order, whole blocks one by one away from the pivot, compensated. A
lookup finds the sums of whole blocks in a table, since they depend on the pivot and on the outermost of the blocks
only; a scan adds them up anew, in the same order, hence to the same doubles. Nothing outside of the segment is read but
its position in the partition: a feed that has lost the rows before a segment gives the same value, and no large sum is
ever subtracted from another.

The table has a line for each power of two, in which every block has one entry: left of that line's pivot it is the
sum up to the pivot, else the sum from the pivot on. Segments of up to 2^k blocks meet one multiple of 2^k at most, so
beyond k all pivots share two lines, one for each side. That is k + 2 entries for every 8 rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sparkrex.kernels.cached import njit
from sparkrex.kernels.inlined import inlined

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK_BITS = 3
BLOCK = 1 << BLOCK_BITS
"""Rows of a block."""


class Partitions(NamedTuple):
    """`offsets` cut the rows of a batch into partitions; `first` is, in its partition, the position of the first row
    that each has here: 0 unless rows before it are gone."""

    offsets: NDArray[np.int64]
    first: NDArray[np.int64]

    @staticmethod
    def whole(offsets: NDArray[np.int64]) -> Partitions:
        """Partitions of which all rows are there."""
        offsets = np.ascontiguousarray(offsets, np.int64)
        return Partitions(offsets, np.zeros(max(len(offsets) - 1, 0), np.int64))


class Places(NamedTuple):
    """Where the blocks of a batch are in a table: those of partition p from `begin[p]` on; `levels` is k."""

    begin: NDArray[np.int64]
    levels: int

    @staticmethod
    def of(partitions: Partitions, longest: int) -> tuple[Places, int]:
        """The places for segments of up to `longest` rows, and how many blocks there are."""
        offsets, first = partitions
        last = first + np.diff(offsets) - 1
        n_blocks = np.where(np.diff(offsets) > 0, (last >> BLOCK_BITS) - (first >> BLOCK_BITS) + 1, 0)
        begin = np.zeros(len(offsets), np.int64)
        np.cumsum(n_blocks, out=begin[1:])
        most = (longest + BLOCK - 2) // BLOCK  # from the first block to the last
        return Places(begin, max(most - 1, 0).bit_length()), int(begin[-1])


NO_PLACES = Places(np.zeros(1, np.int64), 0)


@inlined
def partition_of(offsets, row, likely):
    """The partition of a row; it is looked at whether it is the likely one first."""
    if offsets[likely] <= row < offsets[likely + 1]:
        return likely
    low = 0
    high = offsets.shape[0] - 1
    while low < high - 1:
        middle = (low + high) // 2
        if offsets[middle] <= row:
            low = middle
        else:
            high = middle
    return low


@inlined
def level_of(first_block, last_block):
    """The power of two that divides the pivot between two blocks, and no other block up to the last."""
    level = 0
    while first_block >> (level + 1) != last_block >> (level + 1):
        level += 1
    return level


@inlined
def left_line(level, levels):
    """The line of a table with the sums left of a pivot."""
    return min(level, levels)


@inlined
def right_line(level, levels):
    """The line of a table with the sums right of a pivot."""
    return level if level < levels else levels + 1


LINE, PIVOT, PLACE, N_BLOCKS = range(4)
"""Columns of stretches."""


@njit(cache=True, nogil=True)
def _count_or_fill(partitions, places, stretches):
    """How many stretches there are; those for which there is room are written."""
    offsets, first = partitions
    begin, levels = places
    room = stretches.shape[0]
    n = 0
    for partition in range(offsets.shape[0] - 1):
        low = first[partition] >> BLOCK_BITS
        high = low + begin[partition + 1] - begin[partition] - 1
        for line in range(levels + 2):
            width = np.int64(1) << min(line, levels)
            # Up to the last power every second multiple is a pivot, on both sides; beyond, every one, a side a line.
            step = 2 * width if line < levels else width
            pivot = (low // step) * step + (width if line < levels else 0)
            while pivot <= high:
                n_left = min(width, pivot - 1 - low)
                n_right = min(width, high - pivot)
                place = begin[partition] + pivot - low
                row = offsets[partition] + pivot * BLOCK - first[partition]
                if pivot > low and line <= levels and n_left > 0:
                    if n < room:
                        stretches[n, LINE], stretches[n, PIVOT] = line, row
                        stretches[n, PLACE], stretches[n, N_BLOCKS] = place - 1, -n_left
                    n += 1
                if pivot > low and line != levels and n_right > 0:
                    if n < room:
                        stretches[n, LINE], stretches[n, PIVOT] = line, row
                        stretches[n, PLACE], stretches[n, N_BLOCKS] = place, n_right
                    n += 1
                pivot += step
    return n


def stretches_of(partitions: Partitions, places: Places) -> NDArray[np.int64]:
    """The stretches of whole blocks that the table has sums of: line, pivot's row, place of the block next to it, and
    how many blocks from there on, negative to the left. A block at an edge, which may lack rows, is in none."""
    nothing = np.empty((0, 4), np.int64)
    if not places.levels:  # no segment has a whole block between its first and its last
        return nothing
    stretches = np.empty((_count_or_fill(partitions, places, nothing), 4), np.int64)
    _count_or_fill(partitions, places, stretches)
    return stretches
