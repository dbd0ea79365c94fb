"""Row patterns in windows on Spark: the same answers as in memory, and what streams cannot have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import sparkrex as rex

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUERY = """
SELECT k, ts, price, low OVER w AS low, upper(classes OVER w) AS classes, count(*) OVER w AS n,
  sum(price + 1) OVER w AS total, first_value(price) OVER v AS first, count(k) OVER (PARTITION BY k) AS one
FROM t WHERE price > 0
WINDOW w AS (PARTITION BY k ORDER BY ts
    MEASURES LAST(DOWN.price) + 1 AS low, CLASSIFIER() AS classes
    ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING
    AFTER MATCH SKIP TO NEXT ROW
    PATTERN (S DOWN+ UP) DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price)),
  v AS (PARTITION BY k ORDER BY ts
    ROWS BETWEEN CURRENT ROW AND ts % 3 FOLLOWING
    SEEK PATTERN (A) DEFINE A AS price > 5)
ORDER BY k, ts"""


def _table() -> pa.Table:
    prices = [10, 8, 7, 9, 6, 8, 3, 4, 9, 1, 2, 7]
    return pa.table({
        "k": ["a"] * 7 + ["b"] * 5, "ts": pa.array(range(12), pa.int64()), "price": pa.array(prices, pa.int64()),
        "unread": ["x"] * 12,
    })


def test_the_same_as_in_memory(spark: SparkSession) -> None:
    table = _table()
    expected = rex.sql(QUERY, t=table, dialect="spark")
    answer = rex.sql(QUERY, t=spark.createDataFrame(table), spark=spark, dialect="spark").toArrow()
    assert answer.to_pylist() == expected.to_pylist()
    assert answer.schema.names == expected.schema.names


def test_explain_says_the_search(spark: SparkSession) -> None:
    text = str(rex.explain(QUERY, t=spark.createDataFrame(_table()), spark=spark, dialect="spark"))
    assert "frame ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING" in text
    assert "matcher automaton" in text


def test_streams_are_refused(spark: SparkSession) -> None:
    stream = spark.readStream.format("rate").load().withWatermark("timestamp", "10 seconds")
    query = """SELECT count(*) OVER w AS n FROM t WINDOW w AS (ORDER BY timestamp
        ROWS BETWEEN CURRENT ROW AND 5 FOLLOWING PATTERN (A+) DEFINE A AS value > 1)"""
    with pytest.raises(rex.UnsupportedError) as caught:
        rex.sql(query, t=stream, spark=spark)
    assert caught.value.code == "REX302"
    assert caught.value.position is not None
