"""What a local search works on."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest
from tests.modes.workload.planner import oracle
from tests.modes.workload.planner.checks import is_same, random_tree
from tests.modes.workload.planner.workloads import conjunction, described, random_workload, seq

from sparkrex.modes.workload.planner.multitree import Multitree
from sparkrex.modes.workload.planner.search_state import SearchState
from sparkrex.modes.workload.planner.statistics import Statistics

if TYPE_CHECKING:
    from sparkrex.modes.workload.clause import Clause


def state_of(clauses: list[Clause], statistics: Statistics, *, seed: int = 0) -> SearchState:
    """A state with random trees."""
    random, multitree = Random(seed), Multitree(statistics)
    for number, clause in enumerate(clauses):
        multitree.add(number, clause, random_tree(random, len(clause.items)))
    return SearchState(multitree)


@pytest.mark.parametrize("seed", range(10))
def test_edges_lay_the_items_of_a_clause_over_those_of_others(seed: int) -> None:
    clauses, statistics = random_workload(seed, 6, 4, "ABCDE", can_repeat=True)
    state = state_of(clauses, statistics)
    for number, clause in enumerate(clauses):
        for pattern, items in state.edges_of(number):
            holders = state.holders_of(pattern)
            assert (number, items) in holders
            assert len({other for other, _ in holders}) > 1
            for other, images in holders:
                assert oracle.placed(clause, items) == oracle.placed(clauses[other], images)


@pytest.mark.parametrize("seed", range(20))
def test_a_descent_ends_where_no_clause_can_be_planned_better(seed: int) -> None:
    clauses, statistics = random_workload(seed, 5, 4, "ABCDE", windows=(5.0, 10.0))
    state = state_of(clauses, statistics, seed=seed)
    before = state.multitree.cost
    state.descend()
    trees = state.multitree.trees()
    assert state.multitree.cost <= before
    for number, clause in enumerate(clauses):
        others = [
            oracle.tree_parts(clauses[at], tree, statistics) for at, tree in trees.items() if at != number
        ]
        least = min(
            oracle.total([*others, oracle.tree_parts(clause, tree, statistics)]) for tree in oracle.every_tree(4)
        )
        assert is_same(state.multitree.cost, least)


def test_plans_are_adopted_and_undone() -> None:
    clauses, statistics = random_workload(3, 4, 4, "ABCDE")
    state = state_of(clauses, statistics)
    before, cost, plans = described(state.multitree), state.multitree.cost, dict(state.multitree.plans)
    undo = [(number, state.replan(number)) for number in range(4)]
    assert described(state.multitree) != before
    state.undo(undo, cost)
    assert described(state.multitree) == before
    assert state.multitree.cost == cost
    state.descend()
    state.adopt(plans)
    assert described(state.multitree) == before
    assert is_same(state.multitree.cost, cost)


def test_another_multitree_of_the_same_clauses_is_changed_for_itself() -> None:
    clauses, statistics = random_workload(4, 4, 4, "ABCDE")
    state = state_of(clauses, statistics)
    before = described(state.multitree)
    another = Multitree(statistics, state.multitree.subplans, state.multitree.costs)
    for number, clause in enumerate(clauses):
        another.add(number, clause, state.multitree.tree(number))
    other = state.over(another)
    other.descend()
    assert described(state.multitree) == before
    assert other.multitree.cost < state.multitree.cost
    assert other.graph is state.graph


def test_clauses_that_differ_in_names_only_have_one_memory() -> None:
    statistics = Statistics({"A": 1.0, "B": 1.0})
    state = state_of([seq("AB"), seq("AB"), seq("AB", window=5.0)], statistics)
    assert state.local_plans[0] is state.local_plans[1]
    assert state.local_plans[0] is not state.local_plans[2]


def test_what_a_clause_has_twice() -> None:
    statistics = Statistics({"A": 1.0, "B": 1.0, "C": 1.0})
    clauses = [conjunction("ABAB"), seq("ABAB"), conjunction("ABCA"), seq("ABC")]
    state = state_of(clauses, statistics)
    for number, clause in enumerate(clauses):
        for mask, other in state.twins_of(number):
            items = [tuple(item for item in range(4) if at >> item & 1) for at in (mask, other)]
            assert not mask & other
            assert oracle.subpattern(clause, items[0]) == oracle.subpattern(clause, items[1])
    assert sorted(state.twins_of(0)) == [(0b0011, 0b1100), (0b0110, 0b1001)]
    assert state.twins_of(1) == [(0b0011, 0b1100)]
    assert state.twins_of(2) == state.twins_of(3) == []
