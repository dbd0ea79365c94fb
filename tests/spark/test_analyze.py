"""EXPLAIN ANALYZE on Spark: what it counts is what the query gives."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from tests.spark.sample import QUERY, V_SHAPE
from tests.spark.stream_files import Files
from tests.spark.stream_files import ticks as stream_ticks

import sparkrex as rex
from sparkrex.errors import UnsupportedError
from sparkrex.spark.versions import BYTES_PER_BATCH, NO_LIMIT

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

_ROWS = pa.table({"k": [n * n % 7 for n in range(300)], "ts": list(range(300)), "x": [n * 37 % 11 for n in range(300)]})


@pytest.fixture
def rows(spark: SparkSession) -> DataFrame:
    """A few keys."""
    return spark.createDataFrame(_ROWS)


def figure(pattern: str, text: str) -> int:
    """The sum of the numbers that a pattern finds."""
    found = re.findall(pattern, text)
    assert found, text
    return sum(int(number.replace(",", "")) for number in found)


def analyzed(query: str | rex.Query, frame: DataFrame) -> str:
    """EXPLAIN ANALYZE without Spark's plan."""
    return str(rex.explain(query, frame, analyze=True)).split("== Physical Plan")[0]


@pytest.mark.parametrize(
    ("query", "stage"),
    [
        ("PARTITION BY k ORDER BY ts MEASURES count(*) AS n PATTERN (A B+) DEFINE B AS x > PREV(x)", "match"),
        ("PARTITION BY k ORDER BY ts ALL MATCHES PATTERN (W) "
         "DEFINE SEGMENT W AS last(W.ts) - first(W.ts) < 30", "find"),
    ],
)
def test_row_patterns_and_segments(rows: DataFrame, query: str, stage: str) -> None:
    text = analyzed(f"SELECT * FROM t MATCH_RECOGNIZE ({query})", rows)
    n_rows = rex.match(query)(_ROWS).num_rows
    assert n_rows > 20
    assert figure(r"([\d,]+) rows given", text) == n_rows
    assert figure(rf"{stage}: .*, ([\d,]+) (?:matches|segments)", text) == n_rows
    assert figure(r"order: .* ([\d,]+) partitions", text) == len(_ROWS["k"].unique())
    assert figure(r"largest partition ([\d,]+) rows", text) == np.bincount(_ROWS["k"]).max()


@pytest.mark.filterwarnings("ignore:MATCH_RECOGNIZE without PARTITION BY")
def test_ordered_by_spark(rows: DataFrame) -> None:
    query = "ORDER BY ts MEASURES count(*) AS n PATTERN (A B+) DEFINE B AS x > PREV(x)"
    text = analyzed(f"SELECT * FROM t MATCH_RECOGNIZE ({query})", rows)
    assert figure(r"match: .*, ([\d,]+) matches", text) == rex.match(query)(_ROWS).num_rows > 20
    assert figure(r"order: .* ([\d,]+) partitions", text) == 1
    assert "largest partition 300 rows of 300" in text
    assert "by 1 task" in text


def test_windows(rows: DataFrame) -> None:
    query = """SELECT n OVER w FROM t WINDOW w AS (PARTITION BY k ORDER BY ts MEASURES count(*) AS n
      ROWS BETWEEN CURRENT ROW AND 9 FOLLOWING AFTER MATCH SKIP PAST LAST ROW PATTERN (A B+) DEFINE B AS x > PREV(x))"""
    text = analyzed(query, rows)
    in_memory = str(rex.explain(query, t=_ROWS, analyze=True))
    assert figure(r"([\d,]+) rows given", text) == 300
    assert figure(r"([\d,]+) matches", text) == figure(r"([\d,]+) matches", in_memory) > 20


