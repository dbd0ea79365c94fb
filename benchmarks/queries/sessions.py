"""Sessions: events of a user with at most five minutes between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.data import clicks
from benchmarks.expected import ordered
from benchmarks.query import Query

if TYPE_CHECKING:
    import pyarrow as pa

    from benchmarks.query import Answer

SQL = """SELECT * FROM t MATCH_RECOGNIZE (
  PARTITION BY user_id ORDER BY ts
  MEASURES FIRST(ts) AS began_at, LAST(ts) AS ended_at, count(*) AS n
  PATTERN (A B*)
  DEFINE B AS ts - PREV(ts) <= INTERVAL '5' MINUTE)"""

# Only the first event of each session goes on; where it ends, the next one knows, or the user's last event.
DUCKDB = """WITH starts AS (
  SELECT user_id, ts, row_number() OVER w AS n, lag(ts) OVER w AS ts_1 FROM t
  WINDOW w AS (PARTITION BY user_id ORDER BY ts) QUALIFY ts_1 IS NULL OR ts - ts_1 > INTERVAL '5' MINUTE),
users AS (SELECT user_id, max(ts) AS last_ts, count(*) AS n_events FROM t GROUP BY user_id)
SELECT user_id, ts AS began_at, coalesce(lead(ts_1) OVER w, last_ts) AS ended_at,
  coalesce(lead(n) OVER w, n_events + 1) - n AS n
FROM starts JOIN users USING (user_id) WINDOW w AS (PARTITION BY user_id ORDER BY n)"""

CHDB = """SELECT user_id, min(ts) AS began_at, max(ts) AS ended_at, toInt64(count()) AS n FROM (
  SELECT user_id, ts, sum(is_new) OVER (PARTITION BY user_id ORDER BY ts) AS session FROM (
    SELECT user_id, ts, ts - lagInFrame(ts) OVER (
      PARTITION BY user_id ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) > 300 AS is_new
    FROM t))
GROUP BY user_id, session"""


def expected(table: pa.Table) -> Answer:
    """The same by the differences between neighbours."""
    rows = ordered(table, "user_id")
    time = rows["ts"]
    is_first = np.diff(time, prepend=time[:1]) > np.timedelta64(5, "m")
    is_first[rows.offsets[:-1]] = True
    first = np.flatnonzero(is_first)
    end = np.append(first[1:], len(time))
    return {
        "user_id": rows["user_id"][first], "began_at": time[first], "ended_at": time[end - 1], "n": end - first,
    }


QUERIES = (Query("sessions", "sessions by gap", clicks, SQL, expected, duckdb=DUCKDB, chdb=CHDB),)
