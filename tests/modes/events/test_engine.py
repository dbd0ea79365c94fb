"""Event queries from text to table, through the public functions."""

from __future__ import annotations

import math
import re
import warnings
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sparkrex as rex
from sparkrex.cli.main import main
from sparkrex.modes.events.mode import EventsMode

if TYPE_CHECKING:
    from pathlib import Path

LETTERS = pa.table(
    {
        "ts": [1, 2, 3, 4, 5, 6, 7, 8],
        "k": ["p", "p", "q", "p", "q", None, "p", "q"],
        "kind": ["A", "B", "A", "X", "B", "B", "B", "B"],
        "x": [5, 3, 4, 0, 9, 1, 7, 2],
    }
)
"""By k: p has A1 B2 X4 B7, q has A3 B5 B8, and B6 is in no partition."""

PAIRS = "PATTERN SEQ(A a, B b) WHERE {strategy}(a, b) {{ [k] }} RETURN a.ts AS a, b.ts AS b"
CHAINS = "PATTERN SEQ(A a, B+ b[]) WHERE {strategy}(a, b[]) {{ [k] }} RETURN a.ts AS a, array_agg(b[].ts) AS b"


def rows(query: str, table: pa.Table = LETTERS, **options: Any) -> list[tuple[Any, ...]]:
    """The answer to a query over a table whose time is ts."""
    found = rex.events(query, table, **{"time": "ts", "type": "kind", **options})
    return [tuple(row.values()) for row in found.to_pylist()]


# The paper's queries.

READINGS = pa.table(
    {
        "ts": [datetime(2024, 5, 1, 9) + timedelta(minutes=m) for m in (0, 5, 20, 30, 40, 50, 13 * 60)],
        "kind": ["Shelf", "Shelf", "Register", "Exit", "Exit", "Shelf", "Exit"],
        "tag_id": [1, 2, 1, 1, 2, 3, 3],
    }
)
SHOPLIFTING = """
    PATTERN SEQ(Shelf a, ~(Register b), Exit c)
    WHERE skip_till_next_match(a, b, c) { a.tag_id = b.tag_id AND a.tag_id = c.tag_id }
    WITHIN 12 hours
    RETURN a.tag_id AS tag, c.ts AS at"""


def test_query_1_shoplifting() -> None:
    """Tag 1 was at the register, tag 3 took longer than twelve hours."""
    assert rows(SHOPLIFTING, READINGS) == [(2, datetime(2024, 5, 1, 9, 40))]
    written = SHOPLIFTING.replace("a.tag_id = b.tag_id AND a.tag_id = c.tag_id", "[tag_id]")
    assert rows(written, READINGS) == rows(SHOPLIFTING, READINGS)


SHIPMENTS = pa.table(
    {
        "ts": [1, 2, 3, 4, 5, 6],
        "kind": ["Alert", "Shipment", "Shipment", "Shipment", "Shipment", "Shipment"],
        "type": ["contaminated", None, None, None, None, None],
        "site": ["A", None, None, None, None, None],
        "from": [None, "A", "X", "B", "A", "C"],
        "to": [None, "B", "Y", "C", "D", "E"],
    }
)
CONTAMINATION = """
    PATTERN SEQ(Alert a, Shipment+ b[])
    WHERE skip_till_any_match(a, b[]) {
      a.type = 'contaminated' AND b[1].from = a.site AND b[i].from = b[i-1].to }
    WITHIN 5
    RETURN a.site AS origin, array_agg(b[].ts) AS shipments, b[b.LEN].to AS reached"""


def test_query_2_contamination() -> None:
    assert rows(CONTAMINATION, SHIPMENTS) == [
        ("A", [2], "B"), ("A", [2, 4], "C"), ("A", [5], "D"), ("A", [2, 4, 6], "E"),
    ]
    assert len(rows(CONTAMINATION.replace("WITHIN 5", "WITHIN 4"), SHIPMENTS)) == 3


TICKS = pa.table(
    {
        "ts": range(1, 9),
        "symbol": ["s"] * 8,
        "price": [100, 120, 120, 121, 120, 125, 120, 120],
        "volume": [1010, 990, 1005, 999, 999, 750, 950, 700],
    }
)
TREND = """
    PATTERN SEQ(Stock+ a[], Stock b)
    WHERE skip_till_next_match(a[], b) {
      [symbol] AND a[1].volume > 1000 AND a[i].price > avg(a[..i-1].price) AND b.volume < 80% * a[a.LEN].volume }
    WITHIN 100"""


@pytest.mark.parametrize("algorithm", EventsMode.matchers)
def test_query_3_trend(algorithm: str) -> None:
    """R1, R2 and R3 of Figure 3, and no other; worked out by hand in docs/events.md."""
    query = f"{TREND} RETURN array_agg(a[].ts) AS a, b.ts AS b"
    found = rows(query, TICKS, type=None, settings={"matcher": algorithm})
    assert sorted(found) == [([1, 2, 3, 4, 5], 6), ([1, 2, 3, 4, 5, 6, 7], 8), ([3, 4], 6)]


