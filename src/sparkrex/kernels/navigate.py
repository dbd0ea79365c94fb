"""Logical navigation over found matches: the first or last rows of a match mapped to some variables."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def navigate_final(label_offsets, labels, is_member, from_first, offset, found):
    """For every match the place (0 is its first row) of the row `offset` from one end, or -1.

    Parameters
    ----------
    label_offsets : int64, n_matches + 1
    labels : int16, 2 * variable + excluded
    is_member : bool per variable
    from_first : count from the first row, else from the last
    found : int64, n_matches, filled
    """
    for m in range(label_offsets.shape[0] - 1):
        low, high = label_offsets[m], label_offsets[m + 1]
        left = offset
        found[m] = -1
        for k in range(high - low):
            i = low + k if from_first else high - 1 - k
            if is_member[labels[i] // 2]:
                if left == 0:
                    found[m] = i - low
                    break
                left -= 1


@njit(cache=True, nogil=True)
def navigate_running(label_offsets, labels, is_member, from_first, offset, found):
    """For every mapped row the same, seen from that row: only rows up to it count. `found` is per mapped row."""
    for m in range(label_offsets.shape[0] - 1):
        low, high = label_offsets[m], label_offsets[m + 1]
        n_seen = 0
        behind = low  # for LAST: the member row `offset` members behind the latest one
        result = np.int64(-1)
        for i in range(low, high):
            if is_member[labels[i] // 2]:
                n_seen += 1
                if from_first:
                    if n_seen == offset + 1:
                        result = i - low
                elif n_seen > offset:
                    if n_seen > offset + 1:
                        behind += 1
                    while not is_member[labels[behind] // 2]:
                        behind += 1
                    result = behind - low
            found[i] = result
