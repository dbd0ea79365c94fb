"""W1: V shapes in the prices of 1,000 symbols; W2: the same in one partition."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from benchmarks.data import ticks
from benchmarks.expected import letters, ordered, search
from benchmarks.hand import for_chdb
from benchmarks.query import Query

if TYPE_CHECKING:
    import pyarrow as pa

    from benchmarks.query import Answer

SQL = """SELECT * FROM t MATCH_RECOGNIZE (
  {partition} ORDER BY ts
  MEASURES FIRST(DOWN.ts) AS fell_at, LAST(UP.ts) AS back_at, MIN(DOWN.price) AS low
  PATTERN (STRT DOWN+ UP+)
  DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price))"""

# Only the first row of each run of equal direction goes on, with what the row before it holds. A fall and the rise
# behind it are a V, unless STRT is missing: when the V before ends right before a fall of one row. Then the V is left
# out and the next may have it, so that in a chain of such falls every second V counts; a V there is two runs long.
DUCKDB = """WITH steps AS (
  SELECT {key} ts, row_number() OVER w AS n, lag(ts) OVER w AS ts_1, lag(price) OVER w AS price_1,
    lead(ts) OVER w AS next_ts, coalesce(sign(price - lag(price) OVER w), 0) AS way,
    coalesce(sign(lag(price) OVER w - lag(price, 2) OVER w), 0) AS way_1
  FROM t WINDOW w AS ({partition} ORDER BY ts)
  QUALIFY way <> way_1 OR n = 1),
runs AS (
  SELECT {key} ts, next_ts, way, row_number() OVER w AS run, lead(way) OVER w AS way_2, lead(price_1) OVER w AS low,
    lead(ts_1, 2) OVER w AS back_at, coalesce(lag(way) OVER w = 1 AND lag(way, 2) OVER w = -1, false) AS follows,
    CASE WHEN lead(n) OVER w > n + 1 OR NOT follows THEN run END AS sure
  FROM steps WINDOW w AS ({partition} ORDER BY n)
  QUALIFY way = -1 AND way_2 = 1),
shapes AS (
  SELECT {key} ts, next_ts, back_at, low, (run - max(sure) OVER ({partition} ORDER BY run)) % 4 = 0 AS counts,
    follows AND (run - 2 - max(sure) OVER (
      {partition} ORDER BY run ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) % 4 = 0 AS follows_one
  FROM runs)
{select} WHERE counts"""
FELL_AT = "CASE WHEN follows_one THEN next_ts ELSE ts END AS fell_at"
LAST_BY_KEY = f"""SELECT symbol, {FELL_AT}, coalesce(back_at, last_ts) AS back_at, low
FROM shapes JOIN (SELECT symbol, max(ts) AS last_ts FROM t GROUP BY symbol) AS ends USING (symbol)"""
LAST = f"SELECT {FELL_AT}, coalesce(back_at, (SELECT max(ts) FROM t)) AS back_at, low FROM shapes"
BY_SYMBOL_DUCKDB = DUCKDB.format(partition="PARTITION BY symbol", key="symbol,", select=LAST_BY_KEY)
WHOLE_DUCKDB = DUCKDB.format(partition="", key="", select=LAST)

# Flink has neither PREV nor a greedy quantifier at the end: the price before is a column, and one more row must follow.
FLINK = """SELECT * FROM t MATCH_RECOGNIZE (
  {partition} ORDER BY ts
  MEASURES FIRST(DOWN.ts) AS fell_at, LAST(UP.ts) AS back_at, MIN(DOWN.price) AS low
  ONE ROW PER MATCH AFTER MATCH SKIP TO FIRST OTHER
  PATTERN (STRT DOWN+ UP+ OTHER)
  DEFINE DOWN AS DOWN.price < DOWN.price_1, UP AS UP.price > UP.price_1, OTHER AS OTHER.price <= OTHER.price_1)"""


def v_shapes(table: pa.Table, *, key: str | None) -> Answer:
    """The same by a regular expression over the directions."""
    rows = ordered(table, key)
    price, before = rows["price"], rows.previous("price")
    found = search(".(D+)(U+)", letters(("D", price < before), ("U", price > before)), rows.offsets)
    fall, rise = found[:, 1], found[:, 2]
    answer: Answer = {key: rows[key][fall[:, 0]]} if key else {}
    return answer | {
        "fell_at": rows["ts"][fall[:, 0]], "back_at": rows["ts"][rise[:, 1] - 1], "low": price[fall[:, 1] - 1],
    }


def layout(name: str, title: str, rate_goal: float, *, is_string: bool, is_shuffled: bool) -> Query:
    """W1 over one layout of the same ticks."""
    return Query(
        name, f"V shape, 1,000 symbols, {title}", partial(ticks, is_string=is_string, is_shuffled=is_shuffled),
        SQL.format(partition="PARTITION BY symbol"), partial(v_shapes, key="symbol"), rate_goal=rate_goal, ratio_goal=2,
        kernel_goal=None if is_string or is_shuffled else 80e6,
        duckdb=BY_SYMBOL_DUCKDB, chdb=for_chdb(BY_SYMBOL_DUCKDB, "ts", "price"),
        flink=FLINK.format(partition="PARTITION BY symbol"),
    )


QUERIES = (
    layout("W1", "int key, time order", 60e6, is_string=False, is_shuffled=False),
    layout("W1_shuffled", "int key, shuffled", 25e6, is_string=False, is_shuffled=True),
    layout("W1_string", "string key, time order", 25e6, is_string=True, is_shuffled=False),
    layout("W1_string_shuffled", "string key, shuffled", 15e6, is_string=True, is_shuffled=True),
    Query(
        "W2", "V shape, one partition", partial(ticks, n_symbols=1), SQL.format(partition=""),
        partial(v_shapes, key=None), rate_goal=50e6, ratio_goal=2,
        duckdb=WHOLE_DUCKDB, chdb=for_chdb(WHOLE_DUCKDB, "ts", "price"), flink=FLINK.format(partition=""),
    ),
)
