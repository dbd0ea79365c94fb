"""Arenas: the instances of nodes as columns of one pool, in the order of their last row.

An *instance* is a partial match: its first row (`LOW`), its last row (`HIGH`), a value for each slot, and the keys of
comparisons by which joins look it up. An arena that is full moves to the end of the pool; what no window reaches any
more is thrown away now and then, so that a row costs the same however long the segment is.
"""

from __future__ import annotations

from sparkrex.kernels.inlined import shared
from sparkrex.modes.workload.kernels.codes import (
    EPOCH,
    HIGH,
    KEEPS,
    KEPT_AT,
    KEY_LINE,
    KEY_RANK,
    KEYS_BEGIN,
    KEYS_END,
    LOW,
    N_KEPT,
    N_KEPT_BEFORE,
    N_OLD,
    N_SLOTS,
    NEXT_KEPT,
    READS,
    ROOM,
    SLOT,
    USED,
    VALUES,
    WIDTH,
    WINDOW,
    N,
)
from sparkrex.modes.workload.kernels.links import row_read

_LEAST_ROOM = 64


@shared
def make_room(arena, more, pool, columns, arenas, at):
    """Room for more instances, at the end of the pool if need be; false if that is too small."""
    n_needed = arenas[arena, N] + more
    if n_needed <= arenas[arena, ROOM]:
        return True
    room = max(_LEAST_ROOM, 2 * n_needed)
    width, n = arenas[arena, WIDTH], arenas[arena, N]
    if at[USED] + width * room > pool.shape[0]:
        return False
    for column in range(width):
        source, target = columns[arena, column], at[USED]
        for place in range(n):
            pool[target + place] = pool[source + place]
        columns[arena, column] = target
        at[USED] += room
    arenas[arena, ROOM] = room
    return True


@shared
def put_kept(node, limit, nodes, pool, columns, arenas, kept, at):
    """Instances of earlier feeds that end before the row `limit`, in their turn; false if there is no room for them."""
    n_kept = kept[node, N_KEPT_BEFORE]
    lows = kept[node, KEPT_AT]
    highs = lows + n_kept
    first = last = kept[node, NEXT_KEPT]
    while last < n_kept and pool[highs + last] < limit:
        last += 1
    if last == first:
        return True
    if not make_room(node, last - first, pool, columns, arenas, at):
        return False
    n = arenas[node, N]
    for column in range(VALUES + nodes[node, N_SLOTS]):
        source, target = lows + column * n_kept, columns[node, column]
        for place in range(last - first):
            pool[target + n + place] = pool[source + first + place]
    arenas[node, N] = n + last - first
    kept[node, NEXT_KEPT] = last
    return True


@shared
def put_keys(node, nodes, keys, pool, columns, arenas, rank, cell_row, cell_first):
    """The keys of new instances."""
    n_slots = nodes[node, N_SLOTS]
    begin, end = arenas[node, N_OLD], arenas[node, N]
    first_key = nodes[node, KEYS_BEGIN]
    for number in range(first_key, nodes[node, KEYS_END]):
        values = columns[node, VALUES + keys[number, SLOT]]
        target = columns[node, VALUES + n_slots + number - first_key]
        line, line_rank, reads = keys[number, KEY_LINE], keys[number, KEY_RANK], keys[number, READS]
        for place in range(begin, end):
            row = row_read(pool[values + place], reads, cell_row, cell_first)
            pool[target + place] = pool[line + rank[line_rank, row]]


@shared
def tidy(node, end, few, nodes, pool, columns, arenas, window_first, offsets, open_from):
    """All instances are old; those that no row from `end` on can complete are thrown away, if there are more
    than twice as many as last time and `few`.

    What ends in a partition that is over stays if rows to come may complete it.
    """
    if not nodes[node, KEEPS]:
        arenas[node, N] = arenas[node, N_OLD] = 0
        return
    n = arenas[node, N]
    arenas[node, N_OLD] = n
    if n <= 2 * arenas[node, N_KEPT] + few:
        return
    window = nodes[node, WINDOW]
    lows, highs = columns[node, LOW], columns[node, HIGH]
    n_partitions = offsets.shape[0] - 1
    n_left = partition = 0
    for place in range(n):
        high = pool[highs + place]
        while partition + 1 < n_partitions and high >= offsets[partition + 1]:
            partition += 1
        bound = open_from[window, partition]
        if end < offsets[partition + 1]:
            bound = window_first[window, end - 1]
        if pool[lows + place] >= bound:
            if n_left < place:
                for column in range(arenas[node, WIDTH]):
                    own = columns[node, column]
                    pool[own + n_left] = pool[own + place]
            n_left += 1
    if n_left < n:
        arenas[node, EPOCH] += 1
    arenas[node, N] = arenas[node, N_OLD] = arenas[node, N_KEPT] = n_left
