"""`rex.why` on Spark: the rows of one key are collected, and the answer is that of memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.api.why_shown import CASES, TICKS, shown

import sparkrex as rex
from sparkrex.spark.versions import to_frame

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

QUERY = """SELECT * FROM {input} MATCH_RECOGNIZE (
  PARTITION BY {key} ORDER BY ts
  PATTERN (DOWN UP UP2)
  DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price), UP2 AS price > PREV(price) * 1.02)"""


@pytest.fixture
def ticks(spark: SparkSession) -> DataFrame:
    return to_frame(spark, TICKS)


def test_the_texts_of_memory(ticks: DataFrame) -> None:
    for name, (clause, at) in CASES.items():
        query = f"SELECT * FROM ticks MATCH_RECOGNIZE (\n  PARTITION BY symbol ORDER BY ts\n  {clause})"
        found = str(rex.why(query, ticks=ticks, key={"symbol": "AY"}, at=at))
        assert found.replace("+00:00", "") == shown(name)  # a time without a zone is Spark's with one


def test_of_a_subquery_and_a_computed_key(ticks: DataFrame) -> None:
    query = QUERY.format(input="(SELECT *, 1 AS one FROM ticks WHERE price < 30)", key="upper(symbol) AS name")
    answer = rex.why(query, ticks=ticks, key={"name": "AY"})
    assert (answer.key, answer.n_rows) == ((("name", "AY"),), 6)
    assert "UP2, missed by 0.09" in str(answer)


def test_a_key_of_null(spark: SparkSession) -> None:
    frame = spark.sql("SELECT * FROM VALUES (1, 5), (NULL, 6), (NULL, 7) AS t(k, ts)")
    query = rex.match("PARTITION BY k ORDER BY ts PATTERN (A B B) DEFINE B AS ts > PREV(ts)")
    answer = query.why(frame, key={"k": None})
    assert (answer.n_rows, answer.shown[0].need) == (2, 1)


def test_what_is_refused(ticks: DataFrame, spark: SparkSession) -> None:
    query = QUERY.format(input="ticks", key="symbol")
    with pytest.raises(rex.AnalysisError, match=r"on Spark rex\.why is asked about one key, of symbol"):
        rex.why(query, ticks=ticks)
    with pytest.raises(rex.ExecutionError, match="the key has more than 5 rows") as caught:
        rex.why(query, ticks=ticks, key={"symbol": "AY"}, limit=5)
    assert caught.value.code == "REX406"
    assert rex.why(query, ticks=ticks, key={"symbol": "AY"}, limit=6).n_rows == 6
    with pytest.raises(rex.AnalysisError, match="key= names sym, and PARTITION BY has symbol"):
        rex.why(query, ticks=ticks, key={"sym": "AY"})
    with pytest.raises(rex.AnalysisError, match="no row has symbol = 'AZ'"):
        rex.why(query, ticks=ticks, key={"symbol": "AZ"})
    above = "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts PATTERN (A) DEFINE A AS ts > (SELECT 1))"
    frame = spark.sql("SELECT 1 AS k, 2 AS ts")
    with pytest.raises(rex.UnsupportedError, match="this reads others"):
        rex.why(above, t=frame, key={"k": 1})
    stream = spark.readStream.format("rate").load()
    with pytest.raises(rex.UnsupportedError, match="asked about a table"):
        rex.why("SELECT * FROM s MATCH_RECOGNIZE (ORDER BY timestamp PATTERN (A B))", s=stream)
