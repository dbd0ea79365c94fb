"""One partition searched by several threads: the same matches as by one, and what EXPLAIN says of it.

The property suite cuts every example into tiny pieces; here are the cases that it meets too rarely.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.modes.rows.property.compare import in_tiny_pieces

import sparkrex as rex
from sparkrex.errors import ExecutionError

ROWS = ["MEASURES MATCH_NUMBER() AS n, FIRST(ts) AS a, LAST(ts) AS b ONE ROW PER MATCH",
        "MEASURES CLASSIFIER() AS c, MATCH_NUMBER() AS n ALL ROWS PER MATCH WITH UNMATCHED ROWS"]


def letters(text: str, keys: list[int] | None = None) -> pa.Table:
    return pa.table({
        "k": keys or [1] * len(text), "ts": pa.array(np.arange(len(text)) * 1_000_000, pa.timestamp("us")),
        "e": list(text), "x": np.arange(len(text)) * 7 % 11,
    })


def run(table: pa.Table, clause: str, **settings: Any) -> pa.Table:
    return rex.sql(f"SELECT * FROM t MATCH_RECOGNIZE ({clause})", t=table, settings=settings)


def check(table: pa.Table, clause: str, matcher: str | None = None) -> None:
    """By one thread as by up to eight, on pieces of a few rows."""
    whole = run(table, clause, threads=1, matcher=matcher)
    with in_tiny_pieces():
        for threads in (2, 3, 8):
            assert run(table, clause, threads=threads, matcher=matcher).equals(whole)


LONG = "abbbbbbbbbbbbbbbbbbbbbbbbc"
CLAUSES = [
    "PATTERN (A B* C) DEFINE A AS e = 'a', B AS e = 'b', C AS e = 'c'",
    "PATTERN (B+) DEFINE B AS e = 'b'",
    "PATTERN (B{3}) DEFINE B AS e = 'b'",
    "PATTERN (B{3}?) DEFINE B AS e = 'b'",
    "AFTER MATCH SKIP TO LAST C PATTERN (B C D) DEFINE B AS e = 'b'",
    "AFTER MATCH SKIP TO NEXT ROW PATTERN (B{2,5}) DEFINE B AS e = 'b'",
    "PATTERN (^ A B{4} | B{5} $ | B C) DEFINE A AS e = 'a', B AS e = 'b', C AS e = 'c'",
    "PATTERN (B*?) DEFINE B AS e = 'b'",
    "PATTERN (A? B{2}) DEFINE A AS NEXT(e, 3) = 'b', B AS e = 'b' AND PREV(e) IS NOT NULL",
]


@pytest.mark.parametrize("clause", CLAUSES)
@pytest.mark.parametrize("matcher", [None, "backtrack"])
def test_matches_that_pass_over_many_pieces(clause: str, matcher: str | None) -> None:
    for rows in ROWS:
        for text in (LONG, LONG * 2, "b" * 40, "ab" * 20):
            check(letters(text), f"ORDER BY ts {rows} {clause}", matcher)


def test_conditions_that_read_the_match() -> None:
    clause = "PATTERN (A B+ C) WITHIN INTERVAL '9' SECOND DEFINE B AS x > avg(B.x) - 3, C AS x < FIRST(B.x)"
    for rows in ROWS:
        check(letters(LONG * 4), f"ORDER BY ts {rows} {clause}")


def test_a_giant_partition_among_others() -> None:
    text = "abbbcabc" * 12
    keys = [7] * 3 + [1] * 70 + [2] * 20 + [3] * 3
    for clause in CLAUSES:
        check(letters(text, keys), f"PARTITION BY k ORDER BY ts {ROWS[1]} {clause}")


SKIPPING = "AFTER MATCH SKIP TO LAST C PATTERN (A B+ C | B) DEFINE A AS e = 'a', B AS e = 'b', C AS e = 'c'"


@pytest.mark.parametrize("matcher", [None, "backtrack"])
def test_an_error_of_a_search_from_within_a_match_is_none(matcher: str | None) -> None:
    # Every B of the match would be one without C, if a match began there.
    check(letters("a" + "b" * 30 + "c"), f"ORDER BY ts {ROWS[0]} {SKIPPING}", matcher)


@pytest.mark.parametrize("matcher", [None, "backtrack"])
def test_the_first_error_is_that_of_one_thread(matcher: str | None) -> None:
    table = letters("a" + "b" * 30 + "cabbcxbb" + "b" * 9)
    texts = set()
    with in_tiny_pieces():
        for threads in (1, 2, 5, 8):
            with pytest.raises(ExecutionError) as caught:
                run(table, f"ORDER BY ts {ROWS[0]} {SKIPPING}", threads=threads, matcher=matcher)
            assert caught.value.code == "REX402"
            texts.add(str(caught.value))
    assert len(texts) == 1
    assert "row 38 of its partition" in texts.pop()


def test_explain_says_how_partitions_were_cut() -> None:
    table = letters("b" * 30)
    clause = f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts {ROWS[0]} PATTERN (B{{4}}) DEFINE B AS e = 'b')"
    assert "one partition by all threads\n" in str(rex.explain(clause, t=table))
    with in_tiny_pieces():
        text = str(rex.explain(clause, t=table, analyze=True, settings={"threads": 2}))
    # Cut before rows 7, 15 and 22, where the search stands at rows 8, 16 and 24. No two searches attempt the same row.
    assert "by all threads: 4 pieces at the same time, cut inside partitions; 19 rows searched again" in text


def test_explain_says_why_one_thread_searches_a_partition() -> None:
    clause = "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES A.ts AS a PATTERN (A B+){0} DEFINE B AS x > {1})"
    table = letters("b" * 30)
    text = str(rex.explain(clause.format("", "avg(B.x)"), t=table))
    assert "one partition by one thread: nothing bounds how far a match may reach; WITHIN would" in text
    text = str(rex.explain(clause.format("", "MATCH_NUMBER()"), t=table))
    assert "one partition by one thread: a condition reads MATCH_NUMBER()" in text
    bounded = clause.format(" WITHIN INTERVAL '9' SECOND", "avg(B.x)")
    assert "one partition by all threads" in str(rex.explain(bounded, t=table))
