"""NFAb execution with all runs at once (paper, 5.2.1), merging those that are equivalent (`kernels.merge`).

A run is a state, the node of its last event in the shared buffer (`kernels.matches`), its youngest first row, its
last row, and a record: the values that later conditions read (`kernels.path`), the paper's vector V. At every event
each run tests the edges of its state; each that holds makes a child that selected the event, and the strategy says
whether the run itself stays. A partition begins with the runs that wait in it, and leaves those that may still go on.

`advance` allocates nothing: where room is short it goes back to its caller, who makes some and calls it again. Counting
the references of all arrays in the loop over the rows would cost more than the loop, and code that makes arrays takes
long to compile. Ends of matches are collected; the matches are written out in between (`matches.write`). Where no
run waits, rows that cannot start one are passed over.
"""

from __future__ import annotations

import numpy as np

from sparkrex.kernels.inlined import inlined
from sparkrex.kernels.lazy import njit
from sparkrex.modes.events.kernels.absence import condition_holds, end_verdict, gaps_verdict, holds_for, status_of
from sparkrex.modes.events.kernels.arguments import Bounds
from sparkrex.modes.events.kernels.codes import (
    ANY,
    AWAITS,
    BLOCKED,
    CONTIGUITY,
    DONE,
    EDGE_TESTS,
    GIVEN_UP,
    IS_INSIDE,
    KEPT,
    LABEL,
    LAST,
    MATCH_ENDS,
    MOST_RUNS,
    N_ENDS,
    N_FIELDS,
    N_FREE,
    N_KEPT_NODES,
    N_LEFT,
    N_NODES,
    N_RECORDS,
    N_RUNS,
    NEEDS_ROOM,
    NEXT,
    NODE,
    NODES,
    OVERFLOW,
    PARTITION,
    RECORD,
    REFUSED,
    ROW,
    RUN_STEPS,
    SIDE,
    START,
    STATE,
    STEPS,
    STOPPED,
    UNDECIDED,
    WHERE,
)
from sparkrex.modes.events.kernels.lookup import UNKNOWN, awaited_key, bit_of, look_up, put_back
from sparkrex.modes.events.kernels.matches import UNION, select
from sparkrex.modes.events.kernels.merge import is_better, merge


@njit(cache=True, nogil=True, _nrt=False)
def compact(moved, roots, nodes, n_nodes, bounds):
    """Throw away the nodes that no root reaches inside the window, in place. Gives how many are left.

    Parameters
    ----------
    moved : -1 for each node
    roots : nodes of runs and of ends that wait; they are numbered anew
    bounds : by row, the first row of its partition that the window of a match to come may reach; empty: all may
    """
    node_row, node_label, node_before, node_other, node_youngest = nodes
    is_bounded = bounds.shape[0] > 0
    for r in range(roots.shape[0]):
        moved[roots[r]] = 0
    for n in range(n_nodes - 1, -1, -1):
        if moved[n] < 0:
            continue
        bound = bounds[node_row[n]] if is_bounded else np.int64(0)
        before = node_before[n]
        if before >= 0 and node_youngest[before] >= bound:
            moved[before] = 0
        if node_label[n] == UNION:
            other = node_other[n]
            if other >= 0 and node_youngest[other] >= bound:
                moved[other] = 0
    n_left = 0
    for n in range(n_nodes):
        if moved[n] < 0:
            continue
        moved[n] = n_left
        node_row[n_left], node_label[n_left] = node_row[n], node_label[n]
        node_youngest[n_left] = node_youngest[n]
        before = node_before[n]
        node_before[n_left] = moved[before] if before >= 0 else -1
        other = node_other[n]
        if node_label[n] == UNION:
            other = moved[other] if other >= 0 else np.int64(-1)
        node_other[n_left] = other
        n_left += 1
    for r in range(roots.shape[0]):
        roots[r] = moved[roots[r]]
    return n_left


