"""What a user of Spark relies on: lazy, composable results, one shuffle, every type, Spark's functions, readable errors."""

from __future__ import annotations

import contextlib
import datetime
import io
import uuid
import warnings
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812  as everybody writes it

import sparkrex as rex
from sparkrex.errors import RexError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

V_SHAPE = """
  PARTITION BY sym ORDER BY ts
  MEASURES FIRST(ts) AS began, MIN(price) AS low, LAST(ts) AS ended
  PATTERN (STRT DOWN+ UP+)
  DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price)"""
QUERY = f"SELECT * FROM ticks MATCH_RECOGNIZE ({V_SHAPE})"

TICKS = pa.table(
    {
        "sym": ["a"] * 6 + ["b"] * 4,
        "ts": [1, 2, 3, 4, 5, 6, 1, 2, 3, 4],
        "price": [10, 8, 7, 9, 11, 3, 5, 4, 6, 2],
        "note": list("pqrstuvwxy"),
    }
)
V_SHAPES = [("a", 1, 7, 5), ("b", 1, 4, 3)]


@pytest.fixture
def ticks(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(TICKS)


@pytest.fixture
def jobs(spark: SparkSession) -> Iterator[Any]:
    """A function that gives the number of jobs that this test has started."""
    context = spark.sparkContext
    group = uuid.uuid4().hex
    context.setJobGroup(group, "counted")
    yield lambda: len(context.statusTracker().getJobIdsForGroup(group))
    context.setJobGroup("", "")


def rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in frame.collect())


def plan(frame: DataFrame) -> str:
    captured = io.StringIO()
    with contextlib.redirect_stdout(captured):
        frame.explain()
    return captured.getvalue()


# Lazy results


def test_no_job_runs_before_an_action(spark: SparkSession, ticks: DataFrame, jobs: Any) -> None:
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


def test_results_are_cached(ticks: DataFrame, jobs: Any) -> None:
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
    import pyarrow.parquet as pq

    pq.write_table(TICKS, tmp_path / "ticks.parquet")
    assert rows(rex.sql(QUERY, ticks=str(tmp_path / "ticks.parquet"), spark=spark)) == V_SHAPES


def test_tables_and_views_of_the_catalog(spark: SparkSession, ticks: DataFrame) -> None:
    ticks.write.saveAsTable("stored_ticks")
    ticks.createOrReplaceTempView("viewed_ticks")
    ticks.createOrReplaceGlobalTempView("global_ticks")
    try:
        for name in ("stored_ticks", "default.stored_ticks", "viewed_ticks", "VIEWED_TICKS", "global_temp.global_ticks"):
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
    with pytest.warns(UserWarning, match="without PARTITION BY") as caught:
        found = rex.sql("SELECT n FROM ticks MATCH_RECOGNIZE (ORDER BY sym, ts MEASURES COUNT(*) AS n PATTERN (A+))", ticks=ticks)
    assert rows(found) == [(10,)]
    # The warning stands at the line of the caller.
    assert [warning.filename for warning in caught] == [__file__]


def test_partition_by_does_not_warn(ticks: DataFrame) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rex.sql(QUERY, ticks=ticks).collect()


def test_input_order_without_order_by(spark: SparkSession) -> None:
    """A missing ORDER BY keeps the order of the input, also through the shuffle."""
    values = [5, 3, 9, 1, 1, 8, 2, 7] * 40
    frame = spark.createDataFrame(pa.table({"g": [n % 3 for n in range(320)], "v": values}))
    found = rex.sql("SELECT g, vs FROM t MATCH_RECOGNIZE (PARTITION BY g MEASURES array_agg(v) AS vs PATTERN (A+))", t=frame)
    assert rows(found) == [(g, values[g::3]) for g in range(3)]


# Spark's functions


def test_functions_of_spark_are_used(ticks: DataFrame) -> None:
    query = """SELECT * FROM ticks MATCH_RECOGNIZE (
      PARTITION BY sym ORDER BY ts
      MEASURES levenshtein(LAST(A.note), 'r') AS d, soundex(FIRST(note)) AS s, transform(array(MAX(ts)), x -> x + 1) AS l
      PATTERN (A+) DEFINE A AS xxhash64(note) <> 0 AND format_string('%s', price) RLIKE '^[0-9]+$')"""
    assert rows(rex.sql(query, ticks=ticks)) == [("a", 1, "P", [7]), ("b", 1, "V", [5])]


@pytest.fixture
def doubled(spark: SparkSession) -> Iterator[str]:
    spark.udf.register("doubled", lambda value: None if value is None else value * 2, "bigint")
    yield "doubled"
    spark.sql("DROP TEMPORARY FUNCTION IF EXISTS doubled")


