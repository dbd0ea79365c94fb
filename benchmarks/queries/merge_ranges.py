"""Merge overlapping ranges: a running maximum in DEFINE."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from benchmarks.data import generator
from benchmarks.expected import Array, ordered, plain_loop
from benchmarks.query import Query

if TYPE_CHECKING:
    from benchmarks.query import Answer

SQL = """SELECT * FROM t MATCH_RECOGNIZE (
  PARTITION BY key ORDER BY begins
  MEASURES FIRST(begins) AS first_begin, MAX(ends) AS last_end, count(*) AS n
  PATTERN (A* B)
  DEFINE A AS MAX(A.ends) >= NEXT(begins))"""

DUCKDB = """WITH reached AS (
  SELECT *, max(ends) OVER (PARTITION BY key ORDER BY begins ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reach
  FROM t),
grouped AS (
  SELECT *, sum(CASE WHEN reach >= begins THEN 0 ELSE 1 END) OVER (PARTITION BY key ORDER BY begins) AS island
  FROM reached)
SELECT key, min(begins) AS first_begin, max(ends) AS last_end, count(*) AS n FROM grouped GROUP BY key, island"""


def make(n_rows: int) -> pa.Table:
    """Ranges of 1,000 keys in any order; beginnings are distinct."""
    random = generator(9)
    begins = random.permutation(n_rows) * 10
    return pa.table(
        {
            "key": pa.array(random.integers(0, 1_000, n_rows)),
            "begins": pa.array(begins),
            "ends": pa.array(begins + random.integers(1, 30_000, n_rows)),
        }
    )


@plain_loop
def islands(begins: Array, ends: Array, offsets: Array) -> Array:
    """First row, row after the last, and greatest end of each merged range."""
    found = np.empty((len(begins), 3), np.int64)
    n_found = 0
    for part in range(len(offsets) - 1):
        start = offsets[part]
        while start < offsets[part + 1]:
            reach, end = ends[start], start + 1
            while end < offsets[part + 1] and reach >= begins[end]:
                reach = max(reach, ends[end])
                end += 1
            found[n_found] = (start, end, reach)
            n_found += 1
            start = end
    return found[:n_found]


def expected(table: pa.Table) -> Answer:
    """The same by a loop that keeps the greatest end."""
    rows = ordered(table, "key", "begins")
    found = islands(rows["begins"], rows["ends"], rows.offsets)
    first, end = found[:, 0], found[:, 1]
    return {
        "key": rows["key"][first], "first_begin": rows["begins"][first], "last_end": found[:, 2], "n": end - first,
    }


QUERIES = (Query("merge_ranges", "merge of overlapping ranges", make, SQL, expected, reads_match=True, duckdb=DUCKDB),)
