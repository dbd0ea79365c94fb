"""Pairs of times, and how many units lie between them by the definition, for hosts to be compared with."""

from __future__ import annotations

import random
from datetime import datetime, timedelta

from tests.modes.rows.oracle import moments

COUNTS = {
    "spark": moments.whole_units, "trino": moments.whole_units_to_last_day, "snowflake": moments.difference,
}
UNITS = ("second", "minute", "hour", "day", "week", "month", "quarter", "year")
DIFFERENCES = {
    "spark": "TIMESTAMPDIFF({unit}, {start}, {end})", "trino": "date_diff('{unit}', {start}, {end})",
    "snowflake": "DATEDIFF('{unit}', {start}, {end})",
}


def pairs(n_pairs: int) -> list[tuple[datetime, datetime]]:
    """Times on both sides of ends of months and of units."""
    draw = random.Random(7)
    found = []
    for _ in range(n_pairs):
        start = datetime(2023, 12, 25) + timedelta(days=draw.randrange(100), hours=draw.choice([0, 0, 8, 23]))
        end = start + timedelta(days=draw.choice([0, 1, 28, 29, 30, 31, 59, 60, 90, 365, 366]))
        end += timedelta(seconds=draw.choice([-86_400, -3_601, -3_600, -61, -1, 0, 1, 59, 60, 3_600, 43_200]))
        found.append((start, end) if draw.random() < 0.6 else (end, start))
    return found


def expected(dialect: str, start: datetime, end: datetime) -> dict[str, int]:
    """By unit, what lies between."""
    return {unit: COUNTS[dialect](unit, start, end) for unit in UNITS}
