"""Closures of segments by sets of ends, as bits: for windows in which most rows reach many ends."""

from __future__ import annotations

import numpy as np

from sparkrex.kernels.lazy import njit
from sparkrex.modes.segments.kernels.segments import SPENT, TOO_MANY, ends_from, grown, is_spent


@njit(cache=True, nogil=True)
def close_by_sets(begun, base, gap, end_high, frame, limits):
    """What `closures.close` finds in any number of rounds.

    R(s), the ends that base segments from s reach one after the other, is the union of {e} and R(e + gap) over the base
    segments [s, e]: of rows behind s, but for [s, s] with no gap, which adds nothing. So rows are taken from the last
    to the first. R(s) is cut at the last end in the window from s; such ends ascend with the row, so that R(e + gap)
    is not cut before. If e is in the union of what was added before, it came with R(m) of some m from which e is
    reached, and what goes on from e is in R(m), too: it need not be added. A set has one bit for every row of the
    window, the first of them the row itself.

    Returns
    -------
    n, space, start, end : ordered; n may be TOO_MANY, if there would be more than `most`, or SPENT
    """
    from_space, from_start, from_end = begun
    base_space, base_start, base_end = base
    longest, most, budget = limits
    low_rows, high_rows, first_end, last_end, _, _ = frame
    capacity = max(from_space.shape[0], 1024)
    spaces = np.empty(capacity, np.int64)
    starts = np.empty(capacity, np.int64)
    ends = np.empty(capacity, np.int64)
    n = 0
    n_words = (longest + 63) // 64
    own = np.empty(n_words, np.uint64)
    n_base = base_space.shape[0]
    first = 0
    item = 0
    while item < from_space.shape[0]:
        space = from_space[item]
        while first < n_base and base_space[first] < space:
            first += 1
        stop = first
        while stop < n_base and base_space[stop] == space:
            stop += 1
        first_row = base_start[first] if first < stop else np.int64(0)
        n_rows = base_start[stop - 1] - first_row + 1 if first < stop else np.int64(0)
        sets = np.zeros((n_rows, n_words), np.uint64)
        after = stop
        while after > first:
            row = base_start[after - 1]
            begin = after - 1
            while begin > first and base_start[begin - 1] == row:
                begin -= 1
            _, furthest = ends_from(low_rows, high_rows, first_end, last_end, row)
            furthest = min(furthest, end_high[space])
            n_added = add_ends(
                sets[row - first_row], row, base_end[begin:after], furthest, gap, row + 1, sets, first_row
            )
            if is_spent(budget, after - begin + n_added * n_words):
                return np.int64(SPENT), spaces, starts, ends
            after = begin
        while item < from_space.shape[0] and from_space[item] == space:
            start = from_start[item]
            last = item
            while last < from_space.shape[0] and from_space[last] == space and from_start[last] == start:
                last += 1
            _, furthest = ends_from(low_rows, high_rows, first_end, last_end, start)
            furthest = min(furthest, end_high[space])
            own[:] = 0
            n_added = add_ends(own, start, from_end[item:last], furthest, gap, start, sets, first_row)
            if is_spent(budget, last - item + (n_added + 1) * n_words):
                return np.int64(SPENT), spaces, starts, ends
            if n + 64 * n_words > spaces.shape[0]:
                spaces = grown(spaces, n + 64 * n_words)
                starts = grown(starts, n + 64 * n_words)
                ends = grown(ends, n + 64 * n_words)
            behind = write_set(own, start, ends, n)
            spaces[n:behind] = space
            starts[n:behind] = start
            n = behind
            if n > most:
                return np.int64(TOO_MANY), spaces, starts, ends
            item = last
        first = stop
    return np.int64(n), spaces, starts, ends


@njit(cache=True, nogil=True)
def write_set(own, start, ends, n):
    """Write the ends in a set, whose first bit is `start`, behind the `n` that are written; how many are there then."""
    for word in range(own.shape[0]):
        rest = own[word]
        end = start + 64 * word
        while rest != np.uint64(0):
            if rest & np.uint64(1):
                ends[n] = end
                n += 1
            rest >>= np.uint64(1)
            end += 1
    return n


@njit(cache=True, nogil=True)
def add_ends(own, row, ends, furthest, gap, nearest, sets, first_row):
    """Add some ends from a row to its set, and what is reached from there, up to `furthest`; how many sets were added.

    Sets of rows from `first_row` on are in `sets`; those before `nearest` are not added.
    """
    n_words = own.shape[0]
    n_added = 0
    for place in range(ends.shape[0]):
        end = ends[place]
        if end > furthest:
            break
        bit = end - row
        mark = np.uint64(1) << np.uint64(bit & 63)
        if own[bit >> 6] & mark:
            continue
        own[bit >> 6] |= mark
        meet = end + gap
        if meet < nearest or meet < first_row or meet - first_row >= sets.shape[0] or meet > furthest:
            continue
        n_added += 1
        shift = meet - row
        skipped = shift >> 6
        left = np.uint64(shift & 63)
        other = sets[meet - first_row]
        if left == np.uint64(0):
            for word in range(n_words - skipped):
                own[word + skipped] |= other[word]
            continue
        right = np.uint64(64) - left
        carried = np.uint64(0)
        for word in range(n_words - skipped):
            own[word + skipped] |= (other[word] << left) | carried
            carried = other[word] >> right
    keep = furthest - row + 1
    for word in range(n_words):
        if keep <= 64 * word:
            own[word] = np.uint64(0)
        elif keep < 64 * (word + 1):
            own[word] &= (np.uint64(1) << np.uint64(keep - 64 * word)) - np.uint64(1)
    return n_added
