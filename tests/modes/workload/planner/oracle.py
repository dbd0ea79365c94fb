"""The planner's definitions by brute force: what is one sub-pattern, what is one node, costs, the cheapest plans.

Nothing of the planner is used but clauses, trees as data and statistics.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations, permutations
from math import inf, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from sparkrex.modes.workload.clause import DIFFERENT, STRUCTURAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from sparkrex.modes.workload.clause import Clause
    from sparkrex.modes.workload.planner.statistics import Statistics
    from sparkrex.modes.workload.planner.tree import Tree

Form = tuple[Any, ...]
Part = tuple[Form, float, float]
"""What a plan has: a state or a node, its window, and its partial matches there."""


def items_in(tree: Tree) -> tuple[int, ...]:
    """The items of a tree."""
    return (tree,) if isinstance(tree, int) else items_in(tree[0]) + items_in(tree[1])


def nodes_in(tree: Tree) -> list[Tree]:
    """All subtrees."""
    return [tree] if isinstance(tree, int) else [tree, *nodes_in(tree[0]), *nodes_in(tree[1])]


def window_of(clause: Clause) -> float:
    """Its window; without one it is infinite."""
    return inf if clause.window is None else clause.window


def instances(clause: Clause, items: Iterable[int], statistics: Statistics, window: float) -> float:
    """W r for each item, 2^(W r) - 1 for a Kleene, times the selectivity of every condition between them."""
    chosen = set(items)
    size = statistics.span if window == inf else window
    counts = []
    for item in chosen:
        count = statistics.rates.get(clause.items[item].label, 0.0) * size
        counts.append(2.0**count - 1.0 if clause.items[item].is_kleene else count)
    inside = {(link.first, link.second, link.key) for link in clause.links if {link.first, link.second} <= chosen}
    joined = {(joint.items, joint.key) for joint in clause.joints if set(joint.items) <= chosen}
    keys = [key for _, _, key in inside] + [key for _, key in joined]
    return prod(counts) * prod(statistics.selectivities.get(key, 1.0) for key in keys if key not in STRUCTURAL)


def placed(clause: Clause, order: Sequence[int]) -> Form:
    """A sub-pattern whose items are put in this order."""
    place = {item: at for at, item in enumerate(order)}
    links = set()
    for link in clause.links:
        if link.first in place and link.second in place:
            ends = (place[link.first], place[link.second])
            links.add((*(sorted(ends) if link.key == DIFFERENT else ends), repr(link.key)))
    joints = {
        (tuple(place[item] for item in joint.items), repr(joint.key))
        for joint in clause.joints
        if all(item in place for item in joint.items)
    }
    leaves = tuple((repr(clause.items[item].label), clause.items[item].is_kleene) for item in order)
    return leaves, tuple(sorted(links)), tuple(sorted(joints))


@cache
def subpattern(clause: Clause, items: tuple[int, ...]) -> Form:
    """A sub-pattern, the same for all that can be laid over each other: of all orders the least."""
    return min(placed(clause, order) for order in _by_leaf(clause, items))


@cache
def node_form(clause: Clause, tree: Tree) -> Form:
    """A node of a multitree, the same for all trees that can be laid over each other."""
    return min(
        (*placed(clause, order), *_shape(tree, {item: at for at, item in enumerate(order)}))
        for order in _by_leaf(clause, items_in(tree))
    )


def _by_leaf(clause: Clause, items: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The orders among which the least is: leaves are the first that is compared."""
    leaves = [placed(clause, (item,))[0] for item in range(len(clause.items))]
    least = sorted(leaves[item] for item in items)
    if len(set(map(str, least))) == len(least):
        return [tuple(sorted(items, key=leaves.__getitem__))]
    return [order for order in permutations(items) if [leaves[item] for item in order] == least]


def _shape(tree: Tree, place: dict[int, int]) -> Form:
    """The items below each node; that is a tree whose sides are not ordered."""
    return tuple(sorted(tuple(sorted(place[item] for item in items_in(node))) for node in nodes_in(tree)))


def common(one: Clause, other: Clause) -> set[tuple[frozenset[int], frozenset[int]]]:
    """The maximal common sub-patterns of two items or more: items of one that can be laid over items of the other."""
    overlays: list[frozenset[tuple[int, int]]] = []
    for size in range(min(len(one.items), len(other.items)), 1, -1):
        for items in combinations(range(len(one.items)), size):
            for images in permutations(range(len(other.items)), size):
                overlay = frozenset(zip(items, images, strict=True))
                if placed(one, items) == placed(other, images) and not any(overlay < larger for larger in overlays):
                    overlays.append(overlay)
    return {
        (frozenset(first for first, _ in overlay), frozenset(second for _, second in overlay)) for overlay in overlays
    }


