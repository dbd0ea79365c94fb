"""Sums of doubles over segments, by scan and by lookup in a table of block sums (see `pivots`).

Every sum is a pair of doubles with about 106 bits, so what is lost is lost when the pair is rounded. A segment that
holds an infinity, NaN or a value so large that sums may overflow is added up in order, by scan as by lookup.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sparkrex.kernels.cached import njit
from sparkrex.kernels.double_double import add_pairs, two_sum
from sparkrex.kernels.inlined import inlined
from sparkrex.modes.segments.kernels.pivots import (
    BLOCK,
    BLOCK_BITS,
    LINE,
    N_BLOCKS,
    PIVOT,
    PLACE,
    left_line,
    level_of,
    partition_of,
    right_line,
)
from sparkrex.modes.segments.kernels.sums import HUGE, is_null_at

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.modes.segments.kernels.pivots import Partitions, Places


class RealColumn(NamedTuple):
    """A column of doubles: `nulls` is empty if nothing is NULL."""

    values: NDArray[np.float64]
    nulls: NDArray[np.uint8]
    partitions: Partitions


class RealTable(NamedTuple):
    """`sums[line, place]` is a pair; `counts[r]` are, of the rows before r, the values and those that are not finite
    or huge."""

    places: Places
    sums: NDArray[np.float64]
    counts: NDArray[np.int64]


@njit(cache=True, nogil=True)
def _plain_sum(values, nulls, start, end):
    """Row by row, as infinities and NaN want it: there the errors of a pair are NaN, the plain sum is not."""
    high = 0.0
    low = 0.0
    plain = 0.0
    for row in range(start, end + 1):
        if not is_null_at(nulls, row):
            plain += values[row]
            high, error = two_sum(high, values[row])
            low += error
    return high + low if math.isfinite(plain) else plain


@inlined
def _rows_sum(values, nulls, begin, stop):
    """The rows of at most one block, as a pair."""
    high = 0.0
    low = 0.0
    for row in range(begin, stop):
        if not is_null_at(nulls, row):
            high, error = two_sum(high, values[row])
            low += error
    return high, low


@inlined
def _blocks_sum(values, nulls, pivot, n_blocks):
    """Whole blocks from the pivot's row on, to the left if `n_blocks` is negative, as a pair."""
    high = 0.0
    low = 0.0
    for block in range(abs(n_blocks)):
        begin = pivot + block * BLOCK if n_blocks > 0 else pivot - (block + 1) * BLOCK
        block_high, block_low = _rows_sum(values, nulls, begin, begin + BLOCK)
        high, low = add_pairs(high, low, block_high, block_low)
    return high, low


@njit(cache=True, nogil=True)
def real_counts(values, nulls, counts):
    """Fill the counts of a table; its first line is 0."""
    for row in range(values.shape[0]):
        counts[row + 1] = counts[row]
        if not is_null_at(nulls, row):
            counts[row + 1, 0] += 1
            if not abs(values[row]) < HUGE:
                counts[row + 1, 1] += 1


@njit(cache=True, nogil=True)
def real_table(values, nulls, stretches, sums):
    """Fill the sums of a table, stretch by stretch."""
    for stretch in range(stretches.shape[0]):
        line = stretches[stretch, LINE]
        pivot = stretches[stretch, PIVOT]
        n_blocks = stretches[stretch, N_BLOCKS]
        step = 1 if n_blocks > 0 else -1
        high = 0.0
        low = 0.0
        for block in range(abs(n_blocks)):
            begin = pivot + block * BLOCK if n_blocks > 0 else pivot - (block + 1) * BLOCK
            block_high, block_low = _rows_sum(values, nulls, begin, begin + BLOCK)
            high, low = add_pairs(high, low, block_high, block_low)
            place = stretches[stretch, PLACE] + step * block
            sums[line, place, 0] = high
            sums[line, place, 1] = low


@inlined
def _values_in(column, table, first, last):
    """How many values a segment has, and whether all of them are finite and none is huge."""
    values, nulls, _ = column
    _, _, counts = table
    if counts.shape[0] > 0:
        return counts[last + 1, 0] - counts[first, 0], counts[last + 1, 1] == counts[first, 1]
    n = np.int64(0)
    is_finite = True
    for row in range(first, last + 1):
        if not is_null_at(nulls, row):
            n += 1
            if not abs(values[row]) < HUGE:
                is_finite = False
    return n, is_finite


@inlined
def _without_last_block(column, table, first, last, partition):
    """The sum of a segment of several blocks without the rows of its last one, as a pair."""
    values, nulls, (offsets, first_position) = column
    (begin, levels), sums, _ = table
    has_table = sums.shape[0] > 0
    shift = first_position[partition] - offsets[partition]
    first_block = (first + shift) >> BLOCK_BITS
    last_block = (last + shift) >> BLOCK_BITS
    level = level_of(first_block, last_block)
    pivot = (last_block >> level) << level
    high, low = _rows_sum(values, nulls, first, (first_block + 1) * BLOCK - shift)
    place = begin[partition] - (first_position[partition] >> BLOCK_BITS) if has_table else 0
    if first_block + 1 < pivot:
        if has_table:
            line = left_line(level, levels)
            other = (sums[line, place + first_block + 1, 0], sums[line, place + first_block + 1, 1])
        else:
            other = _blocks_sum(values, nulls, pivot * BLOCK - shift, first_block + 1 - pivot)
        high, low = add_pairs(high, low, other[0], other[1])
    if pivot < last_block:
        if has_table:
            line = right_line(level, levels)
            other = (sums[line, place + last_block - 1, 0], sums[line, place + last_block - 1, 1])
        else:
            other = _blocks_sum(values, nulls, pivot * BLOCK - shift, last_block - pivot)
        high, low = add_pairs(high, low, other[0], other[1])
    return high, low


@njit(cache=True, nogil=True)
def real_sum(column, table, start, end, result, n_values):
    """Sums and numbers of values; from a table, or by scan if the table has no lines.

    Candidates mostly come in order, the ends of one start after the other: what was added up for the end before is
    gone on from.
    """
    values, nulls, (offsets, first_position) = column
    partition = 0
    known_first = np.int64(-1)  # of the segment before
    known_last = np.int64(-1)
    block_last = np.int64(-1)
    before = (0.0, 0.0)
    high = 0.0
    low = 0.0
    for k in range(start.shape[0]):
        first = start[k]
        last = end[k]
        n_values[k], is_finite = _values_in(column, table, first, last)
        if not is_finite:
            result[k] = _plain_sum(values, nulls, first, last)
            continue
        if first != known_first or last < known_last or last > block_last:
            partition = partition_of(offsets, first, partition)
            shift = first_position[partition] - offsets[partition]
            last_begin = (((last + shift) >> BLOCK_BITS) << BLOCK_BITS) - shift
            block_last = last_begin + BLOCK - 1
            before = (0.0, 0.0)
            if first < last_begin:
                before = _without_last_block(column, table, first, last, partition)
            known_first = first
            known_last = max(first, last_begin) - 1
            high = 0.0
            low = 0.0
        for row in range(known_last + 1, last + 1):
            if not is_null_at(nulls, row):
                high, error = two_sum(high, values[row])
                low += error
        known_last = last
        sum_high, sum_low = add_pairs(before[0], before[1], high, low)
        result[k] = sum_high + sum_low
