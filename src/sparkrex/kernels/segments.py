"""Loops over segments: window bounds, candidates, joins and closures. Rows are positions in a batch of partitions."""

from __future__ import annotations

import numpy as np

from sparkrex.kernels.inlined import inlined
from sparkrex.kernels.lazy import njit


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
def _ends_from(low, high, first_end, last_end, row):
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
    first, last = _ends_from(low, high, first_end, last_end, row)
    return max(max(first, end_low), row), min(last, end_high)


@njit(cache=True, nogil=True)
def fill_candidates(start_low, start_high, end_low, end_high, frame, space, start, spaces, starts, ends):
    """Write segments of the spaces, from (space, start) on, as many whole start rows as fit.

    Returns
    -------
    n : how many were written; space, start : where to go on, space is their number at the end. If not even one start
        row fits, n is 0 and space is not at its end.
    """
    n = 0
    room = spaces.shape[0]
    while space < start_low.shape[0]:
        if end_low[space] <= end_high[space]:
            low, high = starts_in(frame, start_low[space], start_high[space], end_low[space], end_high[space])
            row = max(low, start)
            while row <= high:
                begin, end = ends_in(frame, end_low[space], end_high[space], row)
                if end >= begin:
                    if n + end - begin + 1 > room:
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
        first, last = _ends_from(low, high, first_end, last_end, start[place])
        result[place] = first <= end[place] <= last


@njit(cache=True, nogil=True)
def grown(array, length):
    """The same values with room for so many, and for as many again as there are."""
    larger = np.empty(max(2 * array.shape[0], length), array.dtype)
    larger[: array.shape[0]] = array
    return larger


@njit(cache=True, nogil=True)
def _put_in_order(lengths, n, seen, mark):
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
def _first_from(space_of, start_of, low, space, start):
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
def join_distinct(left_space, left_start, reach_first, reach_last, right_space, right_start, right_end, end_low,
                  end_high, frame, longest, most):
    """Distinct [left start, right end] of the pairs in the same space that meet and whose whole fits the window.

    They meet if the right segment starts from `reach_first` to `reach_last` of the left one. Both sides are ordered by
    (space, start, end). `longest` rows is the most that a segment of the window has.

    Returns
    -------
    n, space, start, end : ordered; n is -1 if there would be more than `most`
    """
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
        window_first, window_last = _ends_from(low, high, first_end, last_end, start)
        window_first = max(window_first, end_low[space])
        window_last = min(window_last, end_high[space])
        # The ends of one start, each once: marked with the group's number, then put in order.
        n_lengths = 0
        for item in range(left, stop):
            # What starts behind the window's end ends there too.
            reach_high = min(reach_last[item], window_last)
            right = _first_from(right_space, right_start, right_low, space, reach_first[item])
            while right < n_right and right_space[right] == space and right_start[right] <= reach_high:
                end = right_end[right]
                if window_first <= end <= window_last and seen[end - start] != group:
                    seen[end - start] = group
                    lengths[n_lengths] = end - start
                    n_lengths += 1
                right += 1
        if n + n_lengths > most:
            return np.int64(-1), spaces, starts, ends
        if n + n_lengths > spaces.shape[0]:
            spaces = grown(spaces, n + n_lengths)
            starts = grown(starts, n + n_lengths)
            ends = grown(ends, n + n_lengths)
        _put_in_order(lengths, n_lengths, seen, group)
        for item in range(n_lengths):
            spaces[n] = space
            starts[n] = start
            ends[n] = start + lengths[item]
            n += 1
        group += 1
        left = stop
    return np.int64(n), spaces, starts, ends


@njit(cache=True, nogil=True)
def join_pairs(left_space, left_start, reach_first, reach_last, right_space, right_start, right_end, end_low, end_high,
               frame, most):
    """The same, every pair: for segments that carry bindings. Returns n, left places, right places."""
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
        window_first, window_last = _ends_from(low, high, first_end, last_end, left_start[item])
        window_first = max(window_first, end_low[space])
        window_last = min(window_last, end_high[space])
        right = _first_from(right_space, right_start, right_low, space, reach_first[item])
        reach_high = min(reach_last[item], window_last)
        while right < n_right and right_space[right] == space and right_start[right] <= reach_high:
            if window_first <= right_end[right] <= window_last:
                if n >= most:
                    return np.int64(-1), lefts, rights
                if n >= lefts.shape[0]:
                    lefts = grown(lefts, n + 1)
                    rights = grown(rights, n + 1)
                lefts[n] = item
                rights[n] = right
                n += 1
            right += 1
    return np.int64(n), lefts, rights


