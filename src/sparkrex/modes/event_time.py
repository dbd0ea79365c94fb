"""The time of events, and sizes of windows over it.

Times need units, numbers have none, and EVENTS counts events whatever the time column is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sparkrex.errors import AnalysisError, nearest
from sparkrex.syntax.units import MICROSECONDS, NO_FIXED_LENGTH, WindowUnit

if TYPE_CHECKING:
    from collections.abc import Callable
    from decimal import Decimal

    from sparkrex.languages.events.syntax import SizeText
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


def window_size(
    text: SizeText, time: InputColumn, source: Source
) -> tuple[int | float | Decimal, WindowUnit]:
    """A size over a time column, and what it counts. Zero is one."""
    head = text.head

    def error(message: str, hint: str | None = None) -> AnalysisError:
        return AnalysisError("REX226", message, source, text.span, hint=hint)

    if any(number < 0 for number, _ in text.amounts):
        raise error("a window cannot be negative")
    if any(abs(number) > _LARGEST for number, _ in text.amounts):
        raise error("a window has at most 64 bits", f"nothing is further apart than {_LARGEST}: leave {head} out")
    units = [_singular(unit) for _, unit in text.amounts]
    if "EVENT" in units:
        number = text.amounts[0][0]
        if len(units) > 1 or number != int(number):
            raise error("a window of events has a whole number of them", f"{head} 500 EVENTS")
        return int(number), WindowUnit.EVENTS
    for unit in units:
        _check_unit(unit, head, error)
    kind = time.type
    if kind.is_type(*exp.DataType.NUMERIC_TYPES):
        if len(units) > 1 or units[0] is not None:
            raise error(
                f"the time column {time.name} is a {kind.sql()}: a window on it has no unit",
                f"{head} {text.amounts[0][0]}, in whatever {time.name} counts",
            )
        return _number(text.amounts[0][0], kind), WindowUnit.NUMBER
    if not kind.is_type(*exp.DataType.TEMPORAL_TYPES):
        raise error(
            f"a window needs times or numbers, and the time column {time.name} is a {kind.sql()}",
            f"convert it in the input, or count: {head} 500 EVENTS",
        )
    if None in units:
        raise error(
            f"the time column {time.name} is a {kind.sql()}: a window on it needs a unit",
            f"{head} {text.amounts[0][0]} seconds, or {head} {text.amounts[0][0]} EVENTS",
        )
    total = sum(number * MICROSECONDS[unit or ""] for (number, _), unit in zip(text.amounts, units, strict=True))
    if total > _LARGEST:
        raise error("a window has at most 64 bits of microseconds", f"leave {head} out")
    if total != int(total):
        raise error("a window cannot be finer than a microsecond")
    return int(total), WindowUnit.TIME


def _singular(unit: str | None) -> str | None:
    return None if unit is None else unit.removesuffix("S")


def _check_unit(unit: str | None, head: str, error: Callable[[str, str | None], AnalysisError]) -> None:
    if unit is None or unit in MICROSECONDS:
        return
    if unit in NO_FIXED_LENGTH:
        raise error(f"a {unit.lower()} has no fixed length", f"give the window in days: {head} 30 days")
    raise error(
        f"{unit} is not a unit of time",
        nearest(unit, MICROSECONDS) or f"one of {', '.join(MICROSECONDS)}, or EVENTS",
    )


def _number(number: Decimal, kind: exp.DataType) -> int | float | Decimal:
    if number == int(number):
        return int(number)
    return float(number) if kind.is_type(*exp.DataType.FLOAT_TYPES) else number
