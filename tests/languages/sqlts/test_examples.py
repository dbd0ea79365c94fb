"""The examples of the paper and of the language's definition on small tables, with answers worked out by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import sparkrex as rex

if TYPE_CHECKING:
    from collections.abc import Sequence


def quotes(**prices: Sequence[float | None]) -> pa.Table:
    """Prices by name, dates 1, 2, 3 and so on."""
    rows = [
        {"name": name, "date": date, "price": price}
        for name, values in prices.items() for date, price in enumerate(values, 1)
    ]
    return pa.Table.from_pylist(rows, pa.schema([("name", pa.string()), ("date", pa.int64()), ("price", pa.float64())]))


def run(query: str, table: pa.Table, **options: Any) -> list[tuple[Any, ...]]:
    result = rex.sql(query, quote=table, dialect="sqlts", **options)
    return list(zip(*(column.to_pylist() for column in result.columns), strict=True))


def test_example_1_up_then_down() -> None:
    query = """
        SELECT X.name FROM quote CLUSTER BY name SEQUENCE BY date AS (X, Y, Z)
        WHERE Y.price > 1.15 * X.price AND Z.price < 0.80 * Y.price"""
    assert run(query, quotes(IBM=[100, 116, 90], INTC=[100, 114, 90])) == [("IBM",)]


def test_example_2_maximal_falling_periods() -> None:
    query = """
        SELECT X.name, X.date AS start_date, Z.previous.date AS end_date
        FROM quote CLUSTER BY name SEQUENCE BY date AS (X, *Y, Z)
        WHERE Y.price < Y.previous.price AND Z.previous.price < 0.5 * X.price"""
    # From 10 to 4, which is less than half of it; from 10 to 5 is not.
    assert run(query, quotes(IBM=[10, 8, 4, 6, 5], INTC=[10, 8, 5, 6, 5])) == [("IBM", 1, 3)]
    # A fall that reaches the end has no Z.
    assert run(query, quotes(IBM=[10, 8, 4])) == []


def test_example_3_three_prices() -> None:
    query = """
        SELECT X.name FROM quote CLUSTER BY name SEQUENCE BY date AS (X, Y, Z)
        WHERE X.price =10 AND Y.price=11 AND Z.price=15"""
    assert run(query, quotes(IBM=[10, 11, 14, 10, 11, 15], INTC=[10, 15, 11])) == [("IBM",)]


EXAMPLE_4 = """
    SELECT X.date AS start_date, X.price, U.date AS end_date, U.price
    FROM quote CLUSTER BY name SEQUENCE BY date AS (X, Y, Z, T, U)
    WHERE X.name='IBM' AND Y.price < X.price AND Z.price < Y.price AND 40 < Z.price AND Z.price < 50
      AND Z.price < T.price AND T.price < 52 AND T.price < U.price"""


def test_example_4_two_drops_and_two_rises() -> None:
    found = run(EXAMPLE_4, quotes(IBM=[55, 50, 45, 51, 53], INTC=[55, 50, 45, 51, 53]))
    assert found == [(1, 55, 5, 53)]
    paper = [55, 50, 45, 57, 54, 50, 47, 49, 45, 42, 55, 57, 59, 60, 57]
    assert run(EXAMPLE_4, quotes(IBM=paper)) == []


def test_a_condition_on_the_cluster_filters_the_input() -> None:
    text = str(rex.explain(EXAMPLE_4, quote=quotes(IBM=[])))
    assert "FROM (SELECT * FROM quote WHERE name='IBM') AS quote MATCH_RECOGNIZE" in text
    assert "define X" not in text


def test_example_8_rise_fall_rise() -> None:
    query = """
        SELECT X.name, FIRST(X).date AS sdate, LAST(Z).date AS edate, COUNT(X), COUNT(Y), COUNT(Z)
        FROM quote CLUSTER BY name SEQUENCE BY date AS ( *X, *Y, *Z)
        WHERE X.price > X.previous.price AND Y.price < Y.previous.price AND Z.price > Z.previous.price"""
    # The first row has no previous one, so the first period has three rows.
    prices = [20, 21, 23, 24, 22, 20, 18, 15, 14, 18, 21]
    assert run(query, quotes(IBM=prices)) == [("IBM", 2, 11, 3, 5, 2)]


def test_example_9_four_periods() -> None:
    query = """
        SELECT X.NEXT.date, X.NEXT.price, S.previous.date, S.previous.price
        FROM quote CLUSTER BY name, SEQUENCE BY date AS (*X, Y, *Z, *T, U, *V, S)
        WHERE X.name='IBM' AND X.price > X.previous.price AND 30 < Y.price AND Y.price < 40
          AND Z.price < Z.previous.price AND T.price > T.previous.price AND 35 < U.price AND U.price < 40
          AND V.price < V.previous.price AND S.price < 30"""
    #                       X   X   Y   Z   Z   T   T   U   V   V   V   S
    prices = [20, 32, 36, 35, 31, 28, 34, 39, 36, 33, 31, 28, 29]
    assert run(query, quotes(IBM=prices, INTC=prices)) == [(4, 35, 12, 28)]


def test_example_10_relaxed_double_bottom() -> None:
    query = """
        SELECT X.NEXT.date, X.NEXT.price, S.previous.date, S.previous.price
        FROM djia SEQUENCE BY date AS (X,*Y, *Z, *T, *U, *V, *W, *R, S)
        WHERE X.price >= 0.98 * X.previous.price
          AND Y.price < 0.98 * Y.previous.price
          AND 0.98*Z.previous.price < Z.price AND Z.price < 1.02*Z.previous.price
          AND T.price > 1.02 * T.previous.price
          AND 0.98*U.previous.price < U.price AND U.price < 1.02*U.previous.price
          AND V.price < 0.98 * V.previous.price
          AND 0.98*W.previous.price < W.price AND W.price < 1.02*W.previous.price
          AND R.price > 1.02*R.previous.price
          AND S.price <= 1.02*S.previous.price""".replace("djia", "quote")
    #                              X    Y   Z     T    U      V   W     R   S
    prices = [100, 100, 95, 95.5, 100, 100.5, 95, 95.2, 99, 99.5]
    assert run(query, quotes(DJIA=prices)) == [(3, 95, 9, 99)]


@pytest.mark.parametrize("matcher", ["automaton", "backtrack", "interpreter"])
def test_stars_give_nothing_back(matcher: str) -> None:
    # 12 ends X and is Y's first row, though NOT (Y's condition) would not hold for 7, which Y takes too.
    query = """
        SELECT FIRST(X).date, X.date, FIRST(Y).date, Y.date, Z.date FROM quote SEQUENCE BY date AS (*X, *Y, Z)
        WHERE X.price < 10 AND Y.price > 5 AND Z.price = 0"""
    assert run(query, quotes(A=[3, 12, 7, 0]), settings={"matcher": matcher}) == [(1, 1, 2, 3, 4)]
    # NULL is not below 10: the star ends there, and Y takes any row.
    query = "SELECT FIRST(X).date, X.date, Y.date FROM quote SEQUENCE BY date AS (*X, Y) WHERE X.price < 10"
    assert run(query, quotes(A=[5, 4, None]), settings={"matcher": matcher}) == [(1, 2, 3)]
    assert run(query, quotes(A=[5, 4, 9]), settings={"matcher": matcher}) == []
    # A start inside the run of a star that failed.
    query = """
        SELECT FIRST(X).date, Y.date FROM quote SEQUENCE BY date AS (*X, Y)
        WHERE X.price > X.previous.price AND Y.price < FIRST(X).price"""
    assert run(query, quotes(A=[1, 3, 6, 7, 4]), settings={"matcher": matcher}) == [(3, 5)]


def test_a_star_without_a_condition_takes_everything() -> None:
    assert run("SELECT FIRST(X).date, X.date FROM quote SEQUENCE BY date AS (*X)", quotes(A=[1, 2, 3])) == [(1, 3)]
    assert run("SELECT X.date FROM quote SEQUENCE BY date AS (*X, Y)", quotes(A=[1, 2, 3])) == []
