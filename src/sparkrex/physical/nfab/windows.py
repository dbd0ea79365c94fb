"""WITHIN as positions: for every row the first row that a match which ends there may start with, and the reverse.

Times are compared here, once; kernels only compare positions.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.columns.gather import put_in_order
from sparkrex.columns.values import FLOAT, floats_of, ints_of, kind_of, plain
from sparkrex.ir.event_query import EventQuery, EventWindow, WindowUnit
from sparkrex.kernels import nfab_windows as kernel
from sparkrex.physical.event_order import order_columns

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from sparkrex.physical.contract import Columns

_MICROSECONDS = {"s": 1_000_000, "ms": 1_000, "us": 1}
_DAY = 86_400_000_000


class Times:
    """The time column of a frame, in the frame's order: as numbers, and the window's size in the same unit."""

    def __init__(self, query: EventQuery, frame: Columns, threads: int) -> None:
        values = plain(frame.table.column(order_columns(query)[0]))
        self.offsets = frame.offsets
        self.window = query.window
        kind = kind_of(values.type)
        numbers = floats_of(values) if kind is None or kind == FLOAT else ints_of(values)
        self.values: NDArray[np.int64] | NDArray[np.float64] = put_in_order(numbers, frame.order, threads)
        self.size = None if query.window is None else _size(query.window, values.type)

    def window_first(self) -> NDArray[np.int64]:
        """By row: the first row of its partition from which it is not further away than the window."""
        if self.window is None:
            return np.repeat(self.offsets[:-1], np.diff(self.offsets))
        if self.window.unit is WindowUnit.EVENTS:
            starts = np.repeat(self.offsets[:-1], np.diff(self.offsets))
            return np.maximum(starts, np.arange(len(self.values)) - int(self.window.size))
        return kernel.first_rows(self.values, self.offsets, self.size)  # type: ignore[no-any-return]  # compiled

    def window_last(self) -> NDArray[np.int64]:
        """By row: the last row of its partition that is not further away than the window."""
        ends = np.repeat(self.offsets[1:] - 1, np.diff(self.offsets))
        if self.window is None:
            return ends
        if self.window.unit is WindowUnit.EVENTS:
            return np.minimum(ends, np.arange(len(self.values)) + int(self.window.size))
        return kernel.last_rows(self.values, self.offsets, self.size)  # type: ignore[no-any-return]  # compiled

    def ties(self) -> NDArray[np.int64]:
        """By row: a number that rises with the time inside a partition."""
        changes = np.empty(len(self.values), np.bool_)
        changes[:1] = True
        changes[1:] = self.values[1:] != self.values[:-1]
        changes[self.offsets[:-1][self.offsets[:-1] < len(changes)]] = True
        return np.cumsum(changes)


def _size(window: EventWindow, type_: pa.DataType) -> np.int64 | np.float64:
    """The window's size in the numbers that `Times` holds. Rounding down is exact: times are whole numbers of them."""
    kind = kind_of(type_)
    if window.unit is WindowUnit.TIME:
        assert kind is not None  # the analysis has let times pass only
        size = Decimal(window.size)
        if kind.name == "date":
            return np.int64(size // _DAY)
        unit = str(kind.detail).split()[0]
        return np.int64(size * 1000) if unit == "ns" else np.int64(size // _MICROSECONDS[unit])
    if kind is None or kind == FLOAT:
        return np.float64(window.size)
    scale = int(kind.detail or 0) if kind.name == "decimal" else 0
    return np.int64((Decimal(str(window.size)) * 10**scale).to_integral_value("ROUND_FLOOR"))