@njit(cache=True, nogil=True)
def close(from_space, from_start, from_end, base_space, base_start, base_end, gap, end_high, frame, most_rounds,
          longest, most):
    """Distinct segments that begin as one of `from` and go on by any number of base segments, `most_rounds` at most.

    Both are ordered by (space, start, end). Ends are visited in order of the rounds they need, so that each is visited
    once; -1 rounds means any number. No segment is longer than `longest` rows, the window's most.

    Returns
    -------
    n, space, start, end : ordered; n is -1 if there would be more than `most`
    """
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
        _, furthest = _ends_from(low_rows, high_rows, first_end, last_end, start)
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
                low = _first_from(base_space, base_start, space_low, space, meet)
                while low < n_base and base_space[low] == space and base_start[low] == meet:
                    if base_end[low] > furthest:
                        break
                    length = base_end[low] - start
                    if seen[length] != group:
                        seen[length] = group
                        queue[n_queued] = length
                        n_queued += 1
                    low += 1
            rounds += 1
        if n + n_queued > most:
            return np.int64(-1), spaces, starts, ends
        if n + n_queued > spaces.shape[0]:
            spaces = grown(spaces, n + n_queued)
            starts = grown(starts, n + n_queued)
            ends = grown(ends, n + n_queued)
        _put_in_order(queue, n_queued, seen, group)
        for place in range(n_queued):
            spaces[n] = space
            starts[n] = start
            ends[n] = start + queue[place]
            n += 1
        group += 1
    return np.int64(n), spaces, starts, ends


@njit(cache=True, nogil=True)
def same_segments(left_space, left_start, left_end, right_space, right_start, right_end, most):
    """Pairs of equal (space, start, end). Both sides are ordered; runs of equal segments make all their pairs."""
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
                return np.int64(-1), lefts, rights
            if n >= lefts.shape[0]:
                lefts = grown(lefts, n + 1)
                rights = grown(rights, n + 1)
            lefts[n] = left
            rights[n] = place
            n += 1
            place += 1
    return np.int64(n), lefts, rights


@njit(cache=True, nogil=True)
def is_among(space, start, end, other_space, other_start, other_end, found):
    """Whether each segment is among the others; both ordered by (space, start, end)."""
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
def probed_distinct(base_space, base_start, low, high, place, offsets, found_end, longest, most):
    """Distinct [base start, found end] of what every base segment's probe found between its `low` and `high`.

    The base is ordered by (space, start). Returns n, space, start, end in order; n is -1 if more than `most`.
    """
    capacity = max(base_space.shape[0], 1024)
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
        n_lengths = 0
        while item < n_base and base_space[item] == space and base_start[item] == start:
            if place[item] >= 0:
                for probe in range(offsets[place[item]], offsets[place[item] + 1]):
                    end = found_end[probe]
                    if low[item] <= end <= high[item] and seen[end - start] != group:
                        seen[end - start] = group
                        lengths[n_lengths] = end - start
                        n_lengths += 1
            item += 1
        if n + n_lengths > most:
            return np.int64(-1), spaces, starts, ends
        if n + n_lengths > spaces.shape[0]:
            spaces = grown(spaces, n + n_lengths)
            starts = grown(starts, n + n_lengths)
            ends = grown(ends, n + n_lengths)
        _put_in_order(lengths, n_lengths, seen, group)
        for place_of in range(n_lengths):
            spaces[n] = space
            starts[n] = start
            ends[n] = start + lengths[place_of]
            n += 1
        group += 1
    return np.int64(n), spaces, starts, ends


@njit(cache=True, nogil=True)
def probed_pairs(low, high, place, offsets, found, most):
    """Every pair of a base segment and one that its probe found whose other end, `found`, is from `low` to `high`.

    Returns n, places of base segments, places of found ones; n is -1 if there are more than `most`.
    """
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
            return np.int64(-1), bases, places
    return np.int64(n), bases, places


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
def next_rows(rows, far, known, first_row, offsets, step_ends, gap):
    """The rows at which one step more arrives, if it may go further from there than was known.

    `far` is how far one may go from a row, by where one came from.
    """
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
def reached_ends(start, furthest, known, first_row, offsets, step_ends, gap, minimum, maximum, longest, most):
    """Where `minimum` to `maximum` (-1: any number of) steps from each start end, up to `furthest`.

    The steps from a row are those of its number in `known`, by `offsets`; ends of a step's iteration, and the next one
    begins `gap` rows behind.

    Returns
    -------
    n, place of the start, end : ordered; n is -1 if there would be more than `most`
    """
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
            return np.int64(-1), places, ends
        if n + n_found > places.shape[0]:
            places = grown(places, n + n_found)
            ends = grown(ends, n + n_found)
        _put_in_order(lengths, n_found, result, place)
        for item in range(n_found):
            places[n] = place
            ends[n] = begin + lengths[item]
            n += 1
    return np.int64(n), places, ends
