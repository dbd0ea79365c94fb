"""An alternation of ten variables, three times in a row."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.data import values
from benchmarks.expected import ordered, search
from benchmarks.query import Query

if TYPE_CHECKING:
    import pyarrow as pa

    from benchmarks.query import Answer

VARIABLES = "ABCDEFGHIJ"
CONDITIONS = ", ".join(f"{name} AS x % 14 = {number}" for number, name in enumerate(VARIABLES))

SQL = f"""SELECT * FROM t MATCH_RECOGNIZE (
  PARTITION BY key ORDER BY ts
  MEASURES FIRST(ts) AS began_at, Z.ts AS ended_at, count(A.*) AS n_a, count(J.*) AS n_j
  PATTERN (({" | ".join(VARIABLES)}){{3}} Z)
  DEFINE {CONDITIONS}, Z AS x % 14 >= 12)"""


def expected(table: pa.Table) -> Answer:
    """The same by a regular expression."""
    rows = ordered(table, "key")
    text = np.frombuffer(b"ABCDEFGHIJ..ZZ", np.uint8)[rows["x"] % 14]
    found = search("[A-J]{3}Z", text, rows.offsets)
    first, last = found[:, 0, 0], found[:, 0, 1] - 1
    inside = text[first[:, None] + np.arange(3)]
    return {
        "key": rows["key"][first], "began_at": rows["ts"][first], "ended_at": rows["ts"][last],
        "n_a": (inside == ord("A")).sum(axis=1), "n_j": (inside == ord("J")).sum(axis=1),
    }


# Z is none of the ten and stands at the end only, so matches cannot overlap.
DUCKDB = """SELECT key, began_at, ended_at, (a = 0)::INT + (b = 0)::INT + (c = 0)::INT AS n_a,
  (a = 9)::INT + (b = 9)::INT + (c = 9)::INT AS n_j
FROM (
  SELECT key, lag(ts, 3) OVER w AS began_at, ts AS ended_at, x % 14 AS z, lag(x, 3) OVER w % 14 AS a,
    lag(x, 2) OVER w % 14 AS b, lag(x) OVER w % 14 AS c
  FROM t WINDOW w AS (PARTITION BY key ORDER BY ts))
WHERE z >= 12 AND a < 10 AND b < 10 AND c < 10"""

QUERIES = (
    Query(
        "alternation_ten", "alternation of ten variables", partial(values, n_keys=100, salt=5), SQL, expected,
        duckdb=DUCKDB,
    ),
)
