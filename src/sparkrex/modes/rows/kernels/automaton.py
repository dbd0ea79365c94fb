"""The two passes of the automaton: which pattern states can still accept, row by row from the end; then the matches.

All are table-driven loops of a few nanoseconds a row. They call no other kernel, so that they also run as plain Python,
over lists: for a few rows that is faster than loading the compiler.
"""

from __future__ import annotations

import numpy as np

from sparkrex.kernels.lazy import njit

ACCEPT, UNDECIDED, NONE = -1, -2, -3
"""Steps that end a walk: the match ends here; rows to come decide; no match starts here."""

CLOSED_END = 0
"""The state behind the last row of a partition that ends there."""

CLOSED = 0
"""A kind of end: the partition ends. The others are open: more rows may come, of which the next is known in part."""

_BLOCK = 1 << 13
"""Rows whose bits stay in the cache while they are put together."""

PAST_LAST_ROW, NEXT_ROW, TO_FIRST, TO_LAST = range(4)
DONE, SKIP_TO_FIRST_ROW, SKIP_TO_ABSENT = range(3)
STOPPED = 6  # as in `backtrack`


@njit(cache=True, nogil=True)
def look_back(symbols, partitions, open_ends, lookahead, transitions, shift, partition, row, state):
    """Replace every row's symbol by the state that holds the pattern positions from which this row on can be matched.

    Goes from `row` of `partition` (or, with row -1, from its end) backwards to the batch's first row, until a
    transition is missing; then the caller adds it and goes on from there.

    Parameters
    ----------
    symbols : uint16 per row, changed in place
    partitions : see `walk`; rows before the start of a partition need no state
    open_ends : int64, by kind of end the state behind the last row; the first one is not used
    lookahead : so many rows at the end of a partition that is open are not looked at
    transitions : int32, state << shift + symbol to state, -1 if it is not known yet

    Returns
    -------
    partition, row, state : where a transition is missing; partition -1 if all is done
    """
    offsets, _, ends, start, _, _ = partitions
    while partition >= 0:
        low = start[partition]
        if row < 0:
            row = offsets[partition + 1] - 1
            state = CLOSED_END
            if ends[partition] != CLOSED:
                row -= lookahead
                state = open_ends[ends[partition]]
        while row >= low:
            following = transitions[(state << shift) + symbols[row]]
            if following < 0:
                return partition, row, state
            state = following
            symbols[row] = state
            row -= 1
        partition -= 1
        row = np.int64(-1)
    return np.int64(-1), np.int64(-1), np.int64(0)


@njit(cache=True, nogil=True)
def look_back_twice(symbols, offsets, transitions, shift, places):
    """The same over whole partitions that all end, many rows: two of them in turns.

    A step has to wait for the table's entry of the step before; the other partition's step is made meanwhile.

    Parameters
    ----------
    places : int64 (2, 4): by range of partitions the first one, the one where the pass is, how many of its rows are
        left, and the state behind these; changed to where the pass stands

    Returns
    -------
    whether all is done; else a transition is missing, for one of the two rows before those that are done
    """
    first, partition, n_left, state = places[0]
    other_first, other_partition, n_other, other_state = places[1]
    mask = np.uint64(0xFFFF)
    by = np.uint64(shift)
    while True:
        if n_left == 0 and partition > first:
            partition -= 1
            n_left = offsets[partition + 1] - offsets[partition]
            state = CLOSED_END
        if n_other == 0 and other_partition > other_first:
            other_partition -= 1
            n_other = offsets[other_partition + 1] - offsets[other_partition]
            other_state = CLOSED_END
        if n_left == 0 and n_other == 0 and partition == first and other_partition == other_first:
            break
        # Where only one is left, it goes on alone.
        n_both = min(n_left, n_other)
        row = np.uint64(offsets[partition] + n_left)
        other = np.uint64(offsets[other_partition] + n_other)
        at = np.uint64(state)
        other_at = np.uint64(other_state)
        n_done = np.int64(0)
        if n_both > 0:
            for _ in range(n_both):
                row -= np.uint64(1)
                other -= np.uint64(1)
                following = transitions[(at << by) + np.uint64(symbols[row])]
                other_following = transitions[(other_at << by) + np.uint64(symbols[other])]
                if (following | other_following) < 0:
                    break
                at = np.uint64(following) & mask
                other_at = np.uint64(other_following) & mask
                symbols[row] = at
                symbols[other] = other_at
                n_done += 1
            n_left -= n_done
            n_other -= n_done
        elif n_left > 0:
            n_both = n_left
            for _ in range(n_left):
                row -= np.uint64(1)
                following = transitions[(at << by) + np.uint64(symbols[row])]
                if following < 0:
                    break
                at = np.uint64(following) & mask
                symbols[row] = at
                n_done += 1
            n_left -= n_done
        else:
            n_both = n_other
            for _ in range(n_other):
                other -= np.uint64(1)
                following = transitions[(other_at << by) + np.uint64(symbols[other])]
                if following < 0:
                    break
                other_at = np.uint64(following) & mask
                symbols[other] = other_at
                n_done += 1
            n_other -= n_done
        state = np.int64(at)
        other_state = np.int64(other_at)
        if n_done < n_both:
            places[0, 1], places[0, 2], places[0, 3] = partition, n_left, state
            places[1, 1], places[1, 2], places[1, 3] = other_partition, n_other, other_state
            return False
    return True


