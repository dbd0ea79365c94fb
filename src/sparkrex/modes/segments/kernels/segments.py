"""Loops over segments: window bounds, candidates, joins. Rows are positions in a batch of partitions.

A loop whose time is not linear in what it reads and writes gets a `budget`, int64: how many steps the search may still
take, and whether nobody waits for it any more, which another thread writes (see `threads`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sparkrex.kernels.inlined import inlined
from sparkrex.kernels.lazy import njit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.int64]

STEPS_LEFT, GIVEN_UP = range(2)
"""Entries of a budget."""
MANY_STEPS = 1 << 20
"""After so many, at the latest, a loop takes them from its budget: about a millisecond."""
TOO_MANY, SPENT = -1, -2
"""In place of how many segments were found: more than allowed; the budget is spent, or the search was given up."""


class Ranges(NamedTuple):
    """Search spaces: segments start in [start_low, start_high] and end in [end_low, end_high], all inclusive."""

    start_low: Rows
    start_high: Rows
    end_low: Rows
    end_high: Rows


class Triples(NamedTuple):
    """Segments, each in a space; mostly ordered by (space, start, end). Also room for such."""

    space: Rows
    start: Rows
    end: Rows


class Lefts(NamedTuple):
    """Left sides of joins, ordered by (space, start): the right one starts from `first` to `last`."""

    space: Rows
    start: Rows
    first: Rows
    last: Rows


class Limits(NamedTuple):
    """`longest` rows is the most that a segment of the window has, `most` segments are made; for `budget` see above."""

    longest: int
    most: int
    budget: Rows


@inlined
def is_spent(budget, n_steps):
    """Take so many steps; whether to return."""
    budget[STEPS_LEFT] -= n_steps
    return budget[STEPS_LEFT] < 0 or budget[GIVEN_UP] != 0


@njit(cache=True, nogil=True)
def row_window(offsets, low, high, first_end, last_end):
    """Narrow each start row's range of ends to segments of `low` to `high` rows."""
    for partition in range(offsets.shape[0] - 1):
        last_row = offsets[partition + 1] - 1
        for row in range(offsets[partition], offsets[partition + 1]):
            first_end[row] = max(first_end[row], row + low - 1)
            last_end[row] = min(last_end[row], min(row + high - 1, last_row))


@njit(cache=True, nogil=True)
def value_window(offsets, values, low, high, has_high, first_end, last_end):
    """The same for segments over which an ascending column grows by `low` to `high`, both inclusive."""
    for partition in range(offsets.shape[0] - 1):
        begin = offsets[partition]
        end = offsets[partition + 1]
        near = begin
        far = begin
        for row in range(begin, end):
            near = max(near, row)
            while near < end and values[near] - values[row] < low:
                near += 1
            first_end[row] = max(first_end[row], near)
            if has_high:
                far = max(far, row)
                while far < end and values[far] - values[row] <= high:
                    far += 1
                last_end[row] = min(last_end[row], far - 1)


@njit(cache=True, nogil=True)
def turn_around(offsets, first_end, last_end, first_start, last_start):
    """From each start's range of ends, each end's range of starts. Both bounds ascend with the start."""
    for partition in range(offsets.shape[0] - 1):
        begin = offsets[partition]
        end = offsets[partition + 1]
        first = begin
        last = begin
        for row in range(begin, end):
            while first < end and last_end[first] < row:
                first += 1
            while last < end and first_end[last] <= row:
                last += 1
            first_start[row] = first
            last_start[row] = min(last - 1, row)


@inlined
def ends_from(low, high, first_end, last_end, row):
    """The first and last row at which a segment from this row may end; a partition's edge is up to the caller."""
    if first_end.shape[0] > 0:
        return first_end[row], last_end[row]
    return row + low - 1, row + high - 1


@inlined
def starts_in(frame, start_low, start_high, end_low, end_high):
    """The first and last start row of a space from which the window reaches its ends."""
    low, high, _, _, first_start, last_start = frame
    if first_start.shape[0] > 0:
        return max(start_low, first_start[end_low]), min(start_high, last_start[end_high])
    return max(start_low, end_low - high + 1), min(start_high, end_high - low + 1)


@inlined
def ends_in(frame, end_low, end_high, row):
    """The first and last end of a space's segments from this row."""
    low, high, first_end, last_end, _, _ = frame
    first, last = ends_from(low, high, first_end, last_end, row)
    return max(max(first, end_low), row), min(last, end_high)


