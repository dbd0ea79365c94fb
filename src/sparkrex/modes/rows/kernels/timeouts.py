"""Beginnings of matches that the end of their window cut off.

A start row at which no match begins has timed out if all rows of its window, up to where WITHIN ends, can be mapped to
a beginning of the pattern that still needs a row. So the program is searched as in `backtrack`, depth first in order of
preference, with one change: the search has found what it looks for when it comes to a test of a variable at the row
where the window ends. `$` never holds: a row is still needed.

Windows end where the start says: what failed is remembered for one start, and only where the rows' variables do not
matter; `max_steps` bounds the rest. Windows of later starts do not end earlier, so their ends are
found in one pass.
"""

from __future__ import annotations

import numpy as np

from sparkrex.kernels.copying import copy_values
from sparkrex.kernels.inlined import inlined
from sparkrex.kernels.lazy import njit
from sparkrex.kernels.machine import holds
from sparkrex.kernels.path import extend
from sparkrex.modes.rows.kernels.backtrack import (
    BUDGET,
    DIVISION_BY_ZERO,
    DONE,
    MATCH,
    OVERFLOW,
    SPLIT,
    START,
    STOPPED,
    _clear,
    _comes_too_late,
    _deepen,
    _grow,
    _is_set,
    _longest,
    _set,
)

FOUND, NOT_FOUND, UNDECIDED = range(20, 23)

# Fields of the stack: a split, or its complement once its second way is being tried; the row and the path's version.
_SPLIT, _ROW, _VERSION = range(3)


@inlined
def _error(outcome):
    return OVERFLOW if outcome == -1 else DIVISION_BY_ZERO