# Strategies, types, windows.


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        ("partition_contiguity", [(1, [2]), (3, [5]), (3, [5, 8])]),
        ("skip_till_next_match", [(1, [2]), (1, [2, 7]), (3, [5]), (3, [5, 8])]),
        ("skip_till_any_match", [(1, [2]), (1, [2, 7]), (1, [7]), (3, [5]), (3, [5, 8]), (3, [8])]),
    ],
)
def test_strategies(strategy: str, expected: list[Any]) -> None:
    assert sorted(rows(CHAINS.format(strategy=strategy))) == expected


def test_strict_contiguity_is_about_the_whole_stream() -> None:
    query = "PATTERN SEQ(A a, B+ b[]) WHERE strict_contiguity(a, b[]) { %s } RETURN a.ts AS a, array_agg(b[].ts) AS b"
    assert rows(query % "b[1].x > 0") == [(1, [2])]
    follows = LETTERS.filter(pa.array([True, True, True, False, True, True, True, True]))
    assert rows(query % "b[1].x > 0", follows) == [(1, [2]), (3, [5]), (3, [5, 6]), (3, [5, 6, 7]), (3, [5, 6, 7, 8])]
    # An event without the attribute is in no match, but it is there, and breaks the run.
    assert rows(query % "[k]", follows) == [(1, [2]), (3, [5])]


def test_types_by_condition() -> None:
    types = {"High": "kind = 'B' AND x > 5", "A": "x = 4"}
    query = "PATTERN SEQ(A a, High h) WHERE skip_till_any_match(a, h) RETURN a.ts AS a, h.ts AS h"
    assert rows(query, types=types) == [(3, 5), (3, 7)]
    assert rows(query, types=types, type=None) == [(3, 5), (3, 7)]
    sql = f"""SELECT * FROM t MATCH_EVENTS (
        TIME ts TYPE kind TYPES (High AS kind = 'B' AND x > 5, A AS x = 4) {query})"""
    assert rex.sql(sql, t=LETTERS).to_pylist() == [{"a": 3, "h": 5}, {"a": 3, "h": 7}]


def test_windows() -> None:
    query = "PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) { [k] } WITHIN %s RETURN a.ts AS a, b.ts AS b"
    assert rows(query % "1") == [(1, 2)]
    assert rows(query % "2") == [(1, 2), (3, 5)]
    # X4 is of no type that the query names, but it counts: it is an event of the partition.
    assert rows(query % "2 EVENTS") == [(1, 2), (3, 5), (3, 8)]
    assert rows(query % "3 EVENTS") == [(1, 2), (1, 7), (3, 5), (3, 8)]


def test_functions_of_one_event_stand_anywhere_among_the_conditions() -> None:
    query = """PATTERN SEQ(A a, B+ b[]) WHERE skip_till_any_match(a, b[]) {
          [k] AND md5(lower(a.kind)) <> md5(b[1].k) AND sqrt(b[1].x) > 1.5 AND b[i].x > b[i-1].x AND
          sqrt(abs(b[i].x)) > 2 AND length(a.k || 'z') = 2 }
        RETURN a.ts AS a, array_agg(b[].ts) AS b"""
    assert rows(query) == [(1, [2]), (1, [2, 7]), (1, [7]), (3, [5])]


def test_what_the_engine_cannot_combine_is_refused() -> None:
    query = "PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) { md5(concat(a.k, b.k)) < 'b' } RETURN a.ts AS a"
    with pytest.raises(rex.UnsupportedError, match=r"(?s)REX301.*several events.*hint: functions may read one event"):
        rows(query)


# RETURN.


def test_return_is_exactly_what_is_asked_for() -> None:
    query = PAIRS.format(strategy="skip_till_next_match")
    found = rex.events(query, LETTERS, time="ts", type="kind")
    assert found.schema == pa.schema([("a", pa.int64()), ("b", pa.int64())])
    assert found.to_pylist() == [{"a": 1, "b": 2}, {"a": 3, "b": 5}]


def test_return_of_the_events() -> None:
    query = "PATTERN SEQ(A a, B+ b[]) WHERE partition_contiguity(a, b[]) { [k] }"
    expected = [
        (1, "a", 1, "p", "A", 5), (1, "b", 2, "p", "B", 3),
        (1, "a", 3, "q", "A", 4), (1, "b", 5, "q", "B", 9),
        (2, "a", 3, "q", "A", 4), (2, "b", 5, "q", "B", 9), (2, "b", 8, "q", "B", 2),
    ]
    for written in (query, f"{query} RETURN", f"{query} RETURN EVENTS"):
        found = rex.events(written, LETTERS, time="ts", type="kind")
        assert found.schema == pa.schema([("match_id", pa.int64()), ("variable", pa.string()), *LETTERS.schema])
        assert [tuple(row.values()) for row in found.to_pylist()] == expected


