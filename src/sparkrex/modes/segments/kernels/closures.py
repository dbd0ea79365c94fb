"""Closures of segments: what repetitions reach from a start, each end once."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sparkrex.kernels.lazy import njit
from sparkrex.modes.segments.kernels.segments import (
    SPENT,
    TOO_MANY,
    ends_from,
    first_from,
    grown,
    is_spent,
    put_in_order,
)

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray


class KnownSteps(NamedTuple):
    """Iterations that are known: those from a row are the ones of its number in `known`, by `offsets`, -1 if none are.

    `known` is of rows from `first_row` on; `ends` are the last rows of iterations, and the next one begins `gap` rows
    behind.
    """

    known: NDArray[Any]
    first_row: int
    offsets: NDArray[np.int64]
    ends: NDArray[np.int64]
    gap: int


@njit(cache=True, nogil=True)
def close(begun, base, gap, end_high, frame, most_rounds, limits):
    """Distinct segments that begin as one of `begun` and go on by any number of base segments, `most_rounds` at most.

    Both are `Triples` in order. Ends are visited in order of the rounds they need, so that each is visited once; -1
    rounds means any number.

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
    seen = np.full(longest + 1, -1, np.int64)
    queue = np.empty(longest + 1, np.int64)
    group = np.int64(0)
    n_base = base_space.shape[0]
    space_low = 0
    item = 0
    while item < from_space.shape[0]:
        space = from_space[item]
        start = from_start[item]
        _, furthest = ends_from(low_rows, high_rows, first_end, last_end, start)
        furthest = min(furthest, end_high[space])
        while space_low < n_base and base_space[space_low] < space:
            space_low += 1
        n_queued = 0
        while item < from_space.shape[0] and from_space[item] == space and from_start[item] == start:
            length = from_end[item] - start
            if from_end[item] <= furthest and seen[length] != group:
                seen[length] = group
                queue[n_queued] = length
                n_queued += 1
            item += 1
        visited = 0
        rounds = 0
        while visited < n_queued and rounds != most_rounds:
            round_end = n_queued
            while visited < round_end:
                meet = start + queue[visited] + gap
                visited += 1
                low = first_from(base_space, base_start, space_low, space, meet)
                first_low = low
                while low < n_base and base_space[low] == space and base_start[low] == meet:
                    if base_end[low] > furthest:
                        break
                    length = base_end[low] - start
                    if seen[length] != group:
                        seen[length] = group
                        queue[n_queued] = length
                        n_queued += 1
                    low += 1
                if is_spent(budget, low - first_low + 1):
                    return np.int64(SPENT), spaces, starts, ends
            rounds += 1
        if n + n_queued > most:
            return np.int64(TOO_MANY), spaces, starts, ends
        if n + n_queued > spaces.shape[0]:
            spaces = grown(spaces, n + n_queued)
            starts = grown(starts, n + n_queued)
            ends = grown(ends, n + n_queued)
        put_in_order(queue, n_queued, seen, group)
        for place in range(n_queued):
            spaces[n] = space
            starts[n] = start
            ends[n] = start + queue[place]
            n += 1
        group += 1
    return np.int64(n), spaces, starts, ends


@njit(cache=True, nogil=True)
def first_rows(start, furthest, far, first_row):
    """The start rows that are not behind their furthest row, each once; `far` is set to the furthest of each."""
    found = np.empty(start.shape[0], np.int64)
    n = 0
    for item in range(start.shape[0]):
        place = start[item] - first_row
        if start[item] <= furthest[item]:
            if far[place] < 0:
                found[n] = start[item]
                n += 1
            far[place] = max(far[place], furthest[item])
    return found[:n]


@njit(cache=True, nogil=True)
def next_rows(rows, far, steps):
    """The rows at which one step more arrives, if it may go further from there than was known.

    `far` is how far one may go from a row, by where one came from.
    """
    known, first_row, offsets, step_ends, gap = steps
    found = np.empty(1024, np.int64)
    n = 0
    for item in range(rows.shape[0]):
        row = rows[item]
        limit = far[row - first_row]
        number = known[row - first_row]
        for step in range(offsets[number], offsets[number + 1]):
            target = step_ends[step] + gap
            if target <= limit and far[target - first_row] < limit:
                far[target - first_row] = limit
                if n >= found.shape[0]:
                    found = grown(found, n + 1)
                found[n] = target
                n += 1
    return found[:n]


@njit(cache=True, nogil=True)
def new_rows(rows, known, first_row, number):
    """Of some rows those not yet known, each once; they become known by numbers from `number` on."""
    found = np.empty(rows.shape[0], np.int64)
    n = 0
    for item in range(rows.shape[0]):
        if known[rows[item] - first_row] < 0:
            known[rows[item] - first_row] = number + n
            found[n] = rows[item]
            n += 1
    return found[:n]


@njit(cache=True, nogil=True)
def reached_ends(start, furthest, steps, minimum, maximum, limits):
    """Where `minimum` to `maximum` (-1: any number of) steps from each start end, up to `furthest`.

    Returns
    -------
    n, place of the start, end : ordered; n may be TOO_MANY, if there would be more than `most`, or SPENT
    """
    known, first_row, offsets, step_ends, gap = steps
    longest, most, budget = limits
    places = np.empty(max(start.shape[0], 1024), np.int64)
    ends = np.empty(max(start.shape[0], 1024), np.int64)
    n = 0
    result = np.full(longest + 1, -1, np.int64)
    stamps = np.full(longest + 1, -1, np.int64)
    latest = np.empty(longest + 1, np.int64)
    following = np.empty(longest + 1, np.int64)
    lengths = np.empty(longest + 1, np.int64)
    stamp = np.int64(0)
    for place in range(start.shape[0]):
        begin = start[place]
        if begin > furthest[place]:
            continue
        # Rows are told by how far they are from the start; `latest` are the ends of the round before.
        n_latest = 1
        latest[0] = -gap
        rounds = 0
        n_found = 0
        while n_latest > 0 and rounds != maximum:
            rounds += 1
            stamp += 1
            n_following = 0
            for item in range(n_latest):
                row = begin + latest[item] + gap
                if row > furthest[place]:
                    continue
                number = known[row - first_row]
                if is_spent(budget, offsets[number + 1] - offsets[number] + 1):
                    return np.int64(SPENT), places, ends
                for step in range(offsets[number], offsets[number + 1]):
                    end = step_ends[step]
                    length = end - begin
                    if end > furthest[place] or stamps[length] == stamp:
                        continue
                    stamps[length] = stamp
                    if rounds >= minimum:
                        if result[length] == place:
                            continue
                        result[length] = place
                        lengths[n_found] = length
                        n_found += 1
                    following[n_following] = length
                    n_following += 1
            latest, following = following, latest
            n_latest = n_following
        if n + n_found > most:
            return np.int64(TOO_MANY), places, ends
        if n + n_found > places.shape[0]:
            places = grown(places, n + n_found)
            ends = grown(ends, n + n_found)
        put_in_order(lengths, n_found, result, place)
        for item in range(n_found):
            places[n] = place
            ends[n] = begin + lengths[item]
            n += 1
    return np.int64(n), places, ends
