"""The index of a side of a join: its instances by key, in buckets of chains, the latest first.

A chain ends at the first instance that the window has left behind, so nothing is ever taken out. Chains are in a ring,
in which an instance has the place of its number: it is as large as the index, and so at least as large as the window.
"""

from __future__ import annotations

import numpy as np

from sparkrex.kernels.inlined import inlined, shared
from sparkrex.kernels.null_key import NULL_KEY
from sparkrex.modes.workload.kernels.codes import HEAD, INDEX, N_IN, SIDE_EPOCH, SIZE, USED
from sparkrex.modes.workload.kernels.links import EQUAL, GREATER, GREATER_OR_EQUAL, LESS, LESS_OR_EQUAL

LARGEST_KEY = np.int64(2**63 - 1)
_LEAST_SIZE = 64


@inlined
def bucket_of(key, mask):
    """The bucket of a key; there are `mask + 1`."""
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64(mixed >> np.uint64(32)) & mask


@inlined
def key_range(operator, own, is_left):
    """The least and the greatest key that the other side may have, for a new instance of the left or the right."""
    low, high = NULL_KEY + 1, LARGEST_KEY
    if own == NULL_KEY:
        return np.int64(1), np.int64(0)
    if not is_left and operator != EQUAL:
        operator = GREATER - operator
    if operator == LESS:
        if own == LARGEST_KEY:
            return np.int64(1), np.int64(0)
        low = own + 1
    elif operator == LESS_OR_EQUAL:
        low = own
    elif operator == EQUAL:
        low = high = own
    elif operator == GREATER_OR_EQUAL:
        high = own
    else:
        high = own - 1
    return low, high


@inlined
def pass_over(node, side, end, bound, highs, sides, pool):
    """Pass over the instances of a side, of those before `end`, that end before the row `bound`."""
    head = sides[node, side, HEAD]
    while head < end and pool[highs + head] < bound:
        head += 1
    sides[node, side, HEAD] = head
    return head


@shared
def fill_index(node, side, end, keys, sides, pool, at):
    """Put the instances of a side before `end` into its index, by their column of keys; false if there is no room."""
    head, size = sides[node, side, HEAD], sides[node, side, SIZE]
    if end - head > size:
        size = max(_LEAST_SIZE, size)
        while size < end - head:
            size *= 2
        if at[USED] + 2 * size > pool.shape[0]:
            return False
        sides[node, side, INDEX], sides[node, side, SIZE], sides[node, side, N_IN] = at[USED], size, head
        at[USED] += 2 * size
        for bucket in range(sides[node, side, INDEX], sides[node, side, INDEX] + size):
            pool[bucket] = -1
    buckets, mask = sides[node, side, INDEX], size - 1
    ring = buckets + size
    for place in range(max(head, sides[node, side, N_IN]), end):
        bucket = buckets + bucket_of(pool[keys + place], mask)
        pool[ring + (place & mask)] = pool[bucket]
        pool[bucket] = place
    sides[node, side, N_IN] = end
    return True


@shared
def enter_side(node, side, child_epoch, sides, pool):
    """Forget what was known of the places of a side's instances if these have moved."""
    if sides[node, side, SIDE_EPOCH] == child_epoch:
        return
    sides[node, side, SIDE_EPOCH] = child_epoch
    sides[node, side, HEAD] = sides[node, side, N_IN] = 0
    for bucket in range(sides[node, side, INDEX], sides[node, side, INDEX] + sides[node, side, SIZE]):
        pool[bucket] = -1
