"""What a query does not need is not loaded: the first query of a process waits for every import."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import sys
import pyarrow as pa
import sparkrex as rex
table = pa.table({"k": [1, 1, 1, 1], "ts": [1, 2, 3, 4], "price": [9.0, 7.0, 6.0, 8.0]})
query = '''SELECT * FROM ticks MATCH_RECOGNIZE (
  PARTITION BY k ORDER BY ts MEASURES FIRST(DOWN.ts) AS fell_at, LAST(UP.ts) AS back_at, MIN(DOWN.price) AS low
  PATTERN (STRT DOWN+ UP+) DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price))'''
assert rex.sql(query, ticks=table).to_pylist() == [{"k": 1, "fell_at": 2, "back_at": 4, "low": 6.0}]
print(" ".join(name for name in ("duckdb", "numba", "pyspark", "sqlglot.dialects.duckdb") if name in sys.modules))
"""


def test_a_small_query_loads_neither_duckdb_nor_numba() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.split() == []
