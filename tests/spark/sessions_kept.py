"""Checks that hold on classic and Connect sessions alike: streams, and what is cached stays cached."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import pytest
from tests.spark.sample import QUERY, V_SHAPE, V_SHAPES, plan, rows

import sparkrex as rex
from sparkrex.errors import RexError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

EVENTS = "PATTERN SEQ(Tick a, Tick b) WHERE skip_till_next_match(a, b) { [sym] AND a.price > b.price } RETURN a.ts AS t"


def refuse_streams(spark: SparkSession, ticks: DataFrame, folder: Path) -> None:
    """Every way in is asked with a streaming DataFrame that has no watermark, and a view over one."""
    ticks.write.parquet(str(folder / "ticks"))
    stream = spark.readStream.schema(ticks.schema).parquet(str(folder / "ticks"))
    stream.createOrReplaceTempView("streamed")
    stream.filter("price > 0").createOrReplaceTempView("streamed_on")
    given = QUERY
    seen = QUERY.replace("ticks", "streamed")
    ways: dict[str, Callable[[], Any]] = {
        "sql": lambda: rex.sql(given, ticks=stream),
        "tables": lambda: rex.sql(given, {"ticks": stream}),
        "match": lambda: rex.match(V_SHAPE)(stream),
        "transform": lambda: stream.transform(rex.match(V_SHAPE)),
        "events": lambda: rex.events(EVENTS, stream, time="ts"),
        "compiled": lambda: rex.compile(given)(ticks=stream),
        "explain": lambda: rex.explain(given, ticks=stream),
        "explain_events": lambda: rex.explain(rex.events(EVENTS, time="ts"), stream),
        "explained": lambda: rex.compile(given).explain(ticks=stream),
        "view": lambda: rex.sql(seen, spark=spark),
        "view over a view": lambda: rex.sql(QUERY.replace("ticks", "streamed_on"), spark=spark),
        "view compiled": lambda: rex.compile(seen)(spark=spark),
        "view explained": lambda: rex.explain(seen, spark=spark),
        "view in a subquery": lambda: rex.sql(QUERY.replace("ticks", "(SELECT * FROM streamed)"), spark=spark),
        "view in WITH": lambda: rex.sql("WITH ticks AS (SELECT * FROM streamed) " + QUERY, spark=spark),
        "view in events": lambda: rex.sql(f"SELECT * FROM streamed MATCH_EVENTS (TIME ts {EVENTS})", spark=spark),
    }
    wrong = {}
    for name, way in ways.items():
        try:
            way()
        except RexError as error:
            if error.code != "REX230":
                wrong[name] = str(error)
        else:
            wrong[name] = "accepted"
    ordinary = {
        "no pattern": rex.sql("SELECT * FROM ticks", ticks=stream),
        "beside the pattern": rex.sql(f"{QUERY} JOIN streamed USING (sym)", ticks=ticks),
        "view, no pattern": rex.sql("SELECT * FROM streamed", spark=spark),
    }
    wrong |= {name: "not a stream" for name, frame in ordinary.items() if not frame.isStreaming}
    spark.catalog.dropTempView("streamed")
    spark.catalog.dropTempView("streamed_on")
    assert wrong == {}, wrong


def keep_caches(spark: SparkSession, ticks: DataFrame) -> None:
    """What is cached is read from the cache, and has its storage level after the query, the result and its end."""
    ticks = ticks.filter("price > 0")
    joined = f"{QUERY} JOIN (SELECT sym, count(*) AS n FROM ticks GROUP BY sym) USING (sym)"

    def ask(text: str, name: str, **given: Any) -> Any:
        return rex.sql(text.replace("FROM ticks", f"FROM {name}"), spark=spark, **given)

    # A DataFrame, under a name of its own so that it is not an alias of another.
    frame = ticks.selectExpr("*", "price * 2 AS twice").cache()
    assert frame.count() == 10
    level = str(frame.storageLevel)
    try:
        calls: list[Callable[[], DataFrame]] = [
            lambda: rex.sql(QUERY, ticks=frame), lambda: frame.transform(rex.match(V_SHAPE)),
            lambda: rex.events(EVENTS, frame, time="ts"), lambda: rex.sql(joined, ticks=frame),
            lambda: rex.sql("SELECT * FROM ticks", ticks=frame), lambda: rex.sql(QUERY, ticks=frame.select("*")),
        ]
        for found in calls:
            result = found()
            assert "InMemoryRelation" in plan(result)
            assert result.count() > 0
            assert str(frame.storageLevel) == level
            del result
            gc.collect()
            assert str(frame.storageLevel) == level
            assert "InMemoryRelation" in plan(frame.select("twice"))
        assert "InMemoryRelation" in str(rex.explain(QUERY, ticks=frame))
        assert str(frame.storageLevel) == level
        # A result that is cached stays so when the query is asked again of the same rows.
        copied = rex.sql("SELECT * FROM ticks", ticks=frame).cache()
        assert copied.count() == 10
        rex.sql("SELECT * FROM ticks", ticks=frame).count()
        assert rows(rex.sql(QUERY, ticks=copied)) == V_SHAPES
        assert str(copied.storageLevel) == str(frame.storageLevel) == level
        copied.unpersist()
    finally:
        frame.unpersist()

    ticks.selectExpr("*", "price * 3 AS thrice").createOrReplaceTempView("kept_view")
    ticks.write.saveAsTable("kept_table")
    try:
        for name in ("kept_view", "kept_table"):
            spark.catalog.cacheTable(name)
            spark.table(name).count()
            for text in (QUERY, joined):
                result = ask(text, name)
                assert "InMemoryRelation" in plan(result), name
                assert rows(result.select("sym", "began", "low", "ended")) == V_SHAPES
                del result
                gc.collect()
                assert spark.catalog.isCached(name), name
            rex.explain(QUERY.replace("ticks", name), spark=spark)
            assert spark.catalog.isCached(name), name
            spark.catalog.uncacheTable(name)
    finally:
        spark.catalog.dropTempView("kept_view")
        spark.sql("DROP TABLE kept_table")


def refuse_a_stream_in_the_table_function(spark: SparkSession, ticks: DataFrame, folder: Path) -> None:
    """With and without PARTITION BY the query fails when it is started, before a micro-batch."""
    ticks.write.parquet(str(folder / "streamed"))
    stream = spark.readStream.schema(ticks.schema).parquet(str(folder / "streamed"))
    stream.createOrReplaceTempView("streamed")
    rex.register_table_function(spark)
    try:
        for clause in (V_SHAPE, V_SHAPE.replace("PARTITION BY sym", ""), "MEASURES COUNT(*) AS n PATTERN (A+)"):
            text = f"SELECT * FROM match_recognize(TABLE(streamed), '{clause}')"
            writer = spark.sql(text).writeStream.format("memory").queryName("nothing").trigger(availableNow=True)
            with pytest.raises(Exception, match="not supported on streaming"):
                writer.start().awaitTermination(60)
            assert spark.sql(text.replace("streamed", "parquet.`" + str(folder / "streamed") + "`")).count() >= 1
    finally:
        spark.catalog.dropTempView("streamed")