@njit(cache=True, nogil=True)
def fill_candidates(ranges, frame, space, start, room):
    """Write segments of the spaces, from (space, start) on, as many whole start rows as fit.

    Returns
    -------
    n : how many were written; space, start : where to go on, space is their number at the end. If not even one start
        row fits, n is 0 and space is not at its end.
    """
    start_low, start_high, end_low, end_high = ranges
    spaces, starts, ends = room
    n = 0
    n_most = spaces.shape[0]
    while space < start_low.shape[0]:
        if end_low[space] <= end_high[space]:
            low, high = starts_in(frame, start_low[space], start_high[space], end_low[space], end_high[space])
            row = max(low, start)
            while row <= high:
                begin, end = ends_in(frame, end_low[space], end_high[space], row)
                if end >= begin:
                    if n + end - begin + 1 > n_most:
                        return n, space, row
                    for position in range(begin, end + 1):
                        spaces[n] = space
                        starts[n] = row
                        ends[n] = position
                        n += 1
                row += 1
        space += 1
        start = np.int64(-1)
    return n, space, start


@njit(cache=True, nogil=True)
def fits(frame, start, end, result):
    """Whether segments of one partition each are inside the window."""
    low, high, first_end, last_end, _, _ = frame
    for place in range(start.shape[0]):
        first, last = ends_from(low, high, first_end, last_end, start[place])
        result[place] = first <= end[place] <= last


@njit(cache=True, nogil=True)
def grown(array, length):
    """The same values with room for so many, and for as many again as there are."""
    larger = np.empty(max(2 * array.shape[0], length), array.dtype)
    larger[: array.shape[0]] = array
    return larger


@njit(cache=True, nogil=True)
def put_in_order(lengths, n, seen, mark):
    """Put the first `n` lengths, all different, in order. They are those at which `seen` has this mark."""
    if n < 2:
        return
    lowest = lengths[0]
    highest = lengths[0]
    for item in range(1, n):
        lowest = min(lowest, lengths[item])
        highest = max(highest, lengths[item])
    if highest - lowest > 16 * n:
        lengths[:n] = np.sort(lengths[:n])
        return
    n = 0
    for length in range(lowest, highest + 1):
        if seen[length] == mark:
            lengths[n] = length
            n += 1


@njit(cache=True, nogil=True)
def first_from(space_of, start_of, low, space, start):
    """The first place from `low` on whose (space, start) is not before this one; both are in order."""
    high = space_of.shape[0]
    while low < high:
        middle = (low + high) // 2
        if space_of[middle] < space or (space_of[middle] == space and start_of[middle] < start):
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def join_distinct(lefts, rights, ranges, frame, limits):
    """Distinct [left start, right end] of the pairs in the same space that meet and whose whole fits the window.

    Takes `Lefts`, `Triples`, `Ranges`, of which the ends count, and `Limits`. Both sides are ordered by (space, start,
    end).

    Returns
    -------
    n, space, start, end : ordered; n may be TOO_MANY, if there would be more than `most`, or SPENT
    """
    left_space, left_start, reach_first, reach_last = lefts
    right_space, right_start, right_end = rights
    _, _, end_low, end_high = ranges
    longest, most, budget = limits
    low, high, first_end, last_end, _, _ = frame
    capacity = max(left_space.shape[0], 1024)
    spaces = np.empty(capacity, np.int64)
    starts = np.empty(capacity, np.int64)
    ends = np.empty(capacity, np.int64)
    n = 0
    seen = np.full(longest + 1, -1, np.int64)
    lengths = np.empty(longest + 1, np.int64)
    group = np.int64(0)
    n_left = left_space.shape[0]
    n_right = right_space.shape[0]
    left = 0
    right_low = 0
    while left < n_left:
        space = left_space[left]
        start = left_start[left]
        stop = left
        while stop < n_left and left_space[stop] == space and left_start[stop] == start:
            stop += 1
        while right_low < n_right and right_space[right_low] < space:
            right_low += 1
        window_first, window_last = ends_from(low, high, first_end, last_end, start)
        window_first = max(window_first, end_low[space])
        window_last = min(window_last, end_high[space])
        # The ends of one start, each once: marked with the group's number, then put in order.
        n_lengths = 0
        item = left
        while item < stop:
            # Writing to the budget after every item would cost a tenth of the time.
            n_steps = 0
            while item < stop and n_steps < MANY_STEPS:
                # What starts behind the window's end ends there too.
                reach_high = min(reach_last[item], window_last)
                first_right = first_from(right_space, right_start, right_low, space, reach_first[item])
                right = first_right
                while right < n_right and right_space[right] == space and right_start[right] <= reach_high:
                    end = right_end[right]
                    if window_first <= end <= window_last and seen[end - start] != group:
                        seen[end - start] = group
                        lengths[n_lengths] = end - start
                        n_lengths += 1
                    right += 1
                n_steps += right - first_right + 1
                item += 1
            if is_spent(budget, n_steps):
                return np.int64(SPENT), spaces, starts, ends
        if n + n_lengths > most:
            return np.int64(TOO_MANY), spaces, starts, ends
        if n + n_lengths > spaces.shape[0]:
            spaces = grown(spaces, n + n_lengths)
            starts = grown(starts, n + n_lengths)
            ends = grown(ends, n + n_lengths)
        put_in_order(lengths, n_lengths, seen, group)
        for item in range(n_lengths):
            spaces[n] = space
            starts[n] = start
            ends[n] = start + lengths[item]
            n += 1
        group += 1
        left = stop
    return np.int64(n), spaces, starts, ends


