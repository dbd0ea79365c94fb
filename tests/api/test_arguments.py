"""Arguments of the wrong kind, times and windows that cannot be, event types that no event has."""

from __future__ import annotations

import warnings
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.api.mistakes import TABLE

import sparkrex as rex

if TYPE_CHECKING:
    from collections.abc import Callable

QUERY = "PATTERN SEQ(Buy a, Sell b) WHERE skip_till_any_match(a, b)"
TRENDS = "RETURN COUNT(*) AS n PATTERN SEQ(Buy a, Sell b) SEMANTICS skip-till-any-match"
STRANGE: list[Any] = [None, 5, b"SELECT 1", ["SELECT 1"]]
FUNCTIONS: dict[str, Callable[[Any], object]] = {
    "sql": rex.sql,
    "compile": rex.compile,
    "explain": rex.explain,
    "match": rex.match,
    "events": lambda query: rex.events(query, TABLE, time="id"),
    "trends": lambda query: rex.trends(query, TABLE, time="id"),
    "explain_events": lambda query: rex.explain(rex.events(query, time="id"), TABLE),
}


@pytest.mark.parametrize("given", STRANGE, ids=repr)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_query_is_a_string(name: str, given: Any) -> None:
    what = "clause" if name == "match" else "query"
    with pytest.raises(TypeError, match=f"{what} is a {type(given).__name__}, not a string"):
        FUNCTIONS[name](given)


def test_a_query_of_another_kind() -> None:
    given: Any = rex.workload({"pair": "PATTERN SEQ(Buy a, Sell b) WITHIN 5"}, time="id")
    with pytest.raises(TypeError, match=r"a Workload, not a string: .*drain\(checkpoint, stream\)"):
        rex.explain(given, TABLE)
    with pytest.raises(TypeError, match=r"a DataFrame, not a string: give its text"):
        rex.sql(pd.DataFrame())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"time": None}, "time= is a NoneType, not a string"),
        ({"time": 5}, "time= is a int, not a string"),
        ({"time": "id", "type": 5}, "type= is a int, not a string"),
        ({"time": "id", "types": {"Buy": 5}}, "types= has a int for Buy, not a string"),
        ({"time": "id", "types": ["Buy"]}, "types= is a list, not a mapping of names to conditions"),
        ({"time": "id", "tie_break": 5}, "tie_break= is a int, not names of columns"),
        ({"time": "id", "tie_break": [5]}, "tie_break= is a list, not names of columns"),
        ({"time": "id", "dialect": 5}, "dialect= is a int, not a string"),
    ],
)
def test_options_of_streams(options: dict[str, Any], message: str) -> None:
    for call, query in ((rex.events, QUERY), (rex.trends, TRENDS)):
        with pytest.raises(TypeError) as raised:
            call(query, TABLE, **options)
        assert str(raised.value) == message


def test_options_of_trends() -> None:
    with pytest.raises(TypeError, match="origin= is a list, not a time or a number"):
        rex.trends(TRENDS, TABLE, time="id", origin=[1])  # type: ignore[call-overload]
    for given in ("rounded", None, Decimal(1)):
        with pytest.raises(rex.AnalysisError, match=r'(?s)REX217.*unknown counts=.*counts="exact" or counts="log"'):
            rex.trends(TRENDS, TABLE, time="id", counts=given)  # type: ignore[call-overload]
    with pytest.raises(rex.AnalysisError, match=r"REX217.*unknown ties='loose'"):
        rex.trends(TRENDS, TABLE, time="id", ties="loose")  # type: ignore[call-overload]


def test_other_arguments() -> None:
    calls: list[Any] = [rex.sql, rex.compile, rex.explain]
    for call in calls:
        with pytest.raises(TypeError, match="dialect= is a int, not a string"):
            call("SELECT 1", dialect=5)
    with pytest.raises(TypeError, match="settings= is a int"):
        rex.sql("SELECT 1", settings=5)  # type: ignore[call-overload]  # what is tested
    with pytest.raises(TypeError, match="the buffer is a int, not a pyarrow table"):
        rex.decompress(5)


@pytest.mark.parametrize("values", [["x", "y"], [True, False], [[1], [2]]], ids=["text", "boolean", "array"])
def test_times_are_times_or_numbers(values: list[Any]) -> None:
    table = pa.table({"at": values, "kind": ["Buy", "Sell"]})
    with pytest.raises(rex.AnalysisError, match=r"REX214.*time='at'") as raised:
        rex.events(QUERY, table, time="at", type="kind")
    assert "cast it in the input" in str(raised.value)
    with pytest.raises(rex.AnalysisError) as raised:
        rex.sql(f"SELECT * FROM t MATCH_EVENTS (TIME at TYPE kind {QUERY})", t=table)
    assert raised.value.code == "REX214"
    assert raised.value.position == (1, 36)


