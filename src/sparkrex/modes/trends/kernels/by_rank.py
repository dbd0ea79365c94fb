"""Trends by rank: skip-till-any-match where adjacent events are compared by one comparison each, without negation.

The events that may precede one are those whose value is below, above or equal to its own. Trends are kept in Fenwick
trees over the ranks of values in the unit, so that an event adds up and enters its trends in a logarithm of the
number of events, where the paper's Algorithm 2 scans them. A tree has one state and one side of one comparison. Nothing
is ever subtracted: `<>` is below or above, each a tree of its own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from sparkrex.kernels.inlined import inlined
from sparkrex.kernels.lazy import njit
from sparkrex.kernels.null_key import NULL_KEY
from sparkrex.modes.trends.kernels.by_event import copy_entry
from sparkrex.modes.trends.kernels.machine import GIVEN_UP, GREATER_OR_EQUAL, LESS_OR_EQUAL
from sparkrex.modes.trends.kernels.places import add_place, begin_place, bind_place, clear_place, has_trends
from sparkrex.modes.trends.kernels.ranks import lower_bound, sort_keys, upper_bound

BELOW, ABOVE, SAME = 0, 1, 2
"""Sides: what is summed from the lowest rank on, from the highest on, or of one rank."""


class Trees(NamedTuple):
    """Which trees there are: state, comparison and side of each. Those of a state are cut by `offsets`.

    `first_of[edge]` and `second_of[edge]` are the trees that an edge reads, -1 for none.
    """

    offsets: Any
    comparison: Any
    side: Any
    first_of: Any
    second_of: Any


@inlined
def _add_up(tree_store, base, length, fresh, at, shape):
    """Add the first `length` ranks of a tree."""
    place = length
    while place > 0:
        add_place(fresh, at, tree_store, base + place - 1, shape)
        place &= place - 1


@inlined
def _read_tree(trees, tree, tree_store, base, keys, n_keys, key, operator, fresh, at, shape):
    """Add the trends of a tree whose values stand to a later event's value, `key`, as the operator says."""
    side = trees.side[tree]
    if side == SAME:
        place = lower_bound(keys, n_keys, key)
        if place < n_keys and keys[place] == key:
            add_place(fresh, at, tree_store, base + place, shape)
    elif side == BELOW:
        is_inclusive = operator == LESS_OR_EQUAL
        length = upper_bound(keys, n_keys, key) if is_inclusive else lower_bound(keys, n_keys, key)
        _add_up(tree_store, base, length, fresh, at, shape)
    else:
        is_inclusive = operator == GREATER_OR_EQUAL
        length = n_keys - (lower_bound(keys, n_keys, key) if is_inclusive else upper_bound(keys, n_keys, key))
        _add_up(tree_store, base, length, fresh, at, shape)


@inlined
def _enter(trees, pairs, tree_store, n_room, keys, n_keys, entries, entry, shape):
    """Enter the trends of an entry into the trees of its state."""
    state = entries.state[entry]
    for tree in range(trees.offsets[state], trees.offsets[state + 1]):
        comparison = trees.comparison[tree]
        key = pairs.left[comparison, entries.row[entry]]
        if key == NULL_KEY:
            continue
        n_known = n_keys[comparison]
        place = lower_bound(keys[comparison], n_known, key)
        base = tree * n_room
        if trees.side[tree] == SAME:
            add_place(tree_store, base + place, entries.store, entry, shape)
            continue
        if trees.side[tree] == ABOVE:
            place = n_known - 1 - place
        place += 1
        while place <= n_known:
            add_place(tree_store, base + place - 1, entries.store, entry, shape)
            place += place & -place


