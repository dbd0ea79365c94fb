"""SQL around a pattern, the ways to write references, and the ways to run a query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sparkrex as rex
from sparkrex.cli.main import main
from sparkrex.explanation import WITH_MATCH_RECOGNIZE

if TYPE_CHECKING:
    from pathlib import Path

TABLE = pa.table(
    {
        "name": ["a"] * 6 + ["b"] * 5,
        "date": [1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5],
        "price": [5, 4, 3, 6, 5, 7, 9, 8, 10, 9, 11],
        "place": [{"lat": row} for row in range(11)],
        "previous": range(11),
    }
)
# a: rows 1 to 4 (5 4 3 6); b: rows 1 to 3 (9 8 10). What follows has no third row before the end, or starts too late.
PATTERN = (
    "FROM quote CLUSTER BY name SEQUENCE BY date AS (X, *Y, Z) "
    "WHERE Y.price < Y.previous.price AND Z.price > Z.previous.price"
)


def run(query: str, **options: Any) -> list[tuple[Any, ...]]:
    result = rex.sql(query, quote=TABLE, **options)
    return list(zip(*(column.to_pylist() for column in result.columns), strict=True))


@pytest.mark.parametrize(
    ("select", "after", "expected"),
    [
        ("DISTINCT X.name", "ORDER BY X.name DESC", [("b",), ("a",)]),
        ("X.name", "ORDER BY X.date, X.name LIMIT 1", [("a",)]),
        ("X.name, X.price + Y.price", "ORDER BY 1", [("a", 8), ("b", 17)]),
        # Over the rows of a match, and over all of them.
        ("COUNT(Y), COUNT(*), SUM(Y.price), MIN(X.price)", "ORDER BY 1", [(1, 3, 8, 9), (2, 4, 7, 5)]),
        ("COUNT(Y.*)", "ORDER BY COUNT(Y) DESC", [(2,), (1,)]),
        ("MAX(Y.price) FILTER (WHERE Y.price < 4)", "ORDER BY X.name", [(3,), (None,)]),
        # Over the matches of a group; an aggregate inside is over the rows of a match.
        ("X.name, COUNT(*)", "GROUP BY X.name ORDER BY X.name", [("a", 1), ("b", 1)]),
        ("name, MAX(COUNT(Y)), SUM(Y.price)", "GROUP BY name ORDER BY name", [("a", 2, 3), ("b", 1, 8)]),
        ("X.name", "GROUP BY X.name HAVING MAX(COUNT(Y)) > 1", [("a",)]),
        ("MAX(COUNT(Y)), SUM(COUNT(*))", "", [(2, 7)]),
        ("X.name, ROW_NUMBER() OVER (ORDER BY X.name DESC)", "ORDER BY 1", [("a", 2), ("b", 1)]),
        ("SUM(X.price) OVER ()", "", [(14,), (14,)]),
        ("(SELECT max(o.price) FROM quote AS o WHERE o.name = X.name)", "ORDER BY 1", [(7,), (11,)]),
        # References.
        ("FIRST(Y).date, LAST(Y).date, Y.date, FIRST(Y.date)", "ORDER BY X.name LIMIT 1", [(2, 3, 3, 2)]),
        ("X->price, Z.previous->price, X.NEXT.next.price", "ORDER BY X.name LIMIT 1", [(5, 3, 3)]),
        ("FIRST(Y).previous.price, FIRST(Y.previous.price)", "ORDER BY X.name LIMIT 1", [(5, 5)]),
        ("X.previous.price, Z.next.next.next.price", "ORDER BY X.name LIMIT 1", [(None, None)]),
        ("x.NAME, z.Previous.Price", "ORDER BY 1 LIMIT 1", [("a", 3)]),
        ("X.place.lat, FIRST(Y).place.lat", "ORDER BY X.name LIMIT 1", [(0, 1)]),
        ("X.`previous`, Z.previous.`previous`", "ORDER BY X.name LIMIT 1", [(0, 2)]),
        ("name, upper(name)", "ORDER BY name LIMIT 1", [("a", "A")]),
        ("transform(array(X.price), x -> x + 1)", "ORDER BY X.name LIMIT 1", [([6],)]),
    ],
)
def test_select(select: str, after: str, expected: list[tuple[Any, ...]]) -> None:
    assert run(f"SELECT {select} {PATTERN} {after}") == expected


def test_names_of_columns() -> None:
    items = "X.name, X.date AS d, Z.date e, FIRST(Y).price, X.price + 1, COUNT(Y)"
    names = rex.sql(f"SELECT {items} {PATTERN}", quote=TABLE).column_names
    assert names == ["name", "d", "e", "price", "X.price + 1", "COUNT(Y)"]
    # Two of one name stay two, as in any other query.
    assert rex.sql(f"SELECT X.date, Z.date {PATTERN}", quote=TABLE).column_names == ["date", "date"]
    with pytest.raises(rex.AnalysisError, match="two columns called date"):
        rex.sql(f"SELECT X.date, Z.date {PATTERN}", quote=pl.DataFrame({"name": [], "date": [], "price": []}))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (f"SELECT name FROM (SELECT X.name AS name {PATTERN}) AS m WHERE name > 'a'", [("b",)]),
        (f"WITH m AS (SELECT X.name AS name {PATTERN}) SELECT count(*) FROM m", [(2,)]),
        (f"WITH q AS (SELECT * FROM quote WHERE name = 'b') SELECT X.name {PATTERN.replace('quote', 'q')}", [("b",)]),
        (f"SELECT X.name {PATTERN} UNION ALL SELECT X.name {PATTERN} AND X.price < 6", [("a",), ("b",), ("a",)]),
        (f"SELECT m.name, n FROM (SELECT X.name {PATTERN}) m JOIN (SELECT 'b' AS k, 1 AS n) ON k = m.name", [("b", 1)]),
        (f"SELECT 'a' IN (SELECT X.name {PATTERN})", [(True,)]),
        # Another pattern's result, and that of MATCH_RECOGNIZE, as input.
        (f"SELECT A.n FROM (SELECT COUNT(Y) AS n {PATTERN}) SEQUENCE BY n AS (A, B) WHERE B.n > A.n", [(1,)]),
        (
            "SELECT COUNT(A) FROM quote MATCH_RECOGNIZE (PARTITION BY name ORDER BY date MEASURES A.date AS d "
            "PATTERN (A B) DEFINE B AS price > PREV(price)) AS m CLUSTER BY m.name SEQUENCE BY d AS (*A) ORDER BY 1",
            [(2,), (2,)],
        ),
        ("SELECT X.date FROM quote AS q CLUSTER BY q.name SEQUENCE BY q.date DESC AS (X, Y) WHERE q.name = 'b'",
         [(5,), (3,)]),
        ("select x.date from quote cluster by name sequence by date as (x) where x.price between 4 and 5 and x.date>1",
         [(2,), (5,)]),
        ("SELECT X.date FROM quote SEQUENCE BY name, date AS (X, Y) WHERE X.name <> Y.name", [(6,)]),
        # OR binds weaker than AND: one condition, which belongs to Y.
        ("SELECT X.date FROM quote SEQUENCE BY name, date AS (X, Y) WHERE X.price = 3 AND Y.price = 6 OR Y.price = 11",
         [(3,), (4,)]),
        ("SELECT X.date FROM quote SEQUENCE BY name, date AS (*X, Y) WHERE (X.price < 5 AND (Y.price = 6))", [(3,)]),
        ("SELECT X.price FROM quote CLUSTER BY name SEQUENCE BY date AS (X, Y) "
         "WHERE X.name IN (SELECT 'b') AND Y.price < X.price", [(9,), (10,)]),
        # What only looks like the language.
        ("SELECT count(*) FROM (SELECT * FROM quote CLUSTER BY name)", [(11,)]),
        ("SELECT sequence FROM (SELECT 1 AS sequence) AS t", [(1,)]),
    ],
)
def test_statements(query: str, expected: list[tuple[Any, ...]]) -> None:
    assert run(query) == expected
    assert run(query, dialect="sqlts") == expected


@pytest.mark.parametrize("dialect", ["duckdb", "trino", "snowflake", "flink", "postgres", "bigquery"])
def test_in_other_dialects(dialect: str) -> None:
    query = f"SELECT X.name, X.price * 2, COUNT(Y) {PATTERN} ORDER BY X.name"
    assert run(query, dialect=dialect) == [("a", 10, 2), ("b", 18, 1)]


def test_parameters() -> None:
    pattern = "FROM quote CLUSTER BY name SEQUENCE BY date AS (X, *Y) WHERE X.name = :n AND Y.price < :high"
    query = f"SELECT X.price {pattern}"
    assert run(query, args={"n": "b", "high": 10}) == [(9,), (10,)]
    compiled = rex.compile(query)
    assert compiled(TABLE, args={"n": "a", "high": 4}).to_pylist() == [{"price": 4}]
    printed = str(rex.explain(query, TABLE, args={"n": "o'b", "high": -4})).split(WITH_MATCH_RECOGNIZE)[1]
    assert run(printed) == []


def test_inputs_and_chunks() -> None:
    query = f"SELECT X.name, Z.date {PATTERN} ORDER BY X.name"
    expected = [{"name": "a", "date": 4}, {"name": "b", "date": 3}]
    plain = TABLE.select(["name", "date", "price"])
    pandas, polars = rex.sql(query, quote=plain.to_pandas()), rex.sql(query, quote=pl.DataFrame(plain))
    assert isinstance(pandas, pd.DataFrame) and pandas.to_dict("records") == expected
    assert isinstance(polars, pl.DataFrame) and polars.to_dicts() == expected
    assert rex.sql(query, quote=plain, settings={"chunk_rows": 2}).to_pylist() == expected
    assert rex.compile(query).reader(plain).read_all().to_pylist() == expected


def test_in_the_command(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "quote.parquet")
    query = tmp_path / "query.sql"
    query.write_text(f"SELECT X.name, Z.date AS d {PATTERN} ORDER BY X.name", encoding="utf-8")
    out = tmp_path / "out.parquet"
    table = f"quote={tmp_path / 'quote.parquet'}"
    assert main(["run", str(query), "--table", table, "--dialect", "sqlts", "--output", str(out)]) == 0
    assert pq.read_table(out).to_pylist() == [{"name": "a", "d": 4}, {"name": "b", "d": 3}]
