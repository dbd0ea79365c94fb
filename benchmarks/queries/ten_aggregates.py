"""V shapes with ten aggregates as measures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.data import ticks
from benchmarks.expected import letters, ordered, search, segment_reduce
from benchmarks.query import Query

if TYPE_CHECKING:
    import pyarrow as pa

    from benchmarks.query import Answer

SQL = """SELECT * FROM t MATCH_RECOGNIZE (
  PARTITION BY symbol ORDER BY ts
  MEASURES count(*) AS n, sum(volume) AS volume, avg(price) AS mean, min(price) AS low, max(price) AS high,
    stddev(price) AS spread, sum(DOWN.volume) AS down_volume, avg(UP.price) AS up_mean, count(UP.*) AS n_up,
    max(DOWN.volume) AS down_most
  PATTERN (STRT DOWN+ UP+)
  DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price))"""


def expected(table: pa.Table) -> Answer:
    """The same by a regular expression and reductions over its spans."""
    rows = ordered(table, "symbol")
    price, before, volume = rows["price"], rows.previous("price"), rows["volume"]
    found = search(".(D+)(U+)", letters(("D", price < before), ("U", price > before)), rows.offsets)
    (first, end), (down, down_end), (up, up_end) = (found[:, group].T for group in range(3))
    n = end - first
    mean = segment_reduce(np.add, price, first, end) / n
    distance = np.zeros_like(price)
    inside = np.repeat(first - np.append(0, np.cumsum(n)[:-1]), n) + np.arange(n.sum())
    distance[inside] = (price[inside] - np.repeat(mean, n)) ** 2
    return {
        "symbol": rows["symbol"][first], "n": n, "volume": segment_reduce(np.add, volume, first, end), "mean": mean,
        "low": segment_reduce(np.minimum, price, first, end), "high": segment_reduce(np.maximum, price, first, end),
        "spread": np.sqrt(segment_reduce(np.add, distance, first, end) / (n - 1)),
        "down_volume": segment_reduce(np.add, volume, down, down_end),
        "up_mean": segment_reduce(np.add, price, up, up_end) / (up_end - up), "n_up": up_end - up,
        "down_most": segment_reduce(np.maximum, volume, down, down_end),
    }


QUERIES = (Query("ten_aggregates", "V shape with ten aggregates", ticks, SQL, expected),)
