"""Sums of x, y, x^2, y^2 and x y over segments, for spreads and regression, by scan and from a table (see `pivots`).

Values are taken relative to that in the pivot's first row, which is a row of the segment, so that sums are small if the
values are close to each other, wherever they are. If it is NULL, each side takes the value nearest to the pivot, and
the left side is moved to the right one's base. Variances that are small beside the squares about that value have lost
digits; who reads the sums asks `is_certain`, and gathers the segment's values if it is not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sparkrex.kernels.cached import njit
from sparkrex.kernels.double_double import distance, two_sum
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
    from typing import Any

    from numpy.typing import NDArray

    from sparkrex.modes.segments.kernels.pivots import Partitions, Places

N_SUMS = 5
NOTHING = (0.0, 0.0, 0.0, 0.0, 0.0)
_DULL = 1e-2
"""A variance of less than this share of the squares about the pivot has lost two of sixteen digits."""
_TINY = 1e-280
"""Squares below have lost digits to underflow."""


class Pairs(NamedTuple):
    """Two columns, or one twice; `nulls` marks rows in which either is NULL, and is empty if there are none."""

    x: NDArray[Any]
    y: NDArray[Any]
    nulls: NDArray[np.uint8]
    partitions: Partitions


class PairTable(NamedTuple):
    """`sums[line, place]` are five doubles; `counts[r]` are, of the rows before r, the pairs and those that are not
    finite or huge. `x_changes` and `y_changes`: see `next_changes`."""

    places: Places
    sums: NDArray[np.float64]
    counts: NDArray[np.int64]
    x_changes: NDArray[np.int64]
    y_changes: NDArray[np.int64]


@njit(cache=True, nogil=True)
def pair_counts(x, y, nulls, counts):
    """Fill the counts of a table; its first line is 0."""
    for row in range(x.shape[0]):
        counts[row + 1] = counts[row]
        if not is_null_at(nulls, row):
            counts[row + 1, 0] += 1
            if not (abs(x[row]) < HUGE and abs(y[row]) < HUGE):
                counts[row + 1, 1] += 1


@njit(cache=True, nogil=True)
def next_changes(values, nulls, offsets, changes):
    """For every row the first later row of its partition whose value differs from the first value at or after it.

    So a segment has but one value, or none, if changes[start] > end.
    """
    for partition in range(offsets.shape[0] - 1):
        after = offsets[partition + 1]
        upcoming = np.int64(-1)
        for row in range(after - 1, offsets[partition] - 1, -1):
            if is_null_at(nulls, row):
                changes[row] = after if upcoming < 0 else changes[upcoming]
                continue
            if upcoming < 0:
                changes[row] = after
            elif values[upcoming] == values[row]:
                changes[row] = changes[upcoming]
            else:
                changes[row] = upcoming
            upcoming = row


@inlined
def add_rows(x, y, nulls, begin, stop, base, sums):
    """Add the rows of at most one block, one after the other, relative to those of row `base`."""
    x_base = x[base]
    y_base = y[base]
    a, b, c, d, e = sums
    for row in range(begin, stop):
        if not is_null_at(nulls, row):
            dx = distance(x[row], x_base)
            dy = distance(y[row], y_base)
            a += dx
            b += dy
            c += dx * dx
            d += dy * dy
            e += dx * dy
    return a, b, c, d, e


@inlined
def _base(nulls, pivot, step, n_rows):
    """The row nearest to the pivot, on one side of it, that is not NULL; the pivot itself if there is none."""
    if is_null_at(nulls, pivot):
        for distance_to in range(n_rows):
            row = pivot + distance_to if step > 0 else pivot - 1 - distance_to
            if not is_null_at(nulls, row):
                return row
    return pivot


@inlined
def _add_compensated(high, low, value):
    """The sum of a pair and a double."""
    high, error = two_sum(high, value)
    return high, low + error


@inlined
def _add_block(pairs, begin, base, highs, lows):
    """Compensated sums with those over a whole block added."""
    x, y, nulls, _ = pairs
    a, b, c, d, e = add_rows(x, y, nulls, begin, begin + BLOCK, base, NOTHING)
    a, low_a = _add_compensated(highs[0], lows[0], a)
    b, low_b = _add_compensated(highs[1], lows[1], b)
    c, low_c = _add_compensated(highs[2], lows[2], c)
    d, low_d = _add_compensated(highs[3], lows[3], d)
    e, low_e = _add_compensated(highs[4], lows[4], e)
    return (a, b, c, d, e), (low_a, low_b, low_c, low_d, low_e)


@njit(cache=True, nogil=True)
def pair_table(pairs, stretches, sums):
    """Fill the sums of a table, stretch by stretch."""
    _, _, nulls, _ = pairs
    for stretch in range(stretches.shape[0]):
        line = stretches[stretch, LINE]
        pivot = stretches[stretch, PIVOT]
        n_blocks = stretches[stretch, N_BLOCKS]
        step = 1 if n_blocks > 0 else -1
        base = _base(nulls, pivot, step, abs(n_blocks) * BLOCK)
        highs = NOTHING
        lows = NOTHING
        for block in range(abs(n_blocks)):
            begin = pivot + block * BLOCK if step > 0 else pivot - (block + 1) * BLOCK
            highs, lows = _add_block(pairs, begin, base, highs, lows)
            place = stretches[stretch, PLACE] + step * block
            for column in range(N_SUMS):
                sums[line, place, column] = highs[column] + lows[column]


@inlined
def _blocks_scan(pairs, pivot, n_blocks, base):
    """Sums over whole blocks from the pivot's row on, to the left if `n_blocks` is negative."""
    highs = NOTHING
    lows = NOTHING
    for block in range(abs(n_blocks)):
        begin = pivot + block * BLOCK if n_blocks > 0 else pivot - (block + 1) * BLOCK
        highs, lows = _add_block(pairs, begin, base, highs, lows)
    return (
        highs[0] + lows[0], highs[1] + lows[1], highs[2] + lows[2], highs[3] + lows[3], highs[4] + lows[4]
    )


