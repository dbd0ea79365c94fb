"""Trees over items."""

from __future__ import annotations

from tests.modes.workload.planner import oracle

from sparkrex.modes.workload.planner.tree import (
    all_trees,
    items_of,
    leaves,
    left_deep,
    mask_of,
    order_of,
    renamed,
    subtrees,
)


def test_what_a_tree_has() -> None:
    tree = ((3, 1), (0, 2))
    assert leaves(tree) == (3, 1, 0, 2)
    assert mask_of(((3, 1), 0)) == 0b1011
    assert items_of(0b1011) == (0, 1, 3)
    assert items_of(0) == ()
    found = list(subtrees(tree))
    assert sorted(map(str, found)) == sorted(map(str, oracle.nodes_in(tree)))
    assert found.index((3, 1)) > found.index(3)
    assert found[-1] == tree


def test_the_same_tree_over_other_items() -> None:
    assert renamed(((0, 1), 2), (5, 4, 9)) == ((5, 4), 9)
    assert renamed(((5, 4), 9), {5: 0, 4: 1, 9: 2}) == ((0, 1), 2)


def test_orders_are_left_deep_trees() -> None:
    assert left_deep((2, 0, 1)) == ((2, 0), 1)
    assert order_of(((2, 0), 1)) == (2, 0, 1)
    assert order_of((1, (2, 0))) == (2, 0, 1)
    assert order_of(7) == (7,)
    assert order_of(((0, 1), (2, 3))) is None


def test_all_trees_are_there_once() -> None:
    for n_items in range(1, 6):
        shapes = {frozenset(frozenset(leaves(node)) for node in subtrees(tree)) for tree in all_trees(range(n_items))}
        expected = {
            frozenset(frozenset(leaves(node)) for node in subtrees(tree)) for tree in oracle.every_tree(n_items)
        }
        assert shapes == expected
        assert len(list(all_trees(range(n_items)))) == len(shapes)
