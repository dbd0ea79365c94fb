"""Expressions as DuckDB's SQL: in memory, and inside Spark's workers.

Where DuckDB's own operator means something else than the query's dialect does, the meaning is written out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.scalar.expression import Difference, Fraction, OnZero
from sparkrex.scalar.forms import null_if_any, verbatim
from sparkrex.scalar.guards import FINER_THAN_MICROSECONDS
from sparkrex.scalar.render.renderer import Renderer
from sparkrex.scalar.units import Units

if TYPE_CHECKING:
    from sparkrex.scalar.expression import Call

_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
_DIVISION_BY_ZERO = "error('division by zero')"


def _divide(call: Call) -> str:
    match call.on_zero:
        case OnZero.FAILS:
            return f"(CASE WHEN {{1}} = 0 THEN {_DIVISION_BY_ZERO} ELSE {{0}} / {{1}} END)"
        case OnZero.INFINITE:
            # With integer division on, DuckDB fails on a zero double too; here it is infinity, or NaN.
            return "(CASE WHEN {1} = 0 THEN {0} * CAST('inf' AS DOUBLE) ELSE {0} / {1} END)"
        case None:
            return "({0} / {1})"


def _subtract(call: Call) -> str:
    return "to_days(CAST({0} - {1} AS INTEGER))" if call.difference is Difference.INTERVAL else "({0} - {1})"


def _integer_divide(call: Call) -> str:
    if call.on_zero is OnZero.FAILS:
        return f"(CASE WHEN {{1}} = 0 THEN {_DIVISION_BY_ZERO} ELSE {{0}} // {{1}} END)"
    return "({0} // {1})"


def _modulo(call: Call) -> str:
    if call.on_zero is OnZero.FAILS:
        return f"(CASE WHEN {{1}} = 0 THEN {_DIVISION_BY_ZERO} ELSE {{0}} % {{1}} END)"
    return "({0} % {1})"


def _cast(call: Call) -> str:
    assert call.to is not None
    value = "TRUNC({0})" if call.fraction is Fraction.CUT_OFF else "{0}"  # DuckDB rounds
    return f"{call.function.upper()}({value} AS {call.to.template('duckdb')})"


def _timestampdiff(call: Call) -> str:
    assert call.unit is not None
    if call.units is Units.WHOLE_TO_LAST_DAY:
        return f"DATE_SUB('{call.unit}', {{0}}, {{1}})"
    # Of times with a zone, what clocks there show counts, as in Spark: an hour that they skip is none.
    start, end = "CAST({0} AS TIMESTAMP)", "CAST({1} AS TIMESTAMP)"
    if call.units is Units.BEGUN and call.unit == "WEEK":  # DuckDB's own counts seven days
        return f"DATE_DIFF('WEEK', DATE_TRUNC('WEEK', {start}), DATE_TRUNC('WEEK', {end}))"
    if call.units is Units.BEGUN:
        return f"DATE_DIFF('{call.unit}', {start}, {end})"
    if call.unit not in _MONTHS:
        return f"DATE_SUB('{call.unit}', {start}, {end})"
    # DuckDB takes the last day of a short month for a whole month; Java counts whole days first, and then from day to
    # day.
    first, last = (f"CAST({moment} AS DATE)" for moment in (start, end))
    earlier, later = (f"CAST({moment} AS TIME)" for moment in (start, end))
    whole = (
        f"({last} + CASE WHEN {first} < {last} AND {later} < {earlier} THEN -1 "
        f"WHEN {first} > {last} AND {later} > {earlier} THEN 1 ELSE 0 END)"
    )
    months = (
        f"(DATE_DIFF('month', {first}, {whole}) + CASE WHEN {first} < {whole} AND DAY({whole}) < DAY({first}) THEN -1 "
        f"WHEN {first} > {whole} AND DAY({whole}) > DAY({first}) THEN 1 ELSE 0 END)"
    )
    return f"({months} // {_MONTHS[call.unit]})"


def _struct_field(call: Call) -> str:
    name = str(call.operands[1].value).replace('"', '""')  # type: ignore[union-attr]  # a literal, the field's name
    return f'({{0}}).{verbatim(f"{chr(34)}{name}{chr(34)}")}'


def _whole(kind: str) -> str:
    error = f"error('{FINER_THAN_MICROSECONDS}')"
    return f"(CASE WHEN EPOCH_NS({{0}}) % 1000 <> 0 THEN {error} ELSE CAST({{0}} AS {kind}) END)"


DUCKDB = Renderer(
    "duckdb",
    {
        "divide": _divide,
        "integer_divide": _integer_divide,
        "modulo": _modulo,
        "subtract": _subtract,
        "timestampdiff": _timestampdiff,
        "cast": _cast,
        "try_cast": _cast,
        "greatest_strict": null_if_any,
        "least_strict": null_if_any,
        # Oracle's, whose NULL is the empty string.
        "concat": "NULLIF(CONCAT_WS('', {0}, {1}), '')",
        "array_contains": "LIST_CONTAINS({1}, {0})",
        "or_empty": "COALESCE({0}, [])",
        "struct_field": _struct_field,
        "whole_microseconds": _whole("TIMESTAMP"),
        "whole_zoned_microseconds": _whole("TIMESTAMPTZ"),
        "in_nanoseconds": "CAST({0} AS TIMESTAMP_NS)",
        "in_zoned_nanoseconds": "CAST({0} AS TIMESTAMPTZ_NS)",
        # The length of a window by the types of its columns; EPOCH_US knows nanoseconds without a zone only.
        "microseconds_between": "(EPOCH_US({0}) - EPOCH_US({1}))",
        "zoned_microseconds_between": "(EPOCH_US({0}::TIMESTAMPTZ) - EPOCH_US({1}::TIMESTAMPTZ))",
        "whole_difference": "({0}::HUGEINT - {1}::HUGEINT)",
    },
    {"percentile": "quantile_cont({0}, {1})"},
)

render = DUCKDB.render
