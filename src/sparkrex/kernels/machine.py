"""A register machine for conditions that read the match so far.

Conditions are compiled by `evaluate.bytecode` to rows `[operation, destination, a mode, a, a target, b mode, b,
b target, c]`. An operand is fetched where it is needed: a column at the row under test or at a target, an aggregate of
the path's record, a constant, a register. A register holds an int64 or a float64, fixed when compiled, and a NULL flag.
Booleans are integers 0 and 1. A result that goes to no register is a test: the condition fails unless it is true.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sparkrex.kernels.arithmetic import SMALLEST, add_checked, equal, less, multiply_checked, subtract_checked
from sparkrex.kernels.inlined import inlined
from sparkrex.kernels.path import target_row

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Operations. First those that read integers (booleans, times, codes), then those that read doubles, then jumps.
MOVE_I, ADD_I, SUB_I, MUL_I, DIV_I, MOD_I, NEG_I, ABS_I, TO_F = range(9)
EQ_I, NE_I, LT_I, LE_I, DISTINCT_I, IS_NULL_I, AND, OR, NOT, IS_TRUE, IS_FALSE = range(9, 20)
MOVE_F, ADD_F, SUB_F, MUL_F, DIV_F, MOD_F, NEG_F, ABS_F = range(20, 28)
EQ_F, NE_F, LT_F, LE_F, DISTINCT_F, IS_NULL_F = range(29, 35)
JUMP, JUMP_IF_FALSE, JUMP_IF_TRUE, JUMP_UNLESS_TRUE, JUMP_UNLESS_NULL = range(40, 45)

# Where an operand is.
NOTHING, REGISTER, CONSTANT, NULL, COLUMN, TARGET, AGGREGATE, CLASSIFIER, MATCH_NUMBER = range(9)

# What an aggregate operand makes of its accumulator.
READ_COUNT, READ_INT, READ_FLOAT, READ_INT_AVERAGE, READ_AVERAGE, READ_VAR_SAMP, READ_VAR_POP, READ_STDDEV_SAMP, \
    READ_STDDEV_POP = range(9)

TEST = -1  # the destination of a result that the condition needs to be true

# Results besides 0 (does not hold) and 1 (holds).
OVERFLOW, DIVISION_BY_ZERO = -1, -2


class Machine(NamedTuple):
    """A program, what it reads beside rows, and its registers.

    Parameters
    ----------
    code : int64 (n, 9), see above
    targets : int64 (n, 4), see `kernels.path`
    reads : int64 (n, 3), aggregates: what is read, slot among the integers, slot among the doubles
    int_constants, float_constants : int64, float64
    int_missing, int_missing_null, float_missing, float_missing_null : int64, uint8, float64, uint8 by column: value and
        NULL flag where a target has no row
    ints, floats, nulls : int64, float64, uint8, the registers; each thread has its own
    label_codes : int64 by variable, its name as a code
    """

    code: NDArray[np.int64]
    targets: NDArray[np.int64]
    reads: NDArray[np.int64]
    int_constants: NDArray[np.int64]
    float_constants: NDArray[np.float64]
    int_missing: NDArray[np.int64]
    int_missing_null: NDArray[np.uint8]
    float_missing: NDArray[np.float64]
    float_missing_null: NDArray[np.uint8]
    ints: NDArray[np.int64]
    floats: NDArray[np.float64]
    nulls: NDArray[np.uint8]
    label_codes: NDArray[np.int64]


class ReadColumns(NamedTuple):
    """The columns that conditions read, in the frame's order: values and NULL flags (columns, rows), and by column
    whether it has NULLs. Flags of a column without any are not written."""

    ints: NDArray[np.int64]
    int_nulls: NDArray[np.uint8]
    has_int_nulls: NDArray[np.uint8]
    floats: NDArray[np.float64]
    float_nulls: NDArray[np.uint8]
    has_float_nulls: NDArray[np.uint8]


@inlined
def int_operand(mode, number, target, machine, columns, record_ints, version, labels, place):
    """Value and NULL flag of an operand that is an integer."""
    row, start, low, high, match_number = place
    value = np.int64(0)
    is_null = False
    if mode == COLUMN:
        value = columns.ints[number, row]
        is_null = columns.has_int_nulls[number] != 0 and columns.int_nulls[number, row] != 0
    elif mode == CONSTANT:
        value = machine.int_constants[number]
    elif mode == REGISTER:
        value = machine.ints[number]
        is_null = machine.nulls[number] != 0
    elif mode == TARGET:
        found = target_row(machine.targets, target, record_ints, version, row, start, low, high)
        if found < 0:
            value = machine.int_missing[number]
            is_null = machine.int_missing_null[number] != 0
        else:
            value = columns.ints[number, found]
            is_null = columns.has_int_nulls[number] != 0 and columns.int_nulls[number, found] != 0
    elif mode == AGGREGATE:
        slot = machine.reads[number, 1]
        if machine.reads[number, 0] == READ_COUNT:
            value = record_ints[version, slot]
        else:
            value = record_ints[version, slot + 1]
            is_null = record_ints[version, slot] == 0
    elif mode == CLASSIFIER:
        found = target_row(machine.targets, target, record_ints, version, row, start, low, high)
        if found < start or found > row:
            is_null = True
        else:
            value = machine.label_codes[labels[found - low] // 2]
    elif mode == MATCH_NUMBER:
        value = match_number
    elif mode == NULL:
        is_null = True
    return value, is_null


@inlined
def float_operand(mode, number, target, machine, columns, record_ints, record_floats, version, place):
    """Value and NULL flag of an operand that is a double."""
    row, start, low, high, _ = place
    value = 0.0
    is_null = False
    if mode == COLUMN:
        value = columns.floats[number, row]
        is_null = columns.has_float_nulls[number] != 0 and columns.float_nulls[number, row] != 0
    elif mode == CONSTANT:
        value = machine.float_constants[number]
    elif mode == REGISTER:
        value = machine.floats[number]
        is_null = machine.nulls[number] != 0
    elif mode == AGGREGATE:
        kind = machine.reads[number, 0]
        slot = machine.reads[number, 1]
        count = record_ints[version, slot]
        if count == 0:
            is_null = True
        elif kind == READ_AVERAGE:
            value = record_floats[version, machine.reads[number, 2]] / count
        elif kind == READ_INT_AVERAGE:
            value = record_ints[version, slot + 1] / count
        elif kind == READ_FLOAT:
            value = record_floats[version, machine.reads[number, 2]]
        else:
            freedom = count - 1 if kind in (READ_VAR_SAMP, READ_STDDEV_SAMP) else count
            if freedom == 0:
                is_null = True
            else:
                value = record_floats[version, machine.reads[number, 2] + 1] / freedom
                if kind >= READ_STDDEV_SAMP:
                    value = np.sqrt(value)
    elif mode == TARGET:
        found = target_row(machine.targets, target, record_ints, version, row, start, low, high)
        if found < 0:
            value = machine.float_missing[number]
            is_null = machine.float_missing_null[number] != 0
        else:
            value = columns.floats[number, found]
            is_null = columns.has_float_nulls[number] != 0 and columns.float_nulls[number, found] != 0
    elif mode == NULL:
        is_null = True
    return value, is_null


@inlined
def holds(begin, end, machine, columns, record_ints, record_floats, version, labels, place):
    """Run instructions `begin` to `end`: 1 if every test is true, 0 if not, or an error code.

    Parameters
    ----------
    machine, columns : see `Machine` and `ReadColumns`
    record_ints, record_floats, version : see kernels.path
    labels : of the path's rows, by place in the partition
    place : row, start of the match, bounds of the partition, number of the match
    """
    code, ints, floats, nulls = machine.code, machine.ints, machine.floats, machine.nulls
    at = begin
    while at < end:
        op = code[at, 0]
        to = code[at, 1]
        if op < MOVE_F:
            x, is_null = int_operand(code[at, 2], code[at, 3], code[at, 4], machine, columns, record_ints, version,
                                     labels, place)
            y, is_other_null = int_operand(code[at, 5], code[at, 6], code[at, 7], machine, columns, record_ints,
                                           version, labels, place)
            value = np.int64(0)
            if op == TO_F:
                floats[to] = x
                nulls[to] = is_null
                at += 1
                continue
            if op == MOVE_I:
                value = x
            elif op == IS_NULL_I:
                value = np.int64(is_null)
                is_null = False
            elif op in (IS_TRUE, IS_FALSE):
                value = np.int64(not is_null and x == (1 if op == IS_TRUE else 0))
                is_null = False
            elif op == NOT:
                value = 1 - x
            elif op == AND:
                is_false = (not is_null and x == 0) or (not is_other_null and y == 0)
                is_null = not is_false and (is_null or is_other_null)
                value = np.int64(not is_false)
            elif op == OR:
                is_true = (not is_null and x != 0) or (not is_other_null and y != 0)
                is_null = not is_true and (is_null or is_other_null)
                value = np.int64(is_true)
            elif op == DISTINCT_I:
                value = np.int64(is_null != is_other_null or (not is_null and x != y))
                is_null = False
            elif is_null or is_other_null:
                is_null = True
            elif op == EQ_I:
                value = np.int64(x == y)
            elif op == NE_I:
                value = np.int64(x != y)
            elif op == LT_I:
                value = np.int64(x < y)
            elif op == LE_I:
                value = np.int64(x <= y)
            elif op == ADD_I:
                value, overflowed = add_checked(x, y)
                if overflowed:
                    return OVERFLOW
            elif op == SUB_I:
                value, overflowed = subtract_checked(x, y)
                if overflowed:
                    return OVERFLOW
            elif op == MUL_I:
                value, overflowed = multiply_checked(x, y)
                if overflowed:
                    return OVERFLOW
            elif op in (DIV_I, MOD_I):
                if y == 0:
                    return DIVISION_BY_ZERO
                if y == -1 and x == SMALLEST:
                    return OVERFLOW
                # Rounded towards zero; the absolute value of the smallest integer has no place in 64 bits.
                quotient = x // y
                rest = x % y
                if rest != 0 and (x < 0) != (y < 0):
                    quotient += 1
                    rest -= y
                value = quotient if op == DIV_I else rest
            else:
                if x == SMALLEST:
                    return OVERFLOW
                value = -x if op == NEG_I else abs(x)
            if to == TEST:
                if is_null or value == 0:
                    return 0
            else:
                ints[to] = value
                nulls[to] = is_null
        elif op < JUMP:
            u, is_null = float_operand(code[at, 2], code[at, 3], code[at, 4], machine, columns, record_ints,
                                       record_floats, version, place)
            v, is_other_null = float_operand(code[at, 5], code[at, 6], code[at, 7], machine, columns, record_ints,
                                             record_floats, version, place)
            if op < EQ_F:
                is_null = is_null or is_other_null
                nulls[to] = is_null
                if is_null:
                    pass
                elif op == MOVE_F:
                    floats[to] = u
                elif op == ADD_F:
                    floats[to] = u + v
                elif op == SUB_F:
                    floats[to] = u - v
                elif op == MUL_F:
                    floats[to] = u * v
                elif op == NEG_F:
                    floats[to] = -u
                elif op == ABS_F:
                    floats[to] = abs(u)
                elif v == 0.0:
                    if code[at, 8] != 0:
                        return DIVISION_BY_ZERO
                    if op == MOD_F or u == 0.0 or u != u:
                        floats[to] = np.nan
                    else:
                        floats[to] = np.inf if (u > 0.0) == (np.copysign(1.0, v) > 0.0) else -np.inf
                elif op == DIV_F:
                    floats[to] = u / v
                else:
                    floats[to] = np.fmod(u, v)
            else:
                is_true = False
                if op == DISTINCT_F:
                    is_true = is_null != is_other_null or (not is_null and not equal(u, v))
                    is_null = False
                elif op == IS_NULL_F:
                    is_true = is_null
                    is_null = False
                elif is_null or is_other_null:
                    is_null = True
                elif op == LE_F:
                    is_true = not less(v, u)
                elif op == LT_F:
                    is_true = less(u, v)
                elif op == EQ_F:
                    is_true = equal(u, v)
                else:
                    is_true = not equal(u, v)
                if to == TEST:
                    if is_null or not is_true:
                        return 0
                else:
                    ints[to] = np.int64(is_true)
                    nulls[to] = is_null
        else:
            tested = code[at, 3]
            is_null = nulls[tested] != 0
            if op == JUMP:
                jumps = True
            elif op == JUMP_IF_FALSE:
                jumps = not is_null and ints[tested] == 0
            elif op == JUMP_IF_TRUE:
                jumps = not is_null and ints[tested] != 0
            elif op == JUMP_UNLESS_TRUE:
                jumps = is_null or ints[tested] == 0
            else:
                jumps = not is_null
            if jumps:
                at = code[at, 6]
                continue
        at += 1
    return 1
