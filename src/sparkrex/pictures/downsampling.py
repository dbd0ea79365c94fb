"""Which rows of a series are drawn: few, and none whose absence anybody could see.

The x axis is cut into columns. Of each column that has rows the first and the last are kept, the least and the greatest
value, and the first and the last row without a value, so that a gap stays a gap. Whatever falls on one pixel is kept
with its extremes, provided that a column is not wider.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

POINTS_PER_COLUMN = 6
"""The most rows that one column keeps."""


def kept_points(
    x: NDArray[np.float64], y: NDArray[np.float64], low: float, high: float, columns: int
) -> NDArray[np.int64]:
    """The rows to draw, ascending. `x` ascends; `y` is NaN where there is no value."""
    if len(x) <= POINTS_PER_COLUMN * columns or high <= low:
        return np.arange(len(x))
    cuts = np.searchsorted(x, np.linspace(low, high, columns + 1)[1:-1], side="left")
    begins = np.unique(np.concatenate(([0], cuts)))
    begins = begins[begins < len(x)]
    ends = np.append(begins[1:], len(x))
    kept: list[int] = []
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        kept += _kept_of_column(y[begin:end], begin)
    return np.unique(np.array(kept, np.int64))


def _kept_of_column(y: NDArray[np.float64], begin: int) -> list[int]:
    least, greatest = int(y.argmin()), int(y.argmax())  # a NaN is both, to NumPy
    last = len(y) - 1
    if y[least] == y[least]:
        return [begin, begin + least, begin + greatest, begin + last]
    missing = np.flatnonzero(np.isnan(y))
    kept = [0, last, int(missing[0]), int(missing[-1])]
    if len(missing) < len(y):
        kept += [int(np.nanargmin(y)), int(np.nanargmax(y))]
    return [begin + place for place in kept]


def merged_bands(
    first: NDArray[np.float64], last: NDArray[np.float64], least: float
) -> NDArray[np.int64]:
    """For each band, in order of `first`, the number of the group that it is drawn with: those less than `least` apart.
    """
    if not len(first):
        return np.empty(0, np.int64)
    reached = np.maximum.accumulate(last)
    begins = np.ones(len(first), np.int64)
    begins[1:] = first[1:] - reached[:-1] >= least
    groups: NDArray[np.int64] = np.cumsum(begins) - 1
    return groups


def lanes(first: NDArray[np.float64], last: NDArray[np.float64]) -> NDArray[np.int64]:
    """The first lane that is free, for bands in order of `first`. Bands that only touch may share one."""
    reached: list[float] = []
    found = np.zeros(len(first), np.int64)
    for place, (begin, end) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
        lane = next((number for number, until in enumerate(reached) if until <= begin), len(reached))
        if lane == len(reached):
            reached.append(end)
        reached[lane] = max(reached[lane], end)
        found[place] = lane
    return found