def test_expressions_of_return() -> None:
    query = """PATTERN SEQ(A a, B+ b[]) WHERE skip_till_next_match(a, b[]) { [k] }
        RETURN upper(a.kind) || '!' AS u, b[1].x - a.x AS d, b[b.LEN].ts AS last, sum(b[].x) AS s, avg(b[].x) AS m,
               count(b[]) AS n, max(b[].x) - min(b[].x) AS r, coalesce(a.k, 'none') AS k"""
    assert rows(query) == [
        ("A!", -2, 2, 3, 3.0, 1, 0, "p"), ("A!", -2, 7, 10, 5.0, 2, 4, "p"),
        ("A!", 5, 5, 9, 9.0, 1, 0, "q"), ("A!", 5, 8, 11, 5.5, 2, 7, "q"),
    ]


def test_a_component_that_is_not_there_is_null() -> None:
    query = """PATTERN SEQ(A a, X? x, B b) WHERE skip_till_any_match(a, x, b) { [k] }
        RETURN a.ts AS a, x.ts AS x, b.ts AS b"""
    assert sorted(rows(query), key=str) == [(1, 4, 7), (1, None, 2), (1, None, 7), (3, None, 5), (3, None, 8)]


@pytest.mark.filterwarnings("ignore:no event has type A ")
@pytest.mark.filterwarnings("ignore:no event has type B ")
@pytest.mark.parametrize("empty", [LETTERS.slice(0, 0), LETTERS.slice(3, 1)])
@pytest.mark.parametrize("returned", ["RETURN EVENTS", "RETURN a.ts AS a, count(b[]) AS n, avg(b[].x) AS m"])
def test_no_rows(empty: pa.Table, returned: str) -> None:
    """Neither in an empty stream nor in one without events that could take part; the columns are there."""
    query = f"PATTERN SEQ(A a, B+ b[]) WHERE skip_till_next_match(a, b[]) {{ [k] }} {returned}"
    whole = rex.events(query, LETTERS, time="ts", type="kind")
    for settings in ({}, {"chunk_rows": 2}):
        found = rex.events(query, empty, time="ts", type="kind", settings=settings)
        assert found.num_rows == 0
        assert found.schema == whole.schema


def test_non_overlapping() -> None:
    query = CHAINS.format(strategy="skip_till_any_match").replace("RETURN", "OUTPUT NON-OVERLAPPING RETURN")
    assert rows(query) == [(1, [2]), (3, [5])]


# Inside SQL.

EVENTS = """MATCH_EVENTS (
    TIME ts TYPE kind
    PATTERN SEQ(A a, B+ b[])
    WHERE skip_till_next_match(a, b[]) { [k] }
    RETURN a.k AS k, a.ts AS ts, count(b[]) AS n)"""


def sql(query: str, **tables: Any) -> list[tuple[Any, ...]]:
    """The rows of a statement over the letters."""
    return [tuple(row.values()) for row in rex.sql(query, t=LETTERS, **tables).to_pylist()]


def test_a_relation_of_its_own() -> None:
    assert sql(f"SELECT * FROM t {EVENTS}") == [("p", 1, 1), ("p", 1, 2), ("q", 3, 1), ("q", 3, 2)]


def test_joined_and_aggregated() -> None:
    names = pa.table({"k": ["p", "q"], "name": ["pea", "quince"]})
    query = f"""SELECT name, max(m.n) AS longest FROM t {EVENTS} AS m JOIN names ON m.k = names.k
        WHERE m.ts > 0 GROUP BY name ORDER BY name"""
    assert sql(query, names=names) == [("pea", 2), ("quince", 2)]


def test_over_a_subquery_and_under_a_common_table_expression() -> None:
    query = f"""WITH big AS (SELECT * FROM t WHERE x > 2), found AS (SELECT * FROM big {EVENTS})
        SELECT k, n FROM found ORDER BY k, n"""
    assert sql(query) == [("p", 1), ("p", 2), ("q", 1)]


def test_column_lists() -> None:
    assert rex.sql(f"SELECT * FROM t {EVENTS} AS m (x, y, z)", t=LETTERS).column_names == ["x", "y", "z"]
    with pytest.raises(rex.AnalysisError, match="REX216"):
        rex.sql(f"SELECT * FROM t {EVENTS} AS m (x, y)", t=LETTERS)
    whole = EVENTS.replace("RETURN a.k AS k, a.ts AS ts, count(b[]) AS n", "RETURN EVENTS")
    named = rex.sql(f"SELECT * FROM t {whole} AS m (id, v, ts, k, kind, x)", t=LETTERS)
    assert named.column_names == ["id", "v", "ts", "k", "kind", "x"]


