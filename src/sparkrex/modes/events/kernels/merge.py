"""Equivalent runs merged (paper, 5.2.2).

What a run becomes depends on its state and on the values that its state can still read, so two runs that agree in them
are one from then on; their histories live on in a union node of the shared buffer (`kernels.matches`). Runs that
may be equivalent are found by a hash of what is compared.

A negation reads more than values. Between the last event of a run and its next one it looks at the rows after the last
for *candidates*, those that meet what its condition says of the row alone. Two runs with the same first candidate have
the same ones; they must agree in it, or, if the rows alone decide, in whether one has come. A run that is yet to be
asked for a gap behind it remembers the rows around it: there runs must agree in the first and the last candidate.
Before and behind a match a negation looks at rows that the first event decides: runs must agree in where they began.

Which runs are merged shows in the order of matches with one last event. Where equalities may partition the stream,
which must not show, runs must agree in the rows around a gap instead: candidates of other values are in no partition.

Of matches that may not overlap one is kept of those that end on a row: the earliest start, then the fewest events, then
the smallest rows. There runs keep the best of their histories instead of all. That is enough. Two equivalent runs of
one first row have the same futures; a future adds the same rows in the same number to both histories. So of the two
matches that it makes, the one of the shorter history is shorter, and of equally long ones the rows differ first where
the histories do: the best match behind the two runs has the better history in front, whatever the future is. A window
that both began in one row leave together. Without a window they need not have begun in one: the earlier start wins.
"""

from __future__ import annotations

import numpy as np

from sparkrex.kernels.inlined import inlined
from sparkrex.modes.events.kernels.absence import gap_of, row_behind
from sparkrex.modes.events.kernels.codes import (
    AWAITS,
    LABEL,
    LAST,
    MERGES,
    N_FIELDS,
    N_FREE,
    N_NODES,
    N_RUNS,
    NODE,
    RECORD,
    START,
    STATE,
)
from sparkrex.modes.events.kernels.lookup import UNKNOWN, bit_of
from sparkrex.modes.events.kernels.matches import UNION

# What two runs must agree in: a number of the record, a double of it, whether a count is zero, a column at a row.
INT_SLOT, FLOAT_SLOT, IS_ZERO, INT_AT, FLOAT_AT = range(5)

# What runs agree in around a gap of which the run decides, too.
BY_CANDIDATES, BY_ROWS = 1, 2


@inlined
def _read(read, record, records, cells):
    """A value that merging compares: a flag, and the value's bits. `read` is its kind, slot and column."""
    kind, slot, column = read
    ints, _, float_bits = records
    columns, column_bits = cells
    if kind == INT_SLOT:
        return np.int64(0), ints[record, slot]
    if kind == FLOAT_SLOT:
        return np.int64(0), float_bits[record, slot]
    if kind == IS_ZERO:
        return np.int64(0), np.int64(ints[record, slot] == 0)
    row = ints[record, slot]
    if row < 0:
        return np.int64(1), np.int64(0)
    if kind == INT_AT:
        if columns.has_int_nulls[column] != 0 and columns.int_nulls[column, row] != 0:
            return np.int64(2), np.int64(0)
        return np.int64(0), columns.ints[column, row]
    if columns.has_float_nulls[column] != 0 and columns.float_nulls[column, row] != 0:
        return np.int64(2), np.int64(0)
    return np.int64(0), column_bits[column, row]


@inlined
def _are_equivalent(state, record, other, reads, records, cells):
    """Whether two runs in a state agree in all that the state can still read."""
    offsets, lines = reads
    for k in range(offsets[state], offsets[state + 1]):
        read = lines[k, 0], lines[k, 1], lines[k, 2]
        flag, bits = _read(read, record, records, cells)
        other_flag, other_bits = _read(read, other, records, cells)
        if flag != other_flag or bits != other_bits:
            return False
    return True


