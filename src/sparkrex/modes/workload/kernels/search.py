"""The search: a block of rows goes up the multitree, from the leaves to the roots, node by node.

What a node makes of a block are the partial matches whose last event is in it. Children come before their joins, so all
that a join can put together is there. Complete instances are copied to the arenas of their roots, each root within its
own window, which may be smaller than that of the node. `run` allocates nothing: where room is short it returns, and is
called again.
"""

from __future__ import annotations

from sparkrex.kernels.inlined import shared
from sparkrex.kernels.lazy import njit
from sparkrex.modes.workload.kernels.arenas import make_room, put_kept, put_keys, tidy
from sparkrex.modes.workload.kernels.codes import (
    BLOCK,
    BLOCK_END,
    DONE,
    DRAIN,
    FEW,
    FORMULAS,
    HAS_FORMULAS,
    HIGH,
    IS_INSIDE,
    IS_MADE,
    ITEMS_BEGIN,
    KIND,
    KLEENE,
    LEAF,
    LEFT,
    LOW,
    N_ITEMS,
    N_OLD,
    N_OUT,
    NEEDS_POOL,
    NODE,
    RIGHT,
    ROOM,
    ROOT_WINDOW,
    ROOTS_BEGIN,
    ROOTS_END,
    VALUES,
    N,
)
from sparkrex.modes.workload.kernels.join import join
from sparkrex.modes.workload.kernels.kleene import extend


@shared
def copy_complete(node, plan, rows, store, at):
    """Copy the new instances of a node to its roots, as far as their windows allow; false if there is no room."""
    pool, columns, arenas, _, _, _ = store
    nodes, _, _, roots, root_slots = plan
    begin, end = arenas[node, N_OLD], arenas[node, N]
    n_nodes = nodes.shape[0]
    for root in range(nodes[node, ROOTS_BEGIN], nodes[node, ROOTS_END]):
        if not make_room(n_nodes + root, end - begin, pool, columns, arenas, at):
            return False
    low, high = columns[node, LOW], columns[node, HIGH]
    for root in range(nodes[node, ROOTS_BEGIN], nodes[node, ROOTS_END]):
        arena = n_nodes + root
        n, window = arenas[arena, N], roots[root, ROOT_WINDOW]
        n_before = n
        for place in range(begin, end):
            last = pool[high + place]
            if rows.gives[last] and pool[low + place] >= rows.window_first[window, last]:
                pool[columns[arena, LOW] + n], pool[columns[arena, HIGH] + n] = pool[low + place], last
                for item in range(roots[root, N_ITEMS]):
                    slot = root_slots[roots[root, ITEMS_BEGIN] + item]
                    pool[columns[arena, VALUES + item] + n] = pool[columns[node, VALUES + slot] + place]
                n += 1
        arenas[arena, N] = n
        at[N_OUT] += n - n_before
    return True


@shared
def make_instances(node, plan, rows, store, cells, at):
    """The new instances of a node, without their keys. Returns DONE, or why it did not come to the end."""
    pool, columns, arenas, _, _, kept = store
    nodes = plan.nodes
    kind = nodes[node, KIND]
    if kind == LEAF:
        n, room, high = arenas[node, N], arenas[node, ROOM], columns[node, HIGH]
        while n < room and pool[high + n] < at[BLOCK_END]:
            n += 1
        arenas[node, N] = n
        return DONE
    if kind == KLEENE:
        return extend(node, nodes, rows, store, cells, at)
    left, right = nodes[node, LEFT], nodes[node, RIGHT]
    if at[IS_INSIDE] or arenas[left, N] > arenas[left, N_OLD] or arenas[right, N] > arenas[right, N_OLD]:
        return join(node, nodes, plan.links, rows, store, cells, at)
    return DONE if put_kept(node, at[BLOCK_END], nodes, pool, columns, arenas, kept, at) else NEEDS_POOL


@njit(cache=True, nogil=True, _nrt=False)
def run(plan, rows, store, cells, block_rows, most_out, at):
    """Go on with a search until it is done, or something is needed (see `codes`).

    Parameters
    ----------
    plan, rows, store, cells : see `arguments`
    block_rows : how many rows go up at once
    most_out : with so many complete instances they are to be taken
    at : see `codes`
    """
    pool, columns, arenas, _, _, _ = store
    nodes = plan.nodes
    n_nodes, n_rows = nodes.shape[0], rows.makes.shape[0]
    while at[BLOCK] < n_rows:
        end = at[BLOCK_END] = min(n_rows, at[BLOCK] + block_rows)
        while at[NODE] < n_nodes:
            node = at[NODE]
            if not at[IS_MADE]:
                status = make_instances(node, plan, rows, store, cells, at)
                if status != DONE:
                    return status
                at[IS_MADE] = 1
                if nodes[node, HAS_FORMULAS] and arenas[node, N] > arenas[node, N_OLD]:
                    return FORMULAS
            if arenas[node, N] > arenas[node, N_OLD]:
                if nodes[node, KIND] != LEAF:
                    put_keys(node, nodes, plan.keys, pool, columns, arenas, rows.rank, cells.row, cells.first)
                if not copy_complete(node, plan, rows, store, at):
                    return NEEDS_POOL
            at[NODE], at[IS_MADE] = node + 1, 0
        for node in range(n_nodes):
            if nodes[node, KIND] == LEAF:
                arenas[node, N_OLD] = arenas[node, N]
            else:
                tidy(
                    node, end, at[FEW], nodes, pool, columns, arenas, rows.window_first, rows.offsets, rows.open_from
                )
        at[NODE] = 0
        at[BLOCK] = end
        if at[N_OUT] >= most_out:
            return DRAIN
    return DONE
