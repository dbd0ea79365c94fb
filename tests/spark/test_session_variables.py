"""Session variables of Spark inside clauses: constants of every row; names of the input come first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pyspark.errors import PySparkException
from tests.spark.sample import rows

import sparkrex as rex
from sparkrex.errors import RexError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NUMBERS = "SELECT * FROM VALUES (1, 10), (2, 30), (3, 20), (4, 40), (5, 50) AS t(ts, x)"


@pytest.fixture
def numbers(spark: SparkSession) -> DataFrame:
    """Five rows, and the session's variables limit, factor, day and point."""
    for declared in (
        "limit_ INT DEFAULT 25", "Factor DECIMAL(3, 1) DEFAULT 1.5", "day DATE DEFAULT DATE '2024-01-31'",
        "point STRUCT<a: INT, b: STRING> DEFAULT named_struct('a', 30, 'b', 'high')", "x INT DEFAULT 1000",
        "wide BIGINT DEFAULT 3000000000", "`od{d` INT DEFAULT 7",
    ):
        try:
            spark.sql(f"DECLARE OR REPLACE VARIABLE {declared}")
        except PySparkException:
            pytest.skip("this Spark has no session variables")
    return spark.sql(NUMBERS)


def one_row(numbers: DataFrame, clause: str) -> list[tuple[object, ...]]:
    """The matches over all rows."""
    with pytest.warns(UserWarning, match="without PARTITION BY"):
        return rows(rex.match(clause)(numbers))


def test_in_conditions_and_measures(numbers: DataFrame) -> None:
    found = one_row(numbers, """
        ORDER BY ts MEASURES FIRST(ts) AS began, LAST(ts) AS ended, limit_ + LAST(x) AS over, session.day AS day,
          sum(x * factor) AS scaled, system.session.point.b AS b, LAST(x) * wide AS product
        PATTERN (A+) DEFINE A AS x > limit_""")
    assert [row[:3] for row in found] == [(2, 2, 55), (4, 5, 75)]
    assert [str(row[3]) for row in found] == ["2024-01-31"] * 2
    assert [(float(str(row[4])), row[5]) for row in found] == [(45.0, "high"), (135.0, "high")]
    assert [row[6] for row in found] == [90_000_000_000, 150_000_000_000]


def test_in_conditions_over_several_rows(numbers: DataFrame) -> None:
    # Up by more than `od{d`, and by less than the limit above the first row of the match.
    found = one_row(numbers, """
        ORDER BY ts MEASURES FIRST(ts) AS began, LAST(ts) AS ended
        PATTERN (S A+) DEFINE A AS x - PREV(x) > `od{d` AND x - FIRST(S.x) <= LIMIT_ AND sum(x) < wide""")
    assert found == [(1, 2), (3, 4)]
    # A condition that stands behind another one, and the one that needs the interpreter.
    found = one_row(numbers, """
        ORDER BY ts MEASURES count(*) AS n
        PATTERN (S A+) DEFINE A AS x > FIRST(S.x) AND (x - FIRST(S.x)) / point.a >= 0.5""")
    assert found == [(2,), (3,)]


def test_a_column_comes_first(numbers: DataFrame) -> None:
    clause = "ORDER BY ts MEASURES LAST(x) AS a, LAST(A.x) AS b, session.x AS c PATTERN (A+) DEFINE A AS x < 1000"
    assert one_row(numbers, clause) == [(50, 50, 1000)]


def test_an_earlier_measure_comes_first(numbers: DataFrame) -> None:
    clause = "ORDER BY ts MEASURES LAST(x) AS limit_, limit_ + 1 AS next PATTERN (A+) DEFINE A AS limit_ > 0"
    assert one_row(numbers, clause) == [(50, 51)]


def test_keys_and_subqueries(numbers: DataFrame) -> None:
    found = rows(rex.sql("""
        SELECT * FROM t MATCH_RECOGNIZE (
          PARTITION BY x > limit_ AS high ORDER BY ts
          MEASURES count(*) AS n PATTERN (A+) DEFINE A AS x >= (SELECT min(u.x) + limit_ - limit_ FROM t u))
    """, t=numbers))
    assert sorted(found) == [(False, 2), (True, 3)]


def test_in_segments(numbers: DataFrame) -> None:
    clause = """
        ORDER BY ts MEASURES first(S.ts) AS began, last(S.ts) AS ended, last(S.x) + limit_ AS raised
        ALL MATCHES PATTERN (S) DEFINE SEGMENT S AS sum(x) > limit_ AND max(x) <= point.a AND window(1, 2)"""
    in_memory = rex.match(clause.replace("limit_", "25").replace("point.a", "30"))(numbers.toArrow()).to_pylist()
    assert len(in_memory) == 3
    assert sorted(one_row(numbers, clause)) == sorted(tuple(row.values()) for row in in_memory)


def test_in_event_queries(spark: SparkSession, numbers: DataFrame) -> None:
    stream = numbers.selectExpr("ts", "x", "IF(x < 25, 'A', 'B') AS kind")
    query = """PATTERN SEQ(A a, B+ b[]) WHERE skip_till_next_match(a, b[]) { a.x < limit_ AND b[i].x > b[i-1].x + od
      AND max(b[].x) > wide - 2999999970 } RETURN a.ts AS a, count(b[]) AS n, limit_ AS l"""
    spark.sql("DECLARE OR REPLACE VARIABLE od INT DEFAULT 5")
    with pytest.warns(UserWarning):
        found = rows(rex.events(query, stream, time="ts", type="kind"))
    in_memory = query.replace("limit_ AND", "25 AND").replace("+ od", "+ 5").replace("wide - 2999999970", "30")
    expected = rex.events(
        in_memory.replace("limit_ AS", "25 AS"), stream.toArrow(), time="ts", type="kind"
    ).to_pylist()
    assert expected
    assert sorted(found) == sorted(tuple(row.values()) for row in expected)


def test_unknown_names_stay_unknown(numbers: DataFrame) -> None:
    with pytest.raises(RexError, match="column limits does not exist"):
        rex.match("ORDER BY ts MEASURES limits AS a PATTERN (A+) DEFINE A AS TRUE")(numbers)
    with pytest.raises(RexError, match="REX206"):
        rex.match("ORDER BY ts MEASURES session.nope AS a PATTERN (A+) DEFINE A AS TRUE")(numbers)
