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
from sparkrex.modes.events.kernels.codes import AWAITS, N_FIELDS, N_FREE, N_RUNS, RECORD, SIDE, START, STATE

# How a state's edges compare: not by equality, of integers (codes, times), of doubles.
NO_KEY, INT_KEY, FLOAT_KEY = range(3)

# What a row asks of the runs of a state: nothing, those that await one value, all of them.
NOBODY, BY_KEY, EVERYBODY = range(3)

UNKNOWN = np.int64(-0x6A09E667F3BCC909)  # the key of a run that is always tested
MISSING = np.int64(0x3C6EF372FE94F82B)  # the key of NULL
_NAN = np.int64(0x7FF8000000000000)

_LOOKS_AFTER = 16  # so many rows that ask nobody are passed before runs outside the window are counted


@inlined
def key_at(kind, column, row, cells):
    """The key of a column's value in a row, and whether that is NULL."""
    columns, column_bits = cells
    if kind == INT_KEY:
        is_null = columns.has_int_nulls[column] != 0 and columns.int_nulls[column, row] != 0
        return (MISSING if is_null else columns.ints[column, row]), is_null
    if columns.has_float_nulls[column] != 0 and columns.float_nulls[column, row] != 0:
        return MISSING, True
    value = columns.floats[column, row]
    if value != value:
        return _NAN, False
    return (np.int64(0) if value == 0.0 else column_bits[column, row]), False


@inlined
def awaited_key(state, record, lookup, cells, record_ints):
    """The key of what a run in a state awaits."""
    kind = lookup.state_kind[state]
    if kind == NO_KEY:
        return UNKNOWN
    row = record_ints[record, lookup.state_slot[state]]
    if row < 0:
        return UNKNOWN  # an expression may have a value where there is no event
    key, _ = key_at(kind, lookup.state_column[state], row, cells)
    return key


@inlined
def bit_of(state, key):
    """One of 64 bits for a state and a key."""
    hashed = (np.uint64(key) ^ (np.uint64(state) * np.uint64(0xBF58476D1CE4E5B9))) * np.uint64(0x9E3779B97F4A7C15)
    return np.uint64(1) << (hashed >> np.uint64(58))


@inlined
def _ask_states(row, lookup, automaton, tests, cells):
    """Write what a row asks of the runs of every state; gives how many states it asks anything."""
    state_kind, _, _, edge_column, asked, keys, _ = lookup
    edge_offsets, edge_condition = automaton.edge_offsets, automaton.edge_condition
    bitmap_of, bitmaps = tests.bitmap_of, tests.bitmaps
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
            key, is_null = key_at(state_kind[state], edge_column[edge], row, cells)
            if is_null:
                continue
            if asked[state] == BY_KEY and keys[state] != key:
                asked[state] = EVERYBODY
                break
            asked[state] = BY_KEY
            keys[state] = key
        n_asked += asked[state] != NOBODY
    return n_asked


@inlined
def look_up(runs, n_runs, row, bound, lookup, automaton, tests, cells):
    """Write the runs that a row may extend into `hits`. Gives how many they are, and how many the window has left.

    Parameters
    ----------
    runs : int64 (7 fields, runs)
    bound : the first row that the window allows
    """
    asked, keys, hits = lookup.asked, lookup.keys, lookup.hits
    n_hits, n_over = np.int64(0), np.int64(0)
    if _ask_states(row, lookup, automaton, tests, cells) == 0 and row % _LOOKS_AFTER != 0:
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
def _copy_run(runs, from_side, number, to_side, to):
    for f in range(N_FIELDS + 1):
        runs[to_side, f, to] = runs[from_side, f, number]


@inlined
def put_back(at, n_hits, n_new, n_over, bound, hits, runs, free, has_record):
    """Put what came of the runs that were found in their places.

    Parameters
    ----------
    at : see `nfab`: SIDE, N_RUNS and N_FREE are read and written. Side `at[SIDE]` of all runs (3, 7 fields, runs) has
        all of them, the next one what came of those that were found, then the runs that began; the third is free
    hits : the numbers of those that were found, and where what came of each begins
    n_over : of so many runs the window has left; they are dropped when they are many
    """
    side, n_runs, n_free = at[SIDE], at[N_RUNS], at[N_FREE]
    came = (side + 1) % 3
    is_one_for_one = True
    for h in range(n_hits + 1):
        is_one_for_one = is_one_for_one and hits[1, h] == h
    if is_one_for_one and 4 * n_over <= n_runs:
        for i in range(n_new):
            _copy_run(runs, came, i, side, hits[0, i] if i < n_hits else n_runs + i - n_hits)
        at[N_RUNS] = n_runs + n_new - n_hits
        return
    third = (side + 2) % 3
    n_left = np.int64(0)
    h = 0
    for r in range(n_runs):
        if h < n_hits and hits[0, h] == r:
            for i in range(hits[1, h], hits[1, h + 1]):
                _copy_run(runs, came, i, third, n_left)
                n_left += 1
            h += 1
        elif runs[side, START, r] < bound:
            free[n_free] = runs[side, RECORD, r]
            n_free += has_record
        else:
            _copy_run(runs, side, r, third, n_left)
            n_left += 1
    for i in range(hits[1, n_hits], n_new):
        _copy_run(runs, came, i, third, n_left)
        n_left += 1
    at[SIDE], at[N_RUNS], at[N_FREE] = third, n_left, n_free
