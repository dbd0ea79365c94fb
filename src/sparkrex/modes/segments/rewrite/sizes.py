"""Constants that bound the growth of a column, in the column's own unit."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from sparkrex.scalar.expression import Call, Literal

if TYPE_CHECKING:
    from sparkrex.scalar.expression import Expression

Units: TypeAlias = Mapping[str, int]
"""For each column of times: how many microseconds one of its own units has (1 for timestamps, a day's for dates)."""

_MICROSECONDS = {
    "MICROSECOND": 1, "MILLISECOND": 1_000, "SECOND": 1_000_000, "MINUTE": 60_000_000, "HOUR": 3_600_000_000,
    "DAY": 86_400_000_000, "WEEK": 604_800_000_000,
}


def size(expression: Expression, column: str, units: Units) -> float | None:
    """The constant's size: a number on numbers or dates, an interval on times; None for anything else."""
    match expression:
        case Literal(int() | float() | Decimal() as value) if not isinstance(value, bool):
            # One date minus another is a number of days, in the dialects that compare it with a number.
            is_whole_days = units.get(column) == _MICROSECONDS["DAY"]
            return _plain(Fraction(value)) if column not in units or is_whole_days else None
        case Call("interval", (Literal(str() | int() | float() | Decimal() as amount), Literal(str(unit)))):
            length = _MICROSECONDS.get(unit.upper().removesuffix("S"))
            try:
                return None if length is None else _plain(Fraction(amount) * length / units[column])
            except (ValueError, KeyError):
                return None
        case _:
            return None


def _plain(value: Fraction) -> float:
    return value.numerator if value.denominator == 1 else float(value)
