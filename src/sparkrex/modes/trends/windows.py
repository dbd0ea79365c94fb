"""Windows: which of them an event lies in, and where they begin and end.

Windows are the half-open [origin + k * slide, origin + k * slide + size) of every integer k. Times become numbers,
their *ticks*, in which sizes are whole numbers wherever times are.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sparkrex.columns.values import floats_of, ints_of, plain
from sparkrex.columns.wrap import wrap
from sparkrex.errors import AnalysisError, ExecutionError
from sparkrex.syntax.units import WindowUnit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.modes.trends.plan import TrendQuery, TrendWindow

_LARGEST = 1 << 61
"""Ticks and sizes beyond it are refused, so that no sum of three wraps."""
_MOST_NUMBER = 2.0**52
"""Of windows over doubles."""
_PER_MICROSECOND = {"s": Decimal(1) / 1_000_000, "ms": Decimal(1) / 1_000, "us": Decimal(1), "ns": Decimal(1_000)}
_DAY = 86_400_000_000
MOST_WINDOWS = 1 << 27
"""Of one call, one row each: the result would not fit in memory."""


@dataclass(frozen=True, slots=True)
class Windows:
    """Windows over ticks of a kind: `type` is that of their bounds in results."""

    size: Any
    slide: Any
    origin: Any
    type: pa.DataType

    @property
    def is_real(self) -> bool:
        """Whether ticks are doubles."""
        return bool(pa.types.is_floating(self.type))

    def first_and_last(self, ticks: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The numbers of the first and of the last window that each event lies in; none if the first is above."""
        if not self.is_real:
            since = ticks - self.origin
            return np.floor_divide(since - self.size, self.slide) + 1, np.floor_divide(since, self.slide)
        is_one = np.isfinite(ticks)
        since = np.where(is_one, ticks, 0.0) - self.origin
        last = np.floor_divide(since, self.slide).astype(np.int64)
        first = np.floor_divide(since - self.size, self.slide).astype(np.int64) + 1
        # Quotients are rounded: the bounds themselves decide.
        last -= self.starts(last) > ticks
        last += self.starts(last + 1) <= ticks
        first += self.ends(first) <= ticks
        first -= self.ends(first - 1) > ticks
        # An infinite time is in no window, and no earlier or later one knows of it.
        nowhere = np.where(ticks == -np.inf, -_LARGEST, _LARGEST)
        return np.where(is_one, first, nowhere + 1), np.where(is_one, last, nowhere)

    def starts(self, numbers: NDArray[np.int64]) -> NDArray[Any]:
        """Where windows begin."""
        found: NDArray[Any] = self.origin + numbers * self.slide
        return found

    def ends(self, numbers: NDArray[np.int64]) -> NDArray[Any]:
        """Where windows end."""
        found: NDArray[Any] = self.starts(numbers) + self.size
        return found

    def bounds(self, ticks: NDArray[Any]) -> pa.Array:
        """Ticks as values of results."""
        if self.is_real or pa.types.is_integer(self.type):
            return wrap(ticks).cast(self.type)
        if pa.types.is_decimal(self.type):
            halves = np.stack([ticks, ticks >> 63], axis=1)
            return pa.Array.from_buffers(self.type, len(ticks), [None, pa.py_buffer(halves)])
        return wrap(ticks).view(self.type)


def bound_type(query: TrendQuery, time: pa.DataType) -> pa.DataType:
    """The type of window_start and window_end."""
    if query.window is not None and query.window.unit is WindowUnit.EVENTS:
        return pa.int64()
    if pa.types.is_date(time):
        return pa.timestamp("us")
    if pa.types.is_timestamp(time):
        return pa.timestamp("ns" if time.unit == "ns" else "us", time.tz)
    if pa.types.is_decimal(time):
        return pa.decimal128(38, _scale(query.window, time))
    if pa.types.is_floating(time):
        return pa.float64()
    return pa.int64() if pa.types.is_integer(time) else time


def _scale(window: TrendWindow | None, time: pa.DataType) -> int:
    scales: list[int] = [time.scale]
    if window is not None:
        parts = (Decimal(str(part)) for part in (window.size, window.slide, window.origin))
        scales += [-int(part.as_tuple().exponent) for part in parts]
    return max(scales)


def make_windows(query: TrendQuery, time: pa.DataType) -> Windows | None:
    """The windows of a query over a time column of a type; None without WITHIN."""
    window = query.window
    if window is None:
        return None
    kind = bound_type(query, time)
    if pa.types.is_time(kind):
        raise AnalysisError(
            "REX226", "windows over times of day are not supported: they would have to end after midnight",
            query.source, window.span, hint="use a timestamp, or count: WITHIN 100 EVENTS",
        )
    if window.unit is WindowUnit.TIME:
        scale = _PER_MICROSECOND[kind.unit]
    else:
        scale = Decimal(10) ** kind.scale if pa.types.is_decimal(kind) else Decimal(1)
    size, slide, origin = (
        _ticks(part, scale, kind, query) for part in (window.size, window.slide, window.origin)
    )
    return Windows(size, slide, origin, kind)


def _ticks(part: float | Decimal, scale: Decimal, kind: pa.DataType, query: TrendQuery) -> Any:
    assert query.window is not None  # this is of one
    if pa.types.is_floating(kind):
        return float(part)
    whole = Decimal(str(part)) * scale
    if whole != int(whole):
        raise AnalysisError(
            "REX226", "the time column has whole numbers, and so must its windows", query.source, query.window.span,
            hint="use whole numbers, or cast the time column to DOUBLE",
        )
    if abs(whole) > _LARGEST:
        raise AnalysisError(
            "REX226", "a window has at most 61 bits", query.source, query.window.span, hint="leave WITHIN out"
        )
    return np.int64(int(whole))


def ticks_of(query: TrendQuery, windows: Windows, times: pa.ChunkedArray) -> NDArray[Any]:
    """The times of events as ticks, which no event lacks."""
    values = plain(times)
    kind = values.type
    if windows.is_real:
        floats = floats_of(values)
        is_one = np.isfinite(floats)
        # Beyond this a double cannot tell one window from the next.
        if (np.abs(floats[is_one] - windows.origin) > windows.slide * _MOST_NUMBER).any():
            raise _out_of_range(query)
        return floats
    if pa.types.is_date(kind):
        days = ints_of(values.cast(pa.date32()))
        if len(days) and max(-int(days.min()), int(days.max())) > _LARGEST // _DAY:
            raise _out_of_range(query)
        ticks = days * _DAY
    elif pa.types.is_timestamp(kind):
        try:
            ticks = ints_of(values.cast(windows.type))
        except pa.ArrowInvalid as error:  # of seconds that are too many microseconds
            raise _out_of_range(query) from error
    elif pa.types.is_decimal(kind):
        try:
            ticks = ints_of(pc.cast(values, pa.decimal128(38, windows.type.scale)).cast(
                pa.decimal128(18, windows.type.scale)))
        except pa.ArrowInvalid as error:
            raise _out_of_range(query) from error
    else:
        try:
            ticks = ints_of(values)
        except pa.ArrowInvalid as error:  # of unsigned integers
            raise _out_of_range(query) from error
    if len(ticks) and (int(ticks.min()) < -_LARGEST or int(ticks.max()) > _LARGEST):
        raise _out_of_range(query)
    return ticks


def _out_of_range(query: TrendQuery) -> ExecutionError:
    span = None if query.window is None else query.window.span
    return ExecutionError(
        "REX405", "a time is too far from the origin for windows of 64 bits", query.source, span,
        hint="leave such events out",
    )
