"""Trends by state, counted only: the way that most queries go, as far as their numbers stay small or close together.

The same as `by_state` for events of different times and COUNT(*) alone, over plain numbers. Each kernel stops at the
row where these no longer do, and `by_state` goes on from there: so nothing here need be general.

- exact: 64-bit integers, up to where a sum could leave them.
- log: pairs of doubles with one exponent for all states of a unit. When the numbers are scaled down, all of them, and
  the 1 that every beginning adds, must be within 2^400 of the largest, or what is left of them would be lost.
"""

from __future__ import annotations

import numpy as np

from sparkrex.kernels.inlined import inlined
from sparkrex.kernels.lazy import njit
from sparkrex.modes.trends.kernels.machine import ANY, CONTIGUOUS, GIVEN_UP, LOOK, NEXT

_MOST = np.int64(1) << 61
_LARGE, _SMALL = 2.0**256, 2.0**-144
_DOWN = 2.0**-512


SEVERAL = -1
"""Of a symbol whose events may come to more than one state, or where there are many states."""
_FEW_STATES = 8


@inlined
def _count_several(machine, symbol, values, fresh, is_end, final):
    """An event that comes to several states, read from what was before it; returns the ended trends, or -1 if numbers
    become too large, and then nothing has changed."""
    low, high = machine.symbol_offsets[symbol], machine.symbol_offsets[symbol + 1]
    if final >= _MOST:
        return np.int64(-1)
    ended = final
    for place in range(low, high):
        state = machine.symbol_states[place]
        total = np.int64(0)
        for edge in range(machine.edge_offsets[state], machine.edge_offsets[state + 1]):
            total += values[machine.edge_sources[edge]]
            if total >= _MOST:
                return np.int64(-1)
        fresh[place - low] = total
        ended += total * is_end[state]
        if ended >= 2 * _MOST or values[state] + total >= _MOST:
            return np.int64(-1)
    if machine.semantics != ANY:
        for state in range(1, machine.n_states + 1):
            if machine.semantics == CONTIGUOUS or machine.closes[symbol, state]:
                values[state] = 0
    for place in range(low, high):
        values[machine.symbol_states[place]] += fresh[place - low]
    return ended


@inlined
def _find_steps(machine, targets, keeps, stays):
    """By symbol the one state that its events come to, 0 for none; and by symbol and state, as 0 or 1, whether trends
    of the state go on to that one, and whether they are still there after the event. State 0 begins trends."""
    for symbol in range(len(keeps)):
        low, high = machine.symbol_offsets[symbol], machine.symbol_offsets[symbol + 1]
        if high > low + 1:
            continue
        target = machine.symbol_states[low] if low < high else 0
        targets[symbol] = target
        keeps[symbol, 0] = 0
        stays[symbol, 0] = 1
        for state in range(1, machine.n_states + 1):
            is_closed = machine.semantics == NEXT and machine.closes[symbol, state]
            keeps[symbol, state] = 0
            stays[symbol, state] = not (machine.semantics == CONTIGUOUS or is_closed)
        if target > 0:
            for edge in range(machine.edge_offsets[target], machine.edge_offsets[target + 1]):
                keeps[symbol, machine.edge_sources[edge]] += 1


@njit(cache=True, nogil=True)
def count_exact(units, rows, machine, store, reached, begin, end, budget):
    """Advance the units from `begin` to `end`; `reached` has the row that each has come to.

    An event that comes to one state at the most reads and writes all of a few states, multiplied by 0 or 1: a jump
    that depends on the event would cost more.
    """
    n_states = machine.n_states
    n_places = n_states + machine.n_kinds
    n_symbols = len(machine.symbol_offsets) - 1
    values = np.zeros(n_states + 1, np.int64)
    fresh = np.empty(n_states + 1, np.int64)
    is_end = np.zeros(n_states + 1, np.int64)
    for state in range(1, n_states + 1):
        is_end[state] = machine.end_offsets[state] < machine.end_offsets[state + 1]
    targets = np.full(n_symbols, SEVERAL, np.int64)
    n_steps = n_symbols if n_states <= _FEW_STATES else 0
    keeps = np.empty((n_steps, n_states + 1), np.int64)
    stays = np.empty((n_steps, n_states + 1), np.int64)
    _find_steps(machine, targets, keeps, stays)
    symbols = rows.symbols
    for unit in range(begin, end):
        base = unit * n_places
        row, last = units.first[unit], units.end[unit]
        final = store.numbers[base + n_states, 0]
        is_small = store.numbers[base + n_states, 1] == 0 and 0 <= final < _MOST
        values[0] = 1
        for state in range(n_states):
            values[state + 1] = store.numbers[base + state, 0]
            is_small = is_small and store.numbers[base + state, 1] == 0 and store.numbers[base + state, 2] == 0
            is_small = is_small and 0 <= values[state + 1] < _MOST
        if not is_small:
            continue
        stop = row
        while row < last:
            if row >= stop:
                if budget[GIVEN_UP]:
                    break
                stop = row + LOOK
            symbol = symbols[row]
            target = targets[symbol]
            if target == SEVERAL:
                found = _count_several(machine, symbol, values, fresh, is_end, final)
                if found < 0:
                    break
                final = found
                row += 1
                continue
            total = np.int64(0)
            # Every value is below 2^61, so that no sum of two, nor of a sum below 2^61 and one, leaves 64 bits.
            for state in range(n_states + 1):
                total += values[state] * keeps[symbol, state]
                if total >= _MOST:
                    break
            if total + values[target] >= _MOST or final >= _MOST:
                break
            for state in range(n_states + 1):
                values[state] *= stays[symbol, state]
            values[target] += total
            final += total * is_end[target]
            row += 1
        reached[unit] = row
        for state in range(n_states):
            store.numbers[base + state, 0] = values[state + 1]
        if machine.semantics != ANY:
            store.numbers[base + n_states, 0] = final


