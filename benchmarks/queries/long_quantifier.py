"""A quantifier with large bounds: between 20 and 100 calm rows, then an alarm."""

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
  PARTITION BY key ORDER BY ts MEASURES FIRST(CALM.ts) AS since, ALARM.ts AS alarm_at, count(CALM.*) AS n
  PATTERN (CALM{20,100} ALARM)
  DEFINE CALM AS x < 95, ALARM AS x >= 98)"""

# Rows that are neither cut the runs; of a longer run the last 100 rows count, as the first row of all allows no more.
DUCKDB = """WITH numbered AS (SELECT *, row_number() OVER (PARTITION BY key ORDER BY ts) AS n FROM t),
ends AS (
  SELECT key, ts, x, n, n - 1 - lag(n, 1, 0) OVER (PARTITION BY key ORDER BY n) AS n_calm FROM numbered WHERE x >= 95
  QUALIFY x >= 98 AND n_calm >= 20)
SELECT key, numbered.ts AS since, ends.ts AS alarm_at, least(n_calm, 100) AS n
FROM ends JOIN numbered USING (key) WHERE numbered.n = ends.n - least(n_calm, 100)"""


def expected(table: pa.Table) -> Answer:
    """The same by a regular expression."""
    rows = ordered(table, "key")
    found = search("A{20,100}B", letters(("A", rows["x"] < 95), ("B", rows["x"] >= 98)), rows.offsets)
    first, last = found[:, 0, 0], found[:, 0, 1] - 1
    return {
        "key": rows["key"][first], "since": rows["ts"][first], "alarm_at": rows["ts"][last], "n": last - first,
    }


QUERIES = (
    Query(
        "long_quantifier", "(CALM{20,100} ALARM)", partial(values, n_keys=100, salt=4), SQL, expected, duckdb=DUCKDB
    ),
)
