"""Contains: segments in which another one lies, and those in which none lies, as one range of ends per start.

`planner.contains` says which patterns this is. The bounds are found once for the whole series. From the last
rows to the first, F(s) = min(F(s + 1), first end of X from s), where an end is looked for only below F(s + 1) and
inside the window: an X that ends later contains, or ends behind, one that is known already. Rows are taken in blocks,
and the ends of a block in stretches of 1, 2, 4, ... rows, each asked of X for all rows of the block at once: after each
stretch, rows whose next stretch begins at or behind what is known to end first, from there or later, are done. So X
is asked for at most about twice the segments that a loop over single ends would ask for. Of several, `W X W Y W`, the
bounds compose: the first Y is looked up behind the first end of X.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.modes.segments.operators.arrays import TooManySegmentsError, distinct, projected, taken, together
from sparkrex.modes.segments.operators.contract import Operator, Segments, Spaces
from sparkrex.modes.segments.operators.leaves import candidates_of

if TYPE_CHECKING:
    from sparkrex.modes.segments.operators.contract import Rows
    from sparkrex.modes.segments.operators.series import Frame, Series
    from sparkrex.modes.segments.pattern import Window

_BLOCK = 1 << 15
"""Rows from which X is asked at once; fewer if it has too many segments there."""
_SPACES = 1 << 20
"""Ranges that the other parts of an And are asked for at once."""


@dataclass(eq=False)
class Contains:
    """`children` are X, or X, Y and so on, behind the other part of an And, if there is one.

    Each range is a search space of that other part.

    `windows` are those of the pattern itself. `lead`, `trail` and `gaps` are as in `Containment`; `reach` are the
    windows of the whole chain, beyond which X is not looked for.
    """

    name: str
    series: Series
    windows: tuple[Window, ...]
    children: tuple[Operator, ...]
    gives: frozenset[str]
    reach: tuple[Window, ...]
    lead: int | None
    trail: int | None
    gaps: tuple[int, ...]
    is_negated: bool
    limit: int

    @cached_property
    def frame(self) -> Frame:
        """What the windows allow."""
        return self.series.frame(self.windows)

    def describe(self) -> list[str]:
        """What EXPLAIN prints about it."""
        return []

    def find(self, spaces: Spaces) -> Segments:
        """See the contract."""
        found: list[Segments] = []
        total = 0
        is_by_end = self.trail is None
        last = self.series.n_rows - 1
        if is_by_end:
            first, high = np.maximum(np.maximum(spaces.end_low, spaces.start_low), 0), spaces.end_high
        else:
            first, high = np.maximum(spaces.start_low, 0), np.minimum(spaces.start_high, spaces.end_high)
        n_rows = np.maximum(np.minimum(high, last) - first + 1, 0)
        behind = np.cumsum(n_rows)
        n_all = int(behind[-1]) if len(behind) else 0
        for begin in range(0, n_all, _SPACES):
            place = np.arange(begin, min(begin + _SPACES, n_all))
            space = np.searchsorted(behind, place, side="right")
            rows = first[space] + place - (behind[space] - n_rows[space])
            part = self._by_end(spaces, space, rows) if is_by_end else self._by_start(spaces, space, rows)
            found.append(projected(part, self.gives))
            total += len(part)
            if total > self.limit:
                raise TooManySegmentsError
        if not found:
            nothing = np.empty(0, np.int64)
            return projected(self._ask_part(spaces, nothing, nothing, nothing, nothing, nothing), self.gives)
        every = together(found)
        return distinct(every) if is_by_end else every

    def _by_start(self, spaces: Spaces, space: Rows, start: Rows) -> Segments:
        low, high = self.frame.ends_from(start)
        low = np.maximum(np.maximum(low, spaces.end_low[space]), start)
        high = np.minimum(high, spaces.end_high[space])
        if self.is_negated:
            high = np.minimum(high, self._first_end[start] - 1)
        else:
            low = np.maximum(low, self._first_end[start])
        return self._ask_part(spaces, space, start, start, low, high)

    def _by_end(self, spaces: Spaces, space: Rows, end: Rows) -> Segments:
        low, high = self.frame.starts_to(end)
        low = np.maximum(low, spaces.start_low[space])
        high = np.minimum(np.minimum(high, spaces.start_high[space]), end)
        if self.is_negated:
            low = np.maximum(low, self._last_start[end] + 1)
        else:
            high = np.minimum(high, self._last_start[end])
        return self._ask_part(spaces, space, low, high, end, end)

    def _ask_part(
        self, spaces: Spaces, space: Rows, start_low: Rows, start_high: Rows, end_low: Rows, end_high: Rows
    ) -> Segments:
        """The segments of these ranges, or those of them that the other part has."""
        some = np.flatnonzero((start_low <= start_high) & (end_low <= end_high))
        ranges = Spaces(
            start_low[some], start_high[some], end_low[some], end_high[some],
            taken(spaces.bindings, space[some], spaces.bindings),
        )
        if len(self.children) > len(self._contained):
            found = self.children[0].find(ranges)
        else:
            nothing = np.empty(0, np.int64)
            parts = list(candidates_of(self.series, self.windows, ranges))
            found = together(parts) if parts else Segments(nothing, nothing, nothing)
        return Segments(space[some][found.space], found.start, found.end, found.bindings)

    @property
    def _contained(self) -> tuple[Operator, ...]:
        return self.children[-1 - len(self.gaps) :]

    @cached_property
    def _first_end(self) -> Rows:
        """By start, the first end of a segment that contains X; beyond every row if there is none."""
        n_rows = self.series.n_rows
        nowhere = n_rows + 1
        assert self.trail is not None
        behind = _row_limits(self.series)[0]
        found = np.arange(n_rows)
        for number, (contained, gap) in enumerate(zip(self._contained, (self.lead or 0, *self.gaps), strict=True)):
            first_ends = self._first_ends(contained, is_suffix=number > 0 or self.lead is not None)
            place = found + min(gap, n_rows)
            found = np.where(place < behind, first_ends[np.minimum(place, n_rows - 1)], nowhere)
        return np.where(found < n_rows, found + self.trail, nowhere)

    def _first_ends(self, contained: Operator, *, is_suffix: bool) -> Rows:
        """By row the first end of an X that starts there, or, for a suffix, there or later in the partition."""
        n_rows = self.series.n_rows
        nowhere = n_rows + 1
        first_end = np.full(n_rows, nowhere)
        behind, last_reached = _row_limits(self.series)[0], self._reach[0]
        stop, size = n_rows, _BLOCK
        while stop > 0:
            begin = max(0, stop - size)
            try:
                self._fill(contained, first_end, begin, stop, behind, last_reached, is_suffix=is_suffix)
            except TooManySegmentsError:
                if stop - begin == 1:
                    raise
                size = (stop - begin + 3) // 4
                continue
            stop = begin
        return first_end

    def _fill(
        self, contained: Operator, first_end: Rows, begin: int, stop: int, behind: Rows, reached: Rows, *,
        is_suffix: bool,
    ) -> None:
        n_rows, nowhere = self.series.n_rows, self.series.n_rows + 1
        rows = np.arange(begin, stop)
        known = np.full(stop - begin + 1, nowhere)
        if is_suffix and stop < n_rows:
            known[-1] = first_end[stop]
        bound = np.full(len(rows), nowhere)
        offset, width = 0, 1
        asked = rows
        while len(asked):
            low = asked + offset
            high = np.minimum(np.minimum(low + width - 1, reached[asked]), bound[asked - begin] - 1)
            is_open = low <= high
            asked, low, high = asked[is_open], low[is_open], high[is_open]
            found = contained.find(Spaces(asked, asked, low, high))
            np.minimum.at(known, found.start - begin, found.end)
            bound = _suffix_least(known, behind[rows], nowhere) if is_suffix else known[:-1]
            offset, width = offset + width, 2 * width
        first_end[begin:stop] = bound

    @cached_property
    def _last_start(self) -> Rows:
        """By end, the last start of a segment that contains X, with X at its end; -1 before every row."""
        n_rows = self.series.n_rows
        assert self.lead is not None
        before = _row_limits(self.series)[1]
        *earlier, last = self._contained
        found = self._last_starts(last)
        for contained, gap in zip(reversed(earlier), reversed(self.gaps), strict=True):
            # The last start of any that ends at a row or before it; those of earlier partitions do not count.
            last_starts = np.maximum.accumulate(self._last_starts(contained))
            place = found - min(gap, n_rows)
            start = np.where(place >= before, last_starts[np.maximum(place, 0)], -1)
            found = np.where(start >= before, start, -1)
        # So far to the left the segment may still start; before its partition it does not, by its search space.
        return np.where(found >= 0, found - self.lead, -1)

    def _last_starts(self, contained: Operator) -> Rows:
        """By row the last start of an X that ends there; -1 if there is none."""
        n_rows = self.series.n_rows
        last_start = np.full(n_rows, -1)
        size, begin = _BLOCK, 0
        earliest = self._reach[1]
        while begin < n_rows:
            stop = min(n_rows, begin + size)
            try:
                asked, offset, width = np.arange(begin, stop), 0, 1
                while len(asked):
                    high = asked - offset
                    low = np.maximum(high - width + 1, earliest[asked])
                    is_open = (low <= high) & (last_start[asked] < 0)
                    asked, low, high = asked[is_open], low[is_open], high[is_open]
                    found = contained.find(Spaces(low, high, asked, asked))
                    np.maximum.at(last_start, found.end, found.start)
                    offset, width = offset + width, 2 * width
            except TooManySegmentsError:
                if stop - begin == 1:
                    raise
                size = (stop - begin + 3) // 4
                continue
            begin = stop
        return last_start

    @cached_property
    def _reach(self) -> tuple[Rows, Rows]:
        """By row the last row of an X from there, and the first row of one that ends there: in the chain's windows."""
        rows = np.arange(self.series.n_rows)
        behind, before = _row_limits(self.series)
        upper = tuple(type(one)(one.column, None, one.high) for one in self.reach)
        frame = self.series.frame(upper)
        return np.minimum(frame.ends_from(rows)[1], behind - 1), np.maximum(frame.starts_to(rows)[0], before)


def _row_limits(series: Series) -> tuple[Rows, Rows]:
    """By row the row behind its partition, and the partition's first."""
    lengths = np.diff(series.offsets)
    return np.repeat(series.offsets[1:], lengths), np.repeat(series.offsets[:-1], lengths)


def _suffix_least(known: Rows, behind: Rows, nowhere: int) -> Rows:
    """By row the least of what is known from there to its partition's end; the last entry is of what comes after."""
    least = np.minimum.accumulate(known[::-1])[::-1][:-1]
    # Later partitions end later: the least is theirs only where this one has none.
    return np.where(least < behind, least, nowhere)
