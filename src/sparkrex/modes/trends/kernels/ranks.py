"""Keys of one unit in order, each once, and where a key stands among them."""

from __future__ import annotations

from sparkrex.kernels.inlined import inlined, shared
from sparkrex.modes.trends.kernels.machine import NULL_KEY


@shared
def sort_keys(keys, n_keys):
    """Put the first `n_keys` keys in order, each once and without NULL_KEY; returns how many there are."""
    part = keys[:n_keys]
    part.sort()
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
