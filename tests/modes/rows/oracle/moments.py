"""Parts, truncation and distance of dates and timestamps, by the name of a unit."""

from __future__ import annotations

from calendar import monthrange
from datetime import date, datetime, time, timedelta
from typing import Any

from tests.modes.rows.oracle.errors import CannotEvaluate


def extract(field: Any, moment: date) -> int | float:
    """EXTRACT: seconds without their fraction, Sunday is day 0 of the week (`dow`), Monday day 1 (`isodow`)."""
    instant = _instant(moment)
    match str(field).lower():
        case "year" | "month" | "day" | "hour" | "minute" | "second" as name:
            return int(getattr(instant, name))
        case "quarter":
            return (instant.month + 2) // 3
        case "week":
            return instant.isocalendar().week
        case "dow" | "dayofweek" | "weekday":
            return instant.isoweekday() % 7
        case "isodow":
            return instant.isoweekday()
        case "doy" | "dayofyear":
            return instant.timetuple().tm_yday
        case "epoch":
            return (instant - datetime(1970, 1, 1)) / timedelta(seconds=1)
        case other:
            raise CannotEvaluate(f"extract {other}")


def truncate(first: Any, second: Any) -> date:
    """The start of the unit that the moment lies in; the unit may stand on either side."""
    moment, unit = (second, first) if isinstance(first, str) else (first, second)
    instant = _instant(moment)
    day = datetime.combine(instant.date(), time())
    match str(unit).lower():
        case "year":
            start = day.replace(month=1, day=1)
        case "quarter":
            start = day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1)
        case "month":
            start = day.replace(day=1)
        case "week":
            start = day - timedelta(days=day.isoweekday() - 1)
        case "day":
            start = day
        case "hour":
            start = instant.replace(minute=0, second=0, microsecond=0)
        case "minute":
            start = instant.replace(second=0, microsecond=0)
        case "second":
            start = instant.replace(microsecond=0)
        case other:
            raise CannotEvaluate(f"date_trunc {other}")
    return start if isinstance(moment, datetime) else start.date()


def difference(*operands: Any) -> int:
    """`date_diff(unit, start, end)`: how many starts of the unit lie after `start` and not after `end`."""
    if len(operands) != 3 or not isinstance(operands[0], str):
        raise CannotEvaluate("date_diff whose operands are not unit, start, end")
    unit = operands[0].lower()
    start, end = (_instant(truncate(unit, operand)) for operand in operands[1:])
    if unit in _MONTHS:
        return ((end.year - start.year) * 12 + end.month - start.month) // _MONTHS[unit]
    if unit not in _LENGTHS:
        raise CannotEvaluate(f"date_diff {unit}")
    return (end - start) // _LENGTHS[unit]


def whole_units(unit: str, start: Any, end: Any) -> int:
    """How many whole units lie between, as Java counts them: months and years of whole days, from day to day."""
    first, last = _instant(start), _instant(end)
    if unit in _LENGTHS:
        return abs(last - first) // _LENGTHS[unit] * (1 if last > first else -1)
    if unit not in _MONTHS:
        raise CannotEvaluate(f"whole {unit}s")
    if first.date() < last.date() and last.time() < first.time():
        last -= timedelta(days=1)
    elif first.date() > last.date() and last.time() > first.time():
        last += timedelta(days=1)
    days = (_month_number(last) - _month_number(first)) * 32 + last.day - first.day
    return abs(days) // 32 // _MONTHS[unit] * (1 if days > 0 else -1)


def whole_units_to_last_day(unit: str, start: Any, end: Any) -> int:
    """How many times the unit can be added to `start` without going behind `end`; backwards as many below zero.

    A month later is the same day, or the month's last day if it has no such day.
    """
    first, last = _instant(start), _instant(end)
    if last < first:
        return -whole_units_to_last_day(unit, end, start)
    if unit not in _MONTHS:
        return whole_units(unit, start, end)
    count = 0
    while _months_later(first, (count + 1) * _MONTHS[unit]) <= last:
        count += 1
    return count


def _month_number(moment: datetime) -> int:
    return moment.year * 12 + moment.month - 1


def _months_later(moment: datetime, n_months: int) -> datetime:
    year, month = divmod(_month_number(moment) + n_months, 12)
    return moment.replace(year=year, month=month + 1, day=min(moment.day, monthrange(year, month + 1)[1]))


def _instant(moment: date) -> datetime:
    if isinstance(moment, datetime):
        if moment.tzinfo is not None:
            raise CannotEvaluate("the parts of a timestamp with time zone")
        return moment
    if isinstance(moment, date):
        return datetime.combine(moment, time())
    raise CannotEvaluate(f"{type(moment).__name__} as a moment")


_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_LENGTHS = {
    "week": timedelta(weeks=1), "day": timedelta(days=1), "hour": timedelta(hours=1),
    "minute": timedelta(minutes=1), "second": timedelta(seconds=1),
}
