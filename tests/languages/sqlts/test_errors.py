"""Mistakes: each has its code, its place and a hint."""

from __future__ import annotations

import pyarrow as pa
import pytest

import sparkrex as rex

TABLE = pa.table({"name": ["a"], "date": [1], "price": [5]})


@pytest.mark.parametrize(
    ("query", "code", "marked", "hint"),
    [
        ("SELECT X.price FROM quote SEQUENCE BY date AS (X) WHERE 1 = 1", "REX228", "1 = 1", "the elements are X"),
        ("SELECT X.date FROM quote SEQUENCE BY date AS (X) WHERE X.price > 1 AND price < 2", "REX228", "price < 2", ""),
        ("SELECT X.price FROM quote SEQUENCE BY date AS (X) WHERE X.price > price", "REX228", "price", "X.price"),
        ("SELECT X.price, price FROM quote SEQUENCE BY date AS (X)", "REX228", "price", "X.price"),
        ("SELECT X.price FROM quote SEQUENCE BY date AS (X) ORDER BY quote.price", "REX228", "quote.price", "X.price"),
        ("SELECT X FROM quote SEQUENCE BY date AS (X)", "REX228", "X", "X.price"),
        ("SELECT SUM(price) FROM quote SEQUENCE BY date AS (*X)", "REX228", "price", "X.price"),
        ("SELECT X.price FROM quote CLUSTER BY SEQUENCE BY date AS (X)", "REX109", "CLUSTER BY", "leave it out"),
        ("SELECT FIRST(X.price + 1) FROM quote SEQUENCE BY date AS (*X)", "REX207", "FIRST(X.", "FIRST(X).price"),
        ("SELECT * FROM quote SEQUENCE BY date AS (X)", "REX228", "*", "X.price"),
        ("SELECT X.* FROM quote SEQUENCE BY date AS (X)", "REX228", "X.*", "X.price"),
        ("SELECT X.price FROM quote SEQUENCE BY date AS (X, *Y, x)", "REX205", "x", "X2"),
        ("SELECT X.price FROM quote CLUSTER BY nme SEQUENCE BY date AS (X)", "REX201", "nme", "name"),
        ("SELECT X.price FROM quote SEQUENCE BY dat AS (X)", "REX201", "dat", "date"),
        ("SELECT X.prize FROM quote SEQUENCE BY date AS (X)", "REX201", "prize", "price"),
        ("SELECT X.price FROM quote SEQUENCE BY date AS (X) WHERE X.prize > 1", "REX201", "prize", "price"),
        ("SELECT Q.price FROM quote SEQUENCE BY date AS (X)", "REX206", "Q", "the elements are X"),
        ("SELECT FIRST(Q).price FROM quote SEQUENCE BY date AS (X)", "REX206", "Q", "the elements are X"),
        ("SELECT X.price FROM quote SEQUENCE BY date AS (X) WHERE Q.price > 1", "REX206", "Q", "the elements are X"),
        ("SELECT X.price FROM quote SEQUENCE BY date AS (X) WHERE X.price > Q.price", "REX206", "Q", "the elements"),
        ("SELECT X.price FROM quote CLUSTER BY name AS (X, *Y)", "REX109", "CLUSTER BY", "SEQUENCE BY d"),
        ("SELECT X.price FROM quote SEQUENCE BY date AS ()", "REX109", "()", "AS (X, *Y, Z)"),
        ("SELECT X.price FROM quote SEQUENCE BY date AS (X, )", "REX109", ",", "comma"),
        ("SELECT X.price FROM quote SEQUENCE BY date AS (X, *)", "REX109", "*", "*Y"),
        ("SELECT X.price FROM quote SEQUENCE BY date AS (X, Y*)", "REX109", "*", "*Y"),
        ("SELECT X.price FROM quote SEQUENCE BY date AS (X Y)", "REX109", "Y", "commas"),
        ("SELECT X.price FROM quote SEQUENCE BY date AS (X, 1)", "REX109", "1", ""),
        ("SELECT X.price FROM quote SEQUENCE BY date WHERE X.price > 1", "REX109", "SEQUENCE BY", "AS (X, *Y)"),
        ("SELECT X.price FROM quote SEQUENCE BY date AS X", "REX109", "SEQUENCE BY date AS", "AS (X, *Y)"),
        ("SELECT X.price FROM quote SEQUENCE BY AS (X)", "REX109", "SEQUENCE BY", "keys"),
        ("SELECT X.price FROM quote SEQUENCE BY date AS (X) WHERE", "REX109", "WHERE", "leave it out"),
        ("SELECT X.price FROM quote SEQUENCE BY date AS (X) TABLESAMPLE", "REX109", "TABLESAMPLE", "WHERE"),
        ("SELECT X.price FROM quote q, quote r SEQUENCE BY date AS (X)", "REX109", "SEQUENCE", "subquery"),
        ("SELECT X.price FROM quote SEQUENCE BY date AS (X) JOIN quote ON 1=1", "REX301", "JOIN", "join its result"),
        ("SELECT X.previous FROM quote SEQUENCE BY date AS (X)", "REX207", "X.previous", "X.previous.price"),
        ("SELECT X.price FROM quote SEQUENCE BY date AS (X) WHERE X.next > 1", "REX207", "X.next", "X.next.price"),
        ("SELECT FIRST(X) FROM quote SEQUENCE BY date AS (X)", "REX207", "FIRST(X)", "FIRST(X).price"),
        ("SELECT X.previous.next.price FROM quote SEQUENCE BY date AS (X)", "REX207", "X.previous.next", "row itself"),
        ("SELECT AVG(X.previous.price) FROM quote SEQUENCE BY date AS (X)", "REX210", "X.previous.price", ""),
        ("SELECT SUM(X.price + Y.price) FROM quote SEQUENCE BY date AS (X, Y)", "REX211",
         "SUM(X.price + Y.price)", "same variable"),
        ("SELECT X.price FROM quote SEQUENCE BY date AS (X, Y) WHERE Y.price > "
         "(SELECT max(q.price) FROM quote q WHERE q.date < X.date AND q.date > Y.date)", "REX211", None, ""),
        ("SELECT X.price FROM quote SEQUENCE BY date AS (X) WHERE X.price >", "REX104", None, ""),
    ],
)
def test_mistakes(query: str, code: str, marked: str | None, hint: str) -> None:
    with pytest.raises(rex.RexError) as caught:
        rex.sql(query, quote=TABLE, dialect="sqlts")
    error = caught.value
    assert error.code == code, error
    assert error.span is not None
    if marked is not None:
        assert query[error.span.start : error.span.end] == marked, error
    assert hint in (error.hint or ""), error
