"""`partition_gap` on Spark: the answers of memory in every mode, in one piece and by way of the disk."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from tests.streams.driving import TIME
from tests.streams.test_stream_equals_batch import EVENTS, rows_of, sorted_rows

import sparkrex as rex
from sparkrex.spark.versions import to_frame

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.filterwarnings("ignore:.*all (rows|events) go through one task")

GAP: dict[str, Any] = {"partition_gap": "3 seconds"}
CHUNKED = {"sort_memory": 1, "chunk_rows": 7}
TABLE = rows_of(random.Random(3), 200, nulls=False)
ROWS = (
    "SELECT * FROM t MATCH_RECOGNIZE ({keys} ORDER BY ts{more} MEASURES MATCH_NUMBER() AS m, COUNT(*) AS n, "
    "FIRST(id) AS a, PREV(FIRST(x)) AS p PATTERN (A+ $ | ^ B) DEFINE A AS x > 0)"
)
OPTIONS: dict[str, Any] = {"time": TIME, "tie_break": "id", "types": EVENTS.types}
QUERIES: dict[str, Callable[..., Any]] = {
    "rows": lambda settings: rex.compile(ROWS.format(keys="PARTITION BY k", more=", id"), settings=settings),
    "rows without keys": lambda settings: rex.compile(ROWS.format(keys="", more=", id"), settings=settings),
    "rows that Spark orders": lambda settings: rex.compile(
        ROWS.format(keys="PARTITION BY k", more=", STRUCT(id)"), settings=settings
    ),
    "segments": lambda settings: rex.compile(
        "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts, id MEASURES FIRST(A.id) AS a, LAST(A.id) AS b, "
        "START_INDEX() AS i ALL MATCHES PATTERN (A) DEFINE SEGMENT A AS avg(x) > 2 AND window(ts, 0, 6, SECOND))",
        settings=settings,
    ),
    "segments that Spark orders": lambda settings: rex.compile(
        "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts, STRUCT(id) MEASURES FIRST(A.id) AS a, "
        "LAST(A.id) AS b ALL MATCHES PATTERN (A) DEFINE SEGMENT A AS avg(x) > 2 AND window(0, 6))", settings=settings,
    ),
    "events": lambda settings: rex.events(
        "PATTERN SEQ(A a, C c) WHERE skip_till_next_match(a, c) { [k] AND a.x < c.x } WITHIN 9 seconds "
        "RETURN a.id AS a, c.id AS c", **OPTIONS, settings=settings,
    ),
    "the events": lambda settings: rex.events(
        "PATTERN SEQ(A a, C c) WHERE skip_till_next_match(a, c) { [k] } WITHIN 9 seconds", **OPTIONS, settings=settings,
    ),
    "trends": lambda settings: rex.trends(
        "RETURN k, COUNT(*) AS n, SUM(A.x) AS s PATTERN SEQ(A+, C) SEMANTICS skip-till-any-match WHERE [k] GROUP-BY k "
        "WITHIN 10 seconds SLIDE 3 seconds", **OPTIONS, ties="order", settings=settings,
    ),
    "all trends": lambda settings: rex.trends(
        "RETURN COUNT(*) AS n PATTERN SEQ(A+, C) SEMANTICS contiguous WHERE [k]", **OPTIONS, ties="order",
        settings=settings,
    ),
}


@pytest.fixture
def frame(spark: SparkSession) -> DataFrame:
    """The rows as a DataFrame of several partitions."""
    return to_frame(spark, TABLE).repartition(3)


@pytest.mark.parametrize("name", QUERIES)
def test_spark_gives_what_memory_gives(name: str, frame: DataFrame) -> None:
    in_memory = QUERIES[name](GAP)(TABLE)
    assert in_memory.num_rows
    for more in ({}, CHUNKED):
        found = QUERIES[name]({**GAP, **more})(frame).collect()
        assert sorted(repr(row.asDict()) for row in found) == sorted_rows(in_memory)


def test_a_workload(frame: DataFrame) -> None:
    patterns = {
        "pair": "PATTERN SEQ(A a, C c) WHERE [k] AND c.x > a.x WITHIN 9 seconds",
        "again": "PATTERN SEQ(A a, C c, C d) WHERE [k] WITHIN 9 seconds",
        "own": "PATTERN SEQ(A a, C c) WHERE skip_till_next_match(a, c) { [k] } WITHIN 5 seconds",
    }
    in_memory = rex.workload(patterns, **OPTIONS, settings=GAP).detect(TABLE)
    expected = sorted(map(repr, in_memory.to_pylist()))
    for more in ({}, CHUNKED):
        found = rex.workload(patterns, **OPTIONS, settings={**GAP, **more}).detect(frame)
        assert sorted(repr(row.asDict()) for row in found.table.collect()) == expected


def test_an_order_by_something_else_is_an_error_before_any_job(frame: DataFrame) -> None:
    text = "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY id MEASURES 1 AS one PATTERN (A))"
    with pytest.raises(rex.RexError, match="partition_gap needs rows in order of time: id is of type int64"):
        rex.sql(text, t=frame, settings=GAP)
