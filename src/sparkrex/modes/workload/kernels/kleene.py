"""Arrays of events: every non-empty choice of the events of a Kleene, in their order."""

from __future__ import annotations

from sparkrex.kernels.inlined import shared
from sparkrex.modes.workload.kernels.arenas import make_room, put_kept
from sparkrex.modes.workload.kernels.codes import (
    ARRAY_FIRST,
    ARRAY_FLAGS,
    ARRAY_ROWS,
    BEGINS,
    BLOCK_END,
    CONTINUES,
    DONE,
    EPOCH,
    GIVEN_UP,
    HEAD,
    HIGH,
    LOW,
    N_ARRAY_ROWS,
    N_CELLS,
    N_MADE,
    NEEDS_CELLS,
    NEEDS_POOL,
    NEXT_ROW,
    SIDE_EPOCH,
    STOPPED,
    VALUES,
    N,
)


@shared
def extend(node, nodes, rows, store, cells, at):
    """The arrays that end in new events: each behind every array that it may follow, and alone.

    Returns DONE, NEEDS_POOL, NEEDS_CELLS or STOPPED; it goes on from there.
    """
    pool, columns, arenas, sides, kleenes, kept = store
    ordinal, makes = rows.ordinal, rows.makes
    cell_row, cell_first, cell_before = cells
    array_rows, array_first = kleenes[node, ARRAY_ROWS], kleenes[node, ARRAY_FIRST]
    array_flags = kleenes[node, ARRAY_FLAGS]
    while kleenes[node, NEXT_ROW] < kleenes[node, N_ARRAY_ROWS]:
        number = kleenes[node, NEXT_ROW]
        row = pool[array_rows + number]
        if row >= at[BLOCK_END]:
            break
        if at[GIVEN_UP]:
            return STOPPED
        if not put_kept(node, row, nodes, pool, columns, arenas, kept, at):
            return NEEDS_POOL
        if makes[row]:
            bound, flags = pool[array_first + number], pool[array_flags + number]
            if sides[node, 0, SIDE_EPOCH] != arenas[node, EPOCH]:
                sides[node, 0, SIDE_EPOCH], sides[node, 0, HEAD] = arenas[node, EPOCH], 0
            n_before = n = arenas[node, N]
            head = sides[node, 0, HEAD]
            while head < n and pool[columns[node, HIGH] + head] < bound:
                head += 1
            sides[node, 0, HEAD] = head
            n_most = (n - head if flags & CONTINUES else 0) + 1
            if not make_room(node, n_most, pool, columns, arenas, at):
                return NEEDS_POOL
            n_cells = at[N_CELLS]
            if n_cells + n_most > cell_row.shape[0]:
                return NEEDS_CELLS
            low, high, value = columns[node, LOW], columns[node, HIGH], columns[node, VALUES]
            if flags & CONTINUES:
                for earlier in range(head, n_before):
                    if pool[low + earlier] >= bound and pool[high + earlier] < ordinal[row]:
                        first = pool[low + earlier]
                        cell_row[n_cells], cell_first[n_cells], cell_before[n_cells] = row, first, pool[value + earlier]
                        pool[low + n], pool[high + n], pool[value + n] = first, row, n_cells
                        n_cells += 1
                        n += 1
            if flags & BEGINS and row >= bound:
                cell_row[n_cells], cell_first[n_cells], cell_before[n_cells] = row, row, -1
                pool[low + n], pool[high + n], pool[value + n] = row, row, n_cells
                n_cells += 1
                n += 1
            arenas[node, N], at[N_CELLS] = n, n_cells
            at[N_MADE] += n - n_before
        kleenes[node, NEXT_ROW] = number + 1
    return DONE if put_kept(node, at[BLOCK_END], nodes, pool, columns, arenas, kept, at) else NEEDS_POOL
