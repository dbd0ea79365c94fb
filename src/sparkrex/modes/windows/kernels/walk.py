"""Matches of frames that end with their partition, where rows alone decide the conditions: a walk along states.

States are those of `modes.rows.automaton`: at each row, from which positions of the pattern it and the rows behind it
can still be matched. At the first rows of a frame conditions see nothing before it, so those rows have other states,
by how far they are from the frame's first row.
"""

from __future__ import annotations

import numpy as np

from sparkrex.kernels.lazy import njit
from sparkrex.modes.rows.kernels.automaton import (
    ACCEPT,
    DONE,
    NONE,
    PAST_LAST_ROW,
    SKIP_TO_ABSENT,
    SKIP_TO_FIRST_ROW,
    STOPPED,
    TO_FIRST,
)

TOO_LONG = 7
"""The matches have too many rows to walk along each of them."""


@njit(cache=True, nogil=True)
def walk_frames(states, offsets, steps, n_positions, entry, is_seek, skip_mode, skip_member, wants_labels, most_walked,
                stop):
    """The match of every row that is tried.

    Parameters
    ----------
    states : uint16 (n, n_rows): by distance from a frame's first row, the last line for all that are further
    offsets : int64, where partitions begin
    steps, n_positions, entry : see `modes.rows.kernels.automaton.walk`
    is_seek : whether matches may begin behind the frame's first row
    skip_mode, skip_member : AFTER MATCH SKIP, and per variable whether it is skipped to
    most_walked : the walk stops with TOO_LONG behind so many rows
    stop : uint8, one entry, set by another thread when nobody waits for the answer any more

    Returns
    -------
    status, row : DONE, or an error and the row whose frame was searched
    n_matches, found int64 (row, start, end), n_labels, labels int16
    """
    n_rows = offsets[-1] - offsets[0]
    width = states.shape[0] - 1
    found = np.empty((max(n_rows // 4, 16), 3), np.int64)
    labels = np.empty(n_rows if wants_labels else 0, np.int16)
    # By row, the next one in the partition where a match begins, whatever frame it is in.
    following_start = np.empty(n_rows if is_seek else 0, np.int64)
    n_matches = np.int64(0)
    n_labels = np.int64(0)
    n_walked = np.int64(0)
    for partition in range(len(offsets) - 1):
        low = offsets[partition]
        high = offsets[partition + 1]
        if is_seek:
            begin = high
            for row in range(high - 1, low - 1, -1):
                if steps[states[width, row] * n_positions + entry] != NONE:
                    begin = row
                following_start[row] = begin
        row = low
        while row < high:
            if stop[0] != 0:
                return STOPPED, row, n_matches, found, n_labels, labels
            start = row
            while steps[states[min(start - row, width), start] * n_positions + entry] == NONE:
                if not is_seek:
                    start = high
                    break
                start += 1
                if start >= row + width and start < high:
                    start = following_start[start]
                if start >= high:
                    break
            if start >= high:
                row += 1
                continue
            position = np.int64(entry)
            end = start
            if wants_labels and n_labels + (high - start) > labels.shape[0]:
                more = np.empty(2 * (n_labels + (high - start)), np.int16)
                more[:n_labels] = labels[:n_labels]
                labels = more
            while end < high:
                step = steps[states[min(end - row, width), end] * n_positions + position]
                if step == ACCEPT:
                    break
                if wants_labels:
                    labels[n_labels + end - start] = step & 0x7FFF
                position = step >> 15
                end += 1
            if n_matches >= found.shape[0]:
                larger = np.empty((2 * n_matches, 3), np.int64)
                larger[:n_matches] = found[:n_matches]
                found = larger
            found[n_matches, 0] = row
            found[n_matches, 1] = start
            found[n_matches, 2] = end
            n_matches += 1
            n_walked += end - start
            following = row + 1
            if end > start and skip_mode == PAST_LAST_ROW:
                following = end
            elif end > start and skip_mode >= TO_FIRST:
                target = np.int64(-1)
                for place in range(end - start):
                    if skip_member[labels[n_labels + place] >> 1]:
                        target = start + place
                        if skip_mode == TO_FIRST:
                            break
                if target <= start:
                    status = SKIP_TO_ABSENT if target < 0 else SKIP_TO_FIRST_ROW
                    return status, row, n_matches, found, n_labels, labels
                following = target
            if wants_labels:
                n_labels += end - start
            if n_walked > most_walked:
                return TOO_LONG, row, n_matches, found, n_labels, labels
            row = following
    return DONE, np.int64(-1), n_matches, found, n_labels, labels
