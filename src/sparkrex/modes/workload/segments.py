"""The rows of a frame in segments: enough rows at a time to be worth it, few enough for keys of all conditions.

A segment begins with rows of the one before it, as many as a window reaches back: all partial matches that its own rows
can complete are found again there, and matches are given only where they end in its own rows. So segments know nothing
of each other, and threads share them out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.columns.ordered import Columns
from sparkrex.columns.wrap import wrap
from sparkrex.modes.events.nfab.windows import Times

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from sparkrex.matching.feed import Frame
    from sparkrex.modes.workload.prepared import Prepared

SEGMENT_ROWS = 1 << 18
_WINDOWS = 8
"""A segment has at least so many times the rows that it begins with."""


@dataclass(frozen=True, slots=True)
class Segment:
    """Rows from `first` to `end`, of which those from `begin` on are its own."""

    first: int
    begin: int
    end: int

    def offsets(self, frame: Frame) -> tuple[NDArray[np.int64], slice]:
        """Where partitions begin in it, and which of the frame's these are."""
        place = int(np.searchsorted(frame.offsets, self.first, side="right")) - 1
        last = int(np.searchsorted(frame.offsets, self.end, side="left"))
        places = slice(max(0, place), max(last, place + 1))
        cuts = np.clip(frame.offsets[places.start : places.stop + 1], self.first, self.end)
        return cuts - self.first, places

    def table(self, frame: Frame, names: list[str]) -> pa.Table:
        """Some columns of its rows, in order."""
        table, order = frame.table.select(names), frame.arrangement.order
        if order is None:
            return table.slice(self.first, self.end - self.first)
        return table.take(wrap(order[self.first : self.end]))


def cut_segments(prepared: Prepared, frame: Frame, segment_rows: int) -> list[Segment]:
    """The segments of a frame; one if a window has no bound."""
    n_rows = int(frame.offsets[-1])
    if not n_rows:
        return []
    if n_rows <= segment_rows or any(size is None for _, size in prepared.windows):
        return [Segment(0, 0, n_rows)]
    columns = Columns(frame.table, frame.offsets, frame.arrangement.order)
    first: NDArray[np.int64] | None = None
    for counts_events in (False, True):
        sizes = [size for counts, size in prepared.windows if counts == counts_events and size is not None]
        if sizes:
            query = prepared.query_of((counts_events, max(sizes)))
            reached = Times(query, columns, 1).window_first()
            first = reached if first is None else np.minimum(first, reached)
    assert first is not None  # there is a window
    segments = []
    begin = 0
    while begin < n_rows:
        start = begin
        if begin and not (frame.offsets == begin).any():
            start = int(first[begin - 1])
        end = begin + max(segment_rows, _WINDOWS * (begin - start))
        end = n_rows if end + segment_rows // 4 > n_rows else end
        segments.append(Segment(start, begin, end))
        begin = end
    return segments
