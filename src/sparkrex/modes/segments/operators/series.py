"""The rows that segments lie in: columns as arrays, partitions, and what the windows allow at every row."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import ceil, floor
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sparkrex.columns.keys import read_only
from sparkrex.modes.segments.kernels.pivots import Partitions
from sparkrex.modes.segments.kernels.segments import GIVEN_UP, STEPS_LEFT, fits, row_window, turn_around, value_window
from sparkrex.modes.segments.operators.arrays import StepsSpentError
from sparkrex.modes.segments.operators.decimals import DOUBLES

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from sparkrex.modes.segments.operators.decimals import Decimals
    from sparkrex.modes.segments.pattern import Window

Bounds = tuple["NDArray[np.int64]", "NDArray[np.int64]", "NDArray[np.int64]", "NDArray[np.int64]"]
"""Per start row the first and last row its segment may end at, per end row the first and last it may start at."""
_NO_ROWS: NDArray[np.int64] = np.empty(0, np.int64)
_LARGEST = 2**64 - 1
_UNBOUNDED = 2**62


class Frame(NamedTuple):
    """What windows allow, as kernels take it: segments of `low` to `high` rows, or, if there are any, the bounds.

    Windows that count rows need no bounds: a segment's length says it all, and partitions' edges are those of the
    search spaces.
    """

    low: int
    high: int
    first_end: NDArray[np.int64] = _NO_ROWS
    last_end: NDArray[np.int64] = _NO_ROWS
    first_start: NDArray[np.int64] = _NO_ROWS
    last_start: NDArray[np.int64] = _NO_ROWS

    def ends_from(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The first and last row at which a segment from these rows may end, beyond a partition's edge perhaps."""
        if len(self.first_end):
            return self.first_end[rows], self.last_end[rows]
        return rows + (self.low - 1), rows + (self.high - 1)

    def starts_to(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The same for the starts of segments that end there."""
        if len(self.first_end):
            return self.first_start[rows], self.last_start[rows]
        return rows - (self.high - 1), rows - (self.low - 1)

    def fits(self, start: NDArray[np.int64], end: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether segments, each in one partition, are inside the windows."""
        result = np.empty(len(start), np.bool_)
        fits(tuple(self), start, end, result)
        return result


@dataclass(frozen=True, eq=False, slots=True)
class Column:
    """Values as float64 or int64 (times in their unit), and 1 where NULL; None if no value is NULL.

    Of decimals the values are the nearest doubles, and `decimals` has what is exact. Values cannot be written, so that
    kernels are compiled once for them, whether they are Arrow's or not.
    """

    values: NDArray[Any]
    nulls: NDArray[np.uint8] | None
    decimals: Decimals | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", read_only(self.values))

    def form(self, name: str) -> NDArray[Any]:
        """The values, or the decimals in one of their exact forms."""
        return self.values if name == DOUBLES or self.decimals is None else read_only(self.decimals.form(name))


@dataclass(eq=False)
class Series:
    """Ordered rows of one or more partitions, cut by `offsets`. Bounds of windows are computed once and kept.

    `first` is the position of each partition's first row here, None if all of their rows are here. `budget` is what one
    search over the rows may still do, as kernels take it (see `kernels.segments`).
    """

    columns: dict[str, Column]
    offsets: NDArray[np.int64]
    first: NDArray[np.int64] | None = None
    budget: NDArray[np.int64] = field(default_factory=lambda: np.array([_UNBOUNDED, 0]))
    _bounds: dict[tuple[Window, ...], Bounds] = field(default_factory=dict)
    _frames: dict[tuple[Window, ...], Frame] = field(default_factory=dict)
    _longest: dict[tuple[Window, ...], int] = field(default_factory=dict)

    @cached_property
    def partitions(self) -> Partitions:
        """The partitions, as aggregates take them."""
        return Partitions.whole(self.offsets) if self.first is None else Partitions(self.offsets, self.first)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.offsets[-1])

    def limit_steps(self, a_row: int) -> None:
        """Allow a search so many steps a row."""
        self.budget[STEPS_LEFT] = min(a_row * max(1, self.n_rows), _UNBOUNDED)

    def give_up(self) -> None:
        """End the search, which runs on another thread."""
        self.budget[GIVEN_UP] = 1

    def take_steps(self, n: int) -> None:
        """Count steps that are taken outside of kernels with a budget."""
        self.budget[STEPS_LEFT] -= n
        if self.budget[STEPS_LEFT] < 0 or self.budget[GIVEN_UP]:
            raise StepsSpentError

    @cached_property
    def longest_partition(self) -> int:
        """Rows of the longest partition; at least 1."""
        return int(np.diff(self.offsets).max(initial=1))

    def frame(self, windows: tuple[Window, ...]) -> Frame:
        """What all these windows together allow. Their columns ascend inside every partition."""
        if windows not in self._frames:
            low, high = window_in_rows(windows, self.n_rows)
            is_rows_only = all(window.column is None for window in windows)
            self._frames[windows] = Frame(low, high) if is_rows_only else Frame(low, high, *self.bounds(windows))
        return self._frames[windows]

    def bounds(self, windows: tuple[Window, ...]) -> Bounds:
        """The same, row by row and inside the partitions."""
        windows = tuple(sorted(windows, key=str))
        if windows not in self._bounds:
            first_end = np.arange(self.n_rows, dtype=np.int64)
            last_end = np.repeat(self.offsets[1:] - 1, np.diff(self.offsets))
            row_window(self.offsets, *window_in_rows(windows, self.n_rows), first_end, last_end)
            for window in windows:
                if window.column is not None:
                    values = self.columns[window.column].values
                    low, high = window.low or 0, window.high or 0
                    if values.dtype.kind == "i":
                        # Half a unit is none: dates in a window of hours, and bounds relaxed for rounding.
                        low, high = min(ceil(low), _LARGEST), min(floor(high), _LARGEST)
                        low, high = (low, high) if high >= 0 else (_LARGEST, 0)  # windows may exclude each other
                        values = values.view(np.uint64)  # the difference of any two ascending integers is one
                    value_window(
                        self.offsets, values, values.dtype.type(low), values.dtype.type(high),
                        window.high is not None, first_end, last_end,
                    )
            first_start, last_start = np.empty_like(first_end), np.empty_like(last_end)
            turn_around(self.offsets, first_end, last_end, first_start, last_start)
            self._bounds[windows] = (first_end, last_end, first_start, last_start)
        return self._bounds[windows]

    def longest(self, windows: tuple[Window, ...]) -> int:
        """Rows of the longest segment that these windows allow; at least 1."""
        if windows not in self._longest:
            frame = self.frame(windows)
            if len(frame.last_end):
                longest = int((frame.last_end - np.arange(len(frame.last_end))).max(initial=0)) + 1
            else:
                longest = max(1, min(frame.high, self.longest_partition))
            self._longest[windows] = longest
        return self._longest[windows]


def window_in_rows(windows: tuple[Window, ...], n_rows: int) -> tuple[int, int]:
    """The fewest and the most rows that windows on rows allow."""
    low, high = 1, max(n_rows, 1)
    for window in windows:
        if window.column is None:
            low = max(low, ceil(window.low or 1))
            high = high if window.high is None else min(high, floor(window.high))
    return min(low, n_rows + 1), max(high, 0)
