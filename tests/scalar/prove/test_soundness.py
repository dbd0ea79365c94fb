"""No assignment of values contradicts a verdict: random conditions, judged by plain evaluation."""

from __future__ import annotations

import os
import random
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from tests.scalar.prove.conditions import FAMILIES, Conditions, assignments, facts_of_columns, references
from tests.scalar.prove.plain import evaluated

from sparkrex.scalar.prove import Answer, Facts, Verdict, prove, prove_from_failure
from sparkrex.scalar.prove.wording import write

if TYPE_CHECKING:
    from sparkrex.scalar.expression import Expression

_N_PAIRS = int(os.environ.get("REX_PROOFS", "120"))
"""Pairs of conditions of every family, and per seed."""


def check(p: Expression, q: Expression, facts: Facts, chance: random.Random, most: int = 300) -> tuple[Answer, Answer]:
    """Both verdicts on a pair, once no assignment contradicts them."""
    verdicts = prove(p, q, facts), prove_from_failure(p, q, facts)
    if all(verdict.answer is Answer.UNKNOWN for verdict in verdicts):
        return Answer.UNKNOWN, Answer.UNKNOWN
    premise, conclusion = evaluated(p), evaluated(q)
    for row in assignments(references([p, q]), facts, chance, most):
        verdict = verdicts[0] if premise(row) is True else verdicts[1]
        holds = conclusion(row) is True
        wrong = (Answer.UNSATISFIABLE, Answer.FALSE if holds else Answer.TRUE)
        assert verdict.answer not in wrong, _told(verdict, p, q, facts, row)
    return verdicts[0].answer, verdicts[1].answer


def _told(verdict: Verdict, p: Expression, q: Expression, facts: Facts, row: object) -> str:
    return f"{verdict}\n  p: {write(p)}\n  q: {write(q)}\n  {facts}\n  {row}"


def _check_many(columns: tuple[str, ...], seed: int, n_pairs: int, most: int = 300) -> Counter[Answer]:
    chance = random.Random(f"{seed} {columns}")
    found: Counter[Answer] = Counter()
    for _ in range(n_pairs):
        conditions = Conditions(chance, columns)
        depth = chance.choice((0, 0, 1, 1, 2))
        p, q = conditions.condition(depth), conditions.condition(chance.choice((0, 0, depth)))
        found.update(check(p, q, facts_of_columns(chance, columns), chance, most))
    return found


@pytest.mark.parametrize("columns", FAMILIES)
def test_no_assignment_contradicts_a_verdict(columns: tuple[str, ...]) -> None:
    found = _check_many(columns, 1, _N_PAIRS)
    # A prover that never concludes anything would pass too.
    assert all(found[answer] > _N_PAIRS // 40 for answer in Answer), found


@pytest.mark.slow
@pytest.mark.parametrize("columns", FAMILIES)
@pytest.mark.parametrize("seed", range(2, 8))
def test_no_assignment_contradicts_a_verdict_in_a_long_run(columns: tuple[str, ...], seed: int) -> None:
    _check_many(columns, seed, 1500, most=1500)
