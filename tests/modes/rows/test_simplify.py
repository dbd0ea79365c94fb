"""Conditions of DEFINE are simplified to what is TRUE on the same rows."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from tests.scalar.prove.conditions import FAMILIES, Conditions, assignments, at, facts_of_columns, references
from tests.scalar.prove.plain import evaluated
from tests.scalar.prove.test_named import FULL, NULLABLE, POSITIVE, read

from sparkrex.modes.plan import Definition
from sparkrex.modes.rows.simplify import drop_implied, find_unsatisfiable
from sparkrex.scalar.expression import Call, ColumnAt, Expression, Literal, Target
from sparkrex.scalar.prove.wording import write_all
from sparkrex.scalar.split import conjuncts

if TYPE_CHECKING:
    from sparkrex.scalar.prove import Facts


def shown(condition: Expression | None) -> str:
    return "" if condition is None else write_all(list(conjuncts(condition)))


@pytest.mark.parametrize(
    ("facts", "text", "expected", "proofs"),
    [
        (NULLABLE, "x < 10 AND x < 20", "x < 10", ["x < 10 implies x < 20"]),
        (NULLABLE, "x < 20 AND x < 10 AND y > 3", "x < 10 AND y > 3", ["x < 10 implies x < 20"]),
        (NULLABLE, "x < 10 AND x < 10", "x < 10", ["x < 10 implies x < 10"]),
        (NULLABLE, "x < 10 AND x IS NOT NULL", "x < 10", ["x < 10 implies x IS NOT NULL"]),
        (POSITIVE, "price > 1.02 * PREV(price) AND price > PREV(price)", "price > (1.02 * PREV(price))",
         ["price > (1.02 * PREV(price)) implies price > PREV(price) (price is positive)"]),
        (FULL, "x = x", "", ["x = x always holds (x is never NULL)"]),
        (NULLABLE, "x = x", "x = x", []),
        (NULLABLE, "x < 10 AND x > 20", "x < 10 AND x > 20", []),
        (NULLABLE, "rand() < 0.5 AND rand() < 0.5", "rand() < 0.5 AND rand() < 0.5", []),
        # A conjunct may guard a later one that can fail.
        (NULLABLE, "x > 0 AND 10 / x > 3 AND x > 1", "x > 0 AND (10 / x) > 3 AND x > 1", []),
        (NULLABLE, "x > 1 AND x > 0 AND 10 / x > 3", "x > 1 AND (10 / x) > 3", ["x > 1 implies x > 0"]),
        (NULLABLE, "10 / x > 3 AND x > 0 AND x > 1", "(10 / x) > 3 AND x > 1", ["x > 1 implies x > 0"]),
        # ... where y is NULL, x > y is NULL, and lets the evaluation pass.
        (NULLABLE, "x > y AND y > 0 AND x > 0 AND 10 / x > 3", "x > y AND y > 0 AND x > 0 AND (10 / x) > 3", []),
        (FULL, "x > y AND y > 0 AND x > 0 AND 10 / x > 3", "x > y AND y > 0 AND (10 / x) > 3",
         ["x > y AND y > 0 implies x > 0"]),
        # What can fail stays.
        (NULLABLE, "10 / x > 3 AND 10 / x > 2", "(10 / x) > 3 AND (10 / x) > 2", []),
    ],
)
def test_implied_conjuncts_are_dropped(facts: Facts, text: str, expected: str, proofs: list[str]) -> None:
    simplified = drop_implied(read(text), facts)
    assert shown(simplified.condition).lower() == expected.lower()
    assert list(simplified.proofs) == proofs


def test_what_rows_decide_is_not_dropped_for_what_reads_the_match() -> None:
    last = ColumnAt(Target(frozenset("A")), "x")
    above, large = Call("gt", (at("x"), last)), Call("gt", (last, Literal(5)))
    row = Call("gt", (at("x"), Literal(3)))
    condition = Call("and", (row, above, large))
    assert drop_implied(condition, NULLABLE).condition is condition
    weaker = Call("gt", (last, Literal(4)))
    assert drop_implied(Call("and", (row, large, weaker)), NULLABLE).condition == Call("and", (row, large))


@pytest.mark.parametrize("columns", FAMILIES)
def test_the_same_rows_meet_a_simplified_condition(columns: tuple[str, ...]) -> None:
    chance = random.Random(f"simplify {columns}")
    n_dropped = 0
    for _ in range(60):
        conditions = Conditions(chance, columns)
        condition = Call("and", tuple(conditions.condition(0) for _ in range(4)))
        facts = facts_of_columns(chance, columns)
        simplified = drop_implied(condition, facts)
        n_dropped += len(simplified.proofs)
        before = evaluated(condition)
        after = evaluated(Literal(True) if simplified.condition is None else simplified.condition)
        for row in assignments(references([condition]), facts, chance, 200):
            assert (before(row) is True) == (after(row) is True), (condition, simplified, row)
    assert n_dropped > 5


def test_variables_that_no_row_meets() -> None:
    definitions = [Definition("A", read("x < 10 AND y > 3 AND x > 20")), Definition("B", read("x < 10"))]
    assert find_unsatisfiable(definitions, NULLABLE) == {"A": "x < 10 AND x > 20 never holds"}
