"""SHOW TIMEOUT MATCHES: what users are told."""

from __future__ import annotations

import warnings

import pyarrow as pa
import pytest

import sparkrex as rex
from sparkrex.errors import ExecutionError

TABLE = pa.table({"t": [1, 2, 3], "x": ["p", "c", "p"]})
QUERY = """SELECT * FROM t MATCH_RECOGNIZE (
    ORDER BY t MEASURES MATCH_STATUS() AS s ONE ROW PER MATCH SHOW TIMEOUT MATCHES
    PATTERN ({pattern}) WITHIN 3 {define})"""


@pytest.mark.parametrize("define", ["", "DEFINE A AS TRUE, B AS x = 'c'"])
def test_a_warning_if_every_row_may_time_out(define: str) -> None:
    with pytest.warns(UserWarning, match="A, which the pattern begins with, is any row"):
        rex.sql(QUERY.format(pattern="A B", define=define), t=TABLE)


def test_no_warning_without_need() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rex.sql(QUERY.format(pattern="A X*? B", define="DEFINE A AS x = 'p', B AS x = 'c'"), t=TABLE)


def test_explain_says_how_timeouts_are_searched() -> None:
    query = QUERY.format(pattern="A B", define="DEFINE A AS x = 'p'")
    text = str(rex.explain(query, t=TABLE))
    assert text.startswith("MatchRecognize ONE ROW PER MATCH SHOW TIMEOUT MATCHES, AFTER MATCH SKIP PAST LAST ROW")
    assert "timeouts: beginnings are searched from every start" in text
    assert "timeouts: beginnings are searched in plain Python" in str(
        rex.explain(query, t=TABLE, settings={"matcher": "interpreter"})
    )


def test_the_search_is_bounded() -> None:
    """Which rows are A and which B matters to C alone, which never comes: every cut of the rows is tried."""
    rows = pa.table({"t": range(40)})
    query = """SELECT * FROM t MATCH_RECOGNIZE (
        ORDER BY t MEASURES MATCH_STATUS() AS s ONE ROW PER MATCH SHOW TIMEOUT MATCHES
        PATTERN (Z (A | B)* C D) WITHIN 30
        DEFINE Z AS t = 0, A AS t < 25, B AS t < 25, C AS count(A.*) > 100)"""
    for matcher, max_steps in (("backtrack", 10_000), ("interpreter", 100)):  # plain Python takes long for each
        with pytest.raises(ExecutionError, match="REX403"):
            rex.sql(query, t=rows, settings={"max_steps": max_steps, "matcher": matcher})
