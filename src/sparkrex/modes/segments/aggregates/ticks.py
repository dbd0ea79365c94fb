"""equal_up_down_ticks: whether a segment has as many strict rises as strict falls between neighbouring values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sparkrex.modes.segments.aggregates.contract import Aggregate, null_marks, room
from sparkrex.modes.segments.aggregates.sums import INDEXED
from sparkrex.modes.segments.kernels.trends import ticks_lookup, ticks_prefix, ticks_scan

if TYPE_CHECKING:
    from sparkrex.modes.segments.aggregates.contract import Columns, Nulls, Rows, Values
    from sparkrex.modes.segments.kernels.pivots import Partitions


class EqualUpDownTicks(Aggregate):
    """A Boolean; NULL without values. Neighbours are the values left when NULLs are left out."""

    name = "equal_up_down_ticks"
    is_boolean = True
    cost = INDEXED

    def scan_many(
        self, columns: Columns, nulls: Nulls, partitions: Partitions, start: Rows, end: Rows
    ) -> Values:
        """See the protocol."""
        result, is_null = room(len(start), np.bool_)
        ticks_scan(columns[0], null_marks(*nulls), start, end, result, is_null)
        return result, is_null

    def index(
        self, columns: Columns, nulls: Nulls, partitions: Partitions, longest: int | None
    ) -> tuple[Rows, Rows] | None:
        """See the protocol."""
        net, upcoming = np.empty(len(columns[0]), np.int64), np.empty(len(columns[0]), np.int64)
        ticks_prefix(columns[0], null_marks(*nulls), partitions.offsets, net, upcoming)
        return net, upcoming

    def lookup(self, index: tuple[Rows, Rows], start: Rows, end: Rows) -> Values:
        """See the protocol."""
        result, is_null = room(len(start), np.bool_)
        ticks_lookup(*index, start, end, result, is_null)
        return result, is_null
