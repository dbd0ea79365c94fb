"""Algorithm A against all trees."""

from __future__ import annotations

from itertools import permutations
from math import isclose
from random import Random

import pytest
from tests.modes.workload.planner import checks
from tests.modes.workload.planner.workloads import random_clause, random_statistics, seq

from sparkrex.modes.workload.planner.cost import cost_tree
from sparkrex.modes.workload.planner.local_plans import MAX_EXACT, LocalPlans
from sparkrex.modes.workload.planner.multitree import Multitree
from sparkrex.modes.workload.planner.statistics import Statistics
from sparkrex.modes.workload.planner.tree import Tree, all_trees, leaves, left_deep, order_of, subtrees


@pytest.mark.parametrize("seed", range(30))
def test_it_finds_the_cheapest_tree(seed: int) -> None:
    random = Random(seed)
    multitree = Multitree(random_statistics(random, "ABCDE"))
    clause = random_clause(random, "ABCDE", 5, can_repeat=True)
    plans = LocalPlans.of(clause, multitree)

    def cost(tree: Tree) -> float:
        return cost_tree(tree, clause, multitree.statistics)

    everything = list(all_trees(range(5)))
    orders = [left_deep(order) for order in permutations(range(5))]
    assert len(everything) == 105
    assert isclose(cost(plans.best()), min(map(cost, everything)))
    assert isclose(cost(plans.best(is_left_deep=True)), min(map(cost, orders)))
    kept = tuple(tuple(sorted(pair)) for pair in [random.sample(range(3), 2), (3, 4)])[: random.randint(1, 2)]
    assert all(len(pair) == 2 for pair in kept)
    trees: tuple[Tree, ...] = tuple((pair[0], pair[1]) for pair in kept)
    having = [tree for tree in everything if all(has(tree, part) for part in trees)]
    assert isclose(cost(plans.best(trees)), min(map(cost, having)))
    beginning = [tree for tree in orders if has(tree, trees[0])]
    best = plans.best(trees[:1], is_left_deep=True)
    assert has(best, trees[0])
    assert isclose(cost(best), min(map(cost, beginning)))
    assert cost(plans.greedy()) >= cost(plans.best()) * (1 - 1e-12)
    assert order_of(plans.greedy(is_left_deep=True)) is not None


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("is_left_deep", [False, True])
def test_it_finds_the_cheapest_addition(seed: int, is_left_deep: bool) -> None:
    random = Random(seed)
    multitree = Multitree(random_statistics(random, "ABCDE"))
    clauses = [random_clause(random, "ABCDE", 4) for _ in range(5)]
    for number, clause in enumerate(clauses[:-1]):
        multitree.add(number, clause, LocalPlans.of(clause, multitree).best(is_left_deep=is_left_deep))
    new = clauses[-1]
    trees = [left_deep(order) for order in permutations(range(4))] if is_left_deep else list(all_trees(range(4)))

    def total(tree: Tree) -> float:
        multitree.add(9, new, tree)
        cost = multitree.cost
        multitree.remove(9)
        return cost

    found = LocalPlans.of(new, multitree).cheapest_addition(multitree, is_left_deep=is_left_deep)
    assert isclose(total(found), min(map(total, trees)))


@pytest.mark.parametrize("seed", range(40))
def test_it_is_the_cheapest_of_all_whatever_the_windows(seed: int) -> None:
    assert checks.local_plans(seed) is None


def test_large_clauses_are_planned_greedily() -> None:
    labels = "ABCDEFGHIJKLMN"
    statistics = Statistics({label: 1.0 + at for at, label in enumerate(reversed(labels))})
    assert len(labels) > MAX_EXACT
    plans = LocalPlans.of(seq(labels), Multitree(statistics))
    for is_left_deep in (False, True):
        tree = plans.best(is_left_deep=is_left_deep)
        assert sorted(leaves(tree)) == list(range(len(labels)))
    order = order_of(plans.best(is_left_deep=True))
    assert order == tuple(reversed(range(len(labels))))


def has(tree: Tree, part: Tree) -> bool:
    wanted = set(leaves(part))
    return any(set(leaves(node)) == wanted for node in subtrees(tree))
