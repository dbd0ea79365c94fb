"""Columns of any type in conditions, windows and measures; what the host evaluates; arguments that are expressions."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import sparkrex as rex
from sparkrex.columns.values import floats_of
from sparkrex.modes.segments.aggregates.registry import forget
from sparkrex.modes.segments.planner.planners import PLANNERS

if TYPE_CHECKING:
    from collections.abc import Callable

VALUES = ["0.1", "0.3", "2.5", "1.1", None, "0.6"]
TIMES = [datetime(2024, 1, 1) + timedelta(hours=7 * n) for n in range(6)]
TYPES: dict[str, pa.DataType] = {
    "decimal": pa.decimal128(10, 2), "wide": pa.decimal128(30, 2), "float": pa.float32(), "double": pa.float64(),
    "ms": pa.timestamp("ms"), "ns": pa.timestamp("ns"), "zoned": pa.timestamp("us", "UTC"), "day": pa.date32(),
    "tiny": pa.int8(), "unsigned": pa.uint64(), "text": pa.string(),
}


def table() -> pa.Table:
    """One column of each type."""
    numbers = [None if value is None else Decimal(value) for value in VALUES]
    columns: dict[str, list[Any]] = {
        "decimal": numbers, "wide": numbers, "float": [None if n is None else float(n) for n in numbers],
        "double": [None if n is None else float(n) for n in numbers], "ms": TIMES, "ns": TIMES, "zoned": TIMES,
        "day": [moment.date() for moment in TIMES], "tiny": [1, 3, 2, None, -5, 4], "unsigned": [1, 2, 3, 2**63, 5, 6],
        "text": ["b", None, "a", "c", "c", "a"],
    }
    arrays = {name: pa.array(values, TYPES[name]) for name, values in columns.items()}
    return pa.table({"n": range(6), **arrays})


def segments(condition: str, order: str = "n", **options: Any) -> list[tuple[int, int]]:
    """Where a condition holds."""
    query = f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY {order} MEASURES START_INDEX() AS i, END_INDEX() AS j" \
        f" PATTERN (S) DEFINE SEGMENT S AS {condition})"
    options.setdefault("t", table())
    return [tuple(row.values()) for row in rex.sql(query, **options).to_pylist()]


def holding(column: str, holds: Callable[[list[Any]], bool | None]) -> list[tuple[int, int]]:
    """The same by asking of the values themselves, in segments without values not at all."""
    values = table().column(column).to_pylist()
    found = []
    for i, j in combinations_with_replacement(range(6), 2):
        there = [value for value in values[i : j + 1] if value is not None]
        if there and holds(there):
            found.append((i, j))
    return found


@pytest.mark.parametrize("column", ["decimal", "wide", "float", "double"])
@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("max({0}) > 2.4", lambda x: max(x) > 2.4), ("min({0}) < 0.2", lambda x: min(x) < 0.2),
        ("sum({0}) > 3.05", lambda x: sum(map(float, x)) > 3.05), ("range({0}) > 2.1", lambda x: max(x) - min(x) > 2.1),
        ("avg({0}) < 0.45", lambda x: sum(map(float, x)) / len(x) < 0.45), ("count({0}) = 3", lambda x: len(x) == 3),
        ("median({0}) > 1.5", lambda x: sorted(x)[len(x) // 2] + sorted(x)[(len(x) - 1) // 2] > 3),
    ],
)
def test_columns_of_any_type(column: str, condition: str, holds: Callable[[list[Any]], bool]) -> None:
    assert segments(condition.format(column)) == holding(column, holds) != []


@pytest.mark.parametrize("column", ["ms", "ns", "zoned"])
def test_times(column: str) -> None:
    dialect = "spark" if column == "zoned" else "duckdb"
    late = f"max({column}) > TIMESTAMP '2024-01-02 00:00:00'"
    assert segments(late, dialect=dialect) == [
        (i, j) for i, j in combinations_with_replacement(range(6), 2) if TIMES[j] > datetime(2024, 1, 2)
    ]
    short = [(i, j) for i, j in combinations_with_replacement(range(6), 2) if 7 <= 7 * (j - i) <= 14]
    for order in ("n", column, "n DESC"):
        expected = short if order != "n DESC" else []
        assert segments(f"window({column}, 7, 14, HOUR)", order) == expected
    assert segments(f"last({column}) - first({column}) BETWEEN INTERVAL '7' HOUR AND INTERVAL '14' HOUR") == short
    assert segments(f"linear_reg_slope({column}, n) > 0") == [
        (i, j) for i, j in combinations_with_replacement(range(6), 2) if i < j
    ]


def test_dates() -> None:
    days = [moment.date() for moment in TIMES]
    assert segments("min(day) > DATE '2024-01-01'") == holding("day", lambda x: min(x) > date(2024, 1, 1))
    expected = [(i, j) for i, j in combinations_with_replacement(range(6), 2) if days[j] - days[i] == timedelta(days=1)]
    assert segments("window(day, 1, DAY)") == segments("window(day, 1, DAY)", "day, n") == expected


@pytest.mark.parametrize("column", ["decimal", "wide"])
def test_windows_on_decimals_are_exact(column: str) -> None:
    """In doubles 0.3 - 0.1 is less than 0.2."""
    assert (0, 1) in segments(f"window({column}, 0.2, 0.2)")
    assert segments(f"window({column}, 0.2, 0.2)", f"{column} NULLS LAST") == [(0, 1)]


def test_whole_numbers() -> None:
    assert segments("max(unsigned) > 4") == holding("unsigned", lambda x: max(x) > 4)
    assert sorted(segments("last(unsigned) > 4")) == sorted((i, j) for j in (3, 4, 5) for i in range(j + 1))
    assert segments("sum(tiny) > 5") == holding("tiny", lambda x: sum(x) > 5)


def test_text_can_be_counted_and_compared() -> None:
    assert segments("count(text) = 2") == holding("text", lambda x: len(x) == 2)
    assert segments("first(text) < last(text) AND window(2)") == [(2, 3)]
    with pytest.raises(rex.AnalysisError, match=r"REX214.*max needs numbers"):
        segments("max(text) > 'a'")


def test_a_type_that_only_the_host_knows_is_checked_too() -> None:
    with pytest.raises(rex.AnalysisError, match=r"REX214.*avg needs numbers.*not"):
        segments("avg(string_split(text, 'b')) > 1", dialect="duckdb")


# What the host evaluates


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("sqrt(abs(last(double) - first(double))) > 1.4", [(0, 2), (1, 2)]),
        ("round(avg(double), 1) = 0.2", [(0, 1)]),
        ("concat(first(text), last(text)) = 'ba'", [(0, 2), (0, 5)]),
        ("coalesce(power(last(tiny), 2), 7) = 7 AND window(1)", [(3, 3)]),
    ],
)
@pytest.mark.parametrize("planner", PLANNERS)
def test_conditions_that_the_host_evaluates(condition: str, expected: list[tuple[int, int]], planner: str) -> None:
    assert segments(condition, planner=planner) == expected


def test_explain_says_what_the_host_evaluates() -> None:
    query = "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY n PATTERN (S) DEFINE SEGMENT S AS sqrt(last(n) - first(n)) > 1)"
    assert "condition evaluated by duckdb: (SQRT(" in str(rex.explain(query, t=table()))
    assert "evaluated by" not in str(rex.explain(query.replace("sqrt", "abs"), t=table()))


def test_the_host_sees_that_a_branch_was_not_taken() -> None:
    query = """SELECT * FROM t MATCH_RECOGNIZE (ORDER BY n MEASURES START_INDEX() AS i, END_INDEX() AS j
        PATTERN ((A | B) C) DEFINE SEGMENT A AS window(2) AND first(n) = 0, SEGMENT B AS window(2) AND first(n) = 1,
          SEGMENT C AS coalesce(sqrt(A.n), 9) + count(A.*) > 8 AND window(2))"""
    assert [tuple(row.values()) for row in rex.sql(query, t=table()).to_pylist()] == [(1, 3)]


# Arguments that are expressions, and measures


def test_arguments_may_be_expressions_of_one_row() -> None:
    assert segments("sum(tiny * 2) > 10") == segments("sum(tiny) > 5") != []
    assert segments("linear_reg_slope(n, 3 - 2 * n) < -1.9") == segments("window(2, NULL)")
    both = segments("sum(CASE WHEN text = 'c' THEN 1 ELSE 0 END) = 2")
    assert both == segments("n >= 4 AND first(n) <= 3")
    assert segments("sum(1) = 4") == segments("window(4)")
    assert segments("count(tiny + n) = 2") == segments("count(tiny) = 2")
    assert segments("corr(S.n * 2, S.n) > 0.99") == segments("window(2, NULL)")


def test_a_column_may_be_called_as_an_argument_is_written() -> None:
    rows = table().append_column("(tiny * 2)", pa.array([0.0] * 6))
    query = "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY n MEASURES START_INDEX() AS i PATTERN (S)" \
        ' DEFINE SEGMENT S AS sum(tiny * 2) > 10 AND sum("(tiny * 2)") = 0)'
    assert len(rex.sql(query, t=rows, dialect="duckdb")) == len(segments("sum(tiny) > 5"))


def test_aggregates_of_segments_in_measures() -> None:
    @rex.aggregate
    class steps:  # noqa: N801  named as queries write it
        def scan(self, x: Any) -> float:
            return float(len(x) - 1)

    query = """SELECT * FROM t MATCH_RECOGNIZE (ORDER BY n
        MEASURES mann_kendall_test(A.n) AS mk, linear_reg_slope(A.n, 2 * A.n) + 1 AS slope, corr(A.n, B.n) AS r,
          equal_up_down_ticks(A.tiny) AS ticks, range(A.n) AS wide, range(A.day) AS days, steps(n) AS steps,
          zscore_outlier(P.n, 2) AS z, sum(DISTINCT n) AS total, count(n) FILTER (WHERE n > 1) AS late,
          PREV(A.n) AS before
        PATTERN (A B P) DEFINE SEGMENT A AS window(3), SEGMENT B AS window(3), P AS n = 5)"""
    try:
        (row,) = rex.sql(query, t=table()).to_pylist()
    finally:
        forget("steps")
    assert row == {
        "mk": pytest.approx(1.0444659), "slope": 3.0, "r": pytest.approx(1.0), "ticks": False, "wide": 2, "days": 0.0,
        "steps": 4.0, "z": pytest.approx(1.0), "total": 15, "late": 4, "before": 2,
    }


def test_neighbours_of_a_variable_stay_in_its_partition() -> None:
    """Segments of a variable are not in the order of their rows."""
    rows = pa.table({"k": ["a"] * 3 + ["b"] * 3, "n": [0, 1, 2] * 2})
    query = """SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY n
        MEASURES first(A.n) AS a, PREV(first(A.n)) AS before, NEXT(last(A.n)) AS behind
        PATTERN ((W A W) & ALL_ROWS) DEFINE SEGMENT W AS true, A AS true, SEGMENT ALL_ROWS AS window(3))"""
    expected = [(key, n, n - 1 if n else None, n + 1 if n < 2 else None) for key in "ab" for n in range(3)]
    assert [tuple(row.values()) for row in rex.sql(query, t=rows).to_pylist()] == expected


# Plain queries that no segments stand for


def test_every_mapping_is_tried() -> None:
    query = """SELECT * FROM t MATCH_RECOGNIZE (ORDER BY n MEASURES START_INDEX() AS i, END_INDEX() AS j, sum(B.n) AS s
        ALL MATCHES PATTERN ((A | B)+ C) DEFINE B AS n > avg(A.n) OR count(A.*) = 0, C AS mann_kendall_test(B.n) > 1)"""
    text = str(rex.explain(query, t=table(), analyze=True))
    assert "every mapping of rows to variables is tried" in text
    found = rex.sql(query, t=table()).to_pylist()
    assert f"{len(found)} matches" in text
    # C needs three B before it: 0 1 2 of four rows, and so on.
    assert {"i": 0, "j": 3, "s": 3} in found
    with pytest.raises(rex.ExecutionError, match=r"REX408.*more ways to map rows.*max_segments = 5"):
        rex.sql(query, t=table(), settings={"max_segments": 5})
    with pytest.raises(rex.RexError, match="REX"):
        rex.sql(query.replace("avg(A.n)", "nosuch(avg(A.n))"), t=table().slice(0, 0))


@pytest.mark.parametrize("window", ["window(at, 1, 2, HOUR)", "NOT (NOT window(at, 1, 2, HOURS))"])
@pytest.mark.parametrize("order", ["n", "at"])
@pytest.mark.parametrize(
    "kind",
    [pa.timestamp("ns", "UTC"), pa.timestamp("s", "Asia/Tokyo"), pa.time32("s"), pa.time32("ms"), pa.time64("us")],
    ids=str,
)
def test_windows_on_times_of_any_kind(kind: pa.DataType, order: str, window: str) -> None:
    moments = [datetime(2024, 1, 1, hour) for hour in (0, 2, 3, 4)]
    at = pa.array(moments if pa.types.is_timestamp(kind) else [moment.time() for moment in moments], kind)
    assert segments(window, order, t=pa.table({"n": range(4), "at": at})) == [(0, 1), (1, 2), (1, 3), (2, 3)]


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        ("window(x, 1, 2)", [(1, 2)]), ("window(x, 3, NULL)", [(0, 1), (0, 2), (0, 3), (1, 3), (2, 3)]),
        ("window(x, 2, 1e30) AND window(2, 1e30)", [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]),
        ("window(x, 0, 99999999999999999999) AND window(99999999999999999999)", []),
        ("window(x, 99999999999999999999, NULL)", []), ("window(x, 2) AND window(1)", []),
    ],
)
def test_windows_of_any_size(window: str, expected: list[tuple[int, int]]) -> None:
    assert segments(window, "x", t=pa.table({"n": range(4), "x": [-(2**63), 0, 2, 2**63 - 2]})) == expected


def test_literals_of_many_digits() -> None:
    """A decimal of more digits than a double has is the host's."""
    many = "1.1000000000000001"
    expected = holding("double", lambda x: sum(x) / len(x) <= 1.1)
    assert segments(f"avg(double) <= {many}") == segments(f"avg(double) * {many} <= {many} * {many}") == expected


