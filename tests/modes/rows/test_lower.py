"""What travels to Spark's workers of a row pattern with a bound in time."""

from __future__ import annotations

from datetime import UTC, datetime

import pyarrow as pa
import pytest
from tests.streams.driving import Query

TICKS = pa.table({
    "k": pa.array([1], pa.int64()), "ts": pa.array([datetime(2026, 3, 1, tzinfo=UTC)], pa.timestamp("us", "UTC")),
    "x": pa.array([1.0], pa.float64()),
})


def travelling(within: str, ticks: pa.Table = TICKS) -> list[str]:
    """The columns that Spark computes for a pattern within an interval, as SQL."""
    bound = f"WITHIN INTERVAL {within}"
    clause = f"PARTITION BY k ORDER BY ts MEASURES LAST(B.x) AS x PATTERN (A B+) {bound} DEFINE B AS x > 1"
    return list(Query(clause).cut(ticks).lowered.projections.values())


@pytest.mark.parametrize("within", ["'1' HOUR", "'90' MINUTE", "'86399' SECOND"])
def test_workers_move_times_themselves(within: str) -> None:
    assert not [text for text in travelling(within) if "INTERVAL" in text]


@pytest.mark.parametrize("within", ["'1' DAY", "'25' HOUR", "'24' HOUR", "'1' MONTH"])
def test_spark_moves_times_by_what_its_zone_decides(within: str) -> None:
    assert [text for text in travelling(within) if "INTERVAL" in text]


def test_spark_makes_times_of_dates() -> None:
    dates = TICKS.set_column(1, "ts", TICKS.column("ts").cast(pa.date32()))
    assert [text for text in travelling("'1' HOUR", dates) if "INTERVAL" in text]
