"""Prioritised search for row patterns, with memory of what failed.

For every start row the program's paths are tried depth first in order of preference. A split that failed at a row is
remembered and not tried again; that is sound exactly as far as the memory's key determines what it could still test:

- conditions that depend on the row alone: (instruction, row), for the whole partition, so the search over all starts is
  linear in rows times instructions, plus the rows of reported matches;
- conditions that depend on the row and on where the match starts: the same, forgotten at every start;
- conditions that read how earlier rows were mapped: nothing is remembered, and `max_steps` bounds the search.

A repetition of one variable is a *run*, one entry of the stack however long it is: a greedy one maps rows while they
hold and then tries its exit from the last row back to the first, a reluctant one tries its exit before each row. Where
the exit is a variable with a bitmap, rows where that is not set are passed over. Where the exit also has a bound, a
column that only rises and must stay below what the path has fixed, the run ends at the first row above it.

`backtrack.matcher` decides which split is of which kind.
"""

from __future__ import annotations

import numpy as np

from sparkrex.kernels.arithmetic import LARGEST, SMALLEST, add_checked
from sparkrex.kernels.copying import copy_table, copy_values
from sparkrex.kernels.inlined import inlined
from sparkrex.kernels.lazy import njit
from sparkrex.kernels.machine import TARGET, holds, int_operand
from sparkrex.kernels.path import extend

ACCEPT, MATCH, SPLIT, START, END, GREEDY, RELUCTANT = range(7)
PAST_LAST_ROW, NEXT_ROW, TO_FIRST, TO_LAST = range(4)
DONE, SKIP_TO_FIRST_ROW, SKIP_TO_ABSENT, BUDGET, OVERFLOW, DIVISION_BY_ZERO, STOPPED = range(7)

# Fields of the stack: a split, or its complement once its second way is being tried; for a run its first row; the row
# to go on from; the path's version at the first row; what the bound's column must not exceed.
_SPLIT, _FIRST, _ROW, _VERSION, _BOUND = range(5)


@njit(cache=True, nogil=True)
def _grown(array, length):
    larger = np.empty(max(2 * array.shape[0], length), array.dtype)
    copy_values(array, 0, array.shape[0], larger, 0)
    return larger


@njit(cache=True, nogil=True)
def _deepened(stack):
    larger = np.empty((2 * stack.shape[0], stack.shape[1]), stack.dtype)
    copy_table(stack, larger)
    return larger


@inlined
def _is_set(bits, index):
    return index >> 6 < bits.shape[0] and (bits[index >> 6] >> np.uint64(index & 63)) & np.uint64(1) != 0


@inlined
def _set(bits, index):
    if index >> 6 < bits.shape[0]:
        bits[index >> 6] |= np.uint64(1) << np.uint64(index & 63)


@inlined
def _clear(bits, begin, end):
    """Clear the words that hold bits `begin` up to `end`."""
    for word in range(begin >> 6, min(end >> 6, bits.shape[0] - 1) + 1):
        bits[word] = 0


@njit(cache=True, nogil=True)
def is_ascending(values, offsets):
    """Whether the values never fall inside a partition."""
    for p in range(offsets.shape[0] - 1):
        for row in range(offsets[p] + 1, offsets[p + 1]):
            if values[row] < values[row - 1]:
                return False
    return True


@inlined
def _bound(bounds, b, machine, columns, record_ints, version, labels, place):
    """What the bound's column must not exceed on this path; below everything if the path's side is NULL."""
    value, is_null = int_operand(TARGET, bounds[b, 2], bounds[b, 1], machine, columns, record_ints, version, labels,
                                 place)
    if is_null:
        return SMALLEST
    total, overflowed = add_checked(value, bounds[b, 3])
    if overflowed:
        return LARGEST if value > 0 else SMALLEST
    return total