@njit(cache=True, nogil=True)
def search_timeouts(bounds, starts, numbers, program, window, memo, tests, deadlines, machine, columns, path, limits):
    """The starts that have timed out.

    Parameters
    ----------
    bounds, program, memo, tests, deadlines, limits : see `arguments`; of `bounds.start` and `number` nothing is read.
        A split of `memo` remembers for a start, or nothing.
    starts, numbers : int64, positions at which no match begins, ascending, and the number that a match would have
    window : the variable whose condition is WITHIN alone
    machine, columns, path : see kernels.machine and kernels.path

    Returns
    -------
    status, row : DONE, or an error and the row where the search began
    undecided int64 : by partition, the first start that rows to come decide, -1 for none. No later one is looked at.
        Where starts are on their own, `bounds.asked` is set at all of them instead.
    n_found, found_start int64, found_end int64 : timeouts, as ranges of rows
    n_labels, labels int16 : of the rows, one timeout after the other
    """
    longest = _longest(bounds.offsets)
    memory = np.zeros((min((longest + 1) * memo.n_start_slots, np.int64(1) << 33) >> 6) + 1, np.uint64)
    path_labels = np.zeros(longest + 1, np.int16)
    stack = np.empty((64, 3), np.int64)
    undecided = np.full(bounds.offsets.shape[0] - 1, -1, np.int64)
    found_start = np.empty(1024, np.int64)
    found_end = np.empty(1024, np.int64)
    labels = np.empty(4096, np.int16)
    n_found = 0
    n_labels = 0
    _, update_offsets, record_ints, record_floats = path
    s = 0
    for p in range(bounds.offsets.shape[0] - 1):
        low = bounds.offsets[p]
        high = bounds.offsets[p + 1]
        is_open = not bounds.ends[p]
        limit = high - limits.lookahead if is_open else high
        window_end = low
        while s < starts.shape[0] and starts[s] < high:
            if undecided[p] >= 0:
                s += 1
                continue
            start = starts[s]
            number = numbers[s]
            s += 1
            window_end = max(window_end, start)
            outcome = 1
            while window_end < high and outcome == 1:
                outcome = holds(tests.code_begin[window], tests.code_end[window], machine, columns, record_ints,
                                record_floats, np.int64(0), path_labels, (window_end, start, low, high, number))
                if outcome < 0:
                    return (_error(outcome), start, undecided, n_found, found_start, found_end, n_labels, labels)
                window_end += outcome
            if window_end == start:
                continue  # no time: no window
            is_closed = window_end < high or not is_open or _comes_too_late(
                window, deadlines, machine, columns, path, np.int64(0), path_labels, (high, start, low, high, number)
            )
            # What is read behind the window's last row has to be there.
            can_tell = not is_open or (is_closed and window_end <= limit)
            at = np.int64(program.entry)
            row = start
            version = np.int64(0)
            depth = 0
            steps = np.int64(0)
            touched = start
            result = DONE
            n_instructions = 0
            while result == DONE:
                n_instructions += 1
                if n_instructions & 0xFF == 0 and limits.stop[0] != 0:
                    return (STOPPED, start, undecided, n_found, found_start, found_end, n_labels, labels)
                op = program.operation[at]
                has_failed = False
                if op == MATCH and row == window_end:
                    result = FOUND if can_tell else UNDECIDED
                elif op == MATCH and row >= limit:
                    result = UNDECIDED
                elif op == MATCH:
                    steps += 1
                    if steps > limits.max_steps:
                        return (BUDGET, start, undecided, n_found, found_start, found_end, n_labels, labels)
                    variable = program.variable[at]
                    bitmap = tests.bitmap_of[variable]
                    outcome = 0
                    new_version = version
                    if bitmap < 0 or tests.bitmaps[bitmap, row] != 0:
                        path_labels[row - low] = program.label[at]
                        outcome = 1
                        if update_offsets[variable] < update_offsets[variable + 1]:
                            new_version = version + 1
                            outcome = extend(path, columns, variable, row, version)
                        begin = tests.code_begin[variable]
                        end = tests.code_end[variable]
                        if begin < end and outcome == 1:
                            outcome = holds(begin, end, machine, columns, record_ints, record_floats, new_version,
                                            path_labels, (row, start, low, high, number))
                        if outcome < 0:
                            return (_error(outcome), start, undecided, n_found, found_start, found_end, n_labels,
                                    labels)
                    has_failed = outcome != 1
                    if not has_failed:
                        row += 1
                        version = new_version
                        at = np.int64(program.first[at])
                elif op == SPLIT:
                    slot = memo.slot[at]
                    if slot >= 0 and _is_set(memory, (row - low) * memo.n_start_slots + slot):
                        has_failed = True
                    else:
                        if depth >= stack.shape[0]:
                            stack = _deepen(stack)
                        stack[depth, _SPLIT] = at
                        stack[depth, _ROW] = row
                        stack[depth, _VERSION] = version
                        depth += 1
                        at = np.int64(program.first[at])
                elif op == START and row == low and bounds.begins[p]:
                    at = np.int64(program.first[at])
                else:  # START elsewhere; END; ACCEPT, which no start without a match comes to
                    has_failed = True
                while has_failed:
                    if depth == 0:
                        result = NOT_FOUND
                        break
                    split = stack[depth - 1, _SPLIT]
                    row = stack[depth - 1, _ROW]
                    if split >= 0:
                        version = stack[depth - 1, _VERSION]
                        stack[depth - 1, _SPLIT] = ~split
                        at = np.int64(program.second[split])
                        has_failed = False
                    else:
                        slot = memo.slot[~split]
                        if slot >= 0:
                            _set(memory, (row - low) * memo.n_start_slots + slot)
                            touched = max(touched, row + 1)
                        depth -= 1
            if touched > start:
                _clear(memory, (start - low) * memo.n_start_slots, (touched - low) * memo.n_start_slots)
            if result == UNDECIDED:
                if bounds.asked.shape[0] > 0:
                    bounds.asked[start] = 1
                else:
                    undecided[p] = start
            elif result == FOUND:
                if n_found >= found_start.shape[0]:
                    found_start = _grow(found_start, n_found + 1)
                    found_end = _grow(found_end, n_found + 1)
                if n_labels + row - start > labels.shape[0]:
                    labels = _grow(labels, n_labels + row - start)
                found_start[n_found] = start
                found_end[n_found] = row
                copy_values(path_labels, start - low, row - low, labels, n_labels)
                n_found += 1
                n_labels += row - start
    return DONE, np.int64(-1), undecided, n_found, found_start, found_end, n_labels, labels
