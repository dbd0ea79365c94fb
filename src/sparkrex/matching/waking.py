"""When an open slot must be looked at again although no row of it has come: time alone may decide something.

What time decides is always so far from a row that is held back: a bound in time that the row began, a window that it
lies in. A slot is fed again at the first of these moments that is still to come; it may be in vain, never late.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.values import ints_of, plain
from sparkrex.matching.state import ROWS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from sparkrex.matching.state import State
    from sparkrex.scalar.expression import Expression

NEVER = np.iinfo(np.int64).max
"""No horizon decides anything: only rows can."""


def horizon_number(horizon: pa.Scalar) -> int:
    """A horizon as the integer that its type is counted in."""
    return int(ints_of(pa.repeat(horizon, 1))[0])


@dataclass(frozen=True, slots=True)
class Moment:
    """So far behind a column's value in a row that is held back, in the integers that it is counted in.

    Where `limit` is there it is behind what that is in the row: a month behind the column, which is no fixed distance.
    """

    column: str
    distance: int
    limit: Expression | None = None


def first_wakes(
    state: State, slots: NDArray[np.int64], moments: Iterable[Moment], horizon: int,
    limit_of: Callable[[Expression, pa.Table], pa.Array] | None = None,
) -> NDArray[np.int64]:
    """For each slot the least moment above the horizon, over the rows that are held back.

    `limit_of` evaluates the limits of moments that have one.
    """
    found = np.full(len(slots), NEVER)
    rows, offsets = state.tables[ROWS].read(slots)
    if rows is None:
        return found
    least = np.full(rows.num_rows, NEVER)
    for moment in moments:
        if moment.limit is None:
            column = plain(rows.column(moment.column))
        else:
            assert limit_of is not None  # given by those who have such moments
            column = limit_of(moment.limit, rows)
        values = ints_of(column)
        # A sum beyond 64 bits is a moment that never comes.
        is_one = np.asarray(column.is_valid()) & (values <= NEVER - min(max(moment.distance, 0), NEVER))
        when = np.where(is_one, values, 0) + min(moment.distance, NEVER)
        np.minimum(least, np.where(is_one & (when > horizon), when, NEVER), out=least)
    has_rows = np.flatnonzero(np.diff(offsets))
    found[has_rows] = np.minimum.reduceat(least, offsets[has_rows])
    return found


def holds_nothing(state: State, slots: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which slots have no rows in any table."""
    empty = np.ones(len(slots), np.bool_)
    for table in state.tables.values():
        empty &= table.lengths(slots) == 0
    return empty
