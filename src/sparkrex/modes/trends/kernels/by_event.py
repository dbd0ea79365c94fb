"""Trends by event: the general search, which compares an event with every one that it may follow.

What has come to a state is kept apart for every last event, an *entry*: the paper's event-grained aggregates, under all
semantics, with comparisons and with negation. The entries of negated parts have the latest beginning of a trend of the
part that ends there. A part has a trend between two events iff the latest beginning of those that ended before the
later event (`marks`) comes after the earlier event: so one number per part decides. Times are numbers of different
times in the unit, from 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from sparkrex.kernels.inlined import inlined
from sparkrex.kernels.lazy import njit
from sparkrex.kernels.null_key import NULL_KEY
from sparkrex.modes.trends.kernels.machine import (
    ANY,
    CONTIGUOUS,
    EQUAL,
    GIVEN_UP,
    GREATER,
    GREATER_OR_EQUAL,
    LESS,
    LESS_OR_EQUAL,
    NEXT,
)
from sparkrex.modes.trends.kernels.places import (
    Store,
    add_place,
    begin_place,
    bind_place,
    clear_place,
    copy_place,
    has_trends,
)


class Entries(NamedTuple):
    """Entries: the time and the row of the last event, its state, and the trends that end with it.

    A state above those of the automaton is an end, by its number: trends that may still be rejected by what follows.
    `latest` is for negated parts; `is_over` for entries that nothing can follow any more.
    """

    time: Any
    row: Any
    state: Any
    latest: Any
    is_over: Any
    store: Store


@inlined
def meets(pairs, pair, before, after):
    """Whether two rows meet the comparisons of a pair of variables; -1 has none."""
    if pair < 0:
        return True
    for comparison in range(pairs.offsets[pair], pairs.offsets[pair + 1]):
        left, right = pairs.left[comparison, before], pairs.right[comparison, after]
        if left == NULL_KEY or right == NULL_KEY:
            return False
        operator = pairs.operators[comparison]
        if operator == LESS:
            holds = left < right
        elif operator == LESS_OR_EQUAL:
            holds = left <= right
        elif operator == GREATER:
            holds = left > right
        elif operator == GREATER_OR_EQUAL:
            holds = left >= right
        elif operator == EQUAL:
            holds = left == right
        else:
            holds = left != right
        if not holds:
            return False
    return True


@inlined
def is_clear(marks, base, needs_open, needs_blocked, time):
    """Whether negated parts have no trend since a time, or have one, as they must."""
    part = 0
    while needs_open >> part:
        if needs_open >> part & 1 and marks[base + part] > time:
            return False
        part += 1
    part = 0
    while needs_blocked >> part:
        if needs_blocked >> part & 1 and marks[base + part] <= time:
            return False
        part += 1
    return True


@inlined
def _extend(entries, n_entries, at, machine, pairs, shape, marks, part_base, one, state, row, now, begins_only):
    """In the entry `at`, the trends that an event comes to a state with; its latest beginning for a negated part."""
    clear_place(entries.store, at, shape)
    latest = -1
    is_negated = machine.negated_of[state] >= 0
    for edge in range(machine.edge_offsets[state], machine.edge_offsets[state + 1]):
        source = machine.edge_sources[edge]
        needs_open, needs_blocked = machine.edge_open[edge], machine.edge_blocked[edge]
        if source == 0:
            if is_negated:
                latest = now
            elif is_clear(marks, part_base, needs_open, needs_blocked, -1):
                add_place(entries.store, at, one, 0, shape)
        elif not begins_only:
            pair = machine.edge_pairs[edge]
            for entry in range(n_entries):
                if entries.state[entry] != source or entries.is_over[entry]:
                    continue
                if not meets(pairs, pair, entries.row[entry], row):
                    continue
                if is_negated:
                    latest = max(latest, entries.latest[entry])
                elif is_clear(marks, part_base, needs_open, needs_blocked, entries.time[entry]):
                    add_place(entries.store, at, entries.store, entry, shape)
    entries.time[at] = now
    entries.row[at] = row
    entries.state[at] = state
    entries.latest[at] = latest
    entries.is_over[at] = False


@inlined
def _end(entries, at, free, machine, shape, store, base, fresh_marks):
    """Count what ends with an entry, now or in an entry of its own from `free` on; returns the next free one."""
    state = entries.state[at]
    part = machine.negated_of[state]
    if part >= 0:
        if machine.end_offsets[state] < machine.end_offsets[state + 1]:
            fresh_marks[part] = max(fresh_marks[part], entries.latest[at])
        return free
    for end in range(machine.end_offsets[state], machine.end_offsets[state + 1]):
        if machine.end_open[end] == 0 and machine.end_blocked[end] == 0:
            add_place(store, base + machine.end_kinds[end], entries.store, at, shape)
        else:
            copy_place(entries.store, free, entries.store, at, shape)
            entries.time[free] = entries.time[at]
            entries.row[free] = -1
            entries.state[free] = machine.n_states + 1 + end
            entries.latest[free] = -1
            entries.is_over[free] = True
            free += 1
    return free


@inlined
def _close(entries, n_entries, machine, pairs, rows, first, last):
    """Entries that a relevant event has come after are over."""
    for row in range(first, last):
        symbol = rows.symbols[row]
        for entry in range(n_entries):
            if entries.is_over[entry] or not machine.closes[symbol, entries.state[entry]]:
                continue
            for place in range(machine.variable_offsets[symbol], machine.variable_offsets[symbol + 1]):
                pair = machine.closer_pairs[entries.state[entry], machine.symbol_variables[place]]
                if pair > -2 and meets(pairs, pair, entries.row[entry], row):
                    entries.is_over[entry] = True
                    break


@inlined
def copy_entry(entries, at, other, of, shape):
    """The same entry."""
    entries.time[at] = other.time[of]
    entries.row[at] = other.row[of]
    entries.state[at] = other.state[of]
    entries.latest[at] = other.latest[of]
    entries.is_over[at] = other.is_over[of]
    copy_place(entries.store, at, other.store, of, shape)


@inlined
def _drop_over(entries, n_entries, machine, shape):
    """Without the entries that are over and not ends; returns how many are left."""
    n_left = 0
    for entry in range(n_entries):
        if entries.is_over[entry] and entries.state[entry] <= machine.n_states:
            continue
        if n_left < entry:
            copy_entry(entries, n_left, entries, entry, shape)
        n_left += 1
    return n_left


@inlined
def _advance(
    entries, n_entries, machine, pairs, shape, weights, rows, first, last, now, one, store, base, marks, part_base,
    fresh_marks,
):
    """The events of one time, `now`; returns how many entries there are then."""
    for part in range(len(fresh_marks)):
        fresh_marks[part] = -1
    is_contiguous = machine.semantics == CONTIGUOUS
    free = n_entries
    for row in range(first, last):
        symbol = rows.symbols[row]
        for place in range(machine.symbol_offsets[symbol], machine.symbol_offsets[symbol + 1]):
            state = machine.symbol_states[place]
            at = free
            _extend(entries, n_entries, at, machine, pairs, shape, marks, part_base, one, state, row, now, False)
            bind_place(entries.store, at, shape, weights, machine.variable_of[state], row)
            if entries.latest[at] < 0 and not has_trends(entries.store, at, shape):
                continue
            free = _end(entries, at, at + 1, machine, shape, store, base, fresh_marks)
            if is_contiguous and last > first + 1:
                # One of several events of a time cannot lie inside a trend: only what begins with it goes on.
                _extend(entries, n_entries, at, machine, pairs, shape, marks, part_base, one, state, row, now, True)
                bind_place(entries.store, at, shape, weights, machine.variable_of[state], row)
    if machine.semantics == NEXT:
        _close(entries, n_entries, machine, pairs, rows, first, last)
    elif is_contiguous:
        for entry in range(n_entries):
            entries.is_over[entry] = True
    for part in range(len(fresh_marks)):
        marks[part_base + part] = max(marks[part_base + part], fresh_marks[part])
    return free


@njit(cache=True, nogil=True)
def advance_by_event(
    units, rows, machine, pairs, shape, weights, store, clock, marks, held, held_offsets, entries, one, fresh_marks,
    kept, kept_first, n_kept, begin, end, budget,
):
    """Advance the units from `begin` to `end` by their rows.

    `store` has a place per class of trends for each unit, `clock` how many times it has seen, `marks` a number per
    negated part. `held` are entries from before, cut by `held_offsets`; those that are left are written to `kept` from
    `kept_first[unit]` on, and counted in `n_kept`. `entries` is room for those of one unit, `one` for a place,
    `fresh_marks` for a number per negated part. Returns whether it came to its end.
    """
    begin_place(one, 0, shape)
    n_parts = len(fresh_marks)
    for unit in range(begin, end):
        base, part_base = unit * machine.n_kinds, unit * n_parts
        n_entries = held_offsets[unit + 1] - held_offsets[unit]
        for entry in range(n_entries):
            copy_entry(entries, entry, held, held_offsets[unit] + entry, shape)
        n_live = n_entries
        row, last = units.first[unit], units.end[unit]
        while row < last:
            if budget[GIVEN_UP]:
                return False
            following = row + 1
            if rows.has_ties:
                while following < last and rows.tied[following]:
                    following += 1
            n_entries = _advance(
                entries, n_entries, machine, pairs, shape, weights, rows, row, following, clock[unit], one, store, base,
                marks, part_base, fresh_marks,
            )
            # What is over goes when it may be half of all: so that every entry is moved a few times at most.
            if machine.semantics != ANY and n_entries > 2 * n_live + 8:
                n_entries = n_live = _drop_over(entries, n_entries, machine, shape)
            clock[unit] += 1
            row = following
        if units.closes[unit]:
            for entry in range(n_entries):
                state = entries.state[entry]
                if state <= machine.n_states:
                    continue
                stop = state - machine.n_states - 1
                is_left = is_clear(
                    marks, part_base, machine.end_open[stop], machine.end_blocked[stop], entries.time[entry]
                )
                if is_left:
                    add_place(store, base + machine.end_kinds[stop], entries.store, entry, shape)
            n_kept[unit] = 0
            continue
        n_entries = _drop_over(entries, n_entries, machine, shape)
        for entry in range(n_entries):
            copy_entry(kept, kept_first[unit] + entry, entries, entry, shape)
        n_kept[unit] = n_entries
    return True
