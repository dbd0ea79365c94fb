"""Segments: straight falls with a straight rise behind them, in noisy temperatures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

import sparkrex as rex
from examples.tour.planting import after, in_order, names, places, utc
from examples.tour.stop import Scene, Stop

N_HOURS = 600

QUERY = """SELECT *
FROM weather MATCH_RECOGNIZE (
  PARTITION BY station
  ORDER BY ts
  MEASURES
    first(FALL.ts)    AS fell_at,
    last(RISE.ts)     AS back_at,
    min(SPAN.celsius) AS coldest
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN ((FALL RISE) & SPAN)
  DEFINE
    SEGMENT SPAN AS window(16, 36),
    SEGMENT FALL AS window(6, 30)
                AND last(FALL.celsius) < first(FALL.celsius) - 6
                AND linear_reg_r2_signed(FALL.hour, FALL.celsius) <= -0.9,
    SEGMENT RISE AS window(6, 30)
                AND last(RISE.celsius) > first(RISE.celsius) + 6
                AND linear_reg_r2_signed(RISE.hour, RISE.celsius) >= 0.9)"""


def find(weather: Any) -> Any:
    return rex.sql(QUERY, weather=weather)


def plant(random: np.random.Generator, n_stations: int) -> Scene:
    stations, parts, planted = names("w", n_stations), [], []
    hours = np.arange(N_HOURS)
    for station in stations:
        level, noise = random.uniform(12, 18), random.uniform(-1.5, 1.5, N_HOURS)
        celsius = level + noise
        for number, place in enumerate(places(random, N_HOURS, 3, 40)):
            depth = random.uniform(9, 13)
            down, up = random.integers(10, 15, 2)
            fall, rise = np.linspace(0, -depth, down, endpoint=False), np.linspace(-depth, 0, up)
            if number == 2:
                rise = np.full(up, -depth)  # cold that stays, and is gone within an hour: no straight rise of six hours
            spell = slice(place, place + down + up)
            celsius[spell] = level + np.concatenate([fall, rise]) + 0.6 * noise[spell]
            if number < 2:
                planted.append((station, float(np.round(celsius[spell], 2).min())))
        parts.append(pa.table({
            "station": [station] * N_HOURS, "ts": utc(after(3600 * hours)), "hour": hours,
            "celsius": np.round(celsius, 2),
        }))
    return Scene(in_order(parts), planted, stations[:3])


STOP = Stop(
    title="Segment",
    about=(
        "A segment is a stretch of rows that is judged as a whole: its ends, its length, how straight it is. Each "
        "station has two cold spells, a fall of more than six degrees and then a rise, with single hours that go the "
        "other way. No condition on a row and the one before could say that; R² of a regression can."
    ),
    decoys="A fall that ends in one jump instead of a rise.",
    query=QUERY, key="station", n_keys=40, plant=plant, find=find,
    answers=lambda found: [(row["station"], row["coldest"]) for row in found.to_pylist()],
    draw=lambda weather, found: rex.plot(QUERY, weather=weather, title="Cold spells"),
    page="segments.md",
)
