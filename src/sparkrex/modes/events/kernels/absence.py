"""Negated components: whether an event is there that must be absent.

Where one is looked for is known as soon as the rows around it are: between two events of a match when the second is
selected, before the first or behind the last when the match ends. So `nfab.advance` asks there, once for all histories
that runs share (`gaps_verdict`, `end_verdict`). What a condition reads may be selected later: then it is asked for
later, and the run's record tells the rows around it. Backtracking asks for all of them when it lists a match
(`verdict`).
"""

from __future__ import annotations

import numpy as np

from sparkrex.kernels.inlined import inlined, shared
from sparkrex.kernels.machine import holds
from sparkrex.modes.events.kernels.codes import (
    DIVISION_BY_ZERO,
    GIVEN_UP,
    KEPT,
    MOST_STEPS,
    OVERFLOW,
    REFUSED,
    STEPS,
    STOPPED,
    TOO_MANY_STEPS,
    UNDECIDED,
)


@inlined
def status_of(found):
    """How a search ends that a test has ended; the test gave something negative."""
    if found == -1:
        return OVERFLOW
    if found == -2:
        return DIVISION_BY_ZERO
    return TOO_MANY_STEPS if found == -3 else STOPPED


@shared
def holds_for(condition, row, record, bounds, tests, machine, columns, record_ints, record_floats, no_labels):
    """Whether a condition holds for a row and a run's record: 1, 0 or an error of the machine.

    Parameters
    ----------
    bounds : first row of the run, first row of the partition and the row behind its last
    tests : bitmap_of (by condition, -1: none), bitmaps uint8 (n, rows), code_begin, code_end (by condition)
    machine, columns, record_ints, record_floats : see kernels.machine
    """
    bitmap_of, bitmaps, code_begin, code_end = tests
    if condition < 0:
        return 1
    if bitmap_of[condition] >= 0 and bitmaps[bitmap_of[condition], row] == 0:
        return 0
    if code_begin[condition] == code_end[condition]:
        return 1
    place = (row, bounds[0], bounds[1], bounds[2], np.int64(0))
    return holds(code_begin[condition], code_end[condition], machine, columns, record_ints, record_floats, record,
                 no_labels, place)


@inlined
def row_behind(row, high, ties):
    """The first row that follows a row, at most the one behind `high`: a tied one does not."""
    behind = row + 1
    while ties.shape[0] > 0 and behind <= high and ties[behind] == ties[row]:
        behind += 1
    return behind


@inlined
def row_before(row, low, ties):
    """The last row that a row follows, at least the one before `low`."""
    before = row - 1
    while ties.shape[0] > 0 and before >= low and ties[before] == ties[row]:
        before -= 1
    return before


@shared
def is_there(k, low, high, record, bounds, absences, tests, machine, columns, record_ints, record_floats, no_labels,
             budget):
    """Whether a row from `low` to `high` is one that negated component k forbids: 1, 0, or negative (`status_of`).

    Parameters
    ----------
    bounds, tests, ... : see `holds_for`
    absences : by negated component: conditions, is_before uint8 (components, variables: whether a variable stands
        before the component), next_candidate int64 (components, rows + 1: the next row whose row condition holds),
        window_first, window_last (by row: the first row that a match which ends here may have, the last that one which
        starts here may have), at_end (those that may stand before or behind all events), ask_offsets and asked (by
        edge: see `gaps_verdict`), end_offsets and asked_at_end (by state: the same where a match ends), postponed int64
        (n, 3: number of a component, the slots of records that hold the rows around its gap)
    budget : see `nfab_codes`
    """
    conditions, next_candidate = absences[0], absences[2]
    if low > high:
        return 0
    candidate = next_candidate[k, low]
    while candidate <= high:
        budget[STEPS] += 1
        if budget[STEPS] > budget[MOST_STEPS]:
            return -3
        if budget[GIVEN_UP] != 0:
            return -4
        found = holds_for(conditions[k], candidate, record, bounds, tests, machine, columns, record_ints,
                          record_floats, no_labels)
        if found != 0:
            return found
        candidate = next_candidate[k, candidate + 1]
    return 0


