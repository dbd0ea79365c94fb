"""Overlapping matches: SKIP TO NEXT ROW."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.data import ticks
from benchmarks.expected import ordered
from benchmarks.query import Query

if TYPE_CHECKING:
    import pyarrow as pa

    from benchmarks.query import Answer

SQL = """SELECT * FROM t MATCH_RECOGNIZE (
  PARTITION BY symbol ORDER BY ts
  MEASURES A.ts AS began_at, C.ts AS ended_at, C.price - A.price AS rise
  AFTER MATCH SKIP TO NEXT ROW
  PATTERN (A B C)
  DEFINE B AS price > PREV(price), C AS price > PREV(price))"""

DUCKDB = """SELECT symbol, began_at, ended_at, price - price_2 AS rise FROM (
  SELECT symbol, ts AS ended_at, lag(ts, 2) OVER w AS began_at, price, lag(price) OVER w AS price_1,
    lag(price, 2) OVER w AS price_2 FROM t WINDOW w AS (PARTITION BY symbol ORDER BY ts))
WHERE price > price_1 AND price_1 > price_2"""


def expected(table: pa.Table) -> Answer:
    """The same by comparing neighbours."""
    rows = ordered(table, "symbol")
    price = rows["price"]
    before, earlier = rows.previous("price"), rows.previous("price", 2)
    last = np.flatnonzero((price > before) & (before > earlier))
    return {
        "symbol": rows["symbol"][last], "began_at": rows["ts"][last - 2], "ended_at": rows["ts"][last],
        "rise": price[last] - price[last - 2],
    }


QUERIES = (Query("overlapping", "three rising rows, SKIP TO NEXT ROW", ticks, SQL, expected, duckdb=DUCKDB),)
