"""A register machine for conditions that read the match so far.

Conditions are compiled by `physical.rows.bytecode` to rows `[operation, destination, a, b, c]`. A register holds an
int64 or a float64, fixed when compiled, and a NULL flag. Booleans are integers 0 and 1.

What a condition reads of the match is kept per row of the current path, never undone: position p of every path array is
computed from position p - 1 when a row is mapped, so returning to an earlier row of the path is free, and a running sum
is exactly the sum of its own rows.
"""

from __future__ import annotations

import numpy as np
from numba import njit

# Operations. Suffix I: integers, booleans, times, codes. Suffix F: doubles.
LOAD_I, LOAD_F, CONST_I, CONST_F, NULL_I, NULL_F, TO_F, MOVE_I, MOVE_F = range(9)
ADD_I, SUB_I, MUL_I, DIV_I, MOD_I, NEG_I, ABS_I = range(10, 17)
ADD_F, SUB_F, MUL_F, DIV_F, MOD_F, NEG_F, ABS_F = range(20, 27)
EQ_I, NE_I, LT_I, LE_I, DISTINCT_I, EQ_F, NE_F, LT_F, LE_F, DISTINCT_F = range(30, 40)
AND, OR, NOT, IS_NULL, IS_TRUE, IS_FALSE = range(40, 46)
JUMP, JUMP_IF_FALSE, JUMP_IF_TRUE, JUMP_UNLESS_TRUE, JUMP_UNLESS_NULL = range(50, 55)
CLASSIFIER, MATCH_NUMBER, AGGREGATE_I, AGGREGATE_F = range(60, 64)

# Kinds of targets: the row under test; the path's rows from its first or last; rows of a set of variables.
CURRENT, FIRST_OF_PATH, LAST_OF_PATH, FIRST_OF_SET, LAST_OF_SET = range(5)

# Kinds of aggregates.
COUNT, COUNT_IF, SUM, AVG, MIN, MAX, VAR_SAMP, VAR_POP, STDDEV_SAMP, STDDEV_POP = range(10)

# Results besides 0 (does not hold) and 1 (holds).
OVERFLOW, DIVISION_BY_ZERO = -1, -2

_SMALLEST, _LARGEST = np.int64(-(2**63)), np.int64(2**63 - 1)


@njit(cache=True, nogil=True)
def less(a, b):
    """`a < b` for doubles: NaN equals NaN and is above every number."""
    return a < b or (b != b and a == a)


@njit(cache=True, nogil=True)
def equal(a, b):
    """`a = b` for doubles, NaN included."""
    return a == b or (a != a and b != b)


# Overflow is looked for before computing: compiled code may take for granted that signed arithmetic does not wrap, and
# then drops a check of its result.


@njit(cache=True, nogil=True)
def add_checked(a, b):
    """Sum and whether it overflowed."""
    if (b > 0 and a > _LARGEST - b) or (b < 0 and a < _SMALLEST - b):
        return np.int64(0), True
    return a + b, False


@njit(cache=True, nogil=True)
def subtract_checked(a, b):
    """Difference and whether it overflowed."""
    if (b < 0 and a > _LARGEST + b) or (b > 0 and a < _SMALLEST + b):
        return np.int64(0), True
    return a - b, False


@njit(cache=True, nogil=True)
def multiply_checked(a, b):
    """Product and whether it overflowed; the smallest integer itself counts as overflow unless a factor is 1."""
    if a == 0 or b == 0:
        return np.int64(0), False
    if a == 1 or b == 1:
        return a * b, False
    if a == _SMALLEST or b == _SMALLEST or abs(a) > _LARGEST // abs(b):
        return np.int64(0), True
    return a * b, False


