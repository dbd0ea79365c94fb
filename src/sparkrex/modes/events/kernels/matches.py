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
from sparkrex.modes.events.kernels.arguments import Bounds, Records
from sparkrex.modes.events.kernels.codes import GIVEN_UP, KEPT, LABEL, NODE, STEPS

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
def select(record, to, variable, row, path, columns, records):
    """Write into record `to` what `record` becomes by an event of a variable; false if a sum overflows."""
    _, update_offsets, scratch_ints, scratch_floats = path
    ints, floats, _ = records
    if update_offsets[variable] == update_offsets[variable + 1]:
        if record != to:
            for s in range(scratch_ints.shape[1]):
                ints[to, s] = ints[record, s]
            for s in range(scratch_floats.shape[1]):
                floats[to, s] = floats[record, s]
        return True
    for s in range(scratch_ints.shape[1]):
        scratch_ints[0, s] = ints[record, s]
    for s in range(scratch_floats.shape[1]):
        scratch_floats[0, s] = floats[record, s]
    if extend(path, columns, variable, row, np.int64(0)) != MAPPED:
        return False
    for s in range(scratch_ints.shape[1]):
        ints[to, s] = scratch_ints[1, s]
    for s in range(scratch_floats.shape[1]):
        floats[to, s] = scratch_floats[1, s]
    return True


@inlined
def replay_rows(rows, labels, n_events, record, path, columns, records):
    """Write the record of the events given, the last one first; MAPPED, or not if a sum overflows."""
    ints, floats, _ = records
    for s in range(ints.shape[1]):
        ints[record, s] = ints[0, s]
    for s in range(floats.shape[1]):
        floats[record, s] = floats[0, s]
    for i in range(n_events - 1, -1, -1):
        if not select(record, record, np.int64(labels[i]), rows[i], path, columns, records):
            return OVERFLOW
    return MAPPED


@allocating
def new_records(initial, n_records):
    """So many records, the first that of no events; `initial` has its numbers and its doubles."""
    ints = np.empty((n_records, initial[0].shape[0]), np.int64)
    floats = np.empty((n_records, initial[1].shape[0]), np.float64)
    copy_values(initial[0], 0, initial[0].shape[0], ints[0], 0)
    copy_values(initial[1], 0, initial[1].shape[0], floats[0], 0)
    return Records(ints, floats, floats.view(np.int64))


@inlined
def _write_history(depth, walk, output, is_open):
    """Append a history, which was walked from its end, as a match."""
    rows, labels, offsets, match_is_open, counts = output
    walk_rows, walk_labels, _, _ = walk
    n_matches, n_events = counts[0], counts[1]
    for i in range(depth):
        rows[n_events + i] = walk_rows[depth - 1 - i]
        labels[n_events + i] = walk_labels[depth - 1 - i]
    match_is_open[n_matches] = is_open
    offsets[n_matches + 1] = n_events + depth
    counts[0] = n_matches + 1
    counts[1] = n_events + depth


@njit(cache=True, nogil=True, _nrt=False)
def write(cursor, ends, n_ends, nodes, walk, output, most_bytes, budget):
    """Append matches until all ends are done (0), room is short (1), or the caller has given up (negative).

    Parameters
    ----------
    cursor : int64, where the walk goes on: the end it is at, the depth of its stack, the node and depth it was at (-1:
        between two histories)
    most_bytes : what the matches may take
    """
    node_row, node_label, node_before, node_other, node_youngest = nodes
    end_node, _, end_first, end_is_open = ends
    walk_rows, walk_labels, stack_nodes, stack_depths = walk
    n_row_places, n_match_places, counts = output.rows.shape[0], output.offsets.shape[0], output.counts
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
                if depth == walk_rows.shape[0]:
                    result = 1
                    break
                walk_rows[depth] = node_row[at]
                walk_labels[depth] = node_label[at]
                depth += 1
                if node_before[at] < 0 and (
                    counts[1] + depth > n_row_places or counts[0] + 2 > n_match_places
                    or counts[1] * EVENT_BYTES + counts[0] * MATCH_BYTES > most_bytes
                ):
                    depth -= 1
                    result = 1
                    break
                at = node_before[at]
            if result != 0:
                break
            _write_history(depth, walk, output, end_is_open[e])
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
def replay(node, record, nodes, path, columns, records):
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
    mapped = replay_rows(path_rows, path_labels, depth, record, path, columns, records)
    return mapped, np.int64(path_labels[depth - 1])


@njit(cache=True, nogil=True)
def revive(runs, nodes, values, records):
    """Write the record and the first label of all runs that wait; -1, or a run of which a sum overflows.

    Record 0 is that of no events, record r + 1 that of run r.
    """
    path, columns = values.path, values.cells.columns
    for r in range(runs.shape[1]):
        mapped, runs[LABEL, r] = replay(runs[NODE, r], r + 1, nodes, path, columns, records)
        if mapped != MAPPED:
            return r
    return -1


@inlined
def _bounds_of(place, first, partitions):
    return Bounds(first, partitions.low[place], partitions.high[place], partitions.open_from[place])


@njit(cache=True, nogil=True)
def recheck_ends(waiting, nodes, partitions, absences, ties, values, initial, budget, states):
    """The verdict over ends that wait, now that more rows are there. Gives 0, or negative, as the state of
    the end that it is about is then."""
    records = new_records(initial, 2)
    path, columns = values.path, values.cells.columns
    for e in range(waiting.node.shape[0]):
        if waiting.is_open[e] == 0:
            states[e] = KEPT
            continue
        if budget[GIVEN_UP] != 0:
            return np.int64(-4)
        node = waiting.node[e]
        mapped, first_label = replay(node, np.int64(1), nodes, path, columns, records)
        if mapped != MAPPED:
            states[e] = -1
            return np.int64(-1)
        budget[STEPS] = 0
        bounds = _bounds_of(waiting.place[e], waiting.first[e], partitions)
        states[e] = end_verdict(waiting.last[e], (first_label, np.int64(nodes.label[node])), np.int64(1), bounds,
                                absences, ties, values, records, budget)
        if states[e] < 0:
            return np.int64(states[e])
    return np.int64(0)


@njit(cache=True, nogil=True)
def recheck(places, matches, partitions, absences, ties, values, initial, budget, states):
    """The verdict over matches that were undecided, now that more rows are there. Gives 0, or negative.

    `places` are the partitions that they are of, `matches` rows, labels and offsets.
    """
    records = new_records(initial, 2)
    path, columns = values.path, values.cells.columns
    rows, labels, offsets = matches
    for m in range(offsets.shape[0] - 1):
        if budget[GIVEN_UP] != 0:
            return np.int64(-4)
        n_events = offsets[m + 1] - offsets[m]
        back_rows = rows[offsets[m] : offsets[m + 1]][::-1].copy()
        back_labels = labels[offsets[m] : offsets[m + 1]][::-1].copy()
        mapped = replay_rows(back_rows, back_labels, n_events, np.int64(1), path, columns, records)
        if mapped != MAPPED:
            states[m] = -1
            return np.int64(-1)
        budget[STEPS] = 0
        bounds = _bounds_of(places[m], rows[offsets[m]], partitions)
        states[m] = verdict(back_rows, back_labels, n_events, bounds, absences, ties, values, records, budget)
        if states[m] < 0:
            return np.int64(states[m])
    return np.int64(0)
