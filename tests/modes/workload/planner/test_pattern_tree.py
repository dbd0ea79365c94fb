"""Multi-pattern trees: Figures 5 and 6 of the paper, with costs by hand, and the definition by brute force.

The figures are not in the text, only what it says of them. Left open is how states are numbered; the state lists of
Figure 5(b) fix them: q_1 is the root, q_2 follows B, q_3 follows C after B, q_4 follows A after B.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest
from tests.modes.workload.planner import oracle
from tests.modes.workload.planner.workloads import conjunction, random_clause, random_statistics, seq

from sparkrex.modes.workload.clause import Joint
from sparkrex.modes.workload.planner.cost import cost_order
from sparkrex.modes.workload.planner.pattern_tree import ROOT, PatternTree
from sparkrex.modes.workload.planner.statistics import Statistics

if TYPE_CHECKING:
    from sparkrex.modes.workload.clause import Clause

STATISTICS = Statistics({"A": 1.0, "B": 2.0, "C": 0.5, "D": 0.1, "E": 3.0})
P1, P2, P3 = seq("ABC", window=10.0), seq("ABD", window=20.0), seq("ACE", window=10.0)


def tree_of(*orders: tuple[Clause, str]) -> PatternTree:
    """A tree of clauses, each with its order in letters."""
    tree = PatternTree(STATISTICS)
    for number, (clause, order) in enumerate(orders):
        tree.add(number, clause, order_of(clause, order))
    return tree


def order_of(clause: Clause, letters: str) -> tuple[int, ...]:
    labels = [item.label for item in clause.items]
    return tuple(labels.index(letter) for letter in letters)


def prefixes(tree: PatternTree) -> dict[int, str]:
    """The letters that lead to each state."""
    found = {ROOT: ""}
    for state in sorted(tree.states(), key=lambda state: state.number):
        found[state.number] = found[state.parent] + str(state.label)
    return found


def state_lists(tree: PatternTree) -> dict[str, set[str]]:
    names = prefixes(tree)
    return {str(label): {names[state] for state in states} for label, states in tree.dispatch().items()}


def test_figure_5_a_maximal_sharing() -> None:
    """A and AB serve both, within 20: 20 and 20 * 40. ABC is within 10, ABD within 20."""
    tree = tree_of((P1, "ABC"), (P2, "ABD"))
    assert sorted(prefixes(tree).values()) == ["", "A", "AB", "ABC", "ABD"]
    assert tree.cost() == pytest.approx(20 + 20 * 40 + 10 * 20 * 5 + 20 * 40 * 2)
    assert state_lists(tree) == {"A": {""}, "B": {"A"}, "C": {"AB"}, "D": {"AB"}}


def test_figure_5_b_state_lists_and_cost() -> None:
    """l_A = {q_2, q_3}, l_B = {q_1}, l_C = {q_2}, l_D = {q_4}. B serves both; all else serves one pattern."""
    tree = tree_of((P1, "BCA"), (P2, "BAD"))
    q1, q2, q3, q4 = "", "B", "BC", "BA"
    assert state_lists(tree) == {"A": {q2, q3}, "B": {q1}, "C": {q2}, "D": {q4}}
    assert tree.cost() == pytest.approx(40 + 20 * 5 + 10 * 20 * 5 + 40 * 20 + 20 * 40 * 2)
    assert {prefixes(tree)[tree.final(0)], prefixes(tree)[tree.final(1)]} == {"BCA", "BAD"}


def test_figure_5_c_minimal_sharing() -> None:
    tree = tree_of((P1, "CBA"), (P2, "ADB"))
    assert tree.cost() == pytest.approx(
        cost_order(order_of(P1, "CBA"), P1, STATISTICS) + cost_order(order_of(P2, "ADB"), P2, STATISTICS)
    )
    assert tree.cost() == pytest.approx((5 + 5 * 20 + 10 * 20 * 5) + (20 + 20 * 2 + 20 * 40 * 2))
    assert state_lists(tree) == {"A": {"", "CB"}, "B": {"C", "AD"}, "C": {""}, "D": {"A"}}


def test_figure_6_a_plan_is_added_and_another_removed() -> None:
    tree = tree_of((P1, "ABC"), (P2, "ABD"))
    tree.add(2, P3, order_of(P3, "ACE"))
    assert sorted(prefixes(tree).values()) == ["", "A", "AB", "ABC", "ABD", "AC", "ACE"]
    assert tree.cost() == pytest.approx(
        20 + 20 * 40 + 10 * 20 * 5 + 20 * 40 * 2 + 10 * 5 + 10 * 5 * 30
    )
    tree.remove(0)
    assert sorted(prefixes(tree).values()) == ["", "A", "AB", "ABD", "AC", "ACE"]
    assert tree.cost() == pytest.approx(20 + 20 * 40 + 20 * 40 * 2 + 10 * 5 + 10 * 5 * 30)
    assert state_lists(tree) == {"A": {""}, "B": {"A"}, "C": {"A"}, "D": {"AB"}, "E": {"AC"}}


def test_a_final_state_may_be_an_internal_one() -> None:
    tree = tree_of((seq("ABC"), "ABC"), (seq("AB"), "AB"))
    assert prefixes(tree)[tree.final(1)] == "AB"
    assert len(list(tree.states())) == 3


def test_the_window_of_a_state_shrinks_when_the_widest_clause_goes() -> None:
    tree = tree_of((P1, "ABC"), (P2, "ABD"))
    assert {prefixes(tree)[state.number]: tree.window(state) for state in tree.states()} == {
        "A": 20.0, "AB": 20.0, "ABC": 10.0, "ABD": 20.0,
    }
    tree.remove(1)
    assert {tree.window(state) for state in tree.states()} == {10.0}
    assert tree.cost() == pytest.approx(cost_order((0, 1, 2), P1, STATISTICS))


def test_equal_types_under_other_conditions_are_other_states() -> None:
    tree = tree_of((seq("AB"), "AB"), (seq("BA"), "AB"), (conjunction("AB"), "AB"), (seq("AB", kleene="B"), "AB"))
    assert sorted(prefixes(tree).values()) == ["", "A", "AB", "AB", "AB", "AB"]
    joined = conjunction("ABC", joints=[Joint((0, 1, 2), "sum")])
    tree = tree_of((joined, "ABC"), (conjunction("ABC"), "ABC"))
    assert sorted(prefixes(tree).values()) == ["", "A", "AB", "ABC", "ABC"]


@pytest.mark.parametrize("seed", range(40))
def test_after_any_changes_it_is_what_its_orders_are(seed: int) -> None:
    random = Random(seed)
    statistics = random_statistics(random, "ABCD")
    tree = PatternTree(statistics)
    present: dict[int, tuple[Clause, tuple[int, ...]]] = {}
    for number in range(15):
        if present and random.random() < 0.4:
            leaving = random.choice(list(present))
            del present[leaving]
            tree.remove(leaving)
        size = random.randint(1, 4)
        clause = random_clause(random, "ABCD", size, can_repeat=True, windows=(5.0, 10.0, None), joint=0.3)
        present[number] = clause, tuple(random.sample(range(size), size))
        tree.add(number, *present[number])
        parts = [oracle.order_parts(*plan, statistics) for plan in present.values()]
        assert tree.cost() == pytest.approx(oracle.total(parts))
        assert len(list(tree.states())) == len({form for plan in parts for form, _, _ in plan})