@njit(cache=True, nogil=True)
def join_bits(bitmaps, begin, symbols):
    """Put the bits of every row's symbol together.

    Parameters
    ----------
    bitmaps : uint8 (n_bits, all rows), 0 or 1
    begin : the first row of those that have symbols
    symbols : uint16 per row, filled
    """
    n_rows = symbols.shape[0]
    for low in range(0, n_rows, _BLOCK):
        block = symbols[low : low + _BLOCK]
        for i in range(block.shape[0]):
            block[i] = 0
        for bit in range(bitmaps.shape[0]):
            by = np.uint16(1 << bit)
            holds = bitmaps[bit, begin + low : begin + low + block.shape[0]]
            for i in range(block.shape[0]):
                block[i] |= np.uint16(holds[i]) * by


@njit(cache=True, nogil=True)
def walk(states, partitions, lookahead, steps, n_positions, entry, first_entry, accepts_open, skip_mode, skip_member,
         wants_labels, reports, asked, stop):
    """All matches, each found by taking the first way that can still accept.

    Parameters
    ----------
    states : uint16 per row, as `look_back` leaves them
    partitions : offsets int64 (n_partitions + 1); for each whether it begins with its first row here, bool, and what
        kind of end it has, int64; where the search stands, int64: the next start and the number of the next match, both
        changed to where it stands afterwards; and up to which row matches may start
    lookahead : as in `look_back`
    steps : int32, state * n_positions + position to next position << 15 | label, or one of the ends above
    entry, first_entry : position at a start row, and at one that is the partition's first
    accepts_open : bool per kind of end and position, whether a match may end before a row that is not there yet
    skip_mode, skip_member : AFTER MATCH SKIP, and per variable whether it is skipped to
    reports : whether the search goes on at the next row where AFTER MATCH SKIP cannot
    asked : see `modes.rows.matcher.Partitions`; no entries where starts are searched in order
    stop : uint8, one entry, set by another thread when nobody waits for the answer any more (see `threads`)

    Returns
    -------
    status, row : DONE, or an error and the row where the match starts
    n_matches, found int64 (start, end, number), n_labels, labels int16
    n_failed, failed int64 (start, status) : where the search went on after an error
    """
    offsets, begins, ends, next_start, next_number, until = partitions
    n_partitions = len(offsets) - 1
    n_rows = offsets[n_partitions] - offsets[0]
    found = np.empty((max(n_rows // 4, 16), 3), np.int64)
    labels = np.empty(n_rows if wants_labels else 0, np.int16)
    failed = np.empty((16 if reports else 0, 2), np.int64)
    n_matches = np.int64(0)
    n_labels = np.int64(0)
    n_failed = np.int64(0)
    overtakes = len(asked) > 0
    for partition in range(n_partitions):
        low = offsets[partition]
        high = offsets[partition + 1]
        is_open = ends[partition] != CLOSED
        known = high - lookahead if is_open else high
        start = next_start[partition]
        number = next_number[partition]
        at_first = begins[partition]
        last = until[partition]
        passable = min(known, last)
        while start < last:
            if overtakes and asked[start] == 0:
                start += 1
                continue
            position = entry
            if at_first and start == low:
                position = first_entry
            elif start < known and not overtakes:
                # Most rows of a selective pattern start nothing.
                while start < passable and steps[states[start] * n_positions + entry] == NONE:
                    start += 1
                if start >= last:
                    break
            row = start
            if wants_labels and n_labels + (high - start) > labels.shape[0]:
                more = np.empty(2 * (n_labels + (high - start)), np.int16)
                more[:n_labels] = labels[:n_labels]
                labels = more
            # Matches that overlap may take as long as all their rows together.
            if stop[0] != 0:
                return STOPPED, start, n_matches, found, n_labels, labels, n_failed, failed
            outcome = ACCEPT
            while row < known:
                step = steps[states[row] * n_positions + position]
                if step < 0:
                    outcome = step
                    break
                if wants_labels:
                    labels[n_labels + row - start] = step & 0x7FFF
                position = step >> 15
                row += 1
            if row >= known and is_open and not accepts_open[ends[partition], position]:
                outcome = UNDECIDED
            following = start + 1
            if outcome == UNDECIDED:
                if not overtakes:
                    break
                start = following
                continue
            if overtakes:
                asked[start] = 0
            if outcome == ACCEPT:
                if n_matches >= found.shape[0]:
                    larger = np.empty((2 * n_matches, 3), np.int64)
                    larger[:n_matches] = found[:n_matches]
                    found = larger
                found[n_matches, 0] = start
                found[n_matches, 1] = row
                found[n_matches, 2] = number
                n_matches += 1
                number += 1
                if row > start and skip_mode == PAST_LAST_ROW:
                    following = row
                elif row > start and skip_mode >= TO_FIRST:
                    target = np.int64(-1)
                    for place in range(row - start):
                        if skip_member[labels[n_labels + place] >> 1]:
                            target = start + place
                            if skip_mode == TO_FIRST:
                                break
                    if target <= start:
                        status = SKIP_TO_ABSENT if target < 0 else SKIP_TO_FIRST_ROW
                        if not reports:
                            return status, start, n_matches, found, n_labels, labels, n_failed, failed
                        if n_failed >= failed.shape[0]:
                            larger = np.empty((2 * n_failed, 2), np.int64)
                            larger[:n_failed] = failed[:n_failed]
                            failed = larger
                        failed[n_failed, 0] = start
                        failed[n_failed, 1] = status
                        n_failed += 1
                        # It is no match: its room is for the next one.
                        n_matches -= 1
                        number -= 1
                        start += 1
                        continue
                    following = target
                if wants_labels:
                    n_labels += row - start
            start = following
        next_start[partition] = start
        next_number[partition] = number
    return DONE, np.int64(-1), n_matches, found, n_labels, labels, n_failed, failed


@njit(cache=True, nogil=True)
def walk_both(states, moves, n_positions, n_rows, one, other):
    """The first rows of two walks of `walk_past`, in turns.

    A step has to wait for the move of the step before; the other walk's step is made meanwhile.

    Parameters
    ----------
    n_rows : how many, of each
    one, other : of each walk `begun`, `labels`, `ends` and `label_offsets`, see `walk_past`; `begun` is where it stands
        and is changed to where it stands afterwards
    """
    begun, labels, ends, label_offsets = one
    other_begun, other_labels, other_ends, other_label_offsets = other
    wants_labels = labels.shape[0] > 0
    step, width = np.uint64(1), np.uint64(n_positions)
    row, position = np.uint64(begun[0]), np.uint64(begun[1])
    n_matches, n_labels = np.uint64(begun[2]), np.uint64(begun[3])
    other_row, other_position = np.uint64(other_begun[0]), np.uint64(other_begun[1])
    n_other_matches, n_other_labels = np.uint64(other_begun[2]), np.uint64(other_begun[3])
    for _ in range(n_rows):
        move = np.uint64(moves[np.uint64(states[row]) * width + position])
        other_move = np.uint64(moves[np.uint64(states[other_row]) * width + other_position])
        ends[n_matches] = row
        other_ends[n_other_matches] = other_row
        label_offsets[n_matches + step] = n_labels
        other_label_offsets[n_other_matches + step] = n_other_labels
        n_matches += (move >> np.uint64(16)) & step
        n_other_matches += (other_move >> np.uint64(16)) & step
        if wants_labels:
            labels[n_labels] = move & np.uint64(0x7FFF)
            other_labels[n_other_labels] = other_move & np.uint64(0x7FFF)
        n_labels += (move >> np.uint64(15)) & step
        n_other_labels += (other_move >> np.uint64(15)) & step
        position = move >> np.uint64(17)
        other_position = other_move >> np.uint64(17)
        row += step
        other_row += step
    begun[0], begun[1], begun[2], begun[3] = row, position, n_matches, n_labels
    other_begun[0], other_begun[1] = other_row, other_position
    other_begun[2], other_begun[3] = n_other_matches, n_other_labels


@njit(cache=True, nogil=True)
def walk_past(states, partitions, moves, n_positions, entry, first_entry, begun, labels, ends, numbers,
              label_offsets):
    """The same for SKIP PAST LAST ROW where no match is empty and every partition ends: one look-up a row, no branches.

    A match that ends before a row and the one that starts at that row are one move (see `automaton.viability`).
    Where a match starts follows from its end and its length.

    Parameters
    ----------
    partitions : see `walk`
    moves : int32, state * n_positions + position to next position << 17 | ended << 16 | mapped << 15 | label
    begun : int64, where the walk of the first partition stands: the row, the position, and how many matches and labels
        it has found (see `walk_both`); or no entries if it has not begun
    labels : int16, as many as rows, or none if they are not wanted
    ends, numbers : int64, as many as rows that matches may start at and one more; label_offsets : int64, two more

    Returns
    -------
    n_matches, n_labels
    """
    offsets, begins, _, next_start, next_number, until = partitions
    wants_labels = labels.shape[0] > 0
    # Unsigned: a signed index is looked at for being negative, in the middle of the one chain that all steps wait for.
    one, width = np.uint64(1), np.uint64(n_positions)
    n_matches = np.uint64(0)
    n_labels = np.uint64(0)
    label_offsets[0] = 0
    for partition in range(offsets.shape[0] - 1):
        high = offsets[partition + 1]
        start = next_start[partition]
        last = until[partition]
        position = np.uint64(entry)
        if begins[partition] and start == offsets[partition]:
            position = np.uint64(first_entry)
        first_match = np.int64(n_matches)
        at = start
        if partition == 0 and begun.shape[0] > 0:
            at, position = begun[0], np.uint64(begun[1])
            n_matches, n_labels = np.uint64(begun[2]), np.uint64(begun[3])
        for row in range(np.uint64(at), np.uint64(max(at, last))):
            move = np.uint64(moves[np.uint64(states[row]) * width + position])
            ends[n_matches] = row
            label_offsets[n_matches + one] = n_labels
            n_matches += (move >> np.uint64(16)) & one
            if wants_labels:
                labels[n_labels] = move & np.uint64(0x7FFF)
            n_labels += (move >> np.uint64(15)) & one
            position = move >> np.uint64(17)
        at = max(start, last)
        if position != np.uint64(entry) and position != np.uint64(first_entry):
            # The last match may go on behind the rows that matches start at.
            while at < high:
                move = np.uint64(moves[np.uint64(states[at]) * width + position])
                if (move >> np.uint64(16)) & one != 0:
                    break
                if wants_labels:
                    labels[n_labels] = move & np.uint64(0x7FFF)
                n_labels += one
                position = move >> np.uint64(17)
                at += 1
            ends[n_matches] = at
            label_offsets[n_matches + one] = n_labels
            n_matches += one
        number = next_number[partition]
        for match in range(first_match, np.int64(n_matches)):
            numbers[match] = number + match - first_match
        next_start[partition] = at
        next_number[partition] = number + np.int64(n_matches) - first_match
    return np.int64(n_matches), np.int64(n_labels)