def test_composed_with_another_event_query() -> None:
    """The first finds A and the B behind it; of these, one that is followed by one of the other partition."""
    query = f"""SELECT * FROM t {EVENTS} AS chains
        MATCH_EVENTS (
          TIME ts TIE BREAK n
          PATTERN SEQ(Chain c, Chain d) WHERE skip_till_any_match(c, d) {{ c.k <> d.k AND c.n = d.n }}
          RETURN c.k AS first, d.k AS second, c.n AS n)"""
    assert sql(query) == [("p", "q", 1), ("p", "q", 2)]


def test_composed_with_row_patterns() -> None:
    over = f"""SELECT * FROM t {EVENTS} AS m
        MATCH_RECOGNIZE (ORDER BY ts, n MEASURES count(*) AS n, last(k) AS k PATTERN (S G+) DEFINE G AS n > PREV(n))"""
    assert sql(over) == [(2, "p"), (2, "q")]
    under = """SELECT * FROM t
        MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES first(ts) AS ts, count(*) AS n PATTERN (A B+)
                         DEFINE B AS kind = 'B') AS m
        MATCH_EVENTS (TIME ts PATTERN SEQ(Run a, Run b) WHERE skip_till_next_match(a, b) { b.n > a.n }
                      RETURN a.k AS a, b.k AS b)"""
    assert sql(under) == [("p", "q")]


def test_an_input_column_may_be_named_as_ours_only_with_a_column_list() -> None:
    query = "PATTERN SEQ(A a) WHERE skip_till_next_match(a) RETURN EVENTS"
    once = rex.events(query, LETTERS, time="ts", type="kind")
    with pytest.raises(rex.AnalysisError, match=r"REX205.*match_id"):
        rex.events(query, once, time="ts", type="kind")
    listed = "SELECT * FROM once MATCH_EVENTS (TIME ts TYPE kind " + query + ") AS m (i, v, id, w, ts, k, kind, x)"
    assert rex.sql(listed, once=once)["i"].to_pylist() == [1, 2]


# Chunks.


@pytest.mark.parametrize("chunk_rows", [1, 2, 3, 5])
@pytest.mark.parametrize("algorithm", EventsMode.matchers)
@pytest.mark.parametrize(
    ("query", "table", "kind"),
    [
        (CHAINS.format(strategy="skip_till_any_match"), LETTERS, "kind"),
        (CHAINS.format(strategy="partition_contiguity"), LETTERS, "kind"),
        ("PATTERN SEQ(A a, B+ b[]) WHERE skip_till_any_match(a, b[]) WITHIN 4", LETTERS, "kind"),
        ("PATTERN SEQ(A a, ~(X x), B b) WHERE skip_till_any_match(a, b) { [k] } RETURN EVENTS", LETTERS, "kind"),
        ("PATTERN SEQ(A a, ~(B b)) WHERE skip_till_any_match(a) WITHIN 1 RETURN a.x AS x", LETTERS, "kind"),
        (f"{TREND} RETURN array_agg(a[].ts) AS a, b.ts AS b", TICKS, None),
        (CONTAMINATION, SHIPMENTS, "kind"),
    ],
)
def test_chunked_is_whole(query: str, table: pa.Table, kind: str | None, algorithm: str, chunk_rows: int) -> None:
    shuffled = table.take(pa.array(np.random.default_rng(1).permutation(table.num_rows)))
    whole = rex.events(query, shuffled, time="ts", type=kind, settings={"matcher": algorithm})
    chunked = rex.events(
        query, shuffled, time="ts", type=kind, settings={"matcher": algorithm, "chunk_rows": chunk_rows}
    )
    assert chunked.schema == whole.schema
    assert chunked.to_pylist() == whole.to_pylist() != []


@pytest.mark.parametrize("seed", range(8))
def test_algorithms_chunks_and_compression_agree_on_random_streams(seed: int) -> None:
    random = np.random.default_rng(seed)
    n_rows = 30
    table = pa.table(
        {
            "ts": random.permutation(n_rows) // 2, "id": random.permutation(n_rows),
            "k": pa.array(random.integers(0, 3, n_rows), mask=random.random(n_rows) < 0.1),
            "kind": pa.array(["A", "B", "X"]).take(pa.array(random.choice(3, n_rows, p=[0.3, 0.5, 0.2]))),
            "x": random.integers(0, 6, n_rows),
        }
    )
    for query in (
        "PATTERN SEQ(A a, B+ b[]) WHERE skip_till_any_match(a, b[]) { [k] AND b[i].x >= b[i-1].x } WITHIN 8",
        "PATTERN SEQ(B+ a[], B b) WHERE skip_till_next_match(a[], b) { [k] AND a[i].x > avg(a[..i-1].x) }",
        "PATTERN SEQ((A a[] | X x[])+, B b) WHERE skip_till_next_match(a[], x[], b) WITHIN 6 EVENTS",
        "PATTERN SEQ(A a, B? b, X x) WHERE partition_contiguity(a, b, x) { [k] }",
        "PATTERN SEQ(~(X x), A a, B+ b[], ~(X y)) WHERE skip_till_next_match(a, b[]) { [k] } WITHIN 5",
        "PATTERN SEQ(A a, B+ b[], B c) WHERE skip_till_any_match(a, b[], c) { [k] AND c.x < a.x } WITHIN 9 "
        "NON-OVERLAPPING",
    ):
        ties = ("order", "strict")[seed % 2]
        options: dict[str, Any] = {"time": "ts", "type": "kind", "tie_break": "id", "ties": ties}
        found = rex.events(query, table, **options)
        key = "k" if "[k]" in query else None
        expected = sorted(_matches(found, key))
        for settings in (
            {"matcher": "basic"}, {"matcher": "backtrack"}, {"chunk_rows": 1}, {"chunk_rows": 7},
            {"chunk_rows": 4, "matcher": "basic"}, {"chunk_rows": 11, "matcher": "backtrack"},
        ):
            again = rex.events(query, table, settings=settings, **options)
            assert sorted(_matches(again, key)) == expected, (query, settings)
            if settings.keys() == {"chunk_rows"}:
                assert again == found, (query, settings)
        if "~" not in query and "NON-OVERLAPPING" not in query:
            assert rex.decompress(rex.events(query, **options).buffer(table)) == found, query


