"""Threads that share the columns of a window ask the host one at a time: it has one connection, one table of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

import sparkrex as rex
from sparkrex import threads

if TYPE_CHECKING:
    import pytest

CALLS = ("count(DISTINCT x)", "count(DISTINCT s)", "min(s)", "max(s)", "bool_or(x > 3)", "bool_and(x > 3)")


def test_aggregates_of_the_host_in_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "LEAST", 1)
    n_rows = 1_500
    table = pa.table({
        "ts": range(n_rows), "x": [row * 7 % 31 for row in range(n_rows)],
        "s": [str(row * 11 % 41) for row in range(n_rows)],
    })
    listed = ", ".join(f"{call} OVER w AS c{number}" for number, call in enumerate(CALLS))
    query = f"""SELECT ts, {listed} FROM t WINDOW w AS (ORDER BY ts
        ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING AFTER MATCH SKIP TO NEXT ROW
        PATTERN (A+) DEFINE A AS x < 30) ORDER BY ts"""
    expected = rex.sql(query, t=table, settings={"threads": 1})
    for _ in range(5):
        assert rex.sql(query, t=table, settings={"threads": 4}).equals(expected)
