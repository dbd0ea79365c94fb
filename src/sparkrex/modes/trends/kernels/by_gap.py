"""Trends by state and gap: with negation, without comparisons of adjacent events.

A negated part has a trend between two events iff the latest beginning of its trends that have ended, its *mark*, comes
after the earlier event. So what has come to a state is kept apart by when its last event came, no finer than marks can
tell: they can only become the latest beginnings in the states of negated parts. Between those, and the marks there are,
lie the *gaps*; there is one more of them than states and parts at the most, and gaps that no mark can part any more are
put together. Times are numbers of different times in the unit, from 0.
"""

from __future__ import annotations

from sparkrex.kernels.inlined import inlined
from sparkrex.kernels.lazy import njit
from sparkrex.modes.trends.kernels.by_event import is_clear
from sparkrex.modes.trends.kernels.machine import CONTIGUOUS, GIVEN_UP, NEXT
from sparkrex.modes.trends.kernels.places import add_place, begin_place, bind_place, clear_place, copy_place, has_trends


@inlined
def _extend(store, base, n_gaps, width, stays, gap_starts, gap_base, machine, shape, marks, part_base, one, fresh, at,
            state, begins_only):
    """In the place `at` of `fresh`, the trends that an event comes to a state with."""
    clear_place(fresh, at, shape)
    for edge in range(machine.edge_offsets[state], machine.edge_offsets[state + 1]):
        source = machine.edge_sources[edge]
        needs_open, needs_blocked = machine.edge_open[edge], machine.edge_blocked[edge]
        if source == 0:
            if is_clear(marks, part_base, needs_open, needs_blocked, -1):
                add_place(fresh, at, one, 0, shape)
        elif not begins_only:
            for gap in range(n_gaps):
                if is_clear(marks, part_base, needs_open, needs_blocked, gap_starts[gap_base + gap]):
                    add_place(fresh, at, store, base + gap * width + stays[source], shape)


@inlined
def _latest(latest, latest_base, machine, state, now, begins_only):
    """The latest beginning of a trend of a negated part that an event comes to a state with; -1 for none."""
    found = -1
    for edge in range(machine.edge_offsets[state], machine.edge_offsets[state + 1]):
        source = machine.edge_sources[edge]
        if source == 0:
            found = now
        elif not begins_only:
            found = max(found, latest[latest_base + source])
    return found


@inlined
def _part_gaps(store, base, n_gaps, width, gap_starts, gap_base, latest, latest_base, marks, part_base, n_parts, now,
               machine, shape):
    """Gaps that nothing can part any more are put together; a new one begins where something can. Returns how many
    there are."""
    n_left = 1
    for gap in range(1, n_gaps):
        start = gap_starts[gap_base + gap]
        is_needed = False
        for part in range(n_parts):
            is_needed = is_needed or marks[part_base + part] == start
        for state in range(1, machine.n_states + 1):
            is_needed = is_needed or (machine.negated_of[state] >= 0 and latest[latest_base + state] == start)
        if is_needed:
            if n_left < gap:
                gap_starts[gap_base + n_left] = start
                for place in range(width):
                    copy_place(store, base + n_left * width + place, store, base + gap * width + place, shape)
            n_left += 1
        else:
            for place in range(width):
                add_place(store, base + (n_left - 1) * width + place, store, base + gap * width + place, shape)
    for gap in range(n_left, n_gaps):
        for place in range(width):
            clear_place(store, base + gap * width + place, shape)
    begins = False
    for state in range(1, machine.n_states + 1):
        begins = begins or (machine.negated_of[state] >= 0 and latest[latest_base + state] == now)
    for part in range(n_parts):
        begins = begins or marks[part_base + part] == now
    if begins:
        gap_starts[gap_base + n_left] = now
        n_left += 1
    return n_left


