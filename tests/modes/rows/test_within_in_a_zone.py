"""WITHIN of a day where clocks change: as long as the day is in the session's zone, as for the host's own sum."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest

import sparkrex as rex

QUERY = """SELECT k FROM t MATCH_RECOGNIZE (
    PARTITION BY k ORDER BY ts PATTERN (A B) WITHIN INTERVAL '1' DAY DEFINE B AS x > A.x)"""
NOON_BEFORE_SUMMER_TIME = datetime(2026, 3, 28, 11, 30, tzinfo=UTC)
HOURS = [22.99, 23.0, 23.99, 24.0]


@pytest.mark.parametrize(("zone", "stored", "within"), [
    ("UTC", "UTC", [22.99, 23.0, 23.99]),
    ("Europe/Berlin", "UTC", [22.99]),
    ("Europe/Berlin", None, [22.99, 23.0, 23.99]),  # without a zone a day has 24 hours
])
def test_a_day_is_as_long_as_in_the_sessions_zone(zone: str, stored: str | None, within: list[float]) -> None:
    rows = []
    for hours in HOURS:
        first = NOON_BEFORE_SUMMER_TIME if stored else NOON_BEFORE_SUMMER_TIME.replace(tzinfo=None)
        rows += [(hours, first, 1), (hours, first + timedelta(hours=hours), 2)]
    keys, times, values = map(list, zip(*rows, strict=True))
    table = pa.table({"k": keys, "ts": pa.array(times, pa.timestamp("us", stored)), "x": values})
    assert rex.sql(QUERY, t=table, settings={"time_zone": zone})["k"].to_pylist() == within
