"""W5: rows above the running average of the match, then one of small volume."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.data import ticks
from benchmarks.expected import Array, ordered, plain_loop
from benchmarks.query import Query

if TYPE_CHECKING:
    import pyarrow as pa

    from benchmarks.query import Answer

SQL = """SELECT * FROM t MATCH_RECOGNIZE (
  PARTITION BY symbol ORDER BY ts
  MEASURES FIRST(A.ts) AS began_at, B.ts AS ended_at, count(A.*) AS n_above
  PATTERN (A+ B)
  DEFINE A AS price >= avg(A.price), B AS volume < 150)"""

FLINK = """SELECT * FROM t MATCH_RECOGNIZE (
  PARTITION BY symbol ORDER BY ts
  MEASURES FIRST(A.ts) AS began_at, B.ts AS ended_at, COUNT(A.price) AS n_above
  ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW
  PATTERN (A+ B)
  DEFINE A AS A.price >= AVG(A.price), B AS B.volume < 150)"""


@plain_loop
def runs_above_average(price: Array, volume: Array, offsets: Array) -> Array:
    """First row and B row of each match."""
    found = np.empty((len(price), 2), np.int64)
    n_found = 0
    for part in range(len(offsets) - 1):
        start, stop = offsets[part], offsets[part + 1]
        while start < stop:
            total, end, last_b = 0.0, start, -1
            while end < stop:
                # B may follow any number of A rows from one on; the preferred match has the most.
                if end > start and volume[end] < 150:
                    last_b = end
                total += price[end]
                if price[end] < total / (end - start + 1):
                    break
                end += 1
            if last_b >= 0:
                found[n_found] = (start, last_b)
                n_found += 1
                start = last_b + 1
            else:
                start += 1
    return found[:n_found]


def expected(table: pa.Table) -> Answer:
    """The same by a loop that keeps the sum."""
    rows = ordered(table, "symbol")
    found = runs_above_average(rows["price"], rows["volume"], rows.offsets)
    first, last = found[:, 0], found[:, 1]
    return {
        "symbol": rows["symbol"][first], "began_at": rows["ts"][first], "ended_at": rows["ts"][last],
        "n_above": last - first,
    }


QUERIES = (
    Query(
        "W5", "(A+ B), A above the running average of A", ticks, SQL, expected, reads_match=True, rate_goal=5e6,
        kernel_goal=15e6, flink=FLINK,
    ),
)
