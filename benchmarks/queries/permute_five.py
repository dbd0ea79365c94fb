"""PERMUTE of five variables: any order of five kinds of rows."""

from __future__ import annotations

from functools import partial
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.data import values
from benchmarks.expected import ordered, search
from benchmarks.query import Query

if TYPE_CHECKING:
    import pyarrow as pa

    from benchmarks.query import Answer

SQL = """SELECT * FROM t MATCH_RECOGNIZE (
  PARTITION BY key ORDER BY ts
  MEASURES FIRST(ts) AS began_at, A.ts AS a, E.ts AS e
  PATTERN (PERMUTE(A, B, C, D, E))
  DEFINE A AS x = 0, B AS x = 1, C AS x = 2, D AS x = 3, E AS x = 4)"""


def expected(table: pa.Table) -> Answer:
    """The same by an alternation of all 120 orders."""
    rows = ordered(table, "key")
    text = np.frombuffer(b"ABCDE.", np.uint8)[rows["x"]]
    found = search("|".join("".join(order) for order in permutations("ABCDE")), text, rows.offsets)
    first = found[:, 0, 0]
    inside = text[first[:, None] + np.arange(5)].reshape(-1, 5)
    time = rows["ts"]
    return {
        "key": rows["key"][first], "began_at": time[first], "a": time[first + (inside == ord("A")).argmax(axis=1)],
        "e": time[first + (inside == ord("E")).argmax(axis=1)],
    }


QUERIES = (
    Query(
        "permute_five", "PERMUTE of five variables", partial(values, n_keys=100, n_values=6, salt=6), SQL, expected
    ),
)
