"""Runs looked up by the value that they await.

An edge whose condition has `c.x = a.x` at its top holds for no run whose a.x is another value than the x at hand. Each
run carries the *key* of the value that the edges of its state compare with; a row asks every state for a key, and only
runs of that key are tested and copied. The others stay where they are: what is left of the work for them is one
comparison of two numbers.

Equal values have equal keys, and that is all that is needed: the runs that are found are tested in full. So keys of
different values, and of NULL, may meet.
"""

from __future__ import annotations

import numpy as np

from sparkrex.kernels.inlined import inlined
from sparkrex.modes.events.kernels.codes import AWAITS, N_FIELDS, RECORD, START, STATE

# How a state's edges compare: not by equality, of integers (codes, times), of doubles.
NO_KEY, INT_KEY, FLOAT_KEY = range(3)

# What a row asks of the runs of a state: nothing, those that await one value, all of them.
NOBODY, BY_KEY, EVERYBODY = range(3)

UNKNOWN = np.int64(-0x6A09E667F3BCC909)  # the key of a run that is always tested
MISSING = np.int64(0x3C6EF372FE94F82B)  # the key of NULL
_NAN = np.int64(0x7FF8000000000000)

_LOOKS_AFTER = 16  # so many rows that ask nobody are passed before runs outside the window are counted


@inlined
def key_at(kind, column, row, columns, column_bits):
    """The key of a column's value in a row, and whether that is NULL."""
    if kind == INT_KEY:
        is_null = columns[2][column] != 0 and columns[1][column, row] != 0
        return (MISSING if is_null else columns[0][column, row]), is_null
    if columns[5][column] != 0 and columns[4][column, row] != 0:
        return MISSING, True
    value = columns[3][column, row]
    if value != value:
        return _NAN, False
    return (np.int64(0) if value == 0.0 else column_bits[column, row]), False


@inlined
def awaited_key(state, record, lookup, columns, column_bits, record_ints):
    """The key of what a run in a state awaits."""
    kind = lookup[0][state]
    if kind == NO_KEY:
        return UNKNOWN
    row = record_ints[record, lookup[1][state]]
    if row < 0:
        return UNKNOWN  # an expression may have a value where there is no event
    key, _ = key_at(kind, lookup[2][state], row, columns, column_bits)
    return key


@inlined
def bit_of(state, key):
    """One of 64 bits for a state and a key."""
    hashed = (np.uint64(key) ^ (np.uint64(state) * np.uint64(0xBF58476D1CE4E5B9))) * np.uint64(0x9E3779B97F4A7C15)
    return np.uint64(1) << (hashed >> np.uint64(58))


@inlined
def look_up(runs, n_runs, row, bound, lookup, edge_offsets, edge_condition, tests, columns, column_bits):
    """Write the runs that a row may extend into `hits`. Gives how many they are, and how many the window has left.

    Parameters
    ----------
    runs : int64 (7 fields, runs)
    bound : the first row that the window allows
    lookup : by state: kind of key, slot of the record that holds the row of the event compared with, its column; by
        edge: the column of the event under test, -1: the edge may hold whatever a run awaits; room by state: asked,
        keys; hits int64 (2, runs + 1)
    """
    state_kind, _, _, edge_column, asked, keys, hits = lookup
    bitmap_of, bitmaps, _, _ = tests
    n_hits, n_over = np.int64(0), np.int64(0)
    n_asked = 0
    for state in range(1, state_kind.shape[0]):
        asked[state] = NOBODY
        for edge in range(edge_offsets[state], edge_offsets[state + 1]):
            condition = edge_condition[edge]
            if condition >= 0 and bitmap_of[condition] >= 0 and bitmaps[bitmap_of[condition], row] == 0:
                continue
            if edge_column[edge] < 0:
                asked[state] = EVERYBODY
                break
            key, is_null = key_at(state_kind[state], edge_column[edge], row, columns, column_bits)
            if is_null:
                continue
            if asked[state] == BY_KEY and keys[state] != key:
                asked[state] = EVERYBODY
                break
            asked[state] = BY_KEY
            keys[state] = key
        n_asked += asked[state] != NOBODY
    if n_asked == 0 and row % _LOOKS_AFTER != 0:
        return n_hits, n_over
    for r in range(n_runs):
        if runs[START, r] < bound:
            n_over += 1
            continue
        state = runs[STATE, r]
        if asked[state] != NOBODY:
            awaits = runs[AWAITS, r]
            if asked[state] == EVERYBODY or awaits == keys[state] or awaits == UNKNOWN:
                hits[0, n_hits] = r
                n_hits += 1
    return n_hits, n_over


@inlined
def put_back(runs, side, n_runs, n_hits, n_new, n_over, bound, hits, free, n_free, has_record):
    """Put what came of the runs that were found in their places: gives the side of all runs, their number, n_free.

    Parameters
    ----------
    runs : int64 (3, 7 fields, runs): side `side` has all runs, the next one what came of those that were found, then
        the runs that began; the third is free
    hits : the numbers of those that were found, and where what came of each begins
    n_over : of so many runs the window has left; they are dropped when they are many
    """
    came = (side + 1) % 3
    is_one_for_one = True
    for h in range(n_hits + 1):
        is_one_for_one = is_one_for_one and hits[1, h] == h
    if is_one_for_one and 4 * n_over <= n_runs:
        for i in range(n_new):
            to = hits[0, i] if i < n_hits else n_runs + i - n_hits
            for f in range(N_FIELDS + 1):
                runs[side, f, to] = runs[came, f, i]
        return side, n_runs + n_new - n_hits, n_free
    third = (side + 2) % 3
    n_left = np.int64(0)
    h = 0
    for r in range(n_runs):
        if h < n_hits and hits[0, h] == r:
            for i in range(hits[1, h], hits[1, h + 1]):
                for f in range(N_FIELDS + 1):
                    runs[third, f, n_left] = runs[came, f, i]
                n_left += 1
            h += 1
        elif runs[side, START, r] < bound:
            free[n_free] = runs[side, RECORD, r]
            n_free += has_record
        else:
            for f in range(N_FIELDS + 1):
                runs[third, f, n_left] = runs[side, f, r]
            n_left += 1
    for i in range(hits[1, n_hits], n_new):
        for f in range(N_FIELDS + 1):
            runs[third, f, n_left] = runs[came, f, i]
        n_left += 1
    return third, n_left, n_free
