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
FEW_ROWS = 1_000
"""Chunks are put together up to here, so that there are not many however small they come."""


class History:
    """Rows from which matches may still begin, or which a leading negation may still ask for, and the last chunks.

    Rows reach back by the largest window of the patterns; without a window nothing is forgotten. Plans change seldom
    and chunks come often, so rows are cut when somebody asks for them, or when there are twice as many as after the
    last cut and a chunk.
    """

    def __init__(self) -> None:
        self.recent: list[pa.Table] = []
        """The last chunks with `RECENT_ROWS` rows or more: they tell how often events come and conditions hold."""
        self._n_recent = 0
        self._parts: list[pa.Table] = []
        self._n_rows = self._n_kept = 0
        self._queries: Sequence[EventQuery] = ()
        self._settings: Settings | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of the rows that may still be needed."""
        table = self.table
        return 0 if table is None else int(table.nbytes)

    @property
    def table(self) -> pa.Table | None:
        """The rows of the last window; None before the first chunk."""
        if not self._parts:
            return None
        self._cut()
        return self._parts[0]

    def add(self, rows: pa.Table, queries: Sequence[EventQuery], settings: Settings) -> None:
        """One more chunk; what is further back than the largest window of these patterns is needed no more."""
        self._queries, self._settings = queries, settings
        _append(self.recent, rows)
        self._n_recent += rows.num_rows
        while self._n_recent - self.recent[0].num_rows >= RECENT_ROWS:
            self._n_recent -= self.recent.pop(0).num_rows
        _append(self._parts, rows)
        self._n_rows += rows.num_rows
        if self._n_rows > 2 * (self._n_kept + rows.num_rows):
            self._cut()

    def _cut(self) -> None:
        """Drop what no pattern needs. The rows are one table then, which holds nothing of the chunks they came with."""
        assert self._settings is not None  # there are rows
        table = pa.concat_tables(self._parts)
        if table.num_rows and all(query.window is not None for query in self._queries):
            keep = np.zeros(table.num_rows, np.bool_)
            for unit_counts in (False, True):
                found = [query for query in self._queries if _counts_events(query) == unit_counts]
                if found:
                    widest = max(found, key=lambda query: query.window.size)  # type: ignore[union-attr]
                    keep |= _last_events(widest, table, self._settings) if unit_counts else _in_window(widest, table)
            if not keep.all():
                table = table.filter(wrap(keep))
        self._parts = [table.combine_chunks()]
        self._n_rows = self._n_kept = table.num_rows


def _append(parts: list[pa.Table], rows: pa.Table) -> None:
    """Put a chunk behind the others; a small one and a small last one become one."""
    if parts and parts[-1].num_rows + rows.num_rows <= FEW_ROWS:
        rows = pa.concat_tables([parts.pop(), rows]).combine_chunks()
    parts.append(rows)


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
