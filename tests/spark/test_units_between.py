"""Differences in named units on Spark: what Spark projects, and what workers compute over two rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.scalar.units_between import COUNTS, DIFFERENCES, UNITS, expected, pairs

import sparkrex as rex

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


_SLOW = [pytest.param(dialect, marks=pytest.mark.slow) for dialect in ("spark", "trino")]


@pytest.mark.parametrize("dialect", ["snowflake", *_SLOW])
def test_differences_are_those_of_the_definition(dialect: str, spark: SparkSession) -> None:
    assert set(COUNTS) == {"spark", "trino", "snowflake"}
    given = pairs(200)
    rows = [(key, n, start, end) for key, (start, end) in enumerate(given) for n in (0, 1)]
    table = spark.createDataFrame(rows, "k int, n int, s timestamp, e timestamp").coalesce(1)
    measures = [
        f"{DIFFERENCES[dialect].format(unit=unit, start=start, end='LAST(B.e)')} AS {name}_{unit}"
        for unit in UNITS for name, start in (("one", "LAST(B.s)"), ("two", "FIRST(A.s)"))
    ]
    query = f"""SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY n MEASURES {', '.join(measures)}
        PATTERN (A B) DEFINE B AS n = 1 AND {DIFFERENCES[dialect].format(unit='day', start='s', end='e')} < 9999)"""
    found = sorted(rex.sql(query, t=table, dialect=dialect).collect())
    for row, (start, end) in zip(found, given, strict=True):
        numbers = expected(dialect, start, end)
        assert {unit: row[f"one_{unit}"] for unit in UNITS} == numbers, (start, end)
        assert {unit: row[f"two_{unit}"] for unit in UNITS} == numbers, (start, end)


@pytest.mark.parametrize("cast", ["cast(A.s || s AS int)", "cast(A.s || s AS double)", "cast(A.s || s AS date)"])
def test_a_cast_that_workers_do_not_know_is_refused(cast: str, spark: SparkSession) -> None:
    before = spark.conf.get("spark.sql.ansi.enabled")
    spark.conf.set("spark.sql.ansi.enabled", "false")
    try:
        table = spark.createDataFrame([(1, 1, "1"), (1, 2, "2")], "g int, id int, s string")
        query = f"SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY g ORDER BY id PATTERN (A B) DEFINE B AS {cast} IS NULL)"
        with pytest.raises(rex.UnsupportedError, match="REX301"):
            rex.sql(query, t=table).collect()
    finally:
        spark.conf.set("spark.sql.ansi.enabled", str(before))
