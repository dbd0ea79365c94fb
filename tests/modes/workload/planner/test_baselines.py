"""Plans to compare with: small workloads by hand, and costs of random ones."""

from __future__ import annotations

import pytest
from tests.modes.workload.planner import search_checks
from tests.modes.workload.planner.workloads import conjunction, seq

from sparkrex.modes.workload.planner.baselines import BASELINES
from sparkrex.modes.workload.planner.optimizer import optimize
from sparkrex.modes.workload.planner.statistics import Statistics

STATISTICS = Statistics(
    {"A": 5.0, "B": 4.0, "C": 1.0, "D": 2.0, "E": 3.0, "F": 1.0, "G": 2.0, "H": 3.0}, {"less": 0.1}
)


@pytest.mark.parametrize("seed", range(30))
def test_they_cost_what_their_trees_cost(seed: int) -> None:
    assert search_checks.baselines(seed) is None


def test_none_is_as_written_and_shares_nothing() -> None:
    """A counts 50, B 40, C 10 within 10; the two patterns are equal, and both pay for everything."""
    found = optimize([seq("ABC"), seq("ABC")], STATISTICS, "none")
    assert found.multitree.trees() == {0: ((0, 1), 2), 1: ((0, 1), 2)}
    assert found.cost == pytest.approx(2 * (50 + 40 + 10 + 50 * 40 + 50 * 40 * 10))
    assert found.costs["none"] == found.cost


def test_reordering_takes_the_fewest_partial_matches_next() -> None:
    """C first, which counts 10; with it A counts 10 * 50 * 0.1, less than B."""
    found = optimize([seq("ABC", (0, 2, "less"))] * 2, STATISTICS, "re")
    assert found.multitree.trees() == {0: ((2, 0), 1), 1: ((2, 0), 1)}
    assert found.cost == pytest.approx(2 * (50 + 40 + 10 + 10 * 50 * 0.1 + 50 * 40 * 10 * 0.1))


def test_maximal_sharing_takes_the_largest_first() -> None:
    """ABC serves the first two, then AB the last two; DE is left of the third for nobody."""
    clauses = [seq("ABCF"), seq("ABCG"), seq("ABDE"), seq("ABH")]
    found = optimize(clauses, STATISTICS, "sh")
    assert found.multitree.trees() == {
        0: (((0, 1), 2), 3), 1: (((0, 1), 2), 3), 2: (((0, 1), 2), 3), 3: ((0, 1), 2),
    }
    joins = {node.served for node in found.multitree.nodes() if node.n_slots > 1}
    assert {(0, 1), (0, 1, 2, 3)} <= joins


def test_maximal_sharing_shares_two_parts_of_one_pattern() -> None:
    """Figure 9: AC with one pattern, BD with the other."""
    clauses = [seq("ABCD"), seq("AECF"), seq("GBHD")]
    found = optimize(clauses, STATISTICS, "sh")
    assert found.multitree.tree(0) == ((0, 2), (1, 3))
    assert found.multitree.tree(1) == (((0, 2), 1), 3)
    assert found.multitree.tree(2) == ((0, (1, 3)), 2)


def test_redundancy_ratio_takes_runs_of_items_only() -> None:
    """AC is common but no run; CD is one, and so is AB, which saves more per item: AB = 2000, CD = 200."""
    clauses = [seq("ABCD"), seq("CDAB"), seq("AEC")]
    found = optimize(clauses, STATISTICS, "sh-rr")
    assert found.multitree.tree(0) == ((0, 1), (2, 3))
    assert found.multitree.tree(1) == ((0, 1), (2, 3))
    assert found.multitree.tree(2) == ((0, 1), 2)
    assert (0, 1) in {node.served for node in found.multitree.nodes() if node.n_slots > 1}


def test_merging_takes_what_makes_the_whole_plan_cheaper() -> None:
    """As written, AC = 500 and BC = 400 are made first; CF = 10 serves both."""
    clauses = [conjunction("ACF", (1, 2, "less")), conjunction("BCF", (1, 2, "less"))]
    found = optimize(clauses, STATISTICS, "sh-mdt")
    assert found.multitree.trees() == {0: (0, (1, 2)), 1: (0, (1, 2))}
    assert found.cost == pytest.approx(50 + 40 + 10 + 10 + 10 + 50 * 10 + 40 * 10)


def test_merging_leaves_a_candidate_that_costs_more() -> None:
    """AB would serve both, for 2000; without it each has a rare beginning, CA or FA of 500 * 0.1, for itself."""
    clauses = [conjunction("CAB", (0, 1, "less")), conjunction("FAB", (0, 1, "less"))]
    found = optimize(clauses, STATISTICS, "sh-mdt")
    assert found.multitree.trees() == {0: ((0, 1), 2), 1: ((0, 1), 2)}
    assert optimize(clauses, STATISTICS, "sh").multitree.trees() == {0: (0, (1, 2)), 1: (0, (1, 2))}


def test_their_names() -> None:
    assert list(BASELINES) == ["none", "re", "sh", "sh-rr", "sh-mdt"]
