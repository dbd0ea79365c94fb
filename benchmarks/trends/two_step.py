# mypy: disallow-untyped-defs=False, disallow-untyped-decorators=False, disallow-untyped-calls=False
# mypy: check-untyped-defs=False
"""The second step of two: trends are built, then aggregated. One at a time as SASE does, or all and kept as Flink does.

Both follow the pointers of `linking`. One at a time: depth first from each event that may end a trend, back to those
that may begin one. All: the trends that end at a node are those that end at its predecessors, copied, with it behind.
"""

from __future__ import annotations

from numba import njit

from benchmarks.trends.linking import DONE, FULL, PAUSED

NEXT_NODE, DEPTH, LONGEST = range(3)
"""Of the progress of one trend at a time."""
NODE, N_TRENDS, N_ITEMS = range(3)
"""Of that of all trends."""


@njit(cache=True, nogil=True)
def count_one_by_one(events, machine, graph, n_nodes, trend, pointer, tally, progress, n_steps):
    """Build each trend from its end, aggregate it when it is complete, go back. `trend` is the current one."""
    _, _, _, weights, is_weighted = events
    _, _, _, _, starts, ends, has_weight, has_aggregate = machine
    node_row, node_variable, node_unit, offsets, pointers = graph
    next_node, depth, longest = progress[NEXT_NODE], progress[DEPTH], progress[LONGEST]
    steps = 0
    while steps < n_steps:
        steps += 1
        if depth == 0:
            while next_node < n_nodes and not ends[node_variable[next_node]]:
                next_node += 1
            if next_node >= n_nodes:
                progress[NEXT_NODE], progress[DEPTH], progress[LONGEST] = next_node, depth, longest
                return DONE
            node = next_node
            next_node += 1
        elif pointer[depth - 1] == offsets[trend[depth - 1] + 1]:
            depth -= 1
            continue
        else:
            node = pointers[pointer[depth - 1]]
            pointer[depth - 1] += 1
        trend[depth] = node
        pointer[depth] = offsets[node]
        depth += 1
        longest = max(longest, depth)
        if starts[node_variable[node]]:
            unit = node_unit[node]
            tally.n_trends[unit] += 1
            if has_aggregate:
                for place in range(depth):
                    row = node_row[trend[place]]
                    if has_weight[node_variable[trend[place]]] and is_weighted[row]:
                        tally.total[unit] += weights[row]
                        tally.number[unit] += 1
                steps += depth
    progress[NEXT_NODE], progress[DEPTH], progress[LONGEST] = next_node, depth, longest
    return PAUSED


@njit(cache=True, nogil=True)
def build_all(machine, graph, n_nodes, first_trend, offsets, items, progress, n_steps):
    """Build the trends that end at each node; those of node i are from `first_trend[i]` to `first_trend[i + 1]`."""
    starts = machine.starts
    _, node_variable, _, pointer_offsets, pointers = graph
    node, n_trends, n_items = progress[NODE], progress[N_TRENDS], progress[N_ITEMS]
    steps = 0
    while node < n_nodes:
        if steps > n_steps:
            progress[NODE], progress[N_TRENDS], progress[N_ITEMS] = node, n_trends, n_items
            return PAUSED
        if starts[node_variable[node]]:
            if n_trends + 2 > len(offsets) or n_items + 1 > len(items):
                return FULL
            items[n_items] = node
            n_items += 1
            n_trends += 1
            offsets[n_trends] = n_items
        for place in range(pointer_offsets[node], pointer_offsets[node + 1]):
            earlier = pointers[place]
            for trend in range(first_trend[earlier], first_trend[earlier + 1]):
                length = offsets[trend + 1] - offsets[trend]
                if n_trends + 2 > len(offsets) or n_items + length + 1 > len(items):
                    return FULL
                for item in range(offsets[trend], offsets[trend + 1]):
                    items[n_items] = items[item]
                    n_items += 1
                items[n_items] = node
                n_items += 1
                n_trends += 1
                offsets[n_trends] = n_items
                steps += length + 1
        node += 1
        first_trend[node] = n_trends
        steps += 1
    progress[NODE], progress[N_TRENDS], progress[N_ITEMS] = node, n_trends, n_items
    return DONE


@njit(cache=True, nogil=True)
def aggregate_all(events, machine, graph, n_nodes, first_trend, offsets, items, tally):
    """Aggregate the trends that are finished."""
    _, _, _, weights, is_weighted = events
    _, _, _, _, _, ends, has_weight, has_aggregate = machine
    node_row, node_variable, node_unit, _, _ = graph
    for node in range(n_nodes):
        if not ends[node_variable[node]]:
            continue
        unit = node_unit[node]
        for trend in range(first_trend[node], first_trend[node + 1]):
            tally.n_trends[unit] += 1
            if has_aggregate:
                for item in range(offsets[trend], offsets[trend + 1]):
                    row = node_row[items[item]]
                    if has_weight[node_variable[items[item]]] and is_weighted[row]:
                        tally.total[unit] += weights[row]
                        tally.number[unit] += 1
