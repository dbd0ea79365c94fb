"""The Spark tests of `make test`: the pipeline end to end, against the same query in memory."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.spark.sample import arrow_rows

import sparkrex as rex
from sparkrex.spark.versions import to_frame

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

_QUERY = """
    SELECT * FROM ticks MATCH_RECOGNIZE (
      PARTITION BY symbol ORDER BY ts
      MEASURES FIRST(DOWN.ts) AS fell_at, COALESCE(PREV(LAST(UP.price), 2), 0) + 1 AS before, MIN(DOWN.price) AS low,
               AVG(UP.price) AS mean, ARRAY_AGG(CLASSIFIER()) AS labels, UPPER(LAST(name)) AS upper_name,
               MATCH_NUMBER() AS n
      {rows}
      PATTERN (STRT DOWN+ UP+)
      DEFINE DOWN AS price < COALESCE(PREV(price), 1),
             UP AS price > PREV(price) AND LOWER(name) <> 'n3' AND UP.price < MAX(DOWN.price) * 10)"""


def _ticks() -> pa.Table:
    rng = np.random.default_rng(20)
    n_rows = 3_000
    return pa.table(
        {
            "symbol": rng.integers(0, 12, n_rows),
            "ts": rng.permutation(n_rows),
            "price": np.round(rng.random(n_rows) * 100, 1),
            "name": [f"n{number % 7}" for number in range(n_rows)],
        }
    )


def _sorted(rows: list[dict[str, Any]]) -> list[str]:
    return sorted(map(str, rows))


@pytest.mark.parametrize("rows", ["ONE ROW PER MATCH", "ALL ROWS PER MATCH WITH UNMATCHED ROWS"])
def test_spark_gives_what_memory_gives(spark: SparkSession, rows: str) -> None:
    ticks = _ticks()
    query = _QUERY.format(rows=rows)
    expected = _sorted(rex.sql(query, ticks=ticks).to_pylist())
    frame = to_frame(spark, ticks)
    assert len(expected) > 300
    assert _sorted(arrow_rows(rex.sql(query, ticks=frame)).to_pylist()) == expected
    assert _sorted(arrow_rows(rex.sql(query, ticks=frame, settings={"sort_memory": 1})).to_pylist()) == expected


def test_one_exchange(spark: SparkSession) -> None:
    frame = to_frame(spark, _ticks())
    text = str(rex.explain(_QUERY.format(rows=""), ticks=frame))
    assert text.count("Exchange ") == 1
    assert "MapInArrow" in text


def test_explain_analyze_counts_what_the_query_gives(spark: SparkSession) -> None:
    ticks = _ticks()
    frame = to_frame(spark, ticks)
    n_rows = rex.sql(_QUERY.format(rows=""), ticks=ticks).num_rows
    largest = int(np.bincount(ticks["symbol"]).max())
    for settings in ({}, {"sort_memory": 1, "chunk_rows": 100}):
        text = str(rex.explain(_QUERY.format(rows=""), ticks=frame, analyze=True, settings=settings))
        assert f"{n_rows:,} rows given" in text
        assert f"largest partition {largest:,} rows of 3,000" in text
        for line in ("receive: [^\n]* waiting for Spark, 3,000 rows", "order: [^\n]*, 3,000 rows, 12 partitions",
                     f"match: [^\n]*, {n_rows:,} matches", f"measures: [^\n]*, {n_rows:,} rows"):
            assert re.search(f"├─ {line}\n|└─ {line}\n", text), text


def test_explain_analyze_of_files(spark: SparkSession, tmp_path: Path) -> None:
    ticks = _ticks()
    for part in range(3):
        pq.write_table(ticks.slice(1000 * part, 1000), tmp_path / f"{part}.parquet", row_group_size=500)
    query = """SELECT n FROM (SELECT * FROM ticks WHERE price > 50) MATCH_RECOGNIZE (
      PARTITION BY symbol ORDER BY ts MEASURES count(*) AS n PATTERN (A B+) DEFINE B AS price > PREV(price))"""
    n_rows = rex.sql(query, ticks=ticks).num_rows
    n_kept = sum(price > 50 for price in ticks["price"].to_pylist())
    text = str(rex.explain(query, ticks=str(tmp_path), spark=spark, analyze=True))
    reading, matching = text.split("\nWorkers ")[1:]
    assert "read: " in reading
    assert ", 3,000 rows" in reading
    assert re.search(f"filter and project: [^\n]*, {n_kept:,} rows", reading), text
    assert f"{n_rows:,} rows given" in matching
    assert f" waiting for Spark, {n_kept:,} rows" in matching
    assert "Advice" not in text


def test_events_as_in_memory(spark: SparkSession) -> None:
    ticks = _ticks()
    query = """PATTERN SEQ(Tick+ a[], Tick b) WHERE skip_till_next_match(a[], b) {
          [symbol] AND a[1].price > 95 AND a[i].price > avg(a[..i-1].price) AND b.price < 20% * a[a.LEN].price }
        WITHIN 200 RETURN a[1].ts AS began, count(a[]) AS n, upper(b.name) AS name"""
    expected = _sorted(rex.events(query, ticks, time="ts").to_pylist())
    assert len(expected) > 50
    assert _sorted(arrow_rows(rex.events(query, to_frame(spark, ticks), time="ts")).to_pylist()) == expected


def test_events_with_types_and_an_equivalence_test(spark: SparkSession) -> None:
    ticks = _ticks()
    query = "PATTERN SEQ(n1 a, n2 b) WHERE skip_till_any_match(a, b) { [symbol] } WITHIN 99 RETURN a.ts AS t, b.ts AS u"
    expected = _sorted(rex.events(query, ticks, time="ts", type="name").to_pylist())
    assert len(expected) > 50
    found = rex.events(query, to_frame(spark, ticks), time="ts", type="name")
    assert _sorted(arrow_rows(found).to_pylist()) == expected


@pytest.mark.parametrize("group", ["symbol", "name"])
def test_trends_as_in_memory(spark: SparkSession, group: str) -> None:
    """The symbols of a name are merged, in a second step."""
    ticks = _ticks()
    query = f"""RETURN {group}, COUNT(*) AS n, SUM(B.price) AS total, MIN(A.ts) AS first PATTERN SEQ(Low A, High B+)
        SEMANTICS skip-till-any-match WHERE [symbol] GROUP-BY {group} WITHIN 400 SLIDE 200"""
    types = {"Low": "price < 30", "High": "price > 50"}
    expected = _sorted(rex.trends(query, ticks, time="ts", types=types).to_pylist())
    assert len(expected) > 50
    found = rex.trends(query, to_frame(spark, ticks), time="ts", types=types)
    assert _sorted(arrow_rows(found).to_pylist()) == expected


def test_segments_as_in_memory(spark: SparkSession) -> None:
    ticks = _ticks()
    query = """SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY symbol ORDER BY ts
        MEASURES START_INDEX() AS s, avg(R.price) AS p
        PATTERN (R & ~(W F W)) DEFINE SEGMENT W AS true, SEGMENT R AS window(3, 6) AND last(price) - first(price) > 40,
        SEGMENT F AS last(price) - first(price) < -30)"""
    expected = _sorted(rex.sql(query, ticks=ticks).to_pylist())
    assert len(expected) > 50
    assert _sorted(arrow_rows(rex.sql(query, ticks=to_frame(spark, ticks))).to_pylist()) == expected
