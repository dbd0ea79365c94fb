"""Units of a feed: a partition in a window, with the rows that it goes over.

Windows that hold the same rows give the same answers, so that they are one unit: where SLIDE is finer than the data,
most are. Apart from that every window has places of its own (the paper's counters per window): a pane that several
windows share would have to keep how each state is reached from each other one, which costs the square of the states for
every event and only pays when an event lies in more windows than that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sparkrex.errors import ExecutionError
from sparkrex.modes.trends.windows import MOST_WINDOWS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.modes.trends.plan import TrendQuery
    from sparkrex.modes.trends.windows import Windows


@dataclass(frozen=True, eq=False, slots=True)
class OpenWindows:
    """Windows that are open from before: the partition and the number of each, in order of both."""

    place: NDArray[np.int64]
    number: NDArray[np.int64]

    @staticmethod
    def none() -> OpenWindows:
        """No windows."""
        return OpenWindows(np.empty(0, np.int64), np.empty(0, np.int64))


@dataclass(frozen=True, eq=False, slots=True)
class UnitRows:
    """Units with the rows they go over, whether they close, and which were there before (-1: none).

    Windows have their partition, their number, and the unit that they are answered by.
    """

    first: NDArray[np.int64]
    end: NDArray[np.int64]
    closes: NDArray[np.bool_]
    before: NDArray[np.int64]
    window_place: NDArray[np.int64]
    window_number: NDArray[np.int64]
    window_unit: NDArray[np.int64]


def whole_partitions(
    begin: NDArray[np.int64], until: NDArray[np.int64], closes: NDArray[np.bool_], opened: OpenWindows
) -> UnitRows:
    """Without WITHIN: a unit is a partition that has, or had, rows. `until` is where the rows of each end for now."""
    before = np.full(len(begin), -1, np.int64)
    before[opened.place] = np.arange(len(opened.place))
    place = np.flatnonzero((until > begin) | (before >= 0))
    every = np.arange(len(place))
    return UnitRows(
        begin[place], until[place], closes[place], before[place], place, np.zeros(len(place), np.int64), every
    )


def units_in_windows(
    query: TrendQuery, windows: Windows, ticks: NDArray[Any], begin: NDArray[np.int64], until: NDArray[np.int64],
    opened: OpenWindows, last_number: NDArray[np.int64], is_past: Any,
) -> UnitRows:
    """With WITHIN: the windows that are open, and those that begin with these rows.

    Rows of partition i are `begin[i]` to `until[i]`, in order of their ticks. `last_number` is the highest window of
    each that is known already; `is_past(places, ends)` tells which windows get no more rows, by where they end.
    """
    lengths = until - begin
    place_of = np.repeat(np.arange(len(begin)), lengths)
    rows = np.repeat(begin - np.concatenate(([0], np.cumsum(lengths)[:-1])), lengths) + np.arange(int(lengths.sum()))
    first, last = windows.first_and_last(ticks[rows])
    # Numbers grow with ticks: a row begins the windows above all that its partition had before it.
    known = np.empty(len(rows), np.int64)
    known[1:] = last[:-1]
    starts = np.concatenate(([0], np.cumsum(lengths)[:-1]))[lengths > 0]
    known[starts] = last_number[lengths > 0]
    known = np.maximum(known, last_number[place_of])
    lowest = np.maximum(first, known + 1)
    n_new = np.maximum(last - lowest + 1, 0)
    n_windows = int(n_new.sum())
    if n_windows > MOST_WINDOWS:
        raise ExecutionError(
            "REX405", f"{n_windows:,} windows with events, more than {MOST_WINDOWS:,}", query.source,
            None if query.window is None else query.window.span, hint="use a larger SLIDE",
        )
    number = np.repeat(lowest - np.concatenate(([0], np.cumsum(n_new)[:-1])), n_new) + np.arange(n_windows)
    new_place = np.repeat(place_of, n_new)
    new_first = np.repeat(rows, n_new)
    place = np.concatenate([opened.place, new_place])
    number = np.concatenate([opened.number, number])
    unit_first = np.concatenate([begin[opened.place], new_first])
    ends = windows.ends(number)
    unit_end = _positions(ticks, unit_first, until[place], ends)
    closes = is_past(place, ends)
    before = np.concatenate([np.arange(len(opened.place)), np.full(n_windows, -1)])
    # Windows of a partition that begin with the same row and end with the same one.
    order = np.lexsort((number, place))
    unit_first, unit_end, closes, before = unit_first[order], unit_end[order], closes[order], before[order]
    place, number = place[order], number[order]
    is_other = np.ones(len(order), np.bool_)
    is_other[1:] = (
        (unit_first[1:] != unit_first[:-1]) | (unit_end[1:] != unit_end[:-1]) | (place[1:] != place[:-1])
        | (closes[1:] != closes[:-1]) | (before[1:] >= 0) | (before[:-1] >= 0)
    )
    return UnitRows(
        unit_first[is_other], unit_end[is_other], closes[is_other], before[is_other], place, number,
        np.cumsum(is_other) - 1,
    )


def _positions(
    ticks: NDArray[Any], low: NDArray[np.int64], high: NDArray[np.int64], bounds: NDArray[Any]
) -> NDArray[np.int64]:
    """For every window the first row from `low` on whose tick is not below its bound, by halving."""
    low, high = low.copy(), high.copy()
    while True:
        is_open = low < high
        if not is_open.any():
            return low
        middle = (low + high) >> 1
        below = np.zeros(len(low), np.bool_)
        below[is_open] = ticks[middle[is_open]] < bounds[is_open]
        low = np.where(is_open & below, middle + 1, low)
        high = np.where(is_open & ~below, middle, high)
