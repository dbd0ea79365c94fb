"""Prioritised search for row patterns, with memory of what failed.

For every start row the program's paths are tried depth first in order of preference. A split that failed at a row is
remembered and not tried again; that is sound exactly as far as the memory's key determines what it could still test:

- conditions that depend on the row alone: (instruction, row), for the whole partition, so the search over all starts is
  linear in rows times instructions, plus the rows of reported matches;
- conditions that depend on the row and on where the match starts: the same, forgotten at every start;
- conditions that read how earlier rows were mapped: nothing is remembered, and `step_budget` bounds the search.

`physical.rows.backtrack` decides which split is of which kind.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from sparkrex.kernels.machine import extend_path, holds

ACCEPT, MATCH, SPLIT, START = range(4)  # and END
PAST_LAST_ROW, NEXT_ROW, TO_FIRST, TO_LAST = range(4)
DONE, SKIP_TO_FIRST_ROW, SKIP_TO_ABSENT, BUDGET, OVERFLOW, DIVISION_BY_ZERO = range(6)


@njit(cache=True, nogil=True)
def _grown(array, length):
    larger = np.empty(max(2 * array.shape[0], length), array.dtype)
    larger[: array.shape[0]] = array
    return larger


@njit(cache=True, nogil=True)
def _is_set(bits, index):
    return (bits[index >> 6] >> np.uint64(index & 63)) & np.uint64(1) != 0


@njit(cache=True, nogil=True)
def _set(bits, index):
    bits[index >> 6] |= np.uint64(1) << np.uint64(index & 63)


@njit(cache=True, nogil=True)
def _clear(bits, begin, end):
    """Clear the words that hold bits `begin` up to `end`."""
    if end > begin:
        bits[begin >> 6 : (min(end, bits.shape[0] * 64 - 1) >> 6) + 1] = 0


@njit(cache=True, nogil=True)
def search(offsets, opens, closes, first_start, first_number, program, memo, conditions, machine, skip, lookahead,
           step_budget):
    """All matches of all partitions of a batch.

    Parameters
    ----------
    offsets : int64, n_partitions + 1, ends at n_rows
    opens, closes : whether the first partition begins, and the last one ends, in this batch
    first_start, first_number : where to go on in the first partition, and the number of its next match
    program : operation int8, variable int32, is_excluded bool, first int32, second int32, entry
    memo : slot int32 per instruction (-1: none), is_per_start bool per instruction, n_slots, n_start_slots
    conditions : bitmap_of int32 per variable (-1: holds for every row), bitmaps uint8 (n_bitmaps, n_rows),
        code_begin, code_end, code_result int64 per variable (begin -1: no context condition), has_path bool
    machine : code, constants, targets, columns, missing, path, registers, label_codes (see kernels.machine)
    skip : mode, bool per variable
    lookahead : rows behind a row that its conditions read

    Returns
    -------
    status, row : DONE, or an error and the row where the match starts
    n_matches, match_partition int64, match_start int64, match_end int64, match_number int64
    n_labels, labels int16 : of the matches' rows, one match after the other
    next_start, next_number : in the last partition, where to go on; next_start is the end of the batch if it closed
    """
    operation, variable_of, is_excluded, first, second, entry = program
    memo_slot, is_per_start, n_slots, n_start_slots = memo
    bitmap_of, bitmaps, code_begin, code_end, code_result, has_path = conditions
    code, constants, targets, columns, missing, path, registers, label_codes = machine
    skip_mode, skip_member = skip

    n_partitions = offsets.shape[0] - 1
    longest = np.int64(0)
    for p in range(n_partitions):
        longest = max(longest, offsets[p + 1] - offsets[p])
    memory_bits = min((longest + 1) * n_slots, np.int64(1) << 33)
    memory = np.zeros((memory_bits >> 6) + 1, np.uint64)
    start_bits = min((longest + 1) * n_start_slots, np.int64(1) << 33)
    start_memory = np.zeros((start_bits >> 6) + 1, np.uint64)
    path_labels = np.empty(longest + 1, np.int16)
    stack_at = np.empty(256, np.int32)  # a split, or its complement once its second way is being tried
    stack_row = np.empty(256, np.int64)

    match_partition = np.empty(1024, np.int64)
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
        reads_context = reads_context or code_begin[v] >= 0

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
            at = entry
            row = start
            depth = 0
            steps = 0
            start_touched = start
            found = False
            while True:
                failed = False
                op = operation[at]
                if op == MATCH:
                    if row >= limit:
                        if is_open:
                            undecided = True
                            break
                        failed = True
                    else:
                        v = variable_of[at]
                        b = bitmap_of[v]
                        failed = b >= 0 and bitmaps[b, row] == 0
                        if not failed:
                            position = row - low
                            path_labels[position] = np.int16(2 * v + (1 if is_excluded[at] else 0))
                            if has_path and extend_path(path, columns, row, position, start - low, v) != 0:
                                return (OVERFLOW, start, n_matches, match_partition, match_start, match_end,
                                        match_number, n_labels, labels, start, number)
                            if code_begin[v] >= 0:
                                outcome = holds(code_begin[v], code_end[v], code_result[v], code, constants, targets,
                                                columns, missing, path, registers, path_labels, label_codes, row, start,
                                                low, high, position, number)
                                if outcome < 0:
                                    status = OVERFLOW if outcome == -1 else DIVISION_BY_ZERO
                                    return (status, start, n_matches, match_partition, match_start, match_end,
                                            match_number, n_labels, labels, start, number)
                                failed = outcome == 0
                            if not failed:
                                row += 1
                                at = first[at]
                    steps += 1
                    if reads_context and steps > step_budget:
                        return (BUDGET, start, n_matches, match_partition, match_start, match_end, match_number,
                                n_labels, labels, start, number)
                elif op == SPLIT:
                    slot = memo_slot[at]
                    if slot >= 0:
                        if is_per_start[at]:
                            index = (row - low) * n_start_slots + slot
                            failed = index < start_bits and _is_set(start_memory, index)
                        else:
                            index = (row - low) * n_slots + slot
                            failed = index < memory_bits and _is_set(memory, index)
                    if not failed:
                        if depth >= stack_at.shape[0]:
                            stack_at = _grown(stack_at, depth + 1)
                            stack_row = _grown(stack_row, depth + 1)
                        stack_at[depth] = at
                        stack_row[depth] = row
                        depth += 1
                        at = first[at]
                elif op == ACCEPT:
                    found = True
                    break
                elif op == START:
                    if row == low and begins_here:
                        at = first[at]
                    else:
                        failed = True
                elif row < high:  # END
                    failed = True
                elif is_open:
                    undecided = True
                    break
                else:
                    at = first[at]
                if failed:
                    # Back to the latest split with an untried way; splits with none left have failed for good.
                    resumed = False
                    while depth > 0:
                        top = stack_at[depth - 1]
                        if top >= 0:
                            row = stack_row[depth - 1]
                            at = second[top]
                            if memo_slot[top] >= 0:
                                stack_at[depth - 1] = ~top
                            else:
                                depth -= 1
                            resumed = True
                            break
                        depth -= 1
                        split = ~top
                        split_row = stack_row[depth]
                        if is_per_start[split]:
                            index = (split_row - low) * n_start_slots + memo_slot[split]
                            if index < start_bits:
                                _set(start_memory, index)
                                start_touched = max(start_touched, split_row + 1)
                        else:
                            index = (split_row - low) * n_slots + memo_slot[split]
                            if index < memory_bits:
                                _set(memory, index)
                                touched = max(touched, split_row + 1)
                    if not resumed:
                        break
            if start_touched > start:
                _clear(start_memory, (start - low) * n_start_slots, (start_touched - low) * n_start_slots)
            if undecided:
                break
            following = start + 1
            if found:
                length = row - start
                if n_matches >= match_start.shape[0]:
                    match_partition = _grown(match_partition, n_matches + 1)
                    match_start = _grown(match_start, n_matches + 1)
                    match_end = _grown(match_end, n_matches + 1)
                    match_number = _grown(match_number, n_matches + 1)
                if n_labels + length > labels.shape[0]:
                    labels = _grown(labels, n_labels + length)
                match_partition[n_matches] = p
                match_start[n_matches] = start
                match_end[n_matches] = row
                match_number[n_matches] = number
                labels[n_labels : n_labels + length] = path_labels[start - low : row - low]
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
                        return (status, start, n_matches, match_partition, match_start, match_end, match_number,
                                n_labels, labels, start, number)
                    following = target
            start = following
        _clear(memory, np.int64(0), (touched - low) * n_slots)
        if p == n_partitions - 1:
            next_start = start
    return (DONE, np.int64(-1), n_matches, match_partition, match_start, match_end, match_number, n_labels, labels,
            next_start, number)
