"""W4: the relaxed double bottom, nine elements: two falls and two rises with quiet rows between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.data import ticks
from benchmarks.expected import letters, ordered, search
from benchmarks.hand import for_chdb, without_overlaps, without_overlaps_chdb
from benchmarks.query import Query

if TYPE_CHECKING:
    import pyarrow as pa

    from benchmarks.query import Answer

SQL = """SELECT * FROM t MATCH_RECOGNIZE (
  PARTITION BY symbol ORDER BY ts
  MEASURES X.ts AS began_at, S.ts AS ended_at, LAST(Y.price) AS first_low, LAST(V.price) AS second_low
  PATTERN (X Y+ Z+ T+ U+ V+ W+ R+ S)
  DEFINE X AS price >= 0.9999 * PREV(price), Y AS price < 0.9999 * PREV(price),
    Z AS price BETWEEN 0.9999 * PREV(price) AND 1.0001 * PREV(price), T AS price > 1.0001 * PREV(price),
    U AS price BETWEEN 0.9999 * PREV(price) AND 1.0001 * PREV(price), V AS price < 0.9999 * PREV(price),
    W AS price BETWEEN 0.9999 * PREV(price) AND 1.0001 * PREV(price), R AS price > 1.0001 * PREV(price),
    S AS price <= 1.0001 * PREV(price))"""

# One row per run of equal direction, then a fall that is followed by the six other runs and one more row.
CANDIDATES = """WITH steps AS (
  SELECT symbol, ts, price, row_number() OVER w AS n, lag(ts) OVER w AS ts_1, lag(price) OVER w AS price_1,
    CASE WHEN price < 0.9999 * price_1 THEN -1 WHEN price > 1.0001 * price_1 THEN 1 WHEN n = 1 THEN 2 ELSE 0 END AS way,
    lag(price, 2) OVER w AS price_2, CASE WHEN price_1 < 0.9999 * price_2 THEN -1 WHEN price_1 > 1.0001 * price_2 THEN 1
      WHEN n <= 2 THEN 2 ELSE 0 END AS way_1
  FROM t WINDOW w AS (PARTITION BY symbol ORDER BY ts)
  QUALIFY way <> way_1 OR n = 1),
candidates AS (
  SELECT symbol, n - 1 AS first_row, lead(n, 7) OVER w AS last_row, ts_1 AS began_at, lead(ts, 7) OVER w AS ended_at,
    lead(price_1) OVER w AS first_low, lead(price_1, 5) OVER w AS second_low
  FROM steps WINDOW w AS (PARTITION BY symbol ORDER BY n)
  QUALIFY way = -1 AND lag(way) OVER w <> 2 AND lead(way) OVER w = 0 AND lead(way, 2) OVER w = 1
    AND lead(way, 3) OVER w = 0 AND lead(way, 4) OVER w = -1 AND lead(way, 5) OVER w = 0 AND lead(way, 6) OVER w = 1
    AND last_row IS NOT NULL)"""
KEPT = """SELECT symbol, found[3] AS began_at, found[4] AS ended_at, found[5] AS first_low, found[6] AS second_low
FROM kept"""
COLUMNS = "began_at, ended_at, first_low, second_low"
DUCKDB = f"{CANDIDATES}, {without_overlaps('candidates', 'symbol', COLUMNS)} {KEPT}"
CHDB = for_chdb(f"{CANDIDATES}, {without_overlaps_chdb('candidates', 'symbol', COLUMNS)} {KEPT}", "ts", "price", "n")

FLINK = """SELECT * FROM t MATCH_RECOGNIZE (
  PARTITION BY symbol ORDER BY ts
  MEASURES X.ts AS began_at, S.ts AS ended_at, LAST(Y.price) AS first_low, LAST(V.price) AS second_low
  ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW
  PATTERN (X Y+ Z+ T+ U+ V+ W+ R+ S)
  DEFINE X AS X.price >= 0.9999 * X.price_1, Y AS Y.price < 0.9999 * Y.price_1,
    Z AS Z.price >= 0.9999 * Z.price_1 AND Z.price <= 1.0001 * Z.price_1, T AS T.price > 1.0001 * T.price_1,
    U AS U.price >= 0.9999 * U.price_1 AND U.price <= 1.0001 * U.price_1, V AS V.price < 0.9999 * V.price_1,
    W AS W.price >= 0.9999 * W.price_1 AND W.price <= 1.0001 * W.price_1, R AS R.price > 1.0001 * R.price_1,
    S AS S.price <= 1.0001 * S.price_1)"""


def expected(table: pa.Table) -> Answer:
    """The same by a regular expression over falls, rises and quiet rows."""
    rows = ordered(table, "symbol")
    price, before, time = rows["price"], rows.previous("price"), rows["ts"]
    is_fall, is_rise = price < 0.9999 * before, price > 1.0001 * before
    directions = letters(("D", is_fall), ("U", is_rise), ("F", before == before))
    found = search("[FU](D+)F+U+F+(D+)F+U+[DF]", directions, rows.offsets)
    return {
        "symbol": rows["symbol"][found[:, 0, 0]], "began_at": time[found[:, 0, 0]],
        "ended_at": time[found[:, 0, 1] - 1],
        "first_low": price[found[:, 1, 1] - 1], "second_low": price[found[:, 2, 1] - 1],
    }


QUERIES = (
    Query(
        "W4", "relaxed double bottom, nine elements", ticks, SQL, expected, rate_goal=30e6, kernel_goal=80e6,
        ratio_goal=2, duckdb=DUCKDB, chdb=CHDB, flink=FLINK,
    ),
)
