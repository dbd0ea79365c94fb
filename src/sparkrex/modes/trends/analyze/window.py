"""WITHIN, SLIDE and ORIGIN: the windows over a time column.

Times count microseconds, and begin to be counted at 1970-01-01 UTC; a time without a zone is taken as one in UTC.
"""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from sqlglot import exp

from sparkrex.errors import AnalysisError
from sparkrex.modes.event_time import window_size
from sparkrex.modes.trends.plan import TrendWindow
from sparkrex.syntax.units import WindowUnit
from sparkrex.warn import warn_user

if TYPE_CHECKING:
    from sparkrex.languages.events.syntax import SizeText
    from sparkrex.modes.event_stream import Stream
    from sparkrex.modes.trends.language.syntax import Origin, TrendText
    from sparkrex.scalar.analyze.scope import Scope
    from sparkrex.source import Source, Span

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def trend_window(text: TrendText, given: Origin | None, stream: Stream, scope: Scope) -> TrendWindow | None:
    """The windows of a query, None if all events are in one. `given` is the origin of the call."""
    origin = _Origin(given, None, None, f"origin={given!r}")
    if text.origin is not None:
        written = scope.source.text[text.origin.span.start : text.origin.span.end]
        origin = _Origin(text.origin.value, scope.source, text.origin.span, f"ORIGIN {written}")
    if text.within is None:
        if origin.value is not None:
            raise origin.error("is for windows, and there is no WITHIN", "add WITHIN, or leave the origin out")
        return None
    size, unit = _size(text.within, stream, scope)
    slide, slide_unit = (size, unit) if text.slide is None else _size(text.slide, stream, scope)
    if text.slide is not None and slide_unit is not unit:
        raise AnalysisError(
            "REX226", "WITHIN and SLIDE are of one kind: both count events, or neither does", scope.source,
            text.slide.span, hint="WITHIN 100 EVENTS SLIDE 10 EVENTS",
        )
    if unit is WindowUnit.EVENTS:
        _check_counted(text.within, origin, stream, scope)
    if slide > size:
        warn_user(
            f"SLIDE {_written(text.slide, scope)} is larger than WITHIN {_written(text.within, scope)}: "
            "events in the gaps between windows are in no trend"
        )
    span = text.within.span if text.slide is None else text.within.span.to(text.slide.span)
    return TrendWindow(size, slide, origin.number(stream, unit), unit, span)


def _size(text: SizeText, stream: Stream, scope: Scope) -> tuple[int | float | Decimal, WindowUnit]:
    size, unit = window_size(text, stream.time, scope.source)
    if size <= 0:
        raise AnalysisError(
            "REX226", f"{text.head} is larger than zero", scope.source, text.span, hint=f"{text.head} 1 {_unit(text)}"
        )
    if not isinstance(size, int) and _is_integer(stream):
        raise AnalysisError(
            "REX226", f"the time column {stream.time.name} has whole numbers, and so have windows on it", scope.source,
            text.span, hint=f"{text.head} {round(size) or 1}",
        )
    return size, unit


def _unit(text: SizeText) -> str:
    return next((unit.lower() for _, unit in text.amounts if unit is not None), "").strip()


def _written(text: SizeText | None, scope: Scope) -> str:
    return "" if text is None else scope.source.text[text.span.start : text.span.end]


def _is_integer(stream: Stream) -> bool:
    return stream.time.type.is_type(*exp.DataType.INTEGER_TYPES)


def _check_counted(within: SizeText, origin: _Origin, stream: Stream, scope: Scope) -> None:
    """Windows of events number them: they need an order, and begin with the first."""
    if stream.has_strict_ties:
        raise AnalysisError(
            "REX226", "a window of events needs events in a definite order", scope.source, within.span,
            hint='ties="order", with tie_break= if times are not unique; inside MATCH_TRENDS: TIES ORDER',
            command_hint="TIES ORDER, with TIE BREAK if times are not unique",
        )
    if origin.value is not None:
        raise origin.error("is for windows of time", "windows of events begin with the first event: leave it out")


class _Origin:
    """Where windows are counted from, as it is given, and how to speak of it."""

    def __init__(self, value: Origin | None, source: Source | None, span: Span | None, written: str) -> None:
        self.value = value
        self.source = source
        self.span = span
        self.written = written

    def error(self, message: str, hint: str) -> AnalysisError:
        return AnalysisError("REX226", f"{self.written} {message}", self.source, self.span, hint=hint)

    def number(self, stream: Stream, unit: WindowUnit) -> int | float | Decimal:
        """In the terms of the plan: microseconds since 1970 of times, else a number like those of the column."""
        value = self.value
        if value is None:
            return 0
        column = f"the time column {stream.time.name} is a {stream.time.type.sql()}"
        if unit is WindowUnit.TIME:
            if isinstance(value, str | date):
                return self._microseconds(value)
            raise self.error(f"is a number, and {column}", "ORIGIN TIMESTAMP '2024-01-01 00:00:00'")
        if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
            raise self.error(f"is not a number, and {column}", "ORIGIN 100")
        if not math.isfinite(value):
            raise self.error("is not a number to count from", "ORIGIN 100")
        if value == int(value):
            return int(value)
        if _is_integer(stream):
            raise self.error(f"is not whole, and {column}", "ORIGIN 100")
        return float(value) if stream.time.type.is_type(*exp.DataType.FLOAT_TYPES) else Decimal(value)

    def _microseconds(self, value: str | date) -> int:
        if isinstance(value, str):
            try:
                value = datetime.fromisoformat(value.strip())
            except ValueError:
                raise self.error("is not a time that can be read", "2024-01-01 00:00:00") from None
        moment = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
        aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
        return (aware - _EPOCH) // _MICROSECOND
