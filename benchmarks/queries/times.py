"""Time stamps as conditions: differences, bounds and parts of two columns of times."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from benchmarks.data import generator, timestamps
from benchmarks.expected import letters, ordered, search
from benchmarks.query import Query

if TYPE_CHECKING:
    from benchmarks.query import Answer

SQL = """SELECT * FROM t MATCH_RECOGNIZE (
  PARTITION BY sensor ORDER BY ts
  MEASURES FIRST(LATE.ts) AS late_at, FRESH.ts AS fresh_at, FRESH.seen AS seen
  PATTERN (LATE+ FRESH)
  DEFINE LATE AS ts - seen > INTERVAL '40' SECOND AND hour(ts) < 12,
    FRESH AS seen >= ts - INTERVAL '20' SECOND AND ts > TIMESTAMP '2027-01-15 12:00:00')"""

# A match ends with the first FRESH behind a run of LATE, and no row is both.
DUCKDB = """WITH marked AS (
  SELECT sensor, ts, seen, CASE WHEN ts - seen > INTERVAL '40' SECOND AND hour(ts) < 12 THEN 1
    WHEN seen >= ts - INTERVAL '20' SECOND AND ts > TIMESTAMP '2027-01-15 12:00:00' THEN 2 ELSE 0 END AS kind FROM t),
changes AS (
  SELECT sensor, ts, seen, kind, lag(kind) OVER w AS kind_1 FROM marked
  WINDOW w AS (PARTITION BY sensor ORDER BY ts) QUALIFY kind_1 IS DISTINCT FROM kind)
SELECT sensor, lag(ts) OVER w AS late_at, ts AS fresh_at, seen FROM changes
WINDOW w AS (PARTITION BY sensor ORDER BY ts) QUALIFY kind = 2 AND lag(kind) OVER w = 1"""


def make(n_rows: int) -> pa.Table:
    """Readings of 200 sensors over ten days, seen up to a minute before they arrived."""
    random = generator(15)
    time = np.arange(n_rows) * (864_000_000_000 // n_rows)
    return pa.table(
        {
            "sensor": pa.array(random.integers(0, 200, n_rows)),
            "ts": timestamps(time),
            "seen": timestamps(time - random.integers(0, 60_000_000, n_rows)),
        }
    )


def expected(table: pa.Table) -> Answer:
    """The same by a regular expression, times as whole microseconds."""
    rows = ordered(table, "sensor")
    ts, seen = (rows[name].astype("datetime64[us]").astype(np.int64) for name in ("ts", "seen"))
    hour = ts // 3_600_000_000 % 24
    noon = np.datetime64("2027-01-15T12:00:00", "us").astype(np.int64)
    is_late = (ts - seen > 40_000_000) & (hour < 12)
    is_fresh = (seen >= ts - 20_000_000) & (ts > noon)
    found = search("L+F", letters(("L", is_late), ("F", is_fresh)), rows.offsets)
    first, last = found[:, 0, 0], found[:, 0, 1] - 1
    return {
        "sensor": rows["sensor"][first], "late_at": rows["ts"][first], "fresh_at": rows["ts"][last],
        "seen": rows["seen"][last],
    }


QUERIES = (Query("times", "time stamps as conditions", make, SQL, expected, duckdb=DUCKDB),)
