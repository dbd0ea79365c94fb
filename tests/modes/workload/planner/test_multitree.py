"""The multi-pattern multitree: what is one node, and that it stays what it is under any changes."""

from __future__ import annotations

from itertools import permutations
from math import isclose
from random import Random

import pytest
from tests.modes.workload.planner import checks
from tests.modes.workload.planner.checks import random_tree, rearranged
from tests.modes.workload.planner.workloads import conjunction, described, random_clause, random_statistics, seq

from sparkrex.modes.workload.clause import BEFORE, DIFFERENT, Clause, Joint
from sparkrex.modes.workload.planner.multitree import JoinNode, LeafNode, Multitree, NodeJoint, NodeLink, Root
from sparkrex.modes.workload.planner.statistics import Statistics
from sparkrex.modes.workload.planner.tree import Tree, all_trees, left_deep, renamed

STATISTICS = Statistics({"A": 1.0, "B": 2.0, "C": 3.0, "D": 4.0})


def test_nodes_say_all_that_a_runtime_needs() -> None:
    multitree = Multitree(STATISTICS)
    multitree.add(7, seq("BA", (1, 0, "less")), (0, 1))
    assert list(multitree.nodes()) == [
        LeafNode(0, "B", False, 10.0, (7,), 20.0),
        LeafNode(1, "A", False, 10.0, (7,), 10.0),
        JoinNode(2, 0, 1, (NodeLink(0, 0, BEFORE, True), NodeLink(0, 0, "less", False)), (), 2, 10.0, (7,), 200.0),
    ]
    assert multitree.root(7) == Root(2, (0, 1))
    assert multitree.cost == 230.0


def test_the_sides_of_a_join_are_not_ordered() -> None:
    multitree = Multitree(STATISTICS)
    multitree.add(0, seq("ABC"), ((0, 1), 2))
    multitree.add(1, seq("ABC"), (2, (1, 0)))
    assert multitree.root(0) == multitree.root(1)
    assert len(list(multitree.nodes())) == 5


def test_conditions_tell_joins_apart() -> None:
    multitree = Multitree(STATISTICS)
    for number, clause in enumerate([seq("AB"), seq("BA"), conjunction("AB"), seq("AB", (0, 1, "less"))]):
        multitree.add(number, clause, (0, 1))
    assert len({multitree.root(number).node for number in range(4)}) == 4
    assert sum(isinstance(node, LeafNode) for node in multitree.nodes()) == 2


def test_a_label_twice_is_one_leaf_and_the_order_of_events_tells_the_slots() -> None:
    multitree = Multitree(STATISTICS)
    multitree.add(0, seq("AA"), (0, 1))
    multitree.add(1, seq("AA"), (1, 0))
    assert multitree.root(0) == multitree.root(1)
    leaf, join = multitree.nodes()
    assert isinstance(join, JoinNode)
    assert (join.left, join.right) == (leaf.number, leaf.number)
    (link,) = join.links
    first, second = multitree.root(0).slots
    assert (first < second) == link.is_forward


def test_symmetric_parts_are_one_node_whichever_event_goes_on() -> None:
    """In AND(A a, A b, B c) a and b can change places, so a condition on a and c is one on b and c."""
    multitree = Multitree(STATISTICS)
    multitree.add(0, conjunction("AAB", (0, 2, "less")), ((0, 1), 2))
    multitree.add(1, conjunction("AAB", (1, 2, "less")), ((0, 1), 2))
    multitree.add(2, conjunction("AAB", (1, 2, "less")), ((1, 2), 0))
    multitree.add(3, conjunction("AAB", (0, 2, "less")), ((0, 2), 1))
    assert multitree.root(0).node == multitree.root(1).node
    assert multitree.root(2).node == multitree.root(3).node != multitree.root(0).node
    assert_slots_fit(multitree)


def test_joints_are_tested_where_their_last_item_comes() -> None:
    multitree = Multitree(STATISTICS)
    clause = conjunction("ABC", joints=[Joint((2, 0, 1), "sum")])
    multitree.add(0, clause, ((0, 1), 2))
    pair, whole = (node for node in multitree.nodes() if isinstance(node, JoinNode))
    slots = multitree.root(0).slots
    assert pair.joints == ()
    assert whole.joints == (NodeJoint((slots[2], slots[0], slots[1]), "sum"),)


def test_a_kleene_is_another_leaf() -> None:
    multitree = Multitree(STATISTICS)
    multitree.add(0, seq("AB"), (0, 1))
    multitree.add(1, seq("AB", kleene="B"), (0, 1))
    assert multitree.root(0).node != multitree.root(1).node


def test_a_window_is_the_largest_of_the_clauses_served() -> None:
    multitree = Multitree(STATISTICS)
    for number, window in enumerate([10.0, 30.0, None, 20.0]):
        multitree.add(number, seq("ABC" if number % 2 else "AB", window=window), left_deep(range(2 + number % 2)))
    node = multitree.root(0).node
    seen = []
    for leaving in (2, 1, 3, 0):
        found = {join.number: join.window for join in multitree.nodes()}
        seen.append(found[node])
        multitree.remove(leaving)
    assert seen == [None, 30.0, 20.0, 10.0]
    assert list(multitree.nodes()) == []
    assert multitree.cost == 0.0


def test_one_item_has_a_leaf_for_its_root() -> None:
    multitree = Multitree(STATISTICS)
    multitree.add(0, seq("A"), 0)
    assert multitree.root(0) == Root(0, (0,))
    assert multitree.cost == 10.0


def test_private_clauses_share_nothing() -> None:
    multitree = Multitree(STATISTICS)
    for number in range(2):
        multitree.add(number, seq("AB"), (0, 1), is_private=True)
    assert multitree.cost == 2 * 230.0
    assert all(len(node.served) == 1 for node in multitree.nodes())


