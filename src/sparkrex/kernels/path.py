"""What conditions read of the match so far: one record per version of the path.

A record holds what the mapped rows have added up to: the first or last row of a set of variables, running counts and
sums. Mapping a row to a variable that a condition reads writes the next version's record from the version before;
mapping any other row costs nothing. Nothing is undone: the search goes back by going back to a version, so a running
sum is exactly the sum of its own rows. Version 0 is the empty path.
"""

from __future__ import annotations

import numpy as np

from sparkrex.kernels.arithmetic import add_checked, less
from sparkrex.kernels.inlined import inlined

# Updates of a record. SUM serves averages too, MOMENTS variances. Slots that nothing else writes are copied.
COPY_INT, COPY_FLOAT, LAST_ROW, LAST_ROWS, FIRST_ROW, NTH_ROW, COUNT, COUNT_IF, SUM, MIN, MAX, MOMENTS = range(12)

# Kinds of targets: the row under test; the path's rows from its first or last; rows of a set of variables.
CURRENT, FIRST_OF_PATH, LAST_OF_PATH, FIRST_OF_SET, LAST_OF_SET = range(5)

# What an aggregate's column holds.
NO_VALUES, INTEGERS, DOUBLES = range(3)

MAPPED, OVERFLOW = 1, -1


@inlined
def extend(path, columns, variable, row, version):
    """Write the record of `version + 1` for `row` mapped to `variable`; MAPPED, or OVERFLOW of an integer sum.

    Parameters
    ----------
    path : updates int64 (n, 6: kind, integer slot, double slot, type of column, column, filter or -1),
        update_offsets int64 (n_variables + 1), record_ints int64 (versions, slots), record_floats float64
        (versions, slots)
    columns : see kernels.machine, `ReadColumns`
    """
    updates, update_offsets, record_ints, record_floats = path
    int_values, int_nulls, int_has_nulls, float_values, float_nulls, float_has_nulls = columns
    new = version + 1
    for u in range(update_offsets[variable], update_offsets[variable + 1]):
        kind = updates[u, 0]
        slot = updates[u, 1]
        place = updates[u, 2]
        if kind < COUNT:
            if kind == COPY_INT:
                record_ints[new, slot] = record_ints[version, slot]
            elif kind == COPY_FLOAT:
                record_floats[new, place] = record_floats[version, place]
            elif kind == LAST_ROW:
                record_ints[new, slot] = row
            elif kind == LAST_ROWS:
                record_ints[new, slot] = row
                record_ints[new, slot + 1] = version
            elif kind == FIRST_ROW:
                first = record_ints[version, slot]
                record_ints[new, slot] = row if first < 0 else first
            else:
                n_rows = record_ints[version, slot + 1] + 1
                record_ints[new, slot] = row if n_rows == updates[u, 4] else record_ints[version, slot]
                record_ints[new, slot + 1] = n_rows
            continue
        count = record_ints[version, slot]
        values = updates[u, 3]
        column = updates[u, 4]
        condition = updates[u, 5]
        takes_part = condition < 0 or (int_nulls[condition, row] == 0 and int_values[condition, row] != 0)
        if values == DOUBLES:
            takes_part = takes_part and (float_has_nulls[column] == 0 or float_nulls[column, row] == 0)
            if takes_part:
                count += 1
            if kind == SUM:
                total = record_floats[version, place]
                record_floats[new, place] = total + float_values[column, row] if takes_part else total
            elif kind != COUNT:
                number = float_values[column, row]
                known = record_floats[version, place]
                if kind == MOMENTS:
                    square = record_floats[version, place + 1]
                    if takes_part:
                        delta = number - known
                        known += delta / count
                        square += delta * (number - known)
                    record_floats[new, place + 1] = square
                elif takes_part and (count == 1 or (less(number, known) if kind == MIN else less(known, number))):
                    known = number
                record_floats[new, place] = known
        elif values == INTEGERS:
            takes_part = takes_part and (int_has_nulls[column] == 0 or int_nulls[column, row] == 0)
            value = int_values[column, row]
            if takes_part:
                count += value if kind == COUNT_IF else 1
            if kind == MOMENTS:
                known = record_floats[version, place]
                square = record_floats[version, place + 1]
                if takes_part:
                    delta = value - known
                    known += delta / count
                    square += delta * (value - known)
                record_floats[new, place] = known
                record_floats[new, place + 1] = square
            elif kind >= SUM:
                whole = record_ints[version, slot + 1]
                if not takes_part:
                    pass
                elif kind == SUM:
                    whole, overflowed = add_checked(whole, value)
                    if overflowed:
                        return OVERFLOW
                elif count == 1 or (value < whole if kind == MIN else value > whole):
                    whole = value
                record_ints[new, slot + 1] = whole
        elif takes_part:
            count += 1
        record_ints[new, slot] = count
    return MAPPED


@inlined
def target_row(targets, t, record_ints, version, row, start, low, high):
    """The row that target `t` (kind, offset, shift, slot) names, or -1. `low` and `high` bound the partition."""
    kind = targets[t, 0]
    offset = targets[t, 1]
    slot = targets[t, 3]
    found = row
    if kind == LAST_OF_SET:
        found = record_ints[version, slot]
        while offset > 0 and found >= 0:
            version = record_ints[version, slot + 1]
            found = record_ints[version, slot]
            offset -= 1
    elif kind == FIRST_OF_PATH:
        found = start + offset
        if found > row:
            found = np.int64(-1)
    elif kind == LAST_OF_PATH:
        found = row - offset
        if found < start:
            found = np.int64(-1)
    elif kind == FIRST_OF_SET:
        found = record_ints[version, slot]
    if found < 0:
        return np.int64(-1)
    found += targets[t, 2]
    if found < low or found >= high:
        return np.int64(-1)
    return found
