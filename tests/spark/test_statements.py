"""Statements that do something with matches: each works, or says why not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.spark.sample import QUERY, TICKS, V_SHAPES, rows
from tests.spark.sessions_kept import EVENTS

import sparkrex as rex
from sparkrex.errors import RexError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture
def shapes(spark: SparkSession) -> Iterator[SparkSession]:
    """A session without the tables and views that these tests make."""
    yield spark
    spark.sql("DROP TABLE IF EXISTS shapes")
    for name in ("shown", "shown_too"):
        spark.catalog.dropTempView(name)
    spark.catalog.dropGlobalTempView("shown")


@pytest.mark.parametrize("head", [
    "CREATE OR REPLACE TEMP VIEW shown AS", "CREATE TEMPORARY VIEW shown AS", "create temp view shown as",
    "CREATE OR REPLACE TEMP VIEW shown (sym, began, low, ended) AS",
    "CREATE TEMP VIEW shown AS WITH u AS (SELECT * FROM ticks)", "CREATE TEMP VIEW shown AS\n(", ])
def test_temporary_views(head: str, shapes: SparkSession, ticks: DataFrame) -> None:
    text = f"{head} {QUERY}{')' if head.endswith('(') else ''}"
    assert rex.sql(text, ticks=ticks).collect() == []
    assert rows(shapes.table("shown")) == V_SHAPES
    assert shapes.table("shown").columns == ["sym", "began", "low", "ended"]


def test_temporary_views_of_events_of_dataframes_and_of_every_session(shapes: SparkSession, ticks: DataFrame) -> None:
    rex.sql(f"CREATE TEMP VIEW shown AS SELECT * FROM ticks MATCH_EVENTS (TIME ts {EVENTS})", ticks=ticks)
    assert shapes.table("shown").count() > 0
    rex.sql("CREATE TEMP VIEW shown_too AS SELECT * FROM ticks", ticks=ticks)
    assert shapes.table("shown_too").count() == 10
    rex.sql(f"CREATE OR REPLACE GLOBAL TEMP VIEW shown AS {QUERY}", ticks=ticks)
    assert rows(shapes.table("global_temp.shown")) == V_SHAPES
    with pytest.raises(Exception, match="already exists"):
        rex.sql(f"CREATE TEMP VIEW shown AS {QUERY}", ticks=ticks)


def test_tables(shapes: SparkSession, ticks: DataFrame) -> None:
    rex.sql(f"CREATE TABLE shapes USING parquet AS {QUERY}", ticks=ticks)
    assert rows(shapes.table("shapes")) == V_SHAPES
    for text in (
        f"INSERT INTO shapes {QUERY}",
        f"INSERT INTO shapes (sym, began, low, ended) {QUERY}",
        f"INSERT INTO shapes WITH u AS (SELECT * FROM ticks) {QUERY.replace('ticks', 'u')}",
        f"WITH u AS ({QUERY}) INSERT INTO shapes SELECT * FROM u",
    ):
        before = shapes.table("shapes").count()
        rex.sql(text, ticks=ticks)
        assert shapes.table("shapes").count() == before + 2, text
    rex.sql(f"INSERT OVERWRITE TABLE shapes {QUERY}", ticks=ticks)
    assert rows(shapes.table("shapes")) == V_SHAPES
    assert "MapInArrow" in str(rex.explain(f"INSERT INTO shapes {QUERY}", ticks=ticks))
    assert rows(shapes.table("shapes")) == V_SHAPES
    rex.sql(f"INSERT INTO shapes {QUERY}", ticks=ticks, dialect="databricks")
    assert shapes.table("shapes").count() == 4


REFUSED = [
    f"CREATE VIEW v AS {QUERY}", f"CREATE OR REPLACE VIEW v AS {QUERY}",
    f"MERGE INTO shapes USING ({QUERY}) m ON shapes.sym = m.sym WHEN MATCHED THEN DELETE",
    f"DELETE FROM shapes WHERE sym IN (SELECT sym FROM ({QUERY}))", f"CACHE TABLE c AS {QUERY}",
    f"WITH u AS ({QUERY}) DELETE FROM shapes WHERE sym IN (SELECT sym FROM u)",
]


@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_be_done(text: str, ticks: DataFrame) -> None:
    with pytest.raises(RexError) as caught:
        rex.sql(text, ticks=ticks)
    assert caught.value.code == "REX303", str(caught.value)
    assert caught.value.hint


@pytest.mark.parametrize("text", [
    *REFUSED[:4], f"CREATE TEMP VIEW v AS {QUERY}", f"CREATE TABLE v AS {QUERY}", f"INSERT INTO v {QUERY}",
    "CREATE TABLE v AS SELECT 1 AS x", f"WITH u AS ({QUERY}) INSERT INTO v SELECT * FROM u", ])
@pytest.mark.parametrize("dialect", ["spark", "duckdb"])
def test_in_memory_nothing_would_keep_the_result(text: str, dialect: str) -> None:
    with pytest.raises(RexError) as caught:
        rex.sql(text, ticks=TICKS, dialect=dialect)
    assert caught.value.code == "REX303", str(caught.value)


@pytest.mark.parametrize("dialect", ["spark", "duckdb"])
def test_one_statement(dialect: str, ticks: DataFrame) -> None:
    for table in (ticks, TICKS):
        with pytest.raises(RexError, match="one statement") as caught:
            rex.sql(f"{QUERY}; SELECT 1", ticks=table, dialect=dialect)
        assert caught.value.code == "REX101"


@pytest.mark.parametrize("text", [f"EXPLAIN {QUERY}", f"EXPLAIN FORMATTED {QUERY}", f"DESCRIBE {QUERY}"])
def test_explain_has_a_function_of_its_own(text: str, ticks: DataFrame) -> None:
    for table in (ticks, TICKS):
        with pytest.raises(RexError, match="explain") as caught:
            rex.sql(text, ticks=table)
        assert caught.value.code == "REX303", str(caught.value)
