"""Streaks: at least five wins in a row."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from benchmarks.data import values
from benchmarks.expected import letters, ordered, search
from benchmarks.query import Query

if TYPE_CHECKING:
    import pyarrow as pa

    from benchmarks.query import Answer

SQL = """SELECT * FROM t MATCH_RECOGNIZE (
  PARTITION BY key ORDER BY ts
  MEASURES FIRST(ts) AS began_at, LAST(ts) AS ended_at, count(*) AS n
  PATTERN (WIN{5,})
  DEFINE WIN AS x < 60)"""

# Within a streak the number among all rows and the number among wins grow alike.
DUCKDB = """SELECT key, min(ts) AS began_at, max(ts) AS ended_at, count(*) AS n FROM (
  SELECT key, ts, n - row_number() OVER (PARTITION BY key ORDER BY n) AS streak
  FROM (SELECT *, row_number() OVER (PARTITION BY key ORDER BY ts) AS n FROM t) WHERE x < 60)
GROUP BY key, streak HAVING n >= 5"""


def expected(table: pa.Table) -> Answer:
    """The same by a regular expression."""
    rows = ordered(table, "key")
    found = search("W{5,}", letters(("W", rows["x"] < 60)), rows.offsets)
    first, end = found[:, 0, 0], found[:, 0, 1]
    return {
        "key": rows["key"][first], "began_at": rows["ts"][first], "ended_at": rows["ts"][end - 1], "n": end - first,
    }


QUERIES = (
    Query(
        "streaks", "at least five wins in a row", partial(values, n_keys=1_000, salt=8), SQL, expected, duckdb=DUCKDB
    ),
)
