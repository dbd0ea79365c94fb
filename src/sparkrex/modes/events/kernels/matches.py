"""The shared buffer of matches, and matches out of it (paper, 5.1; see docs/events.md for why it needs no versions).

A node is an event selected by a run: its row, its variable, the node selected before it. Where equivalent runs are
merged, a *union* node stands for both their histories. Nodes are numbered as they are made, so what a node points to
has a smaller number. `youngest` is the latest first event of all histories that end in a node: below the window's
first row none of them is alive, so that a walk that turns away there reports a match with every way it takes.
"""

from __future__ import annotations

import numpy as np

from sparkrex.kernels.copying import copy_values
from sparkrex.kernels.inlined import allocating, inlined
from sparkrex.kernels.lazy import njit
from sparkrex.kernels.path import MAPPED, OVERFLOW, extend
from sparkrex.modes.events.kernels.absence import end_verdict, verdict
from sparkrex.modes.events.kernels.codes import GIVEN_UP, STEPS

UNION = -1  # the label of a union node
EVENT_BYTES, MATCH_BYTES = 10, 9


@allocating
def grown(array, length):
    """The array with room for `length` entries and more."""
    if array.shape[0] >= length:
        return array
    return lengthened(array, max(2 * array.shape[0], length))


@allocating
def lengthened(array, length):
    """The array with room for so many entries."""
    larger = np.empty(length, array.dtype)
    copy_values(array, 0, array.shape[0], larger, 0)
    return larger


@inlined
def select(record, to, variable, row, path, columns, record_ints, record_floats):
    """Write into record `to` what `record` becomes by an event of a variable; false if a sum overflows."""
    _, update_offsets, scratch_ints, scratch_floats = path
    if update_offsets[variable] == update_offsets[variable + 1]:
        if record != to:
            for s in range(scratch_ints.shape[1]):
                record_ints[to, s] = record_ints[record, s]
            for s in range(scratch_floats.shape[1]):
                record_floats[to, s] = record_floats[record, s]
        return True
    for s in range(scratch_ints.shape[1]):
        scratch_ints[0, s] = record_ints[record, s]
    for s in range(scratch_floats.shape[1]):
        scratch_floats[0, s] = record_floats[record, s]
    if extend(path, columns, variable, row, np.int64(0)) != MAPPED:
        return False
    for s in range(scratch_ints.shape[1]):
        record_ints[to, s] = scratch_ints[1, s]
    for s in range(scratch_floats.shape[1]):
        record_floats[to, s] = scratch_floats[1, s]
    return True


@inlined
def replay_rows(rows, labels, n_events, record, path, columns, record_ints, record_floats):
    """Write the record of the events given, the last one first; MAPPED, or not if a sum overflows."""
    for s in range(record_ints.shape[1]):
        record_ints[record, s] = record_ints[0, s]
    for s in range(record_floats.shape[1]):
        record_floats[record, s] = record_floats[0, s]
    for i in range(n_events - 1, -1, -1):
        if not select(record, record, np.int64(labels[i]), rows[i], path, columns, record_ints, record_floats):
            return OVERFLOW
    return MAPPED


@njit(cache=True, nogil=True, _nrt=False)
def write(cursor, ends, n_ends, nodes, buffers, output, most_bytes, budget):
    """Append matches until all ends are done (0), room is short (1), or the caller has given up (negative).

    Parameters
    ----------
    cursor : int64, where the walk goes on: the end it is at, the depth of its stack, the node and depth it was at (-1:
        between two histories)
    ends : end_node, end_row, end_first: every history of a node whose first row is `end_first` or later is a match;
        end_is_open uint8, whether those still depend on rows to come
    nodes : node_row int64, node_label int16, node_before int64, node_other int64, node_youngest int64
    buffers : room for the events of a history, their labels, and a stack of nodes and depths
    output : match_rows int64, match_labels int16, match_offsets int64, match_is_open uint8, and counts int64 (matches,
        events)
    most_bytes : what the matches may take
    """
    node_row, node_label, node_before, node_other, node_youngest = nodes
    path_rows, path_labels, stack_nodes, stack_depths = buffers
    match_rows, match_labels, match_offsets, match_is_open, counts = output
    end_node, _, end_first, end_is_open = ends
    e, n_stack, at, depth = cursor[0], cursor[1], cursor[2], cursor[3]
    result = 0
    while e < n_ends:
        bound = end_first[e]
        if at < 0:
            at, depth = end_node[e], np.int64(0)
        while True:
            if budget[GIVEN_UP] != 0:
                return np.int64(-4)
            while at >= 0:
                if node_label[at] == UNION:
                    left, right = node_before[at], node_other[at]
                    if right >= 0 and node_youngest[right] >= bound:
                        if left >= 0 and node_youngest[left] >= bound:
                            if n_stack == stack_nodes.shape[0]:
                                result = 1
                                break
                            stack_nodes[n_stack] = left
                            stack_depths[n_stack] = depth
                            n_stack += 1
                        at = right
                    else:
                        at = left
                    continue
                if depth == path_rows.shape[0]:
                    result = 1
                    break
                path_rows[depth] = node_row[at]
                path_labels[depth] = node_label[at]
                depth += 1
                if node_before[at] < 0 and (
                    counts[1] + depth > match_rows.shape[0] or counts[0] + 2 > match_offsets.shape[0]
                    or counts[1] * EVENT_BYTES + counts[0] * MATCH_BYTES > most_bytes
                ):
                    depth -= 1
                    result = 1
                    break
                at = node_before[at]
            if result != 0:
                break
            n_matches, n_events = counts[0], counts[1]
            for i in range(depth):
                match_rows[n_events + i] = path_rows[depth - 1 - i]
                match_labels[n_events + i] = path_labels[depth - 1 - i]
            match_is_open[n_matches] = end_is_open[e]
            match_offsets[n_matches + 1] = n_events + depth
            counts[0] = n_matches + 1
            counts[1] = n_events + depth
            if n_stack == 0:
                break
            n_stack -= 1
            at, depth = stack_nodes[n_stack], stack_depths[n_stack]
        if result != 0:
            break
        e += 1
        at = np.int64(-1)
    cursor[0], cursor[1], cursor[2], cursor[3] = e, n_stack, at, depth
    return np.int64(result)


