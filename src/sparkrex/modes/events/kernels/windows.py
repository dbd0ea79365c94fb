"""Windows over ascending times as positions, by two pointers."""

from __future__ import annotations

import numpy as np

from sparkrex.kernels.lazy import njit


@njit(cache=True, nogil=True)
def first_rows(times, offsets, size):
    """By row: the first row of its partition with `time - its time <= size`; the row behind it if not even it has.

    Times ascend inside a partition, and no difference of two wraps: they are unsigned or doubles. The difference to a
    NaN is NaN, which is outside every window.
    """
    found = np.empty(times.shape[0], np.int64)
    for p in range(offsets.shape[0] - 1):
        first = offsets[p]
        for row in range(offsets[p], offsets[p + 1]):
            while first <= row and not times[row] - times[first] <= size:
                first += 1
            found[row] = first
    return found


@njit(cache=True, nogil=True)
def last_rows(times, offsets, size):
    """By row: the last row of its partition with `its time - time <= size`, the row before it if there is none.

    Of the times see `first_rows`.
    """
    found = np.empty(times.shape[0], np.int64)
    for p in range(offsets.shape[0] - 1):
        last = offsets[p] - 1
        for row in range(offsets[p], offsets[p + 1]):
            last = max(last, row - 1)
            while last + 1 < offsets[p + 1] and times[last + 1] - times[row] <= size:
                last += 1
            found[row] = last
    return found


@njit(cache=True, nogil=True)
def next_set(bitmap):
    """By row, and behind the last row: the next row that is set, from the row itself on; else the number of rows."""
    n_rows = bitmap.shape[0]
    found = np.empty(n_rows + 1, np.int64)
    found[n_rows] = n_rows
    for row in range(n_rows - 1, -1, -1):
        found[row] = row if bitmap[row] != 0 else found[row + 1]
    return found
