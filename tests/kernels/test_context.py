"""What the search passes over changes no answer: runs, bounds, threads, each against the plain way on random rows."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

import sparkrex as rex
from sparkrex.modes.rows import runs
from sparkrex.modes.rows.backtrack import matcher as backtrack
from sparkrex.modes.rows.kernels.backtrack import is_ascending

if TYPE_CHECKING:
    from sparkrex.modes.rows.program import Program

_SEEDS = range(12)

_QUERIES = [
    "PATTERN (A N*? B N*? C) DEFINE A AS e = 'a', B AS e = 'b' AND ts - A.ts <= 3, C AS e = 'c' AND C.ts - A.ts < 6",
    "PATTERN (A X* B Y* C) DEFINE A AS e = 'a', B AS e = 'b' AND B.ts <= A.ts + 4, C AS e = 'c' AND ts - B.ts <= 3",
    "PATTERN (A N*? B) DEFINE A AS e = 'a', B AS e = 'b' AND A.ts >= B.ts - 4",
    "PATTERN (A+ X* B) DEFINE A AS e = 'a', B AS e = 'b' AND ts - LAST(A.ts) <= 2",
    "PATTERN (A+ X*? B) DEFINE A AS e = 'a', B AS e = 'b' AND ts - FIRST(A.ts, 1) <= 5 AND v > avg(A.v)",
    "PATTERN ((A | X)* B) DEFINE A AS e = 'a', X AS e <> 'c', B AS e = 'b' AND ts - A.ts <= 4",
    "PATTERN (A (X* B)+ C) DEFINE A AS e = 'a', B AS e = 'b' AND ts - A.ts <= 5, C AS e = 'c' OR v > 2",
    "PATTERN (A (X*? B)+? C?) DEFINE A AS e = 'a', B AS e <> 'c' AND ts - A.ts <= 5, C AS v > LAST(B.v, 1)",
    "PATTERN (A B*? C) DEFINE A AS e = 'a', B AS v >= 1, C AS e = 'c' AND NEXT(A.ts) - A.ts < 3 AND ts - A.ts < 9",
    "PATTERN (A B* C) DEFINE A AS e = 'a', B AS v >= 1 AND sum(B.v) < 9, C AS ts - NEXT(A.ts, 2) <= 3",
    "PATTERN (A X* B) WITHIN 4 DEFINE A AS e = 'a', B AS e = 'b'",
    "PATTERN (X* B) DEFINE B AS e = 'b' AND v < max(v) AND ts - FIRST(ts) <= 5",
    "PATTERN (A+ B) DEFINE A AS v >= avg(A.v), B AS e = 'b'",
    "PATTERN (A+? B*) DEFINE A AS v >= stddev_pop(v), B AS count(A.*) > count(B.*) AND e = 'b'",
    "PATTERN (N*? B) DEFINE B AS ts - B.ts <= 0 AND e = 'b'",
    "PATTERN (A N* A) DEFINE A AS ts - FIRST(A.ts) <= 4 AND e IN ('a', 'b'), N AS e <> 'b' OR v > 1",
]


def _table(seed: int, *, has_nulls: bool = False) -> pa.Table:
    chosen = random.Random(seed)
    n_rows = chosen.randrange(20, 90)
    time = [chosen.randrange(40) for _ in range(n_rows)]
    return pa.table(
        {
            "k": pa.array([chosen.randrange(5) for _ in range(n_rows)]),
            "ts": pa.array([None if has_nulls and chosen.random() < 0.1 else t for t in time], pa.int64()),
            "e": pa.array([chosen.choice("aabbcd") for _ in range(n_rows)]),
            "v": pa.array([chosen.choice([0.0, 1.0, 2.0, 3.0, None]) for _ in range(n_rows)]),
        }
    )


def _answer(query: str, table: pa.Table, order: str = "ts", skip: str = "", **settings: Any) -> list[dict[str, Any]]:
    text = f"""SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY {order}
      MEASURES MATCH_NUMBER() AS n, CLASSIFIER() AS c ALL ROWS PER MATCH {skip} {query})"""
    given = {"matcher": "backtrack", **settings}
    rows: list[dict[str, Any]] = rex.sql(text, t=table, settings=given).to_pylist()
    return rows


def _without_runs(program: Program) -> runs.Runs:
    return runs.Runs(program.operation, program.first, program.second)


@pytest.mark.parametrize("query", _QUERIES)
def test_runs_and_bounds_change_no_answer(query: str, monkeypatch: pytest.MonkeyPatch) -> None:
    orders = ["ts"] * 3 if "WITHIN" in query else ["ts", "ts DESC", "v, ts"]
    tables = [_table(seed, has_nulls=seed % 3 == 0) for seed in _SEEDS]
    skips = ["", "AFTER MATCH SKIP TO NEXT ROW"]
    cases = [(table, orders[i % 3] if i > 5 else "ts", skips[i % 2]) for i, table in enumerate(tables)]
    found = [_answer(query, *case) for case in cases]
    in_chunks = [_answer(query, *case, chunk_rows=7) for case in cases]
    assert in_chunks == found
    monkeypatch.setattr(runs, "find_bounds", lambda code: {})
    assert [_answer(query, *case) for case in cases] == found
    monkeypatch.setattr(backtrack, "find_runs", _without_runs)
    assert [_answer(query, *case) for case in cases] == found
    assert any(found)


def test_a_bound_is_found_where_the_order_proves_it(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    tables = runs.run_tables

    def watched(*arguments: Any, is_whole: bool) -> Any:
        result = tables(*arguments, is_whole=is_whole)
        seen.append(int((result[3] >= 0).sum()))
        return result

    monkeypatch.setattr(backtrack, "run_tables", watched)
    table = pa.table({"k": [1, 1, 1], "ts": [1, 2, 3], "e": ["a", "b", "c"], "v": [1.0, 2.0, 3.0]})
    for query in _QUERIES[:3]:
        _answer(query, table)
    _answer(_QUERIES[0], table, "ts DESC")
    _answer(_QUERIES[3], table)  # A is what the limit is read at, but X is the run before B
    _answer(_QUERIES[14], table)  # the tested row itself is no limit
    assert seen == [2, 2, 1, 0, 1, 0]


@pytest.mark.parametrize("query", _QUERIES[:8:3])
def test_a_bound_ends_the_search_of_a_long_partition(query: str) -> None:
    n_rows = 60_000
    table = pa.table(
        {
            "k": np.zeros(n_rows, np.int64), "ts": np.arange(n_rows), "e": ["a", "d"] * (n_rows // 2),
            "v": np.ones(n_rows),
        }
    )
    # Each start would see all rows behind it: 900 million steps.
    assert _answer(query, table, skip="AFTER MATCH SKIP TO NEXT ROW", max_steps=1_000) == []


@pytest.mark.parametrize("query", _QUERIES)
def test_threads_change_no_answer(query: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backtrack, "LEAST_ROWS", 1)
    for seed in _SEEDS:
        table = _table(seed)
        one = _answer(query, table, threads=1)
        assert _answer(query, table, threads=3) == one
        assert _answer(query, table, threads=3, chunk_rows=11) == one


def test_threads_report_the_first_partition_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backtrack, "LEAST_ROWS", 1)
    table = pa.table({"k": np.repeat(np.arange(50), 4), "ts": np.arange(200), "v": np.where(np.arange(200) < 90, 1, 0)})
    query = """SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts PATTERN (A B)
      DEFINE B AS A.ts % B.v >= 0 AND 1 // (B.v - A.v + B.v) > -9)"""
    errors = []
    for threads in (1, 2, 3, 7):
        with pytest.raises(rex.ExecutionError) as caught:
            rex.sql(query, t=table, dialect="duckdb", settings={"threads": threads})
        errors.append(str(caught.value))
    assert len(set(errors)) == 1


def test_is_ascending_looks_inside_partitions_only() -> None:
    values = np.array([3, 3, 4, 1, 2, 2])
    assert is_ascending(values, np.array([0, 3, 6]))
    assert not is_ascending(values, np.array([0, 4, 6]))
    assert is_ascending(values[:0], np.zeros(1, np.int64))


def test_columns_are_put_in_order_with_their_nulls() -> None:
    table = pa.table({"k": [2, 1, 2, 1], "ts": [1, 2, 0, 1], "v": [None, 4.0, 1.0, None], "e": ["a", "b", None, "a"]})
    rows = _answer("PATTERN (A B) DEFINE B AS A.v IS NULL AND B.v = 4 AND A.e < B.e", table)
    assert [(row["k"], row["ts"]) for row in rows] == [(1, 1), (1, 2)]
