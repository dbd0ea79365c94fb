"""`partition_gap` gives what a column with the numbers of sessions gives as one more key, in every mode."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from tests.streams.driving import TICK, TIME, Query
from tests.streams.test_stream_equals_batch import EVENTS, QUERIES, TRENDS, rows_of, sorted_rows

import sparkrex as rex
from sparkrex.errors import AnalysisError, ExecutionError

MORE = {
    "other types keep a partition": Query(
        "PATTERN SEQ(A a, C c) WHERE skip_till_next_match(a, c) { [k] } WITHIN 9 seconds RETURN EVENTS", "MATCH_EVENTS",
        EVENTS,
    ),
    "equal": Query(
        "PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) { [k] AND a.x + 2 = b.x } WITHIN 9 seconds "
        "RETURN a.id AS a, b.id AS b", "MATCH_EVENTS", EVENTS,
    ),
    "counted": Query(
        "PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) { [k] } WITHIN 2 EVENTS RETURN a.id AS a, b.id AS b",
        "MATCH_EVENTS", EVENTS,
    ),
    "contiguous trends": Query(
        "RETURN k, COUNT(*) AS n, SUM(A.x) AS s PATTERN SEQ(A+, C) SEMANTICS contiguous WHERE [k] GROUP-BY k",
        "MATCH_TRENDS", TRENDS,
    ),
    "trends in counted windows": Query(
        "RETURN COUNT(*) AS n PATTERN A+ SEMANTICS skip-till-any-match WHERE [k] WITHIN 3 events SLIDE 2 events",
        "MATCH_TRENDS", TRENDS,
    ),
}
EVERY = QUERIES | MORE


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("seed", range(8))
def test_gaps_are_sessions(name: str, seed: int) -> None:
    draw = random.Random(f"{name} {seed}")
    query = EVERY[name]
    table = rows_of(draw, draw.choice([0, 1, 5, 40, 120]), nulls=query.keyword == "MATCH_RECOGNIZE")
    seconds = draw.choice([1, 2, 5])
    is_one = query.keyword == "MATCH_RECOGNIZE" and "PARTITION BY" not in query.text
    expected = by_session(query).batch(with_sessions(table, seconds, is_one=is_one))
    expected = expected.select([one for one in expected.column_names if one != "s0"])
    # In chunks `within` loses matches, with the setting and without it.
    for chunk_rows in (None, 1, 7) if name != "within" else (None,):
        settings = {**query.settings, "partition_gap": timedelta(seconds=seconds), "chunk_rows": chunk_rows}
        assert sorted_rows(replace(query, settings=settings).batch(table)) == sorted_rows(expected)


def by_session(query: Query) -> Query:
    """The query with the column `s0` as one more key."""
    text = query.text
    if query.keyword != "MATCH_RECOGNIZE":
        return replace(query, text=text.replace("[k]", "[k] AND [s0]"))
    if "PARTITION BY" in text:
        return replace(query, text=text.replace("PARTITION BY k", "PARTITION BY k, s0"))
    return replace(query, text=f"PARTITION BY s0 {text}")


def with_sessions(table: pa.Table, seconds: int, *, is_one: bool = False) -> pa.Table:
    """The table with the number of every row's session in its key; rows without a time are with the first ones."""
    times = table.column(TIME).cast(pa.int64()).to_pylist()
    keys = [None] * len(times) if is_one else table.column("k").to_pylist()
    last: dict[Any, int] = {}
    sessions = [0] * len(times)
    numbers: dict[Any, int] = {}
    for row in sorted(range(len(times)), key=lambda row: (times[row] is not None, times[row])):
        key, time = keys[row], times[row]
        if time is not None:
            if key in last and time - last[key] > seconds * TICK:
                numbers[key] = numbers.get(key, 0) + 1
            last[key] = time
        sessions[row] = numbers.get(key, 0)
    return table.append_column("s0", pa.array(sessions, pa.int64()))


PATTERNS = {
    "pair": "PATTERN SEQ(A a, B b) WHERE [k] AND b.x > a.x WITHIN 9 seconds",
    "triple": "PATTERN SEQ(A a, B b, C c) WHERE [k] AND b.x > a.x WITHIN 9 seconds",
    "absent": "PATTERN SEQ(A a, ~(C c)) WHERE [k] WITHIN 5 seconds",
    "own": "PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) { [k] } WITHIN 9 seconds",
}


