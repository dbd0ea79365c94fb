"""Row patterns in a window: for every reading, whether the machine will run hot soon."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

import sparkrex as rex
from examples.tour.planting import after, in_order, moment, names, places, spells, utc
from examples.tour.stop import Scene, Stop

N_READINGS = 720
AHEAD = 12  # rows that the frame looks ahead, as in the query
LEAST = 4  # hot rows that make a spell, as in the query

QUERY = """SELECT machine, ts, first_value(ts) OVER ahead AS hot_at
FROM readings
WINDOW ahead AS (
  PARTITION BY machine
  ORDER BY ts
  ROWS BETWEEN CURRENT ROW AND 12 FOLLOWING
  AFTER MATCH SKIP TO NEXT ROW
  SEEK
  PATTERN (HOT{4,})
  DEFINE HOT AS celsius > 90)"""


def find(readings: Any) -> Any:
    return rex.sql(QUERY, readings=readings)


def plant(random: np.random.Generator, n_machines: int) -> Scene:
    machines, parts, planted = names("m", n_machines), [], []
    for machine in machines:
        ts = after(60 * np.arange(N_READINGS))
        celsius = random.uniform(60, 80, N_READINGS)
        short = spells(random, N_READINGS)
        celsius[short] = random.uniform(91, 99, short.sum())
        for first in places(random, N_READINGS, 3, 30):
            n = int(random.integers(5, 10))
            celsius[first - 2 : first + n + 2] = 75.0
            celsius[first : first + n] = random.uniform(91, 110, n)
            # From the row whose frame just holds the first hot rows, to the last one that still begins enough of them.
            labelled = range(first + LEAST - 1 - AHEAD, first + n - LEAST + 1)
            planted += [(machine, moment(ts[row]), moment(ts[max(row, first)])) for row in labelled]
        parts.append(pa.table({"machine": [machine] * N_READINGS, "ts": utc(ts), "celsius": np.round(celsius, 1)}))
    return Scene(in_order(parts), planted, machines[:3])


STOP = Stop(
    title="Window",
    about=(
        "A row pattern in a window gives every row a value of its own, as window functions do. Here each reading "
        "learns whether, and when, its machine runs hot for four minutes within the next twelve: a label to train a "
        "model on. Three hot spells were planted for each machine; what is counted are the rows that must have a "
        "label."
    ),
    decoys="Up to three hot minutes at a time, twice in every half hour.",
    query=QUERY, key="machine", n_keys=100, plant=plant, find=find,
    answers=lambda found: [
        (row["machine"], row["ts"], row["hot_at"]) for row in found.to_pylist() if row["hot_at"] is not None
    ],
    draw=lambda readings, found: rex.plot(QUERY, readings=readings, title="Hot spells ahead"),
    page="windows.md",
)
