"""Scalar functions by canonical name.

Most are strict: NULL if any operand is. They stand in `_STRICT` as functions of values that are not NULL; the others
stand in `_NULLABLE`. Where the dialects do not decide, the answers are DuckDB's, the in-memory host's.
"""

from __future__ import annotations

import math
import re
from datetime import date, datetime, timedelta
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, Any

from tests.modes.rows.oracle import arithmetic, moments
from tests.modes.rows.oracle.arithmetic import EXACT, Months
from tests.modes.rows.oracle.casting import cast, interval_of, to_text
from tests.modes.rows.oracle.comparing import compare, is_number, is_same
from tests.modes.rows.oracle.errors import CannotEvaluate, OracleError

if TYPE_CHECKING:
    from collections.abc import Callable


def apply(function: str, operands: list[Any], dialect: str) -> Any:
    """The function's value."""
    try:
        if function in _NULLABLE:
            return _NULLABLE[function](operands, dialect)
        if function in _BY_DIALECT:
            return None if any(operand is None for operand in operands) else _BY_DIALECT[function](*operands, dialect)
        if function in _STRICT:
            return None if any(operand is None for operand in operands) else _STRICT[function](*operands)
    except OverflowError as problem:
        raise OracleError("REX405", f"{function}: {problem}") from problem
    except (TypeError, AttributeError, ValueError, KeyError, ZeroDivisionError) as problem:
        kinds = ", ".join(type(operand).__name__ for operand in operands)
        raise CannotEvaluate(f"{function}({kinds}): {problem}") from problem
    raise CannotEvaluate(f"function {function}")


def try_cast(operand: Any, type_name: Any, dialect: str) -> Any:
    """CAST, but NULL where CAST is an error."""
    try:
        return cast(operand, type_name, dialect)
    except OracleError:
        return None


def _between(operands: list[Any], dialect: str) -> bool | None:
    operand, low, high = operands
    at_least = None if operand is None or low is None else compare(operand, low) >= 0
    at_most = None if operand is None or high is None else compare(operand, high) <= 0
    if at_least is False or at_most is False:
        return False
    return None if at_least is None or at_most is None else True


def _in(operands: list[Any], dialect: str) -> bool | None:
    operand, *values = operands
    if not values:
        return False
    if operand is None:
        return None
    if any(candidate is not None and compare(operand, candidate) == 0 for candidate in values):
        return True
    return None if None in values else False


def _nullif(operands: list[Any], dialect: str) -> Any:
    left, right = operands
    return None if left is not None and right is not None and compare(left, right) == 0 else left


def _extreme(sign: int, is_strict: bool) -> Callable[[list[Any], str], Any]:
    def choose(operands: list[Any], dialect: str) -> Any:
        if is_strict and None in operands:
            return None
        best = None
        for operand in operands:
            if operand is not None and (best is None or compare(operand, best) * sign > 0):
                best = operand
        return best

    return choose


def _concat(operands: list[Any], dialect: str) -> str | None:
    if None in operands and dialect not in ("duckdb", "postgres", "oracle"):
        return None
    return "".join(to_text(operand) for operand in operands if operand is not None)


def _concat_ws(operands: list[Any], dialect: str) -> str | None:
    separator, *texts = operands
    return None if separator is None else str(separator).join(to_text(text) for text in texts if text is not None)


def _like(text: str, pattern: str, escape: str | None = None, flags: int = 0) -> bool:
    expression = ""
    symbols = iter(pattern)
    for symbol in symbols:
        if symbol == escape:
            expression += re.escape(next(symbols, ""))
        else:
            expression += {"%": ".*", "_": "."}.get(symbol) or re.escape(symbol)
    return re.fullmatch(expression, text, re.DOTALL | flags) is not None


def _substring(text: str, start: int, length: int | None = None) -> str:
    """Characters from place `start` (from 1; a negative one counts from the end), at most `length`."""
    first = len(text) + start if start < 0 else start - 1
    end = len(text) if length is None else first + length
    return text[max(first, 0) : max(end, 0)]


def _pad(is_left: bool) -> Callable[..., str]:
    def pad(text: str, length: int, filler: str = " ") -> str:
        missing = length - len(text)
        if missing <= 0:
            return text[: max(length, 0)]
        filling = (filler * missing)[:missing]
        return filling + text if is_left else text + filling

    return pad


