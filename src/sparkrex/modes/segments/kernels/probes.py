"""Probes of segments: each asked once, their answers shared by the segments that asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sparkrex.kernels.lazy import njit
from sparkrex.modes.segments.kernels.segments import SPENT, TOO_MANY, grown, is_spent, put_in_order

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.int64]

AT_ONCE = 1 << 22
"""Segments for which there is room from the beginning."""


class Probed(NamedTuple):
    """What probes found: segments whose other ends are `found`, those of a probe by `offsets`.

    For each base segment `place` is its probe, -1 for none, and the other end must be from `low` to `high`.
    """

    low: Rows
    high: Rows
    place: Rows
    offsets: Rows
    found: Rows


@njit(cache=True, nogil=True)
def shared_probes(rows, low, high, first_row, n_rows):
    """Each probed row once, with the range of the other end that all of its probes ask for together.

    A probe with an empty range is none. All rows are from `first_row` on, less than `n_rows` behind it.

    Returns
    -------
    n, row, low, high : of the probes; place : for each given one which that is, -1 for none
    """
    known = np.full(n_rows, -1, np.int64)
    place = np.empty(rows.shape[0], np.int64)
    probed = np.empty(rows.shape[0], np.int64)
    lows = np.empty(rows.shape[0], np.int64)
    highs = np.empty(rows.shape[0], np.int64)
    n = 0
    for item in range(rows.shape[0]):
        if low[item] > high[item]:
            place[item] = -1
            continue
        found = known[rows[item] - first_row]
        if found < 0:
            known[rows[item] - first_row] = n
            place[item] = n
            probed[n] = rows[item]
            lows[n] = low[item]
            highs[n] = high[item]
            n += 1
        else:
            place[item] = found
            lows[found] = min(lows[found], low[item])
            highs[found] = max(highs[found], high[item])
    return n, probed, lows, highs, place


@njit(cache=True, nogil=True)
def offsets_of(space, n_spaces):
    """Where the segments of every space begin, and where the last end; spaces ascend."""
    offsets = np.zeros(n_spaces + 1, np.int64)
    for item in range(space.shape[0]):
        offsets[space[item] + 1] += 1
    for number in range(n_spaces):
        offsets[number + 1] += offsets[number]
    return offsets


@njit(cache=True, nogil=True)
def probed_distinct(base, probed, limits):
    """Distinct [base start, found end] of what every base segment's probe found between its `low` and `high`.

    The base, `Triples`, is ordered by (space, start). Returns n, space, start, end in order; n may be TOO_MANY, if more
    than `most`, or SPENT.
    """
    base_space, base_start, _ = base
    low, high, place, offsets, found_end = probed
    longest, most, budget = limits
    # Mostly few probes find the same: room for all they found, if that is not very much, need not grow.
    capacity = np.int64(0)
    for item in range(base_space.shape[0]):
        if place[item] >= 0:
            capacity += offsets[place[item] + 1] - offsets[place[item]]
    capacity = min(capacity, max(base_space.shape[0], AT_ONCE))
    spaces = np.empty(capacity, np.int64)
    starts = np.empty(capacity, np.int64)
    ends = np.empty(capacity, np.int64)
    n = 0
    seen = np.full(longest + 1, -1, np.int64)
    lengths = np.empty(longest + 1, np.int64)
    group = np.int64(0)
    item = 0
    n_base = base_space.shape[0]
    while item < n_base:
        space = base_space[item]
        start = base_start[item]
        is_alone = item + 1 == n_base or base_space[item + 1] != space or base_start[item + 1] != start
        if is_alone:
            # What one probe found is in order.
            if place[item] >= 0:
                begin, stop = offsets[place[item]], offsets[place[item] + 1]
                nearest, furthest = low[item], high[item]
                if n + stop - begin > spaces.shape[0]:
                    spaces = grown(spaces, n + stop - begin)
                    starts = grown(starts, n + stop - begin)
                    ends = grown(ends, n + stop - begin)
                before = np.int64(-1)
                for probe in range(begin, stop):
                    end = found_end[probe]
                    if nearest <= end <= furthest and end != before:
                        spaces[n] = space
                        starts[n] = start
                        ends[n] = end
                        n += 1
                        before = end
                if n > most:
                    return np.int64(TOO_MANY), spaces, starts, ends
                if is_spent(budget, stop - begin + 1):
                    return np.int64(SPENT), spaces, starts, ends
            item += 1
            continue
        n_lengths = 0
        while item < n_base and base_space[item] == space and base_start[item] == start:
            if place[item] >= 0:
                for probe in range(offsets[place[item]], offsets[place[item] + 1]):
                    end = found_end[probe]
                    if low[item] <= end <= high[item] and seen[end - start] != group:
                        seen[end - start] = group
                        lengths[n_lengths] = end - start
                        n_lengths += 1
                if is_spent(budget, offsets[place[item] + 1] - offsets[place[item]] + 1):
                    return np.int64(SPENT), spaces, starts, ends
            item += 1
        if n + n_lengths > most:
            return np.int64(TOO_MANY), spaces, starts, ends
        if n + n_lengths > spaces.shape[0]:
            spaces = grown(spaces, n + n_lengths)
            starts = grown(starts, n + n_lengths)
            ends = grown(ends, n + n_lengths)
        put_in_order(lengths, n_lengths, seen, group)
        for place_of in range(n_lengths):
            spaces[n] = space
            starts[n] = start
            ends[n] = start + lengths[place_of]
            n += 1
        group += 1
    return np.int64(n), spaces, starts, ends


@njit(cache=True, nogil=True)
def probed_pairs(probed, limits):
    """Every pair of a base segment and one that its probe found whose other end, `found`, is from `low` to `high`.

    Returns n, places of base segments, places of found ones; n may be TOO_MANY, if more than `most`, or SPENT.
    """
    low, high, place, offsets, found = probed
    _, most, budget = limits
    bases = np.empty(max(low.shape[0], 1024), np.int64)
    places = np.empty(max(low.shape[0], 1024), np.int64)
    n = 0
    for item in range(low.shape[0]):
        if place[item] < 0:
            continue
        begin = offsets[place[item]]
        end = offsets[place[item] + 1]
        if n + end - begin > bases.shape[0]:
            bases = grown(bases, n + end - begin)
            places = grown(places, n + end - begin)
        for probe in range(begin, end):
            if low[item] <= found[probe] <= high[item]:
                bases[n] = item
                places[n] = probe
                n += 1
        if n > most:
            return np.int64(TOO_MANY), bases, places
        if is_spent(budget, end - begin + 1):
            return np.int64(SPENT), bases, places
    return np.int64(n), bases, places
