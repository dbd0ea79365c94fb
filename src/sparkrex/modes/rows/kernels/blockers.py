"""Of every start, how many rows the pattern still needed and what stood in the way: one pass from the last row back.

What can be said of a state before a row follows from the row's symbol and from what is known of the state behind it. So
the pass keeps one line for each state, and what it knows of the entry's state is the answer for the start at that row.
"""

from __future__ import annotations

import numpy as np

from sparkrex.kernels.inlined import inlined
from sparkrex.kernels.lazy import njit

DEAD = -1


@inlined
def _own(state, row, high, states, miss, need, count, last_row, last_state, close, close_row, close_variable, bits,
         apart, new):
    """A state whose prefixes go no further than this row."""
    need[new, state] = states.need[state]
    begin = states.offsets[state]
    end = states.offsets[state + 1]
    count[new, state] = end - begin
    last_row[new, state] = row
    last_state[new, state] = state
    bits[new, state] = states.bits[state]
    close[new, state] = np.nan
    close_row[new, state] = -1
    close_variable[new, state] = -1
    for v in range(apart.shape[2]):
        apart[new, state, v] = np.nan
    if row < high:
        for place in range(begin, end):
            v = states.variables[place]
            distance = miss[v, row]
            apart[new, state, v] = distance
            if distance == distance and not close[new, state] <= distance:
                close[new, state] = distance
                close_row[new, state] = row
                close_variable[new, state] = v


@njit(cache=True, nogil=True)
def find_blockers(offsets, symbols, states, barred, miss, tried, found, apart_of_variable, starts_of_variable):
    """Fill in what is known of every start.

    Parameters
    ----------
    offsets int64 : cut the rows into partitions
    symbols uint16 : by row
    states : following int32 [state, symbol], DEAD for none; accepts uint8 [state, symbol], 1 for the pattern's end, 2
        for the end at the partition's end; need int64, bits uint64 by state; offsets int64 [n_states + 1] into
        variables int32, those of places with that need; entry and first: the states of starts, DEAD for none
    barred : need int64, n_variables int64, bits uint64 of the places that `^` bars for all starts but the first
    miss float64 [variable, row] : how far the condition was missed; NaN where no number tells
    tried bool : by row, whether a search started there and found nothing; the others count for no variable
    found : by row need int64, n_blockers int64, last_row int64, last_state int32 (DEAD: the barred places),
        close float64, close_row int64, close_variable int32, bits uint64. To be filled.
    apart_of_variable float64, starts_of_variable int64 : by variable, the least distance and the number of starts that
        it blocked. NaN and 0 before.
    """
    n_states = states.need.shape[0]
    n_variables = apart_of_variable.shape[0]
    need = np.empty((2, n_states), np.int64)
    count = np.empty((2, n_states), np.int64)
    last_row = np.empty((2, n_states), np.int64)
    last_state = np.empty((2, n_states), np.int32)
    close = np.empty((2, n_states), np.float64)
    close_row = np.empty((2, n_states), np.int64)
    close_variable = np.empty((2, n_states), np.int32)
    bits = np.empty((2, n_states), np.uint64)
    apart = np.empty((2, n_states, n_variables), np.float64)
    for p in range(offsets.shape[0] - 1):
        low = offsets[p]
        high = offsets[p + 1]
        new = 0
        for state in range(n_states):
            _own(state, high, high, states, miss, need, count, last_row, last_state, close, close_row, close_variable,
                 bits, apart, new)
        for row in range(high - 1, low - 1, -1):
            old = new
            new = 1 - new
            symbol = symbols[row]
            wanted = 2 if row + 1 == high else 1
            for state in range(n_states):
                if states.accepts[state, symbol] & wanted:
                    need[new, state] = 0
                    continue
                child = states.following[state, symbol]
                if child != DEAD and need[old, child] < states.need[state]:
                    need[new, state] = need[old, child]
                    count[new, state] = count[old, child]
                    last_row[new, state] = last_row[old, child]
                    last_state[new, state] = last_state[old, child]
                    close[new, state] = close[old, child]
                    close_row[new, state] = close_row[old, child]
                    close_variable[new, state] = close_variable[old, child]
                    bits[new, state] = bits[old, child]
                    for v in range(n_variables):
                        apart[new, state, v] = apart[old, child, v]
                    continue
                _own(state, row, high, states, miss, need, count, last_row, last_state, close, close_row,
                     close_variable, bits, apart, new)
                if child != DEAD and need[old, child] == states.need[state]:
                    count[new, state] += count[old, child]
                    last_row[new, state] = last_row[old, child]
                    last_state[new, state] = last_state[old, child]
                    bits[new, state] |= bits[old, child]
                    if close[old, child] == close[old, child] and not close[new, state] < close[old, child]:
                        close[new, state] = close[old, child]
                        close_row[new, state] = close_row[old, child]
                        close_variable[new, state] = close_variable[old, child]
                    for v in range(n_variables):
                        other = apart[old, child, v]
                        if other == other and not apart[new, state, v] <= other:
                            apart[new, state, v] = other
            state = states.first if row == low else states.entry
            n_barred = np.int64(0) if row == low else barred.n_variables
            if state != DEAD and (n_barred == 0 or need[new, state] <= barred.need):
                found.need[row] = need[new, state]
                found.n_blockers[row] = count[new, state]
                found.last_row[row] = last_row[new, state]
                found.last_state[row] = last_state[new, state]
                found.close[row] = close[new, state]
                found.close_row[row] = close_row[new, state]
                found.close_variable[row] = close_variable[new, state]
                found.bits[row] = bits[new, state]
                if n_barred > 0 and need[new, state] == barred.need:
                    found.n_blockers[row] += _new_bits(barred.bits, states.bits[state], states.need[state], barred.need)
                    found.bits[row] |= barred.bits
            else:
                found.need[row] = barred.need
                found.n_blockers[row] = n_barred
                found.last_row[row] = row
                found.last_state[row] = DEAD
                found.close[row] = np.nan
                found.close_row[row] = -1
                found.close_variable[row] = -1
                found.bits[row] = barred.bits
            if tried[row] and found.need[row] > 0:
                for v in range(n_variables):
                    if (found.bits[row] >> np.uint64(v)) & np.uint64(1):
                        starts_of_variable[v] += 1
                        if state != DEAD and need[new, state] == found.need[row]:
                            other = apart[new, state, v]
                            if other == other and not apart_of_variable[v] <= other:
                                apart_of_variable[v] = other