@inlined
def _gap_mark(k, last, row, record, apart, ties, record_ints):
    """What two runs in front of negated component k, or with a gap of a postponed one behind them, must agree in.

    A forbidden row that is tied with this one is not yet one for an event that is tied with it, too.
    """
    reads_run, next_candidate, postponed = apart.reads_run, apart.next_candidate, apart.postponed
    if k < 0:
        if reads_run[postponed[~k, 0]] == BY_ROWS:
            before, after = record_ints[record, postponed[~k, 1]], record_ints[record, postponed[~k, 2]]
            return before * next_candidate.shape[1] + after
        low, high = gap_of(record, ~k, postponed, ties, record_ints)
        candidate = next_candidate[postponed[~k, 0], low]
        if candidate > high:
            return np.int64(-1)
        return candidate * next_candidate.shape[1] + apart.previous_candidate[~k, high]
    if reads_run[k] == BY_ROWS:
        return last
    candidate = next_candidate[k, row_behind(last, row, ties)]
    if candidate > row:
        return np.int64(-1)
    if reads_run[k] == BY_CANDIDATES:
        return candidate
    return np.int64(-3 if ties.shape[0] > 0 and ties[candidate] == ties[row] else -2)


@inlined
def is_better(one, other, nodes):
    """Whether a history is the better of two in a buffer without unions, where `Nodes.other` counts events."""
    node_row, node_label, node_before, node_other, _ = nodes
    if node_other[one] != node_other[other]:
        return node_other[one] < node_other[other]
    # Seen from the end, the last difference is the first one.
    by_row, by_label = np.int64(0), np.int64(0)
    while one != other:
        if node_row[one] != node_row[other]:
            by_row = node_row[one] - node_row[other]
        if node_label[one] != node_label[other]:
            by_label = np.int64(node_label[one]) - np.int64(node_label[other])
        one, other = node_before[one], node_before[other]
    return by_row < 0 or (by_row == 0 and by_label < 0)


@inlined
def _mixed(hashed, bits):
    """A hash with more bits in it."""
    hashed = (hashed ^ np.uint64(bits)) * np.uint64(0x9E3779B97F4A7C15)
    return hashed ^ (hashed >> np.uint64(29))


@inlined
def _hash_of(r, row, is_tied, runs, compared, absences, records):
    """A hash of all that is compared of a run, but for its label."""
    (offsets, lines), apart, ties, cells = compared
    gap_offsets, gaps, by_start, ints = apart.gap_offsets, apart.gaps, apart.by_start, records.ints
    state, record = runs[STATE, r], runs[RECORD, r]
    hashed = np.uint64(state * 2 + is_tied)
    for k in range(offsets[state], offsets[state + 1]):
        read = lines[k, 0], lines[k, 1], lines[k, 2]
        flag, bits = _read(read, record, records, cells)
        hashed = _mixed(hashed ^ np.uint64(flag), bits)
    if absences is not None:
        for k in range(gap_offsets[state], gap_offsets[state + 1]):
            hashed = _mixed(hashed, _gap_mark(gaps[k], runs[LAST, r], row, record, apart, ties, ints))
    if by_start:
        hashed = _mixed(hashed, runs[START, r])
    return hashed


@inlined
def _agree(r, other, row, is_tied, runs, compared, absences, records):
    """Whether two runs have the same future."""
    reads, apart, ties, cells = compared
    gap_offsets, gaps, by_start, ints = apart.gap_offsets, apart.gaps, apart.by_start, records.ints
    state, record = runs[STATE, r], runs[RECORD, r]
    if runs[STATE, other] != state:
        return False
    if ties.shape[0] > 0 and (ties[runs[LAST, other]] == ties[row]) != is_tied:
        return False
    if by_start and (runs[START, other] != runs[START, r] or runs[LABEL, other] != runs[LABEL, r]):
        return False
    if absences is not None:
        for k in range(gap_offsets[state], gap_offsets[state + 1]):
            mark = _gap_mark(gaps[k], runs[LAST, r], row, record, apart, ties, ints)
            if mark != _gap_mark(gaps[k], runs[LAST, other], row, runs[RECORD, other], apart, ties, ints):
                return False
    return _are_equivalent(state, record, runs[RECORD, other], reads, records, cells)