@pytest.mark.parametrize("window", ["9" * 20, "9" * 30 + " EVENTS", "99999999999999 days"])
def test_windows_have_64_bits(window: str) -> None:
    table = pa.table({"n": [1, 2], "at": pa.array([1, 2], pa.timestamp("us")), "kind": ["Buy", "Sell"]})
    with pytest.raises(rex.AnalysisError, match="REX226"):
        rex.events(f"{QUERY} WITHIN {window}", table, time="at" if "day" in window else "n", type="kind")


def test_a_type_that_no_event_has() -> None:
    query = "PATTERN SEQ(Buy a, Sel b) WHERE skip_till_any_match(a, b)"
    with pytest.warns(UserWarning) as warned:
        result = rex.events(query, TABLE, time="id", type="kind")
    assert result.num_rows == 0
    assert [str(one.message) for one in warned] == [
        "no event has type Sel (kind = 'Sel'): the types in kind are Buy, Sell; did you mean Sell?"
    ]
    assert warned[0].filename == __file__


def test_a_type_column_that_no_type_is_read_from() -> None:
    stream = pa.table({"ts": [1, 2], "kind": ["Buy", "Sell"]})
    text = "PATTERN SEQ(Any a, Any b) WHERE skip_till_next_match(a, b) RETURN a.ts AS first"
    assert rex.events(text, stream, time="ts", type="kind", types={"Any": "true"}).to_pylist() == [{"first": 1}]


@pytest.mark.parametrize("strategy", ["skip_till_next_match", "strict_contiguity"])
def test_a_negated_type_that_no_event_has(strategy: str) -> None:
    query = f"PATTERN SEQ(Buy a, ~(Cancel c), Sell b) WHERE {strategy}(a, b)"
    with pytest.warns(UserWarning, match="no event has type Cancel"):
        assert rex.events(query, TABLE, time="id", type="kind").num_rows > 0


@pytest.mark.parametrize("is_empty", [False, True])
def test_no_warning_without_reason(is_empty: bool) -> None:
    query = QUERY if not is_empty else QUERY.replace("Sell", "Sel")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rex.events(query, TABLE.slice(0, 0) if is_empty else TABLE, time="id", type="kind")
        rex.events(query, TABLE, time="id", types={"Buy": "kind = 'Buy'", "Sell": "vol > 99", "Sel": "vol > 99"})


def test_texts_and_bytes_by_views() -> None:
    """Arrow has few functions for that layout."""
    words = pa.array(["a", "b", "a"], pa.string_view())
    table = pa.table({"ts": [1, 2, 3], "word": words, "raw": words.cast(pa.binary_view())})
    clause = "PARTITION BY word ORDER BY ts MEASURES count(*) AS n, max(raw) AS m PATTERN (A+) DEFINE A AS raw <> 'z'"
    expected = [{"word": "a", "n": 2, "m": b"a"}, {"word": "b", "n": 1, "m": b"b"}]
    for given in (table, table.to_reader(), table.to_batches()[0]):
        assert rex.sql(f"SELECT * FROM t MATCH_RECOGNIZE ({clause})", t=given).to_pylist() == expected


def test_a_statement_is_not_for_match() -> None:
    with pytest.raises(rex.ParseError, match=r"rex\.sql runs statements"):
        rex.match("SELECT * FROM t MATCH_RECOGNIZE (PATTERN (A))")


def test_an_aggregate_is_a_class() -> None:
    with pytest.raises(TypeError, match="a class with a method scan"):
        rex.aggregate(lambda x: x.max())  # type: ignore[call-overload]  # the mistake


@pytest.mark.parametrize("columns", [{"x": [1, "two"]}, {"x": [1, 2], "X": [3, 4]}], ids=["types", "names"])
def test_a_frame_that_is_no_table(columns: dict[str, list[Any]]) -> None:
    frame = pd.DataFrame(columns).rename(columns={"X": "x"})
    with pytest.raises(rex.ExecutionError, match=r"REX407.*t= cannot be read as a table"):
        rex.sql("SELECT * FROM t MATCH_RECOGNIZE (PATTERN (A))", t=frame)


