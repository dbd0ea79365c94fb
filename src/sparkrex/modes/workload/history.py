"""The events of the last windows, of all types: what a new plan must have seen to go on where another stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from sparkrex.columns.wrap import wrap
from sparkrex.modes.workload.reach import still_needed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sparkrex.modes.events.plan import EventQuery
    from sparkrex.settings import Settings

RECENT_ROWS = 10_000
FEW_ROWS = 1_000
"""Chunks are put together up to here, so that there are not many however small they come."""


class History:
    """Rows from which matches may still begin, or which a leading negation may still ask for, and the last chunks.

    Rows reach back as far as any pattern needs (`reach`); without a window nothing is forgotten. Plans change seldom
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
        keep = still_needed(self._queries, table, self._settings)
        if not keep.all():
            table = table.filter(wrap(keep))
        self._parts = [table.combine_chunks()]
        self._n_rows = self._n_kept = table.num_rows


def _append(parts: list[pa.Table], rows: pa.Table) -> None:
    """Put a chunk behind the others; a small one and a small last one become one."""
    if parts and parts[-1].num_rows + rows.num_rows <= FEW_ROWS:
        rows = pa.concat_tables([parts.pop(), rows]).combine_chunks()
    parts.append(rows)
