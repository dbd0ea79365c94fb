"""The cold wave as a plain query (Figure 2 of the paper, under ALL MATCHES) and in segments (Figure 3)."""

from __future__ import annotations

import random
from datetime import datetime, timedelta

import pyarrow as pa

import sparkrex as rex

PLAIN = """SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY station ORDER BY tstamp
  MEASURES first(U.tstamp) AS a, last(U.tstamp) AS b, last(tstamp) AS c, START_INDEX() AS i, END_INDEX() AS j
  ALL MATCHES PATTERN (A* D+ B* Z) SUBSET U = (A, D, B)
  DEFINE D AS tstamp - first(D.tstamp) <= INTERVAL '5' DAY,
    Z AS last(U.tstamp) - first(U.tstamp) BETWEEN INTERVAL '25' DAY AND INTERVAL '30' DAY
      AND mann_kendall_test(U.temp) >= 2.0 AND linear_regression_r2(D.tstamp, D.temp) >= 0.8
      AND last(D.temp) - first(D.temp) < -10)"""
IN_SEGMENTS = """SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY station ORDER BY tstamp
  MEASURES first(tstamp) AS a, last(tstamp) AS b
  PATTERN ((W (DOWN & DIFF & WAVE_WINDOW) W) & UP & OVERALL_WINDOW)
  DEFINE SEGMENT W AS true, SEGMENT WAVE_WINDOW AS window(WAVE_WINDOW.tstamp, 1, 5, DAY),
    SEGMENT DIFF AS last(DIFF.temp) - first(DIFF.temp) < -10,
    SEGMENT DOWN AS linear_regression_r2(DOWN.tstamp, DOWN.temp) >= 0.8,
    SEGMENT OVERALL_WINDOW AS window(tstamp, 25, 30, DAY), SEGMENT UP AS mann_kendall_test(temp) >= 2.0)"""
N_DAYS = 120


def weather() -> pa.Table:
    """Two stations that warm up, with a cold wave every forty days."""
    chance = random.Random(3)
    rows = [
        {
            "station": station, "tstamp": datetime(2020, 1, 1) + timedelta(days=day),
            "temp": 0.6 * day + chance.gauss(0, 4) - 5 * (day % 40 - 30) * (30 < day % 40 < 35),
        }
        for station in ("a", "b") for day in range(N_DAYS)
    ]
    return pa.Table.from_pylist(rows)


def test_both_find_the_same_but_for_segments_that_end_on_the_last_row() -> None:
    plain, in_segments = (rex.sql(query, t=weather()).to_pylist() for query in (PLAIN, IN_SEGMENTS))
    last = datetime(2020, 1, 1) + timedelta(days=N_DAYS - 1)
    found = {(row["station"], row["a"], row["b"]) for row in in_segments}
    at_the_end = {segment for segment in found if segment[2] == last}
    assert at_the_end
    assert {(row["station"], row["a"], row["b"]) for row in plain} == found - at_the_end
    # The match has Z's row, too.
    assert {(row["c"] - row["b"]).days for row in plain} == {1}
    assert {(row["j"] - row["i"]) - (row["b"] - row["a"]).days for row in plain} == {1}
