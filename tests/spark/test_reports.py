"""Rows at which a query fails are given up on Spark as in memory, whatever fails: the workers compute it, not Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import sparkrex as rex

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ROWS = 40
REPORT = {"on_error": "report", "side_rows": True}
TABLE = pa.table({
    "id": list(range(ROWS)),
    "sym": ["p" if row % 3 else "q" for row in range(ROWS)],
    "kind": ["x" if row % 11 == 5 else str(row % 4) for row in range(ROWS)],
    "v": [row % 7 - 1 for row in range(ROWS)],
})


@pytest.fixture(scope="module")
def frame(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(TABLE).repartition(3)


@pytest.mark.parametrize(("measures", "rows", "define"), [
    ("UPPER(LAST(kind)) AS m, LAST(CAST(kind AS STRING)) AS n", "ONE ROW PER MATCH", "B AS 10 / v > 4"),
    ("LAST(id) AS l", "ONE ROW PER MATCH", "B AS id > 3 AND 10 / PREV(v) > LENGTH(A.kind) AND v < 4"),
    ("FIRST(v) / LAST(v) AS m", "ALL ROWS PER MATCH", "B AS v > -1"),
    ("COUNT(*) / LAST(v) AS m", "ALL ROWS PER MATCH WITH UNMATCHED ROWS", "B AS v > -1"),
    ("SUM(10 / B.v) AS m, CLASSIFIER() AS c", "ONE ROW PER MATCH", "B AS v > -1"),
])
def test_what_fails_is_given_up(frame: DataFrame, measures: str, rows: str, define: str) -> None:
    text = (
        f"PARTITION BY sym ORDER BY id MEASURES FIRST(id) AS f, {measures} {rows} "
        f"AFTER MATCH SKIP TO NEXT ROW PATTERN (A B+?) DEFINE {define}"
    )
    expected, given = rex.match(text, TABLE, settings=REPORT), rex.match(text, frame, settings=REPORT)
    assert _failed(given.toArrow()) == _failed(expected) != []
    matches = rex.matches(given)
    assert _lines(matches.toArrow()) == _lines(rex.matches(expected)) != []
    assert matches.schema == rex.match(text, frame).schema


def _failed(result: pa.Table) -> list[tuple[int, str]]:
    return sorted((row["id"], row["rex_error"]["code"]) for row in rex.failed(result).to_pylist())


def _lines(result: pa.Table) -> list[str]:
    return sorted(repr(list(row.values())) for row in result.to_pylist())


def test_what_is_sparks_stops_the_query(frame: DataFrame) -> None:
    """Workers would not read every string as Spark does."""
    text = "PARTITION BY sym ORDER BY id MEASURES 1 AS m PATTERN (A) DEFINE A AS CAST(kind AS INT) > 1"
    found = rex.match(text, frame, settings=REPORT)
    with pytest.raises(Exception, match="CAST_INVALID_INPUT"):
        found.toArrow()