@inlined
def gap_of(record, place, postponed, ties, record_ints):
    """The first and the last row of the gap that a run remembers, of a postponed component; none if it crossed none."""
    before, after = record_ints[record, postponed[place, 1]], record_ints[record, postponed[place, 2]]
    if before < 0:
        return np.int64(0), np.int64(-1)  # it began behind the component, which the end of the match asks for
    low = row_behind(before, after - 1, ties)
    return low, row_before(after, low, ties)


@shared
def gaps_verdict(asked, begin, end, last, row, record, bounds, absences, ties, tests, machine, columns, record_ints,
                 record_floats, no_labels, budget):
    """Whether an event is there that must be absent between two of a match: 1, 0, or negative (`status_of`).

    Parameters
    ----------
    asked : from `begin` to `end` the components: a number, of one between the rows `last` and `row`, which the run has
        just selected, or `~place` of one that was postponed
    record : that of the run with `row`
    """
    postponed = absences[10]
    for a in range(begin, end):
        k = asked[a]
        if k >= 0:
            low = row_behind(last, row - 1, ties)
            high = row_before(row, low, ties)
        else:
            low, high = gap_of(record, ~k, postponed, ties, record_ints)
            k = postponed[~k, 0]
        found = is_there(k, low, high, record, bounds, absences, tests, machine, columns, record_ints, record_floats,
                         no_labels, budget)
        if found != 0:
            return found
    return 0


@shared
def end_verdict(first, last, first_label, last_label, record, is_open, bounds, absences, ties, tests, machine, columns,
                record_ints, record_floats, no_labels, budget):
    """Whether matches of one first and one last event survive what must be absent before and behind them.

    KEPT, REFUSED, UNDECIDED (`is_open`: more rows of the partition may come), or negative.
    """
    is_before, window_first, window_last, at_end = absences[1], absences[3], absences[4], absences[5]
    result = KEPT
    for a in range(at_end.shape[0]):
        k = at_end[a]
        if is_before[k, last_label] != 0:
            high = window_last[first]
            low = row_behind(last, high, ties)
            if is_open and high == bounds[2] - 1:
                result = UNDECIDED
        elif is_before[k, first_label] == 0:
            low = window_first[last]
            high = row_before(first, low, ties)
        else:
            continue  # it was asked on the way
        found = is_there(k, low, high, record, (first, bounds[1], bounds[2]), absences, tests, machine, columns,
                         record_ints, record_floats, no_labels, budget)
        if found < 0:
            return found
        if found == 1:
            return REFUSED
    return result


@shared
def verdict(rows, labels, n_events, is_open, bounds, absences, ties, tests, machine, columns, record_ints,
            record_floats, no_labels, budget):
    """Whether a match survives its negated components, all of them: as `end_verdict`.

    Parameters
    ----------
    rows, labels : the match's events, the last one first
    ties : by row, the number of its time; empty if tied events may follow each other
    record_ints, record_floats : record 1 is that of the match
    """
    is_before, window_first, window_last = absences[1], absences[3], absences[4]
    first, last = rows[n_events - 1], rows[0]
    result = KEPT
    for k in range(is_before.shape[0]):
        n_behind = 0
        while n_behind < n_events and is_before[k, labels[n_behind]] == 0:
            n_behind += 1
        low = window_first[last]
        high = window_last[first]
        if n_behind < n_events:
            low = row_behind(rows[n_behind], high, ties)
        if n_behind > 0:
            high = row_before(rows[n_behind - 1], low, ties)
        elif is_open and high == bounds[2] - 1:
            result = UNDECIDED
        found = is_there(k, low, high, np.int64(1), (first, bounds[1], bounds[2]), absences, tests, machine, columns,
                         record_ints, record_floats, no_labels, budget)
        if found < 0:
            return found
        if found == 1:
            return REFUSED
    return result
