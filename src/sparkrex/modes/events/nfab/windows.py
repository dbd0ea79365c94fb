"""WITHIN as positions: for every row the first row that a match which ends there may start with, and the reverse.

Times are compared here, once; kernels only compare positions. The distance of two times must not wrap: integers become
unsigned numbers in the same order, whose differences all fit, and a window is at most as large as those.
"""

from __future__ import annotations

from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sparkrex.columns.gather import put_in_order
from sparkrex.columns.values import FLOAT, floats_of, ints_of, kind_of, numpy_of, plain
from sparkrex.matching.event_order import order_columns
from sparkrex.modes.events.kernels import windows as kernel
from sparkrex.syntax.units import WindowUnit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.columns.ordered import Columns
    from sparkrex.kernels.lazy import Kernel
    from sparkrex.modes.events.plan import EventQuery, EventWindow

_MICROSECONDS = {"s": 1_000_000, "ms": 1_000, "us": 1}
_DAY = 86_400_000_000
_LARGEST = 2**64 - 1


class Times:
    """The time column of a frame, in the frame's order: as numbers, and the window's size in the same unit.

    Numbers are unsigned, doubles, or Python's integers where 64 bits are too few.
    """

    def __init__(self, query: EventQuery, frame: Columns, threads: int) -> None:
        values = _plain_times(plain(frame.table.column(order_columns(query)[0])))
        self._type = values.type
        self.offsets = frame.offsets
        self.window = query.window
        self.values: NDArray[Any] = put_in_order(_numbers(values), frame.order, threads)
        has_size = query.window is not None and query.window.unit is not WindowUnit.EVENTS
        self.size = _size(query.window, values.type) if query.window is not None and has_size else None

    def window_first(self) -> NDArray[np.int64]:
        """By row: the first row of its partition from which it is not further away than the window."""
        return self._first_rows

    @cached_property
    def _first_rows(self) -> NDArray[np.int64]:
        if self.window is None:
            return np.repeat(self.offsets[:-1], np.diff(self.offsets))
        if self.window.unit is WindowUnit.EVENTS:
            starts = np.repeat(self.offsets[:-1], np.diff(self.offsets))
            return np.maximum(starts, np.arange(len(self.values)) - self._n_events())
        return self._positions(kernel.first_rows)

    def window_last(self) -> NDArray[np.int64]:
        """By row: the last row of its partition that is not further away than the window."""
        ends = np.repeat(self.offsets[1:] - 1, np.diff(self.offsets))
        if self.window is None:
            return ends
        if self.window.unit is WindowUnit.EVENTS:
            return np.minimum(ends, np.arange(len(self.values)) + self._n_events())
        return self._positions(kernel.last_rows)

    def open_from(self, closes: NDArray[np.bool_], horizon: pa.Scalar | None) -> NDArray[np.int64]:
        """By partition: the first row whose window may still take a row to come; the one behind the last if none may.

        This is what decides what waits: a run goes on, and an end of matches stays undecided, if its first event is
        there or behind. No row to come is before the last one, and none is at or before the horizon, so that a window
        has passed once it ends at the horizon: `first + size <= horizon`. To a partition that closes no row comes.
        """
        low, high = self.offsets[:-1], self.offsets[1:]
        found = low.copy()
        if self.window is not None:
            has_rows = high > low
            found[has_rows] = self._first_rows[high[has_rows] - 1]
        if horizon is not None and horizon.is_valid and self.size is not None:
            n_passed = np.concatenate(([0], np.cumsum(self._passed(horizon))))
            found = np.maximum(found, low + n_passed[high] - n_passed[low])
        return np.where(closes, high, found)

    def first_tied(self, horizon: pa.Scalar | None) -> NDArray[np.int64]:
        """By partition: the last row, which a row to come may be tied with; the one behind if none may, because the
        horizon is not before it."""
        low, high = self.offsets[:-1], self.offsets[1:]
        found = np.maximum(high - 1, low)
        if horizon is not None and horizon.is_valid:
            has_rows = np.flatnonzero(high > low)
            is_past = (self.values[high[has_rows] - 1] <= self._number(horizon)).astype(np.bool_)
            found[has_rows[is_past]] = high[has_rows[is_past]]
        return found

    def _number(self, horizon: pa.Scalar) -> Any:
        (bound,) = _numbers(_plain_times(pa.repeat(horizon, 1).cast(self._type)))
        return bound

    def _passed(self, horizon: pa.Scalar) -> NDArray[np.bool_]:
        """By row whether its window ends at the horizon or before; inside a partition those rows come first."""
        bound = self._number(horizon)
        if self.values.dtype.kind == "f":
            with np.errstate(invalid="ignore"):
                # NaN is above all numbers: behind it nothing has a window.
                return np.ones(len(self.values), np.bool_) if np.isnan(bound) else bound - self.values >= self.size
        # Unsigned numbers wrap where the horizon is before the row.
        passed: NDArray[np.bool_] = (self.values <= bound) & (bound - self.values >= self.size)
        return passed.astype(np.bool_)

    def ties(self) -> NDArray[np.int64]:
        """By row: a number that rises with the time inside a partition. All NaN are one time."""
        changes = np.empty(len(self.values), np.bool_)
        changes[:1] = True
        changes[1:] = self.values[1:] != self.values[:-1]
        if self.values.dtype.kind == "f":
            is_nan = np.isnan(self.values)
            changes[1:] &= ~(is_nan[1:] & is_nan[:-1])
        changes[self.offsets[:-1][self.offsets[:-1] < len(changes)]] = True
        return np.cumsum(changes)

    def _n_events(self) -> int:
        assert self.window is not None  # it counts events
        return min(int(self.window.size), len(self.values))

    def _positions(self, find: Kernel) -> NDArray[np.int64]:
        # Compiled code has no integers beyond 64 bits.
        run = find.interpreted if self.values.dtype == object else find
        values = self.values
        if values.dtype.kind == "f":
            # No finite window reaches from an infinity to anything, nor has it a distance to itself.
            values = np.where(np.isinf(values), np.nan, values)
        return run(values, self.offsets, self.size)  # type: ignore[no-any-return]  # compiled


