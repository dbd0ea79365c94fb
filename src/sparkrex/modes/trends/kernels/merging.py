"""Places put together by group."""

from __future__ import annotations

from sparkrex.kernels.lazy import njit
from sparkrex.modes.trends.kernels.places import add_place


@njit(cache=True, nogil=True)
def merge_places(store, order, offsets, shape, merged):
    """Place i of `merged`, which has no trends yet, gets the trends of all places in the i-th stretch of `order`."""
    for group in range(len(offsets) - 1):
        for place in range(offsets[group], offsets[group + 1]):
            add_place(merged, group, store, order[place], shape)
