"""Matches that overlap so much that they are read from a forest: the same values as from their rows, in linear time."""

from __future__ import annotations

import math
import random
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest

import sparkrex as rex
from sparkrex.kernels import lazy
from sparkrex.modes.windows import automaton, forest

MEASURES = (
    "LAST(A.p) AS m0, FIRST(B.p) AS m1, FIRST(B.p, 2) AS m2, LAST(A.p, 1) AS m3, LAST(p, 2) AS m4, "
    "FIRST(U.p, 1) AS m5, "
    "CLASSIFIER() AS m6, CLASSIFIER(A) AS m7, FIRST(CLASSIFIER()) AS m8, PREV(CLASSIFIER()) AS m9, NEXT(B.p) AS m10, "
    "count(*) AS m11, count(B.p) AS m12, sum(A.p) AS m13, avg(p) AS m14, min(B.d) AS m15, max(d) AS m16, "
    "var_samp(A.p) AS m17, array_agg(B.p) AS m18, sum(A.p * 2) AS m19, count(A.p) FILTER (WHERE A.p > 3) AS m20, "
    "sum(d) AS m21, max_by(A.p, A.d) AS m22, PREV(A.p, 2) AS m23, bool_or(p > 7) AS m24, 1 AS m25"
)
FUNCTIONS = (
    "sum(p)", "count(*)", "median(p)", "sum(CAST(p AS DECIMAL(9, 2)))", "max(d)", "avg(d)",
    "array_agg(p)", "first_value(p)", "last_value(p) IGNORE NULLS",
    "nth_value(p, 2) IGNORE NULLS", "count(DISTINCT p)", "stddev_pop(p)",
)
PATTERNS = (
    "(A | B)+", "A* B*", "(A B?)+ | B", "A+ B* C?", "(B | A)* C", "A+? B+ A*", "(A | B){2,} C?",
)
CONDITIONS = {
    "A": "p >= PREV(p) OR PREV(p) IS NULL", "B": "p < PREV(p) AND (PREV(p, 2) IS NULL OR d < 1)", "C": "p > 6",
}


def _rows(seed: int) -> pa.Table:
    chance = random.Random(seed)
    n_rows = chance.randrange(1, 40)
    values = [chance.choice([None, *range(9)]) for _ in range(n_rows)]
    return pa.table({
        "i": range(n_rows), "k": [chance.randrange(2) for _ in range(n_rows)], "p": pa.array(values, pa.int64()),
        "d": [chance.choice([0.5, -1.25, math.nan, 3.0]) for _ in range(n_rows)],
    })


def _query(pattern: str, skip: str, start: str) -> str:
    names = [letter for letter in "ABC" if letter in pattern]
    measures = [f"m{number} OVER w AS m{number}" for number in range(26)]
    functions = [f"{call} OVER w AS f{number}" for number, call in enumerate(FUNCTIONS)]
    defined = ", ".join(f"{name} AS {CONDITIONS[name]}" for name in names)
    return f"""SELECT i, {', '.join([*measures, *functions])} FROM t WINDOW w AS (
        PARTITION BY k ORDER BY i MEASURES {MEASURES} ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING
        AFTER MATCH SKIP {skip} {start} PATTERN ({pattern}) SUBSET U = ({', '.join(names)})
        DEFINE {defined}) ORDER BY i"""


def _shown(table: pa.Table) -> list[list[Any]]:
    return [
        [
            round(value, 9) if isinstance(value, float) and not math.isnan(value) else str(value)
            for value in row.values()
        ]
        for row in table.to_pylist()
    ]


@pytest.mark.parametrize("form", ["interpreted", "compiled"])
def test_a_forest_says_what_the_rows_say(form: str) -> None:
    with patch.object(lazy, "FEW_ROWS", 0 if form == "compiled" else 1 << 20):
        for seed in range(28):
            skip = ("TO NEXT ROW", "PAST LAST ROW", "TO LAST U", "TO NEXT ROW")[seed % 4]
            query = _query(PATTERNS[seed % len(PATTERNS)], skip, ("INITIAL", "SEEK")[seed % 2])
            answers: list[Any] = []
            for long in (1 << 40, -1):
                with patch.object(automaton, "LONG", long), patch.object(forest, "_BLOCK_ROWS", 20):
                    try:
                        answers.append(_shown(rex.sql(query, t=_rows(seed), dialect="duckdb")))
                    except rex.ExecutionError as error:
                        answers.append(error.code)
            assert answers[0] == answers[1], (seed, query)


def test_matches_of_all_rows_behind_them() -> None:
    n_rows = 60_000
    table = pa.table({"i": range(n_rows), "d": [0.1] * n_rows})
    query = """SELECT last OVER w AS l, n OVER w AS n, sum(d) OVER w AS s FROM t WINDOW w AS (
        ORDER BY i MEASURES LAST(A.i) AS last, count(A.i) AS n ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING
        AFTER MATCH SKIP TO NEXT ROW PATTERN (A+) DEFINE A AS i >= PREV(i) OR PREV(i) IS NULL)"""
    answer = rex.sql(query, t=table)
    assert answer.column("l").unique().to_pylist() == [n_rows - 1]
    assert answer.column("n").to_pylist() == list(range(n_rows, 0, -1))
    exact = [math.fsum([0.1] * n) for n in (n_rows, 7, 1)]
    assert [answer.column("s")[n_rows - n].as_py() for n in (n_rows, 7, 1)] == exact
