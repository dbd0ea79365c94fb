"""SQL-TS: floods. A pattern in the FROM clause, and conditions in WHERE."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

import sparkrex as rex
from examples.tour.planting import after, in_order, moment, names, places, utc, zigzag
from examples.tour.stop import Scene, Stop

N_DAYS = 1_000

QUERY = """SELECT X.river, FIRST(Y).ts AS rose_at, Z.previous.ts AS peak_at, Z.previous.level AS peak
FROM levels
  CLUSTER BY river
  SEQUENCE BY ts
  AS (X, *Y, Z)
WHERE Y.level > Y.previous.level
  AND Z.previous.level > 2 * X.level"""


def find(levels: Any) -> Any:
    return rex.sql(QUERY, levels=levels)


def plant(random: np.random.Generator, n_rivers: int) -> Scene:
    rivers, parts, planted = names("r", n_rivers), [], []
    for river in rivers:
        ts = after(86_400 * np.arange(N_DAYS))
        level = random.uniform(1, 3) * (1 + 0.15 * zigzag(random, N_DAYS))
        for place, factor in zip(places(random, N_DAYS, 4, 20), (2.6, 3.4, 2.9, 1.5), strict=True):
            days = int(random.integers(4, 9))
            # The day before has the least level of all, so that the flood rises from there.
            level[place : place + days + 1] = level.min() * np.linspace(1, factor, days + 1)
            level[place + days + 1 : place + days + 4] = level[place + days] * np.array([0.9, 0.75, 0.6])
            if factor > 2:
                planted.append((river, moment(ts[place + days])))
        parts.append(pa.table({"river": [river] * N_DAYS, "ts": utc(ts), "level": np.round(level, 3)}))
    return Scene(in_order(parts), planted, rivers[:3])


STOP = Stop(
    title="SQL-TS",
    about=(
        "An older language for the same kind of question: elements in FROM, a star for as many rows as there are, "
        "conditions in WHERE. Each river has three floods, in which the level more than doubles in days that all "
        "rise."
    ),
    decoys="A rise of as many days that does not double, and noise that goes up and down.",
    query=QUERY, key="river", n_keys=100, plant=plant, find=find,
    answers=lambda found: [(row["river"], row["peak_at"]) for row in found.to_pylist()],
    draw=lambda levels, found: rex.plot(QUERY, levels=levels, title="Floods"),
    page="sqlts.md",
)
