"""Segment generators: the candidates that windows and spaces allow, tested by the variable's condition."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.modes.segments.kernels.ends import n_points, points_in
from sparkrex.modes.segments.kernels.segments import Triples, fill_candidates
from sparkrex.modes.segments.operators.arrays import (
    TooManySegmentsError,
    check_number,
    kept,
    no_segments,
    taken,
    together,
)
from sparkrex.modes.segments.operators.contract import Segments, Spaces

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sparkrex.modes.segments.operators.conditions import Condition
    from sparkrex.modes.segments.operators.series import Frame, Series
    from sparkrex.modes.segments.pattern import Window

_BLOCK = 1 << 17
"""Candidates tested at once: small enough for the caches, large enough to forget the cost of a call."""
_MANY_ROWS = 2
"""A condition on single rows is tested on all of them once it was asked for one in so many."""


@dataclass(eq=False)
class Generator:
    """SegGenWindow without a condition; else SegGenFilter or SegGenIndexing, as the condition was built."""

    name: str
    series: Series
    windows: tuple[Window, ...]
    condition: Condition | None
    gives: tuple[str, ...]
    limit: int
    children: tuple[()] = ()
    n_tested: int = field(default=0, init=False)
    _n_points: int = field(default=0, init=False)

    @cached_property
    def frame(self) -> Frame:
        """What the windows allow."""
        return self.series.frame(self.windows)

    def find(self, spaces: Spaces) -> Segments:
        """See the contract."""
        segments = self._find_in_spaces(spaces)
        if not self.gives:
            return segments
        itself = (segments.start, segments.end)
        return Segments(segments.space, segments.start, segments.end, dict.fromkeys(self.gives, itself))

    def _find_in_spaces(self, spaces: Spaces) -> Segments:
        condition = self.condition
        if condition is not None and len(spaces):
            if self._has_row_truth(condition, spaces):
                return self._points(condition, spaces)
            test = condition.end_test
            if test is not None:
                longest = self.series.longest(self.windows)
                segments, n_tested = test.find(spaces, self.frame, longest, self.limit, self.series.budget)
                self.n_tested += n_tested
                return segments
        found = []
        total = 0
        for candidates in candidates_of(self.series, self.windows, spaces):
            self.n_tested += len(candidates)
            if condition is not None:
                bindings = taken(spaces.bindings, candidates.space, spaces.bindings)
                candidates = kept(candidates, condition.holds(candidates.start, candidates.end, bindings))
            total += len(candidates)
            if total > self.limit:
                raise TooManySegmentsError
            found.append(candidates)
        return together(found) if found else no_segments()

    def _has_row_truth(self, condition: Condition, spaces: Spaces) -> bool:
        """Whether segments are single rows that are tested by themselves, and enough of them to test every row once."""
        frame = self.frame
        if not frame.low == frame.high == 1 or len(frame.first_end) or not condition.is_alone:
            return False
        self._n_points += n_points(spaces.ranges)
        return condition.has_rows or self._n_points * _MANY_ROWS >= self.series.n_rows

    def _points(self, condition: Condition, spaces: Spaces) -> Segments:
        if not condition.has_rows:
            self.n_tested += self.series.n_rows
        n, space, row = points_in(spaces.ranges, condition.rows(), self.limit)
        check_number(n)
        return Segments(space[:n], row[:n], row[:n])

    @property
    def steps_by_two(self) -> bool:
        """Whether segments are of two rows and tested by the values in both: see `steps`."""
        frame = self.frame
        has_test = self.condition is not None and self.condition.end_test is not None
        return frame.low == frame.high == 2 and not len(frame.first_end) and has_test

    def describe(self) -> list[str]:
        """What EXPLAIN prints about it."""
        return [] if self.condition is None else [str(self.condition)]


def candidates_of(series: Series, windows: tuple[Window, ...], spaces: Spaces) -> Iterator[Segments]:
    """Every segment that windows and spaces allow, in order, a block at a time."""
    if not len(spaces):
        return
    widest = int((spaces.end_high - spaces.end_low).max()) + 1
    room = max(_BLOCK, min(series.longest(windows), widest))
    frame = tuple(series.frame(windows))
    space, start = 0, -1
    while space < len(spaces):
        found = Triples(*(np.empty(room, np.int64) for _ in range(3)))
        n, space, start = fill_candidates(spaces.ranges, frame, space, start, found)
        series.take_steps(n)
        if n:
            yield Segments(found.space[:n], found.start[:n], found.end[:n])