@inlined
def _enter(at, partitions, work, lookup, keeps_buffer):
    """Begin a partition with the runs that wait in it."""
    partition = at[PARTITION]
    runs, ints, floats = work.runs, work.records.ints, work.records.floats
    begin = partitions.run_offsets[partition]
    n_runs = partitions.run_offsets[partition + 1] - begin
    side = at[SIDE]
    for r in range(n_runs):
        for f in range(N_FIELDS):
            runs[side, f, r] = partitions.runs[f, begin + r]
        if lookup is not None:
            runs[side, AWAITS, r] = UNKNOWN  # until it is tested
        runs[side, RECORD, r] = r + 1
        for s in range(ints.shape[1]):
            ints[r + 1, s] = partitions.record_ints[begin + r + 1, s]
        for s in range(floats.shape[1]):
            floats[r + 1, s] = partitions.record_floats[begin + r + 1, s]
    at[ROW], at[BLOCKED] = partitions.unseen[partition], partitions.blocked[partition]
    at[N_RUNS], at[N_FREE], at[N_RECORDS] = n_runs, 0, n_runs + 1
    if at[N_ENDS] == 0 and not keeps_buffer:
        at[N_NODES] = at[N_KEPT_NODES]
    at[IS_INSIDE] = 1


@inlined
def _leave(at, partitions, work):
    """Put the runs that rows to come may extend aside; false if there is no room for them."""
    partition, side, n_runs, n_left = at[PARTITION], at[SIDE], at[N_RUNS], at[N_LEFT]
    runs, left = work.runs, work.left
    open_from = partitions.open_from[partition]
    if open_from < partitions.high[partition] and n_runs > 0:
        if n_left + n_runs > left.shape[1]:
            return False
        for r in range(n_runs):
            if runs[side, START, r] >= open_from:
                for f in range(N_FIELDS):
                    left[f, n_left] = runs[side, f, r]
                left[RECORD, n_left] = partition  # records are of one feed
                n_left += 1
        if n_left > at[N_LEFT]:
            at[N_LEFT], at[N_KEPT_NODES] = n_left, at[N_NODES]
    partitions.blocked[partition] = at[BLOCKED]
    at[PARTITION], at[IS_INSIDE] = partition + 1, 0
    return True


@inlined
def _has_room(most_new, n_nodes, n_ends, n_records, has_record, work):
    """Whether there is room for all that a row may bring."""
    return (
        most_new <= work.runs.shape[2] and n_nodes + 2 * most_new <= work.nodes.row.shape[0]
        and n_ends + most_new <= work.ends.node.shape[0]
        and (not has_record or n_records + most_new <= work.records.ints.shape[0])
        and 2 * most_new <= work.table.shape[0]
    )


@inlined
def _add_node(n_nodes, row, label, before, start, nodes, keeps_best):
    """An event that a run has selected."""
    nodes.row[n_nodes] = row
    nodes.label[n_nodes] = label
    nodes.before[n_nodes] = before
    nodes.other[n_nodes] = -1
    if keeps_best:
        nodes.other[n_nodes] = nodes.other[before] + 1 if before >= 0 else 1
    nodes.youngest[n_nodes] = start


@inlined
def _end_of(target, last, row, first_label, record, bounds, plan, absences, records, budget):
    """Whether a match ends in the state that a run has come to: KEPT, REFUSED, UNDECIDED, or negative."""
    values, ties = plan.values, plan.events.ties
    accepts = plan.automaton.accept_condition[target]
    if accepts == -2:
        return np.int64(REFUSED)
    bitmap_of, bitmaps = values.tests.bitmap_of, values.tests.bitmaps
    if accepts >= 0 and bitmap_of[accepts] >= 0 and bitmaps[bitmap_of[accepts], row] == 0:
        return np.int64(REFUSED)
    if absences is not None:
        found = np.int64(holds_for(accepts, row, record, bounds, values, records))
        if found <= 0:
            return found if found < 0 else np.int64(REFUSED)
        begin, end = absences.end_offsets[target], absences.end_offsets[target + 1]
        if begin < end:
            found = np.int64(gaps_verdict((absences.asked_at_end, begin, end), last, row, record, bounds, absences,
                                          ties, values, records, budget))
            if found != 0:
                return found if found < 0 else np.int64(REFUSED)
        if absences.at_end.shape[0] > 0:
            labels = (first_label, plan.automaton.state_variable[target])
            return np.int64(end_verdict(row, labels, record, bounds, absences, ties, values, records, budget))
    return np.int64(KEPT)


@inlined
def _keep_best(begin, end, ends, nodes):
    """Of the ends of one row, none of which shares histories, leave the best match's."""
    best = begin
    for e in range(begin + 1, end):
        order = nodes.youngest[ends.node[e]] - nodes.youngest[ends.node[best]]
        if order < 0 or (order == 0 and is_better(ends.node[e], ends.node[best], nodes)):
            best = e
    ends.node[begin] = ends.node[best]


