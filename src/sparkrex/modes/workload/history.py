"""The events of the last window, whatever their type: what a new plan must have seen to go on where another stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.ordered import Columns
from sparkrex.columns.wrap import wrap
from sparkrex.modes.events.engine import arrange_events
from sparkrex.modes.events.nfab.windows import Times
from sparkrex.syntax.units import WindowUnit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sparkrex.modes.events.plan import EventQuery
    from sparkrex.settings import Settings

RECENT_ROWS = 10_000


class History:
    """Rows from which matches may still begin, or which a leading negation may still ask for, and the last chunks.

    Rows reach back by the largest window of the patterns; without a window nothing is forgotten.
    """

    def __init__(self) -> None:
        self.table: pa.Table | None = None
        self.recent: list[pa.Table] = []
        """The last chunks with `RECENT_ROWS` rows or more: they tell how often events come and conditions hold."""

    def add(self, rows: pa.Table, queries: Sequence[EventQuery], settings: Settings) -> None:
        """One more chunk; what is further back than the largest window goes."""
        self.recent.append(rows)
        while sum(part.num_rows for part in self.recent[1:]) >= RECENT_ROWS:
            del self.recent[0]
        table = rows if self.table is None else pa.concat_tables([self.table, rows])
        if table.num_rows and all(query.window is not None for query in queries):
            keep = np.zeros(table.num_rows, np.bool_)
            for unit_counts in (False, True):
                found = [query for query in queries if _counts_events(query) == unit_counts]
                if found:
                    widest = max(found, key=lambda query: query.window.size)  # type: ignore[union-attr]
                    keep |= _last_events(widest, table, settings) if unit_counts else _in_window(widest, table)
            if not keep.all():
                table = table.filter(wrap(keep))
        self.table = table.combine_chunks()


def _counts_events(query: EventQuery) -> bool:
    return query.window is not None and query.window.unit is WindowUnit.EVENTS


def _in_window(query: EventQuery, table: pa.Table) -> NDArray[np.bool_]:
    times = Times(query, Columns(table, np.array([0, table.num_rows], np.int64)), 1)
    with np.errstate(invalid="ignore"):
        keep: NDArray[np.bool_] = ~(times.values.max() - times.values > times.size)
    return keep


def _last_events(query: EventQuery, table: pa.Table, settings: Settings) -> NDArray[np.bool_]:
    assert query.window is not None  # it counts events
    arrangement = arrange_events(query, table, settings)
    ends = np.repeat(arrangement.offsets[1:], np.diff(arrangement.offsets))
    is_last = ends - np.arange(len(ends)) <= int(query.window.size) + 1
    keep = np.zeros(table.num_rows, np.bool_)
    keep[arrangement.input_rows(np.flatnonzero(is_last))] = True
    return keep
