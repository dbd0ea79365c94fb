"""A fingerprint is that of the meaning: not of the layout, and not of the process that takes it."""

from __future__ import annotations

import os
import subprocess
import sys

import pyarrow as pa
import pytest

from sparkrex.hosts.duckdb.host import DuckDbHost
from sparkrex.modes.fingerprint import fingerprint
from sparkrex.pipeline import parse_query, prepare_relation
from sparkrex.settings import Settings

ROWS = """SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES FIRST(A.x) AS a, count(*) AS n
    AFTER MATCH SKIP TO LAST B PATTERN (A+ B) SUBSET U = (A, B) DEFINE B AS x > PREV(x) + 1)"""
SEGMENTS = """SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES sum(UP.x) AS s ALL MATCHES
    PATTERN (UP & W) DEFINE SEGMENT UP AS last(UP.x) > first(UP.x), SEGMENT W AS window(1, 5))"""
EVENTS = """SELECT * FROM t MATCH_EVENTS (TIME ts TYPE k PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b)
    { upper(a.k) LIKE 'A%' } WITHIN 5 RETURN a.ts AS a)"""


def taken(text: str) -> str:
    parsed = parse_query(text, "spark")
    statement = parsed.statement
    host = DuckDbHost(statement.source, statement.dialect, "spark", Settings())
    try:
        host.register("t", pa.table({"k": ["a"], "ts": [1], "x": [1]}))
        plan, _, _ = prepare_relation(parsed, statement.relations[0], parsed.clauses[0], host)
        return fingerprint(plan)
    finally:
        host.close()


@pytest.mark.parametrize("query", [ROWS, SEGMENTS, EVENTS])
def test_layout_does_not_count(query: str) -> None:
    assert taken(query) == taken(query.replace(" ", "  ").replace("PATTERN", "-- a comment\nPATTERN"))


@pytest.mark.parametrize(("old", "new"), [
    ("A+", "A+?"), ("A+", "A*"), ("+ 1", "+ 1.0"), ("+ 1", "+ 2"), ("PREV", "NEXT"), ("LAST B", "FIRST B"),
    ("AS n", "AS m"), ("U = (A, B)", "U = (A)"), ("PARTITION BY k ", ""), ("ORDER BY ts", "ORDER BY ts DESC"),
])
def test_meaning_counts(old: str, new: str) -> None:
    assert old in ROWS
    assert taken(ROWS) != taken(ROWS.replace(old, new))


def test_another_process_takes_the_same() -> None:
    """Sets have another order there."""
    code = "from tests.modes.test_fingerprint import *; print(taken(ROWS), taken(SEGMENTS), taken(EVENTS))"
    for seed in ("1", "2"):
        ran = subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        assert ran.stdout.split() == [taken(ROWS), taken(SEGMENTS), taken(EVENTS)]
