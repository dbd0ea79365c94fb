"""Differences in named units on Spark: what Spark projects, and what workers compute over two rows."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import product
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


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["spark", "snowflake"])
def test_times_are_those_of_clocks_in_the_session(dialect: str, spark: SparkSession) -> None:
    """Over the days on which clocks are changed Spark's own value over one row is the workers' over two."""
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        hours = [datetime(2024, 3, 9, 22) + timedelta(hours=n) for n in range(10)]
        hours += [datetime(2024, 11, 2, 22, 30) + timedelta(hours=n) for n in range(10)]
        rows = [(key, n, start, end) for key, (start, end) in enumerate(product(hours, hours)) for n in (0, 1)]
        table = spark.createDataFrame(rows, "k int, n int, s timestamp_ntz, e timestamp_ntz").selectExpr(
            "k", "n", "CAST(s AS timestamp) AS s", "CAST(e AS timestamp) AS e"
        ).coalesce(1)
        measures = [
            f"{DIFFERENCES[dialect].format(unit=unit, start=start, end='LAST(B.e)')} AS {name}_{unit}"
            for unit in UNITS for name, start in (("one", "LAST(B.s)"), ("two", "FIRST(A.s)"))
        ]
        tested = DIFFERENCES[dialect].format(unit="hour", start="A.s", end="e")
        query = f"""SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY n MEASURES {', '.join(measures)},
            CLASSIFIER() AS c PATTERN (A (B | C)) DEFINE B AS {tested} = 1)"""
        found = rex.sql(query, t=table, dialect=dialect).collect()
        assert len(found) == len(hours) ** 2
        for row in found:
            for unit in UNITS:
                assert row[f"one_{unit}"] == row[f"two_{unit}"], (row, unit)
            assert (row["c"] == "B") == (row["one_hour"] == 1), row
    finally:
        spark.conf.set("spark.sql.session.timeZone", str(before))


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
