"""Units of time that windows are given in."""

from __future__ import annotations

from enum import Enum

MICROSECONDS = {
    "MICROSECOND": 1, "MILLISECOND": 1_000, "SECOND": 1_000_000, "MINUTE": 60_000_000, "HOUR": 3_600_000_000,
    "DAY": 86_400_000_000, "WEEK": 604_800_000_000,
}

NO_FIXED_LENGTH = ("MONTH", "QUARTER", "YEAR")


def whole_units(microseconds: int) -> str:
    """A time in the largest unit that it is a whole number of."""
    name, length = next(
        (name, length) for name, length in sorted(MICROSECONDS.items(), key=lambda unit: -unit[1])
        if name != "WEEK" and microseconds % length == 0
    )
    n_units = microseconds // length
    return f"{n_units} {name.lower()}{'s' * (n_units != 1)}"


class WindowUnit(Enum):
    """What the size of a window over events counts: time in microseconds, the time column's own numbers, or events."""

    TIME = "microseconds"
    NUMBER = "of the time column"
    EVENTS = "events"