FIRST, LAST, BLOCK_LAST, BASE, PIVOT_ROW, PARTITION, N_AT = range(7)
"""What `at` has of the segment before, as candidates mostly come in order, the ends of one start after the other: its
first and last row, the last row of its last block, the row that sums are relative to, the pivot, and its partition."""
BEFORE_PIVOT, BEHIND_PIVOT, IN_LAST_BLOCK = range(3)
"""Lines of `parts`, the sums that make up that segment's."""


@inlined
def _line(parts, part):
    return parts[part, 0], parts[part, 1], parts[part, 2], parts[part, 3], parts[part, 4]


@inlined
def _read(sums, line, place):
    return (
        sums[line, place, 0], sums[line, place, 1], sums[line, place, 2], sums[line, place, 3], sums[line, place, 4]
    )


@inlined
def _cut(pairs, table, first, last, at, parts):
    """Cut a segment at its pivot, and fill `at` and `parts` but for the rows of its last block.

    Returns where these begin and the row of the pivot; in a segment of one block both are its first row.
    """
    x, y, nulls, (offsets, first_position) = pairs
    (begin, levels), sums, _, _, _ = table
    partition = partition_of(offsets, first, max(at[PARTITION], 0))
    at[PARTITION] = partition
    shift = first_position[partition] - offsets[partition]
    first_block = (first + shift) >> BLOCK_BITS
    last_block = (last + shift) >> BLOCK_BITS
    is_same_start = first == at[FIRST]
    at[FIRST] = first
    at[BLOCK_LAST] = (last_block + 1) * BLOCK - shift - 1
    if first_block == last_block:
        at[PIVOT_ROW] = -1
        parts[:] = 0.0
        at[BASE] = _base(nulls, first, 1, last + 1 - first)
        return first, first
    level = level_of(first_block, last_block)
    pivot = (last_block >> level) << level
    pivot_row = pivot * BLOCK - shift
    at[BASE] = _base(nulls, pivot_row, 1, last + 1 - pivot_row)
    has_table = sums.shape[0] > 0
    place = begin[partition] - (first_position[partition] >> BLOCK_BITS) if has_table else 0
    if not is_same_start or pivot_row != at[PIVOT_ROW]:
        at[PIVOT_ROW] = pivot_row
        base = _base(nulls, pivot_row, -1, pivot_row - first)
        left = NOTHING
        if first_block + 1 < pivot:
            if has_table:
                left = _read(sums, left_line(level, levels), place + first_block + 1)
            else:
                left = _blocks_scan(pairs, pivot_row, first_block + 1 - pivot, base)
        rows = add_rows(x, y, nulls, first, (first_block + 1) * BLOCK - shift, base, NOTHING)
        for column in range(N_SUMS):
            parts[BEFORE_PIVOT, column] = rows[column] + left[column]
    right = NOTHING
    if pivot < last_block:
        if has_table:
            right = _read(sums, right_line(level, levels), place + last_block - 1)
        else:
            right = _blocks_scan(pairs, pivot_row, last_block - pivot, at[BASE])
    for column in range(N_SUMS):
        parts[BEHIND_PIVOT, column] = right[column]
        parts[IN_LAST_BLOCK, column] = 0.0
    return last_block * BLOCK - shift, pivot_row