def _round(number: Any, digits: int = 0) -> Any:
    """Half away from zero."""
    if not is_number(number):
        raise CannotEvaluate("round of what is no number")
    if isinstance(number, float):
        if not math.isfinite(number):
            return number
        scaled = Decimal(number * 10.0**digits) if digits else Decimal(number)
        return float(scaled.to_integral_value(ROUND_HALF_UP)) / (10.0**digits if digits else 1.0)
    if isinstance(number, int) and digits >= 0:
        return number
    exact = Decimal(number).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP, EXACT)
    return exact if isinstance(number, Decimal) else int(exact)


def _truncate(number: Any) -> Any:
    if isinstance(number, float):
        return float(math.trunc(number)) if math.isfinite(number) else number
    return number.to_integral_value(ROUND_DOWN) if isinstance(number, Decimal) else number


def _whole(rounding: Callable[[Any], int]) -> Callable[[Any], Any]:
    def whole(number: Any) -> Any:
        if isinstance(number, float):
            return float(rounding(number)) if math.isfinite(number) else number
        return Decimal(rounding(number)) if isinstance(number, Decimal) else number

    return whole


def _real(function: Callable[..., float]) -> Callable[..., float]:
    """The function on doubles: beyond the largest is infinity, outside the domain is not a number."""

    def real(*operands: Any) -> float:
        try:
            return function(*(float(operand) for operand in operands))
        except OverflowError:
            return math.inf
        except ValueError:
            return math.nan

    return real


def _logarithm(base: int | None = None) -> Callable[[Any], float]:
    def logarithm(number: Any) -> float:
        if number == 0:
            return -math.inf
        return {2: math.log2, 10: math.log10, None: math.log}[base](number) if number > 0 else math.nan

    return logarithm


def _log(*operands: Any) -> float:
    """`log(base, number)`; without a base it is 10, as in DuckDB."""
    base, number = operands if len(operands) == 2 else (10, *operands)
    return _logarithm(base)(number) if base in (2, 10) else _logarithm()(number) / _logarithm()(base)


def _power(base: Any, exponent: Any) -> float:
    if base == 0 and exponent < 0:
        return math.inf
    return _real(math.pow)(base, exponent)


def _sign(number: Any) -> int:
    return int(number > 0) - int(number < 0)


def _interval(count: Any, unit: Any) -> timedelta | Months:
    found = interval_of(count, unit)
    return found if isinstance(found, timedelta) else Months(found)


def _texts(function: Callable[..., Any]) -> Callable[..., Any]:
    def of_texts(*operands: Any) -> Any:
        if not isinstance(operands[0], str):
            raise CannotEvaluate(f"a string function of {type(operands[0]).__name__}")
        return function(*operands)

    return of_texts


def _not(operand: Any) -> bool:
    if not isinstance(operand, bool):
        raise CannotEvaluate("NOT of what is no truth value")
    return not operand


def _is_nan(number: Any) -> bool:
    return isinstance(number, float) and math.isnan(number)


def _text_of_moment(moment: Any) -> Any:
    if not isinstance(moment, date | datetime):
        raise CannotEvaluate("a date function of what is no date")
    return moment


_NULLABLE: dict[str, Callable[[list[Any], str], Any]] = {
    "is_null": lambda operands, dialect: operands[0] is None,
    "is_true": lambda operands, dialect: operands[0] is True,
    "is_false": lambda operands, dialect: operands[0] is False,
    "is_distinct_from": lambda operands, dialect: not is_same(*operands),
    "is_not_distinct_from": lambda operands, dialect: is_same(*operands),
    "between": _between,
    "in": _in,
    "nullif": _nullif,
    "greatest": _extreme(1, is_strict=False),
    "least": _extreme(-1, is_strict=False),
    "greatest_strict": _extreme(1, is_strict=True),
    "least_strict": _extreme(-1, is_strict=True),
    "concat": _concat,
    "concat_ws": _concat_ws,
    "concatws": _concat_ws,
    "cast": lambda operands, dialect: cast(operands[0], operands[1], dialect),
    "or_empty": lambda operands, dialect: [] if operands[0] is None else operands[0],
    "array": lambda operands, dialect: list(operands),
}

