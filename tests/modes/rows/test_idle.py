"""Rows that no match can need: leaving them out changes no answer, and is left where a plan reads them.

`tests_of_rows` decides from the plan; random funnels compare the answers with those of all rows and of the oracle.
"""

from __future__ import annotations

import random
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from tests.answers import rows_of
from tests.differential.relations import watched
from tests.modes.rows.oracle import evaluate

import sparkrex as rex
from sparkrex.errors import ExecutionError
from sparkrex.modes.rows import engine, idle

if TYPE_CHECKING:
    from collections.abc import Iterator

FUNNEL = "PATTERN (A N*? B) DEFINE A AS e = 'a', B AS e = 'b'"
DEFINE = "DEFINE A AS e = 'a', B AS e = 'b'"


@contextmanager
def leaving_out(most_kept: float = 2.0) -> Iterator[list[int | None]]:
    """Inside, idle rows are left out however few there are; how many rows each query has left."""
    left: list[int | None] = []

    def noted(*arguments: Any) -> pa.Table | None:
        found = idle.without_idle_rows(*arguments)
        left.append(None if found is None else found.num_rows)
        return found

    with (
        patch.object(idle, "LEAST_ROWS", 1), patch.object(idle, "_MOST_KEPT", most_kept),
        patch.object(engine, "without_idle_rows", noted),
    ):
        yield left


def table_of(text: str, keys: str | None = None) -> pa.Table:
    return pa.table({
        "k": list(keys or "k" * len(text)), "ts": np.arange(len(text)), "e": list(text),
        "x": np.arange(len(text)) * 5 % 7,
    })


def run(table: pa.Table, clause: str, **settings: Any) -> pa.Table:
    return rex.sql(f"SELECT * FROM t MATCH_RECOGNIZE ({clause})", t=table, settings=settings)


CONDITIONS = [
    "e = 'a'", "e IN ('b', 'c')", "x > 2", "e = 'b' AND x < 5", "e <> 'd' AND x IS NOT NULL", "x = 3 OR e = 'c'",
    "e = 'c' AND ts - A.ts <= 6", "e = 'b' AND x >= A.x", "e <> 'a' AND x > avg(A.x)",
    "e = 'c' AND ts > LAST(A.ts) + 1",
    "x > 1 AND count(B.*) < 3", "e = 'd' AND FIRST(ts) < 9 AND MATCH_NUMBER() < 4",
]
MEASURES = [
    "A.ts AS a", "LAST(ts) AS z", "FIRST(ts) AS f", "count(A.*) AS n", "max(B.x) AS m", "MATCH_NUMBER() AS number",
    "A.x + LAST(B.x) AS s",
]
SKIPS = ["", "AFTER MATCH SKIP TO NEXT ROW", "AFTER MATCH SKIP PAST LAST ROW", "AFTER MATCH SKIP TO LAST B"]


def a_funnel(choose: random.Random) -> tuple[str, pa.Table]:
    """A query and a table for it: a few partitions with ties, NULLs, and rows that are neither step nor idle."""
    steps = ["A", *(choose.choice("ABC") for _ in range(choose.randint(0, 3))), "B"]
    pattern = steps[0] + "".join(f" {choose.choice(('N*?', 'N*', 'M*', 'M*?'))} {step}" for step in steps[1:])
    definitions = [f"A AS {choose.choice(CONDITIONS[:6])}"]
    definitions += [f"{step} AS {choose.choice(CONDITIONS)}" for step in sorted({*steps} - {"A"})]
    n_rows = choose.randint(0, 40)
    table = pa.table({
        "k": pa.array([choose.choice("pqr") for _ in range(n_rows)], pa.string()),
        "ts": pa.array([choose.randint(0, 30) for _ in range(n_rows)], pa.int64()),
        "e": pa.array([choose.choice(("a", "b", "c", "d", "e", "e", None)) for _ in range(n_rows)], pa.string()),
        "x": pa.array([choose.choice((None, *range(7))) for _ in range(n_rows)], pa.int64()),
    })
    keys = choose.choice(("PARTITION BY k ", "PARTITION BY k ", ""))
    measures = ", ".join(choose.sample(MEASURES, choose.randint(1, 4)))
    rest = f"{choose.choice(SKIPS)} PATTERN ({pattern}) DEFINE {', '.join(definitions)}"
    return f"{keys}ORDER BY ts MEASURES {measures} {rest}", table


def answer(table: pa.Table, clause: str) -> list[tuple[Any, ...]] | str:
    try:
        return rows_of(run(table, clause, threads=1))
    except ExecutionError as error:
        return error.code + "".join(error.notes)


@pytest.mark.parametrize("share", range(3))
def test_random_funnels(share: int) -> None:
    choose = random.Random(f"idle {share}")
    n_left_out = n_rows = 0
    for _ in range(60):
        clause, table = a_funnel(choose)
        with watched({}, None) as watch:
            whole = answer(table, clause)
        with leaving_out() as left:
            assert answer(table, clause) == whole, clause
        assert len(left) == 1
        n_left_out += left[0] is not None and left[0] < table.num_rows
        if not isinstance(whole, str):
            rows = table.to_pylist()
            assert whole == list(map(tuple, evaluate(watch.plans[0], rows, dialect="spark")[1])), clause
            n_rows += len(whole)
    assert n_left_out > 30
    assert n_rows > 30


