"""Many tiny partitions: about four rows each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.data import values
from benchmarks.expected import letters, ordered, search
from benchmarks.query import Query

if TYPE_CHECKING:
    import pyarrow as pa

    from benchmarks.query import Answer

SQL = """SELECT * FROM t MATCH_RECOGNIZE (
  PARTITION BY key ORDER BY ts MEASURES A.ts AS a, B.ts AS b
  PATTERN (A B)
  DEFINE A AS x < 20, B AS x >= 50)"""

DUCKDB = """SELECT key, a, b FROM (
  SELECT key, ts AS a, x, lead(ts) OVER w AS b, lead(x) OVER w AS next FROM t
  WINDOW w AS (PARTITION BY key ORDER BY ts))
WHERE x < 20 AND next >= 50"""

CHDB = """SELECT key, a, b FROM (
  SELECT key, ts AS a, x, leadInFrame(ts) OVER w AS b, leadInFrame(x, 1, -1) OVER w AS next FROM t
  WINDOW w AS (PARTITION BY key ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING))
WHERE x < 20 AND next >= 50"""


def make(n_rows: int) -> pa.Table:
    """A quarter as many keys as rows."""
    return values(n_rows, n_keys=max(1, n_rows // 4), salt=3)


def expected(table: pa.Table) -> Answer:
    """The same by a regular expression."""
    rows = ordered(table, "key")
    found = search("AB", letters(("A", rows["x"] < 20), ("B", rows["x"] >= 50)), rows.offsets)
    first, last = found[:, 0, 0], found[:, 0, 1] - 1
    return {"key": rows["key"][first], "a": rows["ts"][first], "b": rows["ts"][last]}


QUERIES = (Query("tiny_partitions", "two rows, partitions of 4 rows", make, SQL, expected, duckdb=DUCKDB, chdb=CHDB),)
