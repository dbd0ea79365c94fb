"""Pieces of hand-written SQL for DuckDB and chdb (ClickHouse) that several queries share."""

from __future__ import annotations

import re


def without_overlaps(candidates: str, key: str | None, columns: str) -> str:
    """The matches that SKIP PAST LAST ROW keeps, among the preferred match of every start row.

    `candidates` names a relation with `first_row` and `last_row`, in any unit that grows with the rows. A candidate is
    kept if it begins behind the last one kept. Candidates that no earlier one reaches begin a cluster; alone in it they
    are kept, else a fold over the cluster decides.
    """
    return _clusters(candidates, key) + f"""folded AS (
  SELECT {_listed(key)}CASE WHEN count(*) = 1 THEN [any_value(row(first_row, last_row, {columns}))] ELSE list_reduce(
    list([row(first_row, last_row, {columns})] ORDER BY first_row),
    lambda kept, next: CASE WHEN next[1][1] > kept[-1][2] THEN kept || next ELSE kept END) END AS kept
  FROM clustered GROUP BY {_listed(key)}cluster),
kept AS (SELECT {_listed(key)}unnest(kept) AS found FROM folded)"""


def without_overlaps_chdb(candidates: str, key: str | None, columns: str) -> str:
    """The same for chdb."""
    return _clusters(candidates, key) + f"""listed AS (
  SELECT {_listed(key)}arraySort(groupArray((first_row, last_row, {columns}))) AS here
  FROM clustered GROUP BY {_listed(key)}cluster),
kept AS (
  SELECT {_listed(key)}arrayJoin(arrayFold(
    (kept, next) -> if(next.1 > kept[-1].2, arrayPushBack(kept, next), kept), arraySlice(here, 2), [here[1]])) AS found
  FROM listed)"""


THREE_STEPS = """WITH listed AS (
  SELECT user_id, list(ts ORDER BY ts) FILTER (event = 'view') AS views,
    list(ts ORDER BY ts) FILTER (event = 'cart') AS carts, list(ts ORDER BY ts) FILTER (event = 'buy') AS buys
  FROM t WHERE event IN ('view', 'cart', 'buy') GROUP BY user_id),
carted AS (
  SELECT user_id, buys, list_transform(views, lambda view: row(
    view, carts[list_position(list_transform(carts, lambda cart: cart > view), true)])) AS pairs FROM listed),
found AS (
  SELECT user_id, list_filter(
    list_transform(pairs, lambda pair: [row(
      pair[1], pair[2], buys[list_position(list_transform(buys, lambda buy: buy > pair[2]), true)])]),
    lambda candidate: {bound}) AS candidates FROM carted),
"""
"""For every view of a user the next cart and the next purchase behind that, if within the `bound`.

Of five forms this was the fastest, about 1.8 times the one with running minima: with some 12 events of a kind and user,
going through short lists costs less than sorting all events together. The others were ASOF joins, LEAD IGNORE NULLS and
minima over the rows that follow.
"""
EVERY_VIEW = """every_view AS (SELECT user_id, unnest(candidates)[1] AS found FROM found)
SELECT user_id, found[1] AS viewed_at, found[2] AS carted_at, found[3] AS bought_at FROM every_view"""
APART = """apart AS (
  SELECT user_id, unnest(list_reduce(
    candidates, lambda kept, next: CASE WHEN next[1][1] > kept[-1][3] THEN kept || next ELSE kept END)) AS found
  FROM found WHERE len(candidates) > 0)
SELECT user_id, found[1] AS viewed_at, found[2] AS carted_at, found[3] AS bought_at FROM apart"""


def for_chdb(text: str, *columns: str) -> str:
    """DuckDB's SQL in ClickHouse's: reading beyond a partition gives NULL for `columns` only if they can be NULL."""
    text = text.replace("ROWS UNBOUNDED PRECEDING", "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW")
    text = re.sub(r"found\[(\d)\]", r"found.\1", text)
    return re.sub(rf"\b(lag|lead)\(({'|'.join(columns)})([,)])", r"\1(toNullable(\2)\3", text) if columns else text


def _listed(key: str | None) -> str:
    return f"{key}, " if key else ""


def _clusters(candidates: str, key: str | None) -> str:
    partition = f"PARTITION BY {key}" if key else ""
    return f"""reached AS (
  SELECT *, max(last_row) OVER (
    {partition} ORDER BY first_row ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reach
  FROM {candidates}),
clustered AS (
  SELECT *, sum(CASE WHEN reach >= first_row THEN 0 ELSE 1 END) OVER ({partition} ORDER BY first_row) AS cluster
  FROM reached),
"""
