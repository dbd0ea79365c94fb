"""Neighbours of a solution."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from tests.modes.workload.planner import oracle, search_checks
from tests.modes.workload.planner.checks import is_same
from tests.modes.workload.planner.search_checks import cheapest_of
from tests.modes.workload.planner.workloads import conjunction, described, random_workload, seq

from sparkrex.modes.workload.clause import Clause, Joint
from sparkrex.modes.workload.planner.local_plans import LocalPlans
from sparkrex.modes.workload.planner.multitree import Multitree
from sparkrex.modes.workload.planner.neighbourhoods import NEIGHBOURHOODS, Neighbourhood, _random_part
from sparkrex.modes.workload.planner.search_state import SearchState
from sparkrex.modes.workload.planner.statistics import Statistics
from sparkrex.modes.workload.planner.tree import order_of


def state_of(clauses: list[Clause], statistics: Statistics, *, is_left_deep: bool = False) -> SearchState:
    """A state in which every clause has the plan that is best for it alone."""
    multitree = Multitree(statistics)
    for number, clause in enumerate(clauses):
        multitree.add(number, clause, LocalPlans.of(clause, multitree).best(is_left_deep=is_left_deep))
    return SearchState(multitree, is_left_deep=is_left_deep)


@pytest.mark.parametrize("name", NEIGHBOURHOODS)
@pytest.mark.parametrize("is_left_deep", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_a_neighbour_is_a_solution_and_can_be_undone(name: str, is_left_deep: bool, seed: int) -> None:
    clauses, statistics = random_workload(
        seed, 10, 5, "ABCDEF", windows=(5.0, 10.0), can_repeat=seed % 2 > 0, joint=0.2
    )
    neighbourhood, random = NEIGHBOURHOODS[name], Random(seed)
    state = state_of(clauses, statistics, is_left_deep=is_left_deep)
    for step in range(150):
        before, cost, roots = described(state.multitree), state.multitree.cost, roots_of(state)
        undo = neighbourhood.step(state, random)
        assert len(undo) <= neighbourhood.n_clauses
        changed = {number for number, root in roots_of(state).items() if root != roots[number]}
        assert changed <= {number for number, _ in undo}
        assert bool(undo) == bool(changed)
        if step % 10 == 0:
            trees = state.multitree.trees()
            parts = [oracle.tree_parts(clauses[at], tree, statistics) for at, tree in trees.items()]
            assert is_same(state.multitree.cost, oracle.total(parts))
            assert not is_left_deep or all(order_of(tree) is not None for tree in trees.values())
        if undo and random.random() < 0.5:
            state.undo(undo, cost)
            assert described(state.multitree) == before


@pytest.mark.parametrize("seed", range(12))
def test_steps_are_kept_along_and_lead_back(seed: int) -> None:
    assert search_checks.neighbours(seed) is None


def roots_of(state: SearchState) -> dict[int, int]:
    return {number: plan.root for number, plan in state.multitree.plans.items()}


def test_the_clauses_of_a_step_have_something_in_common() -> None:
    clauses, statistics = random_workload(1, 30, 4, "ABCDEFGH")
    state, random = state_of(clauses, statistics), Random(1)
    for neighbourhood in (Neighbourhood(2, alone=0.0), Neighbourhood(4, alone=0.0)):
        sizes: Counter[int] = Counter()
        for _ in range(300):
            undo = neighbourhood.step(state, random)
            numbers = [number for number, _ in undo]
            sizes[len(numbers)] += 1
            for one in numbers[1:]:
                assert oracle.common(clauses[numbers[0]], clauses[one])
        assert max(sizes) == neighbourhood.n_clauses


def test_two_clauses_come_to_share_what_they_have_in_common() -> None:
    """A and B are frequent, so that each clause alone leaves them to the end."""
    statistics = Statistics({"A": 5.0, "B": 5.0, "C": 0.1, "D": 0.1})
    state = state_of([seq("ABC"), seq("ABD")], statistics)
    node = state.multitree.subplans.find(state.local_plans[0].shape, (0, 1))
    assert node not in state.multitree.window_of
    shared = 0
    for seed in range(50):
        cost = state.multitree.cost
        undo = Neighbourhood(alone=0.0).step(state, Random(seed))
        if len(undo) == 2 and state.multitree.n_uses.get(node) == 2:
            shared += 1
        if undo:
            state.undo(undo, cost)
    assert shared > 20


def test_a_clause_that_has_nothing_in_common_is_planned_for_itself() -> None:
    statistics = Statistics({"A": 1.0, "B": 2.0, "C": 3.0, "D": 1.0, "E": 1.0})
    multitree = Multitree(statistics)
    multitree.add(0, seq("ABC"), (0, (1, 2)))
    multitree.add(1, seq("DE"), (0, 1))
    state = SearchState(multitree)
    for seed in range(10):
        Neighbourhood(alone=0.0).step(state, Random(seed))
    assert multitree.tree(0) == ((0, 1), 2)


def test_a_part_is_any_part() -> None:
    random = Random(0)
    found = Counter(_random_part(0b10110, random) for _ in range(4000))
    assert set(found) == {0b10110, 0b10100, 0b10010, 0b00110}
    assert all(800 < times < 1200 for times in found.values())
    assert _random_part(0b101, random) == 0b101


def test_a_shared_plan_may_be_built_around_another_one() -> None:
    """AND(A, B, C, D) and AND(A, B, C, E) share ABC, which is rare; AB serves AND(A, B, F) and AND(A, B, G) as well.

    Within 10, A counts 50, B 40, C 20, all others 90; ABC counts 50 * 40 * 20 * 0.0001 = 4. The best plan of ABC alone
    is (BC)A, since BC = 800 and AB = 2000. But AB is there anyway, and (AB)C adds nothing but ABC.
    """
    statistics = Statistics(
        {"A": 5.0, "B": 4.0, "C": 2.0, "D": 9.0, "E": 9.0, "F": 9.0, "G": 9.0}, {"sum": 0.0001}
    )
    clauses = [
        conjunction("ABCD", joints=[Joint((0, 1, 2), "sum")]), conjunction("ABCE", joints=[Joint((0, 1, 2), "sum")]),
        conjunction("ABF"), conjunction("ABG"),
    ]
    least = oracle.cheapest(
        [
            [oracle.tree_parts(clause, tree, statistics) for tree in oracle.every_tree(len(clause.items))]
            for clause in clauses
        ]
    )
    leaves, roots = 50 + 40 + 20 + 4 * 90, 2 * 4 * 90 + 2 * 50 * 40 * 90
    assert least.cost == pytest.approx(leaves + 50 * 40 + 4 + roots)
    state, random = state_of(clauses, statistics), Random(0)
    assert state.local_plans[0].best_of(0b0111) == (0, (1, 2))
    costs = []
    for _ in range(500):
        Neighbourhood().step(state, random)
        costs.append(state.multitree.recomputed_cost())
    assert is_same(min(costs), least.cost)


def test_a_sub_pattern_that_a_clause_has_twice_becomes_one_node() -> None:
    """AND(A, B, A, B): A < B twice is one node that meets itself; no other tree is as cheap."""
    statistics = Statistics({"A": 5.0, "B": 5.0}, {"less": 0.01})
    clause = conjunction("ABAB", (0, 1, "less"), (2, 3, "less"))
    state = state_of([clause], statistics)
    least = cheapest_of([clause], oracle.every_tree(4), statistics)
    costs = []
    for seed in range(30):
        Neighbourhood().step(state, Random(seed))
        costs.append(state.multitree.recomputed_cost())
    assert is_same(min(costs), least.cost)
