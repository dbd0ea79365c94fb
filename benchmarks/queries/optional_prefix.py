"""An optional variable in front: (A? B C), where B alone is enough."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.data import values
from benchmarks.expected import letters, ordered, search
from benchmarks.query import Query

if TYPE_CHECKING:
    from benchmarks.query import Answer

SQL = """SELECT * FROM t MATCH_RECOGNIZE (
  PARTITION BY key ORDER BY ts
  MEASURES A.ts AS a, B.ts AS b, C.ts AS c
  PATTERN (A? B C)
  DEFINE A AS x < 10, B AS x >= 50 AND x < 80, C AS x >= 80)"""

# No row is two of the three, and A stands in front only: matches cannot overlap.
DUCKDB = """SELECT key, CASE WHEN x_2 < 10 THEN ts_2 END AS a, b, c FROM (
  SELECT key, lag(ts, 2) OVER w AS ts_2, lag(x, 2) OVER w AS x_2, lag(ts) OVER w AS b, lag(x) OVER w AS x_1, ts AS c, x
  FROM t WINDOW w AS (PARTITION BY key ORDER BY ts))
WHERE x >= 80 AND x_1 >= 50 AND x_1 < 80"""


def expected(table: pa.Table) -> Answer:
    """The same by a regular expression."""
    rows = ordered(table, "key")
    x = rows["x"]
    found = search("(A)?(B)(C)", letters(("A", x < 10), ("C", x >= 80), ("B", x >= 50)), rows.offsets)
    a, b, c = (found[:, group, 0] for group in (1, 2, 3))
    time = rows["ts"]
    return {
        "key": rows["key"][b], "a": pc.if_else(pa.array(a >= 0), pa.array(time[a]), None), "b": time[b], "c": time[c],
    }


QUERIES = (
    Query("optional_prefix", "(A? B C)", partial(values, n_keys=100, salt=7), SQL, expected, duckdb=DUCKDB),
)
