"""An anchored pattern: only what a partition begins with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.data import values
from benchmarks.expected import letters, ordered, search
from benchmarks.query import Query

if TYPE_CHECKING:
    import pyarrow as pa

    from benchmarks.query import Answer

SQL = """SELECT * FROM t MATCH_RECOGNIZE (
  PARTITION BY key ORDER BY ts
  MEASURES B.ts AS done_at, count(A.*) AS n_before
  PATTERN (^ A+ B)
  DEFINE A AS x < 80, B AS x >= 80)"""

DUCKDB = """SELECT key, ts AS done_at, n - 1 AS n_before FROM (
  SELECT *, row_number() OVER (PARTITION BY key ORDER BY ts) AS n FROM t)
WHERE x >= 80 QUALIFY row_number() OVER (PARTITION BY key ORDER BY n) = 1 AND n > 1"""


def make(n_rows: int) -> pa.Table:
    """About fifty rows a key."""
    return values(n_rows, n_keys=max(1, n_rows // 50), salt=13)


def expected(table: pa.Table) -> Answer:
    """The same by a regular expression behind a line break, which is where a partition begins."""
    rows = ordered(table, "key")
    found = search(r"(?<=\n)A+B", letters(("A", rows["x"] < 80), otherwise="B"), rows.offsets)
    first, last = found[:, 0, 0], found[:, 0, 1] - 1
    return {"key": rows["key"][first], "done_at": rows["ts"][last], "n_before": last - first}


QUERIES = (Query("anchored", "(^ A+ B), partitions of 50 rows", make, SQL, expected, duckdb=DUCKDB),)