@inlined
def _move_left(pairs, first, pivot, at, parts):
    """Move the sums left of a pivot that is NULL to the base of the right ones, unless one side has no values."""
    x, y, nulls, _ = pairs
    base = _base(nulls, pivot, -1, pivot - first)
    if base == pivot or is_null_at(nulls, at[BASE]):
        return
    n = 0
    for row in range(first, pivot):
        if not is_null_at(nulls, row):
            n += 1
    dx = distance(x[base], x[at[BASE]])
    dy = distance(y[base], y[at[BASE]])
    a, b = parts[BEFORE_PIVOT, 0], parts[BEFORE_PIVOT, 1]
    parts[BEFORE_PIVOT, 0] += n * dx
    parts[BEFORE_PIVOT, 1] += n * dy
    parts[BEFORE_PIVOT, 2] += 2 * dx * a + n * (dx * dx)
    parts[BEFORE_PIVOT, 3] += 2 * dy * b + n * (dy * dy)
    parts[BEFORE_PIVOT, 4] += dx * b + dy * a + n * (dx * dy)


@inlined
def segment_sums(pairs, table, first, last, at, parts):
    """The five sums over a segment; from a table, or by scan if the table has no lines."""
    x, y, nulls, _ = pairs
    if first == at[FIRST] and at[LAST] <= last <= at[BLOCK_LAST]:
        begin = at[LAST] + 1
    else:
        begin, pivot = _cut(pairs, table, first, last, at, parts)
        if is_null_at(nulls, pivot):
            _move_left(pairs, first, pivot, at, parts)
            at[FIRST] = -1  # with more rows, the base may be another one
    rows = add_rows(x, y, nulls, begin, last + 1, at[BASE], _line(parts, IN_LAST_BLOCK))
    at[LAST] = last
    for column in range(N_SUMS):
        parts[IN_LAST_BLOCK, column] = rows[column]
    return (
        _sum_of(parts, 0), _sum_of(parts, 1), _sum_of(parts, 2), _sum_of(parts, 3), _sum_of(parts, 4)
    )


@inlined
def _sum_of(parts, column):
    return parts[BEFORE_PIVOT, column] + (parts[BEHIND_PIVOT, column] + parts[IN_LAST_BLOCK, column])


@inlined
def pairs_in(pairs, table, first, last):
    """How many pairs a segment has, and whether all of them are finite and none is huge."""
    x, y, nulls, _ = pairs
    _, _, counts, _, _ = table
    if counts.shape[0] > 0:
        return counts[last + 1, 0] - counts[first, 0], counts[last + 1, 1] == counts[first, 1]
    n = np.int64(0)
    is_finite = True
    for row in range(first, last + 1):
        if not is_null_at(nulls, row):
            n += 1
            if not (abs(x[row]) < HUGE and abs(y[row]) < HUGE):
                is_finite = False
    return n, is_finite


@inlined
def centred(n, product, a, b):
    """n * sum((x - mean) (y - mean)), from the sums of the product and of both."""
    return n * product - a * b


@inlined
def is_certain(n, squares, about_mean):
    """Whether n times the variance has enough digits, beside n times the squares about the base."""
    return about_mean > _DULL * n * squares and squares > _TINY
