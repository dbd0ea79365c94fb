"""Eighty measures over sessions of about 20 events, as a reporting model has them: beside DuckDB's GROUP BY.

DuckDB is given the session of every event and only groups; here the sessions are found first, by the time between
events.
"""

from __future__ import annotations

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.data import Array, generator, timestamps
from benchmarks.query import Answer, Query

KINDS = ("view", "cart", "buy", "search")
TRAITS = ("source", "medium", "campaign", "device", "browser", "country", "referrer", "language")
EVENT_MINUTES, SESSION_MINUTES = 1, 60


def events(n_rows: int) -> pa.Table:
    """Events of users in time order, in sessions of 10 to 30, the first of them `start`, with details as JSON text."""
    random = generator(7)
    n_sessions = max(1, n_rows // 20)
    lengths = random.integers(10, 31, n_sessions)
    session = np.repeat(np.arange(n_sessions), lengths)[:n_rows]
    session = np.concatenate((session, np.full(n_rows - len(session), n_sessions - 1)))
    first = np.flatnonzero(np.diff(session, prepend=-1))
    within = np.arange(n_rows) - first[session]
    n_users = max(1, n_sessions // 4)
    # A user's sessions begin hours apart; no two events of a user share a time stamp.
    minute = (session // n_users) * SESSION_MINUTES * 4 + within * EVENT_MINUTES
    time = minute * 60_000_000 + (session % n_users) * 10
    order = np.argsort(time, kind="stable")
    kinds = np.array((*KINDS, "scroll"))[random.choice(5, n_rows, p=(0.4, 0.15, 0.05, 0.1, 0.3))]
    kinds[first] = "start"
    page = random.integers(0, 200, n_rows)
    amount = random.integers(1, 500, n_rows)
    return pa.table(
        {
            "user_id": pa.array((session % n_users)[order]),
            "session_id": pa.array(session[order]),
            "ts": timestamps(time[order]),
            "event": pa.array(kinds[order]),
            "page": pc.binary_join_element_wise("/page/", pa.array(page[order]).cast(pa.string()), ""),
            "amount": pa.array(amount[order]),
            "score": pa.array((random.integers(0, 10_000, n_rows) / 100.0)[order]),
            "props": _details(random, n_rows),
        }
    )


def _details(random: np.random.Generator, n_rows: int) -> pa.Array:
    """JSON texts of the traits and a price."""
    parts: list[pa.Array | str] = []
    for number, trait in enumerate(TRAITS):
        values = pa.array([f"{trait}_{value}" for value in range(5 + 3 * number)])
        chosen = values.take(pa.array(random.integers(0, len(values), n_rows)))
        parts += [f'{"," if number else "{"}"{trait}":"', chosen, '"']
    price: Array = random.integers(100, 100_000, n_rows)
    return pc.binary_join_element_wise(*parts, ',"price":', pa.array(price).cast(pa.string()), "}", "")


def _trait(name: str, prefix: str = "") -> str:
    return f"json_extract_string({prefix}props, '$.{name}')"


def _price(prefix: str = "") -> str:
    return f"CAST({_trait('price', prefix)} AS DOUBLE)"


def _measures() -> dict[str, tuple[str, str]]:
    """Every measure's name with its text in MEASURES and in GROUP BY."""
    found: dict[str, tuple[str, str]] = {}
    for trait in TRAITS:
        found[f"first_{trait}"] = f"FIRST({_trait(trait)})", f"arg_min({_trait(trait)}, ts)"
        found[f"last_{trait}"] = f"LAST({_trait(trait)})", f"arg_max({_trait(trait)}, ts)"
    for trait in TRAITS[:6]:
        found[f"viewed_{trait}"] = (
            f"FIRST({_trait(trait, 'view.')})", f"arg_min({_trait(trait)}, ts) FILTER (WHERE event = 'view')",
        )
        found[f"bought_{trait}"] = (
            f"LAST({_trait(trait, 'buy.')})", f"arg_max({_trait(trait)}, ts) FILTER (WHERE event = 'buy')",
        )
    for kind in KINDS:
        where = f"FILTER (WHERE event = '{kind}')"
        found |= {
            f"n_{kind}": (f"count({kind}.*)", f"count(*) {where}"),
            f"{kind}_amount": (f"sum({kind}.amount)", f"sum(amount) {where}"),
            f"{kind}_score": (f"max({kind}.score)", f"max(score) {where}"),
            f"{kind}_price": (f"avg({_price(f'{kind}.')})", f"avg({_price()}) {where}"),
            f"first_{kind}": (f"FIRST({kind}.ts)", f"min(ts) {where}"),
            f"{kind}_pages": (
                f"array_agg({kind}.page ORDER BY {kind}.ts)", f"coalesce(list(page ORDER BY ts) {where}, [])",
            ),
            f"{kind}_mean": (
                f"CASE WHEN count({kind}.*) > 0 THEN sum({kind}.amount) / count({kind}.*) END",
                f"CASE WHEN count(*) {where} > 0 THEN sum(amount) {where} / count(*) {where} END",
            ),
            f"{kind}_rate": (
                f"CASE WHEN count(*) > 1 THEN count({kind}.*) / (count(*) - 1) ELSE 0 END",
                f"CASE WHEN count(*) > 1 THEN count(*) {where} / (count(*) - 1) ELSE 0 END",
            ),
            f"{kind}_level": (
                f"CASE WHEN max({kind}.score) > 90 THEN 'high' WHEN max({kind}.score) > 50 THEN 'middle' "
                "ELSE 'low' END",
                f"CASE WHEN max(score) {where} > 90 THEN 'high' WHEN max(score) {where} > 50 THEN 'middle' "
                "ELSE 'low' END",
            ),
        }
    same = {
        "n": "count(*)", "amount": "sum(amount)", "score": "avg(score)", "n_pages": "count(DISTINCT page)",
        "path": "array_agg(page ORDER BY ts)", "kinds": "array_agg(event ORDER BY ts)",
        "dearest": f"array_agg({_trait('campaign')} ORDER BY amount DESC, ts)",
        "prices": f"array_agg({_price()} ORDER BY ts)", "total_price": f"sum({_price()})",
        "is_bounce": "CASE WHEN count(*) <= 12 THEN 1 ELSE 0 END",
        "converts": "CASE WHEN sum(amount) > 6000 AND max(score) > 99 THEN 'yes' ELSE 'no' END",
    }
    found |= {name: (text, text) for name, text in same.items()}
    first, last = _trait("source"), _trait("device")
    found |= {
        "began_at": ("FIRST(ts)", "min(ts)"),
        "ended_at": ("LAST(ts)", "max(ts)"),
        "seconds": ("date_diff('second', FIRST(ts), LAST(ts))", "date_diff('second', min(ts), max(ts))"),
        "channel": (
            f"FIRST({first}) || '/' || FIRST({_trait('medium')})",
            f"arg_min({first}, ts) || '/' || arg_min({_trait('medium')}, ts)",
        ),
        "is_mobile": (
            f"CASE WHEN LAST({last}) = 'device_1' THEN 'mobile' ELSE upper(LAST({last})) END",
            f"CASE WHEN arg_max({last}, ts) = 'device_1' THEN 'mobile' ELSE upper(arg_max({last}, ts)) END",
        ),
    }
    return found


MEASURES = _measures()
SQL = f"""SELECT * FROM t MATCH_RECOGNIZE (
  PARTITION BY user_id ORDER BY ts
  MEASURES {", ".join(f"{text} AS {name}" for name, (text, _) in MEASURES.items())}
  PATTERN (first_one (view | cart | buy | search | other)*)
  DEFINE {", ".join(f"{kind} AS event = '{kind}' AND ts - PREV(ts) <= INTERVAL '30' MINUTE" for kind in KINDS)},
    other AS ts - PREV(ts) <= INTERVAL '30' MINUTE)"""
DUCKDB = f"""SELECT user_id, {", ".join(f"{text} AS {name}" for name, (_, text) in MEASURES.items())}
FROM t GROUP BY user_id, session_id"""


def expected(table: pa.Table) -> Answer:
    """DuckDB's answer, in the order of users and sessions."""
    with duckdb.connect() as connection:
        connection.register("t", table)
        found = connection.sql(f"""SELECT g.* FROM ({DUCKDB}) AS g
          JOIN (SELECT user_id, min(ts) AS seen_at FROM t GROUP BY user_id) AS users USING (user_id)
          ORDER BY seen_at, began_at""").to_arrow_table()
    return {name: found.column(name).combine_chunks() for name in found.column_names}


QUERIES = (
    Query(
        "wide_measures", "80 measures over sessions", events, SQL, expected, duckdb=DUCKDB, ratio_goal=1 / 1.5,
    ),
)
