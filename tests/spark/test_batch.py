"""What a user of Spark relies on: results are lazy DataFrames like any other, from any table, after one shuffle."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as F  # noqa: N812  as everybody writes it
from tests.spark.sample import QUERY, TICKS, V_SHAPE, V_SHAPES, plan, rows

import sparkrex as rex
from sparkrex.errors import RexError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession


# Lazy results


def test_no_job_runs_before_an_action(spark: SparkSession, ticks: DataFrame, jobs: Callable[[], int]) -> None:
    found = rex.sql(QUERY, ticks=ticks)
    assert found.columns == ["sym", "began", "low", "ended"]
    again = ticks.transform(rex.match(V_SHAPE)).filter("low > 5")
    mixed = rex.sql(f"{QUERY} JOIN names USING (sym)", ticks=ticks, names=pa.table({"sym": ["a"], "name": ["Acme"]}))
    assert (again.columns, len(mixed.columns)) == (["sym", "began", "low", "ended"], 5)
    rex.explain(QUERY, ticks=ticks)
    assert jobs() == 0
    assert rows(found) == V_SHAPES
    assert jobs() > 0


def test_the_clause_alone_is_a_transform(ticks: DataFrame) -> None:
    assert rows(ticks.transform(rex.match(V_SHAPE))) == V_SHAPES


def test_results_compose(spark: SparkSession, ticks: DataFrame) -> None:
    found = rex.sql(QUERY, ticks=ticks)
    assert rows(found.groupBy().agg(F.sum("low"), F.count("*"))) == [(11, 2)]
    assert rows(found.join(ticks, ["sym"]).filter("price = low").select("sym", "note")) == [("a", "r"), ("b", "w")]
    # A result is the input of the next query, in Spark's SQL and in ours.
    assert rows(spark.sql("SELECT max(ended) FROM {found}", found=found)) == [(5,)]
    runs = "SELECT n FROM found MATCH_RECOGNIZE (ORDER BY sym MEASURES COUNT(*) AS n PATTERN (A+))"
    with pytest.warns(UserWarning, match="without PARTITION BY"):
        assert rows(rex.sql(runs, found=found)) == [(2,)]


def test_statements_around_and_between_patterns(ticks: DataFrame) -> None:
    query = f"""
      WITH low AS (SELECT * FROM ticks MATCH_RECOGNIZE ({V_SHAPE})),
           cheap AS (SELECT sym, ts FROM ticks WHERE price < 5)
      SELECT low.sym, count(*) AS n FROM low JOIN cheap ON cheap.sym = low.sym GROUP BY low.sym HAVING count(*) > 1"""
    assert rows(rex.sql(query, ticks=ticks)) == [("b", 2)]


def test_results_are_cached(ticks: DataFrame, jobs: Callable[[], int]) -> None:
    found = rex.sql(QUERY, ticks=ticks).cache()
    try:
        assert jobs() == 0
        assert rows(found) == rows(found) == V_SHAPES
        assert "InMemoryTableScan" in plan(found.select("low"))
        assert found.storageLevel.useMemory
    finally:
        found.unpersist()


@pytest.mark.parametrize("kind", ["parquet", "json", "orc", "csv"])
def test_results_are_written(kind: str, spark: SparkSession, ticks: DataFrame, tmp_path: Path) -> None:
    found = rex.sql(QUERY, ticks=ticks)
    path = str(tmp_path / "out")
    found.write.format(kind).save(path)
    assert rows(spark.read.format(kind).schema(found.schema).load(path)) == V_SHAPES


def test_results_are_saved_as_a_table(spark: SparkSession, ticks: DataFrame) -> None:
    rex.sql(QUERY, ticks=ticks).write.saveAsTable("shapes")
    try:
        assert rows(spark.table("shapes")) == V_SHAPES
    finally:
        spark.sql("DROP TABLE shapes")


def test_a_compiled_query_runs_on_both_hosts(ticks: DataFrame) -> None:
    compiled = rex.compile(QUERY)
    assert rows(compiled(ticks=ticks)) == V_SHAPES
    assert [tuple(row.values()) for row in compiled(ticks=TICKS).to_pylist()] == V_SHAPES


def test_an_empty_input_gives_the_same_columns(ticks: DataFrame) -> None:
    empty = rex.sql(QUERY, ticks=ticks.filter("price > 100"))
    assert empty.schema == rex.sql(QUERY, ticks=ticks).schema
    assert rows(empty) == []


# Where tables come from


@pytest.mark.parametrize("form", ["pyarrow", "pandas", "polars"])
def test_a_small_table_is_shipped(form: str, ticks: DataFrame) -> None:
    names: Any = pa.table({"sym": ["a", "b"], "name": ["Acme", "Bolt"]})
    if form == "pandas":
        names = pd.DataFrame(names.to_pydict())
    elif form == "polars":
        names = pl.DataFrame(names.to_pydict())
    found = rex.sql(f"SELECT name, low FROM (SELECT * FROM ticks JOIN names USING (sym)) MATCH_RECOGNIZE ("
                    f"{V_SHAPE.replace('sym', 'name')})", ticks=ticks, names=names)
    assert rows(found) == [("Acme", 7), ("Bolt", 4)]


def test_only_small_tables_with_a_session(spark: SparkSession) -> None:
    assert rows(rex.sql(QUERY, ticks=TICKS, spark=spark)) == V_SHAPES


def test_a_path_is_read(spark: SparkSession, tmp_path: Path) -> None:
    pq.write_table(TICKS, tmp_path / "ticks.parquet")
    assert rows(rex.sql(QUERY, ticks=str(tmp_path / "ticks.parquet"), spark=spark)) == V_SHAPES


def test_tables_and_views_of_the_catalog(spark: SparkSession, ticks: DataFrame) -> None:
    ticks.write.saveAsTable("stored_ticks")
    ticks.createOrReplaceTempView("viewed_ticks")
    ticks.createOrReplaceGlobalTempView("global_ticks")
    try:
        stored = ("stored_ticks", "default.stored_ticks", "spark_catalog.default.stored_ticks")
        for name in (*stored, "viewed_ticks", "VIEWED_TICKS", "global_temp.global_ticks"):
            assert rows(rex.sql(QUERY.replace("ticks", name, 1), spark=spark)) == V_SHAPES, name
    finally:
        spark.sql("DROP TABLE stored_ticks")
        spark.catalog.dropTempView("viewed_ticks")
        spark.catalog.dropGlobalTempView("global_ticks")


def test_a_table_given_hides_one_of_the_catalog(spark: SparkSession, ticks: DataFrame) -> None:
    ticks.filter("false").createOrReplaceTempView("ticks")
    try:
        assert rows(rex.sql(QUERY, ticks=ticks)) == V_SHAPES
        assert rows(rex.sql(QUERY, spark=spark)) == []
    finally:
        spark.catalog.dropTempView("ticks")


def test_no_view_is_left_or_shadowed(spark: SparkSession, ticks: DataFrame) -> None:
    """Names that we use inside belong to the user outside."""
    mine = ["rex_in", "rex_out", "rex_input", "rex_0"]
    for name in mine:
        ticks.createOrReplaceTempView(name)
    before = sorted(table.name for table in spark.catalog.listTables())
    try:
        for name in mine:
            query = f"""SELECT * FROM {name} MATCH_RECOGNIZE ({V_SHAPE}) WHERE low < (SELECT max(price) FROM {name})"""
            assert rows(rex.sql(query, spark=spark)) == V_SHAPES, name
            # The matches of `ticks` while a DataFrame of our inner name stands beside it.
            beside = f"{QUERY} WHERE low IN (SELECT price FROM {name})"
            assert rows(rex.sql(beside, tables={"ticks": ticks, name: ticks.filter("price = 4")})) == V_SHAPES[1:], name
        assert sorted(table.name for table in spark.catalog.listTables()) == before
    finally:
        for name in mine:
            spark.catalog.dropTempView(name)


def test_column_names_of_every_kind(spark: SparkSession) -> None:
    odd = ["a b", "c.d", "e`f", "{g}", "m0", "rex_number", "k0", "select", "Ünï"]
    table = pa.table({"id": [1, 2], **{name: [number, number + 10] for number, name in enumerate(odd)}})
    quoted = [f"`{name.replace('`', '``')}`" for name in odd]
    query = f"""SELECT * FROM t MATCH_RECOGNIZE (
      PARTITION BY `{{g}}` ORDER BY id MEASURES {', '.join(f'LAST({q}) AS x{i}' for i, q in enumerate(quoted))}
      ALL ROWS PER MATCH PATTERN (A) DEFINE A AS `a b` + `c.d` + `e``f` >= 0)"""
    frame = rex.sql(query, t=spark.createDataFrame(table))
    assert sorted(frame.columns) == sorted(["id", *odd, *(f"x{i}" for i in range(len(odd)))])
    for row in frame.collect():
        assert [row[name] for name in odd] == [row[f"x{i}"] for i in range(len(odd))]


# One shuffle


def test_exactly_one_exchange(ticks: DataFrame) -> None:
    assert plan(rex.sql(QUERY, ticks=ticks)).count("Exchange") == 1


def test_rows_that_are_partitioned_by_the_key_are_not_shuffled_again(spark: SparkSession) -> None:
    ticks = spark.range(100).selectExpr("id % 3 AS sym", "id AS ts", "id % 7 AS price")
    expected = rows(rex.sql(QUERY, ticks=ticks))
    by_key = rex.sql(QUERY, ticks=ticks.repartition("sym"))
    assert plan(by_key).count("Exchange") == 1
    assert rows(by_key) == expected
    grouped = rex.sql(QUERY, ticks=ticks.groupBy("sym", "ts").agg(F.max("price").alias("price")).repartition("sym"))
    assert rows(grouped) == expected
    tops = ticks.groupBy("sym").agg(F.max("ts").alias("ts"), F.max("price").alias("price"))
    assert plan(rex.sql(QUERY, ticks=tops)).count("Exchange") == 1


def test_only_columns_that_the_query_uses_travel(spark: SparkSession, ticks: DataFrame, tmp_path: Path) -> None:
    ticks.write.parquet(str(tmp_path / "ticks"))
    found = rex.sql(QUERY, ticks=spark.read.parquet(str(tmp_path / "ticks")))
    (scan,) = (line for line in plan(found).splitlines() if "ReadSchema" in line)
    assert "note" not in scan
    assert "price" in scan


def test_no_partition_by_warns(ticks: DataFrame) -> None:
    clause = "ORDER BY sym, ts MEASURES COUNT(*) AS n PATTERN (A+)"
    with pytest.warns(UserWarning, match="without PARTITION BY") as caught:
        found = rex.sql(f"SELECT n FROM ticks MATCH_RECOGNIZE ({clause})", ticks=ticks)
    assert rows(found) == [(10,)]
    # The warning stands at the line of the caller.
    assert [warning.filename for warning in caught] == [__file__]
    with pytest.warns(UserWarning, match="without PARTITION BY") as caught:
        rex.match(clause)(ticks)
    assert [warning.filename for warning in caught] == [__file__]


def test_partition_by_does_not_warn(ticks: DataFrame) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rex.sql(QUERY, ticks=ticks).collect()


def test_input_order_without_order_by(spark: SparkSession) -> None:
    """A missing ORDER BY keeps the order of the input, also through the shuffle."""
    values = [5, 3, 9, 1, 1, 8, 2, 7] * 40
    frame = spark.createDataFrame(pa.table({"g": [n % 3 for n in range(320)], "v": values}))
    query = "SELECT g, vs FROM t MATCH_RECOGNIZE (PARTITION BY g MEASURES array_agg(v) AS vs PATTERN (A+))"
    found = rex.sql(query, t=frame)
    assert rows(found) == [(g, values[g::3]) for g in range(3)]


def test_the_plan_is_explained(ticks: DataFrame) -> None:
    shown = str(rex.explain(QUERY, ticks=ticks))
    assert "STRT DOWN+ UP+" in shown
    assert "MapInArrow" in shown
    assert "Exchange" in shown


def test_two_threads_share_a_session(ticks: DataFrame) -> None:
    def found(symbol: str) -> list[tuple[Any, ...]]:
        return rows(rex.sql(QUERY, ticks=ticks.filter(f"sym = '{symbol}'")))

    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(found, "abab"))
    assert answers == [V_SHAPES[:1], V_SHAPES[1:]] * 2


def test_sessions_keep_their_own_views(spark: SparkSession) -> None:
    other = spark.newSession()
    other.createDataFrame(TICKS).createOrReplaceTempView("elsewhere")
    query = QUERY.replace("ticks", "elsewhere", 1)
    assert rows(rex.sql(query, spark=other)) == V_SHAPES
    with pytest.raises(RexError, match="elsewhere"):
        rex.sql(query, spark=spark)


@pytest.mark.parametrize("settings", [{}, {"sort_memory": 1 << 20}, {"sort_memory": 1 << 20, "chunk_rows": 7_001}])
def test_many_rows_answer_as_in_memory(settings: dict[str, Any], spark: SparkSession) -> None:
    """200,000 rows of 5,001 keys, one of them with half of all rows, in no order."""
    frame = spark.range(200_000).selectExpr(
        "if(id % 2 = 0, 5000, (id * 7919) % 5000) AS sym", "(id * 48271) % 2147483647 AS ts",
        "(id * 69621) % 1000 / 8 AS price",
    )
    found = rex.sql(QUERY, ticks=frame, settings=settings).toArrow()
    expected = rex.sql(QUERY, ticks=frame.toArrow())
    order = [(name, "ascending") for name in found.column_names]
    assert found.num_rows > 10_000
    assert found.sort_by(order).equals(expected.cast(found.schema).sort_by(order))


def test_parameters_and_a_table_without_a_name(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("k", 1), ("k", 2), ("k", 3)], "k string, x int")
    query = """SELECT n + :more AS n FROM t MATCH_RECOGNIZE (
      PARTITION BY k ORDER BY x MEASURES COUNT(*) AS n PATTERN (A+ B?)
      DEFINE A AS x > :low AND x - FIRST(x) < :wide, B AS FALSE)"""
    assert [row.n for row in rex.sql(query, frame, args={"more": 10, "low": 1, "wide": 5}).collect()] == [12]
    for name in (":more", ":low", ":wide"):
        query = query.replace(name, "?")
    assert [row.n for row in rex.sql(query, frame, args=[10, 2, 5]).collect()] == [11]
