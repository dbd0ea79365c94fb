"""The plainest pattern: two neighbouring rows, one partition; and the same with few, many and no matches."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from benchmarks.data import values
from benchmarks.expected import letters, ordered, search
from benchmarks.query import Query

if TYPE_CHECKING:
    import pyarrow as pa

    from benchmarks.query import Answer

SQL = """SELECT * FROM t MATCH_RECOGNIZE (
  ORDER BY ts MEASURES A.ts AS a, B.ts AS b
  PATTERN (A B)
  DEFINE A AS x < {low}, B AS x >= {high})"""

# No row is both A and B, so matches cannot overlap.
DUCKDB = """SELECT a, b FROM (
  SELECT ts AS a, x, lead(ts) OVER w AS b, lead(x) OVER w AS next FROM t WINDOW w AS (ORDER BY ts))
WHERE x < {low} AND next >= {high}"""

CHDB = """SELECT a, b FROM (
  SELECT ts AS a, x, leadInFrame(ts) OVER w AS b, leadInFrame(x, 1, -1) OVER w AS next FROM t
  WINDOW w AS (ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING))
WHERE x < {low} AND next >= {high}"""

FLINK = """SELECT * FROM t MATCH_RECOGNIZE (
  ORDER BY ts MEASURES A.ts AS a, B.ts AS b
  ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW
  PATTERN (A B)
  DEFINE A AS A.x < {low}, B AS B.x >= {high})"""


def expected(table: pa.Table, low: int, high: int) -> Answer:
    """The same by a regular expression."""
    rows = ordered(table)
    found = search("AB", letters(("A", rows["x"] < low), ("B", rows["x"] >= high)), rows.offsets)
    return {"a": rows["ts"][found[:, 0, 0]], "b": rows["ts"][found[:, 0, 1] - 1]}


def scan(name: str, title: str, low: int, high: int) -> Query:
    """Rows below `low` followed by rows of at least `high`, among numbers below 10,000."""
    return Query(
        name, title, partial(values, n_values=10_000), SQL.format(low=low, high=high),
        partial(expected, low=low, high=high), duckdb=DUCKDB.format(low=low, high=high),
        chdb=CHDB.format(low=low, high=high), flink=FLINK.format(low=low, high=high),
    )


QUERIES = (
    scan("two_row_scan", "two rows, one match in 100 rows", 1_000, 9_000),
    scan("selectivity_low", "two rows, one match in 10,000 rows", 100, 9_900),
    scan("selectivity_mid", "two rows, one match in 10 rows", 3_200, 6_800),
    scan("selectivity_high", "two rows, one match in 4 rows", 5_000, 5_000),
    scan("no_match", "two rows, no match at all", 5_000, 10_000),
)