@inlined
def _scale_down(values, rests, is_first, n_states):
    """Whether all numbers could be scaled down together."""
    for state in range(1, n_states + 1):
        if values[state] < _SMALL and (values[state] != 0.0 or is_first[state]):
            return False
    for state in range(1, n_states + 1):
        values[state] *= _DOWN
        rests[state] *= _DOWN
    values[0] *= _DOWN
    return True


@njit(cache=True, nogil=True)
def count_log(units, rows, machine, store, reached, begin, end, budget):
    """The same by pairs of doubles, for skip-till-any-match."""
    n_states = machine.n_states
    n_places = n_states + machine.n_kinds
    values, rests = np.empty(n_states + 1, np.float64), np.zeros(n_states + 1, np.float64)
    fresh, fresh_rests = np.empty(n_states + 1, np.float64), np.empty(n_states + 1, np.float64)
    is_first = np.zeros(n_states + 1, np.bool_)
    for state in range(1, n_states + 1):
        for edge in range(machine.edge_offsets[state], machine.edge_offsets[state + 1]):
            is_first[state] = is_first[state] or machine.edge_sources[edge] == 0
    for unit in range(begin, end):
        base = unit * n_places
        row, last = units.first[unit], units.end[unit]
        exponent = 0.0
        is_alike = True
        values[0] = 1.0
        for state in range(n_states):
            values[state + 1] = store.numbers[base + state, 0]
            rests[state + 1] = store.numbers[base + state, 1]
            # What was scaled before may be far apart: then it stays with the general kernel.
            is_alike = is_alike and store.numbers[base + state, 2] == 0.0
        look = row
        while row < last and is_alike:
            if row >= look:
                if budget[GIVEN_UP]:
                    break
                look = row + LOOK
            symbol = rows.symbols[row]
            low, high = machine.symbol_offsets[symbol], machine.symbol_offsets[symbol + 1]
            is_large = False
            for place in range(low, high):
                state = machine.symbol_states[place]
                total, rest = 0.0, 0.0
                for edge in range(machine.edge_offsets[state], machine.edge_offsets[state + 1]):
                    value = values[machine.edge_sources[edge]]
                    result = total + value
                    part = result - total
                    rest += ((total - (result - part)) + (value - part)) + rests[machine.edge_sources[edge]]
                    total = result
                fresh[place - low] = total
                fresh_rests[place - low] = rest
            for place in range(low, high):
                state = machine.symbol_states[place]
                value, total = values[state], fresh[place - low]
                result = value + total
                part = result - value
                rest = ((value - (result - part)) + (total - part)) + rests[state] + fresh_rests[place - low]
                values[state] = result + rest
                rests[state] = rest - (values[state] - result)
                is_large = is_large or values[state] >= _LARGE
            row += 1
            if is_large:
                is_alike = _scale_down(values, rests, is_first, n_states)
                exponent += 1.0 if is_alike else 0.0
        reached[unit] = row
        for state in range(1, n_states + 1):
            power = exponent
            if values[state] >= _LARGE:
                values[state] *= _DOWN
                rests[state] *= _DOWN
                power += 1.0
            elif 0.0 < values[state] < 1.0 / _LARGE:
                values[state] /= _DOWN
                rests[state] /= _DOWN
                power -= 1.0
            store.numbers[base + state - 1, 0] = values[state]
            store.numbers[base + state - 1, 1] = rests[state]
            store.numbers[base + state - 1, 2] = power if values[state] != 0.0 else 0.0
