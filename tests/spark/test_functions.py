"""Spark evaluates rows: its functions, registered ones, guards under ANSI, its time zone; errors can be read."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING
from unittest import mock

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from tests.spark.sample import rows

import sparkrex as rex
from sparkrex.errors import RexError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame, SparkSession


def test_functions_of_spark_are_used(ticks: DataFrame) -> None:
    """DuckDB, the workers' evaluator, has none of these, or others of that name."""
    query = """SELECT * FROM ticks MATCH_RECOGNIZE (
      PARTITION BY sym ORDER BY ts
      MEASURES
        soundex(FIRST(note)) AS s, transform(array(MAX(ts)), x -> x + 1) AS l, dayofweek(date '2024-01-07') AS d,
        elt(2, LAST(note), FIRST(note)) AS e
      PATTERN (A+)
      DEFINE A AS xxhash64(note) <> 0 AND format_string('%s', price) RLIKE '^[0-9]+$' AND soundex(PREV(note)) > 'A')"""
    assert rows(rex.sql(query, ticks=ticks)) == [("a", "Q000", [7], 1, "q"), ("b", "W000", [5], 1, "w")]


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
    condition: str, doubled: str, ticks: DataFrame, jobs: Callable[[], int]
) -> None:
    """Workers have no Spark: what depends on the match is theirs, and cannot call a Spark function."""
    query = f"""SELECT * FROM ticks MATCH_RECOGNIZE (
PARTITION BY sym ORDER BY ts PATTERN (A+ B+) DEFINE B AS {condition})"""
    with pytest.raises(RexError, match=doubled) as caught:
        rex.sql(query, ticks=ticks)
    assert caught.value.code in ("REX213", "REX301")
    assert caught.value.position == (2, 58)
    assert jobs() == 0


def _ids(frame: DataFrame, condition: str, pattern: str = "A") -> list[int]:
    """`id` of every row where a match of the pattern ends."""
    query = f"""SELECT last_id FROM t MATCH_RECOGNIZE (
      PARTITION BY g ORDER BY id MEASURES LAST(id) AS last_id AFTER MATCH SKIP TO NEXT ROW
      PATTERN ({pattern}) DEFINE A AS {condition})"""
    return [id_ for (id_,) in rows(rex.sql(query, t=frame))]


@pytest.mark.parametrize(
    ("condition", "pattern", "expected"),
    [
        ("v <> 0 AND 10 / v > 1", "A", [1, 3]),
        ("v = 0 OR 10 / v > 1", "A", [1, 2, 3]),
        ("NOT (v = 0 OR 10 / v <= 1)", "A", [1, 3]),
        ("CASE WHEN v <> 0 THEN 10 / v > 1 ELSE false END", "A", [1, 3]),
        ("if(v = 0, false, 10 / v > 1)", "A", [1, 3]),
        ("s RLIKE '^[0-9]+$' AND CAST(s AS INT) > 0", "A", [1, 3]),
        ("coalesce(s, CAST(v / 0 AS STRING)) IS NOT NULL", "A", [1, 2, 3, 4]),
        ("id = 1 OR (PREV(v) <> 0 AND 10 / PREV(v) > 1)", "A", [1, 2, 4]),
        ("S.v <> 0 AND 10 / S.v > 1", "S A", [2, 4]),
        ("S.v <> v AND 10 / (S.v - v) > 1", "S A", [2]),
        ("S.v * v <> 0 AND 10 / (S.v * v) > 0.1", "S A", [4]),
    ],
)
def test_a_guard_protects_under_ansi(
    condition: str, pattern: str, expected: list[int], spark: SparkSession
) -> None:
    assert spark.conf.get("spark.sql.ansi.enabled") == "true"
    table = pa.table({"g": [1] * 4, "id": [1, 2, 3, 4], "v": [5, 0, 4, 20], "s": ["1", "x", "3", "y"]})
    assert _ids(spark.createDataFrame(table), condition, pattern) == expected


@pytest.mark.parametrize(("condition", "pattern"), [("10 / v > 1", "A"), ("10 / (S.v - v) > 1", "S A")])
def test_division_by_zero_without_a_guard_is_an_error_of_the_job(
    condition: str, pattern: str, spark: SparkSession
) -> None:
    frame = spark.createDataFrame(pa.table({"g": [1, 1, 1], "id": [1, 2, 3], "v": [5, 0, 0]}))
    with pytest.raises(PySparkException, match=r"(?i)divi(de|sion).by.zero"):
        _ids(frame, condition, pattern)


