"""AFTER MATCH SKIP over segments: one match after the other, which no array operation does at once."""

from __future__ import annotations

from sparkrex.kernels.lazy import njit


@njit(cache=True, nogil=True)
def choose(order, start, following, is_chosen):
    """Mark the first segment in order, then the first that starts where the skip goes to or behind, and so on.

    Skips stay inside the partition or go to the row behind it, so one pass serves all partitions.

    Parameters
    ----------
    order : int64, the segments in order of preference, which is by `start` first
    start : int64 per segment
    following : int64 per segment, where the next match may start once it is chosen
    is_chosen : bool per segment, all false; written

    Returns
    -------
    -1, or a chosen segment whose skip does not lead behind its start: there the pass ends.
    """
    next_start = -1
    for place in order:
        if start[place] < next_start:
            continue
        is_chosen[place] = True
        next_start = following[place]
        if next_start <= start[place]:
            return place
    return -1