@pytest.mark.parametrize(
    "clause",
    [
        f"ORDER BY ts MEASURES A.ts AS a ALL ROWS PER MATCH {FUNNEL}",
        f"ORDER BY ts MEASURES count(*) AS n {FUNNEL}",
        f"ORDER BY ts MEASURES N.ts AS n {FUNNEL}",
        f"ORDER BY ts MEASURES CLASSIFIER() AS c {FUNNEL}",
        f"ORDER BY ts MEASURES PREV(B.ts) AS p {FUNNEL}",
        f"ORDER BY ts MEASURES LAST(ts, 1) AS p {FUNNEL}",
        f"ORDER BY ts MEASURES U.ts AS p PATTERN (A N*? B) SUBSET U = (A, N) {DEFINE}",
        f"ORDER BY ts MEASURES A.ts AS a AFTER MATCH SKIP TO FIRST N {FUNNEL}",
        f"ORDER BY ts MEASURES A.ts AS a PATTERN (A N+? B) {DEFINE}",
        f"ORDER BY ts MEASURES A.ts AS a PATTERN (A N{{,3}} B) {DEFINE}",
        f"ORDER BY ts MEASURES A.ts AS a PATTERN (A B) {DEFINE}",
        f"ORDER BY ts MEASURES A.ts AS a PATTERN (A N*? B N*?) {DEFINE}",
        f"ORDER BY ts MEASURES A.ts AS a PATTERN (^ A N*? B) {DEFINE}",
        f"ORDER BY ts MEASURES A.ts AS a PATTERN (A+ N*? B) {DEFINE}",
        f"ORDER BY ts MEASURES A.ts AS a PATTERN (A N*? B) {DEFINE}, N AS x > 1",
        "ORDER BY ts MEASURES A.ts AS a PATTERN (A N*? B) DEFINE A AS e = 'a'",
        "ORDER BY ts MEASURES A.ts AS a PATTERN (A N*? B) DEFINE A AS e = 'a', B AS ts > A.ts + 1",
        "ORDER BY ts MEASURES A.ts AS a PATTERN (A N*? B) DEFINE A AS e = 'a', B AS x > PREV(x)",
        "ORDER BY ts MEASURES A.ts AS a PATTERN (A N*? B) DEFINE A AS e = 'a', B AS x > 1 AND count(*) < 5",
        "ORDER BY ts MEASURES A.ts AS a PATTERN (A N*? B) DEFINE A AS e = 'a', B AS 1 / x > 0.3",
        f"PARTITION BY upper(k) ORDER BY ts MEASURES A.ts AS a {FUNNEL}",
    ],
)
def test_a_plan_that_needs_other_rows_has_them_all(clause: str) -> None:
    table = table_of("eaexbcebaeebexea", "ppqqpqpqpppqqqpp")
    try:
        whole: pa.Table | str = run(table, clause)
    except ExecutionError as error:
        whole = error.code
    with leaving_out() as left:
        try:
            assert run(table, clause).equals(whole)
        except ExecutionError as error:
            assert error.code == whole
    assert left == [None]


def test_partitions_keep_the_order_of_their_first_rows() -> None:
    table = table_of("eeaebebaeb", "qpppppqqqq")
    with leaving_out() as left:
        found = run(table, f"PARTITION BY k ORDER BY ts MEASURES A.ts AS a, B.ts AS b {FUNNEL}")
    assert found.to_pylist() == [{"k": "q", "a": 7, "b": 9}, {"k": "p", "a": 2, "b": 4}]
    assert left == [7]  # the steps, and the first rows of q and p


def test_where_few_rows_are_idle_all_are_kept() -> None:
    with leaving_out(most_kept=0.5) as left:
        run(table_of("abab"), f"ORDER BY ts MEASURES A.ts AS a {FUNNEL}")
        run(table_of("abeeee"), f"ORDER BY ts MEASURES A.ts AS a {FUNNEL}")
        run(table_of("abeeee"), f"ORDER BY ts MEASURES A.ts AS a {FUNNEL}", proofs=False)
        run(table_of("abeeee"), f"ORDER BY ts MEASURES A.ts AS a {FUNNEL}", chunk_rows=2)
    assert left == [None, 2, None, None]


def test_an_error_tells_of_all_rows() -> None:
    """What an error says of rows counts those of the partition, not those that were left."""
    table = table_of("eeeaeeb")
    clause = f"PARTITION BY k ORDER BY ts MEASURES A.ts AS a AFTER MATCH SKIP TO FIRST A {FUNNEL}"
    with leaving_out() as left, pytest.raises(ExecutionError, match="row 4 of its partition") as caught:
        run(table, clause)
    assert caught.value.code == "REX401"
    assert left == [3]


def test_explain_tells_how_many_rows_were_left() -> None:
    text = f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES A.ts AS a {FUNNEL})"
    with leaving_out():
        explained = str(rex.explain(text, t=table_of("eaeebe"), analyze=True))
    assert "leave out" in explained
    assert "3 of 6 rows" in explained
