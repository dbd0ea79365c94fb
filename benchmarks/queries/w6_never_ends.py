"""W6: (A* B* C* D) where every row may be A, B and C and none is D: there are many ways to fail."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.data import ticks
from benchmarks.query import Query

if TYPE_CHECKING:
    import pyarrow as pa

    from benchmarks.query import Answer

SQL = """SELECT * FROM t MATCH_RECOGNIZE (
  ORDER BY ts MEASURES count(*) AS n
  PATTERN (A* B* C* D)
  DEFINE A AS price > 0, B AS price > 0, C AS price > 0, D AS price < 0)"""

# A, B and C are the same: a match is what lies between two rows that are none of them, with the later one if it is D.
DUCKDB = """SELECT n - lag(n, 1, 0) OVER (ORDER BY n) AS n
FROM (SELECT price, row_number() OVER (ORDER BY ts) AS n FROM t) WHERE price <= 0 QUALIFY price < 0"""

FLINK = """SELECT * FROM t MATCH_RECOGNIZE (
  ORDER BY ts MEASURES COUNT(D.price) AS n
  ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW
  PATTERN (A* B* C* D)
  DEFINE A AS A.price > 0, B AS B.price > 0, C AS C.price > 0, D AS D.price < 0)"""


def expected(table: pa.Table) -> Answer:
    """No price is negative."""
    assert (table["price"].to_numpy() > 0).all()
    return {"n": np.empty(0, np.int64)}


QUERIES = (
    Query(
        "W6", "(A* B* C* D) that never ends", partial(ticks, n_symbols=1), SQL, expected, duckdb=DUCKDB, flink=FLINK
    ),
)
