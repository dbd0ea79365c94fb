"""Small streams for tests of workloads."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

DOORS = pa.table({
    "ts": [1, 2, 3, 4, 5, 6], "sensor": ["A", "B", "C", "A", "D", "C"], "floor": [1, 1, 1, 2, 2, 2],
    "diff": [3, 1, 4, 1, 5, 9],
})
"""Signals of sensors in a building."""

INTRUDER = "PATTERN SEQ(A a, B b, C c) WHERE a.floor = b.floor WITHIN 10"
PAIR = "PATTERN AND(A a, NOT(D d), C c) WHERE a.diff < c.diff WITHIN 15"


def events_of(table: Any) -> list[tuple[str, int, str, int]]:
    """Pattern, match, variable and time of every event."""
    rows = table.to_pylist() if hasattr(table, "to_pylist") else table.to_dict("records")
    return [(row["pattern"], row["match_id"], row["variable"], row["ts"]) for row in rows]
