"""Run a plan over all partitions, a block of start rows at a time: memory follows the window, not the series."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sparkrex.modes.segments.operators.arrays import TooManySegmentsError
from sparkrex.modes.segments.operators.contract import Segments, Spaces

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sparkrex.modes.segments.operators.contract import Operator, Rows
    from sparkrex.modes.segments.operators.series import Series
    from sparkrex.modes.segments.pattern import Window

_BLOCK_CANDIDATES = 20 << 20
"""Segments that the window allows in one block, about."""
_WINDOWS_A_BLOCK = 8
"""A block has so many times the rows of the longest segment, unless there are too many segments in it: what the parts
of a pattern look for beyond the block is looked for again in the next one."""


def find_segments(
    operator: Operator, series: Series, windows: tuple[Window, ...], starts: tuple[Rows, Rows] | None = None,
    ends: tuple[Rows, Rows] | None = None,
) -> Iterator[Segments]:
    """The plan's segments, ordered by start. `windows` are the root's: no result is longer.

    `starts` are, for each partition, the first start and the one behind the last, and `ends` the same of ends; without,
    all rows are.
    """
    low, high = (series.offsets[:-1], series.offsets[1:]) if starts is None else starts
    is_asked = low < high
    if not is_asked.any():
        return
    longest = series.longest(windows)
    size = max(_BLOCK_CANDIDATES // longest, _WINDOWS_A_BLOCK * longest)
    begin, behind = int(low[is_asked].min()), int(high[is_asked].max())
    while begin < behind:
        stop = min(behind, begin + size)
        try:
            found = operator.find(_block(series, windows, begin, stop, low, high, ends))
        except TooManySegmentsError:
            if stop - begin == 1:
                raise
            size = (stop - begin + 3) // 4
            continue
        yield found
        begin = stop


def _block(
    series: Series, windows: tuple[Window, ...], begin: int, stop: int, first_start: Rows, start_stop: Rows,
    ends: tuple[Rows, Rows] | None,
) -> Spaces:
    """Search spaces of these start rows, one per partition touched."""
    low, high = np.maximum(first_start, begin), np.minimum(start_stop, stop) - 1
    is_touched = low <= high
    low, high = low[is_touched], high[is_touched]
    first_end, end_stop = (low, series.offsets[1:][is_touched]) if ends is None else (one[is_touched] for one in ends)
    # Bounds ascend, so the block's last start reaches furthest.
    _, reach = series.frame(windows).ends_from(high)
    first_end, last_end = np.maximum(low, first_end), np.maximum(np.minimum(reach, end_stop - 1), high)
    if ends is not None and (first_end > last_end).any():
        is_some = first_end <= last_end
        low, high, first_end, last_end = low[is_some], high[is_some], first_end[is_some], last_end[is_some]
    return Spaces(low, high, first_end, last_end)
