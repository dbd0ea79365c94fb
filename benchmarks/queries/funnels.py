"""Funnels of two and three steps without a limit of time."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from benchmarks.data import clicks
from benchmarks.expected import letters, ordered, search
from benchmarks.hand import APART, THREE_STEPS
from benchmarks.query import Query

if TYPE_CHECKING:
    import pyarrow as pa

    from benchmarks.query import Answer

TWO = """SELECT * FROM t MATCH_RECOGNIZE (
  PARTITION BY user_id ORDER BY ts
  MEASURES A.ts AS viewed_at, B.ts AS carted_at
  PATTERN (A N*? B)
  DEFINE A AS event = 'view', B AS event = 'cart')"""

THREE = """SELECT * FROM t MATCH_RECOGNIZE (
  PARTITION BY user_id ORDER BY ts
  MEASURES A.ts AS viewed_at, B.ts AS carted_at, C.ts AS bought_at
  PATTERN (A N*? B N*? C)
  DEFINE A AS event = 'view', B AS event = 'cart', C AS event = 'buy')"""

# Of views and carts only, the first view behind each cart starts a funnel and the next cart ends it.
TWO_DUCKDB = """WITH changes AS (
  SELECT user_id, ts, event FROM t WHERE event IN ('view', 'cart')
  QUALIFY lag(event) OVER (PARTITION BY user_id ORDER BY ts) IS DISTINCT FROM event)
SELECT user_id, ts AS viewed_at, lead(ts) OVER (PARTITION BY user_id ORDER BY ts) AS carted_at FROM changes
QUALIFY event = 'view' AND carted_at IS NOT NULL"""

THREE_DUCKDB = THREE_STEPS.format(bound="candidate[1][3] IS NOT NULL") + APART


def expected(table: pa.Table, *, pattern: str) -> Answer:
    """The same by a regular expression whose groups are the steps."""
    rows = ordered(table, "user_id")
    event = rows["event"]
    text = letters(("A", event == "view"), ("B", event == "cart"), ("C", event == "buy"))
    found = search(pattern, text, rows.offsets)
    steps = ("viewed_at", "carted_at", "bought_at")[: found.shape[1] - 1]
    answer: Answer = {"user_id": rows["user_id"][found[:, 0, 0]]}
    return answer | {step: rows["ts"][found[:, group, 0]] for group, step in enumerate(steps, 1)}


QUERIES = (
    Query("funnel_two", "funnel of two steps", clicks, TWO, partial(expected, pattern="(A).*?(B)"), duckdb=TWO_DUCKDB),
    Query(
        "funnel_three", "funnel of three steps", clicks, THREE, partial(expected, pattern="(A).*?(B).*?(C)"),
        duckdb=THREE_DUCKDB,
    ),
)
