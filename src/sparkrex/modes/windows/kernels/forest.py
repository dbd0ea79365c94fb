"""Matches that overlap as trees: where two of them stand at one place of the pattern at one row, their rest is one.

A node is a row mapped from a place of the pattern; what follows it is the next node, none behind a match's last row.
The rest of a match depends on nothing but its node, so a node is made once, however many matches come by: there are at
most as many nodes as rows times places. Rows at the beginning of a frame, where conditions see nothing before it,
have nodes of their own.

What is read from a match follows from its first node: each value there from that at the next node and its own row.
Nodes are made in runs, each along one match; the next node of a run's last one is older. So one pass over the runs,
each from its end, has every value before it is needed.
"""

from __future__ import annotations

import numpy as np

from sparkrex.kernels.lazy import njit
from sparkrex.modes.rows.kernels.automaton import (
    ACCEPT,
    DONE,
    NONE,
    PAST_LAST_ROW,
    SKIP_TO_ABSENT,
    SKIP_TO_FIRST_ROW,
    STOPPED,
    TO_FIRST,
)


@njit(cache=True, nogil=True)
def plant(states, offsets, steps, n_positions, entry, is_seek, skip_mode, skip_member, stop):
    """The match of every row that is tried, as a path of nodes; arguments as in `walk.walk_frames`.

    Returns
    -------
    status, row : DONE, or an error and the row whose frame was searched
    n_matches, found int64 (row, start, end, first node or -1)
    n_nodes, nodes int64 (row, label, next node or -1), n_runs, runs int64 : where runs begin
    """
    n_rows = offsets[-1] - offsets[0]
    width = states.shape[0] - 1
    found = np.empty((max(n_rows // 4, 16), 4), np.int64)
    nodes = np.empty((max(n_rows, 16), 3), np.int64)
    # Of each node: the row behind the match, and its last row that AFTER MATCH SKIP may go to.
    ends = np.empty((max(n_rows, 16), 2), np.int64)
    runs = np.empty(max(n_rows // 4, 16), np.int64)
    node_at = np.full(n_rows * n_positions, -1, np.int64)
    following_start = np.empty(n_rows if is_seek else 0, np.int64)
    n_matches = np.int64(0)
    n_nodes = np.int64(0)
    n_runs = np.int64(0)
    for partition in range(len(offsets) - 1):
        low = offsets[partition]
        high = offsets[partition + 1]
        if is_seek:
            begin = high
            for row in range(high - 1, low - 1, -1):
                if steps[states[width, row] * n_positions + entry] != NONE:
                    begin = row
                following_start[row] = begin
        row = low
        while row < high:
            if stop[0] != 0:
                return STOPPED, row, n_matches, found, n_nodes, nodes, n_runs, runs
            start = row
            while steps[states[min(start - row, width), start] * n_positions + entry] == NONE:
                if not is_seek:
                    start = high
                    break
                start += 1
                if start >= row + width and start < high:
                    start = following_start[start]
                if start >= high:
                    break
            if start >= high:
                row += 1
                continue
            position = np.int64(entry)
            at = start
            first_node = n_nodes
            tail = np.int64(-1)
            while at < high:
                is_shared = at - row >= width
                if is_shared:
                    tail = node_at[at * n_positions + position]
                    if tail >= 0:
                        break
                step = steps[states[min(at - row, width), at] * n_positions + position]
                if step == ACCEPT:
                    break
                if n_nodes >= nodes.shape[0]:
                    more = np.empty((2 * n_nodes, 3), np.int64)
                    more[:n_nodes] = nodes[:n_nodes]
                    nodes = more
                    further = np.empty((2 * n_nodes, 2), np.int64)
                    further[:n_nodes] = ends[:n_nodes]
                    ends = further
                if is_shared:
                    node_at[at * n_positions + position] = n_nodes
                nodes[n_nodes, 0] = at
                nodes[n_nodes, 1] = step & 0x7FFF
                nodes[n_nodes, 2] = n_nodes + 1
                n_nodes += 1
                position = step >> 15
                at += 1
            if n_nodes > first_node:
                nodes[n_nodes - 1, 2] = tail
                if n_runs >= runs.shape[0]:
                    longer = np.empty(2 * n_runs, np.int64)
                    longer[:n_runs] = runs[:n_runs]
                    runs = longer
                runs[n_runs] = first_node
                n_runs += 1
                behind = ends[tail, 0] if tail >= 0 else at
                member = ends[tail, 1] if tail >= 0 else np.int64(-1)
                for node in range(n_nodes - 1, first_node - 1, -1):
                    if member < 0 and skip_member[nodes[node, 1] >> 1]:
                        member = nodes[node, 0]
                    ends[node, 0] = behind
                    ends[node, 1] = member
            head = first_node if n_nodes > first_node else tail
            end = ends[head, 0] if head >= 0 else start
            if n_matches >= found.shape[0]:
                larger = np.empty((2 * n_matches, 4), np.int64)
                larger[:n_matches] = found[:n_matches]
                found = larger
            found[n_matches, 0] = row
            found[n_matches, 1] = start
            found[n_matches, 2] = end
            found[n_matches, 3] = head
            n_matches += 1
            following = row + 1
            if end > start and skip_mode == PAST_LAST_ROW:
                following = end
            elif end > start and skip_mode >= TO_FIRST:
                target = ends[head, 1]
                if skip_mode == TO_FIRST and target >= 0:
                    node = head
                    while not skip_member[nodes[node, 1] >> 1]:
                        node = nodes[node, 2]
                    target = nodes[node, 0]
                if target <= start:
                    status = SKIP_TO_ABSENT if target < 0 else SKIP_TO_FIRST_ROW
                    return status, row, n_matches, found, n_nodes, nodes, n_runs, runs
                following = target
            row = following
    return DONE, np.int64(-1), n_matches, found, n_nodes, nodes, n_runs, runs


@njit(cache=True, nogil=True)
def find_nodes(nodes, runs, is_member, from_first, offset):
    """By node, the one so many members from the first or the last of the path that begins there; -1 for none.

    Parameters
    ----------
    nodes, runs : see `plant`; runs has the number of nodes behind the last one
    is_member : bool by label
    """
    n_nodes = nodes.shape[0]
    depth = offset + 1 if from_first else 1
    found = np.full((depth, n_nodes), -1, np.int64)
    count = np.zeros(0 if from_first else n_nodes, np.int64)
    for run in range(runs.shape[0] - 1):
        for node in range(runs[run + 1] - 1, runs[run] - 1, -1):
            following = nodes[node, 2]
            member = is_member[nodes[node, 1]]
            if from_first:
                for k in range(depth):
                    if member:
                        if k == 0:
                            found[0, node] = node
                        elif following >= 0:
                            found[k, node] = found[k - 1, following]
                    elif following >= 0:
                        found[k, node] = found[k, following]
            else:
                n_members = count[following] if following >= 0 else 0
                found[0, node] = found[0, following] if following >= 0 else -1
                if member:
                    if n_members == offset:
                        found[0, node] = node
                    n_members += 1
                count[node] = n_members
    return found[depth - 1]


@njit(cache=True, nogil=True)
def labels_of(nodes, heads, offsets, labels):
    """The labels of paths, one after the other: those of `heads[k]` from `offsets[k]` on."""
    for k in range(heads.shape[0]):
        node = heads[k]
        place = offsets[k]
        while node >= 0:
            labels[place] = nodes[node, 1]
            place += 1
            node = nodes[node, 2]


@njit(cache=True, nogil=True)
def total_integers(nodes, runs, is_member, values, is_valid, count, high, low, least, most, mean, square):
    """Aggregates of the path that begins at each node, over the values of its members' rows.

    A sum is `high * 2^64 + low`, so none is too large; `low` is uint64. `values` int64 and `is_valid` uint8 are by row.
    """
    for run in range(runs.shape[0] - 1):
        for node in range(runs[run + 1] - 1, runs[run] - 1, -1):
            following = nodes[node, 2]
            if following >= 0:
                count[node], high[node], low[node] = count[following], high[following], low[following]
                least[node], most[node] = least[following], most[following]
                mean[node], square[node] = mean[following], square[following]
            else:
                count[node], high[node], low[node] = 0, 0, np.uint64(0)
                least[node], most[node], mean[node], square[node] = 0, 0, 0.0, 0.0
            row = nodes[node, 0]
            if not is_member[nodes[node, 1]] or is_valid[row] == 0:
                continue
            value = values[row]
            n_values = count[node] + 1
            count[node] = n_values
            summed = low[node] + np.uint64(value)
            carried = 1 if summed < low[node] else 0
            high[node] += carried - 1 if value < 0 else carried
            low[node] = summed
            if n_values == 1 or value < least[node]:
                least[node] = value
            if n_values == 1 or value > most[node]:
                most[node] = value
            step = value - mean[node]
            mean[node] += step / n_values
            square[node] += step * (value - mean[node])


@njit(cache=True, nogil=True)
def total_doubles(nodes, runs, is_member, values, is_valid, count, high, low, plain, least, most, mean, square):
    """The same of doubles. A sum is `high + low` of about 106 bits; `plain`, of 53, says what it is beyond all numbers.

    NaN is above every number; of equal values the earlier one is kept.
    """
    for run in range(runs.shape[0] - 1):
        for node in range(runs[run + 1] - 1, runs[run] - 1, -1):
            following = nodes[node, 2]
            if following >= 0:
                count[node], high[node], low[node] = count[following], high[following], low[following]
                plain[node], least[node], most[node] = plain[following], least[following], most[following]
                mean[node], square[node] = mean[following], square[following]
            else:
                count[node], high[node], low[node], plain[node] = 0, 0.0, 0.0, 0.0
                least[node], most[node], mean[node], square[node] = 0.0, 0.0, 0.0, 0.0
            row = nodes[node, 0]
            if not is_member[nodes[node, 1]] or is_valid[row] == 0:
                continue
            value = values[row]
            n_values = count[node] + 1
            count[node] = n_values
            plain[node] += value
            # The sum and its rounding error (Knuth's two-sum), then the pair again in its normal form.
            total = high[node] + value
            part = total - high[node]
            error = (high[node] - (total - part)) + (value - part) + low[node]
            high[node] = total + error
            low[node] = error - (high[node] - total)
            smallest = least[node]
            largest = most[node]
            if n_values == 1 or value <= smallest or smallest != smallest:
                least[node] = value
            if n_values == 1 or largest <= value or value != value:
                most[node] = value
            step = value - mean[node]
            mean[node] += step / n_values
            square[node] += step * (value - mean[node])
