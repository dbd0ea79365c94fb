"""The standard workloads: seeded data, the query, and its answer computed without SparkRex.

W1 and W5 are the names used in the project's list of measured facts. The expected answers are plain Python loops over
the same rows, written from the meaning of the pattern, with no pattern engine in them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SEED = 20261115
N_SYMBOLS = 1_000


@dataclass(frozen=True)
class Workload:
    """A query over one table called `ticks`, and the function that knows its answer."""

    name: str
    what: str
    query: str
    floor: float
    """Rows per second that the engine must reach, warm."""
    expected: Callable[[pa.Table], list[tuple[Any, ...]]]


def ticks(n_rows: int, seed: int = SEED) -> pa.Table:
    """Ticks in time order: each row is the next step in the random walk of a random symbol, in whole cents."""
    random = np.random.default_rng(seed)
    symbol = random.integers(0, N_SYMBOLS, n_rows)
    step = random.integers(-30, 31, n_rows)
    price = np.empty(n_rows, dtype=np.int64)
    for rows in rows_of_partitions(symbol):
        price[rows] = 100_000 + np.cumsum(step[rows])
    return pa.table(
        {
            "symbol": pa.array(symbol, pa.int64()),
            "ts": pa.array(1_800_000_000_000_000 + np.arange(n_rows) * 1_000, pa.timestamp("us")),
            "price": pa.array(price / 100.0, pa.float64()),
            "volume": pa.array(random.integers(100, 1_100, n_rows), pa.int64()),
        }
    )


def rows_of_partitions(keys: np.ndarray[Any, Any]) -> Iterator[np.ndarray[Any, Any]]:
    """Row numbers of each key, in input order; keys in order of first appearance."""
    if not len(keys):
        return
    order = np.argsort(keys, kind="stable")
    cuts = np.flatnonzero(np.diff(keys[order])) + 1
    yield from sorted(np.split(order, cuts), key=lambda rows: int(rows[0]))


def v_shapes(table: pa.Table) -> list[tuple[Any, ...]]:
    """(symbol, first DOWN ts, last UP ts, lowest DOWN price) of each V, by a machine of two runs."""
    symbol, ts, price = (table[name].to_numpy() for name in ("symbol", "ts", "price"))
    found = []
    for rows in rows_of_partitions(symbol):
        prices = price[rows].tolist()
        start, n_rows = 0, len(prices)
        while start < n_rows:
            turn = start + 1
            while turn < n_rows and prices[turn] < prices[turn - 1]:
                turn += 1
            end = turn
            while end < n_rows and prices[end] > prices[end - 1]:
                end += 1
            if turn > start + 1 and end > turn:
                found.append((symbol[rows[0]], ts[rows[start + 1]], ts[rows[end - 1]], prices[turn - 1]))
                start = end
            else:
                start += 1
    return found


def runs_above_average(table: pa.Table) -> list[tuple[Any, ...]]:
    """(symbol, first A ts, B ts, number of A rows) of each match of (A+ B)."""
    symbol, ts, price, volume = (table[name].to_numpy() for name in ("symbol", "ts", "price", "volume"))
    found = []
    for rows in rows_of_partitions(symbol):
        prices, volumes = price[rows].tolist(), volume[rows].tolist()
        start, n_rows = 0, len(prices)
        while start < n_rows:
            total, end, last_b = 0.0, start, -1
            while end < n_rows:
                # B may follow any number of A rows from one on; the preferred match has the most.
                if end > start and volumes[end] < 150:
                    last_b = end
                total += prices[end]
                if not prices[end] >= total / (end - start + 1):
                    break
                end += 1
            if last_b > 0:
                found.append((symbol[rows[0]], ts[rows[start]], ts[rows[last_b]], last_b - start))
                start = last_b + 1
            else:
                start += 1
    return found


W1 = Workload(
    "W1",
    "V shape, 1,000 symbols",
    """SELECT * FROM ticks MATCH_RECOGNIZE (
  PARTITION BY symbol ORDER BY ts
  MEASURES FIRST(DOWN.ts) AS fell_at, LAST(UP.ts) AS back_at, MIN(DOWN.price) AS low
  PATTERN (STRT DOWN+ UP+)
  DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price))""",
    2_000_000,
    v_shapes,
)

W5 = Workload(
    "W5",
    "(A+ B), A above the running average of A",
    """SELECT * FROM ticks MATCH_RECOGNIZE (
  PARTITION BY symbol ORDER BY ts
  MEASURES FIRST(A.ts) AS began_at, B.ts AS ended_at, count(A.*) AS n_above
  PATTERN (A+ B)
  DEFINE A AS price >= avg(A.price), B AS volume < 150)""",
    300_000,
    runs_above_average,
)

WORKLOADS = {workload.name: workload for workload in (W1, W5)}

PATHOLOGICAL = {
    "((A+)+ B)": """SELECT * FROM ticks MATCH_RECOGNIZE (
  ORDER BY ts MEASURES count(*) AS n PATTERN ((A+)+ B) DEFINE A AS price > 0, B AS price < 0)""",
    "(A* B* C* D)": """SELECT * FROM ticks MATCH_RECOGNIZE (
  ORDER BY ts MEASURES count(*) AS n PATTERN (A* B* C* D)
  DEFINE A AS price > 0, B AS price > 0, C AS price > 0, D AS price < 0)""",
}
"""Every row can be A (and B and C), none can end the match: a naive search tries all ways to cut the rows up."""