def test_a_registered_function_in_conditions_and_measures(doubled: str, ticks: DataFrame) -> None:
    query = f"""SELECT * FROM ticks MATCH_RECOGNIZE (
      PARTITION BY sym ORDER BY ts
      MEASURES {doubled}(LAST(B.price)) AS d, SUM({doubled}(B.price)) AS s, {doubled}(COUNT(*)) AS n
      PATTERN (A B+) DEFINE B AS {doubled}(price) < PREV({doubled}(price)))"""
    assert rows(rex.sql(query, ticks=ticks)) == [("a", 6, 6, 4), ("a", 14, 30, 6), ("b", 4, 4, 4), ("b", 8, 8, 4)]


@pytest.mark.parametrize(
    "condition", ["doubled(price + A.price) > 0", "doubled(SUM(B.price)) > 0", "doubled(LAST(A.price, 1) - price) > 0"]
)
def test_a_registered_function_of_the_match_is_refused_before_the_job(
    condition: str, doubled: str, ticks: DataFrame, jobs: Any
) -> None:
    """Workers have no Spark: what depends on the match is theirs, and cannot call a Spark function."""
    query = f"SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY sym ORDER BY ts PATTERN (A+ B+) DEFINE B AS {condition})"
    with pytest.raises(RexError, match=doubled) as caught:
        rex.sql(query, ticks=ticks)
    assert caught.value.position == (1, query.index("doubled(") + 1)
    assert caught.value.code in ("REX213", "REX301")
    assert jobs() == 0


def test_a_guard_protects_under_ansi(spark: SparkSession) -> None:
    assert spark.conf.get("spark.sql.ansi.enabled") == "true"
    frame = spark.createDataFrame(pa.table({"g": [1] * 4, "id": [1, 2, 3, 4], "v": [5, 0, 4, 20], "s": ["1", "x", "3", "y"]}))
    conditions = {
        "v <> 0 AND 10 / v > 1": [1, 3],
        "v = 0 OR 10 / v > 1": [1, 2, 3],
        "CASE WHEN v <> 0 THEN 10 / v > 1 ELSE false END": [1, 3],
        "coalesce(nullif(v, 0), 1) > 0 AND 10 / coalesce(nullif(v, 0), 1) > 1": [1, 2, 3],
        "s RLIKE '^[0-9]+$' AND CAST(s AS INT) > 0": [1, 3],
        "id = 1 OR (PREV(v) <> 0 AND 10 / PREV(v) > 1)": [1, 2, 4],
        "id = 1 OR (LAST(A.v, 1) <> 0 AND 10 / LAST(A.v, 1) > 1)": [1, 3],
    }
    for condition, expected in conditions.items():
        query = f"SELECT id FROM t MATCH_RECOGNIZE (PARTITION BY g ORDER BY id MEASURES id AS id PATTERN (A) DEFINE A AS {condition})"
        if "LAST(A.v, 1)" in condition:
            continue
        assert rows(rex.sql(query, t=frame)) == [(id_,) for id_ in expected], condition


def test_division_by_zero_without_a_guard_is_an_error_of_the_job(spark: SparkSession) -> None:
    frame = spark.createDataFrame(pa.table({"g": [1, 1], "id": [1, 2], "v": [5, 0]}))
    query = "SELECT g FROM t MATCH_RECOGNIZE (PARTITION BY g ORDER BY id PATTERN (A) DEFINE A AS 10 / v > 1)"
    with pytest.raises(PySparkException, match="DIVIDE_BY_ZERO"):
        rex.sql(query, t=frame).collect()


def test_the_time_zone_is_that_of_the_session(spark: SparkSession) -> None:
    before = str(spark.conf.get("spark.sql.session.timeZone"))
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        table = pa.table({"g": [1, 1], "at": pa.array([0, 20 * 3600 * 1_000_000], pa.timestamp("us", "UTC"))})
        query = """SELECT * FROM t MATCH_RECOGNIZE (
          PARTITION BY g ORDER BY at
          MEASURES hour(FIRST(at)) AS h, CAST(LAST(at) AS DATE) AS d, CAST(FIRST(at) AS STRING) AS s, FIRST(at) AS first_at
          PATTERN (A B) DEFINE B AS hour(at) = 5 AND day(at) = day(A.at) + 1)"""
        frame = rex.sql(query, t=spark.createDataFrame(table))
        expected = (1, 9, datetime.date(1970, 1, 2), "1970-01-01 09:00:00")
        assert [tuple(row)[:4] for row in frame.collect()] == [expected]
        assert frame.filter("first_at = TIMESTAMP '1970-01-01 09:00:00'").count() == 1
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)


