"""NFAb execution with all runs at once (paper, 5.2.1), merging those that are equivalent (`kernels.nfab_merge`).

A run is a state, the node of its last event in the shared buffer (`kernels.nfab_matches`), its youngest first row, its
last row, and a record: the values that later conditions read (`kernels.path`), the paper's vector V. At every event
each run tests the edges of its state; each that holds makes a child that selected the event, and the strategy says
whether the run itself stays.

`advance` allocates nothing: where room is short it goes back to `search`, which makes some and goes on. Counting the
references of all arrays in the loop over the rows would cost more than the loop. Ends of matches are collected; the
matches are written out in between (`nfab_matches.write_all`). Where no run waits, rows that cannot start one are
passed over.
"""

from __future__ import annotations

import numpy as np

from sparkrex.kernels.copying import copy_table, copy_values
from sparkrex.kernels.inlined import allocating, shared
from sparkrex.kernels.lazy import njit
from sparkrex.kernels.machine import holds
from sparkrex.kernels.nfab_absence import end_verdict, holds_for, is_there, row_before, row_behind, status_of
from sparkrex.kernels.nfab_codes import (
    ANY,
    CONTIGUITY,
    DIVISION_BY_ZERO,
    DONE,
    EDGE_TESTS,
    ENDED,
    GIVEN_UP,
    LABEL,
    LAST,
    MATCH_ENDS,
    MOST_RUNS,
    N_FIELDS,
    N_STATISTICS,
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
    TOO_MANY_MATCHES,
    TOO_MANY_NODES,
    TOO_MANY_RUNS,
    UNDECIDED,
)
from sparkrex.kernels.nfab_matches import (
    EVENT_BYTES,
    MATCH_BYTES,
    UNION,
    grown,
    keep_best,
    lengthened,
    select,
    write_all,
)
from sparkrex.kernels.nfab_merge import merge

# Where `advance` is.
ROW, N_RUNS, SIDE, N_NODES, N_ENDS, N_FREE, N_RECORDS, WHERE = range(8)

# What one of each takes: a run on both sides and its place in `used`; a node, an end, an end that is undecided.
_RUN_BYTES, _NODE_BYTES, _END_BYTES, _UNDECIDED_BYTES = 16 * N_FIELDS + 8, 34, 25, 24
_MOST_ENDS = 1 << 16


@allocating
def deepened(table, n_rows):
    """The two-dimensional array with room for `n_rows` rows."""
    larger = np.empty((n_rows, table.shape[1]), table.dtype)
    copy_table(table, larger)
    return larger


@allocating
def _widened(runs, side, n_runs, length):
    """The runs with room for so many. Only those that wait are copied: the other side is written anew at every row."""
    larger = np.empty((2, N_FIELDS, length), np.int64)
    for f in range(N_FIELDS):
        copy_values(runs[side, f], 0, n_runs, larger[side, f], 0)
    return larger


@shared
def _taken_by_others(taken, own):
    total = np.int64(0)
    for one in range(taken.shape[0]):
        if one != own:
            total += taken[one]
    return total


