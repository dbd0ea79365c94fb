"""Partial matches of two nodes put together, in the order in which they are complete.

A pair of instances is made when the later of the two comes: each new instance looks at all earlier ones of the other
side. Both never have the same last row, because an event has one place in a match. What ends before the window of a
new instance is passed over for good: instances are in the order of their last row, and windows only move on.

What is equal in one comparison is looked up in the other side's `index`; by another comparison its keys, which stand
side by side, are looked through one after the other.
"""

from __future__ import annotations

import numpy as np

from sparkrex.kernels.inlined import inlined, shared
from sparkrex.modes.workload.kernels.arenas import make_room, put_kept
from sparkrex.modes.workload.kernels.codes import (
    ALL,
    BLOCK_END,
    BY_HASH,
    DONE,
    EPOCH,
    GIVEN_UP,
    HIGH,
    INDEX,
    IS_INSIDE,
    LEFT,
    LEFT_AT,
    LEFT_ENDS,
    LEFT_KEY,
    LINKS_BEGIN,
    LINKS_END,
    LOW,
    N_KEPT_BEFORE,
    N_LOOKS,
    N_MADE,
    N_OLD,
    N_SLOTS,
    NEEDS_POOL,
    OPERATOR,
    ORDER,
    RIGHT,
    RIGHT_AT,
    RIGHT_ENDS,
    RIGHT_KEY,
    ROOM,
    SIZE,
    STOPPED,
    UNORDERED,
    VALUES,
    WAY,
    WINDOW,
    N,
)
from sparkrex.modes.workload.kernels.index import LARGEST_KEY, bucket_of, enter_side, fill_index, key_range, pass_over
from sparkrex.modes.workload.kernels.links import (
    LEFT_SLOT,
    RIGHT_SLOT,
    holds,
)


@inlined
def _fits(links, begin, end, is_left, new, there, left, right, columns, pool, rank, ordinal, row_of, first_of, before):
    """Whether all links hold between a new instance and one of the other side."""
    one, other = (new, there) if is_left else (there, new)
    for number in range(begin, end):
        link = links[number]
        if not holds(
            link, pool[columns[left, VALUES + link[LEFT_SLOT]] + one],
            pool[columns[right, VALUES + link[RIGHT_SLOT]] + other], pool, rank, ordinal, row_of, first_of, before,
        ):
            return False
    return True


