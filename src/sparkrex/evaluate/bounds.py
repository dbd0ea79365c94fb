"""Conjuncts written so that a bound in time can be seen: a column on its own that must not exceed something.

People write one bound in many ways: `C.ts - INTERVAL '1' HOUR <= A.ts`, or BETWEEN. Search and streams look for
`column <= other + constant`, so that form is what conditions are compiled in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.scalar.expression import Call, ColumnAt, Literal, walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sparkrex.scalar.expression import Expression

_MICROSECONDS = {
    "MICROSECOND": 1, "MILLISECOND": 1_000, "SECOND": 1_000_000, "MINUTE": 60_000_000, "HOUR": 3_600_000_000,
    "DAY": 86_400_000_000, "WEEK": 604_800_000_000,
}


def fixed_interval(expression: Expression) -> int | None:
    """Microseconds of an interval written in one unit of fixed length; the host, asked instead, would have to load."""
    match expression:
        case Call("interval", (Literal(str() as number), Literal(str() as unit))):
            length = _MICROSECONDS.get(_unit(unit))
            return int(number) * length if length is not None and number.isdigit() else None
        case _:
            return None


def is_same_in_every_zone(interval: Expression) -> bool:
    """Whether an interval is of fixed length and not written in days, which are not always 24 hours long."""
    match interval:
        case Call("interval", (_, Literal(str() as unit))):
            return fixed_interval(interval) is not None and _unit(unit) not in ("DAY", "WEEK")
        case _:
            return False


def _unit(text: str) -> str:
    return text.upper().removesuffix("S")


def as_bounds(conjunct: Expression, is_time: Callable[[ColumnAt], bool]) -> Iterator[Expression]:
    """Conjuncts that together say the same. An interval that is taken from a time is added to the
    other side.

    `is_time` tells columns of timestamps: a time of day less an interval is one again, and an earlier or a later one.
    """
    match conjunct:
        case Call("between", (value, low, high)) if _is_deterministic(value):
            yield from as_bounds(Call("ge", (value, low), span=conjunct.span), is_time)
            yield from as_bounds(Call("le", (value, high), span=conjunct.span), is_time)
        case Call("lt" | "le" as name, (Call("subtract", (ColumnAt() as value, interval)), limit)) if (
            isinstance(limit, ColumnAt) and fixed_interval(interval) and is_time(value) and is_time(limit)
        ):
            yield Call(name, (value, Call("add", (limit, interval), span=limit.span)), span=conjunct.span)
        case Call("gt" | "ge" as name, (limit, Call("subtract", (ColumnAt() as value, interval)))) if (
            isinstance(limit, ColumnAt) and fixed_interval(interval) and is_time(value) and is_time(limit)
        ):
            yield Call(name, (Call("add", (limit, interval), span=limit.span), value), span=conjunct.span)
        case _:
            yield conjunct


def _is_deterministic(expression: Expression) -> bool:
    return all(node.is_deterministic for node in walk(expression) if isinstance(node, Call))