def tree_parts(clause: Clause, tree: Tree, statistics: Statistics) -> list[Part]:
    """The nodes of a tree."""
    window = window_of(clause)
    return [(node_form(clause, node), window, instances(clause, items_in(node), statistics, window))
            for node in nodes_in(tree)]


def order_parts(clause: Clause, order: Sequence[int], statistics: Statistics) -> list[Part]:
    """The states of an order."""
    window = window_of(clause)
    return [(placed(clause, order[:length]), window, instances(clause, order[:length], statistics, window))
            for length in range(1, len(order) + 1)]


def total(plans: Iterable[Sequence[Part]]) -> float:
    """The cost of plans that share whatever is equal: each part once, within its largest window."""
    largest: dict[Form, tuple[float, float]] = {}
    for form, window, cost in (part for parts in plans for part in parts):
        largest[form] = max(largest.get(form, (0.0, 0.0)), (window, cost))
    return sum(cost for _, cost in largest.values())


@dataclass(frozen=True, eq=False)
class Cheapest:
    """The cheapest of all ways to choose one plan for each clause: its cost, and the numbers of the plans."""

    cost: float
    chosen: tuple[int, ...]


def cheapest(options: Sequence[Sequence[Sequence[Part]]]) -> Cheapest:
    """Of all combinations of plans, by matrices: two halves of the clauses cost what each costs less what they share.

    A part within a larger window has all that it has within a smaller one, so that it is cut into layers.
    """
    layers: dict[tuple[Form, float], float] = {}
    windows = sorted({window for plans in options for parts in plans for _, window, _ in parts})
    costs = {(form, window): cost for plans in options for parts in plans for form, window, cost in parts}
    for form in dict.fromkeys(form for form, _ in costs):
        below = 0.0
        for window in windows:
            if (form, window) in costs:
                layers[form, window] = costs[form, window] - below
                below = costs[form, window]
    numbers = {layer: at for at, layer in enumerate(layers)}

    def rows(plans: Sequence[Sequence[Part]]) -> NDArray[np.float64]:
        found = np.zeros((len(plans), len(layers)))
        for at, parts in enumerate(plans):
            for form, window, _ in parts:
                for smaller in windows:
                    if smaller <= window and (form, smaller) in numbers:
                        found[at, numbers[form, smaller]] = 1.0
        return found

    sizes = [len(plans) for plans in options]
    middle = len(options) // 2
    halves = [_unions([rows(plans) for plans in half], len(layers)) for half in (options[:middle], options[middle:])]
    weights = np.array(list(layers.values()))
    alone = [half @ weights for half in halves]
    whole = alone[0][:, None] + alone[1][None, :] - (halves[0] * weights) @ halves[1].T
    best = int(np.argmin(whole))
    return Cheapest(float(whole.flat[best]), tuple(int(at) for at in np.unravel_index(best, sizes)))


def _unions(rows: list[NDArray[np.float64]], n_layers: int) -> NDArray[np.float64]:
    """All unions of one row of each."""
    found = np.zeros((1, n_layers))
    for choice in rows:
        found = np.maximum(found[:, None, :], choice[None, :, :]).reshape(-1, n_layers)
    return found


def every_tree(n_items: int) -> list[Tree]:
    """All trees over so many items, by putting the last item beside every node of every smaller tree."""
    if n_items == 1:
        return [0]
    smaller = every_tree(n_items - 1)
    return [_beside(tree, node, n_items - 1) for tree in smaller for node in nodes_in(tree)]


def _beside(tree: Tree, node: Tree, item: int) -> Tree:
    if tree == node:
        return tree, item
    if isinstance(tree, int):
        return tree
    return _beside(tree[0], node, item), _beside(tree[1], node, item)


def every_order(n_items: int) -> list[tuple[int, ...]]:
    """All orders of so many items."""
    return list(permutations(range(n_items)))


def left_deep_of(order: Sequence[int]) -> Tree:
    """The tree that adds one item after the other."""
    tree: Tree = order[0]
    for item in order[1:]:
        tree = (tree, item)
    return tree