def test_events(rows: DataFrame) -> None:
    query = rex.events(
        "PATTERN SEQ(A+ a[], B b) WHERE skip_till_any_match(a[], b) { [k] AND a[1].x < 2 AND b.x > 8 } WITHIN 20 "
        "RETURN a[1].ts AS t", time="ts", types={"A": "true", "B": "true"},
    )
    text = analyzed(query, rows)
    assert figure(r"([\d,]+) rows given", text) == query(_ROWS).num_rows > 20
    assert figure(r"match and return: .*?([\d,]+) matches", text) == query(_ROWS).num_rows


def test_trends_in_two_passes(rows: DataFrame) -> None:
    query = rex.trends(
        "RETURN x, COUNT(*) AS n PATTERN A+ SEMANTICS skip-till-next-match WHERE [k] GROUP-BY x WITHIN 9 SLIDE 9",
        time="ts",
    )
    text = analyzed(query, rows)
    assert "Workers match, run in" in text
    merging = text[text.index("Workers merge, run in") :]
    assert figure(r"([\d,]+) rows given", merging) == query(_ROWS).num_rows > 20


def test_patterns_are_measured_apart(ticks: DataFrame) -> None:
    query = f"""WITH v AS ({QUERY}) SELECT count(*) AS n FROM v MATCH_RECOGNIZE (
      ORDER BY began MEASURES count(*) AS n PATTERN (A+) DEFINE A AS low > 0)"""
    with pytest.warns(UserWarning, match="without PARTITION BY"):
        text = str(rex.explain(query, ticks=ticks, analyze=True))
    first, second = text.split("Workers match, run in")[1:]
    assert figure(r"([\d,]+) rows given", first) == figure(r"receive: .*, ([\d,]+) rows", second) == 2
    assert figure(r"([\d,]+) rows given", second) == 1
    assert "Waiting includes" not in first
    assert "Waiting includes 1 pattern before, run again for this one" in second


def test_nothing_is_written(spark: SparkSession, ticks: DataFrame, tmp_path: Path) -> None:
    place = tmp_path / "written"
    spark.sql(f"CREATE TABLE analyzed_to (sym STRING, began BIGINT, low BIGINT, ended BIGINT) USING csv "
              f"LOCATION '{place}'")
    try:
        text = str(rex.explain(f"INSERT INTO analyzed_to {QUERY}", ticks=ticks, analyze=True))
        assert "2 rows given" in text
        assert spark.table("analyzed_to").count() == 0
    finally:
        spark.sql("DROP TABLE analyzed_to")


def test_advice(spark: SparkSession, ticks: DataFrame) -> None:
    advice = f"Advice: set {BYTES_PER_BATCH} to {NO_LIMIT}"
    before = spark.conf.get(BYTES_PER_BATCH)
    try:
        for value, is_given in ((NO_LIMIT, False), ("64m", True)):
            spark.conf.set(BYTES_PER_BATCH, value)
            assert (advice in str(rex.explain(QUERY, ticks=ticks, analyze=True))) is is_given
            assert advice not in str(rex.explain(QUERY, ticks=ticks))
    finally:
        spark.conf.set(BYTES_PER_BATCH, str(before))


def test_an_error_is_that_of_the_query(ticks: DataFrame) -> None:
    with pytest.raises(PySparkException, match="REX401"):
        rex.explain(QUERY.replace("PATTERN", "AFTER MATCH SKIP TO STRT PATTERN"), ticks=ticks, analyze=True)


def test_side_rows_are_counted(ticks: DataFrame) -> None:
    query = rex.match(V_SHAPE, settings={"side_rows": True})
    assert figure(r"([\d,]+) rows given", str(query.explain(ticks, analyze=True))) == 2


def test_a_stream_has_no_end(spark: SparkSession, tmp_path: Path) -> None:
    files = Files(spark, tmp_path)
    files.add(stream_ticks(1, 10))
    query = """SELECT * FROM ticks MATCH_RECOGNIZE (
      PARTITION BY sym ORDER BY ts PATTERN (A B) DEFINE B AS price > PREV(price))"""
    with pytest.raises(UnsupportedError, match="a stream has no end") as caught:
        rex.explain(query, ticks=files.stream(), analyze=True)
    assert caught.value.code == "REX301"
    assert caught.value.span is not None