def _matches(events: pa.Table, key: str | None) -> list[list[tuple[str, int]]]:
    """The variables and ids of every match's events; a partition numbers its matches."""
    partitions: dict[Any, dict[int, list[tuple[str, int]]]] = {}
    for row in events.to_pylist():
        matches = partitions.setdefault(row[key] if key else None, {})
        matches.setdefault(row["match_id"], []).append((row["variable"], row["id"]))
    for matches in partitions.values():
        assert list(matches) == list(range(1, len(matches) + 1))
    return [match for matches in partitions.values() for match in matches.values()]


# Order.

TIED = pa.table({"ts": [1, 2, 2, 3], "id": [1, 2, 1, 1], "k": ["p", "p", "q", "p"], "kind": ["A", "B", "B", "B"]})


def test_ties_of_different_partitions_are_none() -> None:
    assert rows(PAIRS.format(strategy="skip_till_next_match"), TIED) == [(1, 2)]


@pytest.mark.parametrize("settings", [{}, {"chunk_rows": 1}, {"chunk_rows": 2}, {"chunk_rows": 3}])
@pytest.mark.parametrize("ties", ["order", "strict"])
def test_ties_without_a_tie_break(ties: str, settings: dict[str, Any]) -> None:
    query = "PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) RETURN a.ts AS a, b.id AS b"
    with pytest.raises(rex.ExecutionError) as caught:
        rows(query, TIED, ties=ties, settings=settings)
    text = str(caught.value)
    assert caught.value.code == "REX409"
    assert "ts = 2" in text
    assert "hint: name columns that tell them apart by tie_break" in text
    assert "PATTERN SEQ(A a, B b)" in text
    assert rows(query, TIED, ties=ties, settings=settings, tie_break="id") == [(1, 1), (1, 2), (1, 1)]


@pytest.mark.parametrize("settings", [{}, {"chunk_rows": 1}, {"chunk_rows": 4}])
def test_ties_are_said_with_their_partition(settings: dict[str, Any]) -> None:
    twice = pa.concat_tables([TIED, TIED.slice(3)])
    with pytest.raises(rex.ExecutionError, match=r"(?s)REX409.*same ts and id.*ts = 3.*in partition k = 'p'"):
        rows(PAIRS.format(strategy="skip_till_next_match"), twice, tie_break=["id"], settings=settings)


def test_ties_of_events_that_cannot_take_part_do_not_matter() -> None:
    more = pa.concat_tables([LETTERS, LETTERS.slice(3, 1), LETTERS.slice(5, 1)])
    query = PAIRS.format(strategy="skip_till_next_match")
    assert rows(query, more) == rows(query)
    with pytest.raises(rex.ExecutionError, match="REX409"):
        rows(PAIRS.format(strategy="partition_contiguity"), more)


def test_tied_events_follow_each_other_or_not() -> None:
    query = "PATTERN SEQ(B a, B b) WHERE skip_till_any_match(a, b) RETURN a.ts AS a, b.ts AS b"
    in_order = rows(query, TIED, tie_break="id")
    assert sorted(in_order) == [(2, 2), (2, 3), (2, 3)]
    assert sorted(rows(query, TIED, tie_break="id", ties="strict")) == [(2, 3), (2, 3)]
    with pytest.raises(rex.AnalysisError, match=r"REX217.*ties='never'"):
        rows(query, TIED, ties="never")


