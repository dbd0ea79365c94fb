"""Tables and queries that have matches of every kind, for tests of pictures."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

V_SHAPES = """SELECT * FROM ticks MATCH_RECOGNIZE (
  PARTITION BY symbol ORDER BY ts
  MEASURES FIRST(DOWN.ts) AS fell_at, LAST(UP.ts) AS back_at
  PATTERN (STRT DOWN{2,} UP{2,})
  DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price))"""


def random_ticks(n_rows: int = 60, symbols: str = "abc", seed: int = 1, gaps: bool = False) -> pa.Table:
    """Random walks of several symbols, mixed up; with gaps some prices are NULL and some NaN."""
    random = np.random.default_rng(seed)
    parts = []
    for symbol in symbols:
        price = np.round(50 + np.cumsum(random.normal(0, 1, n_rows)), 2)
        is_null = random.random(n_rows) < (0.1 if gaps else 0)
        if gaps:
            price[random.random(n_rows) < 0.1] = np.nan
        ts = np.datetime64("2026-11-02T09:30:00", "us") + np.arange(n_rows) * np.timedelta64(20, "s")
        parts.append(pa.table({"symbol": [symbol] * n_rows, "ts": ts, "price": pa.array(price, mask=is_null)}))
    table = pa.concat_tables(parts)
    return table.take(pa.array(random.permutation(table.num_rows)))


def clicks() -> pa.Table:
    """Events of two users."""
    kinds = ["view", "cart", "view", "pay", "cart", "pay", "view", "help", "cart", "pay"]
    return pa.table({
        "ts": pa.array(range(10), pa.int64()), "kind": kinds, "user": ["ann", "ann", "bob", "ann", "bob"] * 2,
    })
