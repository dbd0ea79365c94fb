"""Row pattern: V shapes in prices. The rows of a match follow each other directly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

import sparkrex as rex
from examples.tour.planting import after, in_order, moment, names, places, utc, zigzag
from examples.tour.stop import Scene, Stop

N_TICKS = 2_000

QUERY = """SELECT symbol, fell_at, bottom_at, back_at, round(100 * (top - low) / top, 1) AS drop_percent
FROM ticks MATCH_RECOGNIZE (
  PARTITION BY symbol
  ORDER BY ts
  MEASURES
    STRT.ts         AS fell_at,
    LAST(DOWN.ts)   AS bottom_at,
    LAST(UP.ts)     AS back_at,
    STRT.price      AS top,
    MIN(DOWN.price) AS low
  ONE ROW PER MATCH
  AFTER MATCH SKIP TO LAST UP
  PATTERN (STRT DOWN{6,} UP{6,})
  DEFINE
    DOWN AS price < PREV(price),
    UP   AS price > PREV(price))
WHERE (top - low) / top > 0.02"""


def find(ticks: Any) -> Any:
    return rex.sql(QUERY, ticks=ticks)


def plant(random: np.random.Generator, n_symbols: int) -> Scene:
    symbols, parts, planted = names("s", n_symbols), [], []
    for symbol in symbols:
        ts = after(np.cumsum(random.integers(1, 10, N_TICKS)))
        price = random.uniform(20, 400) * (1 + 0.004 * zigzag(random, N_TICKS))
        for place, depth in zip(places(random, N_TICKS, 4, 40), (0.03, 0.05, 0.06, 0.01), strict=True):
            down, up = random.integers(8, 17, 2)
            shape = 1 - depth * np.concatenate([np.linspace(0, 1, down, endpoint=False), np.linspace(1, 0, up)])
            price[place : place + len(shape)] = price[place] * shape
            if depth > 0.02:
                planted.append((symbol, moment(ts[place + down])))
        parts.append(pa.table({"symbol": [symbol] * N_TICKS, "ts": utc(ts), "price": np.round(price, 4)}))
    return Scene(in_order(parts), planted, symbols[:3])


STOP = Stop(
    title="Row pattern",
    about=(
        "MATCH_RECOGNIZE of SQL:2016: a regular expression over rows that follow each other. In the prices of each "
        "symbol three V shapes were planted, falls and climbs of at least eight ticks; the SQL around the clause "
        "keeps the deep ones."
    ),
    decoys="A fourth V that is not deep, and noise that goes up and down.",
    query=QUERY, key="symbol", n_keys=100, plant=plant, find=find,
    answers=lambda found: [(row["symbol"], row["bottom_at"]) for row in found.to_pylist()],
    draw=lambda ticks, found: rex.plot(QUERY, ticks=ticks, title="V shapes in prices"),
    page="language.md",
)