def test_a_polars_frame_of_a_type_that_arrow_lacks() -> None:
    frame = pl.DataFrame({"x": pl.Series([1, 2], dtype=pl.Int128)})
    with pytest.raises(rex.ExecutionError, match=r"REX407.*t= cannot be read as a table"):
        rex.sql("SELECT * FROM t MATCH_RECOGNIZE (PATTERN (A))", t=frame)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"time_zone": "Europe/Berlinn"}, "unknown time zone(?s:.*)did you mean Europe/Berlin"),
        ({"time_zone": None}, "time_zone must be a name"),
        ({"max_steps": None}, "max_steps must be a positive whole number"), ({"max_segments": 0}, "max_segments"),
        ({"max_event_memory": 1 << 63}, "max_event_memory"), ({"max_open_rows": True}, "max_open_rows"),
        ({"threads": 1.5}, "threads"), ({"tie_break": ["x", 5]}, "tie_break must be a name or several"),
        ({"tie_break": None}, "tie_break"), ({"without_rules": 5}, "without_rules"), ({1: 2}, "unknown setting 1"),
        (rex.Settings(max_steps=-1), "max_steps"),
        ({"buckets": 0}, "buckets must be a positive whole number up to 256"),
        ({"buckets": 257}, "a positive whole number up to 256, not 257"),
    ],
    ids=repr,
)
def test_settings_of_a_wrong_kind(settings: Any, message: str) -> None:
    with pytest.raises(rex.AnalysisError, match=f"REX217.*{message}"):
        rex.sql("SELECT * FROM t MATCH_RECOGNIZE (PATTERN (A))", t=TABLE, settings=settings)


def test_a_setting_of_numpys_type() -> None:
    query = rex.compile("SELECT * FROM t MATCH_RECOGNIZE (PATTERN (A))", settings={"chunk_rows": np.int64(2)})
    assert query.settings == rex.Settings(chunk_rows=2)
    assert type(query.settings.chunk_rows) is int


@pytest.mark.parametrize(
    "clause",
    [
        "ORDER BY step MEASURES COUNT(*) AS n PATTERN (A+)",
        "ORDER BY step MEASURES COUNT(*) AS n PATTERN (S) DEFINE SEGMENT S AS window(2)",
    ],
)
def test_intervals_have_no_order(clause: str) -> None:
    steps = pa.array([(0, 30, 0), (1, 0, 0)], pa.month_day_nano_interval())
    with pytest.raises(rex.AnalysisError, match=r"REX214.*intervals of months and days cannot be ordered"):
        rex.match(clause, pa.table({"id": [1, 2], "step": steps}), dialect="duckdb")


@pytest.mark.parametrize(
    ("clause", "expected"),
    [
        ("ORDER BY id MEASURES PREV(id, {n}) AS x PATTERN (A+)", [None]),
        ("ORDER BY id MEASURES NEXT(FIRST(id, {n}), {n}) AS x PATTERN (A+)", [None]),
        ("ORDER BY id MEASURES id AS x PATTERN (A) DEFINE A AS COALESCE(PREV(id, {n}), NEXT(id, {n})) IS NULL", [1, 2]),
        ("ORDER BY id MEASURES FIRST(S.id) AS x PATTERN (S) DEFINE SEGMENT S AS window(2) AND first(id, {n}) = 1", []),
    ],
)
@pytest.mark.parametrize("n", [1 << 62, (1 << 63) - 1, 10**20])
def test_offsets_beyond_all_rows(clause: str, expected: list[int | None], n: int) -> None:
    found = rex.match(clause.format(n=n), pa.table({"id": [1, 2]}))
    assert found.column("x").to_pylist() == expected


def test_a_window_of_too_many_rows() -> None:
    clause = "ORDER BY id MEASURES id AS n PATTERN (A S) DEFINE A AS zscore_outlier(id, {n}) > 1, SEGMENT S AS true"
    with pytest.raises(rex.AnalysisError, match=r"REX213.*whole number of rows"):
        rex.match(clause.format(n=10**20), pa.table({"id": [1, 2]}))


@pytest.mark.parametrize(
    "text",
    ["ORDER BY id PATTERN (A+)", "PARTITION BY id MEASURES id AS x PATTERN (A)", QUERY, f"TIME id {QUERY}",
     TRENDS],
)
def test_a_clause_where_a_statement_is_expected(text: str) -> None:
    for call in (rex.sql, rex.explain):
        with pytest.raises(rex.ParseError, match=r"(?s)REX101.*this is a clause.*rex\.match.*rex\.events"):
            call(text, TABLE)