@allocating
def replay(node, record, nodes, path, columns, record_ints, record_floats):
    """Write the record of a run anew from its youngest history; MAPPED, or not if a sum overflows. And its first label.

    Records hold rows and codes of one frame; the next frame numbers both differently.
    """
    node_row, node_label, node_before, node_other, node_youngest = nodes
    path_rows, path_labels = np.empty(64, np.int64), np.empty(64, np.int16)
    depth = np.int64(0)
    at = node
    while at >= 0:
        if node_label[at] == UNION:
            left, right = node_before[at], node_other[at]
            is_left = left >= 0 and (right < 0 or node_youngest[left] >= node_youngest[right])
            at = left if is_left else right
            continue
        path_rows = grown(path_rows, depth + 1)
        path_labels = grown(path_labels, depth + 1)
        path_rows[depth] = node_row[at]
        path_labels[depth] = node_label[at]
        depth += 1
        at = node_before[at]
    mapped = replay_rows(path_rows, path_labels, depth, record, path, columns, record_ints, record_floats)
    return mapped, np.int64(path_labels[depth - 1])


@njit(cache=True, nogil=True)
def revive(run_node, nodes, path, columns, record_ints, record_floats, run_label):
    """Write the record and the first label of all runs that wait; -1, or a run of which a sum overflows.

    Record 0 is that of no events, record r + 1 that of run r.
    """
    for r in range(run_node.shape[0]):
        mapped, run_label[r] = replay(run_node[r], r + 1, nodes, path, columns, record_ints, record_floats)
        if mapped != MAPPED:
            return r
    return -1


@njit(cache=True, nogil=True)
def recheck_ends(ends, nodes, is_open, bounds, absences, ties, path, tests, machine, columns, initial, budget, states):
    """The verdict over ends that were undecided, now that more rows are there. Gives 0, or negative.

    Parameters
    ----------
    ends : nodes, and the first and the last row that all histories of the node have
    """
    record_ints = np.empty((2, initial[0].shape[0]), np.int64)
    record_floats = np.empty((2, initial[1].shape[0]), np.float64)
    copy_values(initial[0], 0, initial[0].shape[0], record_ints[0], 0)
    copy_values(initial[1], 0, initial[1].shape[0], record_floats[0], 0)
    no_labels = np.empty(0, np.int16)
    for e in range(ends[0].shape[0]):
        if budget[GIVEN_UP] != 0:
            return np.int64(-4)
        node = ends[0][e]
        mapped, first_label = replay(node, np.int64(1), nodes, path, columns, record_ints, record_floats)
        if mapped != MAPPED:
            return np.int64(-1)
        budget[STEPS] = 0
        states[e] = end_verdict(ends[1][e], ends[2][e], first_label, np.int64(nodes[1][node]), np.int64(1), is_open,
                                bounds, absences, ties, tests, machine, columns, record_ints, record_floats, no_labels,
                                budget)
        if states[e] < 0:
            return np.int64(states[e])
    return np.int64(0)


@njit(cache=True, nogil=True)
def recheck(rows, labels, offsets, is_open, bounds, absences, ties, path, tests, machine, columns, initial, budget,
            states):
    """The verdict over matches that were undecided, now that more rows are there. Gives 0, or negative."""
    record_ints = np.empty((2, initial[0].shape[0]), np.int64)
    record_floats = np.empty((2, initial[1].shape[0]), np.float64)
    copy_values(initial[0], 0, initial[0].shape[0], record_ints[0], 0)
    copy_values(initial[1], 0, initial[1].shape[0], record_floats[0], 0)
    no_labels = np.empty(0, np.int16)
    for m in range(offsets.shape[0] - 1):
        if budget[GIVEN_UP] != 0:
            return np.int64(-4)
        n_events = offsets[m + 1] - offsets[m]
        back_rows = rows[offsets[m] : offsets[m + 1]][::-1].copy()
        back_labels = labels[offsets[m] : offsets[m + 1]][::-1].copy()
        mapped = replay_rows(back_rows, back_labels, n_events, np.int64(1), path, columns, record_ints, record_floats)
        if mapped != MAPPED:
            return np.int64(-1)
        budget[STEPS] = 0
        states[m] = verdict(back_rows, back_labels, n_events, is_open, bounds, absences, ties, tests, machine, columns,
                            record_ints, record_floats, no_labels, budget)
        if states[m] < 0:
            return np.int64(states[m])
    return np.int64(0)
