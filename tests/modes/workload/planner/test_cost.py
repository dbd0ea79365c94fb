"""Costs of plans, with the arithmetic written out."""

from __future__ import annotations

import pytest
from tests.modes.workload.planner.workloads import conjunction, seq

from sparkrex.modes.workload.clause import BEFORE, Joint
from sparkrex.modes.workload.planner.cost import cost_order, n_partial_matches
from sparkrex.modes.workload.planner.multitree import Multitree
from sparkrex.modes.workload.planner.statistics import Statistics

STATISTICS = Statistics(
    {"A": 1.0, "B": 2.0, "C": 0.5, "D": 0.1, "E": 3.0, "F": 4.0, "G": 0.2, "H": 0.3},
    {"less": 0.1, "sum": 0.5, BEFORE: 0.5}, span=100.0,
)


def test_cost_of_an_order_counts_its_prefixes() -> None:
    clause = seq("ABC", (0, 2, "less"))
    assert cost_order((2, 0, 1), clause, STATISTICS) == pytest.approx(5 + 5 * 10 * 0.1 + 5 * 10 * 20 * 0.1)
    assert cost_order((0, 1, 2), clause, STATISTICS) == pytest.approx(10 + 10 * 20 + 10 * 20 * 5 * 0.1)


def test_a_shared_node_counts_within_the_largest_window() -> None:
    """A and B within 20 are 20 and 40; C within 10 is 5, D within 20 is 2; the roots have windows of their own."""
    multitree = Multitree(STATISTICS)
    multitree.add(0, seq("ABC", window=10.0), ((0, 1), 2))
    assert multitree.cost == pytest.approx(10 + 20 + 5 + 10 * 20 + 10 * 20 * 5)
    multitree.add(1, seq("ABD", window=20.0), ((0, 1), 2))
    assert multitree.cost == pytest.approx(20 + 40 + 5 + 2 + 20 * 40 + 10 * 20 * 5 + 20 * 40 * 2)
    multitree.remove(1)
    assert multitree.cost == pytest.approx(10 + 20 + 5 + 10 * 20 + 10 * 20 * 5)


def test_without_a_window_the_span_counts() -> None:
    assert n_partial_matches(seq("AB", window=None), (0, 1), STATISTICS) == pytest.approx(100 * 200)


def test_a_kleene_counts_all_arrays() -> None:
    """C within 10 has 5 events, which have 2^5 - 1 non-empty arrays; A has 10 events."""
    clause = seq("AC", kleene="C")
    assert n_partial_matches(clause, (1,), STATISTICS) == pytest.approx(31)
    assert n_partial_matches(clause, (0, 1), STATISTICS) == pytest.approx(310)


def test_large_numbers_stay_comparable() -> None:
    statistics = Statistics({"A": 1.0, "B": 2000.0, "C": 2500.0})
    counts = [n_partial_matches(seq(labels, kleene="BC"), range(len(labels)), statistics)
              for labels in ("A", "B", "AB", "C", "BC", "ABC")]
    assert counts == sorted(set(counts))
    assert counts[-1] < 1e300


def test_joints_count_where_all_their_items_are() -> None:
    clause = conjunction("ABC", joints=[Joint((0, 1, 2), "sum")])
    assert n_partial_matches(clause, (0, 1), STATISTICS) == pytest.approx(200)
    assert n_partial_matches(clause, (0, 1, 2), STATISTICS) == pytest.approx(200 * 5 * 0.5)


def test_an_unknown_label_has_no_events() -> None:
    assert n_partial_matches(seq("AZ"), (0, 1), STATISTICS) == 0.0