@njit(cache=True, nogil=True)
def extend_path(path, columns, row, position, start_position, variable):
    """Compute the path arrays at `position` for `row` mapped to `variable`.

    Parameters
    ----------
    path : tuple of arrays, see `physical.rows.conditions.Context`
    columns : tuple of column arrays
    row, position, start_position : the row in the batch; its place and the match's first place in the partition
    variable : number of the variable

    Returns 0, or OVERFLOW if a running integer sum left int64.
    """
    (set_member, set_last, set_count, first_slots, first_row,
     aggregates, acc_count, acc_int, acc_float, acc_square) = path
    int_values, int_nulls, float_values, float_nulls = columns
    is_first = position == start_position
    for s in range(set_member.shape[0]):
        last = np.int64(-1) if is_first else set_last[s, position - 1]
        count = np.int64(0) if is_first else set_count[s, position - 1]
        if set_member[s, variable]:
            last = row
            count += 1
        set_last[s, position] = last
        set_count[s, position] = count
    for f in range(first_slots.shape[0]):
        s = first_slots[f, 0]
        found = np.int64(-1) if is_first else first_row[f, position - 1]
        if found < 0 and set_member[s, variable] and set_count[s, position] == first_slots[f, 1] + 1:
            found = row
        first_row[f, position] = found
    for g in range(aggregates.shape[0]):
        count = np.int64(0)
        whole = np.int64(0)
        real = 0.0
        square = 0.0
        if not is_first:
            count = acc_count[g, position - 1]
            whole = acc_int[g, position - 1]
            real = acc_float[g, position - 1]
            square = acc_square[g, position - 1]
        takes_part = aggregates[g, 1] < 0 or set_member[aggregates[g, 1], variable] != 0
        if takes_part and aggregates[g, 4] >= 0:
            filter_column = aggregates[g, 4]
            takes_part = int_nulls[filter_column, row] == 0 and int_values[filter_column, row] != 0
        kind = aggregates[g, 0]
        column = aggregates[g, 3]
        if takes_part:
            if aggregates[g, 2] == 0:
                count += 1
            elif aggregates[g, 2] == 1:
                if int_nulls[column, row] == 0:
                    value = int_values[column, row]
                    if kind == COUNT_IF:
                        count += value
                    else:
                        count += 1
                        if kind in (SUM, AVG):
                            whole, overflowed = add_checked(whole, value)
                            if overflowed:
                                return OVERFLOW
                        elif kind == MIN:
                            whole = value if count == 1 else min(whole, value)
                        elif kind == MAX:
                            whole = value if count == 1 else max(whole, value)
                        elif kind >= VAR_SAMP:
                            delta = value - real
                            real += delta / count
                            square += delta * (value - real)
            elif float_nulls[column, row] == 0:
                number = float_values[column, row]
                count += 1
                if kind in (SUM, AVG):
                    real += number
                elif kind == MIN:
                    if count == 1 or less(number, real):
                        real = number
                elif kind == MAX:
                    if count == 1 or less(real, number):
                        real = number
                elif kind >= VAR_SAMP:
                    delta = number - real
                    real += delta / count
                    square += delta * (number - real)
        acc_count[g, position] = count
        acc_int[g, position] = whole
        acc_float[g, position] = real
        acc_square[g, position] = square
    return 0


@njit(cache=True, nogil=True)
def target_row(targets, t, path, row, start, low, high, position):
    """The row that target `t` names, or -1. `low` and `high` bound the partition in the batch."""
    kind = targets[t, 0]
    offset = targets[t, 1]
    shift = targets[t, 2]
    found = row
    if kind == FIRST_OF_PATH:
        found = start + offset
        if found > row:
            return np.int64(-1)
    elif kind == LAST_OF_PATH:
        found = row - offset
        if found < start:
            return np.int64(-1)
    elif kind == FIRST_OF_SET:
        found = path[4][targets[t, 3], position]
        if found < 0:
            return np.int64(-1)
    elif kind == LAST_OF_SET:
        set_last = path[1]
        s = targets[t, 3]
        found = set_last[s, position]
        while offset > 0 and found > start:
            found = set_last[s, position - (row - found) - 1]
            offset -= 1
        if found < 0 or offset > 0:
            return np.int64(-1)
    found += shift
    if found < low or found >= high:
        return np.int64(-1)
    return found