@inlined
def _copy_run(runs, side, number, other, to, lookup):
    for f in range(N_FIELDS):
        runs[other, f, to] = runs[side, f, number]
    if lookup is not None:
        runs[other, AWAITS, to] = runs[side, AWAITS, number]


@inlined
def _feed_rows(at, partitions, work, plan, absences, lookup, budget, statistics):
    """Feed the events of a partition on from row `at[ROW]`: DONE, NEEDS_ROOM before a row, or an error."""
    edge_offsets, edge_target, edge_condition, edge_is_take, state_has_take, state_variable, _ = plan.automaton
    window_first, ties, can_start = plan.events
    strategy, merges, only_first, _, _, most_edges = plan.options
    values, keeps_best = plan.values, plan.apart.keeps_best
    runs, nodes, ends, free, records = work.runs, work.nodes, work.ends, work.free, work.records
    has_record = records.ints.shape[1] + records.floats.shape[1] > 0
    has_ties = ties.shape[0] > 0
    partition = at[PARTITION]
    low, high, open_from = partitions.low[partition], partitions.high[partition], partitions.open_from[partition]
    row, n_runs, side, n_nodes = at[ROW], at[N_RUNS], at[SIDE], at[N_NODES]
    n_ends, n_free, n_records, blocked = at[N_ENDS], at[N_FREE], at[N_RECORDS], at[BLOCKED]
    status = DONE
    while row < high:
        if n_runs == 0:
            while row < high and can_start[row] == 0:
                row += 1
            if row == high:
                break
        if budget[GIVEN_UP] != 0:
            return STOPPED
        budget[STEPS] = 0
        if not _has_room(n_runs * (most_edges + 1) + most_edges, n_nodes, n_ends, n_records, has_record, work):
            status = NEEDS_ROOM
            break
        bound = window_first[row]
        n_new = np.int64(0)
        n_changed = 0
        n_ends_before = n_ends
        other = 1 - side
        n_asked, n_over, changed = n_runs, np.int64(0), np.uint64(0)
        if lookup is not None:
            hits = lookup.hits
            other = (side + 1) % 3
            n_asked, n_over = look_up(runs[side], n_runs, row, bound, lookup, plan.automaton, values)
        starts = can_start[row] != 0 and (blocked < 0 or not has_ties or ties[row] != ties[blocked])
        # The last round is that of a run which has selected nothing: where the row may start one.
        for r in range(n_asked + 1):
            if lookup is not None:
                hits[1, r] = n_new
            if r == n_asked:
                if not starts:
                    break
                state, node, start, record = np.int64(0), np.int64(-1), row, np.int64(0)
                last, first_label = np.int64(-1), np.int64(-1)
            else:
                number = np.int64(r)
                if lookup is not None:
                    number = hits[0, r]
                state, node, start = runs[side, STATE, number], runs[side, NODE, number], runs[side, START, number]
                record = runs[side, RECORD, number]
                last, first_label = runs[side, LAST, number], runs[side, LABEL, number]
                is_over = start < bound
                if not is_over:
                    statistics[RUN_STEPS] += 1
                    if has_ties and ties[last] == ties[row]:
                        is_over = strategy == CONTIGUITY
                        if not is_over:
                            _copy_run(runs, side, number, other, n_new, lookup)
                            n_new += 1
                            continue
                if is_over:
                    free[n_free] = record
                    n_free += has_record
                    continue
            bounds = Bounds(start, low, high, open_from)
            takes = False
            selects = False
            for edge in range(edge_offsets[state], edge_offsets[state + 1]):
                statistics[EDGE_TESTS] += 1
                found = condition_holds(edge_condition[edge], row, record, bounds, values, records)
                if found <= 0:
                    if found < 0:
                        at[WHERE] = row
                        return status_of(found)
                    continue
                selects = True
                takes = takes or edge_is_take[edge] != 0
                target = edge_target[edge]
                child = np.int64(0)
                if has_record:
                    if n_free > 0:
                        n_free -= 1
                        child = free[n_free]
                    else:
                        child = n_records
                        n_records += 1
                    if not select(record, child, state_variable[target], row, values, records):
                        at[WHERE] = row
                        return OVERFLOW
                # The event is selected, as if negated components were not there; then the run may be refused.
                if absences is not None:
                    begin, end = absences.ask_offsets[edge], absences.ask_offsets[edge + 1]
                    if begin < end:
                        found = gaps_verdict((absences.asked, begin, end), last, row, child, bounds, absences, ties,
                                             values, records, budget)
                        if found < 0:
                            at[WHERE] = row
                            return status_of(found)
                        if found == 1:
                            free[n_free] = child
                            n_free += has_record
                            continue
                label = first_label if state != 0 else state_variable[target]
                _add_node(n_nodes, row, state_variable[target], node, start, nodes, keeps_best)
                n_nodes += 1
                verdict = _end_of(target, last, row, label, child, bounds, plan, absences, records, budget)
                if verdict < 0:
                    at[WHERE] = row
                    return status_of(verdict)
                if verdict != REFUSED:
                    statistics[MATCH_ENDS] += 1
                    ends.node[n_ends], ends.row[n_ends], ends.first[n_ends] = n_nodes - 1, row, bound
                    ends.is_open[n_ends] = verdict == UNDECIDED
                    n_ends += 1
                if edge_offsets[target] < edge_offsets[target + 1]:
                    runs[other, STATE, n_new], runs[other, NODE, n_new] = target, n_nodes - 1
                    runs[other, START, n_new], runs[other, LAST, n_new] = start, row
                    runs[other, RECORD, n_new], runs[other, LABEL, n_new] = child, label
                    if lookup is not None:
                        awaits = awaited_key(target, child, lookup, values, records.ints)
                        runs[other, AWAITS, n_new] = awaits
                        changed |= bit_of(target, awaits)
                    n_new += 1
                    n_changed += 1
                elif has_record:
                    free[n_free] = child
                    n_free += 1
            if state == 0:
                continue
            stays = strategy == ANY
            if strategy == NEXT:
                stays = not (takes if state_has_take[state] != 0 else selects)
            if stays:
                _copy_run(runs, side, number, other, n_new, lookup)
                if lookup is not None:
                    runs[other, AWAITS, n_new] = awaited_key(state, record, lookup, values, records.ints)
                n_new += 1
            elif has_record:
                free[n_free] = record
                n_free += 1
        if lookup is not None:
            at[SIDE], at[N_RUNS], at[N_FREE] = side, n_runs, n_free
            put_back(at, n_asked, n_new, n_over, bound, hits, work, has_record)
            side, n_runs, n_free = at[SIDE], at[N_RUNS], at[N_FREE]
        else:
            side, n_runs = other, n_new
        if merges and n_changed > 0 and n_runs > 1:
            at[N_RUNS], at[N_NODES], at[N_FREE] = n_runs, n_nodes, n_free
            merge(at, row, bound, changed, runs[side], work, plan, absences, lookup, statistics)
            n_runs, n_nodes, n_free = at[N_RUNS], at[N_NODES], at[N_FREE]
        statistics[NODES] = max(statistics[NODES], n_nodes)
        statistics[MOST_RUNS] = max(statistics[MOST_RUNS], n_runs)
        row += 1
        if only_first and n_ends > n_ends_before:
            _keep_best(n_ends_before, n_ends, ends, nodes)
            n_ends = n_ends_before + 1
            n_runs, n_free, n_records, blocked = np.int64(0), np.int64(0), np.int64(1), row - 1
    at[ROW], at[N_RUNS], at[SIDE], at[N_NODES] = row, n_runs, side, n_nodes
    at[N_ENDS], at[N_FREE], at[N_RECORDS], at[BLOCKED] = n_ends, n_free, n_records, blocked
    return status


@njit(cache=True, nogil=True, _nrt=False)
def advance(at, partitions, work, plan, absences, lookup, budget, statistics):
    """Feed events on from where the search is: DONE, NEEDS_ROOM before a row or behind a partition, or an error.

    Parameters
    ----------
    at : int64, see `codes`: all are read and written; WHERE tells the row of an error, no run starts at a time tied
        with row BLOCKED (-1: none is), the first N_KEPT_NODES nodes are those of other partitions
    absences : None if nothing is negated and no condition to end reads the match, and then all that is for those is not
        even compiled
    lookup : None if all runs are tested at every row
    budget : see `codes`
    """
    while at[PARTITION] < partitions.low.shape[0]:
        if at[IS_INSIDE] == 0:
            _enter(at, partitions, work, lookup, plan.options.keeps_buffer)
        status = _feed_rows(at, partitions, work, plan, absences, lookup, budget, statistics)
        if status != DONE:
            return status
        if not _leave(at, partitions, work):
            return NEEDS_ROOM
    return DONE