def test_whether_a_subtree_exists() -> None:
    multitree = Multitree(STATISTICS)
    multitree.add(0, seq("ABC"), ((0, 1), 2))
    assert multitree.find(seq("AB"), (0, 1)) is not None
    assert multitree.find(seq("BC"), (0, 1)) is None
    assert multitree.find(conjunction("AB"), (0, 1)) is None


def test_a_clause_is_added_once() -> None:
    multitree = Multitree(STATISTICS)
    multitree.add(0, seq("AB"), (0, 1))
    with pytest.raises(ValueError, match="there is a clause 0"):
        multitree.add(0, seq("AB"), (0, 1))


@pytest.mark.parametrize("seed", range(60))
def test_changes_in_any_order_give_what_is_built_afresh(seed: int) -> None:
    random = Random(seed)
    statistics = random_statistics(random, "ABCDE")
    multitree, clauses = Multitree(statistics), dict[int, tuple[Clause, Tree]]()
    for step in range(40):
        if clauses and random.random() < 0.4:
            leaving = random.choice(list(clauses))
            multitree.remove(leaving)
            del clauses[leaving]
        elif clauses and random.random() < 0.4:
            changed = random.choice(list(clauses))
            tree = random_tree(random, len(clauses[changed][0].items))
            shape = multitree.subplans.shape(clauses[changed][0])
            multitree.replace(changed, multitree.subplans.plan(shape, tree))
            clauses[changed] = clauses[changed][0], tree
        else:
            size = random.randint(1, 5)
            windows = (5.0, 10.0, None)
            clause = random_clause(random, "ABCDE"[: size + 1], size, can_repeat=True, windows=windows)
            clauses[step] = clause, random_tree(random, size)
            multitree.add(step, *clauses[step])
        afresh = Multitree(statistics)
        for number in sorted(clauses, key=lambda number: random.random()):
            afresh.add(number, *clauses[number])
        assert described(multitree) == described(afresh)
        assert isclose(multitree.cost, multitree.recomputed_cost(), rel_tol=1e-9, abs_tol=1e-9)
        assert isclose(multitree.cost, afresh.cost, rel_tol=1e-9, abs_tol=1e-9)
        assert_slots_fit(multitree)
    for number in list(clauses):
        multitree.remove(number)
    assert list(multitree.nodes()) == []
    assert multitree.cost == 0.0
    assert multitree.existing == {}


@pytest.mark.parametrize("seed", range(40))
def test_its_nodes_and_its_cost_are_those_of_its_trees(seed: int) -> None:
    assert checks.multitrees(seed) is None


@pytest.mark.parametrize("seed", range(20))
def test_replacing_back_restores(seed: int) -> None:
    random = Random(seed)
    multitree = Multitree(random_statistics(random, "ABCDE"))
    for number in range(6):
        clause = random_clause(random, "ABCDE", 4, can_repeat=True, windows=(5.0, 10.0, None))
        multitree.add(number, clause, random_tree(random, 4))
    before, cost = described(multitree), multitree.cost
    changed = []
    for _ in range(10):
        number = random.randrange(6)
        plan = multitree.subplans.plan(multitree.plans[number].shape, random_tree(random, 4))
        changed.append((number, multitree.replace(number, plan)))
    for number, plan in reversed(changed):
        multitree.replace(number, plan)
    assert described(multitree) == before
    assert isclose(multitree.cost, cost, rel_tol=1e-9)


@pytest.mark.parametrize("labels", ["AAB", "AABB", "AAA", "ABAB"])
@pytest.mark.parametrize("make", [seq, conjunction])
def test_the_order_in_which_a_clause_is_written_makes_no_difference(labels: str, make: object) -> None:
    """A clause with its items in another order, links along, has the same nodes for the same trees."""
    assert callable(make)
    clause: Clause = make(labels, (0, 1, "less"), (0, len(labels) - 1, "same"))
    for order in permutations(range(len(labels))):
        moved = rearranged(clause, order)
        multitree = Multitree(STATISTICS)
        for number, tree in enumerate(all_trees(range(len(labels)))):
            multitree.add(2 * number, clause, tree)
            multitree.add(2 * number + 1, moved, renamed(tree, order))
            assert multitree.root(2 * number).node == multitree.root(2 * number + 1).node
        assert_slots_fit(multitree)


def assert_slots_fit(multitree: Multitree) -> None:
    """From the root down, every link and joint of each clause is tested exactly once, on the right slots."""
    nodes = {node.number: node for node in multitree.nodes()}
    for number, clause in multitree.clauses.items():
        root = multitree.root(number)
        found: list[tuple[object, ...]] = []
        pending = [(root.node, tuple(root.slots.index(slot) for slot in range(len(clause.items))))]
        while pending:
            at, items = pending.pop()
            node = nodes[at]
            assert number in node.served
            if isinstance(node, LeafNode):
                assert node.label == clause.items[items[0]].label
                continue
            n_left = nodes[node.left].n_slots
            left, right = items[:n_left], items[n_left:]
            for link in node.links:
                ends = left[link.left_slot], right[link.right_slot]
                first, second = ends if link.is_forward else ends[::-1]
                found.append((*(sorted(ends) if link.key == DIFFERENT else (first, second)), link.key))
            found += [(*(items[slot] for slot in joint.slots), joint.key) for joint in node.joints]
            pending += [(node.left, left), (node.right, right)]
        links = [(*(sorted((link.first, link.second)) if link.key == DIFFERENT else (link.first, link.second)),
                  link.key) for link in clause.links]
        expected: list[tuple[object, ...]] = [*links, *((*joint.items, joint.key) for joint in clause.joints)]
        assert sorted(found, key=repr) == sorted(set(expected), key=repr)
