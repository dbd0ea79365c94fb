"""Keys of one unit in order, each once, and where a key stands among them."""

from __future__ import annotations

from sparkrex.kernels.inlined import inlined, shared
from sparkrex.kernels.null_key import NULL_KEY

_BLOCK = 16


@shared
def sort_keys(keys, n_keys, room):
    """Put the first `n_keys` keys in order, each once and without NULL_KEY; returns how many there are.

    A merge sort from blocks of a few keys up; `room` is as long as the keys.
    """
    for first in range(0, n_keys, _BLOCK):
        for place in range(first + 1, min(first + _BLOCK, n_keys)):
            key = keys[place]
            free = place
            while free > first and keys[free - 1] > key:
                keys[free] = keys[free - 1]
                free -= 1
            keys[free] = key
    width = _BLOCK
    while width < n_keys:
        for first in range(0, n_keys - width, 2 * width):
            middle, last = first + width, min(first + 2 * width, n_keys)
            if keys[middle - 1] <= keys[middle]:
                continue
            for place in range(first, middle):
                room[place] = keys[place]
            left, right, free = first, middle, first
            while left < middle:
                if right < last and keys[right] < room[left]:
                    keys[free] = keys[right]
                    right += 1
                else:
                    keys[free] = room[left]
                    left += 1
                free += 1
        width *= 2
    n_left = 0
    for place in range(n_keys):
        if keys[place] != NULL_KEY and (n_left == 0 or keys[place] != keys[n_left - 1]):
            keys[n_left] = keys[place]
            n_left += 1
    return n_left


@inlined
def lower_bound(keys, n_keys, key):
    """How many keys are below a key."""
    low, high = 0, n_keys
    while low < high:
        middle = (low + high) >> 1
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def upper_bound(keys, n_keys, key):
    """How many keys are not above a key."""
    low, high = 0, n_keys
    while low < high:
        middle = (low + high) >> 1
        if keys[middle] <= key:
            low = middle + 1
        else:
            high = middle
    return low
