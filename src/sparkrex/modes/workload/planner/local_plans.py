"""The paper's algorithm A: the best local plan of one clause, as it is or around given sub-plans.

Three forms: dynamic programming over bushy trees, the same over left-deep ones (orders), and greedy. All keep given
subtrees, which become items of their own (of a left-deep tree, one that it begins with). Dynamic programming may also
be told of sub-plans that exist anyway, at a price: nothing, or what it costs to widen their windows. Then it gives the
tree that adds least.

A set of items costs the same whatever its tree, and a sub-plan that exists has all its parts; so the best tree of a
set is either one that exists or the best of its two sides, and the dynamic programming is exact. (But for a sub-pattern
that stands twice in one clause: it counts twice here, and its second place may come for nothing.) Beyond `MAX_EXACT`
items (given subtrees count one) greedy takes its place.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from sparkrex.modes.workload.planner.cost import Costs, window_size
from sparkrex.modes.workload.planner.tree import Tree, mask_of, renamed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sparkrex.modes.workload.clause import Clause
    from sparkrex.modes.workload.planner.multitree import Multitree
    from sparkrex.modes.workload.planner.subpattern import Shape, SubPatterns

MAX_EXACT = 10


class LocalPlans:
    """Algorithm A for one clause. Plans that depend on nothing else are computed once."""

    def __init__(self, shape: Shape, window: float, costs: Costs, patterns: SubPatterns) -> None:
        self.shape = shape
        self.window = window
        self._costs, self._patterns = costs, patterns
        self._cost_of: dict[int, float] = {}
        self._known: dict[tuple[bool, tuple[Tree, ...]], Tree] = {}
        self._known_parts: dict[tuple[bool, int], Tree] = {}

    @classmethod
    def of(cls, clause: Clause, multitree: Multitree) -> LocalPlans:
        """Algorithm A for a clause, in the numbers and at the costs of a multitree."""
        subplans = multitree.subplans
        return cls(subplans.shape(clause), window_size(clause.window), multitree.costs, subplans.patterns)

    def cost_of(self, mask: int) -> float:
        """The partial matches of some items within the window of the clause."""
        try:
            return self._cost_of[mask]
        except KeyError:
            cost = self._cost_of[mask] = self._costs.of(self._patterns.number(self.shape, mask), self.window)
            return cost

    def best(self, kept: tuple[Tree, ...] = (), *, is_left_deep: bool = False) -> Tree:
        """The cheapest tree of all that have the given subtrees, which have no item in common."""
        tree = self._known.get((is_left_deep, kept))
        if tree is None:
            tree = self._known[is_left_deep, kept] = self._search(self.shape.full, kept, None, is_left_deep)
        return tree

    def best_of(self, mask: int, *, is_left_deep: bool = False) -> Tree:
        """The cheapest tree of some items."""
        tree = self._known_parts.get((is_left_deep, mask))
        if tree is None:
            tree = self._known_parts[is_left_deep, mask] = self._search(mask, (), None, is_left_deep)
        return tree

    def cheapest_addition(
        self, multitree: Multitree, kept: tuple[Tree, ...] = (), *, mask: int | None = None, is_left_deep: bool = False
    ) -> Tree:
        """The tree that adds least to what exists in a multitree, which does not have the clause."""
        whole = self.shape.full if mask is None else mask
        return self._search(whole, kept, self._existing_in(multitree), is_left_deep)

    def greedy(self, kept: tuple[Tree, ...] = (), *, mask: int | None = None, is_left_deep: bool = False) -> Tree:
        """The tree that puts together, at each step, what has the fewest partial matches."""
        parts = self._parts(self.shape.full if mask is None else mask, kept)
        return self._greedy_order(parts, kept) if is_left_deep else self._greedy_tree(parts)

    def _search(
        self, mask: int, kept: tuple[Tree, ...], existing: Callable[[int], tuple[float, Tree] | None] | None,
        is_left_deep: bool,
    ) -> Tree:
        parts = self._parts(mask, kept)
        if len(parts) > MAX_EXACT:
            return self._greedy_order(parts, kept) if is_left_deep else self._greedy_tree(parts)
        if is_left_deep:
            return self._exact_order(parts, kept, existing)
        return self._exact_tree(parts, kept, existing)

    def _parts(self, mask: int, kept: Sequence[Tree]) -> list[tuple[int, Tree]]:
        """The given subtrees, then the items that are in none of them."""
        parts: list[tuple[int, Tree]] = [(mask_of(tree), tree) for tree in kept]
        for part, _ in parts:
            mask &= ~part
        while mask:
            low = mask & -mask
            parts.append((low, low.bit_length() - 1))
            mask ^= low
        return parts

    def _exact_tree(
        self, parts: list[tuple[int, Tree]], kept: tuple[Tree, ...],
        existing: Callable[[int], tuple[float, Tree] | None] | None,
    ) -> Tree:
        n_parts, n_kept = len(parts), len(kept)
        masks, best = [0], [0.0] * (1 << n_parts)
        trees: list[Tree] = [0] * (1 << n_parts)
        splits = [0] * (1 << n_parts)
        for at, (mask, tree) in enumerate(parts):
            masks += [mask | other for other in masks]
            trees[1 << at] = tree
        cost_of, given = self.cost_of, (1 << n_kept) - 1
        for subset in range(3, 1 << n_parts):
            low = subset & -subset
            rest = subset ^ low
            if not rest:
                continue
            # The lowest part stays left, so every pair of sides is seen once.
            right, least, at = rest, inf, rest
            while right:
                cost = best[subset ^ right] + best[right]
                if cost < least:
                    least, at = cost, right
                right = (right - 1) & rest
            least += cost_of(masks[subset])
            splits[subset] = at
            # An existing tree over given subtrees need not have them.
            if existing is not None and not subset & given:
                found = existing(masks[subset])
                if found is not None and found[0] < least:
                    least, trees[subset] = found
                    splits[subset] = 0
            best[subset] = least
        return _assembled((1 << n_parts) - 1, splits, trees)

    def _exact_order(
        self, parts: list[tuple[int, Tree]], kept: tuple[Tree, ...],
        existing: Callable[[int], tuple[float, Tree] | None] | None,
    ) -> Tree:
        """As above over orders: one part is added at a time, and a given prefix is the first of all."""
        first = 1 if kept else 0
        n_parts = len(parts)
        masks = [0]
        for mask, _ in parts:
            masks += [mask | other for other in masks]
        best, trees, added = [0.0] * (1 << n_parts), [tree for _, tree in parts], [-1] * (1 << n_parts)
        found_trees: dict[int, Tree] = {}
        for subset in range(1, 1 << n_parts):
            if subset & (subset - 1) == 0 or (first and not subset & 1):
                continue
            least, last = inf, -1
            for at in range(first, n_parts):
                if subset >> at & 1 and best[subset ^ (1 << at)] < least:
                    least, last = best[subset ^ (1 << at)], at
            least += self.cost_of(masks[subset])
            if existing is not None and not first:
                found = existing(masks[subset])
                if found is not None and found[0] < least:
                    least, found_trees[subset], last = found[0], found[1], -1
            best[subset], added[subset] = least, last
        subset, order = (1 << n_parts) - 1, []
        while added[subset] >= 0:
            order.append(added[subset])
            subset ^= 1 << added[subset]
        tree = found_trees[subset] if subset in found_trees else trees[subset.bit_length() - 1]
        for at in reversed(order):
            tree = (tree, trees[at])
        return tree

    def _greedy_tree(self, parts: list[tuple[int, Tree]]) -> Tree:
        while len(parts) > 1:
            pairs = [(one, other) for one in range(len(parts)) for other in range(one + 1, len(parts))]
            one, other = min(pairs, key=lambda pair: self.cost_of(parts[pair[0]][0] | parts[pair[1]][0]))
            joined = (parts[one][0] | parts[other][0], (parts[one][1], parts[other][1]))
            parts = [part for at, part in enumerate(parts) if at not in (one, other)] + [joined]
        return parts[0][1]

    def _greedy_order(self, parts: list[tuple[int, Tree]], kept: tuple[Tree, ...]) -> Tree:
        rest = list(parts)
        mask, tree = rest.pop(0) if kept else rest.pop(rest.index(min(rest, key=lambda part: self.cost_of(part[0]))))
        while rest:
            nearest = min(rest, key=lambda part: self.cost_of(mask | part[0]))
            rest.remove(nearest)
            mask, tree = mask | nearest[0], (tree, nearest[1])
        return tree

    def _existing_in(self, multitree: Multitree) -> Callable[[int], tuple[float, Tree] | None]:
        """What exists of a set of items: the price of using it, and its tree over the items of this clause."""
        existing, subplans, shape, window = multitree.existing, multitree.subplans, self.shape, self.window
        placed, trees = self._patterns.placed, subplans.tree_of

        def find(mask: int) -> tuple[float, Tree] | None:
            pattern, items = placed(shape, mask)
            nodes = existing.get(pattern)
            if nodes is None:
                return None
            price, node = min((widening(multitree, node, window), node) for node in nodes)
            return price, renamed(trees[node], items)

        return find


def widening(multitree: Multitree, node: int, window: float) -> float:
    """What it costs to give an existing node, with the joins below it, a window at least as large as this one.

    Leaves cost the same whatever is chosen: every plan of a clause has them all.
    """
    window_of, known = multitree.window_of, multitree.subplans.known
    if window_of[node] >= window:
        return 0.0
    price, pending, seen = 0.0, [node], {node}
    while pending:
        at = pending.pop()
        if window_of[at] >= window:
            continue
        pattern = multitree.subplans.pattern_of[at]
        price += multitree.costs.of(pattern, window) - multitree.costs.of(pattern, window_of[at])
        subplan = known[at]
        for child in (subplan.left, subplan.right):
            if known[child].leaf < 0 and child not in seen:
                seen.add(child)
                pending.append(child)
    return price


def _assembled(subset: int, splits: list[int], trees: list[Tree]) -> Tree:
    if not splits[subset]:
        return trees[subset]
    return _assembled(subset ^ splits[subset], splits, trees), _assembled(splits[subset], splits, trees)