@njit(cache=True, nogil=True)
def find_blockers_within(offsets, symbols, states, barred, miss, tried, keys, limits, budget, found, is_exact,
                         apart_of_variable, starts_of_variable):
    """The same where rows must lie in a window that begins at the start: a walk from every start that was tried.

    Parameters
    ----------
    keys, limits int64 : by row what it is ordered by, and which keys lie behind the window that begins there; both
        ascend in a partition
    budget : steps for all starts together; a start that is left unfinished is not exact
    is_exact bool : by row, true before
    the others : see find_blockers
    """
    n_variables = apart_of_variable.shape[0]
    apart = np.empty(n_variables, np.float64)
    n_steps = np.int64(0)
    for p in range(offsets.shape[0] - 1):
        low = offsets[p]
        high = offsets[p + 1]
        end = low
        for start in range(low, high):
            if not tried[start]:
                continue
            end = max(end, start)
            while end < high and keys[end] < limits[start]:
                end += 1
            state = states.first if start == low else states.entry
            n_barred = np.int64(0) if start == low else barred.n_variables
            found.need[start] = barred.need
            found.n_blockers[start] = n_barred
            found.last_row[start] = start
            found.last_state[start] = DEAD
            found.close[start] = np.nan
            found.close_row[start] = -1
            found.close_variable[start] = -1
            found.bits[start] = barred.bits if n_barred > 0 else np.uint64(0)
            apart[:] = np.nan
            row = start
            is_first = n_barred == 0
            while state != DEAD:
                n_steps += 1
                if n_steps > budget:
                    is_exact[start] = False
                    break
                if is_first or states.need[state] < found.need[start]:
                    found.need[start] = states.need[state]
                    found.n_blockers[start] = 0
                    found.close[start] = np.nan
                    found.close_row[start] = -1
                    found.close_variable[start] = -1
                    found.bits[start] = np.uint64(0)
                    apart[:] = np.nan
                    is_first = False
                if states.need[state] == found.need[start]:
                    if row == start:
                        found.n_blockers[start] += _new_bits(
                            states.bits[state], found.bits[start], barred.need, barred.need
                        )
                    else:
                        found.n_blockers[start] += states.offsets[state + 1] - states.offsets[state]
                    found.last_row[start] = row
                    found.last_state[start] = state
                    found.bits[start] |= states.bits[state]
                    is_new_row = True
                    for place in range(states.offsets[state], states.offsets[state + 1]):
                        v = states.variables[place]
                        distance = miss[v, row] if row < end else np.nan
                        if distance == distance:
                            if not apart[v] <= distance:
                                apart[v] = distance
                            # The later row wins among equal distances, the first variable in one row.
                            is_closer = not found.close[start] <= distance
                            if is_closer or (found.close[start] == distance and is_new_row):
                                found.close[start] = distance
                                found.close_row[start] = row
                                found.close_variable[start] = v
                                is_new_row = False
                if row >= end:
                    break
                symbol = symbols[row]
                if states.accepts[state, symbol] & (2 if row + 1 == high else 1):
                    found.need[start] = 0
                    break
                state = states.following[state, symbol]
                row += 1
            if found.need[start] > 0:
                for v in range(n_variables):
                    if (found.bits[start] >> np.uint64(v)) & np.uint64(1):
                        starts_of_variable[v] += 1
                        if apart[v] == apart[v] and not apart_of_variable[v] <= apart[v]:
                            apart_of_variable[v] = apart[v]


@inlined
def _new_bits(barred, own, own_need, need):
    """How many variables are barred at the first row that do not block it anyway."""
    left = barred
    if own_need == need:
        left = barred & ~own
    n_bits = np.int64(0)
    while left != np.uint64(0):
        left &= left - np.uint64(1)
        n_bits += 1
    return n_bits
