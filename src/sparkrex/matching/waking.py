"""When an open slot must be looked at again although no row of it has come: time alone may decide something.

What time decides is always so far from a row that is held back: a bound in time that the row began, a window that it
lies in. A slot is fed again at the first of these moments that is still to come; it may be in vain, never late.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.values import ints_of, plain
from sparkrex.matching.state import ROWS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from sparkrex.matching.state import State

NEVER = np.iinfo(np.int64).max
"""No horizon decides anything: only rows can."""


def horizon_number(horizon: pa.Scalar) -> int:
    """A horizon as the integer that its type is counted in."""
    return int(ints_of(pa.repeat(horizon, 1))[0])


def first_wakes(
    state: State, slots: NDArray[np.int64], column: str, distances: Callable[[pa.DataType], Iterable[int]], horizon: int
) -> NDArray[np.int64]:
    """For each slot the least `time + distance` above the horizon, over the rows held back and the distances.

    `distances` gives them for a type of the column, in the integers that it is counted in.
    """
    found = np.full(len(slots), NEVER)
    rows, offsets = state.tables[ROWS].read(slots)
    if rows is None:
        return found
    values = plain(rows.column(column))
    times = ints_of(values)
    least = np.full(len(times), NEVER)
    for distance in distances(values.type):
        # A sum beyond 64 bits is a moment that never comes.
        is_small = times <= NEVER - min(max(distance, 0), NEVER)
        moment = np.where(is_small, times + min(distance, NEVER), 0)
        np.minimum(least, np.where(is_small & (moment > horizon), moment, NEVER), out=least)
    if values.null_count:
        least[np.asarray(values.is_null())] = NEVER
    has_rows = np.flatnonzero(np.diff(offsets))
    found[has_rows] = np.minimum.reduceat(least, offsets[has_rows])
    return found


def holds_nothing(state: State, slots: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which slots have no rows in any table."""
    empty = np.ones(len(slots), np.bool_)
    for table in state.tables.values():
        empty &= table.lengths(slots) == 0
    return empty
