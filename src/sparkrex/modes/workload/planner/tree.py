"""Local plans: binary trees over the items of one clause, which are given by their places.

The sides of a node are not ordered: what matters is which items are put together first. An order of items is the
left-deep tree that adds one of them at a time.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Tree: TypeAlias = "int | tuple[Tree, Tree]"


def leaves(tree: Tree) -> tuple[int, ...]:
    """The items of a tree, from left to right."""
    found: list[int] = []
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, int):
            found.append(node)
        else:
            pending += (node[1], node[0])
    return tuple(found)


def mask_of(tree: Tree) -> int:
    """The items of a tree as a set of bits."""
    mask = 0
    for item in leaves(tree):
        mask |= 1 << item
    return mask


def items_of(mask: int) -> tuple[int, ...]:
    """The items of a set of bits, ascending."""
    items = []
    while mask:
        low = mask & -mask
        items.append(low.bit_length() - 1)
        mask ^= low
    return tuple(items)


def subtrees(tree: Tree) -> Iterator[Tree]:
    """Every subtree, leaves and the tree itself among them, children first."""
    found = []
    pending = [tree]
    while pending:
        node = pending.pop()
        found.append(node)
        if not isinstance(node, int):
            pending += node
    return reversed(found)


def renamed(tree: Tree, items: Sequence[int] | Mapping[int, int]) -> Tree:
    """The same tree over other items: `items[i]` in the place of i."""
    if isinstance(tree, int):
        return items[tree]
    return renamed(tree[0], items), renamed(tree[1], items)


def left_deep(order: Sequence[int]) -> Tree:
    """The tree of an order: the first two items, then one after the other."""
    tree: Tree = order[0]
    for item in order[1:]:
        tree = (tree, item)
    return tree


def order_of(tree: Tree) -> tuple[int, ...] | None:
    """The order of which a tree is the left-deep one, None if it is bushy."""
    added: list[int] = []
    while not isinstance(tree, int):
        left, right = tree
        if isinstance(right, int):
            added.append(right)
            tree = left
        elif isinstance(left, int):
            added.append(left)
            tree = right
        else:
            return None
    return (tree, *reversed(added))


def all_trees(items: Sequence[int]) -> Iterator[Tree]:
    """Every tree over the items, once: for n items the product of the odd numbers up to 2n - 3."""
    if len(items) == 1:
        yield items[0]
        return
    first, *rest = items
    for n_right in range(1, len(items)):
        for right in combinations(rest, n_right):
            left = [first, *(item for item in rest if item not in right)]
            for left_tree in all_trees(left):
                for right_tree in all_trees(right):
                    yield left_tree, right_tree

