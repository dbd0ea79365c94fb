"""The same package on Spark Connect. Run by `test_connect.py` in a process without a classic session:

    python -m pytest tests/spark/connect_checks.py

The fixture `spark` of this file is a client of a Connect server that it starts.
"""

from __future__ import annotations

import logging
import os
import sys
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812  as everybody writes it
from tests.golden import case_files, read
from tests.spark import sessions_kept
from tests.spark.sample import QUERY, TICKS, V_SHAPE, V_SHAPES, plan, rows
from tests.spark.test_cases import check, representatives

import sparkrex as rex
from sparkrex.errors import RexError
from sparkrex.modes.segments.aggregates.registry import forget

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from tests.golden import Case

_N_CASES = 20


@pytest.fixture(scope="session")
def spark(java: str) -> Iterator[SparkSession]:
    """A Connect session."""
    del java
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    # Settings of the server: a client may not change them. SPARK_TESTING: on a port that is free, not on 15002.
    quiet = {"spark.log.level": "OFF", "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}
    options = " ".join(f"--conf {name}={value}" for name, value in quiet.items())
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"{options} pyspark-shell"
    os.environ["SPARK_TESTING"] = "1"
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    session = (
        SparkSession.builder.remote("local[2]")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .getOrCreate()
    )
    assert type(session).__module__.startswith("pyspark.sql.connect")
    yield session
    session.stop()


def _cases() -> list[Case]:
    """Cases that between them have the most tags: answers mostly, and the errors that a job finds."""
    cases = [case for case in map(read, case_files()) if case.no_spark_because is None]
    answers = [case for case in cases if case.error is None]
    errors = [case for case in cases if case.error is not None and case.error.code in ("REX201", "REX401", "REX404")]
    chosen = {*representatives(answers, _N_CASES - 4)[: _N_CASES - 4], *representatives(errors, 4)[:4]}
    return [case for case in cases if case.name in chosen]


@pytest.mark.parametrize("case", _cases(), ids=lambda case: case.name)
@pytest.mark.filterwarnings("ignore:MATCH_RECOGNIZE without PARTITION BY")
@pytest.mark.filterwarnings("ignore:trend query without partitions")
@pytest.mark.filterwarnings("ignore:event query without partitions")
def test_case(case: Case, spark: SparkSession) -> None:
    check(case, spark)


def test_results_compose(spark: SparkSession, ticks: DataFrame) -> None:
    found = ticks.transform(rex.match(V_SHAPE))
    assert found.columns == ["sym", "began", "low", "ended"]
    assert rows(found) == rows(rex.sql(QUERY, ticks=ticks)) == V_SHAPES
    assert rows(found.groupBy().agg(F.sum("low"))) == [(11,)]
    assert rows(found.join(ticks, ["sym"]).filter("price = low").select("sym", "note")) == [("a", "r"), ("b", "w")]


def test_tables_and_views_of_the_catalog(spark: SparkSession, ticks: DataFrame) -> None:
    ticks.createOrReplaceTempView("viewed_ticks")
    names = pa.table({"sym": ["a"], "name": ["Acme"]})
    query = f"SELECT name, low FROM viewed_ticks MATCH_RECOGNIZE ({V_SHAPE}) JOIN names USING (sym)"
    before = sorted(table.name for table in spark.catalog.listTables())
    assert rows(rex.sql(query, spark=spark, names=names)) == [("Acme", 7)]
    assert sorted(table.name for table in spark.catalog.listTables()) == before
    spark.catalog.dropTempView("viewed_ticks")


def test_cached_and_written(spark: SparkSession, ticks: DataFrame, tmp_path: Path) -> None:
    found = rex.sql(QUERY, ticks=ticks).cache()
    found.write.parquet(str(tmp_path / "out"))
    assert rows(spark.read.parquet(str(tmp_path / "out"))) == rows(found) == V_SHAPES
    found.unpersist()


def test_one_exchange(ticks: DataFrame) -> None:
    assert plan(rex.sql(QUERY, ticks=ticks)).count("Exchange") == 1
    assert plan(rex.sql(QUERY, ticks=ticks.repartition("sym"))).count("Exchange") == 1
    assert "MapInArrow" in str(rex.explain(QUERY, ticks=ticks))


def test_explain_analyze(ticks: DataFrame) -> None:
    text = str(rex.explain(QUERY, ticks=ticks, analyze=True))
    assert "2 rows given" in text
    assert "waiting for Spark, 10 rows" in text
    assert "Advice: " in text


def test_registered_functions(spark: SparkSession, ticks: DataFrame) -> None:
    spark.udf.register("doubled", lambda value: None if value is None else value * 2, "bigint")
    query = """SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY sym ORDER BY ts
      MEASURES doubled(LAST(B.price)) AS d PATTERN (A B+) DEFINE B AS doubled(price) < PREV(doubled(price)))"""
    assert rows(rex.sql(query, ticks=ticks)) == [("a", 6), ("a", 14), ("b", 4), ("b", 8)]


def test_errors_arise_at_once_or_can_be_read(ticks: DataFrame) -> None:
    with pytest.raises(RexError) as caught:
        rex.sql(QUERY.replace("MIN(price)", "MIN(prize)"), ticks=ticks)
    assert caught.value.code == "REX201"
    with pytest.raises(RexError) as caught:
        rex.sql(QUERY.replace("MIN(price)", "frob(price)"), ticks=ticks)
    assert caught.value.code == "REX213"
    query = QUERY.replace("PATTERN", "AFTER MATCH SKIP TO STRT PATTERN")
    with pytest.raises(PySparkException, match="REX401") as job:
        rex.sql(query, ticks=ticks).collect()
    assert "AFTER MATCH SKIP TO STRT" in str(job.value)


def test_ordered_and_spilled_as_on_classic(spark: SparkSession) -> None:
    frame = spark.createDataFrame(
        pa.table({"id": range(60), "v": [float("nan"), -0.0, 0.0, None, float("inf"), 3.5] * 10, "g": [1, 2, 3] * 20})
    ).selectExpr("*", "struct(v, id % 2 AS w) AS s")
    for order in ("v DESC NULLS LAST, id", "s, id DESC"):
        expected = rows(frame.selectExpr("id", f"CAST(row_number() OVER (PARTITION BY g ORDER BY {order}) AS BIGINT)"))
        for settings in ({}, {"sort_memory": 1, "chunk_rows": 7}):
            ours = rex.sql(
                f"""SELECT id, n FROM t MATCH_RECOGNIZE (
                      PARTITION BY g ORDER BY {order} MEASURES COUNT(*) AS n ALL ROWS PER MATCH PATTERN (A+))""",
                t=frame, settings=settings,
            )
            assert rows(ours) == expected, (order, settings)


def test_segments(ticks: DataFrame) -> None:
    class spread:  # noqa: N801  as users write aggregates
        """The widest distance of two values."""

        def scan(self, x: Any) -> float:
            return float(x.max() - x.min())

    rex.aggregate(spread)
    try:
        search = rex.match("""PARTITION BY sym ORDER BY ts MEASURES START_INDEX() AS i, upper(last(S.note)) AS note
          PATTERN (S & ~(FALL W)) DEFINE SEGMENT S AS window(2, 3) AND spread(price) > 1,
          SEGMENT FALL AS window(2) AND last(price) < first(price), SEGMENT W AS true""")
        found = rows(ticks.transform(search))
        assert found == sorted(tuple(row.values()) for row in search(TICKS).to_pylist())
        assert found
        with pytest.raises(PySparkException, match="REX408"):
            ticks.transform(rex.match("PARTITION BY sym MEASURES first(ts) AS f PATTERN (S) DEFINE SEGMENT S AS true",
                                      settings={"max_segments": 3})).collect()
    finally:
        forget("spread")


def test_events(ticks: DataFrame) -> None:
    options: dict[str, Any] = {"time": "ts", "types": {"Up": "price > 5", "Low": "price <= 5 AND soundex(note) <> ''"}}
    chains = """PATTERN SEQ(Up a, Up+ b[]) WHERE skip_till_any_match(a, b[]) { [sym] AND b[i].price > b[i-1].price }
      RETURN upper(a.note) AS a, b[b.LEN].ts AS ended, count(b[]) AS n"""
    types = {"Up": "price > 5"}
    found = rex.events(chains, ticks, time="ts", types=types)
    assert rows(found) == sorted(tuple(row.values()) for row in rex.events(
        chains, TICKS, time="ts", types=types).to_pylist()) != []
    falls = "PATTERN SEQ(Up a, Low b) WHERE skip_till_next_match(a, b) { [sym] } RETURN EVENTS"
    events = rex.events(falls, ticks, **options)
    assert events.columns == ["match_id", "variable", *ticks.columns]
    assert rows(events.groupBy("variable").count()) == [("a", 6), ("b", 6)]
    assert events.select("sym", "match_id").distinct().count() == 6
    text = str(rex.explain(rex.events(falls, **options), ticks))
    assert "state 1: a selected" in text
    assert text.count("Exchange") == 1
    with pytest.raises(PySparkException, match="REX409") as job:
        rex.events(falls, ticks.union(ticks), **options).collect()
    assert "in partition sym = " in str(job.value)


def test_trends(ticks: DataFrame) -> None:
    types = {"Up": "price > 5 AND soundex(note) <> ''", "Low": "price <= 5"}
    query = """RETURN sym, COUNT(*) AS n, MAX(Low.price) AS top PATTERN SEQ(Up+, Low) SEMANTICS skip-till-any-match
      WHERE {} GROUP-BY sym"""
    for attributes in ("[sym]", "[sym, late]"):
        frame = ticks.selectExpr("*", "sym > 'a' AND ts > 2 AS late")
        found = rex.trends(query.format(attributes), frame, time="ts", types=types)
        assert dict(found.dtypes)["n"] == "decimal(38,0)"
        assert [row[2:] for row in rows(found)] == [("a", 31, 3), ("b", 1, 2)]
        assert plan(found).count("Exchange") == (1 if attributes == "[sym]" else 2)


def test_streams_are_refused(spark: SparkSession, ticks: DataFrame, tmp_path: Path) -> None:
    sessions_kept.refuse_streams(spark, ticks, tmp_path)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_streams_are_refused_by_the_table_function(spark: SparkSession, ticks: DataFrame, tmp_path: Path) -> None:
    sessions_kept.refuse_a_stream_in_the_table_function(spark, ticks, tmp_path)


def test_what_is_cached_stays_cached(spark: SparkSession, ticks: DataFrame) -> None:
    sessions_kept.keep_caches(spark, ticks)


def test_the_sample_is_what_the_other_tests_use(ticks: DataFrame) -> None:
    assert ticks.toArrow().equals(TICKS)


def test_a_stream_needs_a_classic_session(spark: SparkSession) -> None:
    stream = spark.readStream.format("rate").load().withWatermark("timestamp", "1 second")
    with pytest.raises(rex.UnsupportedError, match="needs a classic session") as raised:
        rex.sql("SELECT * FROM t MATCH_RECOGNIZE (ORDER BY timestamp PATTERN (A B))", t=stream)
    assert raised.value.code == "REX301"
    assert raised.value.hint
