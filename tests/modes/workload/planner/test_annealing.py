"""Simulated annealing: which neighbours are taken, and at which thresholds."""

from __future__ import annotations

from itertools import chain, repeat
from math import exp
from random import Random
from typing import Any

import pytest
from tests.modes.workload.planner import search_checks
from tests.modes.workload.planner.scripted import Script, ScriptedState

from sparkrex.modes.workload.planner import annealing
from sparkrex.modes.workload.planner.annealing import ALPHA, COLDEST, FIRST_NEIGHBOURS, HEATS, anneal
from sparkrex.modes.workload.planner.budget import Budget
from sparkrex.modes.workload.planner.incumbent import Incumbent


def run(state: Any, script: Any, max_steps: int) -> Incumbent:
    incumbent = Incumbent(state)
    anneal(state, script, Random(7), Budget(max_steps, None), incumbent)
    return incumbent


def test_the_first_thousand_neighbours_are_looked_at_and_none_worse_is_taken() -> None:
    """The second is better, so the others are neighbours of it."""
    state, script = ScriptedState(100), Script(chain([150.0, 90.0], repeat(130.0)))
    incumbent = run(state, script, FIRST_NEIGHBOURS)
    assert script.seen == [100.0, 100.0] + [90.0] * (FIRST_NEIGHBOURS - 2)
    assert incumbent.cost == 90.0
    assert state.n_undone == FIRST_NEIGHBOURS - 1
    assert state.adopted == [90.0]


def test_thresholds_are_shares_of_the_largest_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every neighbour is worse by 40, which was the largest difference: -1 / heat is what is asked of exp."""
    asked: list[float] = []

    def never(exponent: float) -> float:
        asked.append(exponent)
        return 0.0

    monkeypatch.setattr(annealing, "exp", never)
    n_thresholds = []
    for heat in HEATS:
        length = 0
        while heat * ALPHA**length > COLDEST * (1 + 1e-9):
            length += 1
        n_thresholds.append(length)
    state = ScriptedState(100)
    run(state, Script(repeat(140.0)), FIRST_NEIGHBOURS + sum(n_thresholds) + 2 * n_thresholds[0])
    expected = [
        -1.0 / (heat * ALPHA**at) for heat, length in zip(HEATS, n_thresholds, strict=True) for at in range(length)
    ]
    expected += [-1.0 / (HEATS[0] * ALPHA**at) for at in range(n_thresholds[0]) for _ in range(2)]
    assert asked == pytest.approx(expected)
    assert state.n_descents == len(HEATS) + 1


def test_a_worse_neighbour_is_taken_as_often_as_it_should(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(annealing, "HEATS", (0.5,))
    monkeypatch.setattr(annealing, "ALPHA", 1.0)
    state, n_steps = ScriptedState(1000), 4000

    def costs() -> Any:
        while True:
            yield state.multitree.cost + 40.0

    run(state, Script(costs()), FIRST_NEIGHBOURS + n_steps)
    n_taken = n_steps - (state.n_undone - FIRST_NEIGHBOURS)
    assert n_taken / n_steps == pytest.approx(exp(-2.0), abs=0.02)


def test_rounds_begin_at_the_best_solution(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(annealing, "HEATS", (1.0,))
    monkeypatch.setattr(annealing, "COLDEST", 0.5)
    costs = chain([160.0] * FIRST_NEIGHBOURS, [120.0, 80.0, 110.0], repeat(115.0, 500))
    state = ScriptedState(100)
    incumbent = run(state, Script(costs), FIRST_NEIGHBOURS + 300)
    assert incumbent.cost == 80.0
    assert state.adopted[0] == 100.0
    assert len(state.adopted) > 1
    assert set(state.adopted[1:]) == {80.0}


def test_where_all_neighbours_cost_the_same_nothing_is_divided_by() -> None:
    assert run(ScriptedState(100), Script(repeat(100.0)), 3000).cost == 100.0
    costs = chain([100.0] * FIRST_NEIGHBOURS, repeat(101.0))
    assert run(ScriptedState(100), Script(costs), FIRST_NEIGHBOURS + 50).cost == 100.0


@pytest.mark.parametrize("seed", range(6))
def test_the_cheapest_that_was_seen_is_kept(seed: int) -> None:
    assert search_checks.annealing(seed) is None
