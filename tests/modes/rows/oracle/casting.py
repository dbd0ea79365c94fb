"""CAST among integers, doubles, decimals, strings, dates, timestamps and booleans, as DuckDB does it.

A float becomes an integer by rounding half to even, a decimal by rounding half away from zero, in dialect spark both by
cutting the fraction off. What does not fit is the error REX405; text that is no such value is REX404, the host's
refusal.
"""

from __future__ import annotations

import math
import re
from datetime import date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any

from tests.modes.rows.oracle.arithmetic import EXACT
from tests.modes.rows.oracle.comparing import is_number
from tests.modes.rows.oracle.errors import CannotEvaluate, OracleError

_TYPE = re.compile(r"\s*([A-Z_ ]+?)\s*(?:\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\))?\s*\Z")
_INTEGER_BITS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 128}
_TRUTHS = {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}


def cast(operand: Any, type_name: Any, dialect: str = "duckdb") -> Any:
    """The value as the type that `type_name` writes in DuckDB's SQL."""
    if operand is None:
        return None
    found = _TYPE.match(str(type_name).upper())
    if found is None:
        raise CannotEvaluate(f"type {type_name}")
    name, precision, scale = found.groups()
    if name in _INTEGER_BITS:
        return _to_integer(operand, _INTEGER_BITS[name], cuts=dialect in ("spark", "databricks"))
    match name:
        case "DOUBLE" | "DOUBLE PRECISION" | "FLOAT8":
            return _to_double(operand)
        case "DECIMAL" | "NUMERIC":
            return _to_decimal(operand, int(precision or 18), int(scale or (0 if precision else 3)))
        case "VARCHAR" | "TEXT" | "STRING":
            return to_text(operand)
        case "BOOLEAN" | "BOOL":
            return _to_boolean(operand)
        case "DATE":
            return _to_date(operand)
        case "TIMESTAMP" | "DATETIME":
            return _to_timestamp(operand)
        case _:
            raise CannotEvaluate(f"type {type_name}")


def _to_integer(operand: Any, bits: int, *, cuts: bool) -> int:
    if isinstance(operand, str):
        operand = _to_exact(operand)
    elif cuts and isinstance(operand, float | Decimal) and math.isfinite(operand):
        operand = math.trunc(operand)
    if isinstance(operand, float):
        if not math.isfinite(operand):
            raise OracleError("REX405", f"{operand} as an integer")
        result = round(operand)
    elif isinstance(operand, Decimal):
        result = int(operand.to_integral_value(ROUND_HALF_UP))
    elif isinstance(operand, int):
        result = int(operand)
    else:
        raise _unknown(operand, "integer")
    if not -(2 ** (bits - 1)) <= result < 2 ** (bits - 1):
        raise OracleError("REX405", f"{result} does not fit in {bits} bits")
    return result


def _to_double(operand: Any) -> float:
    if isinstance(operand, str):
        try:
            return float(operand)
        except ValueError as problem:
            raise _no_such(operand, "double") from problem
    if isinstance(operand, int | float | Decimal):
        return float(operand)
    raise _unknown(operand, "double")


def _to_decimal(operand: Any, precision: int, scale: int) -> Decimal:
    if isinstance(operand, str):
        operand = _to_exact(operand)
    if not isinstance(operand, int | float | Decimal):
        raise _unknown(operand, "decimal")
    exact = Decimal(operand)
    if not exact.is_finite():
        raise OracleError("REX405", f"{operand} as a decimal")
    result = exact.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP, EXACT)
    if abs(result) >= Decimal(10) ** (precision - scale):
        raise OracleError("REX405", f"{operand} does not fit in DECIMAL({precision}, {scale})")
    return result


def _to_exact(text: str) -> Decimal:
    try:
        return Decimal(text.strip())
    except InvalidOperation as problem:
        raise _no_such(text, "number") from problem


def to_text(operand: Any) -> str:
    """The value as a string."""
    if isinstance(operand, bool):
        return "true" if operand else "false"
    if isinstance(operand, Decimal):
        return f"{operand:f}"
    if isinstance(operand, datetime):
        text = operand.isoformat(sep=" ")
        return text.rstrip("0") if operand.microsecond and operand.tzinfo is None else text
    if isinstance(operand, str) or is_number(operand) or isinstance(operand, date):
        return str(operand)
    raise _unknown(operand, "string")


def _to_boolean(operand: Any) -> bool:
    if isinstance(operand, str):
        if operand.strip().lower() not in _TRUTHS:
            raise _no_such(operand, "boolean")
        return _TRUTHS[operand.strip().lower()]
    if isinstance(operand, int | float | Decimal):
        return operand != 0
    raise _unknown(operand, "boolean")


def _to_date(operand: Any) -> date:
    if isinstance(operand, datetime):
        return operand.date()
    if isinstance(operand, date):
        return operand
    if isinstance(operand, str):
        return _to_timestamp(operand).date()
    raise _unknown(operand, "date")


def _to_timestamp(operand: Any) -> datetime:
    if isinstance(operand, datetime):
        return operand
    if isinstance(operand, date):
        return datetime.combine(operand, time())
    if isinstance(operand, str):
        try:
            return datetime.fromisoformat(operand.strip())
        except ValueError as problem:
            raise _no_such(operand, "timestamp") from problem
    raise _unknown(operand, "timestamp")


def interval_of(count: Any, unit: str) -> timedelta | int:
    """A timedelta for units of fixed length, a number of months for the others."""
    unit = unit.upper().rstrip("S")
    amount = _to_exact(count) if isinstance(count, str) else Decimal(count)
    if unit in _MONTHS:
        if amount != int(amount):
            raise CannotEvaluate("a fraction of a month")
        return int(amount) * _MONTHS[unit]
    if unit not in _MICROSECONDS:
        raise CannotEvaluate(f"interval unit {unit}")
    return timedelta(microseconds=int(amount * _MICROSECONDS[unit]))


_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
_MICROSECONDS = {
    "MICROSECOND": 1, "MILLISECOND": 1_000, "SECOND": 1_000_000, "MINUTE": 60_000_000, "HOUR": 3_600_000_000,
    "DAY": 86_400_000_000, "WEEK": 604_800_000_000,
}


def _unknown(operand: Any, name: str) -> CannotEvaluate:
    return CannotEvaluate(f"{type(operand).__name__} as {name}")


def _no_such(text: str, name: str) -> OracleError:
    return OracleError("REX404", f"{text!r} is no {name}")
