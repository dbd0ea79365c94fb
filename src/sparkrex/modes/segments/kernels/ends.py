"""Conditions on the values in a segment's first and last row, tested while the segments are made.

For one start row such a condition is monotone in the value at the end: if it does not hold for the smallest value of a
block of rows (or the largest, where it asks for large ones) it holds for none of them. So blocks of ends are tested
first, by their extremes, and rows only in blocks that have a hit. Rounding is monotone, too: this is exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sparkrex.kernels.inlined import inlined
from sparkrex.kernels.lazy import njit
from sparkrex.modes.segments.kernels.segments import SPENT, STEPS_LEFT, TOO_MANY, ends_in, grown, is_spent, starts_in

if TYPE_CHECKING:
    from numpy.typing import NDArray

LAST_MINUS_FIRST, FIRST_MINUS_LAST, LAST_OVER_FIRST, FIRST_OVER_LAST, LAST_ALONE, FIRST_ALONE = range(6)
"""What is compared with the threshold. A quotient whose divisor is 0 is NULL, which does not hold."""
LESS, AT_MOST, GREATER, AT_LEAST = range(4)
"""How it is compared."""
NOT_ORDERED, SMALL, LARGE = range(3)
"""Whether a condition that holds for some value at the end holds for all smaller ones, all larger ones, or neither."""
FEW = 2
"""More ends than these and one are tested by blocks."""
TOGETHER = 1024
"""Segments of one length that are tested in one loop without branches."""


class Compared(NamedTuple):
    """A condition on both ends: `form` compared with `threshold`; whether all values at ends are positive."""

    form: int
    comparison: int
    threshold: float
    is_last_positive: bool


class EndValues(NamedTuple):
    """The values that segments may begin and end with, by row, and the extremes of every 2^shift of the latter."""

    firsts: NDArray[np.float64]
    lasts: NDArray[np.float64]
    shift: int
    smallest: NDArray[np.float64]
    largest: NDArray[np.float64]


@inlined
def end_holds(form, comparison, threshold, first, last):
    """Whether the condition holds for a segment with these values in its first and last row."""
    if form == LAST_MINUS_FIRST:
        value = last - first
    elif form == FIRST_MINUS_LAST:
        value = first - last
    elif form == LAST_OVER_FIRST:
        if first == 0.0:
            return False
        value = last / first
    elif form == FIRST_OVER_LAST:
        if last == 0.0:
            return False
        value = first / last
    elif form == LAST_ALONE:
        value = last
    else:
        value = first
    if comparison == LESS:
        return value < threshold
    if comparison == AT_MOST:
        return value <= threshold
    if comparison == GREATER:
        return value > threshold
    return value >= threshold


@inlined
def wanted_end(form, comparison, first, is_last_positive):
    """Which values at the end the condition asks for, given the value in the first row."""
    wants = LARGE if comparison >= GREATER else SMALL
    if form == FIRST_ALONE:
        return NOT_ORDERED
    if form == FIRST_OVER_LAST and not is_last_positive:
        return NOT_ORDERED
    falls = form == FIRST_MINUS_LAST or (form == LAST_OVER_FIRST and first < 0) or (
        form == FIRST_OVER_LAST and first >= 0
    )
    return SMALL + LARGE - wants if falls else wants


@njit(cache=True, nogil=True, error_model="numpy")
def ends_hold(form, comparison, threshold, firsts, lasts, values, holds):
    """Whether the condition holds for each pair of values; `values` is room for what is compared.

    The same as `end_holds`, but the loops are without branches, and do several pairs at once.
    """
    n = firsts.shape[0]
    if form == LAST_MINUS_FIRST:
        for place in range(n):
            values[place] = lasts[place] - firsts[place]
    elif form == FIRST_MINUS_LAST:
        for place in range(n):
            values[place] = firsts[place] - lasts[place]
    elif form == LAST_OVER_FIRST:
        for place in range(n):
            values[place] = lasts[place] / firsts[place] if firsts[place] != 0.0 else np.nan
    elif form == FIRST_OVER_LAST:
        for place in range(n):
            values[place] = firsts[place] / lasts[place] if lasts[place] != 0.0 else np.nan
    elif form == LAST_ALONE:
        values[:n] = lasts
    else:
        values[:n] = firsts
    if comparison == LESS:
        for place in range(n):
            holds[place] = values[place] < threshold
    elif comparison == AT_MOST:
        for place in range(n):
            holds[place] = values[place] <= threshold
    elif comparison == GREATER:
        for place in range(n):
            holds[place] = values[place] > threshold
    else:
        for place in range(n):
            holds[place] = values[place] >= threshold


@njit(cache=True, nogil=True)
def block_extremes(values, shift, smallest, largest):
    """The least and the greatest value of every block of 2^shift rows."""
    for block in range(smallest.shape[0]):
        begin = block << shift
        low = values[begin]
        high = low
        for row in range(begin + 1, min(begin + (1 << shift), values.shape[0])):
            low = min(low, values[row])
            high = max(high, values[row])
        smallest[block] = low
        largest[block] = high


@inlined
def _write_ends(compared, values, row, begin, end, ends, n):
    """Write the ends from `begin` to `end` of segments from this row for which the condition holds; how many are there
    then, and how many values were compared."""
    form, comparison, threshold, is_last_positive = compared
    firsts, lasts, shift, smallest, largest = values
    first = firsts[row]
    tested = 0
    wants = NOT_ORDERED
    if end - begin >= FEW:
        wants = wanted_end(form, comparison, first, is_last_positive)
    if wants == NOT_ORDERED:
        for position in range(begin, end + 1):
            tested += 1
            if end_holds(form, comparison, threshold, first, lasts[position]):
                ends[n] = position
                n += 1
        return n, tested
    for block in range(begin >> shift, (end >> shift) + 1):
        extreme = smallest[block] if wants == SMALL else largest[block]
        tested += 1
        if not end_holds(form, comparison, threshold, first, extreme):
            continue
        for position in range(max(begin, block << shift), min(end, ((block + 1) << shift) - 1) + 1):
            tested += 1
            if end_holds(form, comparison, threshold, first, lasts[position]):
                ends[n] = position
                n += 1
    return n, tested


@njit(cache=True, nogil=True)
def end_segments(ranges, frame, compared, end_values, space, start, n, room, budget):
    """Write the segments of the spaces for which a condition on both ends holds, behind the `n` that are written.

    Returns
    -------
    n : how many are written, or SPENT; space, start : where to go on, as there may be no room for what is found there,
        space is their number at the end; tested : how many values were compared, of rows and of blocks
    """
    start_low, start_high, end_low, end_high = ranges
    form, comparison, threshold, _ = compared
    firsts, lasts, _, _, _ = end_values
    spaces, starts, ends = room
    fewest, most, first_end, _, _, _ = frame
    is_fixed = first_end.shape[0] == 0 and fewest == most
    n_most = spaces.shape[0]
    n = np.int64(n)
    tested = 0
    n_together = TOGETHER if is_fixed else 0
    values = np.empty(n_together, np.float64)
    holds = np.empty(n_together, np.bool_)
    hits = np.empty(n_together, np.int64)
    while space < start_low.shape[0]:
        if end_low[space] <= end_high[space]:
            low, high = starts_in(frame, start_low[space], start_high[space], end_low[space], end_high[space])
            low = max(low, start)
            while is_fixed and low <= high:
                after = min(low + TOGETHER, high + 1)
                to = low + fewest - 1
                ends_hold(form, comparison, threshold, firsts[low:after], lasts[to : to + after - low], values, holds)
                n_hits = 0
                for place in range(after - low):
                    hits[n_hits] = place
                    n_hits += holds[place]
                if n + n_hits > n_most:
                    return n, space, low, tested
                tested += after - low
                if is_spent(budget, after - low):
                    return np.int64(SPENT), space, low, tested
                for place in range(n_hits):
                    spaces[n] = space
                    starts[n] = low + hits[place]
                    ends[n] = to + hits[place]
                    n += 1
                low = after
            for row in range(low, high + 1):
                begin, end = ends_in(frame, end_low[space], end_high[space], row)
                if n + end - begin >= n_most:
                    return n, space, row, tested
                if is_spent(budget, 1):
                    return np.int64(SPENT), space, row, tested
                behind, more = _write_ends(compared, end_values, row, begin, end, ends, n)
                for place in range(n, behind):
                    spaces[place] = space
                    starts[place] = row
                n = behind
                tested += more
                budget[STEPS_LEFT] -= more
        space += 1
        start = np.int64(-1)
    return n, space, start, tested


@njit(cache=True, nogil=True)
def end_tests(compared, firsts, lasts, start, end, result):
    """Whether the condition holds for each of some segments."""
    form, comparison, threshold, _ = compared
    for place in range(start.shape[0]):
        result[place] = end_holds(form, comparison, threshold, firsts[start[place]], lasts[end[place]])


@njit(cache=True, nogil=True)
def n_points(ranges):
    """How many segments of one row the spaces have."""
    start_low, start_high, end_low, end_high = ranges
    n = 0
    for space in range(start_low.shape[0]):
        low = max(start_low[space], end_low[space])
        high = min(start_high[space], end_high[space])
        n += max(high - low + 1, 0)
    return n


@njit(cache=True, nogil=True)
def points_in(ranges, rows, most):
    """Those of some rows, in order, that lie in each space. Returns n and (space, row); n is -1 if more than `most`."""
    start_low, start_high, end_low, end_high = ranges
    spaces = np.empty(1024, np.int64)
    found = np.empty(1024, np.int64)
    n = 0
    for space in range(start_low.shape[0]):
        low = max(start_low[space], end_low[space])
        high = min(start_high[space], end_high[space])
        if low > high:
            continue
        place = np.searchsorted(rows, low)
        while place < rows.shape[0] and rows[place] <= high:
            if n >= most:
                return np.int64(TOO_MANY), spaces, found
            if n >= spaces.shape[0]:
                spaces = grown(spaces, n + 1)
                found = grown(found, n + 1)
            spaces[n] = space
            found[n] = rows[place]
            n += 1
            place += 1
    return np.int64(n), spaces, found
