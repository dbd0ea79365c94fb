"""The oracle itself, on answers that are known."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest
from tests.modes.workload.planner import oracle
from tests.modes.workload.planner.workloads import conjunction, random_clause, random_statistics, seq


def test_there_are_as_many_trees_as_there_must_be() -> None:
    for n_items, n_trees in ((1, 1), (2, 1), (3, 3), (4, 15), (5, 105)):
        assert len({oracle.node_form(seq("ABCDE"[:n_items]), tree) for tree in oracle.every_tree(n_items)}) == n_trees


def test_what_can_be_laid_over_what() -> None:
    assert oracle.subpattern(seq("ABC"), (0, 2)) == oracle.subpattern(seq("AC"), (0, 1))
    assert oracle.subpattern(seq("ABC"), (0, 2)) != oracle.subpattern(seq("CA"), (0, 1))
    assert oracle.subpattern(conjunction("AC"), (0, 1)) == oracle.subpattern(conjunction("CA"), (0, 1))
    assert oracle.node_form(seq("ABC"), ((0, 1), 2)) != oracle.node_form(seq("ABC"), (0, (1, 2)))
    assert oracle.node_form(seq("ABC"), ((0, 1), 2)) == oracle.node_form(seq("ABC"), (2, (1, 0)))


@pytest.mark.parametrize("seed", range(10))
def test_the_cheapest_combination_is_that_of_all_combinations(seed: int) -> None:
    random = Random(seed)
    statistics = random_statistics(random, "ABCD")
    clauses = [random_clause(random, "ABCD", 3, windows=(5.0, 10.0, None)) for _ in range(3)]
    options = [[oracle.tree_parts(clause, tree, statistics) for tree in oracle.every_tree(3)] for clause in clauses]
    found = oracle.cheapest(options)
    costs = [oracle.total(plans) for plans in product(*options)]
    assert found.cost == pytest.approx(min(costs))
    chosen = [plans[at] for plans, at in zip(options, found.chosen, strict=True)]
    assert oracle.total(chosen) == pytest.approx(found.cost)