_BY_DIALECT: dict[str, Callable[..., Any]] = {
    "add": arithmetic.add,
    "subtract": arithmetic.subtract,
    "multiply": arithmetic.multiply,
    "divide": arithmetic.divide,
    "integer_divide": arithmetic.integer_divide,
    "modulo": arithmetic.modulo,
    "mod": arithmetic.modulo,
    "negate": arithmetic.negate,
    "abs": arithmetic.absolute,
}

_STRICT: dict[str, Callable[..., Any]] = {
    "eq": lambda left, right: compare(left, right) == 0,
    "ne": lambda left, right: compare(left, right) != 0,
    "lt": lambda left, right: compare(left, right) < 0,
    "le": lambda left, right: compare(left, right) <= 0,
    "gt": lambda left, right: compare(left, right) > 0,
    "ge": lambda left, right: compare(left, right) >= 0,
    "not": _not,
    "like": _like,
    "ilike": lambda text, pattern, escape=None: _like(text, pattern, escape, re.IGNORECASE),
    "dpipe": lambda left, right: to_text(left) + to_text(right),
    "lower": _texts(str.lower),
    "upper": _texts(str.upper),
    "length": len,
    "substring": _texts(_substring),
    "substr": _texts(_substring),
    "trim": _texts(lambda text, symbols=" ": text.strip(symbols)),
    "ltrim": _texts(lambda text, symbols=" ": text.lstrip(symbols)),
    "rtrim": _texts(lambda text, symbols=" ": text.rstrip(symbols)),
    "left": _texts(lambda text, length: text[:length]),
    "right": _texts(lambda text, length: text[max(len(text) - length, 0) :] if length >= 0 else text[-length:]),
    "replace": _texts(lambda text, old, new="": text.replace(old, new) if old else text),
    "reverse": _texts(lambda text: text[::-1]),
    "repeat": _texts(lambda text, count: text * max(count, 0)),
    "lpad": _texts(_pad(is_left=True)),
    "rpad": _texts(_pad(is_left=False)),
    "starts_with": _texts(str.startswith),
    "startswith": _texts(str.startswith),
    "ends_with": _texts(str.endswith),
    "endswith": _texts(str.endswith),
    "contains": _texts(lambda text, part: part in text),
    "strposition": _texts(lambda text, part: text.find(part) + 1),
    "strpos": _texts(lambda text, part: text.find(part) + 1),
    "instr": _texts(lambda text, part: text.find(part) + 1),
    "ascii": _texts(lambda text: ord(text[0]) if text else 0),
    "chr": chr,
    "round": _round,
    "trunc": _truncate,
    "floor": _whole(math.floor),
    "ceil": _whole(math.ceil),
    "sqrt": _real(math.sqrt),
    "cbrt": _real(math.cbrt),
    "exp": _real(math.exp),
    "ln": _logarithm(),
    "log2": _logarithm(2),
    "log10": _logarithm(10),
    "log": _log,
    "power": _power,
    "pow": _power,
    "sin": _real(math.sin),
    "cos": _real(math.cos),
    "tan": _real(math.tan),
    "atan": _real(math.atan),
    "degrees": _real(math.degrees),
    "radians": _real(math.radians),
    "pi": lambda: math.pi,
    "sign": _sign,
    "isnan": _is_nan,
    "interval": _interval,
    "extract": lambda field, moment: moments.extract(field, _text_of_moment(moment)),
    "date_part": lambda field, moment: moments.extract(field, _text_of_moment(moment)),
    "date_trunc": moments.truncate,
    "date_diff": moments.difference,
    "datediff": lambda end, start: moments.difference("day", start, end),
    "begun": moments.difference,
    "whole": moments.whole_units,
    "whole to last day": moments.whole_units_to_last_day,
    "to_date": lambda operand: cast(operand, "DATE"),
    "tsordstodate": lambda operand: cast(operand, "DATE"),
    "date": lambda operand: cast(operand, "DATE"),
    "arraysize": len,
    "struct_field": lambda struct, field: struct[field],
    "arraycontains": lambda values, wanted: any(is_same(element, wanted) for element in values),
}
_STRICT.update(
    {
        name: lambda moment, name=name: moments.extract(name, _text_of_moment(moment))
        for name in ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
    }
)
