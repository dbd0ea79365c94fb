"""NFAb execution one run at a time (paper, 5.2.3): the algorithm that the others are compared with.

The run of a start goes on until it fails; the runs that split off wait on a stack with the row they go on from. Events
are read again for every run, and nothing is shared but the histories of runs that split. Runs further up the stack
split off later, so that their nodes have higher numbers: when a run is taken from it, all nodes above its own are those
of runs that have failed.
"""

from __future__ import annotations

import numpy as np

from sparkrex.kernels.copying import copy_table, copy_values
from sparkrex.kernels.inlined import allocating, inlined
from sparkrex.kernels.lazy import njit
from sparkrex.kernels.path import MAPPED
from sparkrex.modes.events.kernels.absence import holds_for, status_of, verdict
from sparkrex.modes.events.kernels.arguments import Bounds, Matches, Records, Stack, Trail, Walk
from sparkrex.modes.events.kernels.codes import (
    ANY,
    BACK_STEPS,
    CONTIGUITY,
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
from sparkrex.modes.events.kernels.matches import EVENT_BYTES, MATCH_BYTES, grown, new_records, replay_rows, select

# A waiting run, a node, and what puts a match in order later: its place, and where it begins.
_RUN_BYTES, _NODE_BYTES, _ORDER_BYTES = 32, 18, 32


@allocating
def deepened(table, n_rows):
    """The two-dimensional array with room for `n_rows` rows."""
    if table.shape[0] >= n_rows:
        return table
    larger = np.empty((max(2 * table.shape[0], n_rows), table.shape[1]), table.dtype)
    copy_table(table, larger)
    return larger


@allocating
def history(node, trail, walk):
    """The events up to a node, the last one first: room that they are in, and how many they are."""
    rows, labels = walk.rows, walk.labels
    n_events = np.int64(0)
    while node >= 0:
        rows, labels = grown(rows, n_events + 1), grown(labels, n_events + 1)
        rows[n_events], labels[n_events] = trail.row[node], trail.label[node]
        n_events += 1
        node = trail.before[node]
    return Walk(rows, labels, walk.nodes, walk.depths), n_events


@allocating
def write_match(node, bounds, trail, walk, output, plan, absences, records, most_bytes, budget):
    """Append the match that ends in a node, if nothing forbids it. Gives the output, the walk, and 0, 1 (too many)
    or an error.
    """
    walk, n_events = history(node, trail, walk)
    state = KEPT
    if absences.conditions.shape[0] > 0:
        if replay_rows(walk.rows, walk.labels, n_events, np.int64(1), plan.values.path, plan.values.cells.columns,
                       records) != MAPPED:
            return output, walk, np.int64(-1)
        budget[STEPS] = 0
        state = verdict(walk.rows, walk.labels, n_events, bounds, absences, plan.events.ties, plan.values, records,
                        budget)
        if state < 0:
            return output, walk, np.int64(state)
    if state == REFUSED:
        return output, walk, np.int64(0)
    n_matches, n_before = output.counts[0], output.counts[1]
    if n_before * EVENT_BYTES + n_matches * MATCH_BYTES > most_bytes:
        return output, walk, np.int64(1)
    n_after = n_before + n_events
    output = Matches(grown(output.rows, n_after), grown(output.labels, n_after), grown(output.offsets, n_matches + 2),
                     grown(output.is_open, n_matches + 2), output.counts)
    for i in range(n_events):
        output.rows[n_before + i] = walk.rows[n_events - 1 - i]
        output.labels[n_before + i] = walk.labels[n_events - 1 - i]
    output.offsets[n_matches + 1] = n_after
    output.is_open[n_matches] = state == UNDECIDED
    output.counts[0] = n_matches + 1
    output.counts[1] = n_after
    return output, walk, np.int64(0)


@inlined
def _copy_record(records, number, to):
    copy_values(records.ints[number], 0, records.ints.shape[1], records.ints[to], 0)
    copy_values(records.floats[number], 0, records.floats.shape[1], records.floats[to], 0)


@inlined
def _has_room(own, n_nodes, n_edges, stack, trail, records):
    """Whether there is room for all children of the run at place `own`."""
    return (
        own + 2 + n_edges <= stack.state.shape[0] and own + 4 + n_edges <= records.ints.shape[0]
        and n_nodes + n_edges <= trail.row.shape[0]
    )


@allocating
def make_room(own, n_nodes, n_edges, stack, trail, records):
    """The arrays with room for all children of the run at place `own`."""
    n_runs, n_records, n_nodes = own + 2 + n_edges, own + 4 + n_edges, n_nodes + n_edges
    floats = deepened(records.floats, n_records)
    return (
        Stack(grown(stack.state, n_runs), grown(stack.node, n_runs), grown(stack.last, n_runs),
              grown(stack.next, n_runs)),
        Trail(grown(trail.row, n_nodes), grown(trail.label, n_nodes), grown(trail.before, n_nodes)),
        Records(deepened(records.ints, n_records), floats, floats.view(np.int64)),
    )


@inlined
def _move_down(own, n_children, stack, records):
    """The children of a run that failed move into its place."""
    for at in range(own + 1, own + 1 + n_children):
        stack.state[at - 1], stack.node[at - 1] = stack.state[at], stack.node[at]
        stack.last[at - 1], stack.next[at - 1] = stack.last[at], stack.next[at]
        _copy_record(records, at + 1, at)


@inlined
def _bytes_of(stack, trail, records):
    """Of arrays that grow: twice as long, and while they are copied there once more."""
    record_bytes = 8 * (records.ints.shape[1] + records.floats.shape[1])
    return 3 * (stack.state.shape[0] * _RUN_BYTES + records.ints.shape[0] * record_bytes
                + trail.row.shape[0] * _NODE_BYTES)


@inlined
def _match_bytes(output):
    """Matches count twice: who calls puts them in order of their last events, in other arrays."""
    return output.counts[0] * (2 * MATCH_BYTES + _ORDER_BYTES) + output.counts[1] * 2 * EVENT_BYTES


@njit(cache=True, nogil=True)
def search(offsets, plan, memory, absences, initial, output, budget):
    """All matches of a range of partitions, by their starts.

    Returns
    -------
    status, row or state where it stopped, output, statistics
    """
    edge_offsets, edge_target, edge_condition, edge_is_take, state_has_take, state_variable, accept_condition = (
        plan.automaton
    )
    window_first, ties, can_start = plan.events
    strategy, constructs, values = plan.options.strategy, plan.options.constructs, plan.values
    path, columns = values.path, values.cells.columns
    taken, own_place, most_bytes = memory
    has_ties = ties.shape[0] > 0
    statistics = np.zeros(N_STATISTICS, np.int64)
    # One place in every array for each waiting run: its record and its node have the same number.
    stack = Stack(np.empty(64, np.int64), np.empty(64, np.int64), np.empty(64, np.int64), np.empty(64, np.int64))
    trail = Trail(np.empty(1024, np.int64), np.empty(1024, np.int16), np.empty(1024, np.int64))
    walk = Walk(np.empty(256, np.int64), np.empty(256, np.int16), np.empty(0, np.int64), np.empty(0, np.int64))
    # Record r + 1 belongs to the run at place r of the stack; record 0 is that of no events.
    records, own_records = new_records(initial, 64), new_records(initial, 2)
    array_bytes, match_bytes = np.int64(0), np.int64(0)
    for p in range(offsets.shape[0] - 1):
        low, high = offsets[p], offsets[p + 1]
        furthest = low - 1
        for first in range(low, high):
            if can_start[first] == 0:
                continue
            bounds = Bounds(first, low, high, high)
            stack.state[0], stack.node[0], stack.last[0], stack.next[0] = 0, -1, -1, first
            _copy_record(records, 0, 1)
            n_runs = 1
            n_steps = np.int64(0)
            while n_runs > 0:
                n_steps += 1
                if n_steps > budget[MOST_STEPS]:
                    return TOO_MANY_STEPS, first, output, statistics
                if budget[GIVEN_UP] != 0:
                    return STOPPED, first, output, statistics
                n_runs -= 1
                own = n_runs
                state, node, last, row = stack.state[own], stack.node[own], stack.last[own], stack.next[own]
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
                            stack.next[own] = row + 1
                            n_runs += 1
                        continue
                n_edges = edge_offsets[state + 1] - edge_offsets[state]
                if not _has_room(own, n_nodes, n_edges, stack, trail, records):
                    array_bytes = _bytes_of(stack, trail, records)
                    taken[own_place] = array_bytes + match_bytes
                    if taken.sum() > most_bytes:
                        return TOO_MANY_RUNS, state, output, statistics
                    stack, trail, records = make_room(own, n_nodes, n_edges, stack, trail, records)
                # Children are written behind the run; if it fails here they move down into its place.
                takes = False
                selects = False
                n_children = 0
                for edge in range(edge_offsets[state], edge_offsets[state + 1]):
                    statistics[EDGE_TESTS] += 1
                    found = holds_for(edge_condition[edge], row, own + 1, bounds, values, records)
                    if found < 0:
                        return status_of(found), row, output, statistics
                    if found == 0:
                        continue
                    selects = True
                    takes = takes or edge_is_take[edge] != 0
                    target = edge_target[edge]
                    place = own + 1 + n_children
                    if not select(own + 1, place + 1, state_variable[target], row, path, columns, records):
                        return OVERFLOW, row, output, statistics
                    trail.row[n_nodes] = row
                    trail.label[n_nodes] = state_variable[target]
                    trail.before[n_nodes] = node
                    n_nodes += 1
                    accepts = accept_condition[target]
                    found = 0
                    if accepts != -2:
                        found = holds_for(accepts, row, place + 1, bounds, values, records)
                        if found < 0:
                            return status_of(found), row, output, statistics
                    if found == 1:
                        statistics[MATCH_ENDS] += 1
                        if constructs:
                            spare = most_bytes - (taken.sum() - match_bytes) - output.counts[0] * _ORDER_BYTES
                            output, walk, error = write_match(n_nodes - 1, bounds, trail, walk, output, plan, absences,
                                                              own_records, spare // 2, budget)
                            match_bytes = _match_bytes(output)
                            taken[own_place] = array_bytes + match_bytes
                            if error > 0:
                                return TOO_MANY_MATCHES, target, output, statistics
                            if error < 0:
                                return status_of(error), row, output, statistics
                    if edge_offsets[target] < edge_offsets[target + 1]:
                        stack.state[place], stack.node[place], stack.last[place] = target, n_nodes - 1, row
                        stack.next[place] = row + 1
                        n_children += 1
                stays = state != 0 and strategy == ANY
                if state != 0 and strategy == NEXT:
                    stays = not (takes if state_has_take[state] != 0 else selects)
                if stays:
                    stack.next[own] = row + 1
                    n_runs = own + 1 + n_children
                else:
                    _move_down(own, n_children, stack, records)
                    n_runs = own + n_children
                statistics[MOST_RUNS] = max(statistics[MOST_RUNS], n_runs)
    return DONE, np.int64(0), output, statistics
