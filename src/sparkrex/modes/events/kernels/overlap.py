"""Matches of event queries that do not overlap, by partition from the first that is complete."""

from __future__ import annotations

from sparkrex.kernels.inlined import inlined
from sparkrex.kernels.lazy import njit


@inlined
def _is_before(one, other, rows, labels, match_offsets):
    """Whether a match is before another with as many events: by their rows, then by their labels."""
    at, other_at = match_offsets[one], match_offsets[other]
    length = match_offsets[one + 1] - at
    for k in range(length):
        if rows[at + k] != rows[other_at + k]:
            return rows[at + k] < rows[other_at + k]
    for k in range(length):
        if labels[at + k] != labels[other_at + k]:
            return labels[at + k] < labels[other_at + k]
    return False


@njit(cache=True, nogil=True)
def without_overlaps(order, rows, labels, match_offsets, is_open, offsets, ties, blocked, keep, wait):
    """Mark the matches that complete first and overlap none before them, and those that an open one keeps open.

    Matches with the same last row, first row and number of events are a group. Only the first of them can be kept, and
    if it waits all of them do, so that a group is not sorted.

    Parameters
    ----------
    order : int64, the matches by last row, first row and number of events
    rows, labels, match_offsets : see `EventMatches`
    is_open : bool per match, whether it still depends on rows to come
    offsets : cut the rows into partitions
    ties : int64 per row, equal where events have the same time and so do not follow each other; empty: all do
    blocked : int64 by partition, the last row of the match before, -1 if there is none; written, for matches to come
    keep, wait : bool per match, all false; written
    """
    partition, waits = 0, False
    last = blocked[0] if blocked.shape[0] > 0 else -1
    begin = 0
    while begin < order.shape[0]:
        least = order[begin]
        first_row, last_row = rows[match_offsets[least]], rows[match_offsets[least + 1] - 1]
        length = match_offsets[least + 1] - match_offsets[least]
        end = begin + 1
        while end < order.shape[0]:
            match = order[end]
            low, high = match_offsets[match], match_offsets[match + 1]
            if rows[low] != first_row or rows[high - 1] != last_row or high - low != length:
                break
            if _is_before(match, least, rows, labels, match_offsets):
                least = match
            end += 1
        while offsets[partition + 1] <= first_row:
            partition += 1
            last, waits = blocked[partition], False
        is_behind = last < 0
        if not is_behind:
            is_behind = ties[first_row] > ties[last] if ties.shape[0] > 0 else first_row > last
        if is_behind:
            if waits or is_open[least]:
                # Whether they are kept depends on an open match that completes before them, or on rows to come.
                waits = True
                for place in range(begin, end):
                    wait[order[place]] = True
            else:
                keep[least] = True
                last = last_row
                blocked[partition] = last
        begin = end
