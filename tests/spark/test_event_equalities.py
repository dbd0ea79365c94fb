"""Equalities between variables on Spark: events are spread by the key, and the answer is the one in memory."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from tests.spark.sample import plan

import sparkrex as rex

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NAN = float("nan")
N_ROWS = 600
OPTIONS: dict[str, Any] = {"time": "ts", "type": "kind", "tie_break": "id"}


def _stream(seed: int = 3) -> pa.Table:
    random = np.random.default_rng(seed)
    rows = np.arange(N_ROWS)
    return pa.table(
        {
            "ts": rows // 2, "id": rows, "kind": random.choice(list("ABCX"), N_ROWS),
            "k": random.choice(["p", "q"], N_ROWS),
            "x": pa.array([None if x == 9 else int(x) for x in random.integers(0, 10, N_ROWS)]),
            "y": pa.array([[0.0, -0.0, NAN, None, 1.5, 2.5][i] for i in random.integers(0, 6, N_ROWS)]),
            "s": pa.array([["u", "U", None, "w"][i] for i in random.integers(0, 4, N_ROWS)]),
        }
    ).take(pa.array(random.permutation(N_ROWS)))


STREAM = _stream()


@pytest.fixture
def stream(spark: SparkSession) -> DataFrame:
    """The stream as a DataFrame of several partitions."""
    return spark.createDataFrame(STREAM).repartition(3)


def _rows(result: Any) -> list[tuple[Any, ...]]:
    rows = (row.values() for row in result.to_pylist()) if isinstance(result, pa.Table) else result.collect()
    return sorted((tuple(row) for row in rows), key=repr)


def _asked(query: str, stream: DataFrame, **options: Any) -> list[tuple[Any, ...]]:
    """The answer of Spark, which is that in memory, without a warning that all goes through one task."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = _rows(rex.events(query, stream, **OPTIONS, **options))
    assert found == _rows(rex.events(query, STREAM, **OPTIONS))
    assert found
    return found


@pytest.mark.parametrize("key", ["x", "y", "s", "x + 1"])
@pytest.mark.parametrize("strategy", ["skip_till_next_match", "skip_till_any_match"])
def test_answers(key: str, strategy: str, stream: DataFrame) -> None:
    def of(variable: str) -> str:
        return " + ".join([f"{variable}.{key.split()[0]}", *key.split()[2:]])

    query = f"""PATTERN SEQ(A a, ~(X n), B? b, C c) WHERE {strategy}(a, n, b, c) {{
          {of("b")} = {of("a")} AND {of("c")} = {of("a")} AND {of("n")} = {of("a")} AND n.id > 3 }}
        WITHIN 12 RETURN a.id AS a, b.id AS b, c.id AS c"""
    for settings in ({}, {"sort_memory": 1, "chunk_rows": 17}):
        _asked(query, stream, settings=settings)


def test_events_without_a_value_are_neither_dropped_nor_gathered(stream: DataFrame, spark: SparkSession) -> None:
    """An alert of no site is never answered. Such rows are in many tasks."""
    query = """PATTERN SEQ(A a, ~(B b)) WHERE skip_till_any_match(a, b) { b.x = a.x } WITHIN 30
        RETURN a.id AS a, a.x AS x"""
    assert (None,) in {row[1:] for row in _asked(query, stream)}
    # Spark would join partitions that are as small as these.
    setting = "spark.sql.adaptive.coalescePartitions.enabled"
    spark.conf.set(setting, "false")
    try:
        query = "PATTERN SEQ(A a, B? b) WHERE skip_till_any_match(a, b) { b.x = a.x } RETURN a.x AS x"
        shown = rex.events(query, stream, **OPTIONS)
        tasks = {row[0] for row in shown.filter("x IS NULL").selectExpr("spark_partition_id()").collect()}
    finally:
        spark.conf.unset(setting)
    assert len(tasks) > 1


@pytest.mark.filterwarnings("ignore:event query without partitions")
def test_matches_are_numbered_as_in_memory(stream: DataFrame) -> None:
    """So that a partition of the query, here the whole stream, must be in one task."""
    query = "PATTERN SEQ(A a, B? b) WHERE skip_till_any_match(a, b) { b.x = a.x } WITHIN 9"
    shown = rex.events(query, stream, **OPTIONS)
    assert repr(_rows(shown)) == repr(_rows(rex.events(query, STREAM, **OPTIONS)))
    assert "x: match_id numbers the matches of a partition" in str(rex.explain(rex.events(query, **OPTIONS), stream))


def test_the_plan_has_one_exchange_by_the_key(stream: DataFrame) -> None:
    query = "PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) { a.x = b.x } RETURN a.id AS a"
    text = plan(rex.events(query, stream, **OPTIONS))
    assert text.count("hashpartitioning(") == 1
    assert "SinglePartition" not in text
    explained = str(rex.explain(rex.events(query, **OPTIONS), stream))
    assert "partition by equalities: a.x = b.x" in explained
    assert explained.startswith(str(rex.explain(rex.events(query, **OPTIONS), STREAM)))


def test_collated_strings_and_nested_types_decline(stream: DataFrame) -> None:
    from pyspark.sql import functions

    query = "PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) { a.c = b.c } RETURN a.id AS a, b.id AS b"
    collated = stream.withColumn("c", functions.expr("collate(s, 'UTF8_LCASE')"))
    with pytest.warns(UserWarning, match="one task"):
        assert "no partition by equalities: c: its type" in str(rex.explain(rex.events(query, **OPTIONS), collated))


def test_ties_with_columns_that_spark_orders(stream: DataFrame) -> None:
    """Spark numbers the rows then, by the keys of equalities too."""
    from pyspark.sql import functions

    query = "PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) { a.x = b.x } WITHIN 5 RETURN a.id AS a, b.id AS b"
    listed = stream.withColumn("order", functions.array("id"))
    found = _rows(rex.events(query, listed, time="ts", type="kind", tie_break="order"))
    assert found == _rows(rex.events(query, STREAM, **OPTIONS))
