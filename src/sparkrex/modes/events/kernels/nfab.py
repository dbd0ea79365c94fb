"""NFAb execution with all runs at once (paper, 5.2.1), merging those that are equivalent (`kernels.merge`).

A run is a state, the node of its last event in the shared buffer (`kernels.matches`), its youngest first row, its
last row, and a record: the values that later conditions read (`kernels.path`), the paper's vector V. At every event
each run tests the edges of its state; each that holds makes a child that selected the event, and the strategy says
whether the run itself stays.

`advance` allocates nothing: where room is short it goes back to its caller, who makes some and calls it again. Counting
the references of all arrays in the loop over the rows would cost more than the loop, and code that makes arrays takes
long to compile. Ends of matches are collected; the matches are written out in between (`nfab_matches.write`). Where no
run waits, rows that cannot start one are passed over.
"""

from __future__ import annotations

import numpy as np

from sparkrex.kernels.lazy import njit
from sparkrex.kernels.machine import holds
from sparkrex.modes.events.kernels.absence import end_verdict, gaps_verdict, holds_for, status_of
from sparkrex.modes.events.kernels.codes import (
    ANY,
    AWAITS,
    CONTIGUITY,
    DIVISION_BY_ZERO,
    DONE,
    EDGE_TESTS,
    GIVEN_UP,
    LABEL,
    LAST,
    MATCH_ENDS,
    MOST_RUNS,
    N_FIELDS,
    NEEDS_ROOM,
    NEXT,
    NODE,
    NODES,
    OVERFLOW,
    RECORD,
    REFUSED,
    RUN_STEPS,
    START,
    STATE,
    STEPS,
    STOPPED,
    UNDECIDED,
)
from sparkrex.modes.events.kernels.lookup import awaited_key, bit_of, look_up, put_back
from sparkrex.modes.events.kernels.matches import UNION, select
from sparkrex.modes.events.kernels.merge import is_better, merge

# Where a search is.
ROW, N_RUNS, SIDE, N_NODES, N_ENDS, N_FREE, N_RECORDS, WHERE, PARTITION, BLOCKED = range(10)


@njit(cache=True, nogil=True, _nrt=False)
def compact(moved, run_node, n_runs, end_node, n_ends, nodes, n_nodes, bound):
    """Throw away the nodes that no run and no end reaches inside the window, in place. Gives how many are left.

    `end_node` are those of undecided ends: what may be behind them is inside the window yet. `moved` is -1 for each.
    """
    node_row, node_label, node_before, node_other, node_youngest = nodes
    for r in range(n_runs):
        moved[run_node[r]] = 0
    for e in range(n_ends):
        moved[end_node[e]] = 0
    for n in range(n_nodes - 1, -1, -1):
        if moved[n] < 0:
            continue
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
    for r in range(n_runs):
        run_node[r] = moved[run_node[r]]
    for e in range(n_ends):
        end_node[e] = moved[end_node[e]]
    return n_left


