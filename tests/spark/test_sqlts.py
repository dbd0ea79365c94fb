"""SQL-TS on Spark, against the same query in memory."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from tests.languages.sqlts import oracle
from tests.languages.sqlts.draws import as_table, draw_pattern
from tests.languages.sqlts.model import query_text
from tests.spark.sample import arrow_rows

import sparkrex as rex
from sparkrex.explanation import WITH_MATCH_RECOGNIZE
from sparkrex.spark.versions import to_frame

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def draw_many(draw: random.Random) -> list[dict[str, Any]]:
    return [
        {"name": f"c{cluster}", "date": date, "price": draw.choice([None, *range(6), *range(6)])}
        for cluster in range(4) for date in range(25)
    ]


def test_random_queries(spark: SparkSession) -> None:
    draw = random.Random("sqlts on spark")
    rows = draw_many(draw)
    frame = to_frame(spark, as_table(rows))
    for _ in range(12):
        pattern = draw_pattern(draw)
        query = query_text(pattern)
        result = arrow_rows(rex.sql(query, quote=frame, dialect="sqlts"))
        found = sorted(zip(*(column.to_pylist() for column in result.columns), strict=True), key=repr)
        assert found == sorted(oracle.answer(pattern, rows), key=repr), query


def test_host_sql_and_explain(spark: SparkSession) -> None:
    rows = draw_many(random.Random("sqlts statement"))
    query = (
        "SELECT X.name, COUNT(*) AS n, MAX(COUNT(Y)) AS longest FROM quote CLUSTER BY name SEQUENCE BY date "
        "AS (X, *Y, Z) WHERE Y.price < Y.previous.price AND Z.price > Y.price AND X.name <> 'c3' "
        "AND X.price > (SELECT 1) GROUP BY X.name ORDER BY X.name"
    )
    expected = rex.sql(query, quote=as_table(rows)).to_pylist()
    frame = to_frame(spark, as_table(rows))
    assert [row["name"] for row in expected] == ["c0", "c1", "c2"]
    assert arrow_rows(rex.sql(query, quote=frame)).to_pylist() == expected
    assert WITH_MATCH_RECOGNIZE in str(rex.explain(query, quote=frame))
    pattern = "FROM quote CLUSTER BY name SEQUENCE BY date AS (X, Y)"
    twice = f"SELECT DISTINCT X.name, Y.date, X.date {pattern} ORDER BY X.name"
    assert rex.sql(twice, quote=frame).columns == ["name", "date", "date"]