@pytest.mark.parametrize("seed", range(6))
def test_gaps_of_a_workload_are_sessions(seed: int) -> None:
    draw = random.Random(seed)
    table = with_sessions(rows_of(draw, 80, nulls=False), 2)
    options: dict[str, Any] = {"time": TIME, "tie_break": "id", "types": EVENTS.types}

    def matches(patterns: dict[str, str], rows: pa.Table, **settings: Any) -> list[str]:
        found = rex.workload(patterns, **options, settings=settings).detect(rows).to_pylist()
        by_match: dict[Any, list[Any]] = {}
        # Numbers of matches begin anew in every session.
        for line in found:
            ids = by_match.setdefault((line["pattern"], line["k"], line["s0"], line["match_id"]), [])
            ids.append((line["variable"], line["id"]))
        return sorted(f"{pattern} {events}" for (pattern, *_), events in by_match.items())

    by_key = {name: text.replace("[k]", "[k] AND [s0]") for name, text in PATTERNS.items()}
    expected = matches(by_key, table)
    assert matches(PATTERNS, table, partition_gap="2 seconds") == expected
    assert matches(PATTERNS, table, partition_gap="2 seconds", chunk_rows=5) == expected


def test_a_fed_workload_has_no_gaps() -> None:
    workload = rex.workload(PATTERNS, time=TIME, types=EVENTS.types, settings={"partition_gap": "1 second"})
    with pytest.raises(rex.RexError, match="REX301"):
        workload.open()


@pytest.mark.parametrize(("nulls", "expected"), [("FIRST", [["n", 0, 1], [2]]), ("LAST", [[0, 1], [2, "n"]])])
def test_rows_without_a_time_begin_no_partition(nulls: str, expected: list[list[Any]]) -> None:
    table = pa.table({"ts": [None, *(datetime(2024, 1, 1, hour) for hour in (0, 1, 9))], "v": ["n", "0", "1", "2"]})
    found = rex.sql(
        f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts NULLS {nulls} MEASURES ARRAY_AGG(v) AS v PATTERN (^ A+ $))",
        {"t": table}, settings={"partition_gap": "2 hours"},
    )
    assert found.column("v").to_pylist() == [[str(one) for one in part] for part in expected]


def test_a_gap_lets_anchors_hold_and_numbers_begin_anew() -> None:
    table = pa.table({"d": [date(2024, 1, day) for day in (1, 2, 3, 9, 10)], "v": [1, 2, 3, 4, 5]})
    found = rex.sql(
        "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY d MEASURES MATCH_NUMBER() AS m, FIRST(v) AS a, LAST(v) AS b, "
        "PREV(FIRST(v)) AS p PATTERN (^ A+ $))", {"t": table}, settings={"partition_gap": "interval '47 hours'"},
    )
    assert found.to_pylist() == [{"m": 1, "a": 1, "b": 3, "p": None}, {"m": 1, "a": 4, "b": 5, "p": None}]


@pytest.mark.parametrize("given", ["30 minutes", "INTERVAL 30 MINUTE", "interval '30' minutes", "1800 seconds"])
def test_an_interval_in_words(given: str) -> None:
    query = rex.compile("SELECT * FROM t", settings={"partition_gap": given})
    assert query.settings.partition_gap == timedelta(minutes=30)


@pytest.mark.parametrize("given", [30, "30", "30 months", "soon", "-1 days", timedelta(), "9999999999 weeks", True, ""])
def test_what_is_no_interval(given: object) -> None:
    with pytest.raises(AnalysisError, match="partition_gap must be"):
        rex.compile("SELECT * FROM t", settings={"partition_gap": given})


@pytest.mark.parametrize(
    ("order", "message"),
    [("", "there is no ORDER BY"), ("ORDER BY ts DESC", "ts is descending"), ("ORDER BY id", "id is of type int64")],
)
def test_rows_that_are_not_in_order_of_time(order: str, message: str) -> None:
    table = rows_of(random.Random(0), 5)
    with pytest.raises((AnalysisError, ExecutionError), match=message) as caught:
        Query(f"{order} MEASURES 1 AS one PATTERN (A)", settings={"partition_gap": "1 day"}).batch(table)
    assert caught.value.code == "REX217"
    assert caught.value.hint


def test_explain_says_it() -> None:
    tables = {"t": rows_of(random.Random(0), 5)}
    text = "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES 1 AS one PATTERN (A))"
    explained = str(rex.explain(text, tables, settings={"partition_gap": "90 minutes"}))
    assert "a new partition where ts is more than 90 minutes after the row before (partition_gap)" in explained
    assert "partition_gap" not in str(rex.explain(text, tables))