@shared
def _room(length, needed, spare, size):
    """How long to make an array that is too short: twice as long, if what is spare allows that."""
    return max(needed, min(2 * length, needed + spare // size))


@njit(cache=True, nogil=True)
def compact(run_node, n_runs, end_node, n_ends, nodes, n_nodes, bound):
    """Throw away the nodes that no run and no end reaches inside the window, in place. Gives how many are left.

    `end_node` are those of undecided ends: what may be behind them is inside the window yet.
    """
    node_row, node_label, node_before, node_other, node_youngest = nodes
    moved = np.full(n_nodes, -1, np.int64)
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


@shared
def _set_aside(ends, at, node_youngest, undecided, n_undecided):
    """Take the ends that are open out of the ends. Gives how many are undecided now."""
    n_ends = at[N_ENDS]
    kept = 0
    for e in range(n_ends):
        if ends[3][e] == 0:
            ends[0][kept], ends[1][kept], ends[2][kept] = ends[0][e], ends[1][e], ends[2][e]
            ends[3][kept] = 0
            kept += 1
            continue
        # Runs of different first rows are apart, so that all histories of the node have one.
        undecided[0][n_undecided] = ends[0][e]
        undecided[1][n_undecided] = node_youngest[ends[0][e]]
        undecided[2][n_undecided] = ends[1][e]
        n_undecided += 1
    at[N_ENDS] = kept
    return n_undecided


@shared
def advance(at, low, high, is_open, blocked, runs, nodes, ends, free, table, used, automaton, events, options,
            most_edges, absences, reads, apart, path, tests, machine, columns, column_bits, record_ints, record_floats,
            float_bits, no_labels, budget, statistics):
    """Feed events from row `at[ROW]` on: DONE, NEEDS_ROOM before a row, ENDED behind a row, or an error.

    Parameters
    ----------
    at : int64, see above: ROW to N_RECORDS are read and written; WHERE tells the row of an error
    low, high : the partition's first row and the row behind its last
    is_open : whether more rows of the partition may come
    blocked : no run starts at a time tied with this row, -1: none is
    runs : int64 (2, fields, runs): those of side `at[SIDE]` wait, the other side is written
    ends : end_node, end_row, end_first (the first row that the window allows), end_is_open (whether a negation behind
        them leaves them undecided), one for each end of matches
    free : records that no run has; with room for all
    For the others see `search`, and `nfab_merge.merge`.
    """
    edge_offsets, edge_target, edge_condition, edge_is_take, state_has_take, state_variable, accept_condition = (
        automaton
    )
    window_first, ties, can_start = events
    strategy, merges, stops_at_ends = options
    bitmap_of, bitmaps, code_begin, code_end = tests
    node_row, node_label, node_before, node_other, node_youngest = nodes
    end_node, end_row, end_first, end_is_open = ends
    keeps_best = apart[4]
    has_record = record_ints.shape[1] + record_floats.shape[1] > 0
    has_ties = ties.shape[0] > 0
    row, n_runs, side, n_nodes = at[ROW], at[N_RUNS], at[SIDE], at[N_NODES]
    n_ends, n_free, n_records = at[N_ENDS], at[N_FREE], at[N_RECORDS]
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
        starts = can_start[row] != 0 and (blocked < 0 or not has_ties or ties[row] != ties[blocked])
        # The last round is that of a run which has selected nothing: where the row may start one.
        for r in range(n_runs + 1):
            if r == n_runs:
                if not starts:
                    break
                state, node, start, record = np.int64(0), np.int64(-1), row, np.int64(0)
                last, first_label = np.int64(-1), np.int64(-1)
            else:
                state, node, start = runs[side, STATE, r], runs[side, NODE, r], runs[side, START, r]
                record = runs[side, RECORD, r]
                last, first_label = runs[side, LAST, r], runs[side, LABEL, r]
                is_over = start < bound
                if not is_over:
                    statistics[RUN_STEPS] += 1
                    if has_ties and ties[last] == ties[row]:
                        is_over = strategy == CONTIGUITY
                        if not is_over:
                            for f in range(N_FIELDS):
                                runs[other, f, n_new] = runs[side, f, r]
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
                is_refused = False
                if absences is not None:
                    cross_offsets, crossed = absences[7], absences[8]
                    for a in range(cross_offsets[edge], cross_offsets[edge + 1]):
                        behind = row_behind(last, row - 1, ties)
                        found = is_there(crossed[a], behind, row_before(row, behind, ties), child, (start, low, high),
                                         absences, tests, machine, columns, record_ints, record_floats, no_labels,
                                         budget)
                        if found < 0:
                            at[WHERE] = row
                            return status_of(found)
                        is_refused = is_refused or found == 1
                if is_refused:
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
                    if ends_here and absences[6].shape[0] > 0:
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
                    runs[other, f, n_new] = runs[side, f, r]
                n_new += 1
            elif has_record:
                free[n_free] = record
                n_free += 1
        side = other
        n_runs = n_new
        if merges and n_changed > 0 and n_runs > 1:
            n_runs, n_nodes, n_free = merge(runs[side], n_runs, row, nodes, n_nodes, free, n_free, reads, apart, ties,
                                            columns, column_bits, record_ints, float_bits, table, used, statistics)
        statistics[NODES] = max(statistics[NODES], n_nodes)
        statistics[MOST_RUNS] = max(statistics[MOST_RUNS], n_runs)
        row += 1
        if stops_at_ends and n_ends > n_ends_before:
            status = ENDED
            break
    at[ROW], at[N_RUNS], at[SIDE], at[N_NODES] = row, n_runs, side, n_nodes
    at[N_ENDS], at[N_FREE], at[N_RECORDS] = n_ends, n_free, n_records
    return status


@njit(cache=True, nogil=True)
def search(offsets, goes_on, closes, first_row, blocked, live, records, live_nodes, waiting, automaton, events, options,
           memory, absences, reads, apart, path, tests, machine, columns, initial, output, budget):
    """All matches of a range of partitions.

    Parameters
    ----------
    offsets : cut the rows into partitions
    goes_on, first_row : whether the first partition was begun before, and its first row not seen yet
    closes : whether the last partition ends with its last row
    blocked : with ties, the last row of the last match of the first partition, if only the first is kept; else -1
    live : state, node, start, last row and first label of the runs of the first partition, int64; live_nodes : its
        buffer
    records : int64 and float64, that of a run without events and those of `live` (see `nfab_matches.revive`)
    waiting : node, first and last row of the ends of the first partition that are undecided still
    automaton : edge_offsets (by state), edge_target, edge_condition, edge_is_take, state_has_take, state_variable,
        accept_condition (by state, -2: a match cannot end there)
    events : window_first (by row: the first row that a match which ends here may have), ties (see `verdict`), can_start
        uint8 (whether a row can start a run)
    options : strategy, whether to merge, to construct matches, to keep only the first of overlapping ones, to keep the
        buffer and the ends of all rows, and to list undecided matches too instead of keeping their ends
    memory : the bytes that each of the searches at the same time has, which number this one is, and the most that they
        may have together
    absences : see `nfab_absence.is_there`; None if nothing is negated and no condition to end reads the match, and then
        all that is for those is not even compiled
    reads, apart : see `nfab_merge.merge`
    path, tests, machine, columns : see kernels.path, nfab_absence.holds_for, kernels.machine
    initial : the first of `records`
    output : see `write_all`; empty, with room for some
    budget : see `nfab_codes`

    Returns
    -------
    status, row or state where it stopped, output, ends (node, row and first row allowed of every
    match end that was not written, with their number), the runs left, the nodes, the undecided ends left (as `waiting`)
    the last match's last row, statistics
    """
    edge_offsets = automaton[0]
    strategy, merges, constructs, only_first, keeps_buffer, lists_open = options
    taken, own, most_bytes = memory
    n_ints, n_floats = initial[0].shape[0], initial[1].shape[0]
    statistics = np.zeros(N_STATISTICS, np.int64)
    most_edges = np.int64(1)
    for s in range(edge_offsets.shape[0] - 1):
        most_edges = max(most_edges, edge_offsets[s + 1] - edge_offsets[s])

    n_live = live[0].shape[0]
    runs = np.zeros((2, N_FIELDS, max(np.int64(64), n_live)), np.int64)
    used = np.empty(runs.shape[2], np.int64)
    table = np.full(256, -1, np.int64)
    record_ints = deepened(records[0], max(np.int64(64), 2 * n_live))
    record_floats = deepened(records[1], record_ints.shape[0])
    float_bits = record_floats.view(np.int64)
    column_bits = columns[3].view(np.int64)
    # Without records every run that ends still writes a place; it is never read.
    free = np.empty(record_ints.shape[0] + 1, np.int64)
    nodes = (grown(live_nodes[0], 1024), grown(live_nodes[1], 1024), grown(live_nodes[2], 1024),
             grown(live_nodes[3], 1024), grown(live_nodes[4], 1024))
    n_kept_nodes = live_nodes[0].shape[0]
    ends = (np.empty(1024, np.int64), np.empty(1024, np.int64), np.empty(1024, np.int64), np.zeros(1024, np.uint8))
    undecided = (grown(waiting[0], 64), grown(waiting[1], 64), grown(waiting[2], 64))
    n_undecided = waiting[0].shape[0]
    no_labels = np.empty(0, np.int16)
    inner_options = (strategy, merges, only_first)
    record_bytes = 8 * (n_ints + n_floats + 1)  # and a place among those that are free
    match_bytes = np.int64(0)
    status = DONE
    where = np.int64(0)
    at = np.zeros(8, np.int64)
    at[N_NODES] = live_nodes[0].shape[0]

    n_partitions = offsets.shape[0] - 1
    for p in range(n_partitions):
        low, high = offsets[p], offsets[p + 1]
        is_open = not closes and p == n_partitions - 1
        at[ROW] = low
        at[N_RUNS] = 0
        at[N_RECORDS] = 1
        at[N_FREE] = 0
        if p == 0 and goes_on:
            at[ROW] = first_row
            at[N_RUNS] = n_live
            at[SIDE] = 0
            for r in range(n_live):
                runs[0, STATE, r], runs[0, NODE, r] = live[0][r], live[1][r]
                runs[0, START, r], runs[0, LAST, r] = live[2][r], live[3][r]
                runs[0, RECORD, r], runs[0, LABEL, r] = np.int64(0), live[4][r]
                if n_ints + n_floats > 0:
                    runs[0, RECORD, r] = at[N_RECORDS]
                    at[N_RECORDS] += 1
        else:
            blocked = np.int64(-1)
            if not keeps_buffer:
                at[N_NODES] = 0
        while status == DONE:
            status = advance(at, low, high, is_open, blocked, runs, nodes, ends, free, table, used, automaton, events,
                             inner_options, most_edges, absences, reads, apart, path, tests, machine, columns,
                             column_bits, record_ints, record_floats, float_bits, no_labels, budget, statistics)
            where = at[WHERE]
            is_done = status == DONE
            if status not in (DONE, NEEDS_ROOM, ENDED):
                break
            status = DONE
            n_matches = output[4][0]
            if absences is not None and is_open and not lists_open and absences[6].shape[0] > 0:
                n_room = n_undecided + at[N_ENDS]
                undecided = (grown(undecided[0], n_room), grown(undecided[1], n_room), grown(undecided[2], n_room))
                n_undecided = _set_aside(ends, at, nodes[4], undecided, n_undecided)
            if not keeps_buffer and at[N_ENDS] > 0:
                if constructs:
                    most_of_matches = most_bytes - _taken_by_others(taken, own) - (taken[own] - match_bytes)
                    output, status, where = write_all(ends, at[N_ENDS], is_open, low, high, nodes, output, absences,
                                                      events[1], path, tests, machine, columns, initial,
                                                      most_of_matches, budget)
                    taken[own] -= match_bytes
                    match_bytes = output[4][0] * MATCH_BYTES + output[4][1] * EVENT_BYTES
                    taken[own] += match_bytes
                    if status == 0:
                        status = DONE
                    elif status > 0:
                        status = TOO_MANY_MATCHES
                        where = np.int64(1)  # the state in which one of them ended
                        while automaton[5][where] != nodes[1][ends[0][0]]:
                            where += 1
                    else:
                        status = status_of(status)
                at[N_ENDS] = 0
            if only_first and output[4][0] > n_matches:
                keep_best(output, n_matches)
                blocked = at[ROW] - 1
                at[N_RUNS] = 0
                at[N_RECORDS] = 1
                at[N_FREE] = 0
            if is_done or status != DONE:
                break
            n_runs, side, n_nodes = at[N_RUNS], at[SIDE], at[N_NODES]
            most_new = n_runs * (most_edges + 1) + most_edges
            typical = runs[side, STATE, n_runs // 2] if n_runs > 0 else np.int64(0)
            if not keeps_buffer and n_nodes + 2 * most_new > nodes[0].shape[0] and (
                n_nodes > 2 * n_kept_nodes + (1 << 16)
            ):
                n_nodes = compact(runs[side, NODE], n_runs, undecided[0], n_undecided, nodes, n_nodes,
                                  events[0][max(low, at[ROW] - 1)])
                at[N_NODES] = n_nodes
                n_kept_nodes = n_nodes
            # All arrays are counted as if full; of what was never written a page takes no memory.
            n_table = table.shape[0]
            while n_table < 2 * most_new:
                n_table *= 2
            n_all_records = max(record_ints.shape[0], at[N_RECORDS] + most_new) if n_ints + n_floats > 0 else 0
            n_all_nodes = max(nodes[0].shape[0], n_nodes + 2 * most_new)
            n_all_ends = max(ends[0].shape[0], at[N_ENDS] + most_new)
            run_bytes = max(runs.shape[2], most_new) * _RUN_BYTES + 8 * n_table + n_all_records * record_bytes
            node_bytes = n_all_nodes * _NODE_BYTES
            own_bytes = run_bytes + node_bytes + n_all_ends * _END_BYTES + n_undecided * _UNDECIDED_BYTES
            own_bytes += match_bytes
            spare = most_bytes - _taken_by_others(taken, own) - own_bytes
            if spare < 0:
                status, where = TOO_MANY_RUNS if run_bytes > node_bytes else TOO_MANY_NODES, typical
                break
            if most_new > runs.shape[2]:
                runs = _widened(runs, side, n_runs, _room(runs.shape[2], most_new, spare // 4, _RUN_BYTES))
                used = np.empty(runs.shape[2], np.int64)
            if n_table > table.shape[0]:
                table = np.full(n_table, -1, np.int64)
            if n_all_records > record_ints.shape[0]:
                n_room = _room(record_ints.shape[0], n_all_records, spare // 4, record_bytes)
                record_ints = deepened(record_ints, n_room)
                record_floats = deepened(record_floats, n_room)
                float_bits = record_floats.view(np.int64)
                free = lengthened(free, n_room + 1)
            if n_all_nodes > nodes[0].shape[0]:
                # One after the other: then only one of them is there twice.
                n_room = _room(nodes[0].shape[0], n_all_nodes, spare // 4, _NODE_BYTES)
                nodes = (lengthened(nodes[0], n_room), nodes[1], nodes[2], nodes[3], nodes[4])
                nodes = (nodes[0], lengthened(nodes[1], n_room), nodes[2], nodes[3], nodes[4])
                nodes = (nodes[0], nodes[1], lengthened(nodes[2], n_room), nodes[3], nodes[4])
                nodes = (nodes[0], nodes[1], nodes[2], lengthened(nodes[3], n_room), nodes[4])
                nodes = (nodes[0], nodes[1], nodes[2], nodes[3], lengthened(nodes[4], n_room))
            # The fewer ends have room, the more often matches are written out in between.
            n_room = _room(ends[0].shape[0], n_all_ends, spare // 4, _END_BYTES)
            if not keeps_buffer:
                n_room = max(n_all_ends, min(n_room, np.int64(_MOST_ENDS)))
            if n_room > ends[0].shape[0]:
                # Where no end is judged, none is written to be open.
                ends = (lengthened(ends[0], n_room), lengthened(ends[1], n_room), lengthened(ends[2], n_room),
                        np.zeros(n_room, np.uint8))
            taken[own] = own_bytes
        if status != DONE:
            break
    taken[own] = match_bytes
    n_runs = np.int64(0) if closes or n_partitions == 0 else at[N_RUNS]
    n_nodes = at[N_NODES]
    left = np.empty((N_FIELDS, n_runs), np.int64)
    for f in range(N_FIELDS):
        copy_values(runs[at[SIDE], f], 0, n_runs, left[f], 0)
    return (
        status, where, output, (ends[0], ends[1], ends[2], at[N_ENDS]),
        (left[STATE], left[NODE], left[START], left[LAST]),
        (nodes[0][:n_nodes], nodes[1][:n_nodes], nodes[2][:n_nodes], nodes[3][:n_nodes], nodes[4][:n_nodes]),
        (undecided[0][:n_undecided], undecided[1][:n_undecided], undecided[2][:n_undecided]), blocked, statistics,
    )
