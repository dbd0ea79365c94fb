"""Run a plan over all partitions, a block of start rows at a time: memory follows the window, not the series."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sparkrex.modes.segments.operators.arrays import TooManySegmentsError
from sparkrex.modes.segments.operators.contract import Segments, Spaces

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sparkrex.modes.segments.operators.contract import Operator
    from sparkrex.modes.segments.operators.series import Series
    from sparkrex.modes.segments.pattern import Window

_BLOCK_CANDIDATES = 20 << 20
"""Segments that the window allows in one block, about."""
_WINDOWS_A_BLOCK = 8
"""A block has so many times the rows of the longest segment, unless there are too many segments in it: what the parts
of a pattern look for beyond the block is looked for again in the next one."""


def find_segments(operator: Operator, series: Series, windows: tuple[Window, ...]) -> Iterator[Segments]:
    """The plan's segments, ordered by start. `windows` are the root's: no result is longer."""
    n_rows = series.n_rows
    if n_rows == 0:
        return
    longest = series.longest(windows)
    size = max(_BLOCK_CANDIDATES // longest, _WINDOWS_A_BLOCK * longest)
    begin = 0
    while begin < n_rows:
        stop = min(n_rows, begin + size)
        try:
            found = operator.find(_block(series, windows, begin, stop))
        except TooManySegmentsError:
            if stop - begin == 1:
                raise
            size = (stop - begin + 3) // 4
            continue
        yield found
        begin = stop


def _block(series: Series, windows: tuple[Window, ...], begin: int, stop: int) -> Spaces:
    """Search spaces of these start rows, one per partition touched."""
    offsets = series.offsets
    inner = offsets[(offsets > begin) & (offsets < stop)]
    inner = inner[np.diff(inner, prepend=begin) > 0]  # an empty partition has no space
    low = np.concatenate(([begin], inner)).astype(np.int64)
    high = np.concatenate((inner, [stop])).astype(np.int64) - 1
    last_row = offsets[np.searchsorted(offsets, low, side="right")] - 1
    # Bounds ascend, so the block's last start reaches furthest.
    _, reach = series.frame(windows).ends_from(high)
    return Spaces(low, high, low, np.maximum(np.minimum(reach, last_row), high))
