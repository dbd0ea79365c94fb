"""Tabu search: the cheapest of some neighbours, but none that was visited lately."""

from __future__ import annotations

from itertools import chain, cycle, repeat
from random import Random
from typing import Any

import pytest
from tests.modes.workload.planner import search_checks
from tests.modes.workload.planner.scripted import Script, ScriptedState

from sparkrex.modes.workload.planner import tabu
from sparkrex.modes.workload.planner.budget import Budget
from sparkrex.modes.workload.planner.incumbent import Incumbent
from sparkrex.modes.workload.planner.tabu import N_NEIGHBOURS, TabuList, search_tabu


def run(state: Any, script: Any, max_steps: int) -> Incumbent:
    incumbent = Incumbent(state)
    search_tabu(state, script, Random(7), Budget(max_steps, None), incumbent)
    return incumbent


def test_it_goes_to_the_cheapest_of_some_neighbours_even_if_it_is_worse() -> None:
    state = ScriptedState(100)
    costs = chain([150.0] * 50, [120.0], [130.0] * (N_NEIGHBOURS - 51), repeat(170.0))
    script = Script(costs)
    incumbent = run(state, script, 2 * N_NEIGHBOURS)
    assert script.seen == [100.0] * N_NEIGHBOURS + [120.0] * N_NEIGHBOURS
    assert state.multitree.cost == 170.0
    assert incumbent.cost == 100.0


def test_what_was_visited_is_not_visited_again() -> None:
    """Of 110 and 120 the cheaper is taken, then the other, and then there is no way but to stay."""
    state, script = ScriptedState(100), Script(cycle([110.0, 120.0, 100.0]))
    run(state, script, 4 * N_NEIGHBOURS)
    visited = [script.seen[at] for at in range(0, 4 * N_NEIGHBOURS, N_NEIGHBOURS)]
    assert visited == [100.0, 110.0, 120.0, 120.0]


def test_the_list_forgets_the_oldest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tabu, "CAPACITY", 3)
    state: Any = ScriptedState(100)
    visited = TabuList(state)
    first = visited.present
    for solution in (1, 2):
        visited.visit(solution)
    assert first in visited
    visited.visit(3)
    assert first not in visited
    assert all(solution in visited for solution in (1, 2, 3))
    assert visited.present == 3


def test_solutions_have_numbers_of_their_own() -> None:
    state: Any = ScriptedState(100)
    visited = TabuList(state)
    marks = {visited.mark(number, root) for number in range(100) for root in range(100)}
    assert len(marks) == 10_000
    assert visited.mark(3, 5) == visited.mark(3, 5)
    assert all(0 <= mark < 2**64 for mark in marks)


@pytest.mark.parametrize("seed", range(6))
def test_no_solution_comes_twice_and_the_cheapest_is_kept(seed: int) -> None:
    assert search_checks.tabu(seed) is None


def test_a_budget_that_ends_in_the_middle_still_moves() -> None:
    state = ScriptedState(100)
    assert run(state, Script(repeat(90.0)), 10).cost == 90.0
    assert state.multitree.cost == 90.0
