"""Plans of the paper's Figures 5, 6, 8 and 9 as multitrees, with costs by hand.

Figures 5 and 6 show orders; `test_pattern_tree` has them as the paper does, here they are left-deep trees. Then every
leaf counts, and a join is entered from both sides: where the paper has B lead from q_1 to q_2 and A from there on, here
A and B meet, whichever comes first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.modes.workload.planner.workloads import seq

from sparkrex.modes.workload.planner.cost import cost_tree
from sparkrex.modes.workload.planner.multitree import JoinNode, LeafNode, Multitree
from sparkrex.modes.workload.planner.statistics import Statistics
from sparkrex.modes.workload.planner.tree import left_deep

if TYPE_CHECKING:
    from sparkrex.modes.workload.clause import Clause

STATISTICS = Statistics(
    {"A": 1.0, "B": 2.0, "C": 0.5, "D": 0.1, "E": 3.0, "F": 4.0, "G": 0.2, "H": 0.3}, {"less": 0.1}
)
P1, P2, P3 = seq("ABC", window=10.0), seq("ABD", window=20.0), seq("ACE", window=10.0)


def multitree_of(*orders: tuple[Clause, str]) -> Multitree:
    """Clauses with their orders in letters."""
    multitree = Multitree(STATISTICS)
    for number, (clause, letters) in enumerate(orders):
        add(multitree, number, clause, letters)
    return multitree


def add(multitree: Multitree, number: int, clause: Clause, letters: str) -> None:
    labels = [item.label for item in clause.items]
    multitree.add(number, clause, left_deep([labels.index(letter) for letter in letters]))


def letters_of(multitree: Multitree) -> dict[int, str]:
    """The events of each node."""
    found: dict[int, str] = {}
    for node in multitree.nodes():
        if isinstance(node, LeafNode):
            found[node.number] = str(node.label)
        else:
            found[node.number] = "".join(sorted(found[node.left] + found[node.right]))
    return found


def dispatch(multitree: Multitree) -> dict[str, set[str]]:
    """For each event type what its events are put together with."""
    letters = letters_of(multitree)
    found: dict[str, set[str]] = {letter: set() for letter in letters.values() if len(letter) == 1}
    for node in multitree.nodes():
        if isinstance(node, JoinNode):
            for one, other in ((node.left, node.right), (node.right, node.left)):
                if len(letters[one]) == 1:
                    found[letters[one]].add(letters[other])
    return found


def test_figure_5_a_maximal_sharing() -> None:
    """A and B serve both patterns, so 20 and 40 of them count; C counts 5 within 10, D 2 within 20."""
    multitree = multitree_of((P1, "ABC"), (P2, "ABD"))
    assert sorted(letters_of(multitree).values()) == ["A", "AB", "ABC", "ABD", "B", "C", "D"]
    assert multitree.cost == pytest.approx(20 + 40 + 5 + 2 + 20 * 40 + 10 * 20 * 5 + 20 * 40 * 2)


def test_figure_5_b_dispatch_and_cost() -> None:
    """l_A = {q_2, q_3}: A meets B and BC. l_C = {q_2}: C meets B. l_D = {q_4}: D meets AB. And B meets A and C."""
    multitree = multitree_of((P1, "BCA"), (P2, "BAD"))
    assert dispatch(multitree) == {"A": {"B", "BC"}, "B": {"A", "C"}, "C": {"B"}, "D": {"AB"}}
    assert multitree.cost == pytest.approx(20 + 40 + 5 + 2 + 20 * 5 + 20 * 40 + 10 * 20 * 5 + 20 * 40 * 2)


def test_figure_5_c_minimal_sharing() -> None:
    """Leaves are shared whatever the orders are; no join is."""
    multitree = multitree_of((P1, "CBA"), (P2, "ADB"))
    assert multitree.cost == pytest.approx(20 + 40 + 5 + 2 + 20 * 5 + 20 * 2 + 10 * 20 * 5 + 20 * 40 * 2)
    assert all(len(node.served) == 1 for node in multitree.nodes() if isinstance(node, JoinNode))


def test_figure_6_a_plan_is_added_and_another_removed() -> None:
    multitree = multitree_of((P1, "ABC"), (P2, "ABD"))
    before = letters_of(multitree)
    add(multitree, 2, P3, "ACE")
    added = {number: letters for number, letters in letters_of(multitree).items() if number not in before}
    assert sorted(added.values()) == ["AC", "ACE", "E"]
    assert multitree.cost == pytest.approx(
        20 + 40 + 5 + 2 + 30 + 20 * 40 + 10 * 20 * 5 + 20 * 40 * 2 + 10 * 5 + 10 * 5 * 30
    )
    multitree.remove(0)
    assert sorted(letters_of(multitree).values()) == ["A", "AB", "ABD", "AC", "ACE", "B", "C", "D", "E"]
    assert multitree.cost == pytest.approx(
        20 + 40 + 5 + 2 + 30 + 20 * 40 + 20 * 40 * 2 + 10 * 5 + 10 * 5 * 30
    )


def test_figure_8_the_three_trees_of_a_sequence_of_three() -> None:
    """W = 10, so A counts 10, B 20, C 5; A.x < C.x holds for one pair in ten."""
    clause = seq("ABC", (0, 2, "less"))
    leaves, whole = 10 + 20 + 5, 10 * 20 * 5 * 0.1
    assert cost_tree(((0, 1), 2), clause, STATISTICS) == pytest.approx(leaves + 10 * 20 + whole)
    assert cost_tree((0, (1, 2)), clause, STATISTICS) == pytest.approx(leaves + 20 * 5 + whole)
    assert cost_tree(((0, 2), 1), clause, STATISTICS) == pytest.approx(leaves + 10 * 5 * 0.1 + whole)


def test_figure_9_a_multitree_that_shares_two_parts_of_one_pattern() -> None:
    """W = 10: A 10, B 20, C 5, D 1, E 30, F 40, G 2, H 3. AC = 50 and BD = 20 count once."""
    clauses = seq("ABCD"), seq("AECF"), seq("GBHD")
    multitree = Multitree(STATISTICS)
    for number, (clause, tree) in enumerate(zip(clauses, [((0, 2), (1, 3))] * 3, strict=True)):
        multitree.add(number, clause, tree)
    leaves = 10 + 20 + 5 + 1 + 30 + 40 + 2 + 3
    pairs = 10 * 5 + 20 * 1 + 30 * 40 + 2 * 3
    roots = 10 * 20 * 5 * 1 + 10 * 30 * 5 * 40 + 2 * 20 * 3 * 1
    assert multitree.cost == pytest.approx(leaves + pairs + roots)
    assert len(list(multitree.nodes())) == 8 + 4 + 3
