"""Prioritised search in frames: each row that is tried has its own search, which sees the rows of its frame alone.

The search from a start is that of `modes.rows.kernels.backtrack`, over a partition that is the frame. Row conditions
that look back or ahead have other values at a frame's ends; `Edges` holds those, and they stand in the bitmaps for as
long as the frame is searched. What failed is remembered for one frame; for the whole partition where frames end with
it and nothing before a match is read, so that a frame's first row changes nothing behind it.

With SEEK and frames that end with the partition, whether a match begins at a row does not depend on the frame, once
nothing before the frame is read from there. So what was found out for one frame is used for the next ones.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sparkrex.kernels.copying import copy_values
from sparkrex.kernels.lazy import njit
from sparkrex.modes.rows.kernels.backtrack import (
    _ELSEWHERE,
    _FOUND,
    _NEEDS_ROOM,
    _NOT_FOUND,
    DONE,
    NEXT_ROW,
    STOPPED,
    _clear,
    _deepen,
    _grow,
    _next_start,
    _search_at,
)


class Edges(NamedTuple):
    """Row conditions where a frame begins and ends.

    `back` and `ahead` int64 by bitmap: how many rows from the frame's first and last they differ; `variant_of` int32
    (bitmap, rows from the first, rows from the last): the line of `variants` uint8 (n, n_rows), -1 for the bitmap
    itself. `reach`: from a start so many rows behind a frame's first nothing before the frame is read.
    """

    back: Any
    ahead: Any
    variant_of: Any
    variants: Any
    reach: int


@njit(cache=True, nogil=True)
def search_frames(offsets, first, last, ends, is_seek, barred, edges, program, runs, memo, tests, deadlines, machine,
                  columns, path, skip_mode, skip_member, limits):
    """The match of every row that is tried, in the partitions from `first` up to `last`.

    Parameters
    ----------
    offsets : int64, where partitions begin
    ends : int64 by row, the last row of its frame; no entries: frames end with the partition
    is_seek : whether matches may begin behind the frame's first row
    barred : uint8 by variable, all 0
    others : see `modes.rows.kernels.backtrack.search`

    Returns
    -------
    status, row : DONE, or an error and the row whose frame was searched
    n_matches, found int64 (row, start, end), n_labels, labels int16
    """
    longest = np.int64(0)
    for p in range(first, last):
        longest = max(longest, offsets[p + 1] - offsets[p])
    memory = np.zeros((min((longest + 1) * memo.n_slots, np.int64(1) << 33) >> 6) + 1, np.uint64)
    start_memory = np.zeros((min((longest + 1) * memo.n_start_slots, np.int64(1) << 33) >> 6) + 1, np.uint64)
    path_labels = np.empty(longest + 1, np.int16)
    stack = np.empty((64, 5), np.int64)
    found = np.empty((1024, 3), np.int64)
    labels = np.empty(4096, np.int16)
    saved = np.empty(max(np.int64(1), (edges.back.sum() + edges.ahead.sum())), np.uint8)
    n_matches = np.int64(0)
    n_labels = np.int64(0)
    is_bounded = ends.shape[0] > 0
    has_edges = edges.variants.shape[0] > 0
    keeps = not is_bounded and edges.reach == 0
    reads_context = False
    for v in range(tests.code_begin.shape[0]):
        reads_context = reads_context or tests.code_begin[v] < tests.code_end[v]
    for p in range(first, last):
        row = offsets[p]
        partition_end = offsets[p + 1]
        known_start = row  # behind a row's reach no match begins before this one
        touched = row  # rows before this one may have bits set in memory
        while row < partition_end:
            high = ends[row] + 1 if is_bounded else partition_end
            if limits.stop[0] != 0:
                return STOPPED, row, n_matches, found, n_labels, labels
            start = row
            if is_seek and not is_bounded and edges.reach == 0:
                start = max(row, known_start)
            outcome = _NOT_FOUND
            if not is_seek and runs.possible.shape[0] > 0 and runs.possible[row] == 0:
                row += 1
                continue
            if has_edges:
                _put_edges(row, high, edges, tests.bitmaps, saved)
            at, here = np.int64(program.entry), row
            low = offsets[p] if keeps else row
            while start < high:
                if runs.possible.shape[0] > 0 and runs.possible[start] == 0:
                    outcome = _NOT_FOUND
                else:
                    at, here, version, depth, steps = np.int64(program.entry), start, np.int64(0), 0, np.int64(0)
                    mode, start_touched, outcome = _ELSEWHERE, start, _NEEDS_ROOM
                    while outcome == _NEEDS_ROOM:
                        if depth >= stack.shape[0]:
                            stack = _deepen(stack)
                        outcome, at, here, version, depth, steps, mode, touched, start_touched = _search_at(
                            at, here, version, depth, steps, mode, touched, start_touched, start, low, high,
                            np.int64(1), False, True, barred, reads_context, program, runs, memo, tests, deadlines,
                            machine, columns, path, limits, path_labels, stack, memory, start_memory
                        )
                    if start_touched > start:
                        _clear(
                            start_memory, (start - low) * memo.n_start_slots, (start_touched - low) * memo.n_start_slots
                        )
                if outcome != _NOT_FOUND or not is_seek:
                    break
                start += 1
                if not is_bounded and start >= row + edges.reach:
                    known_start = max(known_start, start)
                    start = known_start
            if has_edges:
                _take_edges(row, high, edges, tests.bitmaps, saved)
            if touched > row and not keeps:
                _clear(memory, np.int64(0), (touched - row) * memo.n_slots)
                touched = row
            following = row + 1
            if outcome == _FOUND:
                if n_matches >= found.shape[0]:
                    larger = np.empty((2 * n_matches, 3), np.int64)
                    larger[:n_matches] = found[:n_matches]
                    found = larger
                found[n_matches, 0] = row
                found[n_matches, 1] = start
                found[n_matches, 2] = here
                n_matches += 1
                length = here - start
                if n_labels + length > labels.shape[0]:
                    labels = _grow(labels, n_labels + length)
                copy_values(path_labels, start - low, here - low, labels, n_labels)
                n_labels += length
                outcome = DONE
                if length > 0 and skip_mode != NEXT_ROW:
                    following, outcome = _next_start(start, here, low, path_labels, skip_mode, skip_member)
            if outcome not in (DONE, _NOT_FOUND):
                return outcome, row, n_matches, found, n_labels, labels
            row = following
        if touched > offsets[p]:
            _clear(memory, np.int64(0), (touched - offsets[p]) * memo.n_slots)
    return DONE, np.int64(-1), n_matches, found, n_labels, labels


@njit(cache=True, nogil=True)
def _put_edges(row, high, edges, bitmaps, saved):
    """Make bitmaps what conditions are in a frame, and save what they were."""
    n_saved = 0
    for b in range(edges.back.shape[0]):
        back = edges.back[b]
        ahead = edges.ahead[b]
        for i in range(row, min(row + back, high)):
            saved[n_saved] = bitmaps[b, i]
            n_saved += 1
            bitmaps[b, i] = edges.variants[edges.variant_of[b, i - row, min(high - 1 - i, ahead)], i]
        for i in range(max(high - ahead, row + back), high):
            saved[n_saved] = bitmaps[b, i]
            n_saved += 1
            bitmaps[b, i] = edges.variants[edges.variant_of[b, back, high - 1 - i], i]


@njit(cache=True, nogil=True)
def _take_edges(row, high, edges, bitmaps, saved):
    """Make bitmaps what they were."""
    n_saved = 0
    for b in range(edges.back.shape[0]):
        back = edges.back[b]
        for i in range(row, min(row + back, high)):
            bitmaps[b, i] = saved[n_saved]
            n_saved += 1
        for i in range(max(high - edges.ahead[b], row + back), high):
            bitmaps[b, i] = saved[n_saved]
            n_saved += 1

