"""((A+)+ B) without any B: a naive search tries all ways to cut the rows into groups."""

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
  PATTERN ((A+)+ B)
  DEFINE A AS price > 0, B AS price < 0)"""


def expected(table: pa.Table) -> Answer:
    """No price is negative."""
    assert (table["price"].to_numpy() > 0).all()
    return {"n": np.empty(0, np.int64)}


QUERIES = (Query("nested_quantifiers", "((A+)+ B) that fails", partial(ticks, n_symbols=1), SQL, expected),)
