"""How far back a new plan must see to go on where another stopped: what each pattern needs, in its own partitions.

A match that is under way has its events in the last window. One that waits for its window to end has the first of them
there, and what must be absent before the last of them may have come up to one window before that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sparkrex.columns.ordered import Columns
from sparkrex.modes.events.engine import arrange_events
from sparkrex.modes.events.nfab.windows import Times
from sparkrex.modes.events.pattern import allows_empty, around_absences
from sparkrex.modes.events.taking_part import key_columns
from sparkrex.syntax.units import WindowUnit

if TYPE_CHECKING:
    from collections.abc import Collection

    import pyarrow as pa
    from numpy.typing import NDArray

    from sparkrex.modes.events.plan import EventQuery
    from sparkrex.settings import Settings


def still_needed(queries: Collection[EventQuery], table: pa.Table, settings: Settings) -> NDArray[np.bool_]:
    """Which rows a plan of these patterns must have seen; without a window nothing is forgotten."""
    keep = np.zeros(table.num_rows, np.bool_)
    if not table.num_rows:
        return keep
    widest: dict[tuple[tuple[str, ...] | None, int], EventQuery] = {}
    for query in queries:
        if query.window is None:
            return ~keep
        keys = tuple(sorted(key_columns(query))) if query.window.unit is WindowUnit.EVENTS else None
        place = keys, n_windows(query)
        if place not in widest or query.window.size > widest[place].window.size:  # type: ignore[union-attr]
            widest[place] = query
    for (keys, n), query in widest.items():
        keep |= _in_windows(query, table, n) if keys is None else _last_events(query, table, n, settings)
    return keep


def n_windows(query: EventQuery) -> int:
    """How many windows back."""
    around = around_absences(query.pattern)
    waits = any(all(map(allows_empty, after)) for _, after in around)
    looks_back = any(all(map(allows_empty, before)) for before, _ in around)
    return 2 if waits and looks_back else 1


def _in_windows(query: EventQuery, table: pa.Table, n: int) -> NDArray[np.bool_]:
    times = Times(query, Columns(table, np.array([0, table.num_rows], np.int64)), 1)
    with np.errstate(invalid="ignore"):
        distance = times.values.max() - times.values
        # Times are unsigned, and what is twice a window may be more than fits.
        is_past = distance > times.size
        if n > 1:
            is_past = is_past & (distance - times.size > times.size)
    keep: NDArray[np.bool_] = ~is_past.astype(np.bool_)
    return keep


def _last_events(query: EventQuery, table: pa.Table, n: int, settings: Settings) -> NDArray[np.bool_]:
    assert query.window is not None  # it counts events
    arrangement = arrange_events(query, table, settings)
    ends = np.repeat(arrangement.offsets[1:], np.diff(arrangement.offsets))
    is_last = ends - np.arange(len(ends)) <= n * int(query.window.size) + 1
    keep = np.zeros(table.num_rows, np.bool_)
    keep[arrangement.input_rows(np.flatnonzero(is_last))] = True
    return keep