@inlined
def _join(r, same, row, runs, nodes, n_nodes, keeps_best):
    """Run r becomes part of a run that is the same; gives the number of nodes."""
    if keeps_best:
        order = runs[START, r] - runs[START, same]
        if order < 0 or (order == 0 and is_better(runs[NODE, r], runs[NODE, same], nodes)):
            runs[NODE, same], runs[START, same] = runs[NODE, r], runs[START, r]
    else:
        nodes.row[n_nodes] = row
        nodes.label[n_nodes] = UNION
        nodes.before[n_nodes] = runs[NODE, same]
        nodes.other[n_nodes] = runs[NODE, r]
        nodes.youngest[n_nodes] = max(runs[START, same], runs[START, r])
        runs[NODE, same] = n_nodes
        runs[START, same] = nodes.youngest[n_nodes]
        n_nodes += 1
    runs[LAST, same] = max(runs[LAST, same], runs[LAST, r])
    return n_nodes


@inlined
def merge(at, row, bound, changed, runs, work, compared, absences, lookup, statistics):
    """Merge equivalent runs, each into the one that stands first.

    Parameters
    ----------
    at : see `nfab`: N_RUNS, N_NODES and N_FREE are read and written
    runs : int64 (fields, runs)
    absences : None if nothing is negated: then there are no gaps, and what compares them is not even compiled
    lookup : None unless runs are looked up by what they await. Then those that agree in all that they read await the
        same; while nothing but an event changes what runs must agree in, only runs that await what a run awaits which
        has just selected one need be compared: those of a bit in `changed` (`lookup.bit_of`). And runs that began
        before `bound`, outside the window, may still be there
    work : `table` is a power of two of entries, at least twice the runs: all -1, and left so; `used` room for as many
        numbers as there are runs
    """
    table, used, records, free, nodes = work.table, work.used, work.records, work.free, work.nodes
    ties, keeps_best = compared.ties, compared.apart.keeps_best
    n_runs, n_nodes, n_free = at[N_RUNS], at[N_NODES], at[N_FREE]
    has_record = records.ints.shape[1] + records.float_bits.shape[1] > 0
    mask = table.shape[0] - 1
    n_left = np.int64(0)
    if ties.shape[0] > 0:
        changed = ~np.uint64(0)
    if absences is not None:
        changed = ~np.uint64(0)
    for r in range(n_runs):
        if lookup is not None:
            awaits = runs[AWAITS, r]
            if (awaits != UNKNOWN and changed & bit_of(runs[STATE, r], awaits) == 0) or runs[START, r] < bound:
                if n_left < r:
                    for f in range(N_FIELDS + 1):
                        runs[f, n_left] = runs[f, r]
                used[n_left] = 0  # an entry of the table that is emptied for nothing
                n_left += 1
                continue
        # A tied event is not later than the last one: runs differ while the time has not moved on.
        is_tied = ties.shape[0] > 0 and ties[runs[LAST, r]] == ties[row]
        hashed = _hash_of(r, row, is_tied, runs, compared, absences, records)
        place = np.int64((hashed * np.uint64(0xBF58476D1CE4E5B9)) >> np.uint64(20)) & mask
        same = np.int64(-1)
        while table[place] >= 0 and same < 0:
            if _agree(r, table[place], row, is_tied, runs, compared, absences, records):
                same = table[place]
            else:
                place = (place + 1) & mask
        if same < 0:
            for f in range(N_FIELDS):
                runs[f, n_left] = runs[f, r]
            if lookup is not None:
                runs[AWAITS, n_left] = runs[AWAITS, r]
            table[place] = n_left
            used[n_left] = place
            n_left += 1
            continue
        n_nodes = _join(r, same, row, runs, nodes, n_nodes, keeps_best)
        # Without records there is none to give back.
        free[n_free] = runs[RECORD, r]
        n_free += has_record
        statistics[MERGES] += 1
    for r in range(n_left):
        table[used[r]] = -1
    at[N_RUNS], at[N_NODES], at[N_FREE] = n_left, n_nodes, n_free
