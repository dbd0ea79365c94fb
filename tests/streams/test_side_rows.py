"""Late rows and rows at which a search fails, as rows: those of a stream are those of the batch, however it was cut."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.differential.relations import one_database
from tests.streams.comparing import compare, without_late
from tests.streams.driving import EPOCH, TICK, TIME, Query, Stream, drive
from tests.streams.examples import example_of
from tests.streams.test_stream_equals_batch import EVENTS, QUERIES, TRENDS, rows_of, sorted_rows

import sparkrex as rex

SIDES = {"side_rows": True, "on_error": "report"}
BIG = 1 << 62
FAILING = {
    "skip to absent": Query(
        "PARTITION BY k ORDER BY ts MEASURES FIRST(id) AS a, LAST(id) AS b, MATCH_NUMBER() AS m "
        "AFTER MATCH SKIP TO LAST B PATTERN (A B? C) DEFINE B AS x = 1, C AS x > 1"
    ),
    "skip to the first row": Query(
        "PARTITION BY k ORDER BY ts MEASURES FIRST(id) AS a, COUNT(*) AS n ALL ROWS PER MATCH WITH UNMATCHED ROWS "
        "AFTER MATCH SKIP TO A PATTERN (B? A C) DEFINE A AS x > 1, B AS x = 1"
    ),
    "division in a condition that reads the match": Query(
        "PARTITION BY k ORDER BY ts MEASURES FIRST(id) AS a, LAST(id) AS b "
        "PATTERN (A B+ C) DEFINE B AS x % (A.x - 1) < 9, C AS x > A.x"
    ),
    "division in a condition of rows": Query(
        "PARTITION BY k ORDER BY ts MEASURES FIRST(id) AS a, LAST(id) AS b AFTER MATCH SKIP TO NEXT ROW "
        "PATTERN (A B) DEFINE A AS x > 1, B AS x % PREV(x - 2) = 0"
    ),
    "overflow of a sum": Query(
        f"PARTITION BY k ORDER BY ts MEASURES FIRST(id) AS a, SUM(A.x * {BIG // 4}) AS s "
        "PATTERN (A+ B) DEFINE A AS x > 0, B AS x = 0"
    ),
    "timeouts": Query(
        "PARTITION BY k ORDER BY ts MEASURES FIRST(id) AS a, LAST(id) AS b, MATCH_STATUS() AS s "
        "ONE ROW PER MATCH SHOW TIMEOUT MATCHES AFTER MATCH SKIP TO LAST B "
        "PATTERN (A B? C) WITHIN INTERVAL '5' SECOND DEFINE A AS x > 1, B AS x = 1, C AS x % (A.x - 2) = 0"
    ),
}


def reporting(query: Query, **more: Any) -> Query:
    return replace(query, settings={"tie_break": "id", **query.settings, **SIDES, **more})


def kinds(result: pa.Table, kind: str) -> pa.Table:
    return result.filter(pc.equal(result.column("rex_kind"), kind))


def without_messages(result: pa.Table) -> pa.Table:
    """Each matcher has its own words for what the host says in others."""
    codes = pc.struct_field(result.column("rex_error"), "code")
    return result.set_column(result.column_names.index("rex_error"), "code", codes)


@pytest.mark.parametrize("name", FAILING)
def test_a_stream_fails_at_the_rows_of_the_batch(name: str) -> None:
    query = reporting(FAILING[name])
    n_failed = 0
    with one_database():
        for seed in range(8):
            draw = random.Random(f"{name} {seed}")
            table = rows_of(draw, draw.choice([3, 10, 40]))
            driven = drive(query, table, draw)
            assert driven.error is None
            wanted = query.batch(table.filter(pc.invert(driven.is_late)))
            assert sorted_rows(without_late(driven.result)) == sorted_rows(wanted)
            n_failed += kinds(wanted, "error").num_rows
    assert n_failed


@pytest.mark.parametrize("name", FAILING)
def test_all_matchers_fail_at_the_same_rows(name: str) -> None:
    table = rows_of(random.Random(name), 40, nulls=False)
    with one_database():
        ways = [reporting(FAILING[name], **way) for way in ({}, {"matcher": "backtrack"}, {"matcher": "interpreter"})]
        ways.append(reporting(FAILING[name], chunk_rows=3))
        first, *others = [sorted_rows(without_messages(query.batch(table))) for query in ways]
    assert [other == first for other in others] == [True, True, True]


MERGED = ("trends of a group", "trends without windows", "trends in windows of events")
"""Groups of several partitions are put together behind the buckets, where side rows have no place: REX301 on Spark."""


@pytest.mark.parametrize("name", sorted(QUERIES.keys() - set(MERGED)))
def test_late_rows_are_rows_of_the_input(name: str) -> None:
    """Beside them the result is what it is without the setting."""
    query = replace(QUERIES[name], settings={**QUERIES[name].settings, "side_rows": True})
    n_late = 0
    with one_database():
        for seed in range(9):
            table = rows_of(random.Random(f"{name} {seed}"), 40)
            driven, plain = (drive(one, table, random.Random(seed)) for one in (query, QUERIES[name]))
            late = rex.late(driven.result)
            assert late.schema.names == table.schema.names
            wanted = table.filter(driven.is_late)
            if query.keyword != "MATCH_RECOGNIZE":  # events that cannot take part are left out before
                wanted = wanted.filter(pc.is_valid(wanted.column("k")))
                late = late.filter(pc.is_valid(late.column("k")))
            assert sorted_rows(late) == sorted_rows(wanted)
            assert sorted_rows(rex.matches(driven.result)) == sorted_rows(plain.result)
            n_late += late.num_rows
            if n_late:
                break
    assert n_late


def test_random_row_patterns_fail_at_the_rows_of_the_batch() -> None:
    with one_database():
        for number in range(15):
            example = example_of("rows", 20261119, number)
            example = replace(example, query=replace(example.query, settings={**example.query.settings, **SIDES}))
            found = compare(example)
            assert found.problem is None, f"example {number}\n{example}\n{found.problem}"


def table_of(lines: list[tuple[int, str, int]]) -> pa.Table:
    rows = [{"id": place, "k": k, "x": x, TIME: (EPOCH + at) * TICK} for place, (at, k, x) in enumerate(lines)]
    schema = pa.schema([("id", pa.int64()), ("k", pa.string()), ("x", pa.int64()), (TIME, pa.timestamp("us"))])
    return pa.Table.from_pylist(rows, schema)


def test_of_tied_events_the_later_one_is_given_up() -> None:
    """By what they hold, wherever they stand in the batch; the others are as if it had not come."""
    text = (
        "PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) { [k] } WITHIN 9 seconds RETURN a.id AS a, b.id AS b"
    )
    query = Query(text, "MATCH_EVENTS", replace(EVENTS, tie_break=()), SIDES)
    table = table_of([(0, "x", 0), (3, "x", 4), (3, "x", 2), (3, "y", 1), (4, "x", 3), (30, "z", 0)])
    stream = Stream(query, table)
    given = stream.batch(table, 0) + stream.batch(table.slice(0, 0), (EPOCH + 20) * TICK)
    result = stream.cut.result(pa.concat_tables([one.rows for one in given]))
    failed = rex.failed(result).to_pylist()
    assert [(row["id"], row["rex_error"]["code"]) for row in failed] == [(2, "REX409")]
    assert sorted(row["b"] for row in rex.matches(result).to_pylist()) == [1, 4]
    assert sum(one.metrics.errors for one in given) == 1


def test_a_trend_query_goes_on_without_the_later_of_tied_events() -> None:
    text = (
        "RETURN k, SUM(A.x) AS s PATTERN SEQ(A+) SEMANTICS skip-till-any-match WHERE [k] GROUP-BY k WITHIN 10 seconds"
    )
    types = {"A": "x > 0"}
    query = Query(text, "MATCH_TRENDS", replace(TRENDS, stream=replace(EVENTS, types=types)), SIDES)
    table = table_of([(0, "x", 2), (1, "x", 3), (1, "x", 3)]).slice(0, 2)
    tied = pa.concat_tables([table, table.slice(1)])
    stream = Stream(query, tied)
    given = stream.batch(tied, 0) + stream.batch(tied.slice(0, 0), (EPOCH + 60) * TICK)
    result = stream.cut.result(pa.concat_tables([one.rows for one in given]))
    assert [row["rex_error"]["code"] for row in rex.failed(result).to_pylist()] == ["REX409"]
    plain = replace(query, settings={})
    assert rex.matches(result).to_pylist() == plain.batch(table).to_pylist()


def driven_by_rows(query: Query, table: pa.Table) -> tuple[Stream, pa.Table]:
    """One row a batch, and the watermark right behind it."""
    stream = Stream(query, table, random.Random(5))
    given = []
    for place, time in enumerate(table.column(TIME).cast(pa.int64()).to_pylist()):
        given += stream.batch(table.slice(place, 1), max(time - TICK, 1))
    given += stream.batch(table.slice(0, 0), (EPOCH + 1000) * TICK)
    return stream, stream.cut.result(pa.concat_tables([one.rows for one in given]))


def test_over_max_open_rows_the_oldest_open_start_is_given_up() -> None:
    text = "PARTITION BY k ORDER BY ts MEASURES FIRST(id) AS a, LAST(id) AS b PATTERN (A B*? C) DEFINE C AS x = 9"
    query = Query(text, settings={**SIDES, "max_open_rows": 3})
    lines = [(at, "a", 0) for at in range(5)] + [(5, "b", 0), (6, "a", 9), (7, "b", 9)]
    _, result = driven_by_rows(query, table_of(lines))
    failed = rex.failed(result).to_pylist()
    assert [(row["id"], row["rex_error"]["code"]) for row in failed] == [(0, "REX406"), (1, "REX406")]
    assert sorted((row["a"], row["b"]) for row in rex.matches(result).to_pylist()) == [(2, 6), (5, 7)]


def test_without_side_rows_errors_are_counted() -> None:
    query = replace(FAILING["skip to absent"], settings={"on_error": "report"})
    table = table_of([(0, "a", 0), (1, "a", 3), (2, "a", 0)])
    stream = Stream(query, table)
    given = stream.batch(table, 0) + stream.batch(table.slice(0, 0), (EPOCH + 9) * TICK)
    assert sum(one.metrics.errors for one in given) == 1
    assert "rex_kind" not in stream.task.output.names


def test_a_table_fails_where_the_definition_says() -> None:
    """The match from row 3 has no B, so that AFTER MATCH SKIP has nowhere to go; the search goes on behind it."""
    table = pa.table({"id": [0, 1, 2, 3, 4], "x": [0, 1, 2, 0, 5]})
    text = (
        "ORDER BY id MEASURES FIRST(id) AS a, LAST(id) AS b AFTER MATCH SKIP TO LAST B PATTERN (A B? C) "
        "DEFINE A AS x = 0, B AS x = 1, C AS x > 1"
    )
    result = rex.match(text, table, settings=SIDES)
    assert rex.matches(result).to_pylist() == [{"a": 0, "b": 2}]
    assert rex.failed(result).select(["id", "x"]).to_pylist() == [{"id": 3, "x": 0}]
    assert rex.late(result).num_rows == 0 and rex.late(result).schema.names == ["id", "x"]
    with pytest.warns(UserWarning, match=r"1 rows were given up; the first error is REX402"):
        assert rex.match(text, table, settings={"on_error": "report"}).to_pylist() == [{"a": 0, "b": 2}]


def test_parts_come_in_the_library_of_the_result() -> None:
    pd = pytest.importorskip("pandas")
    result = rex.match("ORDER BY id MEASURES COUNT(*) AS n PATTERN (A+)", pd.DataFrame({"id": [1, 2]}), settings=SIDES)
    assert rex.matches(result)["n"].tolist() == [2]
    assert list(rex.late(result).columns) == ["id"]


CLAUSE = "t MATCH_RECOGNIZE (ORDER BY id MEASURES COUNT(*) AS n PATTERN (A+))"


@pytest.mark.parametrize(("text", "columns", "code", "said"), [
    (f"SELECT n FROM {CLAUSE}", ["id"], "REX216", "needs the column rex_kind"),
    (f"SELECT * FROM {CLAUSE} AS a, {CLAUSE} AS b", ["id"], "REX301", "several patterns"),
    (f"SELECT * FROM {CLAUSE}", ["id", "rex_kind"], "REX205", "a column rex_kind"),
])
def test_what_cannot_be_told_apart_is_refused(text: str, columns: list[str], code: str, said: str) -> None:
    table = pa.table({name: pa.array([1, 2]) for name in columns})
    with pytest.raises(rex.RexError, match=said) as refused:
        rex.sql(text, t=table, settings={"side_rows": True})
    assert refused.value.code == code and refused.value.hint


def test_a_mode_that_cannot_go_on_says_so() -> None:
    table = pa.table({"ts": [1, 2], "x": [1, 2]})
    text = "PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) RETURN a.ts AS a"
    with pytest.raises(rex.UnsupportedError, match="not supported for events of a table"):
        rex.events(text, table, time="ts", types={"A": "x = 1", "B": "x = 2"}, settings=SIDES)
    with pytest.raises(rex.UnsupportedError, match="searches of segments"):
        rex.match(
            "ORDER BY ts MEASURES FIRST(A.x) AS a ALL MATCHES PATTERN (A) DEFINE SEGMENT A AS sum(x) > 1", table,
            settings=SIDES,
        )


def test_parts_of_another_result() -> None:
    with pytest.raises(rex.AnalysisError, match="no column rex_kind"):
        rex.late(pa.table({"n": [1]}))


def test_an_error_that_stops_a_stream_names_the_row() -> None:
    query = FAILING["skip to absent"]
    table = table_of([(0, "a", 0), (1, "a", 3), (2, "b", 0)])
    stream = Stream(query, table, random.Random(1))
    with pytest.raises(rex.ExecutionError) as stopped:
        for watermark in (0, (EPOCH + 9) * TICK):
            stream.batch(table if not watermark else table.slice(0, 0), watermark)
    assert stopped.value.code == "REX402" and stopped.value.partition == (("k", "a"),)
    assert "it is the row of 1970-01-01 00:16:40" in stopped.value.notes
