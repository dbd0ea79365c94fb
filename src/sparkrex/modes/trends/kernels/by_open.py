"""Trends by open event: skip-till-next-match where adjacent events are compared by one comparison each, no negation.

An event is *open* until a relevant one comes after it. The open events of a state are told apart by the value that all
comparisons with later events read of them, and those of one value are one place. A later event that is compared takes
the places of a range of values, which then are over: so every place is read about once. Which places are taken is found
by bits, 64 places at a time on three levels.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sparkrex.kernels.inlined import inlined
from sparkrex.kernels.lazy import njit
from sparkrex.kernels.null_key import NULL_KEY
from sparkrex.modes.trends.kernels.by_event import copy_entry
from sparkrex.modes.trends.kernels.machine import (
    EQUAL,
    GIVEN_UP,
    GREATER,
    GREATER_OR_EQUAL,
    LESS,
    LESS_OR_EQUAL,
)
from sparkrex.modes.trends.kernels.places import add_place, begin_place, bind_place, clear_place, has_trends
from sparkrex.modes.trends.kernels.ranks import lower_bound, sort_keys, upper_bound

_ONE = np.uint64(1)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_SIX = np.uint64(6)


class OpenPlaces(NamedTuple):
    """Open events: the comparison whose earlier side tells those of a state apart (-1: none), and room for them.

    A state has `n_room` places in `store`, the last for events without a value; `row` has an event of each. `low` has a
    bit for each place that is taken, `middle` one for each word of `low` that is not zero, `high` likewise.
    """

    column_of: Any
    store: Any
    row: Any
    low: Any
    middle: Any
    high: Any


@inlined
def _lowest_bit(word):
    """The number of the lowest bit of a word that is not zero."""
    count = 0
    while word & np.uint64(0xFF) == np.uint64(0):
        word >>= np.uint64(8)
        count += 8
    while word & _ONE == np.uint64(0):
        word >>= _ONE
        count += 1
    return count


@inlined
def _take(opened, state, place):
    opened.low[state, place >> 6] |= _ONE << np.uint64(place & 63)
    opened.middle[state, place >> 12] |= _ONE << np.uint64(place >> 6 & 63)
    opened.high[state, place >> 18] |= _ONE << np.uint64(place >> 12 & 63)


@inlined
def _free(opened, state, place):
    opened.low[state, place >> 6] &= ~(_ONE << np.uint64(place & 63))
    if opened.low[state, place >> 6] == np.uint64(0):
        opened.middle[state, place >> 12] &= ~(_ONE << np.uint64(place >> 6 & 63))
        if opened.middle[state, place >> 12] == np.uint64(0):
            opened.high[state, place >> 18] &= ~(_ONE << np.uint64(place >> 12 & 63))


@inlined
def _next_taken(opened, state, place, end):
    """The first taken place of a state from `place` on; `end` if there is none before it."""
    while place < end:
        word = opened.low[state, place >> 6] & (_ALL << np.uint64(place & 63))
        if word != np.uint64(0):
            return min(end, (place >> 6 << 6) + _lowest_bit(word))
        place = (place >> 6) + 1  # a word of the level below; look for the next that is not zero
        if place << 6 >= end:
            return end
        word = opened.middle[state, place >> 6] & (_ALL << np.uint64(place & 63)) if place & 63 else np.uint64(0)
        if place & 63 and word != np.uint64(0):
            place = ((place >> 6 << 6) + _lowest_bit(word)) << 6
            continue
        block = (place + 63) >> 6  # a word of the middle level
        while block << 12 < end:
            word = opened.high[state, block >> 6] & (_ALL << np.uint64(block & 63))
            if word != np.uint64(0):
                block = (block >> 6 << 6) + _lowest_bit(word)
                break
            block = (block >> 6) + 1 << 6
        if block << 12 >= end:
            return end
        place = ((block << 6) + _lowest_bit(opened.middle[state, block])) << 6
    return end


@inlined
def _ranges(pairs, pair, keys, n_keys, row, n_room, bounds):
    """In `bounds`, the two ranges of places that a later event is compared with successfully; the second may be empty.

    Without comparisons that is all of them.
    """
    bounds[0], bounds[1], bounds[2], bounds[3] = 0, n_room, 0, 0
    if pair < 0:
        return
    comparison = pairs.offsets[pair]
    key = pairs.right[comparison, row]
    operator = pairs.operators[comparison]
    bounds[1] = 0
    if key == NULL_KEY:
        return
    n_known = n_keys[comparison]
    low = lower_bound(keys[comparison], n_known, key)
    high = upper_bound(keys[comparison], n_known, key)
    if operator == LESS:
        bounds[1] = low
    elif operator == LESS_OR_EQUAL:
        bounds[1] = high
    elif operator == GREATER:
        bounds[0], bounds[1] = high, n_known
    elif operator == GREATER_OR_EQUAL:
        bounds[0], bounds[1] = low, n_known
    elif operator == EQUAL:
        bounds[0], bounds[1] = low, high
    else:
        bounds[1], bounds[2], bounds[3] = low, high, n_known


@inlined
def _enter(opened, pairs, keys, n_keys, n_room, entries, entry, shape):
    """An event is open."""
    state = entries.state[entry]
    column = opened.column_of[state]
    place = 0
    if column >= 0:
        key = pairs.left[column, entries.row[entry]]
        place = n_room - 1 if key == NULL_KEY else lower_bound(keys[column], n_keys[column], key)
    at = state * n_room + place
    if not opened.low[state, place >> 6] >> np.uint64(place & 63) & _ONE:
        clear_place(opened.store, at, shape)
        _take(opened, state, place)
    opened.row[at] = entries.row[entry]
    add_place(opened.store, at, entries.store, entry, shape)


@inlined
def _extend(machine, pairs, opened, keys, n_keys, n_room, shape, one, entries, at, state, row, bounds):
    """In the entry `at`, the trends that an event comes to a state with."""
    clear_place(entries.store, at, shape)
    for edge in range(machine.edge_offsets[state], machine.edge_offsets[state + 1]):
        source = machine.edge_sources[edge]
        if source == 0:
            add_place(entries.store, at, one, 0, shape)
            continue
        _ranges(pairs, machine.edge_pairs[edge], keys, n_keys, row, n_room, bounds)
        for part in range(2):
            place = _next_taken(opened, source, bounds[2 * part], bounds[2 * part + 1])
            while place < bounds[2 * part + 1]:
                add_place(entries.store, at, opened.store, source * n_room + place, shape)
                place = _next_taken(opened, source, place + 1, bounds[2 * part + 1])
    entries.row[at] = row
    entries.state[at] = state


@inlined
def _close(machine, pairs, opened, keys, n_keys, n_room, symbol, row, bounds):
    """Events that a relevant one has come after are over."""
    for state in range(1, machine.n_states + 1):
        if not machine.closes[symbol, state]:
            continue
        for inside in range(machine.variable_offsets[symbol], machine.variable_offsets[symbol + 1]):
            pair = machine.closer_pairs[state, machine.symbol_variables[inside]]
            if pair < -1:
                continue
            _ranges(pairs, pair, keys, n_keys, row, n_room, bounds)
            for part in range(2):
                place = _next_taken(opened, state, bounds[2 * part], bounds[2 * part + 1])
                while place < bounds[2 * part + 1]:
                    _free(opened, state, place)
                    place = _next_taken(opened, state, place + 1, bounds[2 * part + 1])


@njit(cache=True, nogil=True)
def advance_by_open(
    units, rows, machine, pairs, shape, weights, store, held, held_offsets, entries, one, opened, n_room, keys, n_keys,
    room, bounds, kept, kept_first, n_kept, begin, end, budget,
):
    """Advance the units from `begin` to `end` by their rows.

    `store` has a place per class of trends for each unit. `held` are open events from before, cut by `held_offsets`; of
    units that do not close, those that are left are written to `kept` from `kept_first[unit]` on. `opened` has
    `n_room` places per state, `keys` room for so many keys per comparison, `room` for as many, `bounds` for four
    numbers. Returns whether it came to its end.
    """
    begin_place(one, 0, shape)
    for unit in range(begin, end):
        base = unit * machine.n_kinds
        row, last = units.first[unit], units.end[unit]
        n_held = held_offsets[unit + 1] - held_offsets[unit]
        for comparison in range(len(n_keys)):
            for entry in range(n_held):
                keys[comparison, entry] = pairs.left[comparison, held.row[held_offsets[unit] + entry]]
            for place in range(row, last):
                keys[comparison, n_held + place - row] = pairs.left[comparison, place]
            n_keys[comparison] = sort_keys(keys[comparison], n_held + last - row, room)
        for state in range(machine.n_states + 1):
            # What the unit before has left open.
            place = _next_taken(opened, state, 0, n_room)
            while place < n_room:
                _free(opened, state, place)
                place = _next_taken(opened, state, place + 1, n_room)
        for entry in range(n_held):
            copy_entry(entries, 0, held, held_offsets[unit] + entry, shape)
            _enter(opened, pairs, keys, n_keys, n_room, entries, 0, shape)
        while row < last:
            if budget[GIVEN_UP]:
                return False
            following = row + 1
            if rows.has_ties:
                while following < last and rows.tied[following]:
                    following += 1
            n_new = 0
            for event in range(row, following):
                symbol = rows.symbols[event]
                for place in range(machine.symbol_offsets[symbol], machine.symbol_offsets[symbol + 1]):
                    state = machine.symbol_states[place]
                    _extend(
                        machine, pairs, opened, keys, n_keys, n_room, shape, one, entries, n_new, state, event, bounds
                    )
                    bind_place(entries.store, n_new, shape, weights, machine.variable_of[state], event)
                    if has_trends(entries.store, n_new, shape):
                        n_new += 1
            for event in range(row, following):
                _close(machine, pairs, opened, keys, n_keys, n_room, rows.symbols[event], event, bounds)
            for entry in range(n_new):
                state = entries.state[entry]
                for stop in range(machine.end_offsets[state], machine.end_offsets[state + 1]):
                    add_place(store, base + machine.end_kinds[stop], entries.store, entry, shape)
                _enter(opened, pairs, keys, n_keys, n_room, entries, entry, shape)
            row = following
        n_kept[unit] = 0
        if units.closes[unit]:
            continue
        for state in range(1, machine.n_states + 1):
            place = _next_taken(opened, state, 0, n_room)
            while place < n_room:
                at = kept_first[unit] + n_kept[unit]
                kept.time[at] = 0
                kept.latest[at] = -1
                kept.is_over[at] = False
                kept.state[at] = state
                kept.row[at] = opened.row[state * n_room + place]
                clear_place(kept.store, at, shape)
                add_place(kept.store, at, opened.store, state * n_room + place, shape)
                n_kept[unit] += 1
                place = _next_taken(opened, state, place + 1, n_room)
    return True
