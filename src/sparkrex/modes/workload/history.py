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


class History:
    """Rows from which matches may still begin, or which a leading negation may still ask for, and the last chunks.

    Rows reach back as far as any pattern needs (`reach`); without a window nothing is forgotten.
    """

    def __init__(self) -> None:
        self.table: pa.Table | None = None
        self.recent: list[pa.Table] = []
        """The last chunks with `RECENT_ROWS` rows or more: they tell how often events come and conditions hold."""

    def add(self, rows: pa.Table, queries: Sequence[EventQuery], settings: Settings) -> None:
        """One more chunk; what no pattern needs any more goes."""
        self.recent.append(rows)
        while sum(part.num_rows for part in self.recent[1:]) >= RECENT_ROWS:
            del self.recent[0]
        table = rows if self.table is None else pa.concat_tables([self.table, rows])
        keep = still_needed(queries, table, settings)
        if not keep.all():
            table = table.filter(wrap(keep))
        self.table = table.combine_chunks()
