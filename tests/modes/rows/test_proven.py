"""What proofs leave of a plan, as EXPLAIN shows it, and the same answers with and without them."""

from __future__ import annotations

from random import Random
from typing import Any

import pyarrow as pa
import pytest

import sparkrex as rex
from sparkrex.languages.match_recognize.row_pattern import (
    Alternation,
    Concatenation,
    Empty,
    Permutation,
    alternation,
    concatenation,
    optional,
    plus,
    star,
    variable,
)
from sparkrex.modes.rows.prune import prune_pattern

A, B, C = variable("A"), variable("B"), variable("C")


@pytest.mark.parametrize(("pattern", "expected"), [
    (B, None),
    (concatenation(A, B), None),
    (alternation(A, B), A),
    (alternation(A, B, C), Alternation((A, C))),
    (concatenation(A, star(B), C), Concatenation((A, Empty(), C))),
    (concatenation(A, optional(B)), Concatenation((A, Empty()))),
    (plus(B), None),
    (plus(alternation(A, B)), plus(A)),
    (Permutation((A, B)), None),
    (Permutation((A, C)), Permutation((A, C))),
])
def test_ways_that_need_a_row_of_b_are_gone(pattern: Any, expected: Any) -> None:
    assert prune_pattern(pattern, {"B"}) == expected


def draw_table(random: Random, n_rows: int) -> pa.Table:
    values = [random.choice([None, 0, 1, 2, 3, 4, 5]) for _ in range(n_rows)]
    doubles = [random.choice([None, float("nan"), 0.0, 0.5, 1.0, 2.0, 4.0, -1.0]) for _ in range(n_rows)]
    return pa.table({
        "r": range(n_rows), "k": [random.randint(0, 2) for _ in range(n_rows)], "v": pa.array(values, pa.int64()),
        "d": pa.array(doubles, pa.float64()),
    })


CONDITIONS = (
    "v > 2", "v < 2", "v >= 3", "v <> 2", "v > 2 AND v < 4", "v > 3 AND v < 4", "v < 1 OR v > 4", "v IS NULL",
    "d > 0.5", "d < PREV(d)", "d > PREV(d)", "d > 0.98 * PREV(d)", "d < 0.98 * PREV(d)", "v > PREV(v) + 1",
    "v <= PREV(v)", "d < 1 AND d < 2", "v = 3 AND v > 1", "NOT (v > 2)", "v BETWEEN 1 AND 2", "v IN (1, 2)",
    "{0}.v > 2 AND {0}.v < 2", "v > {1}.v", "v < FIRST({1}.v)", "d >= {1}.d", "v > LAST({1}.v, 1)", "COUNT({1}.*) < 3",
    "v + 1 > {1}.v AND v > 1",
)
PATTERNS = ("(A B)", "(A+ B)", "(A B* C)", "(A+ B+ C)", "(A | B C)", "(A? B+)", "((A B)+ C)", "(A+ B C+)", "(A B C)",
            "(A (B | C)+)", "(PERMUTE(A, B))", "(A{2} B)")


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_answers_are_the_same_without_proofs(seed: int) -> None:
    random = Random(seed)
    n_proofs = n_rows = 0
    for _ in range(60):
        table = draw_table(random, random.randint(1, 40))
        pattern = random.choice(PATTERNS)
        names = [name for name in "ABC" if name in pattern]
        defined = names[: random.randint(1, len(names))]
        define = ", ".join(
            f"{name} AS {random.choice(CONDITIONS).format(name, random.choice(names))}" for name in defined
        )
        query = (
            "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY r MEASURES A.v AS a, B.r AS b, COUNT(*) AS n "
            f"PATTERN {pattern} DEFINE {define})"
        )
        with_proofs = rex.sql(query, t=table).to_pylist()
        assert repr(with_proofs) == repr(rex.sql(query, t=table, settings={"proofs": False}).to_pylist()), query
        assert repr(with_proofs) == repr(rex.sql(query, t=table, settings={"chunk_rows": 3}).to_pylist()), query
        n_rows += len(with_proofs)
        n_proofs += "proof: " in str(rex.explain(query, t=table))
    assert n_rows > 20
    assert n_proofs > 5


TABLE = pa.table({"r": [1, 2, 3, 4], "v": [5, 3, 4, 1], "d": [1.0, 0.9, 2.0, 1.0]})


def explained(pattern: str, **settings: Any) -> str:
    query = f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY r MEASURES 1 AS one {pattern})"
    return str(rex.explain(query, t=TABLE, settings=settings))


def test_a_contradiction_empties_the_query() -> None:
    text = explained("PATTERN (A B) DEFINE B AS v > 3 AND v < 4")
    assert "matcher nothing: the conditions contradict each other" in text
    assert "proof: no row is B: " in text
    assert "matcher automaton" in explained("PATTERN (A B) DEFINE B AS v > 3 AND v < 4", proofs=False)


def test_an_implied_conjunct_is_dropped() -> None:
    text = explained("PATTERN (A B) DEFINE B AS v > 3 AND v > 1")
    assert "define B: rows (v[running last] > 3)\n" in text
    assert "B needs no second test: v > 3 implies v > 1" in text


def test_a_reference_to_the_row_before_is_decided_by_rows() -> None:
    assert "matcher automaton" in explained("PATTERN (A B) DEFINE B AS v > A.v")
    assert "matcher automaton" not in explained("PATTERN (A B) DEFINE B AS v > A.v", proofs=False)


def test_a_condition_that_can_fail_stays_where_it_is() -> None:
    # Another row than the match's would divide by zero.
    table = pa.table({"r": [1, 2, 3], "v": [0, 5, 4], "w": [1, 1, 2]})
    query = (
        "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY r MEASURES B.r AS b PATTERN (A B) DEFINE A AS v > 0, "
        "B AS v / A.v < 2)"
    )
    assert rex.sql(query, t=table).to_pylist() == [{"b": 3}]


def test_what_was_said_to_be_positive_is_checked() -> None:
    query = (
        "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY r MEASURES 1 AS one PATTERN (A B) DEFINE B AS d < 0.98 * PREV(d))"
    )
    assert rex.sql(query, t=TABLE, settings={"positive": "d", "chunk_rows": 2}).num_rows == 2
    with pytest.raises(rex.RexError, match="REX417"):
        rex.sql(query, t=TABLE.set_column(2, "d", pa.array([1.0, 0.0, 2.0, 1.0])), settings={"positive": "d"})


def test_conditions_of_hundreds_of_conjuncts_are_left_alone() -> None:
    many = " AND ".join(f"v <> {number}" for number in range(300))
    assert "proof:" not in explained(f"PATTERN (A B) DEFINE B AS {many} AND v > 3 AND v > 2")
