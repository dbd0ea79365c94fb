"""ALL ROWS PER MATCH: with wide rows, with unmatched rows, and with rows excluded."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.data import generator, values
from benchmarks.expected import Array, Ordered, letters, ordered, search
from benchmarks.query import Query

if TYPE_CHECKING:
    from benchmarks.query import Answer

N_WIDE = 12

SQL = """SELECT * FROM t MATCH_RECOGNIZE (
  PARTITION BY key ORDER BY ts
  MEASURES MATCH_NUMBER() AS match_number, CLASSIFIER() AS label
  ALL ROWS PER MATCH{mode}
  PATTERN ({pattern})
  DEFINE A AS x < 20, B AS x BETWEEN 20 AND 69, C AS x >= 70)"""

# A stands first and C last and no row is both, so every C behind a run of B behind an A ends a match. The last row
# that is not B tells where the run began.
DUCKDB = """WITH marked AS (
  SELECT *, lag(CASE WHEN x < 20 THEN n WHEN x >= 70 THEN -n END IGNORE NULLS) OVER w AS from_a
  FROM (SELECT *, row_number() OVER (PARTITION BY key ORDER BY ts) AS n FROM t)
  WINDOW w AS (PARTITION BY key ORDER BY n)),
found AS (
  SELECT key, from_a AS first_n, n AS last_n, row_number() OVER (PARTITION BY key ORDER BY n) AS match_number
  FROM marked WHERE x >= 70 AND from_a > 0 AND n > from_a + 1)
SELECT marked.key, ts, match_number, CASE WHEN x < 20 THEN 'A' WHEN x >= 70 THEN 'C' ELSE 'B' END AS label, x, {columns}
FROM marked ASOF JOIN found ON marked.key = found.key AND marked.n >= found.first_n WHERE n <= last_n"""

UNMATCHED_DUCKDB = """SELECT key, ts, CASE WHEN is_a OR is_c THEN sum(CASE WHEN is_a THEN 1 ELSE 0 END) OVER w END
    AS match_number, CASE WHEN is_a THEN 'A' WHEN is_c THEN 'C' END AS label, x
FROM (
  SELECT *, x < 20 AND coalesce(lead(x) OVER w >= 70, false) AS is_a,
    x >= 70 AND coalesce(lag(x) OVER w < 20, false) AS is_c
  FROM t WINDOW w AS (PARTITION BY key ORDER BY ts))
WINDOW w AS (PARTITION BY key ORDER BY ts)"""


def make_wide(n_rows: int) -> pa.Table:
    """Rows with twelve more columns: whole numbers, floats and strings."""
    random = generator(10)
    table = values(n_rows, n_keys=1_000, salt=10)
    words = np.array(["north", "north-east", "east", "south-east", "south", "south-west", "west", "north-west"])
    for number in range(N_WIDE):
        column = random.integers(0, 1_000_000, n_rows)
        wide = (column, column / 7, words[column % 8])[number % 3]
        table = table.append_column(f"wide_{number}", pa.array(wide))
    return table


def with_numbers(rows: Ordered, found: Array, picked: Array, match_of: Array, labels: Array) -> Answer:
    """The picked rows with match number in their partition and label; -1 is no match."""
    partition = np.searchsorted(rows.offsets, found[:, 0, 0], side="right") - 1
    first_of_partition = np.searchsorted(partition, partition, side="left")
    number = np.append(np.arange(len(found)) - first_of_partition + 1, 0)
    table = rows.table.take(pa.array(picked))
    is_matched = pa.array(match_of >= 0)
    answer: Answer = {
        "key": table["key"].combine_chunks(), "ts": table["ts"].combine_chunks(),
        "match_number": pc.if_else(is_matched, pa.array(number[match_of]), None),
        "label": pc.if_else(is_matched, pa.array(labels[picked].view("S1").astype("U1")), None),
    }
    return answer | {name: table[name].combine_chunks() for name in table.column_names if name not in ("key", "ts")}


def expected(table: pa.Table, *, pattern: str, kept: str | None) -> Answer:
    """The rows of each match of a regular expression; `kept` letters only, or all rows of the table if None."""
    rows = ordered(table, "key")
    x = rows["x"]
    text = letters(("A", x < 20), ("C", x >= 70), otherwise="B")
    found = search(pattern, text, rows.offsets)
    first, n = found[:, 0, 0], found[:, 0, 1] - found[:, 0, 0]
    inside = np.repeat(first - np.append(0, np.cumsum(n)[:-1]), n) + np.arange(n.sum())
    match_of = np.repeat(np.arange(len(found)), n)
    if kept is None:
        everywhere = np.full(len(x), -1)
        everywhere[inside] = match_of
        return with_numbers(rows, found, np.arange(len(x)), everywhere, text)
    is_kept = np.isin(text[inside], np.frombuffer(kept.encode(), np.uint8))
    return with_numbers(rows, found, inside[is_kept], match_of[is_kept], text)


QUERIES = (
    Query(
        "all_rows_wide", "ALL ROWS PER MATCH, 15 columns", make_wide, SQL.format(mode="", pattern="A B+ C"),
        partial(expected, pattern="AB+C", kept="ABC"),
        duckdb=DUCKDB.format(columns=", ".join(f"wide_{number}" for number in range(N_WIDE))),
    ),
    Query(
        "unmatched_rows", "ALL ROWS WITH UNMATCHED ROWS", partial(values, n_keys=1_000, salt=11),
        SQL.format(mode=" WITH UNMATCHED ROWS", pattern="A C").replace(" B AS x BETWEEN 20 AND 69,", ""),
        partial(expected, pattern="AC", kept=None), duckdb=UNMATCHED_DUCKDB,
    ),
    Query(
        "exclusion", "ALL ROWS PER MATCH, (A {- B+ -} C)", partial(values, n_keys=1_000, salt=12),
        SQL.format(mode="", pattern="A {- B+ -} C"), partial(expected, pattern="AB+C", kept="AC"),
    ),
)
