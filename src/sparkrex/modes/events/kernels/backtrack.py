"""NFAb execution one run at a time (paper, 5.2.3): the algorithm that the others are compared with.

The run of a start goes on until it fails; the runs that split off wait on a stack with the row they go on from. Events
are read again for every run, and nothing is shared but the histories of runs that split. Runs further up the stack
split off later, so that their nodes have higher numbers: when a run is taken from it, all nodes above its own are those
of runs that have failed.
"""

from __future__ import annotations

import numpy as np

from sparkrex.kernels.copying import copy_table, copy_values
from sparkrex.kernels.inlined import allocating
from sparkrex.kernels.lazy import njit
from sparkrex.kernels.path import MAPPED
from sparkrex.modes.events.kernels.absence import holds_for, status_of, verdict
from sparkrex.modes.events.kernels.codes import (
    ANY,
    BACK_STEPS,
    CONTIGUITY,
    DIVISION_BY_ZERO,
    DONE,
    EDGE_TESTS,
    GIVEN_UP,
    KEPT,
    MATCH_ENDS,
    MOST_RUNS,
    MOST_STEPS,
    N_STATISTICS,
    NEXT,
    OVERFLOW,
    REFUSED,
    RUN_STEPS,
    STEPS,
    STOPPED,
    TOO_MANY_MATCHES,
    TOO_MANY_RUNS,
    TOO_MANY_STEPS,
    UNDECIDED,
)
from sparkrex.modes.events.kernels.matches import EVENT_BYTES, MATCH_BYTES, grown, replay_rows, select

# A waiting run, a node, and what puts a match in order later: its place, and where it begins.
_RUN_BYTES, _NODE_BYTES, _ORDER_BYTES = 32, 18, 32


@allocating
def deepened(table, n_rows):
    """The two-dimensional array with room for `n_rows` rows."""
    larger = np.empty((n_rows, table.shape[1]), table.dtype)
    copy_table(table, larger)
    return larger


@allocating
def write_match(node, is_open, bounds, nodes, buffers, output, absences, ties, path, tests, machine, columns, records,
                no_labels, most_bytes, budget):
    """Append the match that ends in a node, if nothing forbids it. Gives the output, the buffers, and 0, 1 (too many)
    or an error.
    """
    node_row, node_label, node_before = nodes
    rows, labels = buffers
    n_events = np.int64(0)
    while node >= 0:
        rows, labels = grown(rows, n_events + 1), grown(labels, n_events + 1)
        rows[n_events], labels[n_events] = node_row[node], node_label[node]
        n_events += 1
        node = node_before[node]
    buffers = (rows, labels)
    state = KEPT
    if absences[0].shape[0] > 0:
        if replay_rows(rows, labels, n_events, np.int64(1), path, columns, records[0], records[1]) != MAPPED:
            return output, buffers, np.int64(-1)
        budget[STEPS] = 0
        state = verdict(rows, labels, n_events, is_open, bounds, absences, ties, tests, machine, columns, records[0],
                        records[1], no_labels, budget)
        if state < 0:
            return output, buffers, np.int64(state)
    if state == REFUSED:
        return output, buffers, np.int64(0)
    n_matches, n_before = output[4][0], output[4][1]
    if n_before * EVENT_BYTES + n_matches * MATCH_BYTES > most_bytes:
        return output, buffers, np.int64(1)
    output = (grown(output[0], n_before + n_events), grown(output[1], n_before + n_events),
              grown(output[2], n_matches + 2), grown(output[3], n_matches + 2), output[4])
    for i in range(n_events):
        output[0][n_before + i] = rows[n_events - 1 - i]
        output[1][n_before + i] = labels[n_events - 1 - i]
    output[2][n_matches + 1] = n_before + n_events
    output[3][n_matches] = state == UNDECIDED
    output[4][0] = n_matches + 1
    output[4][1] = n_before + n_events
    return output, buffers, np.int64(0)