def test_division_by_zero_is_null_without_ansi(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.ansi.enabled", "false")
    try:
        frame = spark.createDataFrame(pa.table({"g": [1, 1, 1], "id": [1, 2, 3], "v": [5, 0, 0]}))
        assert _ids(frame, "10 / v > 1 OR v = 0") == [1, 2, 3]
        assert _ids(frame, "10 / (S.v - v) > 1 OR v = S.v", "S A") == [2, 3]
        assert _ids(frame, "10 / (S.v - v) IS NULL", "S A") == [3]
    finally:
        spark.conf.set("spark.sql.ansi.enabled", "true")


@pytest.mark.parametrize(
    "condition",
    [
        "hour(at) = 5 AND day(at) = day(A.at) + 1",
        "CAST(at AS DATE) > A.day",
        "CAST(greatest(at, A.at) AS DATE) > A.day",
        "date_trunc('DAY', at) > A.at",
    ],
)
def test_the_time_zone_is_that_of_the_session(condition: str, spark: SparkSession) -> None:
    before = str(spark.conf.get("spark.sql.session.timeZone"))
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        # 09:00 on the first and 05:00 on the second of January in Tokyo, both on the first in UTC.
        table = pa.table({
            "g": [1, 1], "at": pa.array([0, 20 * 3600 * 1_000_000], pa.timestamp("us", "UTC")),
            "day": [datetime.date(1970, 1, 1)] * 2,
        })
        query = f"""SELECT * FROM t MATCH_RECOGNIZE (
          PARTITION BY g ORDER BY at
          MEASURES hour(FIRST(at)) AS h, CAST(LAST(at) AS DATE) AS d, CAST(FIRST(at) AS STRING) AS s, FIRST(at) AS began
          PATTERN (A B) DEFINE B AS {condition})"""
        frame = rex.sql(query, t=spark.createDataFrame(table))
        expected = (1, 9, datetime.date(1970, 1, 2), "1970-01-01 09:00:00")
        assert [tuple(row)[:4] for row in frame.collect()] == [expected]
        assert frame.filter("began = TIMESTAMP '1970-01-01 09:00:00'").count() == 1
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)


def test_a_failing_function_gives_a_readable_error(spark: SparkSession, ticks: DataFrame) -> None:
    def explode(price: int) -> bool:
        if price == 7:
            raise ValueError("price 7 is cursed")
        return True

    spark.udf.register("explode_at_seven", explode, "boolean")
    try:
        query = """SELECT * FROM ticks MATCH_RECOGNIZE (
          PARTITION BY sym ORDER BY ts PATTERN (A+) DEFINE A AS explode_at_seven(price))"""
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


def test_a_match_that_stays_open_names_its_partition(ticks: DataFrame) -> None:
    query = """SELECT * FROM ticks MATCH_RECOGNIZE (
      PARTITION BY sym ORDER BY ts MEASURES COUNT(*) AS n
      PATTERN (A+ B) DEFINE B AS price < 0)"""
    settings = {"sort_memory": 1, "chunk_rows": 2, "max_open_rows": 2}
    with pytest.raises(PySparkException) as caught:
        rex.sql(query, ticks=ticks, settings=settings).collect()
    shown = str(caught.value)
    assert "error[REX406]" in shown
    assert "max_open_rows" in shown
    assert "sym = " in shown
    assert "3 |       PATTERN" in shown


def test_a_worker_of_another_version_is_named(ticks: DataFrame) -> None:
    with mock.patch.object(rex, "__version__", "9.9.9"):
        found = ticks.transform(rex.match("PARTITION BY sym ORDER BY ts MEASURES COUNT(*) AS n PATTERN (A+)"))
    with pytest.raises(PySparkException, match=r"the worker has sparkrex .*, the driver 9\.9\.9"):
        found.collect()


@pytest.mark.parametrize(
    ("query", "code", "position"),
    [
        ("SELECT * FROM nowhere MATCH_RECOGNIZE (ORDER BY ts PATTERN (A))", "REX203", (1, 15)),
        ("SELECT * FROM ticks MATCH_RECOGNIZE (ORDER BY nothing PATTERN (A))", "REX201", (1, 47)),
        ("SELECT * FROM ticks MATCH_RECOGNIZE (ORDER BY ts PATTERN (A) DEFINE A AS frob(price))", "REX213", (1, 74)),
        ("SELECT nothing FROM ticks MATCH_RECOGNIZE (ORDER BY ts PATTERN (A)) AS m", "REX201", (1, 8)),
        ("SELECT * FROM ticks MATCH_RECOGNIZE (ORDER BY ts PATTERN (A) DEFINE A AS note + date '2024-01-01' > 3)",
         "REX214", (1, 74)),
        ("SELECT * FROM ticks MATCH_RECOGNIZE (ORDER BY ts PATTERN (A) DEFINE A AS price + 1)", "REX214", (1, 74)),
        ("SELECT * FROM ticks MATCH_RECOGNIZE (ORDER BY ts MEASURES frob(price) AS f PATTERN (A))", "REX213", (1, 59)),
    ],
)
@pytest.mark.filterwarnings("ignore:MATCH_RECOGNIZE without PARTITION BY")
def test_errors_of_analysis_arise_at_once(
    query: str, code: str, position: tuple[int, int], ticks: DataFrame, jobs: Callable[[], int]
) -> None:
    with pytest.raises(RexError) as caught:
        rex.sql(query, ticks=ticks)
    assert (caught.value.code, caught.value.position) == (code, position), str(caught.value)
    assert jobs() == 0