@njit(cache=True, nogil=True)
def join_pairs(left, right, ranges, frame, limits):
    """The same, every pair: for segments that carry bindings. Returns n, left places, right places."""
    left_space, left_start, reach_first, reach_last = left
    right_space, right_start, right_end = right
    _, _, end_low, end_high = ranges
    _, most, budget = limits
    low, high, first_end, last_end, _, _ = frame
    capacity = max(left_space.shape[0], 1024)
    lefts = np.empty(capacity, np.int64)
    rights = np.empty(capacity, np.int64)
    n = 0
    n_right = right_space.shape[0]
    right_low = 0
    for item in range(left_space.shape[0]):
        space = left_space[item]
        while right_low < n_right and right_space[right_low] < space:
            right_low += 1
        window_first, window_last = ends_from(low, high, first_end, last_end, left_start[item])
        window_first = max(window_first, end_low[space])
        window_last = min(window_last, end_high[space])
        place = first_from(right_space, right_start, right_low, space, reach_first[item])
        first_place = place
        reach_high = min(reach_last[item], window_last)
        while place < n_right and right_space[place] == space and right_start[place] <= reach_high:
            if window_first <= right_end[place] <= window_last:
                if n >= most:
                    return np.int64(TOO_MANY), lefts, rights
                if n >= lefts.shape[0]:
                    lefts = grown(lefts, n + 1)
                    rights = grown(rights, n + 1)
                lefts[n] = item
                rights[n] = place
                n += 1
            place += 1
        if is_spent(budget, place - first_place + 1):
            return np.int64(SPENT), lefts, rights
    return np.int64(n), lefts, rights


@njit(cache=True, nogil=True)
def same_segments(one, other, most):
    """Pairs of equal (space, start, end). Both sides are ordered; runs of equal segments make all their pairs."""
    left_space, left_start, left_end = one
    right_space, right_start, right_end = other
    capacity = max(min(left_space.shape[0], right_space.shape[0]), 1024)
    lefts = np.empty(capacity, np.int64)
    rights = np.empty(capacity, np.int64)
    n = 0
    right = 0
    n_right = right_space.shape[0]
    for left in range(left_space.shape[0]):
        a, b, c = left_space[left], left_start[left], left_end[left]
        while right < n_right and (
            right_space[right] < a
            or (right_space[right] == a and (
                right_start[right] < b or (right_start[right] == b and right_end[right] < c)))
        ):
            right += 1
        place = right
        while place < n_right and right_space[place] == a and right_start[place] == b and right_end[place] == c:
            if n >= most:
                return np.int64(TOO_MANY), lefts, rights
            if n >= lefts.shape[0]:
                lefts = grown(lefts, n + 1)
                rights = grown(rights, n + 1)
            lefts[n] = left
            rights[n] = place
            n += 1
            place += 1
    return np.int64(n), lefts, rights


@njit(cache=True, nogil=True)
def is_among(segments, others, found):
    """Whether each segment is among the others; both ordered by (space, start, end)."""
    space, start, end = segments
    other_space, other_start, other_end = others
    other = 0
    n_other = other_space.shape[0]
    for place in range(space.shape[0]):
        a, b, c = space[place], start[place], end[place]
        while other < n_other and (
            other_space[other] < a
            or (other_space[other] == a and (
                other_start[other] < b or (other_start[other] == b and other_end[other] < c)))
        ):
            other += 1
        found[place] = (
            other < n_other and other_space[other] == a and other_start[other] == b and other_end[other] == c
        )
