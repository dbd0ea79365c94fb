"""How SQL values compare: one order for conditions, sorting, grouping and DISTINCT.

NaN equals NaN and is greater than every number; -0.0 equals 0.0; strings compare by code point, which is the order of
their UTF-8 bytes. NULL never gets here except inside lists, where it equals itself and is greater than every value.
"""

from __future__ import annotations

import math
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import cmp_to_key
from typing import TYPE_CHECKING, Any, TypeVar

from tests.modes.rows.oracle.errors import CannotEvaluate

if TYPE_CHECKING:
    from collections.abc import Sequence

Item = TypeVar("Item")


def compare(left: Any, right: Any) -> int:
    """-1, 0 or 1 for two values that are not NULL."""
    left, right = alike(left, right)
    if isinstance(left, float) and isinstance(right, float) and (math.isnan(left) or math.isnan(right)):
        return math.isnan(left) - math.isnan(right)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return _compare_lists(left, right)
    if isinstance(left, dict) and isinstance(right, dict):
        return _compare_lists(list(left.values()), list(right.values()))
    try:
        return int(left > right) - int(left < right)
    except TypeError as problem:
        raise CannotEvaluate(f"compare {type(left).__name__} with {type(right).__name__}") from problem


def _compare_lists(left: Sequence[Any], right: Sequence[Any]) -> int:
    for one, other in zip(left, right, strict=False):
        found = (one is None) - (other is None) if one is None or other is None else compare(one, other)
        if found:
            return found
    return (len(left) > len(right)) - (len(left) < len(right))


def alike(left: Any, right: Any) -> tuple[Any, Any]:
    """Both values in the type that SQL would bring them to before it compares or computes."""
    if isinstance(left, float) and isinstance(right, int | Decimal):
        return left, float(right)
    if isinstance(right, float) and isinstance(left, int | Decimal):
        return float(left), right
    if isinstance(left, str) and isinstance(right, date):
        return _read(left, right), right
    if isinstance(right, str) and isinstance(left, date):
        return left, _read(right, left)
    if isinstance(left, datetime) and _is_day(right):
        return left, datetime.combine(right, time())
    if isinstance(right, datetime) and _is_day(left):
        return datetime.combine(left, time()), right
    return left, right


def _is_day(value: Any) -> bool:
    return isinstance(value, date) and not isinstance(value, datetime)


def _read(text: str, other: date) -> date:
    try:
        return datetime.fromisoformat(text) if isinstance(other, datetime) else date.fromisoformat(text)
    except ValueError as problem:
        raise CannotEvaluate(f"{text!r} as a {type(other).__name__}") from problem


def is_same(left: Any, right: Any) -> bool:
    """IS NOT DISTINCT FROM: NULL is the same as NULL only."""
    if left is None or right is None:
        return left is right
    return compare(left, right) == 0


def are_same(left: Sequence[Any], right: Sequence[Any]) -> bool:
    """Whether two keys of equal length are not distinct."""
    return all(is_same(one, other) for one, other in zip(left, right, strict=True))


def distinct(items: Sequence[Item], keys: Sequence[Sequence[Any]]) -> list[Item]:
    """The items whose key did not occur before, in order."""
    kept: list[int] = []
    for place in range(len(items)):
        if not any(are_same(keys[place], keys[earlier]) for earlier in kept):
            kept.append(place)
    return [items[place] for place in kept]


def sort(items: Sequence[Item], keys: Sequence[Sequence[Any]], directions: Sequence[tuple[bool, bool]]) -> list[Item]:
    """A stable sort. `directions` has (is_descending, nulls_first) for each part of a key."""

    def order(left: int, right: int) -> int:
        for one, other, (is_descending, nulls_first) in zip(keys[left], keys[right], directions, strict=True):
            if one is None or other is None:
                found = (one is None) - (other is None)
                found = -found if nulls_first else found
            else:
                found = -compare(one, other) if is_descending else compare(one, other)
            if found:
                return found
        return 0

    return [items[place] for place in sorted(range(len(items)), key=cmp_to_key(order))]


def is_number(value: Any) -> bool:
    """A number in SQL's sense: booleans are none."""
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def is_moment(value: Any) -> bool:
    """A date, a timestamp or an interval."""
    return isinstance(value, date | timedelta)