@inlined
def _extend(store, base, machine, pairs, trees, tree_store, n_room, keys, n_keys, shape, one, entries, at, state, row):
    """In the entry `at`, the trends that an event comes to a state with."""
    clear_place(entries.store, at, shape)
    for edge in range(machine.edge_offsets[state], machine.edge_offsets[state + 1]):
        source = machine.edge_sources[edge]
        if source == 0:
            add_place(entries.store, at, one, 0, shape)
        elif machine.edge_pairs[edge] < 0:
            add_place(entries.store, at, store, base + source - 1, shape)
        else:
            comparison = pairs.offsets[machine.edge_pairs[edge]]
            key = pairs.right[comparison, row]
            if key == NULL_KEY:
                continue
            operator = pairs.operators[comparison]
            tree = trees.first_of[edge]
            _read_tree(
                trees, tree, tree_store, tree * n_room, keys[comparison], n_keys[comparison], key, operator,
                entries.store, at, shape,
            )
            tree = trees.second_of[edge]
            if tree >= 0:
                _read_tree(
                    trees, tree, tree_store, tree * n_room, keys[comparison], n_keys[comparison], key, operator,
                    entries.store, at, shape,
                )
    entries.row[at] = row
    entries.state[at] = state


@njit(cache=True, nogil=True)
def advance_by_rank(
    units, rows, machine, pairs, shape, weights, trees, store, held, held_offsets, entries, one, tree_store, n_room,
    keys, n_keys, room, kept, kept_first, n_kept, begin, end, budget,
):
    """Advance the units from `begin` to `end` by their rows.

    `store` has, for each unit, a place per state and one per class of trends. `held` are entries from before, cut by
    `held_offsets`; of units that do not close, all entries of states with trees are written to `kept` from
    `kept_first[unit]` on. `tree_store` is room for `n_room` places per tree, `keys` for so many keys per comparison,
    `room` for as many. Returns whether it came to its end.
    """
    begin_place(one, 0, shape)
    n_places = machine.n_states + machine.n_kinds
    for unit in range(begin, end):
        base = unit * n_places
        row, last = units.first[unit], units.end[unit]
        n_held = held_offsets[unit + 1] - held_offsets[unit]
        for comparison in range(len(n_keys)):
            for entry in range(n_held):
                keys[comparison, entry] = pairs.left[comparison, held.row[held_offsets[unit] + entry]]
            for place in range(row, last):
                keys[comparison, n_held + place - row] = pairs.left[comparison, place]
            n_keys[comparison] = sort_keys(keys[comparison], n_held + last - row, room)
        for tree in range(len(trees.comparison)):
            for place in range(n_keys[trees.comparison[tree]]):
                clear_place(tree_store, tree * n_room + place, shape)
        n_entries = 0
        for entry in range(n_held):
            copy_entry(entries, 0, held, held_offsets[unit] + entry, shape)
            _enter(trees, pairs, tree_store, n_room, keys, n_keys, entries, 0, shape)
            if not units.closes[unit]:
                copy_entry(kept, kept_first[unit] + n_entries, entries, 0, shape)
                n_entries += 1
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
                        store, base, machine, pairs, trees, tree_store, n_room, keys, n_keys, shape, one, entries,
                        n_new, state, event,
                    )
                    bind_place(entries.store, n_new, shape, weights, machine.variable_of[state], event)
                    if has_trends(entries.store, n_new, shape):
                        n_new += 1
            for entry in range(n_new):
                state = entries.state[entry]
                add_place(store, base + state - 1, entries.store, entry, shape)
                for stop in range(machine.end_offsets[state], machine.end_offsets[state + 1]):
                    kind = machine.end_kinds[stop]
                    add_place(store, base + machine.n_states + kind, entries.store, entry, shape)
                if trees.offsets[state] == trees.offsets[state + 1]:
                    continue
                _enter(trees, pairs, tree_store, n_room, keys, n_keys, entries, entry, shape)
                if not units.closes[unit]:
                    entries.time[entry] = 0
                    entries.latest[entry] = -1
                    entries.is_over[entry] = False
                    copy_entry(kept, kept_first[unit] + n_entries, entries, entry, shape)
                    n_entries += 1
            row = following
        n_kept[unit] = n_entries
    return True
