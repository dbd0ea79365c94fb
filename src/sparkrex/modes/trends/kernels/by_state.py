"""Trends by state: without comparisons of adjacent events and without negation.

One place per state is enough. Under skip-till-any-match it has all trends that have come to the state (the paper's
Algorithm 1, type-grained); under skip-till-next-match those whose last event is open, that is no relevant event has
come after it; under contiguous semantics those that the last event has come to (Algorithm 3, with one place per state).
An event reads the places as they were before it, so it is never its own predecessor; events of one time read them as
they were before all of them.
"""

from __future__ import annotations

from sparkrex.kernels.inlined import inlined
from sparkrex.kernels.lazy import njit
from sparkrex.modes.trends.kernels.machine import ANY, CONTIGUOUS, GIVEN_UP, LOOK, NEXT
from sparkrex.modes.trends.kernels.places import add_place, begin_place, bind_place, clear_place


@inlined
def _extend(store, base, machine, shape, weights, fresh, at, state, row):
    """In the place `at` of `fresh`, the trends that an event comes to a state with."""
    clear_place(fresh, at, shape)
    for edge in range(machine.edge_offsets[state], machine.edge_offsets[state + 1]):
        source = machine.edge_sources[edge]
        if source == 0:
            add_place(fresh, at, fresh, 0, shape)
        else:
            add_place(fresh, at, store, base + source - 1, shape)
    bind_place(fresh, at, shape, weights, machine.variable_of[state], row)


@inlined
def _begin(machine, shape, weights, fresh, at, state, row):
    """In the place `at` of `fresh`, the trends that begin with an event in a state."""
    clear_place(fresh, at, shape)
    for edge in range(machine.edge_offsets[state], machine.edge_offsets[state + 1]):
        if machine.edge_sources[edge] == 0:
            add_place(fresh, at, fresh, 0, shape)
    bind_place(fresh, at, shape, weights, machine.variable_of[state], row)


@inlined
def _end(store, base, machine, shape, fresh, at, state):
    """Trends that end in a state are counted."""
    for end in range(machine.end_offsets[state], machine.end_offsets[state + 1]):
        add_place(store, base + machine.n_states + machine.end_kinds[end], fresh, at, shape)


@inlined
def _close(store, base, machine, shape, symbol):
    for state in range(1, machine.n_states + 1):
        if machine.closes[symbol, state]:
            clear_place(store, base + state - 1, shape)


@inlined
def _advance_one(store, base, machine, shape, weights, fresh, row, symbol):
    """One event at its time."""
    first, last = machine.symbol_offsets[symbol], machine.symbol_offsets[symbol + 1]
    for place in range(first, last):
        _extend(store, base, machine, shape, weights, fresh, 2 + place - first, machine.symbol_states[place], row)
    if machine.semantics == NEXT:
        _close(store, base, machine, shape, symbol)
    elif machine.semantics == CONTIGUOUS:
        for state in range(machine.n_states):
            clear_place(store, base + state, shape)
    for place in range(first, last):
        state, at = machine.symbol_states[place], 2 + place - first
        add_place(store, base + state - 1, fresh, at, shape)
        if machine.semantics != ANY:
            _end(store, base, machine, shape, fresh, at, state)


@inlined
def _advance_tied(store, base, machine, shape, weights, fresh, rows, first, end):
    """Events of one time. None follows another; under contiguous semantics none can lie inside a trend, since the
    others would be passed over: what goes on begins with them."""
    for state in range(machine.n_states):
        clear_place(fresh, 2 + state, shape)
    for row in range(first, end):
        symbol = rows.symbols[row]
        for place in range(machine.symbol_offsets[symbol], machine.symbol_offsets[symbol + 1]):
            state = machine.symbol_states[place]
            _extend(store, base, machine, shape, weights, fresh, 1, state, row)
            if machine.semantics != ANY:
                _end(store, base, machine, shape, fresh, 1, state)
            if machine.semantics == CONTIGUOUS:
                _begin(machine, shape, weights, fresh, 1, state, row)
            add_place(fresh, 1 + state, fresh, 1, shape)
    if machine.semantics == NEXT:
        for row in range(first, end):
            _close(store, base, machine, shape, rows.symbols[row])
    for state in range(machine.n_states):
        if machine.semantics == CONTIGUOUS:
            clear_place(store, base + state, shape)
        add_place(store, base + state, fresh, 2 + state, shape)


@njit(cache=True, nogil=True)
def advance_by_state(units, rows, machine, shape, weights, store, fresh, begin, end, budget):
    """Advance the units from `begin` to `end` by their rows.

    `store` has, for each unit, a place per state and one per class of trends. `fresh` is room for two places and one
    per state. Returns whether it came to its end.
    """
    begin_place(fresh, 0, shape)
    n_places = machine.n_states + machine.n_kinds
    for unit in range(begin, end):
        base = unit * n_places
        row, last = units.first[unit], units.end[unit]
        look = row
        while row < last:
            if row >= look:
                if budget[GIVEN_UP]:
                    return False
                look = row + LOOK
            following = row + 1
            if rows.has_ties:
                while following < last and rows.tied[following]:
                    following += 1
            if following == row + 1:
                symbol = rows.symbols[row]
                is_inert = machine.symbol_offsets[symbol] == machine.symbol_offsets[symbol + 1]
                # An event that comes to no state may still be relevant, or lie between others.
                if not is_inert or machine.semantics != ANY:
                    _advance_one(store, base, machine, shape, weights, fresh, row, symbol)
            else:
                _advance_tied(store, base, machine, shape, weights, fresh, rows, row, following)
            row = following
        if machine.semantics == ANY and units.closes[unit]:
            for state in range(1, machine.n_states + 1):
                _end(store, base, machine, shape, store, base + state - 1, state)
    return True
