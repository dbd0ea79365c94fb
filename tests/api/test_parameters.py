"""Parameters, tables without a name, and `rex.match` with the whole clause."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sparkrex as rex
from sparkrex.cli.main import main
from sparkrex.cli.values import query_argument

if TYPE_CHECKING:
    from pathlib import Path

TICKS = pa.table({
    "ts": pa.array([datetime(2026, 1, 1, 0, minute, tzinfo=UTC) for minute in (0, 1, 2, 9)]),
    "day": [date(2026, 1, day) for day in (1, 2, 3, 4)], "x": [1, 2, 3, 4], "name": ["a", "b'c", "\\", "?"],
})
CLAUSE = "ORDER BY ts MEASURES COUNT(*) AS n PATTERN (A+) DEFINE A AS "


def _count(condition: str, args: Any, dialect: str = "spark") -> int:
    result = rex.sql(f"SELECT * FROM t MATCH_RECOGNIZE ({CLAUSE} {condition})", t=TICKS, args=args, dialect=dialect)
    return sum(result.column("n").to_pylist())


@pytest.mark.parametrize("dialect", ["spark", "duckdb", "trino"])
@pytest.mark.parametrize(
    ("condition", "value", "expected"),
    [
        ("x > :v", 2, 2), ("x > :v", np.int64(2), 2), ("x > -:v", -5, 0), ("x - :v > 3", -1, 2), ("x > :v", 2.5, 2),
        ("x > :v", -1e300, 4), ("x > :v", Decimal("2.5"), 2), ("x < :v", float("inf"), 4), ("(x > 1) = :v", True, 3),
        ("COALESCE(:v, x) = x", None, 4), ("COALESCE(:v, x) = x", pd.NA, 4), ("COALESCE(:v, x) = x", pd.NaT, 4),
        ("name = :v", "b'c", 1), ("name = :v", "\\", 1), ("name = :v", "?", 1),
        ("day >= :v", date(2026, 1, 3), 2), ("ts >= :v", datetime(2026, 1, 1, 0, 1, tzinfo=UTC), 3),
        ("ts - FIRST(ts) <= :v", timedelta(minutes=2), 4), ("x > :V AND x < 2 + :v", 1, 1),
    ],
)
def test_values_of_every_scalar_type(dialect: str, condition: str, value: object, expected: int) -> None:
    assert _count(condition, {"v": value}, dialect) == expected
    if condition.lower().count(":v") == 1:
        assert _count(condition.replace(":v", "?"), [value], dialect) == expected


def test_parameters_around_the_clause_and_in_its_input() -> None:
    query = f"""WITH w AS (SELECT * FROM t WHERE x < :high)
      SELECT n + :more AS n, ':low' AS word FROM (SELECT * FROM w WHERE x > :low) MATCH_RECOGNIZE ({CLAUSE} x <> :no) m
      WHERE n > :least"""
    args = {"high": 4, "low": 1, "more": 10, "no": 9, "least": 0}
    assert rex.sql(query, t=TICKS, args=args).to_pylist() == [{"n": 12, "word": ":low"}]


def test_a_question_mark_in_a_pattern_is_a_quantifier() -> None:
    query = """SELECT * FROM t MATCH_RECOGNIZE (ORDER BY x MEASURES COUNT(*) AS n PATTERN (A B? (C?)*? D??)
      WITHIN ? DEFINE A AS x = ?, B AS x = ?) LIMIT ?"""
    assert rex.sql(query, t=TICKS, args=[10, 1, 2, 5]).to_pylist() == [{"n": 2}]


def test_a_compiled_query_takes_other_values_each_time() -> None:
    compiled = rex.compile(f"SELECT * FROM t MATCH_RECOGNIZE ({CLAUSE} x > :low)")
    assert [compiled(t=TICKS, args={"low": low}).column("n").to_pylist() for low in (0, 2)] == [[4], [2]]
    assert "x > 2" in str(compiled.explain(t=TICKS, args={"low": 2})).replace("[running last]", "")


def test_a_parameter_is_a_constant_to_the_planner() -> None:
    text = f"SELECT * FROM t MATCH_RECOGNIZE ({CLAUSE} x > %s AND name = %s AND day > %s)"
    written = rex.explain(text % ("2", "'a'", "DATE '2026-01-01'"), t=TICKS)
    given = rex.explain(text % (":a", ":b", ":c"), t=TICKS, args={"a": 2, "b": "a", "c": date(2026, 1, 1)})
    assert str(given) == str(written)


def test_events_and_match() -> None:
    query = "PATTERN SEQ(A? a, B b) WHERE skip_till_any_match(a, b) { b.x > :low } WITHIN :window RETURN b.x AS x"
    types = {"A": "x < 2", "B": "x > 1"}
    arguments = {"low": 2, "window": timedelta(minutes=5)}
    found = rex.events(query, TICKS, time="ts", types=types, args=arguments)
    assert sorted(found.column("x").to_pylist()) == [3, 3, 4]
    assert rex.match(f"{CLAUSE} x > :low", args={"low": 2})(TICKS).to_pylist() == [{"n": 2}]


@pytest.mark.parametrize(
    "clause", ["MATCH_RECOGNIZE ({})", " -- why\n match_recognize({}) AS m", "/* a */MATCH_RECOGNIZE ({})"]
)
def test_match_takes_the_whole_clause(clause: str) -> None:
    assert rex.match(clause.format(CLAUSE + "x > 2"))(TICKS).to_pylist() == [{"n": 2}]


@pytest.mark.parametrize(
    ("text", "args", "at", "message"),
    [
        ("x > :low", None, ":low", "parameter :low has no value"),
        ("x > :low", {"lov": 1}, ":low", "args= has :lov"),
        ("x > ? AND x < ?", [1], "?)", "parameter ? number 2 has no value"),
        ("x > 1", {"low": 1}, "SELECT", "no parameter for :low"),
        ("x > ?", [1, 2], "SELECT", "no parameter for ? number 2"),
        ("x > :low AND x > ?", {"low": 1}, "?", "parameter ? number 1 has no value"),
    ],
)
def test_missing_and_unused(text: str, args: Any, at: str, message: str) -> None:
    with pytest.raises(rex.AnalysisError, match="REX238") as caught:
        _count(text, args)
    assert message in str(caught.value)
    assert caught.value.source is not None
    assert caught.value.position == (1, 1 + caught.value.source.text.index(at))


@pytest.mark.parametrize("args", [{"v": object()}, {"v": [1]}, "text", 7])
def test_values_that_sql_cannot_write(args: Any) -> None:
    with pytest.raises(rex.AnalysisError, match="REX239"):
        _count("x > :v", args)


def test_colons_that_are_no_parameters() -> None:
    query = "SELECT {'a':1, 'b': x}.b AS b, [1, 2, 3][1:x] AS l, x::int AS i FROM t WHERE x = :v"
    assert rex.sql(query, t=TICKS, dialect="duckdb", args={"v": 2}).to_pylist() == [{"b": 2, "l": [1, 2], "i": 2}]


@pytest.mark.parametrize("make", [lambda: TICKS, lambda: TICKS.to_pandas(), lambda: TICKS.to_batches()[0]])
def test_one_table_needs_no_name(make: Any) -> None:
    query = f"WITH w AS (SELECT * FROM ticks) SELECT * FROM w MATCH_RECOGNIZE ({CLAUSE} x > 2) JOIN Ticks ON x = n"
    assert len(rex.sql(query, make())) == 1
    assert rex.compile(query).explain(make()) is not None


@pytest.mark.parametrize(
    ("query", "hint"),
    [("SELECT * FROM a JOIN b ON a.x = b.x", "a=..., b=..."), ("SELECT 1 AS x", "leave the table out")],
)
def test_which_table_is_meant_must_be_clear(query: str, hint: str) -> None:
    with pytest.raises(rex.AnalysisError, match="REX203") as caught:
        rex.sql(query, pd.DataFrame({"x": [1]}))
    assert hint in str(caught.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a=1", 1), ("a=-1.50", Decimal("-1.50")), ("a=1e3", 1000.0), ("a=true", True), ("a=NULL", None),
        ("a='1'", "1"),
        ("a=2026-01-31", date(2026, 1, 31)), ("a=2026-01-31 10:00:00", datetime(2026, 1, 31, 10)), ("a=b=c", "b=c"),
        ("a='it''s'", "it's"), ("a=", ""),
    ],
)
def test_arguments_of_the_command(text: str, value: object) -> None:
    assert query_argument(text) == ("a", value)
    assert type(query_argument(text)[1]) is type(value)


def test_the_command_passes_them_on(tmp_path: Path) -> None:
    pq.write_table(TICKS, tmp_path / "t.parquet")
    (tmp_path / "q.sql").write_text("SELECT x FROM t WHERE x > :low AND name <> :name", encoding="utf-8")
    command = ["run", str(tmp_path / "q.sql"), "-t", f"t={tmp_path}/t.parquet", "-o", str(tmp_path / "o.parquet")]
    assert main([*command, "--arg", "low=2", "--arg", "name='?'"]) == 0
    assert pq.read_table(tmp_path / "o.parquet").to_pydict() == {"x": [3]}
    assert main([*command, "--overwrite", "--arg", "low=2"]) == 1


def test_a_doubled_quote_around_the_clause() -> None:
    query = """SELECT 'it''s' AS a, "d""q" AS b, n FROM t MATCH_RECOGNIZE (MEASURES 'x''y' AS n PATTERN (A))"""
    assert rex.sql(query, t=TICKS.slice(0, 1)).to_pylist() == [{"a": "it's", "b": 'd"q', "n": "x'y"}]