@pytest.mark.parametrize("settings", [{}, {"chunk_rows": 1}])
def test_an_event_without_a_time(settings: dict[str, Any]) -> None:
    timeless = pa.table({"ts": [1, None, 2], "k": ["p", "p", "p"], "kind": ["A", "B", "B"]})
    query = PAIRS.format(strategy="skip_till_next_match")
    with pytest.raises(rex.ExecutionError, match=r"(?s)REX409.*ts is NULL.*in partition k = 'p'"):
        rows(query, timeless, settings=settings)
    others = timeless.set_column(2, "kind", pa.array(["A", "X", "B"]))
    assert rows(query, others, settings=settings) == [(1, 2)]


# Memory.

MANY = pa.table({"ts": range(25), "kind": ["A"] + ["B"] * 24})


@pytest.mark.parametrize("algorithm", EventsMode.matchers)
def test_too_much_memory(algorithm: str) -> None:
    query = "PATTERN SEQ(A a, B+ b[]) WHERE skip_till_any_match(a, b[]) RETURN %s"
    settings = {"matcher": algorithm, "max_event_memory": 1 << 20}
    with pytest.raises(rex.ExecutionError) as caught:
        rows(query % "EVENTS", MANY, settings=settings)
    assert caught.value.code == "REX410"
    assert "max_event_memory = 1,048,576 bytes" in caught.value.message
    assert caught.value.message.startswith(("runs that wait behind b[", "the matches")), "it names what explodes"
    assert "trend" not in str(caught.value)
    with pytest.raises(rex.ExecutionError, match=r"(?s)REX410.*rex\.trends"):
        rows(query % "count(b[]) AS n", MANY, settings=settings)


def test_settings_of_event_queries_are_checked() -> None:
    query = PAIRS.format(strategy="skip_till_next_match")
    with pytest.raises(rex.AnalysisError, match=r"(?s)REX217.*'merge'.*one of .*nfab"):
        rows(query, settings={"matcher": "merge"})
    with pytest.raises(rex.AnalysisError, match=r"REX217.*max_event_memory"):
        rows(query, settings={"max_event_memory": 0})


# Compressed output.


@pytest.mark.parametrize(
    "query",
    [
        "PATTERN SEQ(A a, B+ b[]) WHERE skip_till_any_match(a, b[]) { [k] }",
        "PATTERN SEQ(A a, B+ b[]) WHERE skip_till_any_match(a, b[]) WITHIN 4",
        "PATTERN SEQ(B+ a[], B b) WHERE skip_till_any_match(a[], b) WITHIN 5 EVENTS",
        "PATTERN SEQ(B+ a[], B b) WHERE skip_till_next_match(a[], b) { a[i].x > avg(a[..i-1].x) }",
        "PATTERN SEQ(A a, (B b | X x)) WHERE skip_till_any_match(a, b, x) { [k] }",
        "PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) { a.x > 100 }",
    ],
)
@pytest.mark.parametrize("algorithm", ["nfab", "basic"])
def test_decompressed_is_verbose(query: str, algorithm: str) -> None:
    options: dict[str, Any] = {"time": "ts", "type": "kind", "settings": {"matcher": algorithm}}
    verbose = rex.events(query, LETTERS, **options)
    buffer = rex.events(query, **options).buffer(LETTERS)
    assert buffer.column_names == ["node", "variable", "event", "predecessor", "version", "partition"]
    assert rex.decompress(buffer).schema == verbose.schema
    assert rex.decompress(buffer).to_pylist() == verbose.to_pylist()


def test_the_buffer_is_shared() -> None:
    """2^16 - 1 matches of half a million events in a few hundred pointers."""
    table = MANY.slice(0, 17)
    query = "PATTERN SEQ(A a, B+ b[]) WHERE skip_till_any_match(a, b[])"
    buffer = rex.events(query, time="ts", type="kind").buffer(table)
    assert buffer.num_rows < 200
    matches = rex.decompress(buffer)
    assert len(matches["match_id"].unique()) == 2**16 - 1
    assert matches.num_rows == 2**16 - 1 + 16 * 2**15


def test_merged_runs_of_which_only_the_younger_is_inside_the_window() -> None:
    table = pa.table({"ts": [1, 4, 5, 7], "kind": ["A", "A", "B", "C"]})
    query = "PATTERN SEQ(A a, B b, C c) WHERE skip_till_any_match(a, b, c) WITHIN %d"
    for within, firsts in ((6, [1, 4]), (5, [4]), (2, [])):
        options: dict[str, Any] = {"time": "ts", "type": "kind"}
        verbose = rex.events(query % within, table, **options)
        assert sorted(row["ts"] for row in verbose.to_pylist() if row["variable"] == "a") == firsts
        buffer = rex.events(query % within, **options).buffer(table)
        assert rex.decompress(buffer).to_pylist() == verbose.to_pylist()


@pytest.mark.parametrize(
    ("query", "what"),
    [
        ("PATTERN SEQ(A a, ~(X x), B b) WHERE skip_till_next_match(a, b)", "a negated component"),
        ("PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) OUTPUT NON-OVERLAPPING", "NON-OVERLAPPING"),
        ("PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) RETURN a.ts AS a", "expressions in RETURN"),
    ],
)
def test_what_has_no_compressed_output(query: str, what: str) -> None:
    with pytest.raises(rex.UnsupportedError, match=f"REX301.*{what}"):
        rex.events(query, time="ts", type="kind").buffer(LETTERS)


