"""WITHIN: how far the last event of a match may be from the first.

Times need units, numbers have none, and EVENTS counts events whatever the time column is. The bound is inclusive, so a
window of zero is one of simultaneous events.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sparkrex.errors import AnalysisError, nearest
from sparkrex.modes.events.plan import EventWindow, WindowUnit
from sparkrex.syntax.units import MICROSECONDS, NO_FIXED_LENGTH

if TYPE_CHECKING:
    from collections.abc import Callable
    from decimal import Decimal

    from sparkrex.modes.events.language.syntax import WithinText
    from sparkrex.scalar.analyze.scope import InputColumn
    from sparkrex.source import Source, Span

_LARGEST = 2**63 - 1


def check_time_column(column: InputColumn, written: str, source: Source | None, span: Span | None) -> None:
    """Times are times or numbers: kernels compare them, and text in order of letters is rarely in order of time."""
    kind = column.type
    if not kind.is_type(*exp.DataType.NUMERIC_TYPES, *exp.DataType.TEMPORAL_TYPES, exp.DataType.Type.UNKNOWN):
        raise AnalysisError(
            "REX214", f"{written} is a {kind.sql()}: the time of an event is a time or a number", source, span,
            hint="cast it in the input, such as CAST(x AS TIMESTAMP)",
        )


def event_window(within: WithinText | None, time: InputColumn, source: Source) -> EventWindow | None:
    """The window over a time column."""
    if within is None:
        return None

    def error(message: str, hint: str | None = None) -> AnalysisError:
        return AnalysisError("REX226", message, source, within.span, hint=hint)

    if any(number < 0 for number, _ in within.amounts):
        raise error("a window cannot be negative")
    if any(abs(number) > _LARGEST for number, _ in within.amounts):
        raise error("a window has at most 64 bits", f"nothing is further apart than {_LARGEST}: leave WITHIN out")
    units = [_singular(unit) for _, unit in within.amounts]
    if "EVENT" in units:
        number = within.amounts[0][0]
        if len(units) > 1 or number != int(number):
            raise error("a window of events has a whole number of them", "WITHIN 500 EVENTS")
        return EventWindow(int(number), WindowUnit.EVENTS, within.span)
    for unit in units:
        _check_unit(unit, error)
    kind = time.type
    if kind.is_type(*exp.DataType.NUMERIC_TYPES):
        if len(units) > 1 or units[0] is not None:
            raise error(
                f"the time column {time.name} is a {kind.sql()}: a window on it has no unit",
                f"WITHIN {within.amounts[0][0]}, in whatever {time.name} counts",
            )
        return EventWindow(_number(within.amounts[0][0], kind), WindowUnit.NUMBER, within.span)
    if not kind.is_type(*exp.DataType.TEMPORAL_TYPES):
        raise error(
            f"a window needs times or numbers, and the time column {time.name} is a {kind.sql()}",
            "convert it in the input, or count: WITHIN 500 EVENTS",
        )
    if None in units:
        raise error(
            f"the time column {time.name} is a {kind.sql()}: a window on it needs a unit",
            f"WITHIN {within.amounts[0][0]} seconds, or WITHIN {within.amounts[0][0]} EVENTS",
        )
    total = sum(number * MICROSECONDS[unit or ""] for (number, _), unit in zip(within.amounts, units, strict=True))
    if total > _LARGEST:
        raise error("a window has at most 64 bits of microseconds", "leave WITHIN out")
    if total != int(total):
        raise error("a window cannot be finer than a microsecond")
    return EventWindow(int(total), WindowUnit.TIME, within.span)


def _singular(unit: str | None) -> str | None:
    return None if unit is None else unit.removesuffix("S")


def _check_unit(unit: str | None, error: Callable[[str, str | None], AnalysisError]) -> None:
    if unit is None or unit in MICROSECONDS:
        return
    if unit in NO_FIXED_LENGTH:
        raise error(f"a {unit.lower()} has no fixed length", "give the window in days: WITHIN 30 days")
    raise error(
        f"{unit} is not a unit of time",
        nearest(unit, MICROSECONDS) or f"one of {', '.join(MICROSECONDS)}, or EVENTS",
    )


def _number(number: Decimal, kind: exp.DataType) -> int | float | Decimal:
    if number == int(number):
        return int(number)
    return float(number) if kind.is_type(*exp.DataType.FLOAT_TYPES) else number
