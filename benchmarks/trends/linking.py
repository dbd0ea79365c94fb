# mypy: disallow-untyped-defs=False, disallow-untyped-decorators=False, disallow-untyped-calls=False
# mypy: check-untyped-defs=False
"""The first step of two: events in stacks, with pointers from each to those that may directly precede it.

A node is an event bound to a variable, if trends can reach it. Of every variable there are candidates: nodes that later
events may follow. Under skip-till-any-match these are all nodes so far; under skip-till-next-match those that no
relevant event has followed yet; under contiguous semantics those of the event before.

Kernels here and in the modules beside this one stop after so many steps and go on where they stopped, so that their
caller can look at the clock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from numba import njit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DONE, PAUSED, FULL = range(3)
ANY, NEXT = 0, 1
"""Places in `workload.SEMANTICS`."""
UNIT, ROW, N_NODES, N_POINTERS = range(4)
"""Of `progress`."""


class Graph(NamedTuple):
    """Nodes in order, with the pointers of each from `offsets[node]` to `offsets[node + 1]`."""

    row: NDArray[np.int64]
    variable: NDArray[np.int8]
    unit: NDArray[np.int64]
    offsets: NDArray[np.int64]
    pointers: NDArray[np.int32]


class Candidates(NamedTuple):
    """Of each variable so many nodes, and which of them the event at hand follows."""

    n: NDArray[np.int64]
    node: NDArray[np.int32]
    is_followed: NDArray[np.bool_]


@njit(cache=True, nogil=True)
def link(events, units, last_unit, machine, graph, candidates, progress, n_steps):
    """Add the nodes and pointers of units up to `last_unit`; DONE, or PAUSED after `n_steps`, or FULL."""
    codes, left, right, _, _ = events
    semantics, follows, is_continued, is_compared, starts, _, _, _ = machine
    node_row, node_variable, node_unit, offsets, pointers = graph
    n_candidates, candidate, is_followed = candidates
    n_variables = len(starts)
    unit, row = progress[UNIT], progress[ROW]
    n_nodes, n_pointers = progress[N_NODES], progress[N_POINTERS]
    steps = 0
    while unit < last_unit:
        if row < 0:
            row = units.first[unit]
            n_candidates[:] = 0
        end = units.end[unit]
        while row < end:
            if steps > n_steps:
                progress[UNIT], progress[ROW], progress[N_NODES], progress[N_POINTERS] = unit, row, n_nodes, n_pointers
                return PAUSED
            first_node = n_nodes
            for variable in range(n_variables):
                if not (codes[row] >> variable) & 1:
                    continue
                before = n_pointers
                for earlier in range(n_variables):
                    if not follows[earlier, variable]:
                        continue
                    n_earlier = n_candidates[earlier]
                    if n_pointers + n_earlier > len(pointers):
                        return FULL
                    compares = is_compared[earlier, variable]
                    for place in range(n_earlier):
                        node = candidate[earlier, place]
                        if not compares or left[node_row[node]] < right[row]:
                            pointers[n_pointers] = node
                            n_pointers += 1
                            is_followed[earlier, place] = True
                    steps += n_earlier
                if starts[variable] or n_pointers > before:
                    node_row[n_nodes] = row
                    node_variable[n_nodes] = variable
                    node_unit[n_nodes] = unit
                    n_nodes += 1
                    offsets[n_nodes] = n_pointers
            if semantics == NEXT:
                for variable in range(n_variables):
                    n_left = 0
                    for place in range(n_candidates[variable]):
                        if not is_followed[variable, place]:
                            candidate[variable, n_left] = candidate[variable, place]
                            is_followed[variable, n_left] = False
                            n_left += 1
                    n_candidates[variable] = n_left
            elif semantics != ANY:
                n_candidates[:] = 0
            for node in range(first_node, n_nodes):
                variable = node_variable[node]
                if is_continued[variable]:
                    candidate[variable, n_candidates[variable]] = node
                    is_followed[variable, n_candidates[variable]] = False
                    n_candidates[variable] += 1
            row += 1
            steps += 1
        unit += 1
        row = -1
    progress[UNIT], progress[ROW], progress[N_NODES], progress[N_POINTERS] = unit, row, n_nodes, n_pointers
    return DONE
