"""Logical navigation over found matches: the first or last rows of a match mapped to some variables.

`labels` are int16, 2 * variable + excluded, and `label_offsets` (int64, n_matches + 1)
cut them into matches; `start` (int64) is the position of each match's first row. Every kernel treats the matches from
`begin` up to `end`, so that threads can share the work.
"""

from __future__ import annotations

from sparkrex.kernels.lazy import njit


@njit(cache=True, nogil=True)
def unfold(label_offsets, start, begin, end, row_match, row_position):
    """Fill the match and the position of every mapped row."""
    for m in range(begin, end):
        low = label_offsets[m]
        for i in range(low, label_offsets[m + 1]):
            row_match[i] = m
            row_position[i] = start[m] + i - low


@njit(cache=True, nogil=True)
def find_final(label_offsets, labels, start, is_member, from_first, offset, begin, end, found):
    """For every target and match the position of the row `offset` rows from one end of the target's rows, or -1.

    The search begins at that end, so it mostly sees few rows.

    Parameters
    ----------
    is_member : bool, n_targets x labels, whether the target counts rows with this label
    from_first : bool per target: count from the first row, else from the last
    offset : int64 per target
    found : int64, n_targets x n_matches, filled
    """
    for m in range(begin, end):
        low, high = label_offsets[m], label_offsets[m + 1]
        for t in range(is_member.shape[0]):
            left = offset[t]
            position = -1
            if from_first[t]:
                for i in range(low, high):
                    if is_member[t, labels[i]]:
                        if left == 0:
                            position = start[m] + i - low
                            break
                        left -= 1
            else:
                for i in range(high - 1, low - 1, -1):
                    if is_member[t, labels[i]]:
                        if left == 0:
                            position = start[m] + i - low
                            break
                        left -= 1
            found[t, m] = position


@njit(cache=True, nogil=True)
def find_running(label_offsets, labels, start, is_member, from_first, offset, begin, end, found):
    """The same for every mapped row, seen from that row: only rows up to it count. `found` has one entry per such row.

    `is_member` (bool per label), `from_first` and `offset` are those of one target.
    """
    for m in range(begin, end):
        low = label_offsets[m]
        n_seen = 0
        behind = low  # for LAST: the member row `offset` members behind the latest one
        position = -1
        for i in range(low, label_offsets[m + 1]):
            if is_member[labels[i]]:
                n_seen += 1
                if from_first:
                    if n_seen == offset + 1:
                        position = start[m] + i - low
                elif n_seen > offset:
                    if n_seen > offset + 1:
                        behind += 1
                    while not is_member[labels[behind]]:
                        behind += 1
                    position = start[m] + behind - low
            found[i] = position


@njit(cache=True, nogil=True)
def shift_inside(positions, row_match, first, behind, shift, begin, end, shifted):
    """Move positions by `shift` rows; -1 where there is none or the move leaves the partition.

    `first` and `behind` (int64 per match) bound the partition of the match that `row_match` names for each position.
    """
    for i in range(begin, end):
        shifted[i] = -1
        if positions[i] >= 0:
            m = row_match[i]
            to = positions[i] + shift
            if first[m] <= to and to < behind[m]:
                shifted[i] = to


@njit(cache=True, nogil=True)
def merge_unmatched(row_match, row_position, start, unmatched, place, position):
    """Merge the rows of matches with unmatched rows: a match stands where it starts, an unmatched row where it is.

    Parameters
    ----------
    row_match, row_position : int64 per row of a match, matches ascending
    unmatched : int64, ascending positions
    place, position : int64 per row of either kind, filled: the place among the rows of matches or -1; the position
    """
    i = 0
    j = 0
    for k in range(place.shape[0]):
        if i < row_match.shape[0] and (j == unmatched.shape[0] or start[row_match[i]] <= unmatched[j]):
            place[k] = i
            position[k] = row_position[i]
            i += 1
        else:
            place[k] = -1
            position[k] = unmatched[j]
            j += 1