@pytest.mark.parametrize("condition", ["twice(S.v) > 1", "PREV(twice(v)) > 1", "twice(PREV(v)) > 1"])
def test_a_registered_function_never_sees_a_row_that_is_not_there(condition: str, spark: SparkSession) -> None:
    """It need not know what to do with NULL if the data has none: with no target row its value is NULL."""
    spark.udf.register("twice", lambda value: value * 2, "bigint")
    try:
        frame = spark.createDataFrame(pa.table({"g": [1, 1, 2], "id": [1, 2, 3], "v": [5, 0, 7]}))
        assert _ids(frame, condition, "S A") == [2]
        assert _ids(frame, "twice(PREV(v)) IS NULL") == [1, 3]
    finally:
        spark.sql("DROP TEMPORARY FUNCTION twice")


@pytest.mark.parametrize(
    ("condition", "name", "hint"),
    [
        ("price > A.price AND CAST(note AS DOUBLE) > 0", "a string as DOUBLE", "subquery"),
        ("price > A.price AND to_number(note, '99') > 0", "to_number can fail", "project it in the input"),
        ("price > A.price AND from_json(note, 'a INT').a > 1", "from_json can fail", "project it in the input"),
        ("soundex(concat(note, A.note)) > 'A'", "soundex over several rows", "functions="),
        ("price > corr(A.price, A.ts)", "the aggregate corr", "MEASURES any"),
        ("price / CAST(A.price AS DECIMAL(9, 2)) > 1", "division of decimals", "DOUBLE"),
        ("CAST(price / A.price AS STRING) > '1'", "as a string", "subquery"),
    ],
)
def test_what_workers_cannot_evaluate_is_refused_where_it_stands(
    condition: str, name: str, hint: str, ticks: DataFrame, jobs: Callable[[], int]
) -> None:
    query = f"""SELECT * FROM ticks MATCH_RECOGNIZE (
PARTITION BY sym ORDER BY ts PATTERN (A+ B+) DEFINE B AS {condition})"""
    with pytest.raises(RexError, match=name) as caught:
        rex.sql(query, ticks=ticks)
    assert caught.value.code == "REX301"
    assert hint in str(caught.value)
    line, column = caught.value.position or (0, 0)
    refused = query.split("\n")[line - 1][column - 1 :]
    assert refused.startswith(("CAST", "to_number", "from_json", "soundex", "corr", "price / CAST")), refused
    assert jobs() == 0


def test_what_reads_no_row_is_evaluated_once_per_row_and_occurrence(ticks: DataFrame) -> None:
    query = """SELECT * FROM ticks MATCH_RECOGNIZE (
      PARTITION BY sym ORDER BY ts
      MEASURES MAX(rand()) AS high, MIN(rand()) AS low, COUNT(DISTINCT rand()) AS n
      PATTERN (A+) DEFINE A AS rand() < 2 AND price >= FIRST(price) - 100 AND current_date() > date '2024-01-01')"""
    for row in rex.sql(query, ticks=ticks).collect():
        assert 0 <= row["low"] < 1
        assert 0 <= row["high"] < 1
        assert row["n"] == (6 if row["sym"] == "a" else 4)


def test_dataframes_of_two_sessions_are_refused(spark: SparkSession, ticks: DataFrame) -> None:
    other = spark.newSession().range(3)
    with pytest.raises(RexError, match="another Spark session") as caught:
        rex.sql("SELECT * FROM other MATCH_RECOGNIZE (PARTITION BY id PATTERN (A))", ticks=ticks, other=other)
    assert caught.value.code == "REX203"


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("coalesce(doubled(PREV(FIRST(price))), 0)", [0, 0]),
        ("concat_ws('-', 'x', PREV(FIRST(note)))", ["x", "x"]),
        ("PREV(FIRST(note)) IS NULL AND doubled(PREV(FIRST(price))) IS NULL", [True, True]),
    ],
)
def test_a_missing_row_reads_as_nulls(measure: str, expected: list[object], doubled: str, ticks: DataFrame) -> None:
    """As a measure, and as a condition on the same expression."""
    condition = measure.replace("PREV(FIRST(price))", "PREV(price)").replace("PREV(FIRST(note))", "PREV(note)")
    wanted = {0: "= 0", "x": "= 'x'", True: ""}[expected[0]]
    query = f"""SELECT sym, m FROM ticks MATCH_RECOGNIZE (
      PARTITION BY sym ORDER BY ts MEASURES {measure} AS m, COUNT(*) AS n
      PATTERN (^ A B) DEFINE A AS {condition} {wanted}, B AS price < A.price)"""
    assert [row[1] for row in rows(rex.sql(query, ticks=ticks))] == expected
