"""Arithmetic on numbers, dates, timestamps and intervals.

Integers have 64 bits and never wrap: a result beyond them is the error REX405. Decimals are exact; with a float they
become floats. Dividing two integers gives a fraction, in dialect trino a truncated integer. A date minus a date is a
number of days, in dialects spark and trino an interval; a date plus an interval is a timestamp.
"""

from __future__ import annotations

import calendar
import math
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import Any

from tests.modes.rows.oracle.comparing import alike, is_moment, is_number
from tests.modes.rows.oracle.errors import CannotEvaluate, OracleError

# Enough digits that sums and products of SQL decimals are exact.
EXACT = Context(prec=200, rounding=ROUND_HALF_EVEN)


@dataclass(frozen=True, slots=True)
class Months:
    """An interval of months: it has no length until it is added to a date."""

    count: int


def add(left: Any, right: Any, dialect: str) -> Any:
    """`left + right`."""
    if _are_numbers(left, right):
        left, right = alike(left, right)
        return EXACT.add(left, right) if isinstance(left, Decimal) or isinstance(right, Decimal) else fit(left + right)
    if is_moment(right) or isinstance(right, Months):
        if isinstance(left, date):
            return _shift_moment(left, right, 1)
        left, right = right, left
    return _shift_moment(left, right, 1)


def subtract(left: Any, right: Any, dialect: str) -> Any:
    """`left - right`."""
    if _are_numbers(left, right):
        left, right = alike(left, right)
        if isinstance(left, Decimal) or isinstance(right, Decimal):
            return EXACT.subtract(left, right)
        return fit(left - right)
    if isinstance(left, date | str) and isinstance(right, date | str):
        left, right = alike(left, right)
        distance = left - right
        # Spark and Trino give an interval, the others a number of days.
        is_interval = isinstance(left, datetime) or dialect in ("spark", "databricks", "trino")
        return distance if is_interval else distance.days
    return _shift_moment(left, right, -1)


def _shift_moment(moment: Any, distance: Any, sign: int) -> Any:
    if isinstance(moment, timedelta) and isinstance(distance, timedelta):
        return moment + sign * distance
    if isinstance(moment, Months) and isinstance(distance, Months):
        return Months(moment.count + sign * distance.count)
    if not isinstance(moment, date):
        raise CannotEvaluate(f"{type(moment).__name__} plus or minus {type(distance).__name__}")
    if isinstance(distance, int) and not isinstance(distance, bool) and not isinstance(moment, datetime):
        return moment + timedelta(days=sign * distance)
    instant = moment if isinstance(moment, datetime) else datetime.combine(moment, time())
    if isinstance(distance, timedelta):
        return instant + sign * distance
    if isinstance(distance, Months):
        month = instant.year * 12 + instant.month - 1 + sign * distance.count
        year, month = divmod(month, 12)
        last_day = calendar.monthrange(year, month + 1)[1]
        return instant.replace(year=year, month=month + 1, day=min(instant.day, last_day))
    raise CannotEvaluate(f"{type(moment).__name__} plus or minus {type(distance).__name__}")


def multiply(left: Any, right: Any, dialect: str) -> Any:
    """`left * right`."""
    if _are_numbers(left, right):
        left, right = alike(left, right)
        if isinstance(left, Decimal) or isinstance(right, Decimal):
            return EXACT.multiply(left, right)
        return fit(left * right)
    if isinstance(right, timedelta | Months):
        left, right = right, left
    if isinstance(left, timedelta) and isinstance(right, int | float) and not isinstance(right, bool):
        return left * right
    if isinstance(left, Months) and isinstance(right, int) and not isinstance(right, bool):
        return Months(left.count * right)
    raise CannotEvaluate(f"{type(left).__name__} times {type(right).__name__}")


def divide(left: Any, right: Any, dialect: str) -> Any:
    """`left / right`."""
    _need_numbers("/", left, right)
    if dialect == "trino" and isinstance(left, int) and isinstance(right, int):
        return integer_divide(left, right, dialect)
    if right == 0:
        # Two engines let a division by zero pass: DuckDB always, Trino when a double takes part.
        is_quiet = dialect == "duckdb" or (dialect == "trino" and float in (type(left), type(right)))
        if not is_quiet:
            raise _division_by_zero()
        numerator = float(left)
        if numerator == 0 or math.isnan(numerator):
            return math.nan
        return math.copysign(math.inf, numerator) * math.copysign(1.0, float(right))
    return float(left) / float(right)


def integer_divide(left: Any, right: Any, dialect: str) -> Any:
    """The quotient of two integers, truncated towards zero."""
    if not all(isinstance(operand, int) for operand in (left, right)):
        raise CannotEvaluate("integer division of what is no integer")
    if right == 0:
        raise _division_by_zero()
    quotient = abs(left) // abs(right)
    return fit(quotient if (left < 0) == (right < 0) else -quotient)


def modulo(left: Any, right: Any, dialect: str) -> Any:
    """The remainder; it has the sign of `left`."""
    _need_numbers("%", left, right)
    left, right = alike(left, right)
    if isinstance(left, float):
        if right == 0 and dialect not in ("duckdb", "trino"):
            raise _division_by_zero()
        return math.nan if right == 0 or math.isinf(left) else math.fmod(left, right)
    if right == 0:
        raise _division_by_zero()
    if isinstance(left, Decimal) or isinstance(right, Decimal):
        return EXACT.remainder(left, right)
    remainder = abs(left) % abs(right)
    return -remainder if left < 0 else remainder


def negate(operand: Any, dialect: str) -> Any:
    """`-operand`."""
    if isinstance(operand, Months):
        return Months(-operand.count)
    if isinstance(operand, timedelta):
        return -operand
    _need_numbers("-", operand)
    return EXACT.minus(operand) if isinstance(operand, Decimal) else fit(-operand)


def absolute(operand: Any, dialect: str) -> Any:
    """`abs(operand)`."""
    _need_numbers("abs", operand)
    return operand.copy_abs() if isinstance(operand, Decimal) else fit(abs(operand))


def fit(number: Any) -> Any:
    """The number itself; an integer must have 64 bits."""
    if isinstance(number, int) and not -(2**63) <= number < 2**63:
        raise OracleError("REX405", f"{number} does not fit in 64 bits")
    return number


def _division_by_zero() -> OracleError:
    return OracleError("REX405", "division by zero")


def _are_numbers(*operands: Any) -> bool:
    return all(is_number(operand) for operand in operands)


def _need_numbers(name: str, *operands: Any) -> None:
    if not _are_numbers(*operands):
        raise CannotEvaluate(f"{name} of {', '.join(type(operand).__name__ for operand in operands)}")
