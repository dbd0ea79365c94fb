"""Negated components: whether an event is there that must be absent.

Where one is looked for is known as soon as the rows around it are: between two events of a match when the second is
selected, before the first, behind the last or between these two when the match ends. So `nfab.advance` asks there,
once for all histories that runs share (`gaps_verdict`, `end_verdict`). What a condition reads may be selected later:
then it is asked for later, and the run's record tells the rows around it. Backtracking asks for all of them when it
lists a match (`verdict`).
"""

from __future__ import annotations

import numpy as np

from sparkrex.kernels.inlined import inlined, shared
from sparkrex.kernels.machine import holds
from sparkrex.modes.events.kernels.arguments import Bounds
from sparkrex.modes.events.kernels.codes import (
    AROUND,
    BEFORE,
    BEHIND,
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


@inlined
def condition_holds(condition, row, record, bounds, values, records):
    """Whether a condition (-1: none) holds for a row and a run's record: 1, 0 or an error of the machine."""
    bitmap_of, bitmaps, code_begin, code_end = values.tests
    if condition < 0:
        return 1
    if bitmap_of[condition] >= 0 and bitmaps[bitmap_of[condition], row] == 0:
        return 0
    if code_begin[condition] == code_end[condition]:
        return 1
    place = (row, bounds.start, bounds.low, bounds.high, np.int64(0))
    return holds(code_begin[condition], code_end[condition], values.machine, values.cells.columns, records.ints,
                 records.floats, record, values.no_labels, place)


@shared
def holds_for(condition, row, record, bounds, values, records):
    """`condition_holds`, compiled once for all places that are not in an inner loop."""
    return condition_holds(condition, row, record, bounds, values, records)


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
def is_there(k, low, high, record, bounds, absences, values, records, budget):
    """Whether a row from `low` to `high` is one that negated component k forbids: 1, 0, or negative (`status_of`)."""
    next_candidate, condition = absences.next_candidate, absences.conditions[k]
    if low > high:
        return 0
    candidate = next_candidate[k, low]
    while candidate <= high:
        budget[STEPS] += 1
        if budget[STEPS] > budget[MOST_STEPS]:
            return -3
        if budget[GIVEN_UP] != 0:
            return -4
        found = holds_for(condition, candidate, record, bounds, values, records)
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
def gaps_verdict(asked, last, row, record, bounds, absences, ties, values, records, budget):
    """Whether an event is there that must be absent between two of a match: 1, 0, or negative (`status_of`).

    Parameters
    ----------
    asked : an array, from where to where it has the components: a number, of one between the rows `last` and `row`,
        which the run has just selected, or `~place` of one that was postponed
    record : that of the run with `row`
    """
    numbers, begin, end = asked
    postponed, record_ints = absences.postponed, records.ints
    for a in range(begin, end):
        k = numbers[a]
        if k >= 0:
            low = row_behind(last, row - 1, ties)
            high = row_before(row, low, ties)
        else:
            low, high = gap_of(record, ~k, postponed, ties, record_ints)
            k = postponed[~k, 0]
        found = is_there(k, low, high, record, bounds, absences, values, records, budget)
        if found != 0:
            return found
    return 0


@shared
def end_verdict(last, labels, record, bounds, absences, ties, values, records, budget):
    """Whether matches of one first and one last event survive what must be absent before, behind or between them.

    KEPT, REFUSED, UNDECIDED (rows to come may be inside the window of the first event), or negative.

    Parameters
    ----------
    labels : of the first and of the last event; the first row is `bounds.start`
    """
    first_label, last_label = labels
    first, open_from = bounds.start, bounds.open_from
    side, window_first, window_last, at_end = (
        absences.side, absences.window_first, absences.window_last, absences.at_end
    )
    result = KEPT
    for a in range(at_end.shape[0]):
        k = at_end[a]
        if side[k, last_label] == AROUND:
            low = row_behind(first, last - 1, ties)
            high = row_before(last, low, ties)
        elif side[k, last_label] == BEFORE:
            high = window_last[first]
            low = row_behind(last, high, ties)
            if first >= open_from:
                result = UNDECIDED
        elif side[k, first_label] == BEHIND:
            low = window_first[last]
            high = row_before(first, low, ties)
        else:
            continue  # it was asked on the way
        found = is_there(k, low, high, record, bounds, absences, values, records, budget)
        if found < 0:
            return found
        if found == 1:
            return REFUSED
    return result


@shared
def verdict(rows, labels, n_events, bounds, absences, ties, values, records, budget):
    """Whether a match survives its negated components, all of them: as `end_verdict`.

    Parameters
    ----------
    rows, labels : the match's events, the last one first
    records : record 1 is that of the match
    """
    first, last, open_from = rows[n_events - 1], rows[0], bounds.open_from
    own = Bounds(first, bounds.low, bounds.high, open_from)
    side, window_first, window_last = absences.side, absences.window_first, absences.window_last
    result = KEPT
    for k in range(side.shape[0]):
        n_behind = 0
        while n_behind < n_events and side[k, labels[n_behind]] == BEHIND:
            n_behind += 1
        low = window_first[last]
        high = window_last[first]
        if side[k, labels[0]] == AROUND:
            low = row_behind(first, last - 1, ties)
            high = row_before(last, low, ties)
        else:
            if n_behind < n_events:
                low = row_behind(rows[n_behind], high, ties)
            if n_behind > 0:
                high = row_before(rows[n_behind - 1], low, ties)
            elif first >= open_from:
                result = UNDECIDED
        found = is_there(k, low, high, np.int64(1), own, absences, values, records, budget)
        if found < 0:
            return found
        if found == 1:
            return REFUSED
    return result