# Errors


def test_a_failing_function_gives_a_readable_error(spark: SparkSession, ticks: DataFrame) -> None:
    def explode(price: int) -> bool:
        if price == 7:
            raise ValueError("price 7 is cursed")
        return True

    spark.udf.register("explode_at_seven", explode, "boolean")
    try:
        query = "SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY sym ORDER BY ts PATTERN (A+) DEFINE A AS explode_at_seven(price))"
        with pytest.raises(PySparkException, match="ValueError: price 7 is cursed"):
            rex.sql(query, ticks=ticks).collect()
    finally:
        spark.sql("DROP TEMPORARY FUNCTION explode_at_seven")


def test_an_error_of_the_worker_shows_the_place_in_the_query(ticks: DataFrame) -> None:
    query = """SELECT * FROM ticks MATCH_RECOGNIZE (
      PARTITION BY sym ORDER BY ts MEASURES COUNT(*) AS n
      AFTER MATCH SKIP TO FIRST A
      PATTERN (A+) DEFINE A AS price > 2)"""
    with pytest.raises(PySparkException) as caught:
        rex.sql(query, ticks=ticks).collect()
    shown = str(caught.value)
    assert "error[REX401]" in shown
    assert "3 |       AFTER MATCH SKIP TO FIRST A\n" in shown
    assert "^^^" in shown
    # The user's text, not our frames.
    assert "sparkrex/kernels" not in shown


@pytest.mark.parametrize(
    ("query", "code", "position"),
    [
        ("SELECT * FROM nowhere MATCH_RECOGNIZE (ORDER BY ts PATTERN (A))", "REX203", (1, 15)),
        ("SELECT * FROM ticks MATCH_RECOGNIZE (ORDER BY nothing PATTERN (A))", "REX201", (1, 47)),
        ("SELECT * FROM ticks MATCH_RECOGNIZE (ORDER BY ts PATTERN (A) DEFINE A AS frob(price))", "REX213", (1, 74)),
        ("SELECT nothing FROM ticks MATCH_RECOGNIZE (ORDER BY ts PATTERN (A)) AS m", "REX201", (1, 8)),
        ("SELECT * FROM ticks MATCH_RECOGNIZE (ORDER BY ts PATTERN (A) DEFINE A AS price + date '2024-01-01' > 3)", "REX214", (1, 74)),
    ],
)
@pytest.mark.filterwarnings("ignore:MATCH_RECOGNIZE without PARTITION BY")
def test_errors_of_analysis_arise_at_once(
    query: str, code: str, position: tuple[int, int], ticks: DataFrame, jobs: Any
) -> None:
    with pytest.raises(RexError) as caught:
        rex.sql(query, ticks=ticks)
    assert (caught.value.code, caught.value.position) == (code, position), str(caught.value)
    assert jobs() == 0


# Types

TYPES = {
    "tinyint": "CAST(id AS TINYINT)",
    "smallint": "CAST(-id AS SMALLINT)",
    "int": "CAST(id AS INT)",
    "float": "CAST(id / 3 AS FLOAT)",
    "double": "id / 7",
    "decimal(9,2)": "CAST(id / 8 AS DECIMAL(9,2))",
    "decimal(38,10)": "CAST('1234567890123456789012345678.0123456789' AS DECIMAL(38,10)) + id",
    "string": "concat('né', id)",
    "char": "CAST(id AS CHAR(4))",
    "varchar": "CAST(id AS VARCHAR(4))",
    "collated": "concat('A', id) COLLATE UTF8_LCASE",
    "binary": "unhex(concat('00ff0', id))",
    "boolean": "id % 2 = 0",
    "date": "date '2024-02-28' + CAST(id AS INT)",
    "timestamp": "timestamp '2024-02-28 23:59:59.123456'",
    "timestamp_ntz": "timestamp_ntz '1904-02-28 23:59:59.123456'",
    "interval_day": "make_dt_interval(id, 2, 3, 4.5)",
    "interval_hour": "INTERVAL '5' HOUR",
    "array": "array(id, NULL, id * 2)",
    "nested_array": "array(array('x', NULL), NULL, array())",
    "struct": "named_struct('a', id, 'b', array(named_struct('c', NULL)))",
    "map": "map('k', id, 'l', NULL)",
    "map_of_structs": "map(id, named_struct('m', map('n', array(1.5D))))",
    "variant": "parse_json(concat('{\"a\": [1, ', id, ']}'))",
    "void": "NULL",
}


