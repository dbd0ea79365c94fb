"""A function over a window with a pattern that matches the whole frame is the same function over that frame.

What a function gives must not depend on whether the frame comes from a pattern. In memory, where the host has the
function in windows; integer sums have 64 bits outside of DuckDB's dialect, which the host's own do not have.
"""

from __future__ import annotations

import datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from tests.answers import same_value

import sparkrex as rex

FRAME = "ORDER BY id ROWS BETWEEN CURRENT ROW AND {end}"
PATTERN = "AFTER MATCH SKIP TO NEXT ROW PATTERN (A+) DEFINE A AS true"
ENDS = ("UNBOUNDED FOLLOWING", "1 FOLLOWING", "CURRENT ROW")

TABLE = pa.table(
    {
        "id": pa.array(range(6), pa.int64()),
        "i": pa.array([3, None, 1, 2, -2, 2], pa.int32()),
        "x": pa.array([3, 2**40, None, 7, -5, 7], pa.int64()),
        "y": pa.array([0.5, 0.1, 0.2, None, -0.0, 1e16], pa.float64()),
        "d": pa.array([Decimal("1.25"), None, Decimal("0.10"), Decimal("9999.99"), Decimal("-1.00"), Decimal("2.50")],
                      pa.decimal128(6, 2)),
        "s": pa.array(["b", "a", None, "a", "", "ä"], pa.string()),
        "b": pa.array([True, None, False, True, True, False], pa.bool_()),
        "day": pa.array([datetime.date(2024, 1, n + 1) for n in range(5)] + [None], pa.date32()),
        "moment": pa.array([datetime.datetime(2024, 1, 1, n) for n in range(5)] + [None], pa.timestamp("us")),
    }
)

OF_NUMBERS = ("sum", "avg", "min", "max", "count", "stddev", "stddev_pop", "variance", "var_pop")
OF_ALL = ("count", "min", "max", "first_value", "last_value")
COMMON = (
    "count(*)",
    *(f"{function}({column})" for function in OF_NUMBERS for column in ("i", "x", "y", "d")),
    *(f"{function}({column})" for function in OF_ALL for column in ("s", "day", "moment")),
    *(f"{function}({column})" for function in ("first_value", "last_value") for column in ("i", "x", "y", "d", "b")),
    "nth_value(x, 2)", "nth_value(s, 1)", "first_value(x IGNORE NULLS)", "last_value(day IGNORE NULLS)",
    "sum(x + 1)", "sum(i * 2)", "avg(x) + 1", "count(*) * 2", "sum(CASE WHEN b THEN x ELSE 0 END)",
    "count(*) FILTER (WHERE x > 2)", "sum(y) FILTER (WHERE b)", "max(upper(s))", "min(abs(y))",
)
OF_DIALECT = {
    "duckdb": (
        "list(x)", "array_agg(s)", "string_agg(s, '-')", "bool_and(b)", "bool_or(b)", "median(x)", "arg_min(i, x)",
        "count(DISTINCT i)", "sum(DISTINCT x)", "product(i)", "bit_xor(i)", "quantile_cont(y, 0.5)", "skewness(y)",
        "array_agg(x ORDER BY s)",
    ),
    "trino": ("array_agg(x)", "bool_and(b)", "bool_or(b)", "min_by(s, x)"),
    "spark": ("bool_and(b)", "min_by(s, x)", "mean(y)"),
}

_HUGE = pa.decimal128(38, 0)
"""DuckDB's integers of 128 bits, which it gives for sums and counts by condition."""


@pytest.mark.parametrize("dialect", OF_DIALECT)
def test_the_same_value_and_type(dialect: str) -> None:
    functions = (*COMMON, *OF_DIALECT[dialect])
    for end in ENDS:
        frame = FRAME.format(end=end)
        plain = _answers(functions, frame, dialect)
        matched = _answers(functions, f"{frame} {PATTERN}", dialect)
        for function in functions:
            expected, found = plain[function], matched[function]
            type_ = pa.int64() if expected.type == _HUGE and found.type != _HUGE else expected.type
            assert found.type == type_, f"{dialect}: {function} over {end}"
            for row, (left, right) in enumerate(zip(expected.to_pylist(), found.to_pylist(), strict=True)):
                assert same_value(left, right), f"{dialect}: {function} over {end}, row {row}: {left}, not {right}"


def _answers(functions: tuple[str, ...], window: str, dialect: str) -> dict[str, pa.ChunkedArray]:
    """All functions over one window; a function that is an expression has its call first."""
    items = []
    for number, function in enumerate(functions):
        call, operator, rest = function.partition(") + ") if ") + " in function else function.partition(") * ")
        text = f"{call}) OVER w{operator[1:]}{rest}" if operator else f"{function} OVER w"
        items.append(f"{text} AS c{number}")
    query = f"SELECT {', '.join(items)} FROM t WINDOW w AS ({window}) ORDER BY id"
    answer = rex.sql(query, {"t": TABLE}, dialect=dialect)
    return {function: answer.column(number) for number, function in enumerate(functions)}