def test_only_a_buffer_can_be_decompressed() -> None:
    with pytest.raises(TypeError, match="node, variable, event, predecessor, version"):
        rex.decompress(LETTERS)


# Inputs.


def test_every_kind_of_table(tmp_path: Path) -> None:
    path = tmp_path / "letters.parquet"
    pq.write_table(LETTERS, path)
    query = CHAINS.format(strategy="skip_till_next_match")
    expected = rows(query)
    frame = pd.DataFrame(LETTERS.to_pylist())
    letters = pl.DataFrame(LETTERS.to_pylist())
    for stream in (frame, letters, letters.lazy(), path, str(path), LETTERS.to_reader()):
        found = rex.events(query, time="ts", type="kind").reader(stream).read_all()
        assert [tuple(row.values()) for row in found.to_pylist()] == expected
    several = pa.concat_tables([LETTERS.slice(0, 3), LETTERS.slice(3)])
    assert rows(query, several) == expected
    with pytest.raises(TypeError, match="the input is a int, not a table"):
        rex.events(query, 3, time="ts", type="kind")


def test_dictionaries_and_times() -> None:
    times = pa.array([datetime(2024, 1, 1) + timedelta(hours=h) for h in LETTERS["ts"].to_pylist()], pa.timestamp("ns"))
    table = LETTERS.set_column(0, "ts", times).set_column(2, "kind", LETTERS["kind"].dictionary_encode())
    query = "PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) { [k] } WITHIN %s RETURN a.x AS a, b.x AS b"
    assert rows(query % "2 hours", table) == [(5, 3), (4, 9)]
    assert rows(query % "119 minutes", table) == [(5, 3)]


def test_a_type_that_is_only_in_the_dictionary() -> None:
    kinds = pa.DictionaryArray.from_arrays(pa.array([0, 2], pa.int8()), pa.array(["A", "B", "C"]))
    table = pa.table({"ts": [1, 2], "kind": kinds})
    with pytest.warns(UserWarning, match="no event has type B .*: the types in kind are A, C"):
        assert rows("PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) RETURN a.ts AS a", table) == []


def test_a_warning_that_is_raised_is_no_fault_of_ours() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="no event has type D"):
            rows("PATTERN SEQ(A a, D d) WHERE skip_till_any_match(a, d) RETURN a.ts AS a", LETTERS)


def test_the_command(tmp_path: Path) -> None:
    pq.write_table(LETTERS, tmp_path / "t.parquet")
    (tmp_path / "q.sql").write_text(f"SELECT k, n FROM t {EVENTS} AS m ORDER BY k, n", encoding="utf-8")
    arguments = ["-t", f"t={tmp_path / 't.parquet'}"]
    assert main(["run", str(tmp_path / "q.sql"), *arguments, "-o", str(tmp_path / "out.parquet")]) == 0
    found = pq.read_table(tmp_path / "out.parquet")
    assert found.to_pydict() == {"k": ["p", "p", "q", "q"], "n": [1, 2, 1, 2]}


# EXPLAIN.


def test_explain_prints_the_automaton() -> None:
    text = str(rex.explain(rex.events(f"{TREND} RETURN b.ts AS b", time="ts"), TICKS))
    head, *lines = text.splitlines()
    assert head == "MatchEvents skip_till_next_match, all matches"
    for expected in (
        "├─ partition by symbol", "├─ order by ts", "├─ pattern SEQ(Stock+ a[], Stock b)",
        "├─ within 100 of the time column",
    ):
        assert expected in lines
    assert "runs at most polynomial in the events of a partition inside the window, of degree 4 (Corollary 4.3)" in text
    assert "─ matcher nfab\n" in text
    for part in ("begin a[1]", "take a[i]", "begin b", "ignore if NOT (", "avg("):
        assert part in text, part
    assert "warning" not in text
    assert "run in" not in text
    ran = str(rex.explain(rex.events(f"{TREND} RETURN b.ts AS b", time="ts"), TICKS, analyze=True))
    assert "match and return" in ran
    assert "3 matches" in ran
    assert re.search(r"├─ counted \d+ run steps, \d+ edge evaluations, \d+ runs merged, \d+ nodes in the buffer", ran)
    assert "3 ends of matches" in ran


def test_explain_warns_of_exponentially_many_runs() -> None:
    text = str(rex.explain(rex.events(CONTAMINATION, time="ts", type="kind"), SHIPMENTS))
    assert "warning: runs may be exponential in the events of a partition inside the window (Corollary 4.3)" in text
    assert "Shipment+ b[]" in text
    bounded = CONTAMINATION.replace("Shipment+", "Shipment{1,3}")
    assert "warning" not in str(rex.explain(rex.events(bounded, time="ts", type="kind"), SHIPMENTS))


