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

Where the partition is open, a test of a row that is not there yet leaves the start undecided, unless that row, whatever
it is, comes too late for a bound in time.

`modes.rows.memo` decides which split remembers what, `modes.rows.runs` which splits are runs.
"""

from __future__ import annotations

import numpy as np

from sparkrex.kernels.arithmetic import LARGEST, SMALLEST, add_checked
from sparkrex.kernels.copying import copy_table, copy_values
from sparkrex.kernels.inlined import inlined, shared
from sparkrex.kernels.lazy import njit
from sparkrex.kernels.machine import TARGET, holds, int_operand
from sparkrex.kernels.path import extend

ACCEPT, MATCH, SPLIT, START, END, GREEDY, RELUCTANT = range(7)
PAST_LAST_ROW, NEXT_ROW, TO_FIRST, TO_LAST = range(4)
GIVEN_UP = 2
"""Of a row in `RunTables.possible`: no match may start there."""
DONE, SKIP_TO_FIRST_ROW, SKIP_TO_ABSENT, BUDGET, OVERFLOW, DIVISION_BY_ZERO, STOPPED = range(7)

# How the search from a start row ends, beside the errors above.
_FOUND, _NOT_FOUND, _UNDECIDED, _NEEDS_ROOM = range(20, 24)
# What a step of it comes to: go on; this way leads nowhere.
_GO_ON, _FAILED = range(2)
# Where it is: in the body of the greedy run on top of the stack, in that of the reluctant one, or elsewhere.
_ELSEWHERE, _RUNNING, _STEPPING = range(3)

# Fields of the stack: a split, or its complement once its second way is being tried; for a run its first row; the row
# to go on from; the path's version at the first row; what the bound's column must not exceed.
_SPLIT, _FIRST, _ROW, _VERSION, _BOUND = range(5)


@njit(cache=True, nogil=True)
def _grow(array, length):
    larger = np.empty(max(2 * array.shape[0], length), array.dtype)
    copy_values(array, 0, array.shape[0], larger, 0)
    return larger


@njit(cache=True, nogil=True)
def _deepen(stack):
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


@shared
def _comes_too_late(variable, deadlines, machine, columns, path, version, labels, place):
    """Whether no row can be mapped to the variable behind the rows that are known, or at one of the last of them."""
    row, _, _, high, _ = place
    for b in range(deadlines.begin[variable], deadlines.begin[variable + 1]):
        time = columns.ints[deadlines.bounds[b, 0], row] if row < high else deadlines.earliest
        if time > _bound(deadlines.bounds, b, machine, columns, path[2], version, labels, place):
            return True
    return False


@shared
def _leads_nowhere(at, deadlines, machine, columns, path, version, labels, place):
    """Whether behind the rows that are known there is none for a variable that every way on from here has to map."""
    row, start, _, high, _ = place
    if row < high or row == start or at + 1 >= deadlines.ahead_begin.shape[0]:
        return False
    for n in range(deadlines.ahead_begin[at], deadlines.ahead_begin[at + 1]):
        limit = _bound(deadlines.bounds, deadlines.ahead[n, 0], machine, columns, path[2], version, labels, place)
        if deadlines.earliest > limit and (limit != SMALLEST or deadlines.ahead[n, 1] != 0):
            return True
    return False


@inlined
def _is_known_to_fail(at, row, low, memo, memory, start_memory):
    """Whether the split has failed at the row before."""
    slot = memo.slot[at]
    if slot < 0:
        return False
    if memo.is_per_start[at]:
        return _is_set(start_memory, (row - low) * memo.n_start_slots + slot)
    return _is_set(memory, (row - low) * memo.n_slots + slot)


@inlined
def _go_on_running(at, row, depth, limit, low, program, runs, memo, columns, stack, memory, start_memory):
    """Behind a row of a greedy run: whether it maps the next one too; not if going on from there is known to fail."""
    run = program.first[at]
    ends = _is_known_to_fail(run, row, low, memo, memory, start_memory)
    bound = runs.bound_of[run]
    if bound >= 0 and row < limit:
        ends = ends or columns.ints[runs.bounds[bound, 0], row] > stack[depth - 1, _BOUND]
    if ends:
        stack[depth - 1, _ROW] = row
    return not ends


@inlined
def _end_run(at, row, depth, limit, program, runs, tests, stack):
    """A greedy run has ended before this row: the instruction behind it, and whether that can hold here."""
    stack[depth - 1, _ROW] = row
    run = program.first[at]
    bitmap = runs.exit_bitmap[run]
    is_possible = bitmap < 0 or row >= limit or tests.bitmaps[bitmap, row] != 0
    return np.int64(program.second[run]), _GO_ON if is_possible else _FAILED


@inlined
def _push(at, row, version, depth, runs, machine, columns, path, labels, place, stack):
    """A split, or a run, on top of the stack."""
    stack[depth, _SPLIT] = at
    stack[depth, _FIRST] = row
    stack[depth, _ROW] = row
    stack[depth, _VERSION] = version
    bound = runs.bound_of[at]
    if bound >= 0:
        stack[depth, _BOUND] = _bound(runs.bounds, bound, machine, columns, path[2], version, labels, place)


@inlined
def _step_on(at, row, depth, limit, low, program, runs, memo, tests, columns, labels, stack, memory, start_memory):
    """In a reluctant run, pass over rows at which only its body can hold.

    Returns the row where its exit is to be tried, or where neither way leads on, and which of the two it is.
    """
    bound = runs.bound_of[at]
    exit_bitmap = runs.exit_bitmap[at]
    body = runs.body_bitmap[at]
    label = program.label[program.second[at]]
    slot = memo.slot[at]
    is_per_start = memo.is_per_start[at]
    while True:
        if slot >= 0:
            if is_per_start:
                if _is_set(start_memory, (row - low) * memo.n_start_slots + slot):
                    return row, _FAILED
            elif _is_set(memory, (row - low) * memo.n_slots + slot):
                return row, _FAILED
        if row >= limit:
            return row, _GO_ON
        if bound >= 0 and columns.ints[runs.bounds[bound, 0], row] > stack[depth - 1, _BOUND]:
            return row, _FAILED
        if body == -2 or exit_bitmap < 0 or tests.bitmaps[exit_bitmap, row] != 0:
            return row, _GO_ON
        if body >= 0 and tests.bitmaps[body, row] == 0:
            return row, _FAILED
        labels[row - low] = label
        row += 1


@inlined
def _shorten(split, depth, runs, tests, stack):
    """A greedy run gives rows back, up to one at which its exit can hold: the row, one below its first if none is."""
    row = stack[depth - 1, _ROW] - 1
    bitmap = runs.exit_bitmap[split]
    if bitmap >= 0:
        while row >= stack[depth - 1, _FIRST] and tests.bitmaps[bitmap, row] == 0:
            row -= 1
    stack[depth - 1, _ROW] = row
    return row


@inlined
def _remember(split, from_row, to_row, low, memo, memory, start_memory):
    """The split has failed at these rows for good."""
    slot = memo.slot[split]
    if memo.is_per_start[split]:
        for row in range(from_row, to_row + 1):
            _set(start_memory, (row - low) * memo.n_start_slots + slot)
    else:
        for row in range(from_row, to_row + 1):
            _set(memory, (row - low) * memo.n_slots + slot)


@inlined
def _go_back(depth, mode, low, program, runs, memo, tests, stack, memory, start_memory, touched, start_touched):
    """Back to the latest split with an untried way; splits with none left have failed for good.

    Returns the instruction, the row and the path's version to go on with, what is left of the stack, where the search
    is then, and up to where memory may be set. The instruction is -1 if there is no way left.
    """
    while depth > 0:
        top = stack[depth - 1, _SPLIT]
        split = top if top >= 0 else ~top
        row = stack[depth - 1, _ROW]
        version = stack[depth - 1, _VERSION]
        first = stack[depth - 1, _FIRST]
        op = program.operation[split]
        at = np.int64(program.second[split])
        from_row = row  # the split has failed at the rows from here to `row`
        has_way = False
        if op == GREEDY:
            shorter = _shorten(split, depth, runs, tests, stack)
            from_row = shorter + 1
            has_way = shorter >= first
            version += (shorter - first) * runs.n_versions[split]
        elif op == RELUCTANT:
            if mode != _STEPPING:
                version += (row - first) * runs.n_versions[split]
                return at, row, version, depth, _STEPPING, touched, start_touched
            mode = _ELSEWHERE
            from_row = first
        elif top >= 0:
            if memo.slot[split] >= 0:
                stack[depth - 1, _SPLIT] = ~top
            else:
                depth -= 1
            return at, row, version, depth, mode, touched, start_touched
        if memo.slot[split] >= 0:
            _remember(split, from_row, row, low, memo, memory, start_memory)
            if memo.is_per_start[split]:
                start_touched = max(start_touched, row + 1)
            else:
                touched = max(touched, row + 1)
        if has_way:
            return at, stack[depth - 1, _ROW], version, depth, mode, touched, start_touched
        depth -= 1
    return np.int64(-1), np.int64(0), np.int64(0), depth, mode, touched, start_touched


@inlined
def _search_at(at, row, version, depth, steps, mode, touched, start_touched, start, low, high, number, is_open,
               begins_here, barred, reads_context, program, runs, memo, tests, deadlines, machine, columns, path,
               limits, labels, stack, memory, start_memory):
    """Go on with the search from one start row until it is decided, stops, or needs a deeper stack.

    Takes and returns where it is: instruction, row, version of the path, depth of the stack, steps so far, mode, and up
    to which row memory may be set; in front of these it returns what it came to.
    """
    _, update_offsets, record_ints, record_floats = path
    limit = high - limits.lookahead if is_open else high
    n_instructions = 0
    while True:
        n_instructions += 1
        if n_instructions & 0xFF == 0 and limits.stop[0] != 0:
            return STOPPED, at, row, version, depth, steps, mode, touched, start_touched
        if depth >= stack.shape[0]:
            return _NEEDS_ROOM, at, row, version, depth, steps, mode, touched, start_touched
        signal = _GO_ON
        place = (row, start, low, high, number)
        op = program.operation[at]
        if op == MATCH:
            outcome = 0
            new_version = version
            if row >= limit:
                is_barred = row == high and barred[program.variable[at]] != 0
                if is_open and not is_barred and not _comes_too_late(
                    program.variable[at], deadlines, machine, columns, path, version, labels, place
                ) and not _leads_nowhere(at, deadlines, machine, columns, path, version, labels, place):
                    return _UNDECIDED, at, row, version, depth, steps, mode, touched, start_touched
            else:
                variable = program.variable[at]
                bitmap = tests.bitmap_of[variable]
                if bitmap < 0 or tests.bitmaps[bitmap, row] != 0:
                    labels[row - low] = program.label[at]
                    outcome = 1
                    if update_offsets[variable] < update_offsets[variable + 1]:
                        new_version = version + 1
                        outcome = extend(path, columns, variable, row, version)
                    begin = tests.code_begin[variable]
                    end = tests.code_end[variable]
                    if begin < end and outcome == 1:
                        outcome = holds(begin, end, machine, columns, record_ints, record_floats, new_version, labels,
                                        place)
                    if outcome < 0:
                        error = OVERFLOW if outcome == -1 else DIVISION_BY_ZERO
                        return error, at, row, version, depth, steps, mode, touched, start_touched
            steps += 1
            if reads_context and steps > limits.max_steps:
                return BUDGET, at, row, version, depth, steps, mode, touched, start_touched
            if outcome == 1:
                row += 1
                version = new_version
                if mode != _RUNNING:
                    at = np.int64(program.first[at])
                elif not _go_on_running(at, row, depth, limit, low, program, runs, memo, columns, stack, memory,
                                        start_memory):
                    mode = _ELSEWHERE
                    signal = _FAILED
            elif mode == _RUNNING:
                mode = _ELSEWHERE
                at, signal = _end_run(at, row, depth, limit, program, runs, tests, stack)
            else:
                signal = _FAILED
        elif op in (SPLIT, GREEDY):
            if _is_known_to_fail(at, row, low, memo, memory, start_memory):
                signal = _FAILED
            else:
                _push(at, row, version, depth, runs, machine, columns, path, labels, place, stack)
                depth += 1
                if op == GREEDY:
                    mode = _RUNNING
                at = np.int64(program.first[at])
        elif op == RELUCTANT:
            if mode != _STEPPING:
                _push(at, row, version, depth, runs, machine, columns, path, labels, place, stack)
                depth += 1
            came_from = row
            row, signal = _step_on(at, row, depth, limit, low, program, runs, memo, tests, columns, labels, stack,
                                   memory, start_memory)
            steps += row - came_from
            stack[depth - 1, _ROW] = row
            # Where neither way leads on it is as if the body had been tried.
            mode = _STEPPING if signal == _FAILED else _ELSEWHERE
            if signal == _GO_ON:
                at = np.int64(program.first[at])
        elif op == ACCEPT:
            return _FOUND, at, row, version, depth, steps, mode, touched, start_touched
        elif op == START:
            if row == low and begins_here:
                at = np.int64(program.first[at])
            else:
                signal = _FAILED
        elif row < high:  # END
            signal = _FAILED
        elif is_open:
            return _UNDECIDED, at, row, version, depth, steps, mode, touched, start_touched
        else:
            at = np.int64(program.first[at])
        if signal == _FAILED:
            at, row, version, depth, mode, touched, start_touched = _go_back(
                depth, mode, low, program, runs, memo, tests, stack, memory, start_memory, touched, start_touched
            )
            if at < 0:
                return _NOT_FOUND, at, row, version, depth, steps, mode, touched, start_touched


@inlined
def _next_start(start, row, low, labels, skip_mode, skip_member):
    """Where AFTER MATCH SKIP goes on behind a match up to `row`; DONE, or why it cannot go there."""
    if row == start or skip_mode == NEXT_ROW:
        return start + 1, DONE
    if skip_mode == PAST_LAST_ROW:
        return row, DONE
    target = np.int64(-1)
    for r in range(start, row):
        if skip_member[labels[r - low] // 2]:
            target = r
            if skip_mode == TO_FIRST:
                break
    if target <= start:
        return start, SKIP_TO_ABSENT if target < 0 else SKIP_TO_FIRST_ROW
    return target, DONE


@inlined
def _longest(offsets):
    longest = np.int64(0)
    for p in range(offsets.shape[0] - 1):
        longest = max(longest, offsets[p + 1] - offsets[p])
    return longest


@njit(cache=True, nogil=True)
def search(bounds, program, runs, memo, tests, deadlines, machine, columns, path, skip_mode, skip_member, limits):
    """All matches of all partitions of a frame.

    Parameters
    ----------
    bounds, program, runs, memo, tests, deadlines, limits : see `arguments`: Bounds, Instructions, RunTables and so on
    machine, columns, path : see kernels.machine and kernels.path
    skip_mode, skip_member : AFTER MATCH SKIP, and bool by variable, whether it goes to its rows

    Returns
    -------
    status, row : DONE, or an error and the row where the match starts
    n_matches, match_start int64, match_end int64, match_number int64
    n_labels, labels int16 : of the matches' rows, one match after the other
    n_failed, failed int64 (start, status) : where the search went on after an error, if `limits` says so
    """
    longest = _longest(bounds.offsets)
    memory = np.zeros((min((longest + 1) * memo.n_slots, np.int64(1) << 33) >> 6) + 1, np.uint64)
    start_memory = np.zeros((min((longest + 1) * memo.n_start_slots, np.int64(1) << 33) >> 6) + 1, np.uint64)
    path_labels = np.empty(longest + 1, np.int16)
    stack = np.empty((64, 5), np.int64)
    match_start = np.empty(1024, np.int64)
    match_end = np.empty(1024, np.int64)
    match_number = np.empty(1024, np.int64)
    labels = np.empty(4096, np.int16)
    failed = np.empty((16 if limits.reports else 0, 2), np.int64)
    n_matches = 0
    n_labels = 0
    n_failed = 0
    overtakes = bounds.asked.shape[0] > 0
    reads_context = False
    for v in range(tests.code_begin.shape[0]):
        reads_context = reads_context or tests.code_begin[v] < tests.code_end[v]
    for p in range(bounds.offsets.shape[0] - 1):
        low = bounds.offsets[p]
        high = bounds.offsets[p + 1]
        is_open = not bounds.ends[p]
        start = bounds.start[p]
        number = bounds.number[p]
        known = high - limits.lookahead if is_open else high
        touched = low  # rows from low up to here may have bits set in memory
        until = bounds.until[p]
        while start < until:
            if overtakes:
                if runs.possible.shape[0] > 0 and (
                    runs.possible[start] == GIVEN_UP or (start < known and runs.possible[start] == 0)
                ):
                    bounds.asked[start] = 0
                if bounds.asked[start] == 0:
                    start += 1
                    continue
            elif runs.possible.shape[0] > 0:
                while start < until and (
                    runs.possible[start] == GIVEN_UP or (start < known and runs.possible[start] == 0)
                ):
                    start += 1
                if start >= until:
                    break
            at, row, version, depth, steps = np.int64(program.entry), start, np.int64(0), 0, np.int64(0)
            mode, start_touched, outcome = _ELSEWHERE, start, _NEEDS_ROOM
            while outcome == _NEEDS_ROOM:
                if depth >= stack.shape[0]:
                    stack = _deepen(stack)
                outcome, at, row, version, depth, steps, mode, touched, start_touched = _search_at(
                    at, row, version, depth, steps, mode, touched, start_touched, start, low, high, number, is_open,
                    bounds.begins[p], bounds.barred[p], reads_context, program, runs, memo, tests, deadlines, machine,
                    columns, path, limits, path_labels, stack, memory, start_memory
                )
            if start_touched > start:
                _clear(start_memory, (start - low) * memo.n_start_slots, (start_touched - low) * memo.n_start_slots)
            following = start + 1
            if outcome == _UNDECIDED:
                if not overtakes:
                    break
                start = following
                continue
            if overtakes:
                bounds.asked[start] = 0
            if outcome == _FOUND:
                if n_matches >= match_start.shape[0]:
                    match_start = _grow(match_start, n_matches + 1)
                    match_end = _grow(match_end, n_matches + 1)
                    match_number = _grow(match_number, n_matches + 1)
                if n_labels + row - start > labels.shape[0]:
                    labels = _grow(labels, n_labels + row - start)
                match_start[n_matches] = start
                match_end[n_matches] = row
                match_number[n_matches] = number
                copy_values(path_labels, start - low, row - low, labels, n_labels)
                n_matches += 1
                n_labels += row - start
                number += 1
                following, outcome = _next_start(start, row, low, path_labels, skip_mode, skip_member)
                if outcome != DONE and limits.reports:  # it is no match
                    n_matches -= 1
                    n_labels -= row - start
                    number -= 1
            if outcome not in (DONE, _NOT_FOUND):
                if outcome == STOPPED or not limits.reports:
                    return (
                        outcome, start, n_matches, match_start, match_end, match_number, n_labels, labels, n_failed,
                        failed
                    )
                if n_failed >= failed.shape[0]:
                    larger = np.empty((2 * n_failed, 2), np.int64)
                    larger[:n_failed] = failed[:n_failed]
                    failed = larger
                failed[n_failed, 0] = start
                failed[n_failed, 1] = outcome
                n_failed += 1
                following = start + 1
            start = following
        if touched > low:
            _clear(memory, np.int64(0), (touched - low) * memo.n_slots)
        bounds.start[p] = start
        bounds.number[p] = number
    return (
        DONE, np.int64(-1), n_matches, match_start, match_end, match_number, n_labels, labels, n_failed, failed
    )