@pytest.mark.parametrize("condition", ["x - first(x) > 3", "sum(x) > 1", "range(x) > 1"])
def test_overflow_is_shown_where_it_happens(condition: str) -> None:
    with pytest.raises(rex.ExecutionError, match="REX405") as raised:
        segments(condition, t=pa.table({"n": range(4), "x": [-(2**63), -(2**62), 2**62, 2**63 - 1]}))
    error = raised.value
    assert error.source is not None and error.span is not None
    assert error.source.text[error.span.start : error.span.end] == condition


def test_windows_on_infinities() -> None:
    """Infinity less infinity is NaN, which is above all numbers."""
    infinite = float("inf")
    rows = pa.table({"n": range(4), "x": [-infinite, 0.0, 1.0, infinite]})
    for order in ("n", "x"):
        assert segments("window(x, 0, 2)", order, t=rows) == [(1, 1), (1, 2), (2, 2)]
        assert segments("window(x, 2, NULL)", order, t=rows) == [(0, 0), (0, 1), (0, 2), (0, 3), (1, 3), (2, 3), (3, 3)]
        assert segments("window(x, 0, 2)", order, t=rows.slice(3)) == []


# Decimals

_TENTHS = ["0.1", "0.2", "0.3", "0.7", None, "0.6", "0.3"]