def test_explain_of_a_statement() -> None:
    text = str(rex.explain(f"SELECT k, n FROM t {EVENTS} AS m WHERE n > 1", t=LETTERS))
    assert text.startswith("Host duckdb: SELECT k, n FROM rex_")
    assert "MatchEvents skip_till_next_match, all matches" in text
    assert "├─ return n = count(b[])" in text
    assert "only events with" in text
    compiled = rex.compile(f"SELECT * FROM t {EVENTS}")
    assert str(compiled).endswith("PATTERN SEQ(A a, B+ b[])")
    assert compiled(t=LETTERS).num_rows == 4


# The ends of time.

LARGEST, SMALLEST = 2**63 - 1, -(2**63)


def at_times(kinds: str, times: list[Any], type_: pa.DataType) -> pa.Table:
    """Events of types of one letter."""
    return pa.table({"ts": pa.array(times, type_), "kind": list(kinds)})


@pytest.mark.parametrize("algorithm", EventsMode.matchers)
@pytest.mark.parametrize("chunk_rows", [None, 1])
@pytest.mark.parametrize(
    ("times", "type_", "expected"),
    [
        ([1.0, math.nan], pa.float64(), 0),
        ([1.0, math.inf], pa.float64(), 0),
        ([-math.inf, 1.0], pa.float64(), 0),
        ([1.0, 4.0], pa.float64(), 1),
        ([SMALLEST, LARGEST], pa.int64(), 0),
        ([SMALLEST, SMALLEST + 3], pa.int64(), 1),
        ([LARGEST - 3, LARGEST], pa.int64(), 1),
        ([2**64 - 5, 2**64 - 1], pa.uint64(), 0),
        ([2**64 - 4, 2**64 - 1], pa.uint64(), 1),
        ([Decimal(10**20), Decimal(10**20 + 4)], pa.decimal128(38, 0), 0),
        ([Decimal(10**20), Decimal(10**20 + 3)], pa.decimal128(38, 0), 1),
    ],
)
def test_windows_at_the_ends_of_time(
    algorithm: str, chunk_rows: int | None, times: list[Any], type_: pa.DataType, expected: int
) -> None:
    table = at_times("AB", times, type_)
    query = "PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) WITHIN 3 RETURN a.ts AS a, b.ts AS b"
    found = rows(query, table, settings={"matcher": algorithm, "chunk_rows": chunk_rows})
    assert len(found) == expected


@pytest.mark.parametrize("algorithm", EventsMode.matchers)
def test_a_time_that_is_not_a_number_is_outside_every_window(algorithm: str) -> None:
    settings = {"matcher": algorithm}
    alone = "PATTERN SEQ(A a) WHERE skip_till_any_match(a) WITHIN {} RETURN a.ts AS a"
    table = at_times("AA", [1.0, math.nan], pa.float64())
    assert rows(alone.format(3), table, settings=settings) == [(1.0,)]
    # Positions are counted whatever the time is.
    assert len(rows(alone.format("3 EVENTS"), table, settings=settings)) == 2
    behind = "PATTERN SEQ(A a, ~(B b)) WHERE skip_till_any_match(a, b) WITHIN 3 RETURN a.ts AS a"
    assert rows(behind, at_times("AB", [1.0, math.nan], pa.float64()), settings=settings) == [(1.0,)]
    before = "PATTERN SEQ(~(B b), A a) WHERE skip_till_any_match(a, b) WITHIN 3 RETURN a.ts AS a"
    assert rows(before, at_times("BA", [-math.inf, 1.0], pa.float64()), settings=settings) == [(1.0,)]
    assert rows(before, at_times("BA", [SMALLEST, LARGEST], pa.int64()), settings=settings) == [(LARGEST,)]
    assert rows(behind, at_times("AB", [SMALLEST, LARGEST], pa.int64()), settings=settings) == [(SMALLEST,)]


def test_times_that_are_not_numbers_are_one_time() -> None:
    table = pa.table({"ts": [math.nan, math.nan], "kind": ["A", "B"], "id": [1, 2]})
    pair = "PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) RETURN a.id AS a"
    assert rows(pair, table, tie_break="id") == [(1,)]
    assert rows(pair, table, tie_break="id", ties="strict") == []


@pytest.mark.parametrize("window", ["109500 days", "9223372036854 seconds", "9223372036854775807 EVENTS"])
def test_a_window_longer_than_all_of_time(window: str) -> None:
    """As nanoseconds, of which the column is, the longest window of microseconds has more than 64 bits."""
    moments = [datetime(1700, 1, 1), datetime(2260, 1, 1)]
    table = pa.table({"ts": pa.array(moments, pa.timestamp("us")).cast(pa.timestamp("ns")), "kind": ["A", "B"]})
    query = f"PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) WITHIN {window} RETURN a.kind AS a"
    assert len(rows(query, table)) == (0 if "days" in window else 1)
