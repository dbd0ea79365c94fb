"""Constants in row conditions: literals, dates, times and intervals as written, and what the host computed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from sparkrex.columns.values import BOOL, FLOAT, INTERVAL, STRING, Kind
from sparkrex.evaluate.leaves import array_of
from sparkrex.evaluate.row_kinds import DATE, FLOATS, MICROSECONDS, NULL, CannotVectoriseError, row_kind
from sparkrex.scalar.expression import Call, Literal

DAY = 86_400_000_000
_UNITS = {
    "MICROSECOND": 1, "MILLISECOND": 1_000, "SECOND": 1_000_000, "MINUTE": 60_000_000, "HOUR": 3_600_000_000,
    "DAY": DAY, "WEEK": 7 * DAY,
}
_SHORT_UNITS = ("MICROSECOND", "MILLISECOND", "SECOND", "MINUTE", "HOUR")


@dataclass(frozen=True, slots=True)
class Constant:
    """A value as blocks hold it, and as it was written.

    Of an interval `literal` says whether it is `short`: a day is not 24 hours where time zones are at work.
    """

    kind: Kind
    data: Any
    literal: Any


def literal_constant(value: object) -> Constant:
    """A literal. An integer is as narrow as can be: the host may take it for the type of what it meets."""
    match value:
        case None:
            return Constant(NULL, None, None)
        case bool():
            return Constant(BOOL, np.bool_(value), value)
        case int() if -(2**63) <= value < 2**63:
            bits = next(bits for bits in (8, 16, 32, 64) if -(2 ** (bits - 1)) <= value < 2 ** (bits - 1))
            return Constant(Kind("int", bits), np.int64(value), value)
        case float():
            return Constant(FLOAT, np.float64(value), value)
        case str():
            return Constant(STRING, None, value)
        case Decimal() if value.is_finite():
            scale = max(0, -int(value.as_tuple().exponent))
            number = int(value.scaleb(scale))
            if abs(number) < 10**18 and scale <= 18:
                return Constant(Kind("decimal", scale), np.int64(number), value)
    raise CannotVectoriseError(f"the literal {value!r}")


def written_constant(expression: Call) -> Constant | None:
    """A constant that can be read off its text, None if the host must compute it."""
    match expression:
        case Call("negate", (Literal(int() | float() | Decimal() as value),)) if not isinstance(value, bool):
            return literal_constant(-value)
        case Call("interval", (Literal(str(amount)), Literal(str(unit)))) if re.fullmatch(r"\d{1,9}", amount):
            word = unit.removesuffix("S")
            if word in _UNITS:
                literal = "short" if word in _SHORT_UNITS else "long"
                return Constant(INTERVAL, np.int64(int(amount) * _UNITS[word]), literal)
        case Call("cast", (Literal(str(text)), Literal("DATE"))):
            if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
                return Constant(DATE, np.int64(_parse_constant(text, "D")), text)
        case Call("cast", (Literal(str(text)), Literal("TIMESTAMP"))):
            if re.fullmatch(r"\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d(\.\d{1,6})?)?", text):
                return Constant(MICROSECONDS, np.int64(_parse_constant(text, "us")), text)
    return None


def _parse_constant(text: str, unit: str) -> int:
    try:
        return int(np.array(text.replace(" ", "T"), f"datetime64[{unit}]").astype(np.int64))
    except ValueError as error:
        raise CannotVectoriseError(f"the literal {text!r}") from error


def host_constant(scalar: pa.Scalar) -> Constant:
    """What the host computed."""
    if not scalar.is_valid:
        raise CannotVectoriseError("a constant that is NULL")
    if pa.types.is_interval(scalar.type):
        months, days, nanoseconds = scalar.as_py()
        if months:
            raise CannotVectoriseError("an interval of months")
        return Constant(INTERVAL, np.int64(days * DAY + nanoseconds // 1000), "long")
    kind = row_kind(scalar.type)
    if kind is None:
        raise CannotVectoriseError(f"a constant of type {scalar.type}")
    if kind == STRING:
        return Constant(STRING, None, scalar.as_py())
    data, _ = array_of(pa.array([scalar.as_py()], scalar.type))
    return Constant(kind, data[0] if kind in (BOOL, *FLOATS) else np.int64(data[0]), scalar.as_py())