@inlined
def _advance(
    rows, first, last, now, store, base, finals, n_gaps, width, stays, ended, gap_starts, gap_base, latest, latest_base,
    marks, part_base, n_parts, machine, shape, weights, one, fresh, fresh_latest, fresh_marks,
):
    """The events of one time; returns how many gaps there are then.

    `fresh` has a place to work in, then for every state what goes on from it, then what ended in it.
    """
    n_states = machine.n_states
    is_contiguous = machine.semantics == CONTIGUOUS
    is_tied = last > first + 1
    for state in range(1, 2 * n_states + 1):
        clear_place(fresh, state, shape)
    for state in range(n_states + 1):
        fresh_latest[state] = -1
    for part in range(n_parts):
        fresh_marks[part] = -1
    for row in range(first, last):
        symbol = rows.symbols[row]
        for place in range(machine.symbol_offsets[symbol], machine.symbol_offsets[symbol + 1]):
            state = machine.symbol_states[place]
            part = machine.negated_of[state]
            has_end = machine.end_offsets[state] < machine.end_offsets[state + 1]
            if part >= 0:
                found = _latest(latest, latest_base, machine, state, now, False)
                if has_end:
                    fresh_marks[part] = max(fresh_marks[part], found)
                if is_contiguous and is_tied:
                    found = _latest(latest, latest_base, machine, state, now, True)
                fresh_latest[state] = max(fresh_latest[state], found)
                continue
            _extend(
                store, base, n_gaps, width, stays, gap_starts, gap_base, machine, shape, marks, part_base, one, fresh,
                0, state, False,
            )
            if not has_trends(fresh, 0, shape):
                continue
            bind_place(fresh, 0, shape, weights, machine.variable_of[state], row)
            if has_end:
                add_place(fresh, n_states + state, fresh, 0, shape)
            if is_contiguous and is_tied:
                _extend(
                    store, base, n_gaps, width, stays, gap_starts, gap_base, machine, shape, marks, part_base, one,
                    fresh, 0, state, True,
                )
                bind_place(fresh, 0, shape, weights, machine.variable_of[state], row)
            add_place(fresh, state, fresh, 0, shape)
    for state in range(1, n_states + 1):
        is_over = is_contiguous
        if machine.semantics == NEXT:
            for row in range(first, last):
                is_over = is_over or machine.closes[rows.symbols[row], state]
        if is_over:
            latest[latest_base + state] = -1
            if stays[state] >= 0:
                for gap in range(n_gaps):
                    clear_place(store, base + gap * width + stays[state], shape)
        latest[latest_base + state] = max(latest[latest_base + state], fresh_latest[state])
    for part in range(n_parts):
        marks[part_base + part] = max(marks[part_base + part], fresh_marks[part])
    n_gaps = _part_gaps(
        store, base, n_gaps, width, gap_starts, gap_base, latest, latest_base, marks, part_base, n_parts, now, machine,
        shape,
    )
    newest = base + (n_gaps - 1) * width
    for state in range(1, n_states + 1):
        if stays[state] >= 0:
            add_place(store, newest + stays[state], fresh, state, shape)
        if ended[state] >= 0:
            add_place(store, newest + ended[state], fresh, n_states + state, shape)
        elif stays[state] >= 0:
            for stop in range(machine.end_offsets[state], machine.end_offsets[state + 1]):
                add_place(store, finals + machine.end_kinds[stop], fresh, n_states + state, shape)
    return n_gaps


@njit(cache=True, nogil=True)
def advance_by_gap(
    units, rows, machine, shape, weights, store, clock, marks, latest, gap_starts, n_gaps, n_most, stays, ended, one,
    fresh, fresh_latest, fresh_marks, begin, end, budget,
):
    """Advance the units from `begin` to `end` by their rows.

    A unit has `n_most` gaps at the most, each with places in `store` for what goes on from a state (`stays[state]`) and
    what ended in it and may still be rejected (`ended[state]`; -1 for none); behind them a place per class of trends.
    `clock` has how many times a unit has seen, `marks` a number per negated part, `latest` one per state and one more,
    `gap_starts` and `n_gaps` where its gaps begin. Returns whether it came to its end.
    """
    begin_place(one, 0, shape)
    n_parts = len(fresh_marks)
    width = max(stays.max(), ended.max()) + 1
    n_places = n_most * width + machine.n_kinds
    for unit in range(begin, end):
        base, part_base = unit * n_places, unit * n_parts
        finals = base + n_most * width
        latest_base, gap_base = unit * (machine.n_states + 1), unit * n_most
        row, last = units.first[unit], units.end[unit]
        while row < last:
            if budget[GIVEN_UP]:
                return False
            following = row + 1
            if rows.has_ties:
                while following < last and rows.tied[following]:
                    following += 1
            n_gaps[unit] = _advance(
                rows, row, following, clock[unit], store, base, finals, n_gaps[unit], width, stays, ended, gap_starts,
                gap_base, latest, latest_base, marks, part_base, n_parts, machine, shape, weights, one, fresh,
                fresh_latest, fresh_marks,
            )
            clock[unit] += 1
            row = following
        if units.closes[unit]:
            for state in range(1, machine.n_states + 1):
                if ended[state] < 0:
                    continue
                for stop in range(machine.end_offsets[state], machine.end_offsets[state + 1]):
                    for gap in range(n_gaps[unit]):
                        is_left = is_clear(
                            marks, part_base, machine.end_open[stop], machine.end_blocked[stop],
                            gap_starts[gap_base + gap],
                        )
                        if is_left:
                            place = base + gap * width + ended[state]
                            add_place(store, finals + machine.end_kinds[stop], store, place, shape)
    return True
