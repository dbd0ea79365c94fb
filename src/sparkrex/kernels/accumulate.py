"""Aggregates over found matches, accumulated in row order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sparkrex.kernels.lazy import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

SUM, LEAST, MOST, SQUARE = range(4)
"""Columns of `wanted`."""

_SMALLEST, _LARGEST = -(2**63), 2**63 - 1

_NEAR = 2_048
"""How many rows are fetched at a time, unless one match has more: they stay in the fastest cache."""


class Mapped(NamedTuple):
    """The mapped rows of matches.

    Parameters
    ----------
    label_offsets : int64, n_matches + 1
    labels : int16 per mapped row, 2 * variable + excluded; may be empty if no set asks for labels
    first : int64 per match, where the match's first row is found: in `order` if that is not empty, else in the values
    order : int64, places in the values, or empty
    takes_part : bool per mapped row, or empty if all do
    """

    label_offsets: NDArray[np.int64]
    labels: NDArray[np.int16]
    first: NDArray[np.int64]
    order: NDArray[np.int64]
    takes_part: NDArray[np.bool_]


class Values(NamedTuple):
    """What is aggregated: int64 or float64, and Arrow's validity bitmap of it (uint8, its first bit), or an empty one
    if all values are valid. `zero` is 0 of their type; `is_whole` says that sums must stay in int64."""

    values: NDArray[Any]
    valid_bits: NDArray[np.uint8]
    bit_offset: int
    zero: Any
    is_whole: bool


class Sets(NamedTuple):
    """Sets of variables: their labels as bool (n_sets, labels), by set whether those decide, otherwise every row takes
    part; and as bool (n_sets, 4) what to compute besides the count of values."""

    is_member: NDArray[np.bool_]
    by_label: NDArray[np.bool_]
    wanted: NDArray[np.bool_]


class Totals(NamedTuple):
    """What is filled.

    Parameters
    ----------
    n_values : int64 (n_sets, n_outputs)
    total, least, most : as the values, (n_sets, n_outputs), where wanted and there are values
    square : float64 (n_sets, n_outputs), the sum of squared distances from the mean
    overflowed : bool per set, set if a sum left int64
    """

    n_values: NDArray[np.int64]
    total: NDArray[Any]
    least: NDArray[Any]
    most: NDArray[Any]
    square: NDArray[np.float64]
    overflowed: NDArray[np.bool_]


@njit(cache=True, nogil=True)
def accumulate(mapped_rows, column, sets, running, begin, end, totals):
    """Aggregate one column over several sets of variables, per match, or per mapped row if `running`.

    A match's rows are read for all sets while they are near. In doubles NaN is above every number. The matches from
    `begin` to `end` are treated.
    """
    label_offsets, labels, first, order, takes_part = mapped_rows
    values, valid_bits, bit_offset, zero, is_whole = column
    is_member, by_label, wanted = sets
    count, total, least, most, square, overflowed = totals
    has_order = order.shape[0] > 0
    has_nulls = valid_bits.shape[0] > 0
    is_filtered = takes_part.shape[0] > 0
    n_sets = by_label.shape[0]
    reads = False
    for s in range(n_sets):
        reads = reads or wanted[s, SUM] or wanted[s, LEAST] or wanted[s, MOST] or wanted[s, SQUARE]
    # Rows that no set reads are left out, unless something is told of each row. A single set then has no row to refuse.
    is_read = np.zeros(is_member.shape[1], np.int64)
    keeps_all = running
    for s in range(n_sets):
        keeps_all = keeps_all or not (by_label[s] or is_filtered)
        for label in range(is_member.shape[1]):
            if is_member[s, label]:
                is_read[label] = 1
    refuses = running or n_sets > 1
    size = _NEAR
    cuts = np.empty(_NEAR + 1, np.int64)
    mapped = np.empty(size + 1, np.int64)
    rows = np.empty(size + 1, np.int64)
    near = np.empty(size, values.dtype)
    is_valid = np.empty(size, np.uint8)
    m = begin
    while m < end:
        base = label_offsets[m]
        behind = m + 1
        while behind < end and behind - m < _NEAR and label_offsets[behind + 1] - base <= _NEAR:
            behind += 1
        if label_offsets[behind] - base > size:
            size = label_offsets[behind] - base
            mapped = np.empty(size + 1, np.int64)
            rows = np.empty(size + 1, np.int64)
            near = np.empty(size, values.dtype)
            is_valid = np.empty(size, np.uint8)
        # 1. Which rows are read: no jumps that depend on the data.
        n_near = 0
        for k in range(m, behind):
            cuts[k - m] = n_near
            to_row = first[k] - label_offsets[k]
            for i in range(label_offsets[k], label_offsets[k + 1]):
                if refuses:
                    mapped[n_near] = i
                rows[n_near] = to_row + i
                if keeps_all:
                    n_near += 1
                elif is_filtered:
                    n_near += takes_part[i]
                else:
                    n_near += is_read[labels[i]]
        cuts[behind - m] = n_near
        # 2. Fetch them. In input order they are far apart; this loop never waits for one before it asks for the next.
        if has_order and (reads or has_nulls):
            for j in range(n_near):
                rows[j] = order[rows[j]]
        if reads:
            for j in range(n_near):
                near[j] = values[rows[j]]
        if has_nulls:
            for j in range(n_near):
                bit = rows[j] + bit_offset
                is_valid[j] = (valid_bits[bit >> 3] >> (bit & 7)) & 1
        # 3. Walk the matches in what was fetched.
        for k in range(m, behind):
            low, high = cuts[k - m], cuts[k - m + 1]
            for s in range(n_sets):
                wants_sum, wants_least = wanted[s, SUM], wanted[s, LEAST]
                wants_most, wants_square = wanted[s, MOST], wanted[s, SQUARE]
                n_values = 0
                sum_so_far = zero
                smallest = zero
                largest = zero
                mean = 0.0
                distance = 0.0
                for j in range(low, high + 1):
                    if j < high:
                        takes = not has_nulls or is_valid[j] != 0
                        if refuses:
                            i = mapped[j]
                            takes = takes and (not by_label[s] or is_member[s, labels[i]])
                            takes = takes and (not is_filtered or takes_part[i])
                        if takes:
                            n_values += 1
                            value = near[j]
                            if wants_sum:
                                # Looked for before adding: compiled code may take for granted that sums do not wrap.
                                if is_whole and (
                                    (value > 0 and sum_so_far > _LARGEST - value)
                                    or (value < 0 and sum_so_far < _SMALLEST - value)
                                ):
                                    overflowed[s] = True
                                else:
                                    sum_so_far += value
                            if wants_least and (
                                n_values == 1 or value < smallest or (smallest != smallest and value == value)
                            ):
                                smallest = value
                            if wants_most and (
                                n_values == 1 or largest < value or (value != value and largest == largest)
                            ):
                                largest = value
                            if wants_square:
                                step = value - mean
                                mean += step / n_values
                                distance += step * (value - mean)
                    if (j < high) == running:
                        to = mapped[j] if running else k
                        count[s, to] = n_values
                        if wants_sum:
                            total[s, to] = sum_so_far
                        if wants_least:
                            least[s, to] = smallest
                        if wants_most:
                            most[s, to] = largest
                        if wants_square:
                            square[s, to] = distance
        m = behind


@njit(cache=True, nogil=True)
def find_extremes(label_offsets, labels, first, values, is_member, wants_most, begin, end, count, extreme):
    """The least or the greatest value of each match, as `accumulate` finds it for one set of values without NULLs.

    Parameters
    ----------
    label_offsets, labels, first : as in `Mapped`, with places in the values
    values : int64 or float64
    is_member : bool per label, or empty if all rows take part
    count, extreme : filled for the matches from `begin` to `end`
    """
    takes_all = is_member.shape[0] == 0
    for m in range(begin, end):
        low = label_offsets[m]
        at = first[m]
        n_values = 0
        best = values[at]
        for i in range(low, label_offsets[m + 1]):
            value = values[at]
            at += 1
            takes = takes_all or is_member[labels[i]]
            if wants_most:
                is_better = (best < value) | ((value != value) & (best == best))
            else:
                is_better = (value < best) | ((best != best) & (value == value))
            best = value if takes & (is_better | (n_values == 0)) else best
            n_values += takes
        count[m] = n_values
        extreme[m] = best
