"""The answer to a trend query by brute force, straight from its definition.

1. Rows form partitions by all attributes of [..] and GROUP-BY, ordered by time and tie-break columns.
2. A partition's events lie in windows; in each, those of a named type that fit no variable are removed.
3. The trends of a pattern there are found one by one (`trends`); of two patterns, every pair of trends counts.
4. A group's row has the aggregates over the trends of all its partitions.

Integers and sums are exact: `int`, or `Fraction` where they are not whole.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from tests.modes.trends.trends import Event, Stream, Trend, is_removed
from tests.modes.trends.values import ordered, total

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tests.modes.trends.query import Aggregate, Query, Window

Row: TypeAlias = tuple[Any, ...]
"""Begin and end of the window, then what RETURN names."""


@dataclass(slots=True)
class Result:
    """What one group has in one window: its trends or, of two patterns joined by `&`, the number of pairs."""

    trends: list[Trend] = field(default_factory=list)
    n_pairs: int = 0


def evaluate(query: Query, rows: Sequence[Mapping[str, Any]]) -> list[Row]:
    """A row for every group and window that has a trend."""
    results = find_results(query, rows)
    return [
        (*window, *(
            group[query.group_by.index(item)] if isinstance(item, str) else aggregate(query, item, result)
            for item in query.returned
        ))
        for (group, window), result in results.items() if result.trends or result.n_pairs
    ]


def find_results(query: Query, rows: Sequence[Mapping[str, Any]]) -> dict[tuple[Row, Row], Result]:
    """By values of GROUP-BY, and begin and end of a window."""
    results: defaultdict[tuple[Row, Row], Result] = defaultdict(Result)
    for partition in partitions(query, rows):
        group = tuple(partition[0].row[name] for name in query.group_by)
        for window, events in windows(query, partition).items():
            stream = Stream(query, [event for event in events if not is_removed(query, event.row)])
            sides = [stream.trends(pattern) for pattern in query.patterns]
            if len(sides) == 1:
                results[group, window].trends += sides[0]
            else:
                one, other = sides
                pairs = {frozenset({first, second}) for first in one for second in other if first != second}
                results[group, window].n_pairs += len(pairs)
    return results


def partitions(query: Query, rows: Sequence[Mapping[str, Any]]) -> list[list[Event]]:
    """The events of every partition, in order; a NULL in [..] belongs to none, a NULL in GROUP-BY to one of its own."""
    groups: defaultdict[Row, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        if all(row[name] is not None for name in query.equivalent):
            groups[tuple(row[name] for name in (*query.group_by, *query.equivalent))].append(row)
    found = []
    for group in groups.values():
        keys = (query.time, *query.tie_break)
        group.sort(key=lambda row: [ordered(row[key]) for key in keys])
        found.append([
            Event(row, number, ordered(row[query.time]) if query.has_strict_ties else (number,))
            for number, row in enumerate(group)
        ])
    return found


# Windows.


def windows(query: Query, partition: Sequence[Event]) -> dict[Row, list[Event]]:
    """The events in every window that has some, by its begin and end; without WITHIN all are in one."""
    window = query.window
    if window is None:
        return {(None, None): list(partition)}
    found: defaultdict[Row, list[Event]] = defaultdict(list)
    for event in partition:
        time = event.row[query.time]
        if window.counts_events:
            for begin, end in _windows_at(window, Fraction(event.number)):
                found[int(begin), int(end)].append(event)
        elif not (isinstance(time, float) and not math.isfinite(time)):
            for begin, end in _windows_at(window, number_of(time)):
                found[_time_of(begin, time), _time_of(end, time)].append(event)
    return found


def _windows_at(window: Window, time: Fraction) -> Iterator[tuple[Fraction, Fraction]]:
    """All [origin + k * slide, origin + k * slide + size) that a time lies in."""
    size = Fraction(window.size)
    slide = size if window.slide is None else Fraction(window.slide)
    origin = Fraction(0) if window.origin is None else number_of(window.origin)
    last = math.floor((time - origin) / slide)
    first = math.floor((time - origin - size) / slide)
    for k in range(first - 1, last + 2):
        begin = origin + k * slide
        if begin <= time < begin + size:
            yield begin, begin + size


def number_of(time: Any) -> Fraction:
    """A time as a number: dates and times are microseconds since 1970."""
    match time:
        case datetime():
            return Fraction((time - datetime(1970, 1, 1, tzinfo=time.tzinfo)) // timedelta(microseconds=1))
        case date():
            return number_of(datetime(time.year, time.month, time.day))
        case _:
            return Fraction(time)


def _time_of(number: Fraction, like: Any) -> Any:
    """A bound of a window in the type of the times; in days it is a time, because it need not be at midnight."""
    match like:
        case datetime(tzinfo=zone):
            return datetime(1970, 1, 1, tzinfo=zone and UTC) + timedelta(microseconds=int(number))
        case date():
            return datetime(1970, 1, 1) + timedelta(microseconds=int(number))
        case Decimal():
            return Decimal(number.numerator) / Decimal(number.denominator)
        case float():
            return float(number)
        case _:
            return int(number)


# Aggregates.


def aggregate(query: Query, asked: Aggregate, result: Result) -> Any:
    """Over all trends of a result, an event as often as trends contain it; NULL if there is no value."""
    if asked.name is None:
        return len(result.trends) + result.n_pairs
    names = query.variables_of(asked.name)
    rows = [event.row for trend in result.trends for event, variable in trend if variable in names]
    if asked.argument is None:
        return len(rows)
    values = [value for value in map(asked.argument.of, rows) if value is not None]
    match asked.function:
        case "COUNT":
            return len(values)
        case "MIN":
            return min(values, key=ordered, default=None)
        case "MAX":
            return max(values, key=ordered, default=None)
        case "SUM":
            return total(values) if values else None
        case "AVG":
            return _mean(values) if values else None


def _mean(values: list[Any]) -> float | Fraction:
    sum_of_all = total(values)
    return sum_of_all if isinstance(sum_of_all, float) else Fraction(sum_of_all) / len(values)