@njit(cache=True, nogil=True, _nrt=False)
def advance(at, offsets, closes, runs, nodes, ends, free, table, used, automaton, events, options, most_edges, absences,
            reads, apart, lookup, path, tests, machine, columns, column_bits, record_ints, record_floats, float_bits,
            no_labels, budget, statistics):
    """Feed events on from row `at[ROW]`: DONE, NEEDS_ROOM before a row, or an error.

    Parameters
    ----------
    at : int64, see above: all are read and written; WHERE tells the row of an error, and no run starts at a time tied
        with row BLOCKED, -1: none is
    offsets : cut the rows into partitions; `closes` : whether the last one ends with its last row
    runs : int64 (2 sides, fields, runs): those of side `at[SIDE]` wait, the other side is written
    nodes : see `nfab_matches.write`
    ends : end_node, end_row, end_first (the first row that the window allows), end_is_open (whether a negation behind
        them leaves them undecided), one for each end of matches
    free : records that no run has; with room for all, and one place more, which is never read
    automaton : edge_offsets (by state), edge_target, edge_condition, edge_is_take, state_has_take, state_variable,
        accept_condition (by state, -2: a match cannot end there)
    events : window_first (by row: the first row that a match which ends here may have), ties (see `verdict`), can_start
        uint8 (whether a row can start a run)
    options : strategy, whether to merge, to keep only the first of overlapping matches, to keep the buffer of all rows
    most_edges : of a state
    absences : see `nfab_absence.is_there`; None if nothing is negated and no condition to end reads the match, and then
        all that is for those is not even compiled
    reads, apart, table, used : see `nfab_merge.merge`
    lookup : see `lookup.look_up`; None if all runs are tested at every row. Runs have three sides and one field
        more where they are looked up
    path, tests, machine, columns : see kernels.path, nfab_absence.holds_for, kernels.machine
    record_ints, record_floats : by run; record 0 is that of a run without events
    budget : see `nfab_codes`
    """
    edge_offsets, edge_target, edge_condition, edge_is_take, state_has_take, state_variable, accept_condition = (
        automaton
    )
    window_first, ties, can_start = events
    strategy, merges, only_first, keeps_buffer = options
    bitmap_of, bitmaps, code_begin, code_end = tests
    node_row, node_label, node_before, node_other, node_youngest = nodes
    end_node, end_row, end_first, end_is_open = ends
    keeps_best = apart[4]
    has_record = record_ints.shape[1] + record_floats.shape[1] > 0
    has_ties = ties.shape[0] > 0
    row, n_runs, side, n_nodes = at[ROW], at[N_RUNS], at[SIDE], at[N_NODES]
    n_ends, n_free, n_records = at[N_ENDS], at[N_FREE], at[N_RECORDS]
    partition, blocked = at[PARTITION], at[BLOCKED]
    low, high = offsets[partition], offsets[partition + 1]
    last_partition = offsets.shape[0] - 2
    status = DONE
    while True:
        if row == high:
            if partition == last_partition:
                break
            partition += 1
            low, high = offsets[partition], offsets[partition + 1]
            n_runs, n_free, n_records, blocked = np.int64(0), np.int64(0), np.int64(1), np.int64(-1)
            if n_ends == 0 and not keeps_buffer:
                n_nodes = np.int64(0)
            continue
        is_open = not closes and partition == last_partition
        if n_runs == 0:
            while row < high and can_start[row] == 0:
                row += 1
            if row == high:
                continue
        if budget[GIVEN_UP] != 0:
            return STOPPED
        budget[STEPS] = 0
        most_new = n_runs * (most_edges + 1) + most_edges
        if (
            most_new > runs.shape[2] or n_nodes + 2 * most_new > node_row.shape[0]
            or n_ends + most_new > end_node.shape[0] or (has_record and n_records + most_new > record_ints.shape[0])
            or 2 * most_new > table.shape[0]
        ):
            status = NEEDS_ROOM
            break
        bound = window_first[row]
        n_new = np.int64(0)
        n_changed = 0
        n_ends_before = n_ends
        other = 1 - side
        n_asked, n_over, changed = n_runs, np.int64(0), np.uint64(0)
        if lookup is not None:
            hits = lookup[6]
            other = (side + 1) % 3
            n_asked, n_over = look_up(runs[side], n_runs, row, bound, lookup, edge_offsets, edge_condition, tests,
                                      columns, column_bits)
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
                            for f in range(N_FIELDS):
                                runs[other, f, n_new] = runs[side, f, number]
                            if lookup is not None:
                                runs[other, AWAITS, n_new] = runs[side, AWAITS, number]
                            n_new += 1
                            continue
                if is_over:
                    free[n_free] = record
                    n_free += has_record
                    continue
            takes = False
            selects = False
            for edge in range(edge_offsets[state], edge_offsets[state + 1]):
                statistics[EDGE_TESTS] += 1
                condition = edge_condition[edge]
                if condition >= 0:
                    if bitmap_of[condition] >= 0 and bitmaps[bitmap_of[condition], row] == 0:
                        continue
                    if code_begin[condition] < code_end[condition]:
                        found = holds(code_begin[condition], code_end[condition], machine, columns, record_ints,
                                      record_floats, record, no_labels, (row, start, low, high, np.int64(0)))
                        if found < 0:
                            at[WHERE] = row
                            return OVERFLOW if found == -1 else DIVISION_BY_ZERO
                        if found == 0:
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
                    if not select(record, child, state_variable[target], row, path, columns, record_ints,
                                  record_floats):
                        at[WHERE] = row
                        return OVERFLOW
                # The event is selected, as if negated components were not there; then the run may be refused.
                if absences is not None:
                    ask_offsets = absences[6]
                    if ask_offsets[edge] < ask_offsets[edge + 1]:
                        found = gaps_verdict(absences[7], ask_offsets[edge], ask_offsets[edge + 1], last, row, child,
                                             (start, low, high), absences, ties, tests, machine, columns, record_ints,
                                             record_floats, no_labels, budget)
                        if found < 0:
                            at[WHERE] = row
                            return status_of(found)
                        if found == 1:
                            free[n_free] = child
                            n_free += has_record
                            continue
                label = first_label if state != 0 else state_variable[target]
                node_row[n_nodes] = row
                node_label[n_nodes] = state_variable[target]
                node_before[n_nodes] = node
                node_other[n_nodes] = -1
                if keeps_best:
                    node_other[n_nodes] = node_other[node] + 1 if node >= 0 else 1
                node_youngest[n_nodes] = start
                n_nodes += 1
                accepts = accept_condition[target]
                ends_here = accepts != -2
                if accepts >= 0 and bitmap_of[accepts] >= 0:
                    ends_here = bitmaps[bitmap_of[accepts], row] != 0
                if absences is not None:
                    if ends_here and accepts >= 0:
                        found = holds_for(accepts, row, child, (start, low, high), tests, machine, columns, record_ints,
                                          record_floats, no_labels)
                        if found < 0:
                            at[WHERE] = row
                            return OVERFLOW if found == -1 else DIVISION_BY_ZERO
                        ends_here = found == 1
                    end_offsets = absences[8]
                    if ends_here and end_offsets[target] < end_offsets[target + 1]:
                        found = gaps_verdict(absences[9], end_offsets[target], end_offsets[target + 1], last, row,
                                             child, (start, low, high), absences, ties, tests, machine, columns,
                                             record_ints, record_floats, no_labels, budget)
                        if found < 0:
                            at[WHERE] = row
                            return status_of(found)
                        ends_here = found == 0
                    if ends_here and absences[5].shape[0] > 0:
                        found = end_verdict(start, row, label, state_variable[target], child, is_open,
                                            (start, low, high), absences, ties, tests, machine, columns, record_ints,
                                            record_floats, no_labels, budget)
                        if found < 0:
                            at[WHERE] = row
                            return status_of(found)
                        ends_here = found != REFUSED
                        end_is_open[n_ends] = found == UNDECIDED
                if ends_here:
                    statistics[MATCH_ENDS] += 1
                    end_node[n_ends], end_row[n_ends], end_first[n_ends] = n_nodes - 1, row, bound
                    n_ends += 1
                if edge_offsets[target] < edge_offsets[target + 1]:
                    runs[other, STATE, n_new], runs[other, NODE, n_new] = target, n_nodes - 1
                    runs[other, START, n_new], runs[other, LAST, n_new] = start, row
                    runs[other, RECORD, n_new], runs[other, LABEL, n_new] = child, label
                    if lookup is not None:
                        awaits = awaited_key(target, child, lookup, columns, column_bits, record_ints)
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
                for f in range(N_FIELDS):
                    runs[other, f, n_new] = runs[side, f, number]
                if lookup is not None:
                    runs[other, AWAITS, n_new] = awaited_key(state, record, lookup, columns, column_bits, record_ints)
                n_new += 1
            elif has_record:
                free[n_free] = record
                n_free += 1
        if lookup is not None:
            side, n_runs, n_free = put_back(runs, side, n_runs, n_asked, n_new, n_over, bound, hits, free, n_free,
                                            has_record)
        else:
            side, n_runs = other, n_new
        if merges and n_changed > 0 and n_runs > 1:
            n_runs, n_nodes, n_free = merge(runs[side], n_runs, row, nodes, n_nodes, free, n_free, reads, absences,
                                            apart, lookup, changed, bound, ties, columns, column_bits, record_ints,
                                            float_bits, table, used, statistics)
        statistics[NODES] = max(statistics[NODES], n_nodes)
        statistics[MOST_RUNS] = max(statistics[MOST_RUNS], n_runs)
        row += 1
        if only_first and n_ends > n_ends_before:
            # No histories are shared: an end is one match, and the best of this row is kept.
            best = n_ends_before
            for e in range(n_ends_before + 1, n_ends):
                order = node_youngest[end_node[e]] - node_youngest[end_node[best]]
                if order < 0 or (order == 0 and is_better(end_node[e], end_node[best], nodes)):
                    best = e
            end_node[n_ends_before] = end_node[best]
            n_ends = n_ends_before + 1
            n_runs, n_free, n_records, blocked = np.int64(0), np.int64(0), np.int64(1), row - 1
    at[ROW], at[N_RUNS], at[SIDE], at[N_NODES] = row, n_runs, side, n_nodes
    at[N_ENDS], at[N_FREE], at[N_RECORDS] = n_ends, n_free, n_records
    at[PARTITION], at[BLOCKED] = partition, blocked
    return status