@njit(cache=True, nogil=True)
def search(offsets, closes, automaton, events, options, memory, absences, path, tests, machine, columns, initial,
           output, budget):
    """All matches of a range of partitions, by their starts. For the arguments see `nfab.advance`.

    Matches count twice: who calls this puts them in order of their last events, in other arrays.

    Returns
    -------
    status, row or state where it stopped, output, statistics
    """
    edge_offsets, edge_target, edge_condition, edge_is_take, state_has_take, state_variable, accept_condition = (
        automaton
    )
    window_first, ties, can_start = events
    strategy, constructs = options
    taken, own_place, most_bytes = memory
    n_ints, n_floats = initial[0].shape[0], initial[1].shape[0]
    has_ties = ties.shape[0] > 0
    statistics = np.zeros(N_STATISTICS, np.int64)
    # One place in every array for each waiting run: its record and its node have the same number.
    room = np.int64(64)
    run_state, run_node, run_last, run_next = (
        np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room, np.int64)
    )
    n_runs = 0
    record_ints = np.empty((64, n_ints), np.int64)
    record_floats = np.empty((64, n_floats), np.float64)
    copy_values(initial[0], 0, n_ints, record_ints[0], 0)
    copy_values(initial[1], 0, n_floats, record_floats[0], 0)
    node_row, node_label = np.empty(1024, np.int64), np.empty(1024, np.int16)
    node_before = np.empty(1024, np.int64)
    no_labels = np.empty(0, np.int16)
    buffers = (np.empty(256, np.int64), np.empty(256, np.int16))
    records = (np.empty((2, n_ints), np.int64), np.empty((2, n_floats), np.float64))
    copy_values(initial[0], 0, n_ints, records[0][0], 0)
    copy_values(initial[1], 0, n_floats, records[1][0], 0)
    record_bytes = 8 * (n_ints + n_floats)
    array_bytes = np.int64(0)
    match_bytes = np.int64(0)
    n_partitions = offsets.shape[0] - 1
    for p in range(n_partitions):
        low, high = offsets[p], offsets[p + 1]
        is_open = not closes and p == n_partitions - 1
        furthest = low - 1
        for first in range(low, high):
            if can_start[first] == 0:
                continue
            # Record r + 1 belongs to the run at place r of the stack; record 0 is that of no events.
            run_state[0], run_node[0], run_last[0], run_next[0] = 0, -1, -1, first
            copy_values(record_ints[0], 0, n_ints, record_ints[1], 0)
            copy_values(record_floats[0], 0, n_floats, record_floats[1], 0)
            n_runs = 1
            n_nodes = 0
            n_steps = np.int64(0)
            while n_runs > 0:
                n_steps += 1
                if n_steps > budget[MOST_STEPS]:
                    return TOO_MANY_STEPS, first, output, statistics
                if budget[GIVEN_UP] != 0:
                    return STOPPED, first, output, statistics
                n_runs -= 1
                state, node, last, row = run_state[n_runs], run_node[n_runs], run_last[n_runs], run_next[n_runs]
                own = n_runs
                n_nodes = node + 1
                if row >= high or window_first[row] > first or (state == 0 and row > first):
                    continue
                if row <= furthest:
                    statistics[BACK_STEPS] += 1
                else:
                    furthest = row
                if state != 0:
                    statistics[RUN_STEPS] += 1
                    if has_ties and ties[last] == ties[row]:
                        if strategy != CONTIGUITY:
                            run_next[own] = row + 1
                            n_runs += 1
                        continue
                n_edges = edge_offsets[state + 1] - edge_offsets[state]
                if (
                    own + 2 + n_edges > run_state.shape[0] or own + 4 + n_edges > record_ints.shape[0]
                    or n_nodes + n_edges > node_row.shape[0]
                ):
                    # Twice as long, and while they are copied there once more.
                    array_bytes = 3 * (run_state.shape[0] * _RUN_BYTES + record_ints.shape[0] * record_bytes
                                       + node_row.shape[0] * _NODE_BYTES)
                    taken[own_place] = array_bytes + match_bytes
                    if taken.sum() > most_bytes:
                        return TOO_MANY_RUNS, state, output, statistics
                if own + 2 + n_edges > run_state.shape[0]:
                    run_state, run_node = grown(run_state, own + 2 + n_edges), grown(run_node, own + 2 + n_edges)
                    run_last, run_next = grown(run_last, own + 2 + n_edges), grown(run_next, own + 2 + n_edges)
                if own + 4 + n_edges > record_ints.shape[0]:
                    n_room = max(2 * record_ints.shape[0], own + 4 + n_edges)
                    record_ints = deepened(record_ints, n_room)
                    record_floats = deepened(record_floats, n_room)
                if n_nodes + n_edges > node_row.shape[0]:
                    n_room = n_nodes + n_edges
                    node_row, node_label = grown(node_row, n_room), grown(node_label, n_room)
                    node_before = grown(node_before, n_room)
                # Children are written behind the run; if it fails here they move down into its place.
                takes = False
                selects = False
                n_children = 0
                for edge in range(edge_offsets[state], edge_offsets[state + 1]):
                    statistics[EDGE_TESTS] += 1
                    condition = edge_condition[edge]
                    found = holds_for(condition, row, own + 1, (first, low, high), tests, machine, columns, record_ints,
                                      record_floats, no_labels)
                    if found < 0:
                        return OVERFLOW if found == -1 else DIVISION_BY_ZERO, row, output, statistics
                    if found == 0:
                        continue
                    selects = True
                    takes = takes or edge_is_take[edge] != 0
                    target = edge_target[edge]
                    place = own + 1 + n_children
                    if not select(own + 1, place + 1, state_variable[target], row, path, columns, record_ints,
                                  record_floats):
                        return OVERFLOW, row, output, statistics
                    node_row[n_nodes] = row
                    node_label[n_nodes] = state_variable[target]
                    node_before[n_nodes] = node
                    n_nodes += 1
                    accepts = accept_condition[target]
                    ends_here = accepts != -2
                    if accepts >= 0:
                        found = holds_for(accepts, row, place + 1, (first, low, high), tests, machine, columns,
                                          record_ints, record_floats, no_labels)
                        if found < 0:
                            return OVERFLOW if found == -1 else DIVISION_BY_ZERO, row, output, statistics
                        ends_here = found == 1
                    if ends_here:
                        statistics[MATCH_ENDS] += 1
                        if constructs:
                            spare = most_bytes - (taken.sum() - match_bytes) - output[4][0] * _ORDER_BYTES
                            output, buffers, error = write_match(
                                n_nodes - 1, is_open, (first, low, high), (node_row, node_label, node_before), buffers,
                                output, absences, ties, path, tests, machine, columns, records, no_labels, spare // 2,
                                budget,
                            )
                            match_bytes = (output[4][0] * (2 * MATCH_BYTES + _ORDER_BYTES)
                                           + output[4][1] * 2 * EVENT_BYTES)
                            taken[own_place] = array_bytes + match_bytes
                            if error > 0:
                                return TOO_MANY_MATCHES, target, output, statistics
                            if error < 0:
                                return status_of(error), row, output, statistics
                    if edge_offsets[target] < edge_offsets[target + 1]:
                        run_state[place], run_node[place], run_last[place] = target, n_nodes - 1, row
                        run_next[place] = row + 1
                        n_children += 1
                stays = state != 0 and strategy == ANY
                if state != 0 and strategy == NEXT:
                    stays = not (takes if state_has_take[state] != 0 else selects)
                if stays:
                    run_next[own] = row + 1
                    n_runs = own + 1 + n_children
                else:
                    for child in range(n_children):
                        at = own + 1 + child
                        run_state[at - 1], run_node[at - 1] = run_state[at], run_node[at]
                        run_last[at - 1], run_next[at - 1] = run_last[at], run_next[at]
                        copy_values(record_ints[at + 1], 0, n_ints, record_ints[at], 0)
                        copy_values(record_floats[at + 1], 0, n_floats, record_floats[at], 0)
                    n_runs = own + n_children
                statistics[MOST_RUNS] = max(statistics[MOST_RUNS], n_runs)
    return DONE, np.int64(0), output, statistics
