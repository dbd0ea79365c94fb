"""Intervals as they are written, and times that are moved by them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.scalar.expression import Call, ColumnAt, Literal

if TYPE_CHECKING:
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


def moved_time(expression: Expression) -> ColumnAt | None:
    """The time in an expression that moves it by a written interval with one result, whoever computes it; or None.

    Spark takes the whole days out of an interval, even of one that is written in hours, and moves by these in its zone.
    """
    match expression:
        case Call("add" | "subtract", (ColumnAt() as time, interval)) if is_same_in_every_zone(interval):
            length = fixed_interval(interval)
            return time if length is not None and length < _MICROSECONDS["DAY"] else None
        case _:
            return None
