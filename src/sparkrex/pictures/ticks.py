"""Where the lines of an axis are, and what stands at them. Times are in UTC."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, assert_never

from sparkrex.pictures.picture import Scale

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sparkrex.pictures.picture import Axis

_DAY = 86_400
_STEPS = (
    *(one * unit for unit in (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1) for one in (1, 2, 5)),
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 2 * 3600, 3 * 3600, 6 * 3600, 12 * 3600,
)
"""Seconds; all divide a day, and so they meet its beginning."""
_DAYS, _MONTHS, _YEARS = (1, 2, 7, 14), (1, 3, 6), (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
_MONTH_NAMES = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Tick:
    """A place on an axis, what stands there, and in the line below: the day, or the year, where it changes."""

    at: float
    text: str
    below: str = ""


def ticks(axis: Axis, low: float, high: float, most: int) -> tuple[Tick, ...]:
    """At most so many ticks between two positions, both included, none between two neighbouring values."""
    most = max(most, 2)
    match axis.scale:
        case Scale.NUMBER:
            return number_ticks(low, high, most, axis.grain)
        case Scale.CATEGORY:
            step = max(1, math.ceil(len(axis.categories) / most))
            return tuple(Tick(float(at), axis.categories[at]) for at in range(0, len(axis.categories), step))
        case Scale.TIME:
            return time_ticks(axis.origin, low, high, most, axis.grain)
        case _:
            assert_never(axis.scale)


def number_ticks(low: float, high: float, most: int, grain: float = 0.0) -> tuple[Tick, ...]:
    """Multiples of 1, 2 or 5 times a power of ten, and of the grain at least."""
    step = max(number_step(low, high, most), grain)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return tuple(Tick(number * step, number_text(number * step, step)) for number in range(first, last + 1))


def number_step(low: float, high: float, most: int) -> float:
    """The distance between two ticks."""
    span = high - low if high > low else max(abs(low), 1.0)
    power: float = 10.0 ** math.floor(math.log10(span / most))
    return next(power * factor for factor in (1, 2, 5, 10, 20) if span / (power * factor) <= most)


def number_text(value: float, step: float) -> str:
    """A value with as many digits as ticks so far apart need."""
    if not math.isfinite(value):
        return str(value)
    if abs(value) >= 1e15 or step < 1e-9:
        return f"{value:.6g}"
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    return f"{value + 0.0:,.{digits}f}" if round(value, digits) else "0"


def time_ticks(origin: int, low: float, high: float, most: int, grain: float = 0.0) -> tuple[Tick, ...]:
    """At times that people count by. `low` and `high` are seconds after `origin`, which is the beginning of a day."""
    span = high - low
    for step in _STEPS:
        if step >= grain and span / step <= most:
            return _with_days(origin, low, high, step)
    try:
        return tuple(_of_days(origin, low, high, most))
    except (OverflowError, ValueError):  # before the year 1 or after 9999, which Python does not know
        return number_ticks(low, high, most)


def _with_days(origin: int, low: float, high: float, step: float) -> tuple[Tick, ...]:
    found: list[Tick] = []
    day = ""
    for number in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1):
        at = number * step
        date, clock = _parts(origin, at)
        digits = 0 if step >= 1 else -math.floor(math.log10(step) + 1e-9)
        text = clock[:5] if step >= 60 else clock[: 8 + (digits + 1 if digits else 0)]
        found.append(Tick(at, text, "" if date == day else date))
        day = date
    return tuple(found)


def _of_days(origin: int, low: float, high: float, most: int) -> Iterator[Tick]:
    span = (high - low) / _DAY
    begin, end = _moment(origin, low), _moment(origin, high)
    year = ""

    def tick(moment: datetime, text: str) -> Tick:
        nonlocal year
        below = "" if str(moment.year) == year or text == str(moment.year) else str(moment.year)
        year = str(moment.year)
        return Tick((moment - _EPOCH).total_seconds() - origin, text, below)

    for days in _DAYS:
        if span / days <= most:
            first = math.ceil((begin - _EPOCH).total_seconds() / _DAY / days - 1e-12) * days
            # Weeks begin on Monday; 5 January 1970 was one.
            moment = _EPOCH + timedelta(days=first + (4 if days in (7, 14) else 0))
            if days in (7, 14) and moment - timedelta(days=days) >= begin:
                moment -= timedelta(days=days)
            while moment <= end:
                yield tick(moment, f"{moment.day} {_MONTH_NAMES[moment.month - 1]}")
                moment += timedelta(days=days)
            return
    for months in (*_MONTHS, *(12 * years for years in _YEARS)):
        if span / 30.4 / months <= most:
            number = (begin.year * 12 + begin.month - 1) // months * months
            while number // 12 <= 9999:
                moment = datetime(max(number // 12, 1), number % 12 + 1, 1, tzinfo=UTC)
                if moment > end:
                    return
                if moment >= begin:
                    yield tick(moment, _MONTH_NAMES[moment.month - 1] if months < 12 else str(moment.year))
                number += months
            return


def position_text(axis: Axis, at: float) -> str:
    """A position in full, as hints and tables show it."""
    if axis.scale is Scale.CATEGORY:
        return axis.categories[int(at)]
    if axis.scale is Scale.NUMBER:
        return f"{at:,.0f}" if at == int(at) and abs(at) < 1e15 else f"{at:.10g}"
    date, clock = _parts(axis.origin, at)
    clock = clock.rstrip("0").rstrip(".") if "." in clock else clock
    return f"{date} {clock}"


def _parts(origin: int, at: float) -> tuple[str, str]:
    """Day and time with microseconds."""
    try:
        moment = _moment(origin, at)
    except OverflowError:
        return str(origin), f"{at:.6f}"
    return f"{moment:%Y-%m-%d}".rjust(10, "0"), f"{moment:%H:%M:%S.%f}"


def _moment(origin: int, at: float) -> datetime:
    return _EPOCH + timedelta(seconds=origin) + timedelta(microseconds=round(at * 1e6))
