"""W3: a user views, puts into the cart and buys within an hour, among 20 kinds of events."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.data import clicks
from benchmarks.expected import Array, ordered, plain_loop
from benchmarks.hand import APART, EVERY_VIEW, THREE_STEPS, for_chdb, without_overlaps_chdb
from benchmarks.query import Query

if TYPE_CHECKING:
    import pyarrow as pa

    from benchmarks.query import Answer

SQL = """SELECT * FROM t MATCH_RECOGNIZE (
  PARTITION BY user_id ORDER BY ts
  MEASURES A.ts AS viewed_at, B.ts AS carted_at, C.ts AS bought_at
  ONE ROW PER MATCH AFTER MATCH SKIP {skip}
  PATTERN (A N*? B N*? C)
  DEFINE A AS event = 'view',
    B AS event = 'cart' AND ts - A.ts <= INTERVAL '1' HOUR,
    C AS event = 'buy' AND ts - A.ts <= INTERVAL '1' HOUR)"""

WITHIN = THREE_STEPS.format(bound="candidate[1][3] <= candidate[1][1] + INTERVAL '1' HOUR")

# The kinds that matter first: what is sorted is an eighth of the rows. From any row on, the earliest purchase behind a
# cart is the one behind the earliest cart, so two running minima from the end find both.
MINIMA = """WITH of_interest AS (
  SELECT user_id, ts, event, min(CASE WHEN event = 'buy' THEN ts END) OVER w AS next_buy,
    min(CASE WHEN event = 'cart' THEN ts END) OVER w AS next_cart
  FROM t WHERE event IN ('view', 'cart', 'buy')
  WINDOW w AS (PARTITION BY user_id ORDER BY ts DESC ROWS UNBOUNDED PRECEDING)),
candidates AS (
  SELECT user_id, ts AS first_row, next_cart,
    min(CASE WHEN event = 'cart' THEN next_buy END) OVER (
      PARTITION BY user_id ORDER BY ts DESC ROWS UNBOUNDED PRECEDING) AS last_row, event
  FROM of_interest QUALIFY event = 'view' AND last_row <= ts + INTERVAL '1' HOUR)"""
EVERY_VIEW_CHDB = f"""{MINIMA}
SELECT user_id, first_row AS viewed_at, next_cart AS carted_at, last_row AS bought_at FROM candidates"""
APART_CHDB = f"""{MINIMA}, {without_overlaps_chdb("candidates", "user_id", "next_cart")}
SELECT user_id, found[1] AS viewed_at, found[3] AS carted_at, found[2] AS bought_at FROM kept"""

FLINK = """SELECT * FROM t MATCH_RECOGNIZE (
  PARTITION BY user_id ORDER BY ts
  MEASURES A.ts AS viewed_at, B.ts AS carted_at, C.ts AS bought_at
  ONE ROW PER MATCH AFTER MATCH SKIP {skip}
  PATTERN (A N1*? B N2*? C) WITHIN INTERVAL '3600.001' SECOND(4, 3)
  DEFINE A AS A.event = 'view', B AS B.event = 'cart', C AS C.event = 'buy')"""


@plain_loop
def funnels(event: Array, time: Array, offsets: Array, is_overlapping: bool) -> Array:
    """Rows of view, cart and purchase; events are 0, 1 and 2."""
    found = np.empty((len(event), 3), np.int64)
    n_found = 0
    next_cart, next_buy = np.empty_like(event), np.empty_like(event)
    for part in range(len(offsets) - 1):
        cart = buy = -1
        for row in range(offsets[part + 1] - 1, offsets[part] - 1, -1):
            next_cart[row], next_buy[row] = cart, buy
            if event[row] == 1:
                cart = row
            elif event[row] == 2:
                buy = row
        row = offsets[part]
        while row < offsets[part + 1]:
            cart = next_cart[row]
            buy = next_buy[cart] if cart >= 0 else -1
            if event[row] == 0 and buy >= 0 and time[buy] - time[row] <= 3_600_000_000:
                found[n_found] = (row, cart, buy)
                n_found += 1
                row = row + 1 if is_overlapping else buy + 1
            else:
                row += 1
    return found[:n_found]


def expected(table: pa.Table, *, is_overlapping: bool) -> Answer:
    """The same by looking ahead from every view."""
    rows = ordered(table, "user_id")
    kinds = rows["event"]
    event = np.select([kinds == "view", kinds == "cart", kinds == "buy"], [0, 1, 2], default=3)
    time = rows["ts"]
    found = funnels(event, time.astype("datetime64[us]").astype(np.int64), rows.offsets, is_overlapping)
    return {
        "user_id": rows["user_id"][found[:, 0]], "viewed_at": time[found[:, 0]], "carted_at": time[found[:, 1]],
        "bought_at": time[found[:, 2]],
    }


QUERIES = (
    Query(
        "W3", "funnel of three steps within an hour", clicks, SQL.format(skip="PAST LAST ROW"),
        partial(expected, is_overlapping=False), reads_match=True, ratio_goal=1, duckdb=WITHIN + APART,
        chdb=for_chdb(APART_CHDB), flink=FLINK.format(skip="PAST LAST ROW"),
    ),
    Query(
        "W3_every_view", "the same from every view", clicks, SQL.format(skip="TO NEXT ROW"),
        partial(expected, is_overlapping=True), reads_match=True, ratio_goal=1, duckdb=WITHIN + EVERY_VIEW,
        chdb=for_chdb(EVERY_VIEW_CHDB), flink=FLINK.format(skip="TO NEXT ROW"),
    ),
)
