"""Complete partial matches as matches: rejected by negated components, and written out event by event."""

from __future__ import annotations

import numpy as np

from sparkrex.kernels.lazy import njit
from sparkrex.modes.workload.kernels.links import compares

(
    OPERATOR, ITEM, KEYS, RANK, ABSENT_KEYS, ABSENT_RANK,
) = range(6)
"""What an absent event must meet to reject a match: a comparison of an item's value with its own. Where both keys
stand: see `links`."""
N_CONDITION_FIELDS = 6


@njit(cache=True, nogil=True, _nrt=False)
def reject(absent_rows, after, before, conditions, items, pool, rank, keep):
    """Clear `keep` of matches between whose events one is that must be absent.

    Parameters
    ----------
    absent_rows : int64, the rows of events that fit the negated component, ascending
    after, before : int64 per match, the rows between which it is looked for, both exclusive
    conditions : int64[n, 6], what the event must meet to reject, see OPERATOR
    items : int64[items, matches], the row of every item
    pool, rank : see `links`
    keep : bool per match, written
    """
    for match in range(keep.shape[0]):
        if not keep[match]:
            continue
        place = np.searchsorted(absent_rows, after[match] + 1)
        while keep[match] and place < absent_rows.shape[0] and absent_rows[place] < before[match]:
            row = absent_rows[place]
            is_there = True
            for number in range(conditions.shape[0]):
                condition = conditions[number]
                one = pool[condition[KEYS] + rank[condition[RANK], items[condition[ITEM], match]]]
                other = pool[condition[ABSENT_KEYS] + rank[condition[ABSENT_RANK], row]]
                is_there = is_there and compares(condition[OPERATOR], one, other)
            keep[match] = not is_there
            place += 1


@njit(cache=True, nogil=True)
def write_matches(values, is_kleene, labels, cells):
    """The events of matches in their order, with the labels of their variables.

    Parameters
    ----------
    values : int64[items, matches], what the slots of the items hold
    is_kleene : bool per item
    labels : int16 per item
    cells : see `links`

    Returns
    -------
    rows and labels of all events, and the offsets that cut them into matches
    """
    n_items, n_matches = values.shape
    offsets = np.zeros(n_matches + 1, np.int64)
    for match in range(n_matches):
        length = 0
        for item in range(n_items):
            if is_kleene[item]:
                cell = values[item, match]
                while cell >= 0:
                    length += 1
                    cell = cells.before[cell]
            else:
                length += 1
        offsets[match + 1] = offsets[match] + length
    rows = np.empty(offsets[n_matches], np.int64)
    variables = np.empty(offsets[n_matches], np.int16)
    for match in range(n_matches):
        begin = offsets[match]
        n_events = 0
        for item in range(n_items):
            value = values[item, match]
            while True:
                row = cells.row[value] if is_kleene[item] else value
                place = begin + n_events
                while place > begin and rows[place - 1] > row:
                    rows[place], variables[place] = rows[place - 1], variables[place - 1]
                    place -= 1
                rows[place], variables[place] = row, labels[item]
                n_events += 1
                if not is_kleene[item]:
                    break
                value = cells.before[value]
                if value < 0:
                    break
    return rows, variables, offsets
