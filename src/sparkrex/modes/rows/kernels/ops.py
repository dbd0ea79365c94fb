"""Optimized Pattern Search: one attempt after the other, moved on by shift and next after a failure.

An attempt is where its elements begin. After a failure those of the next one are known up to element next(j): they are
where elements of the failed attempt began. Nothing in front of that is tested again; only the records of what context
conditions read are written again for rows that are taken over.

Truth bitmaps are filled one block of rows at a time, when the search first needs them: a kernel that meets a row of
a block that is not there saves where it is and returns, and is called again when it is.

`modes.rows.ops.shifts` has the tables and says why they are sound. Elements are numbered from 1 everywhere.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sparkrex.kernels.inlined import inlined, shared
from sparkrex.kernels.lazy import njit
from sparkrex.kernels.machine import holds
from sparkrex.kernels.path import extend
from sparkrex.modes.rows.kernels.backtrack import (
    DIVISION_BY_ZERO,
    DONE,
    OVERFLOW,
    STOPPED,
    _comes_too_late,
    _deepen,
    _leads_nowhere,
)

NEEDS_BLOCK = 30
"""The search waits for a block of a bitmap; the cursor says which."""

BLOCK_BITS = 16
"""Rows of a block, as a power of two."""

# Where a search stands. The first five are of the attempt: its partition, the row and element under test, whether the
# element, a star, has rows already, and the version of the path. Then how many tests were made, matches found and
# labels written, and which block of which bitmap is needed, or the start row of an attempt that failed with an error.
PARTITION, ROW, ELEMENT, HAS_ROWS, VERSION, N_TESTS, N_MATCHES, N_LABELS, BITMAP, BLOCK = range(10)
CURSOR_SIZE = 10


class Elements(NamedTuple):
    """By element from 1: whether it is a star uint8, the variables of its first and of its later rows int32, `shift`
    and `next` int64, and whether no later start can match after it met the end, uint8. `inside`: see `ops.shifts`."""

    is_star: Any
    first: Any
    later: Any
    shift: Any
    next: Any
    is_final: Any
    inside: int


class ElementTests(NamedTuple):
    """By element from 1: its bitmap int32 (-1: holds for every row) and its code, int64, equal: none. `bitmaps` uint8
    (n_bitmaps, n_rows) are filled where `is_filled` uint8 (n_bitmaps, n_blocks)."""

    bitmap_of: Any
    code_begin: Any
    code_end: Any
    bitmaps: Any
    is_filled: Any


class Found(NamedTuple):
    """Room for all matches: first row, row behind the last, number int64; labels int16 of their rows, one match after
    the other. Matches do not overlap, so there are at most as many labels as rows."""

    start: Any
    end: Any
    number: Any
    labels: Any


@shared
def _take_over(n_taken, low, elements, begins, columns, path, labels):
    """Write the records of rows that are taken over without a test; the version, or -1 if a sum is too large."""
    update_offsets = path[1]
    version = np.int64(0)
    for k in range(1, n_taken + 1):
        for row in range(begins[k], begins[k + 1]):
            variable = elements.first[k] if row == begins[k] else elements.later[k]
            labels[row - low] = 2 * variable
            if update_offsets[variable] < update_offsets[variable + 1]:
                if extend(path, columns, variable, row, version) < 0:
                    return np.int64(-1)
                version += 1
    return version


@inlined
def _move_on(j, row, elements, begins):
    """After element j failed on a row: where the elements of the next attempt begin; the element that is tested next.
    """
    if j > 1 and j >= elements.inside and begins[1] + 1 < begins[2]:
        begins[1] += 1
        return np.int64(elements.inside)
    shift = elements.shift[j]
    first = max(elements.next[j], np.int64(1))
    begins[j + 1] = row + 1
    for k in range(1, first + 1):
        begins[k] = begins[shift + k]
    return first


@inlined
def _write_match(begins, number, elements, cursor, found):
    """Add a match that has all its elements."""
    m = elements.is_star.shape[0] - 1
    n_matches, n_labels = cursor[N_MATCHES], cursor[N_LABELS]
    found.start[n_matches] = begins[1]
    found.end[n_matches] = begins[m + 1]
    found.number[n_matches] = number
    for k in range(1, m + 1):
        for row in range(begins[k], begins[k + 1]):
            found.labels[n_labels] = 2 * (elements.first[k] if row == begins[k] else elements.later[k])
            n_labels += 1
    cursor[N_MATCHES] = n_matches + 1
    cursor[N_LABELS] = n_labels


@njit(cache=True, nogil=True)
def search(bounds, elements, tests, deadlines, machine, columns, path, limits, cursor, begins, labels, found):
    """Go on with the search over all partitions from where the cursor stands.

    Parameters
    ----------
    bounds, deadlines, limits : see `arguments`; `max_steps` is not used, the search is linear where rows decide all
    elements, tests, found : see above
    machine, columns, path : see kernels.machine and kernels.path
    cursor : int64 (CURSOR_SIZE), see above; zeros before the first call
    begins : int64 (n_elements + 2), by element from 1 where it begins, for one that failed the row behind that row
    labels : int16, room for the rows of the largest partition

    Returns
    -------
    DONE, NEEDS_BLOCK, STOPPED or an error; the first row of the attempt that met it
    """
    m = elements.is_star.shape[0] - 1
    record_ints, record_floats = path[2], path[3]
    update_offsets = path[1]
    reads_match = False
    for k in range(1, m + 1):
        reads_match = reads_match or tests.code_begin[k] < tests.code_end[k]
    p = cursor[PARTITION]
    row, j, has_rows, version = cursor[ROW], cursor[ELEMENT], cursor[HAS_ROWS] != 0, cursor[VERSION]
    n_tests = cursor[N_TESTS]
    status = DONE
    while p < bounds.offsets.shape[0] - 1:
        low, high = bounds.offsets[p], bounds.offsets[p + 1]
        is_open = not bounds.ends[p]
        limit = high - limits.lookahead if is_open else high
        if j == 0:
            j, row, has_rows, version = np.int64(1), bounds.start[p], False, np.int64(0)
            begins[1] = row
        until = bounds.until[p]
        while begins[1] < until:
            variable = elements.later[j] if has_rows else elements.first[j]
            place = (row, begins[1], low, high, bounds.number[p])
            outcome = 0
            new_version = version
            if row < limit:
                bitmap = tests.bitmap_of[j]
                if bitmap >= 0:
                    if tests.is_filled[bitmap, row >> BLOCK_BITS] == 0:
                        cursor[BITMAP], cursor[BLOCK] = bitmap, row >> BLOCK_BITS
                        status = NEEDS_BLOCK
                        break
                    outcome = np.int64(tests.bitmaps[bitmap, row] != 0)
                else:
                    outcome = 1
                n_tests += 1
                if n_tests & 0xFF == 0 and limits.stop[0] != 0:
                    status = STOPPED
                    break
                if outcome == 1 and reads_match:
                    labels[row - low] = 2 * variable
                    if update_offsets[variable] < update_offsets[variable + 1]:
                        outcome = extend(path, columns, variable, row, version)
                        new_version = version + 1
                    if outcome == 1 and tests.code_begin[j] < tests.code_end[j]:
                        outcome = holds(tests.code_begin[j], tests.code_end[j], machine, columns, record_ints,
                                        record_floats, new_version, labels, place)
                    if outcome < 0:
                        status = OVERFLOW if outcome == -1 else DIVISION_BY_ZERO
                        break
                if outcome == 1:
                    row += 1
                    version = new_version
                    if elements.is_star[j] != 0:
                        has_rows = True
                        continue
                elif not has_rows:
                    j = _move_on(j, row, elements, begins)
                    row = begins[j]
                    if reads_match:
                        version = _take_over(j - 1, low, elements, begins, columns, path, labels)
                        if version < 0:
                            status = OVERFLOW
                            break
                    continue
            elif is_open and not (row == high and bounds.barred[p, variable] != 0) and not _comes_too_late(
                variable, deadlines, machine, columns, path, version, labels, place
            ) and not _leads_nowhere(j, deadlines, machine, columns, path, version, labels, place):
                break  # undecided
            elif not has_rows or (j < m and not is_open):
                # There is no such row, now or ever: the attempt has failed.
                begins[1] = high if elements.is_final[j] != 0 and not is_open else begins[1] + 1
                j, row, has_rows, version = np.int64(1), begins[1], False, np.int64(0)
                continue
            # The element has its rows.
            j += 1
            has_rows = False
            begins[j] = row
            if j > m:
                _write_match(begins, bounds.number[p], elements, cursor, found)
                bounds.number[p] += 1
                begins[1] = row
                j, version = np.int64(1), np.int64(0)
        if status != DONE:
            break
        bounds.start[p] = min(begins[1], high)
        p += 1
        j = np.int64(0)
    cursor[PARTITION], cursor[ROW], cursor[ELEMENT], cursor[HAS_ROWS], cursor[VERSION] = p, row, j, has_rows, version
    cursor[N_TESTS] = n_tests
    return status, begins[1]


@inlined
def _write_occurrences(p, bounds, elements, cursor, n_found, occurrences, found):
    """Of the occurrences in a partition, the last one first, those that a search from its start would give."""
    m = elements.is_star.shape[0] - 2
    for n in range(n_found - 1, -1, -1):
        # The first element in order of rows is the last one of the reversed pattern.
        first = max(occurrences[n, m], bounds.start[p])
        if first > occurrences[n, m] and (elements.is_star[m] == 0 or first >= occurrences[n, m - 1]):
            continue
        n_matches, n_labels = cursor[N_MATCHES], cursor[N_LABELS]
        found.start[n_matches] = first
        found.end[n_matches] = occurrences[n, 0]
        found.number[n_matches] = bounds.number[p]
        for k in range(m, 0, -1):
            begin = first if k == m else occurrences[n, k]
            for row in range(begin, occurrences[n, k - 1]):
                found.labels[n_labels] = 2 * (elements.first[k] if row == begin else elements.later[k])
                n_labels += 1
        cursor[N_MATCHES] = n_matches + 1
        cursor[N_LABELS] = n_labels
        bounds.number[p] += 1
        bounds.start[p] = occurrences[n, 0]


@njit(cache=True, nogil=True)
def search_back(bounds, elements, tests, limits, cursor, begins, occurrences, found):
    """Go on with the search from the last row of each partition to its first; see `modes.rows.ops.reverse`.

    Parameters
    ----------
    bounds, limits : see `arguments`; every partition ends here
    elements, tests : see above, of the reversed pattern; `shift` and `next` have one entry more, for after an
        occurrence
    cursor, found : see above; VERSION counts the occurrences in the partition
    begins : int64 (n_elements + 3), counted from the partition's end
    occurrences : int64 (n, n_elements + 1), for an occurrence the row behind it, and the first rows of its elements

    Returns
    -------
    DONE, NEEDS_BLOCK or STOPPED; the occurrences, which may be a larger array
    """
    m = elements.is_star.shape[0] - 2
    p = cursor[PARTITION]
    row, j, has_rows, n_found = cursor[ROW], cursor[ELEMENT], cursor[HAS_ROWS] != 0, cursor[VERSION]
    n_tests = cursor[N_TESTS]
    status = DONE
    while p < bounds.offsets.shape[0] - 1:
        low, high = bounds.offsets[p], bounds.offsets[p + 1]
        n_rows = high - max(low, bounds.start[p])
        if j == 0:
            j, row, has_rows, n_found = np.int64(1), np.int64(0), False, np.int64(0)
            begins[1] = 0
        while row < n_rows or has_rows:
            is_true = False
            if row < n_rows:
                at = high - 1 - row
                bitmap = tests.bitmap_of[j]
                if bitmap >= 0 and tests.is_filled[bitmap, at >> BLOCK_BITS] == 0:
                    cursor[BITMAP], cursor[BLOCK] = bitmap, at >> BLOCK_BITS
                    status = NEEDS_BLOCK
                    break
                is_true = bitmap < 0 or tests.bitmaps[bitmap, at] != 0
                n_tests += 1
                if n_tests & 0xFF == 0 and limits.stop[0] != 0:
                    status = STOPPED
                    break
            if is_true:
                row += 1
                if elements.is_star[j] != 0:
                    has_rows = True
                    continue
            elif not has_rows:
                j = _move_on(j, row, elements, begins)
                row = begins[j]
                continue
            j += 1
            has_rows = False
            begins[j] = row
            if j > m:
                if n_found >= occurrences.shape[0]:
                    occurrences = _deepen(occurrences)
                for k in range(m + 1):
                    occurrences[n_found, k] = high - begins[k + 1]
                n_found += 1
                j = _move_on(j, row, elements, begins)
                row = begins[j]
        if status != DONE:
            break
        _write_occurrences(p, bounds, elements, cursor, n_found, occurrences, found)
        bounds.start[p] = high
        p += 1
        j = np.int64(0)
    cursor[PARTITION], cursor[ROW], cursor[ELEMENT], cursor[HAS_ROWS], cursor[VERSION] = p, row, j, has_rows, n_found
    cursor[N_TESTS] = n_tests
    return status, occurrences