@shared
def join(node, nodes, links, rows, store, cells, at):
    """Make the instances of a join whose later part is new. Returns DONE, NEEDS_POOL or STOPPED; it goes on from there.

    Parameters
    ----------
    nodes, links, rows, store, cells : see `arguments`
    at : see `codes`
    """
    pool, columns, arenas, sides, _, kept = store
    window_first, ordinal, rank, makes, _, _, _ = rows
    cell_row, cell_first, cell_before = cells
    left, right = nodes[node, LEFT], nodes[node, RIGHT]
    n_left, n_right = arenas[left, N], arenas[right, N]
    if not at[IS_INSIDE]:
        at[IS_INSIDE] = 1
        at[LEFT_AT], at[RIGHT_AT] = arenas[left, N_OLD], arenas[right, N_OLD]
        enter_side(node, 0, arenas[left, EPOCH], sides, pool)
        enter_side(node, 1, arenas[right, EPOCH], sides, pool)
    next_left, next_right = at[LEFT_AT], at[RIGHT_AT]
    way, operator, order, window = nodes[node, WAY], nodes[node, OPERATOR], nodes[node, ORDER], nodes[node, WINDOW]
    begin_links, end_links = nodes[node, LINKS_BEGIN], nodes[node, LINKS_END]
    n_left_slots, n_right_slots = nodes[left, N_SLOTS], nodes[right, N_SLOTS]
    left_high, right_high = columns[left, HIGH], columns[right, HIGH]
    left_key, right_key = columns[left, nodes[node, LEFT_KEY]], columns[right, nodes[node, RIGHT_KEY]]
    n_out = arenas[node, N]
    n_looks = 0
    has_kept = kept[node, N_KEPT_BEFORE] > 0
    status = DONE
    while next_left < n_left or next_right < n_right:
        is_left = next_right >= n_right or (
            next_left < n_left and pool[left_high + next_left] <= pool[right_high + next_right]
        )
        own, other = (left, right) if is_left else (right, left)
        new = next_left if is_left else next_right
        row = pool[columns[own, HIGH] + new]
        if at[GIVEN_UP]:
            status = STOPPED
            break
        if has_kept and not put_kept(node, row, nodes, pool, columns, arenas, kept, at):
            status = NEEDS_POOL
            break
        n_out = n_before = arenas[node, N]
        bound = window_first[window, row]
        own_low = pool[columns[own, LOW] + new]
        if makes[row] and own_low >= bound and nodes[node, LEFT_ENDS if is_left else RIGHT_ENDS]:
            other_side, end = (1, next_right) if is_left else (0, next_left)
            other_low, other_high = columns[other, LOW], columns[other, HIGH]
            begin = pass_over(node, other_side, end, bound, other_high, sides, pool)
            # By default all of them inside the window are looked at, by their first rows.
            scanned, least_key, greatest_key = other_low, bound, LARGEST_KEY
            if way != ALL:
                scanned = right_key if is_left else left_key
                own_key = pool[(left_key if is_left else right_key) + new]
                least_key, greatest_key = key_range(operator, own_key, is_left)
            there, mask, ring = begin - 1, np.int64(0), np.int64(0)
            if way == BY_HASH:
                if not fill_index(node, other_side, end, scanned, sides, pool, at):
                    status = NEEDS_POOL
                    break
                there = np.int64(-1)
                if begin < end and least_key <= greatest_key:
                    mask = sides[node, other_side, SIZE] - 1
                    ring = sides[node, other_side, INDEX] + mask + 1
                    there = pool[sides[node, other_side, INDEX] + bucket_of(least_key, mask)]
            # What ends in the same row came first, and has an event in common.
            limit = row if order == UNORDERED else ordinal[own_low]
            if begin < end and pool[other_high + end - 1] >= limit:
                least = begin
                while least < end:
                    middle = (least + end) // 2
                    if pool[other_high + middle] < limit:
                        least = middle + 1
                    else:
                        end = middle
            while True:
                if way == BY_HASH:
                    while there >= begin and (there >= end or pool[scanned + there] != least_key):
                        n_looks += 1
                        there = pool[ring + (there & mask)]
                    if there < begin:
                        break
                    here = there
                    there = pool[ring + (there & mask)]
                else:
                    there += 1
                    first = there
                    while there < end and not least_key <= pool[scanned + there] <= greatest_key:
                        there += 1
                    n_looks += there - first
                    if there >= end:
                        break
                    here = there
                n_looks += 1
                if pool[other_low + here] < bound or not _fits(
                    links, begin_links, end_links, is_left, new, here, left, right, columns, pool, rank, ordinal,
                    cell_row, cell_first, cell_before,
                ):
                    continue
                if n_out == arenas[node, ROOM]:
                    arenas[node, N] = n_out
                    if not make_room(node, 1, pool, columns, arenas, at):
                        status = NEEDS_POOL
                        break
                pool[columns[node, LOW] + n_out] = min(own_low, pool[other_low + here])
                pool[columns[node, HIGH] + n_out] = row
                one, two = (new, here) if is_left else (here, new)
                for slot in range(n_left_slots):
                    pool[columns[node, VALUES + slot] + n_out] = pool[columns[left, VALUES + slot] + one]
                for slot in range(n_right_slots):
                    target = columns[node, VALUES + n_left_slots + slot]
                    pool[target + n_out] = pool[columns[right, VALUES + slot] + two]
                n_out += 1
            if status != DONE:
                arenas[node, N] = n_before  # this one is looked at again
                break
            arenas[node, N] = n_out
            at[N_MADE] += n_out - n_before
        if is_left:
            next_left += 1
        else:
            next_right += 1
    at[LEFT_AT], at[RIGHT_AT] = next_left, next_right
    at[N_LOOKS] += n_looks
    if status == DONE:
        if not put_kept(node, at[BLOCK_END], nodes, pool, columns, arenas, kept, at):
            return NEEDS_POOL
        at[IS_INSIDE] = 0
    return status