@njit(cache=True, nogil=True)
def holds(begin, end, result, code, constants, targets, columns, missing, path, registers,
          labels, label_codes, row, start, low, high, position, match_number):
    """Run instructions `begin` to `end`; 1 if register `result` is true, 0 if not, or an error code.

    Cost: linear in the instructions executed. Reads path arrays at `position` only, and rows of the partition.
    """
    int_constants, float_constants = constants
    int_values, int_nulls, float_values, float_nulls = columns
    int_missing, int_missing_null, float_missing, float_missing_null = missing
    ints, floats, nulls = registers
    aggregates, acc_count, acc_int, acc_float, acc_square = path[5], path[6], path[7], path[8], path[9]
    at = begin
    while at < end:
        op = code[at, 0]
        to = code[at, 1]
        a = code[at, 2]
        b = code[at, 3]
        at += 1
        if op == LOAD_I:
            found = target_row(targets, b, path, row, start, low, high, position)
            if found < 0:
                ints[to] = int_missing[a]
                nulls[to] = int_missing_null[a]
            else:
                ints[to] = int_values[a, found]
                nulls[to] = int_nulls[a, found]
        elif op == LOAD_F:
            found = target_row(targets, b, path, row, start, low, high, position)
            if found < 0:
                floats[to] = float_missing[a]
                nulls[to] = float_missing_null[a]
            else:
                floats[to] = float_values[a, found]
                nulls[to] = float_nulls[a, found]
        elif op == CONST_I:
            ints[to] = int_constants[a]
            nulls[to] = 0
        elif op == CONST_F:
            floats[to] = float_constants[a]
            nulls[to] = 0
        elif op in (NULL_I, NULL_F):
            ints[to] = 0
            floats[to] = 0.0
            nulls[to] = 1
        elif op == TO_F:
            floats[to] = ints[a]
            nulls[to] = nulls[a]
        elif op == MOVE_I:
            ints[to] = ints[a]
            nulls[to] = nulls[a]
        elif op == MOVE_F:
            floats[to] = floats[a]
            nulls[to] = nulls[a]
        elif op < ADD_F:  # integer arithmetic
            nulls[to] = nulls[a] | (nulls[b] if op <= MOD_I else 0)
            if nulls[to] == 0:
                x = ints[a]
                if op == ADD_I:
                    ints[to], overflowed = add_checked(x, ints[b])
                    if overflowed:
                        return OVERFLOW
                elif op == SUB_I:
                    ints[to], overflowed = subtract_checked(x, ints[b])
                    if overflowed:
                        return OVERFLOW
                elif op == MUL_I:
                    ints[to], overflowed = multiply_checked(x, ints[b])
                    if overflowed:
                        return OVERFLOW
                elif op in (DIV_I, MOD_I):
                    y = ints[b]
                    if y == 0:
                        return DIVISION_BY_ZERO
                    if y == -1 and x == _SMALLEST:
                        return OVERFLOW
                    quotient = abs(x) // abs(y) if x != _SMALLEST else -(x // abs(y))
                    if (x < 0) != (y < 0):
                        quotient = -quotient
                    ints[to] = quotient if op == DIV_I else x - quotient * y
                else:
                    if x == _SMALLEST:
                        return OVERFLOW
                    ints[to] = -x if op == NEG_I else abs(x)
        elif op < EQ_I:  # double arithmetic
            nulls[to] = nulls[a] | (nulls[b] if op <= MOD_F else 0)
            if nulls[to] == 0:
                u = floats[a]
                if op == ADD_F:
                    floats[to] = u + floats[b]
                elif op == SUB_F:
                    floats[to] = u - floats[b]
                elif op == MUL_F:
                    floats[to] = u * floats[b]
                elif op in (DIV_F, MOD_F):
                    v = floats[b]
                    if v == 0.0:
                        if code[at - 1, 4] != 0:
                            return DIVISION_BY_ZERO
                        if op == MOD_F or u == 0.0 or u != u:
                            floats[to] = np.nan
                        else:
                            floats[to] = np.inf if (u > 0.0) == (np.copysign(1.0, v) > 0.0) else -np.inf
                    elif op == DIV_F:
                        floats[to] = u / v
                    else:
                        floats[to] = np.fmod(u, v)
                elif op == NEG_F:
                    floats[to] = -u
                else:
                    floats[to] = abs(u)
        elif op < AND:  # comparison
            if op in (DISTINCT_I, DISTINCT_F):
                if nulls[a] or nulls[b]:
                    ints[to] = np.int64(nulls[a] != nulls[b])
                elif op == DISTINCT_I:
                    ints[to] = np.int64(ints[a] != ints[b])
                else:
                    ints[to] = np.int64(not equal(floats[a], floats[b]))
                nulls[to] = 0
            else:
                is_null = nulls[a] | nulls[b]
                if is_null == 0:
                    if op == EQ_I:
                        ints[to] = np.int64(ints[a] == ints[b])
                    elif op == NE_I:
                        ints[to] = np.int64(ints[a] != ints[b])
                    elif op == LT_I:
                        ints[to] = np.int64(ints[a] < ints[b])
                    elif op == LE_I:
                        ints[to] = np.int64(ints[a] <= ints[b])
                    elif op == EQ_F:
                        ints[to] = np.int64(equal(floats[a], floats[b]))
                    elif op == NE_F:
                        ints[to] = np.int64(not equal(floats[a], floats[b]))
                    elif op == LT_F:
                        ints[to] = np.int64(less(floats[a], floats[b]))
                    else:
                        ints[to] = np.int64(not less(floats[b], floats[a]))
                nulls[to] = is_null
        elif op == AND:
            is_false = (nulls[a] == 0 and ints[a] == 0) or (nulls[b] == 0 and ints[b] == 0)
            nulls[to] = 0 if is_false else (nulls[a] | nulls[b])
            ints[to] = 0 if is_false else 1
        elif op == OR:
            is_true = (nulls[a] == 0 and ints[a] != 0) or (nulls[b] == 0 and ints[b] != 0)
            nulls[to] = 0 if is_true else (nulls[a] | nulls[b])
            ints[to] = 1 if is_true else 0
        elif op == NOT:
            nulls[to] = nulls[a]
            ints[to] = 1 - ints[a]
        elif op == IS_NULL:
            ints[to] = nulls[a]
            nulls[to] = 0
        elif op in (IS_TRUE, IS_FALSE):
            wanted = 1 if op == IS_TRUE else 0
            ints[to] = np.int64(nulls[a] == 0 and ints[a] == wanted)
            nulls[to] = 0
        elif op == JUMP:
            at = b
        elif op == JUMP_IF_FALSE:
            if nulls[a] == 0 and ints[a] == 0:
                at = b
        elif op == JUMP_IF_TRUE:
            if nulls[a] == 0 and ints[a] != 0:
                at = b
        elif op == JUMP_UNLESS_TRUE:
            if nulls[a] != 0 or ints[a] == 0:
                at = b
        elif op == JUMP_UNLESS_NULL:
            if nulls[a] == 0:
                at = b
        elif op == CLASSIFIER:
            found = target_row(targets, b, path, row, start, low, high, position)
            if found < start or found > row:
                nulls[to] = 1
            else:
                ints[to] = label_codes[labels[position - (row - found)] // 2]
                nulls[to] = 0
        elif op == MATCH_NUMBER:
            ints[to] = match_number
            nulls[to] = 0
        elif op in (AGGREGATE_I, AGGREGATE_F):
            kind = aggregates[a, 0]
            count = acc_count[a, position]
            nulls[to] = 0
            if kind in (COUNT, COUNT_IF):
                ints[to] = count
            elif count == 0 or (count == 1 and (kind in (VAR_SAMP, STDDEV_SAMP))):
                nulls[to] = 1
            elif op == AGGREGATE_I:
                ints[to] = acc_int[a, position]
            elif kind == AVG:
                if aggregates[a, 2] == 1:
                    floats[to] = acc_int[a, position] / count
                else:
                    floats[to] = acc_float[a, position] / count
            elif kind <= MAX:
                floats[to] = acc_float[a, position]
            else:
                freedom = count - 1 if (kind in (VAR_SAMP, STDDEV_SAMP)) else count
                variance = acc_square[a, position] / freedom
                floats[to] = np.sqrt(variance) if kind >= STDDEV_SAMP else variance
    if nulls[result]:
        return 0
    return 1 if ints[result] != 0 else 0
