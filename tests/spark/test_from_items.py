"""Series, UNNEST and VALUES in FROM: Spark answers what the dialect means, as memory does for DuckDB."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.spark.sample import rows

import sparkrex as rex

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.filterwarnings("ignore:MATCH_RECOGNIZE without PARTITION BY")

_MATCHED = "MATCH_RECOGNIZE (ORDER BY {by} ALL ROWS PER MATCH PATTERN (A+) DEFINE A AS true)"


@pytest.mark.parametrize(
    ("item", "by"),
    [
        ("range(6) t(x)", "x"),
        ("range(6) t", "t"),
        ("range(6)", "range"),
        ("range(0) t(x)", "x"),
        ("range(5, 1) t(x)", "x"),
        ("range(1, 6, 2) t(x)", "x"),
        ("range(5, 0, -2) t(x)", "x"),
        ("range(1, 6, CAST(2 AS BIGINT)) t(x)", "x"),
        ("generate_series(1, 6) t(x)", "x"),
        ("generate_series(5, 1, -2) t(x)", "x"),
        ("generate_series(5, 1)", "generate_series"),
        ("generate_series(DATE '2024-01-01', DATE '2024-01-05', INTERVAL 2 DAY) t(x)", "x"),
        ("range(DATE '2024-01-01', DATE '2024-01-05', INTERVAL 2 DAY) t(x)", "x"),
        ("range(DATE '2024-01-05', DATE '2024-01-01', INTERVAL 2 DAY) t(x)", "x"),
        ("unnest([3, 1, 2]) t(x)", "x"),
        ("unnest([3, 1, 2]) t", "t"),
        ("unnest([3, 1, 2])", "unnest"),
        ("(VALUES (1, 2), (3, 4)) t(x, y)", "x"),
        ("(VALUES (1, 2), (3, 0)) t", "col1"),
        ("(VALUES (1, 2), (3, 0)) t(x)", "col1"),
        ("(VALUES (1, 2), (3, 0))", "col1"),
        ("(SELECT 1, 2) t(x, y)", "x"),
        ("(SELECT * FROM (VALUES (3), (0)) a(n), range(a.n) t(x)) s", "x"),
        ("(SELECT * FROM (VALUES (3), (0)) a(n), generate_series(2, a.n) t(x)) s", "x"),
        ("(SELECT * FROM (VALUES (3), (0)) a(n) LEFT JOIN range(a.n) t(x) ON true) s", "x, n"),
        ("(SELECT n, x FROM (VALUES (3, [1, 2]), (0, [])) a(n, l) LEFT JOIN unnest(a.l) t(x) ON true) s", "x, n"),
        ("(SELECT n, x FROM (VALUES (3, [1, 2]), (0, [])) a(n, l), unnest(a.l) t(x)) s", "x"),
        ("(SELECT n, y FROM range(3) a(n), LATERAL (SELECT a.n + 1) t(y)) s", "y"),
        ("(SELECT unnest(range(5, 1)) AS x UNION ALL SELECT unnest(range(1, 6, 2))) s", "x"),
    ],
)
def test_items_of_duckdb_are_those_of_memory(spark: SparkSession, item: str, by: str) -> None:
    query = f"SELECT * FROM {item} {_MATCHED.format(by=by)}"
    here = rex.sql(query, dialect="duckdb")
    there = rex.sql(query, dialect="duckdb", spark=spark)
    assert there.columns == here.column_names
    expected = [tuple(row.values()) for row in here.to_pylist()]
    # As text: NULL has no order.
    assert sorted(repr(tuple(row)) for row in there.collect()) == sorted(map(repr, expected))


@pytest.mark.parametrize(
    ("dialect", "item", "expected"),
    [
        ("trino", "UNNEST(ARRAY[3, 1]) t(x)", [(1,), (3,)]),
        ("trino", "UNNEST(ARRAY[3, 1]) WITH ORDINALITY t(x, n)", [(1, 2), (3, 1)]),
        ("trino", "UNNEST(sequence(3, 1)) t(x)", [(1,), (2,), (3,)]),
        ("trino", "(VALUES 1, 2) t(x)", [(1,), (2,)]),
        ("postgres", "generate_series(1, 3) AS x", [(1,), (2,), (3,)]),
        ("postgres", "generate_series(3, 1) AS x", []),
        ("postgres", "unnest(ARRAY[3, 1]) WITH ORDINALITY AS t(x, n)", [(1, 2), (3, 1)]),
        ("bigquery", "UNNEST([3, 1]) AS x", [(1,), (3,)]),
        ("bigquery", "UNNEST(GENERATE_ARRAY(3, 1)) AS x", []),
        ("bigquery", "UNNEST([3, 1]) AS x WITH OFFSET AS o", [(1, 1), (3, 0)]),
        ("snowflake", "(VALUES (1, 2)) t(x, y)", [(1, 2)]),
        ("databricks", "range(3) t(x)", [(0,), (1,), (2,)]),
    ],
)
def test_items_of_other_dialects(
    spark: SparkSession, dialect: str, item: str, expected: list[tuple[int, ...]]
) -> None:
    found = rex.sql(f"SELECT * FROM (SELECT * FROM {item}) s {_MATCHED.format(by='x')}", dialect=dialect, spark=spark)
    assert rows(found) == expected


@pytest.mark.parametrize(
    ("dialect", "item"),
    [
        ("duckdb", "generate_series(1, 6, CAST(2 AS BIGINT)) t(x)"),
        ("bigquery", "UNNEST(GENERATE_ARRAY(0, 1, 0.5)) AS x"),
        ("trino", "(SELECT 1 AS k) a CROSS JOIN UNNEST(ARRAY[1]) WITH ORDINALITY AS t(x, n)"),
    ],
)
def test_what_has_no_form_in_spark_is_refused(spark: SparkSession, dialect: str, item: str) -> None:
    with pytest.raises(rex.UnsupportedError, match=r"REX301.*cannot be translated"):
        rex.sql(f"SELECT * FROM (SELECT * FROM {item}) s {_MATCHED.format(by='x')}", dialect=dialect, spark=spark)