def decimals(precision: int, texts: list[str | None] = _TENTHS, scale: int = 1) -> pa.Table:
    """A table of decimals in x."""
    values = [None if text is None else Decimal(text) for text in texts]
    return pa.table({"n": range(len(texts)), "x": pa.array(values, pa.decimal128(precision, scale))})


def decimals_holding(
    holds: Callable[[list[Decimal]], bool], texts: list[str | None] = _TENTHS
) -> list[tuple[int, int]]:
    """Segments whose decimals, those that are not NULL, are such; in exact arithmetic."""
    values = [None if text is None else Decimal(text) for text in texts]
    every = combinations_with_replacement(range(len(texts)), 2)
    there = {(i, j): [value for value in values[i : j + 1] if value is not None] for i, j in every}
    return [segment for segment, inside in there.items() if inside and holds(inside)]


@pytest.mark.parametrize("planner", ["optimizer", "sm_left", "pr_left"])
@pytest.mark.parametrize("precision", [10, 18, 19, 38])
@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("sum(x) > 0.3", lambda x: sum(x) > Decimal("0.3")), ("sum(x) = 0.6", lambda x: sum(x) == Decimal("0.6")),
        ("min(x) = 0.3", lambda x: min(x) == Decimal("0.3")), ("max(x) >= 0.7", lambda x: max(x) >= Decimal("0.7")),
        ("range(x) = 0.2", lambda x: max(x) - min(x) == Decimal("0.2")),
        ("max(x) - min(x) = 0.2", lambda x: max(x) - min(x) == Decimal("0.2")),
        ("sum(x) - max(x) <= 0.3", lambda x: sum(x) - max(x) <= Decimal("0.3")),
        ("sum(x) + 0.05 > 1.05", lambda x: sum(x) > 1), ("sum(x) IN (0.3, 1.2)", lambda x: sum(x) * 10 in (3, 12)),
        ("median(x) = 0.3", lambda x: (len(x) % 2 and sorted(x)[len(x) // 2] == Decimal("0.3"))
         or (not len(x) % 2 and sum(sorted(x)[len(x) // 2 - 1 : len(x) // 2 + 1]) == Decimal("0.6"))),
    ],
)
def test_decimals_are_exact(condition: str, holds: Any, precision: int, planner: str) -> None:
    assert segments(condition, t=decimals(precision), planner=planner) == decimals_holding(holds) != []


@pytest.mark.parametrize("precision", [10, 38])
def test_extremes_of_decimals_are_values_of_the_column(precision: int) -> None:
    """Through a cast that is not the nearest double, two of four."""
    rows = decimals(precision, ["0.1", "0.2", "0.3", "0.7"])
    assert segments("max(x) = last(x) AND window(1)", t=rows) == [(n, n) for n in range(4)]
    assert segments("min(x) = first(x) AND max(x) = last(x) AND window(2)", t=rows) == [(0, 1), (1, 2), (2, 3)]


def test_the_mean_of_decimals_is_rounded_once() -> None:
    assert segments("avg(x) = 0.2", t=decimals(10, ["0.1", "0.2", "0.3"])) == [(0, 2), (1, 1)]


@pytest.mark.parametrize("planner", ["optimizer", "sm_left", "pr_left"])
@pytest.mark.parametrize("precision", [18, 38])
@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("sum(x) = 2700000000000000000.3", lambda x: sum(x) == Decimal("2700000000000000000.3")),
        ("sum(x) > 900000000000000000.0", lambda x: sum(x) > Decimal("900000000000000000.0")),
        ("max(x) > first(x) AND window(2)", lambda x: len(x) == 2 and x[1] > x[0]),
        ("range(x) >= 180000000000000000.0", lambda x: max(x) - min(x) >= Decimal("180000000000000000.0")),
    ],
)
def test_decimals_beyond_64_bits_are_exact(condition: str, holds: Any, precision: int, planner: str) -> None:
    """More digits than an int64 has, and values whose doubles are equal."""
    texts: list[str | None] = ["90000000000000000.0", "90000000000000000.1", "-90000000000000000.1"]
    texts += ["90000000000000000.0"] * 29 + ["90000000000000000.3"]
    found = segments(condition, t=decimals(precision, texts), planner=planner)
    assert found == decimals_holding(holds, texts) != []


def test_trends_of_decimals_compare_all_digits() -> None:
    rows = decimals(18, ["10000000000000000.1", "10000000000000000.2", "10000000000000000.3"])
    for table_ in (rows, rows.set_column(1, "x", rows["x"].cast(pa.decimal128(38, 1)))):
        assert segments("mann_kendall_test(x) > 1 AND window(3)", t=table_) == [(0, 2)]
        assert segments("equal_up_down_ticks(x)", t=table_) == [(0, 0), (1, 1), (2, 2)]


def test_a_sum_beyond_38_digits_is_an_error() -> None:
    rows = decimals(38, ["9" * 37, "9" * 37], scale=0)
    assert segments("sum(x) > 0", t=rows) == [(0, 0), (0, 1), (1, 1)]
    with pytest.raises(rex.ExecutionError, match=r"REX405.*beyond 38 digits"):
        segments("sum(x) > 0", t=decimals(38, ["9" * 38, "9" * 38], scale=0))


def test_the_range_of_decimals_as_a_measure() -> None:
    query = "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY n MEASURES range(x) AS r PATTERN (S)" \
        " DEFINE SEGMENT S AS window(3))"
    assert rex.sql(query, t=decimals(10, ["0.1", "0.2", "0.3"])).to_pylist() == [{"r": Decimal("0.2")}]


def test_decimals_become_the_nearest_doubles() -> None:
    texts = ["0.1", "0.2", "0.3", "0.7", "-12345678901234.567", "9007199254740993.1", None]
    for type_ in (pa.decimal128(18, 1), pa.decimal128(38, 3), pa.decimal256(60, 3)):
        values = [None if text is None else Decimal(text).quantize(Decimal(1).scaleb(-type_.scale)) for text in texts]
        assert floats_of(pa.array(values, type_)).tolist() == [float(value or 0) for value in values]