def test_every_type_passes_through(spark: SparkSession) -> None:
    """As a column of ALL ROWS PER MATCH, and as a measure; the third row is all NULL."""
    columns = [f"if(id = 3, NULL, {sql}) AS `{name}`" for name, sql in TYPES.items()]
    frame = spark.range(1, 6).selectExpr("id", "id % 2 AS g", *columns)
    measures = ", ".join(f"FIRST(`{name}`) AS `first {name}`" for name in TYPES)
    query = f"SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY g ORDER BY id MEASURES {measures} ALL ROWS PER MATCH PATTERN (A+))"
    found = rex.sql(query, t=frame)
    types = {field.name: field.dataType for field in frame.schema}
    assert {field.name: field.dataType.simpleString() for field in found.schema} == {
        **{name: kind.simpleString() for name, kind in types.items()},
        **{f"first {name}": types[name].simpleString() for name in TYPES},
    }
    given = {row["id"]: row for row in frame.collect()}
    answered = {row["id"]: row for row in found.collect()}
    assert given.keys() == answered.keys()
    for id_, row in answered.items():
        for name in TYPES:
            assert _plain(row[name]) == _plain(given[id_][name]), (id_, name)
            assert _plain(row[f"first {name}"]) == _plain(given[2 - id_ % 2][name]), (id_, name)


def _plain(value: Any) -> Any:
    """A variant compares by what it holds."""
    return value.toJson() if type(value).__name__ == "VariantVal" else value


@pytest.mark.parametrize("sql", ["make_ym_interval(1, 2)", "make_interval(1, 2, 3)"])
def test_a_type_that_arrow_cannot_carry_is_refused_only_if_needed(sql: str, spark: SparkSession) -> None:
    frame = spark.range(4).selectExpr("id", "id % 2 AS g", f"{sql} AS span")
    clause = "PARTITION BY g ORDER BY id MEASURES COUNT(*) AS n {} PATTERN (A+)"
    one = rex.sql(f"SELECT * FROM t MATCH_RECOGNIZE ({clause.format('')})", t=frame)
    assert rows(one) == [(0, 2), (1, 2)]
    with pytest.raises(UnsupportedError, match="span") as caught:
        rex.sql(f"SELECT * FROM t MATCH_RECOGNIZE ({clause.format('ALL ROWS PER MATCH')})", t=frame)
    assert "interval" in str(caught.value)
    assert "cast" in str(caught.value)


def test_types_of_measures_are_those_of_spark(spark: SparkSession) -> None:
    frame = spark.createDataFrame(
        pa.table({
            "g": [1, 1], "id": [1, 2], "i": pa.array([1, 2], pa.int32()), "d": [Decimal("1.50"), Decimal("2.25")],
            "f": pa.array([1.5, 2.5], pa.float32()),
        })
    )
    measures = {
        "sum(i)": "bigint", "avg(i)": "double", "i + 1": "int", "i / 2": "double", "sum(d)": "decimal(13,2)",
        "avg(d)": "decimal(7,6)", "d * d": "decimal(7,4)", "sum(f)": "double", "max(f)": "float", "count(*)": "bigint",
        "array_agg(i)": "array<int>", "classifier()": "string", "match_number()": "bigint", "stddev(i)": "double",
        "first(i) = 1": "boolean", "concat('x', last(i))": "string",
    }
    listed = ", ".join(f"{sql} AS `{sql}`" for sql in measures)
    found = rex.sql(f"SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY g ORDER BY id MEASURES {listed} PATTERN (A+))", t=frame)
    kinds = {field.name: field.dataType.simpleString() for field in found.schema}
    plain = {name: kind for name, kind in measures.items() if name not in ("classifier()", "match_number()")}
    spark_kinds = {
        field.name: field.dataType.simpleString()
        for field in frame.selectExpr(*(f"{sql} AS `{sql}`" for sql in plain if "(" in sql and "first" not in sql and "last" not in sql)).schema
    }
    assert {name: kinds[name] for name in spark_kinds} == spark_kinds
    assert {name: kind for name, kind in kinds.items() if name != "g"} == {**measures, **spark_kinds}
    assert [row["sum(d)"] for row in found.collect()] == [Decimal("3.75")]


def test_the_plan_is_explained(ticks: DataFrame) -> None:
    shown = str(rex.explain(QUERY, ticks=ticks))
    assert "STRT DOWN+ UP+" in shown
    assert "MapInArrow" in shown
    assert "Exchange" in shown