@njit(cache=True, nogil=True)
def search(offsets, opens, closes, first_start, first_number, program, runs, memo, conditions, machine, columns, path,
           skip, lookahead, max_steps, stop):
    """All matches of all partitions of a batch.

    Parameters
    ----------
    offsets : int64, n_partitions + 1, ends at n_rows
    opens, closes : whether the first partition begins, and the last one ends, in this batch
    first_start, first_number : where to go on in the first partition, and the number of its next match
    program : operation int8, variable int32, label int16, first int32, second int32, entry
    runs : per instruction, for runs: exit_bitmap int32 (-1: its exit is not a variable with a bitmap), body_bitmap
        int32 (-1: holds for every row, -2: rows must be tested one by one), n_versions int8 (1: mapping a row changes
        what conditions read), bound int32 (-1: none); bounds int64 (n, 4: column, target and column of the limit,
        constant added to it); possible uint8 per row: whether a match can start there (no entry: everywhere)
    memo : slot int32 per instruction (-1: none), is_per_start bool per instruction, n_slots, n_start_slots
    conditions : bitmap_of int32 per variable (-1: holds for every row), bitmaps uint8 (n_bitmaps, n_rows),
        code_begin, code_end int64 per variable (equal: no context condition)
    machine, columns, path : see kernels.machine and kernels.path
    skip : mode, bool per variable
    lookahead : rows behind a row that its conditions read
    stop : uint8, one entry, set by another thread when nobody waits for the answer any more (see `threads`)

    Returns
    -------
    status, row : DONE, or an error and the row where the match starts
    n_matches, match_start int64, match_end int64, match_number int64
    n_labels, labels int16 : of the matches' rows, one match after the other
    next_start, next_number : in the last partition, where to go on; next_start is the end of the batch if it closed
    """
    operation, variable_of, label_of, first, second, entry = program
    exit_bitmap, body_bitmap, n_versions, bound_of, bounds, possible = runs
    memo_slot, is_per_start, n_slots, n_start_slots = memo
    bitmap_of, bitmaps, code_begin, code_end = conditions
    _, update_offsets, record_ints, record_floats = path
    int_values = columns[0]
    skip_mode, skip_member = skip

    n_partitions = offsets.shape[0] - 1
    longest = np.int64(0)
    for p in range(n_partitions):
        longest = max(longest, offsets[p + 1] - offsets[p])
    memory = np.zeros((min((longest + 1) * n_slots, np.int64(1) << 33) >> 6) + 1, np.uint64)
    start_memory = np.zeros((min((longest + 1) * n_start_slots, np.int64(1) << 33) >> 6) + 1, np.uint64)
    path_labels = np.empty(longest + 1, np.int16)
    stack = np.empty((64, 5), np.int64)

    match_start = np.empty(1024, np.int64)
    match_end = np.empty(1024, np.int64)
    match_number = np.empty(1024, np.int64)
    labels = np.empty(4096, np.int16)
    n_matches = 0
    n_labels = 0
    next_start = offsets[n_partitions]
    number = np.int64(1)
    reads_context = False
    for v in range(code_begin.shape[0]):
        reads_context = reads_context or code_begin[v] < code_end[v]

    n_instructions = np.int64(0)
    for p in range(n_partitions):
        low = offsets[p]
        high = offsets[p + 1]
        is_open = p == n_partitions - 1 and not closes
        limit = high - lookahead if is_open else high
        begins_here = p > 0 or opens
        start = low
        number = np.int64(1)
        if p == 0:
            start = first_start
            number = first_number
        touched = low  # rows from low up to here may have bits set in memory
        undecided = False
        while start < high:
            if possible.shape[0] > 0:
                while start < limit and possible[start] == 0:
                    start += 1
                if start >= high:
                    break
            at = np.int64(entry)
            row = start
            version = np.int64(0)
            depth = 0
            steps = 0
            start_touched = start
            found = False
            is_running = False  # in the body of the greedy run on top of the stack
            is_stepping = False  # in the body of the reluctant run on top of the stack
            while True:
                n_instructions += 1
                if n_instructions & 0xFF == 0 and stop[0] != 0:
                    return (STOPPED, start, n_matches, match_start, match_end, match_number, n_labels, labels, start,
                            number)
                failed = False
                op = operation[at]
                if op == MATCH:
                    outcome = 0
                    new_version = version
                    if row >= limit:
                        if is_open:
                            undecided = True
                            break
                    else:
                        v = variable_of[at]
                        b = bitmap_of[v]
                        if b < 0 or bitmaps[b, row] != 0:
                            path_labels[row - low] = label_of[at]
                            outcome = 1
                            if update_offsets[v] < update_offsets[v + 1]:
                                new_version = version + 1
                                outcome = extend(path, columns, v, row, version)
                            if code_begin[v] < code_end[v] and outcome == 1:
                                outcome = holds(code_begin[v], code_end[v], machine, columns, record_ints,
                                                record_floats, new_version, path_labels,
                                                (row, start, low, high, number))
                            if outcome < 0:
                                return (OVERFLOW if outcome == -1 else DIVISION_BY_ZERO, start, n_matches, match_start,
                                        match_end, match_number, n_labels, labels, start, number)
                    steps += 1
                    if reads_context and steps > max_steps:
                        return (BUDGET, start, n_matches, match_start, match_end, match_number, n_labels, labels, start,
                                number)
                    if outcome == 1:
                        row += 1
                        version = new_version
                        if not is_running:
                            at = np.int64(first[at])
                        else:
                            # The same instruction again at the next row, unless going on from there is known to fail.
                            run = first[at]
                            slot = memo_slot[run]
                            if slot >= 0:
                                if is_per_start[run]:
                                    failed = _is_set(start_memory, (row - low) * n_start_slots + slot)
                                else:
                                    failed = _is_set(memory, (row - low) * n_slots + slot)
                            if bound_of[run] >= 0 and row < limit:
                                failed = failed or int_values[bounds[bound_of[run], 0], row] > stack[depth - 1, _BOUND]
                            if failed:
                                is_running = False
                                stack[depth - 1, _ROW] = row
                    elif is_running:
                        is_running = False
                        stack[depth - 1, _ROW] = row
                        run = first[at]
                        b = exit_bitmap[run]
                        failed = b >= 0 and row < limit and bitmaps[b, row] == 0
                        at = np.int64(second[run])
                    else:
                        failed = True
                elif op in (SPLIT, GREEDY):
                    slot = memo_slot[at]
                    if slot >= 0:
                        if is_per_start[at]:
                            failed = _is_set(start_memory, (row - low) * n_start_slots + slot)
                        else:
                            failed = _is_set(memory, (row - low) * n_slots + slot)
                    if not failed:
                        if depth >= stack.shape[0]:
                            stack = _deepened(stack)
                        stack[depth, _SPLIT] = at
                        stack[depth, _FIRST] = row
                        stack[depth, _ROW] = row
                        stack[depth, _VERSION] = version
                        if op == GREEDY:
                            is_running = True
                            if bound_of[at] >= 0:
                                stack[depth, _BOUND] = _bound(bounds, bound_of[at], machine, columns, record_ints,
                                                              version, path_labels, (row, start, low, high, number))
                        depth += 1
                        at = np.int64(first[at])
                elif op == RELUCTANT:
                    bound = bound_of[at]
                    if not is_stepping:
                        if depth >= stack.shape[0]:
                            stack = _deepened(stack)
                        stack[depth, _SPLIT] = at
                        stack[depth, _FIRST] = row
                        stack[depth, _VERSION] = version
                        if bound >= 0:
                            stack[depth, _BOUND] = _bound(bounds, bound, machine, columns, record_ints, version,
                                                          path_labels, (row, start, low, high, number))
                        depth += 1
                    is_stepping = False
                    slot = memo_slot[at]
                    b = exit_bitmap[at]
                    body = body_bitmap[at]
                    body_label = label_of[second[at]]
                    came_from = row
                    while True:
                        if slot >= 0:
                            if is_per_start[at]:
                                failed = _is_set(start_memory, (row - low) * n_start_slots + slot)
                            else:
                                failed = _is_set(memory, (row - low) * n_slots + slot)
                        if failed or row >= limit:
                            break
                        if bound >= 0 and int_values[bounds[bound, 0], row] > stack[depth - 1, _BOUND]:
                            failed = True
                            break
                        if body == -2 or b < 0 or bitmaps[b, row] != 0:
                            break
                        if body >= 0 and bitmaps[body, row] == 0:
                            failed = True
                            break
                        path_labels[row - low] = body_label
                        row += 1
                    steps += row - came_from
                    stack[depth - 1, _ROW] = row
                    is_stepping = failed  # neither way leads on from here: as if the body had been tried
                    if not failed:
                        at = np.int64(first[at])
                elif op == ACCEPT:
                    found = True
                    break
                elif op == START:
                    if row == low and begins_here:
                        at = np.int64(first[at])
                    else:
                        failed = True
                elif row < high:  # END
                    failed = True
                elif is_open:
                    undecided = True
                    break
                else:
                    at = np.int64(first[at])
                if failed:
                    # Back to the latest split with an untried way; splits with none left have failed for good.
                    resumed = False
                    while depth > 0 and not resumed:
                        top = stack[depth - 1, _SPLIT]
                        split = top if top >= 0 else ~top
                        slot = memo_slot[split]
                        row = stack[depth - 1, _ROW]
                        version = stack[depth - 1, _VERSION]
                        op = operation[split]
                        from_row = row  # the split has failed at the rows from here to `row`
                        if op == GREEDY:
                            run_first = stack[depth - 1, _FIRST]
                            b = exit_bitmap[split]
                            last = row
                            row -= 1
                            if b >= 0:
                                while row >= run_first and bitmaps[b, row] == 0:
                                    row -= 1
                            from_row = row + 1
                            stack[depth - 1, _ROW] = row
                            resumed = row >= run_first
                            version += (row - run_first) * n_versions[split]
                            at = np.int64(second[split])
                            row = last
                        elif op == RELUCTANT and not is_stepping:
                            version += (row - stack[depth - 1, _FIRST]) * n_versions[split]
                            at = np.int64(second[split])
                            is_stepping = True
                            break
                        elif op == RELUCTANT:
                            is_stepping = False
                            from_row = stack[depth - 1, _FIRST]
                        elif top >= 0:
                            at = np.int64(second[split])
                            if slot >= 0:
                                stack[depth - 1, _SPLIT] = ~top
                            else:
                                depth -= 1
                            resumed = True
                            break
                        if slot >= 0:
                            if is_per_start[split]:
                                for r in range(from_row, row + 1):
                                    _set(start_memory, (r - low) * n_start_slots + slot)
                                start_touched = max(start_touched, row + 1)
                            else:
                                for r in range(from_row, row + 1):
                                    _set(memory, (r - low) * n_slots + slot)
                                touched = max(touched, row + 1)
                        if resumed:
                            row = stack[depth - 1, _ROW]
                        else:
                            depth -= 1
                    if not resumed and not is_stepping:
                        break
            if start_touched > start:
                _clear(start_memory, (start - low) * n_start_slots, (start_touched - low) * n_start_slots)
            if undecided:
                break
            following = start + 1
            if found:
                length = row - start
                if n_matches >= match_start.shape[0]:
                    match_start = _grown(match_start, n_matches + 1)
                    match_end = _grown(match_end, n_matches + 1)
                    match_number = _grown(match_number, n_matches + 1)
                if n_labels + length > labels.shape[0]:
                    labels = _grown(labels, n_labels + length)
                match_start[n_matches] = start
                match_end[n_matches] = row
                match_number[n_matches] = number
                copy_values(path_labels, start - low, row - low, labels, n_labels)
                n_matches += 1
                n_labels += length
                number += 1
                if length > 0 and skip_mode == PAST_LAST_ROW:
                    following = row
                elif length > 0 and skip_mode >= TO_FIRST:
                    target = np.int64(-1)
                    for r in range(start, row):
                        if skip_member[path_labels[r - low] // 2]:
                            target = r
                            if skip_mode == TO_FIRST:
                                break
                    if target <= start:
                        status = SKIP_TO_ABSENT if target < 0 else SKIP_TO_FIRST_ROW
                        return (status, start, n_matches, match_start, match_end, match_number, n_labels, labels, start,
                                number)
                    following = target
            start = following
        if touched > low:
            _clear(memory, np.int64(0), (touched - low) * n_slots)
        if p == n_partitions - 1:
            next_start = start
    return (DONE, np.int64(-1), n_matches, match_start, match_end, match_number, n_labels, labels, next_start, number)