def window_size(query: EventQuery, type_: pa.DataType | None) -> int | None:
    """The size of a query's window, in the integers that times of a type are counted in; None if it is not of time."""
    window = query.window
    if window is None or type_ is None or window.unit is WindowUnit.EVENTS or not pa.types.is_temporal(type_):
        return None
    return int(_size(window, type_))


def _plain_times(values: pa.Array) -> pa.Array:
    return values.cast(pa.date32()) if pa.types.is_date64(values.type) else values


def _numbers(values: pa.Array) -> NDArray[Any]:
    """Times as numbers of which no two have a difference that wraps; their order is that of the times."""
    kind = kind_of(values.type)
    if kind == FLOAT:
        return floats_of(values)
    if kind is not None:
        return ints_of(values).view(np.uint64) ^ np.uint64(1 << 63)
    if pa.types.is_uint64(values.type):
        return numpy_of(values.fill_null(0))
    if pa.types.is_decimal(values.type):
        scale = values.type.scale
        return np.array([0 if one is None else int(one.scaleb(scale)) for one in values.to_pylist()], object)
    return floats_of(values)


def _size(window: EventWindow, type_: pa.DataType) -> np.uint64 | np.float64 | int:
    """The window's size in the numbers that `Times` holds. Rounding down is exact: times are whole numbers of them."""
    kind = kind_of(type_)
    is_decimal = pa.types.is_decimal(type_)
    if window.unit is WindowUnit.TIME:
        assert kind is not None  # the analysis has let times pass only
        size = Decimal(window.size)
        if kind.name == "date":
            return _unsigned(size // _DAY)
        unit = str(kind.detail).split()[0]
        return _unsigned(size * 1000 if unit == "ns" else size // _MICROSECONDS[unit])
    if kind == FLOAT or (kind is None and not is_decimal and not pa.types.is_uint64(type_)):
        return np.float64(window.size)
    scaled = (Decimal(str(window.size)) * 10 ** (type_.scale if is_decimal else 0)).to_integral_value("ROUND_FLOOR")
    return int(scaled) if kind is None and is_decimal else _unsigned(scaled)


def _unsigned(size: Decimal) -> np.uint64:
    """A larger window than all distances is as good as the largest distance."""
    return np.uint64(min(int(size), _LARGEST))
