"""What a local search works on: a multitree, the graph of its clauses, algorithm A for each; moves that can be undone.
"""

from __future__ import annotations

from copy import copy
from itertools import combinations
from typing import TYPE_CHECKING

from sparkrex.modes.workload.planner.local_plans import LocalPlans
from sparkrex.modes.workload.planner.pattern_graph import PatternGraph, parts_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sparkrex.modes.workload.clause import Clause
    from sparkrex.modes.workload.planner.multitree import Multitree
    from sparkrex.modes.workload.planner.subpattern import Shape
    from sparkrex.modes.workload.planner.subplans import Plan
    from sparkrex.modes.workload.planner.tree import Tree

TOLERANCE = 1e-12
"""Costs are sums that are kept along; smaller differences are rounding."""

MIN_TWINS, MAX_TWINS = 4, 10
"""How many items of a clause have a label that repeats, for sub-patterns that stand in it twice to be looked for."""

Undo = list[tuple[int, "Plan"]]
"""The plans that clauses had before a step."""

Edges = list[tuple[int, tuple[int, ...]]]
Holders = list[tuple[int, tuple[int, ...]]]


class SearchState:
    """A solution that is being changed. `is_left_deep`: only orders are local plans, so only prefixes are shared."""

    def __init__(self, multitree: Multitree, *, is_left_deep: bool = False) -> None:
        self.multitree = multitree
        self.is_left_deep = is_left_deep
        self.graph = PatternGraph(multitree.subplans.patterns)
        self.local_plans: dict[int, LocalPlans] = {}
        self.numbers = list(multitree.clauses)
        self._edges: dict[int, Edges] = {}
        self._holders: dict[int, Holders] = {}
        self._twins: dict[Shape, list[tuple[int, int]]] = {}
        self._alike: dict[tuple[Shape, float], LocalPlans] = {}
        for number, clause in multitree.clauses.items():
            self._know(number, clause)

    def over(self, multitree: Multitree) -> SearchState:
        """The same clauses in another multitree of the same numbers: what is known of them stays."""
        other = copy(self)
        other.multitree = multitree
        return other

    def edges_of(self, number: int) -> Edges:
        """The maximal common sub-patterns of a clause, and its items at their places."""
        edges = self._edges.get(number)
        if edges is None:
            placed, shape = self.multitree.subplans.patterns.placed, self.local_plans[number].shape
            edges = [(pattern, placed(shape, mask)[1]) for pattern, mask in self.graph.subpatterns_of[number]]
            self._edges[number] = edges
        return edges

    def holders_of(self, pattern: int) -> Holders:
        """The clauses that have a maximal common sub-pattern, two at least, and their items at its places."""
        holders = self._holders.get(pattern)
        if holders is None:
            placed = self.multitree.subplans.patterns.placed
            holders = self._holders[pattern] = [
                (number, placed(self.local_plans[number].shape, mask)[1])
                for number, mask in self.graph.clauses_of[pattern]
            ]
        return holders

    def twins_of(self, number: int) -> list[tuple[int, int]]:
        """The sub-patterns that a clause has twice, as sets of items that have none in common."""
        shape = self.local_plans[number].shape
        twins = self._twins.get(shape)
        if twins is None:
            twins = self._twins[shape] = self._find_twins(shape)
        return twins

    def _find_twins(self, shape: Shape) -> list[tuple[int, int]]:
        repeated = [leaf for leaf in shape.leaves if shape.leaves.count(leaf) > 1]
        mask = sum(1 << item for item, leaf in enumerate(shape.leaves) if leaf in repeated)
        if not MIN_TWINS <= mask.bit_count() <= MAX_TWINS:
            return []
        by_pattern: dict[int, list[int]] = {}
        for part in parts_of(mask):
            by_pattern.setdefault(self.multitree.subplans.patterns.number(shape, part), []).append(part)
        return [
            pair for parts in by_pattern.values() for pair in combinations(parts, 2) if not pair[0] & pair[1]
        ]

    def _know(self, number: int, clause: Clause) -> None:
        plans = LocalPlans.of(clause, self.multitree)
        # Clauses that differ in nothing but their names have one memory.
        self.local_plans[number] = self._alike.setdefault((plans.shape, plans.window), plans)
        self.graph.add(number, plans.shape)

    def settle(self, number: int, tree: Tree) -> None:
        """Give a lifted clause a tree."""
        self.multitree.settle(number, self.multitree.subplans.plan(self.local_plans[number].shape, tree))

    def adopt(self, plans: Mapping[int, Plan]) -> None:
        """Change all clauses to given plans."""
        for number, plan in plans.items():
            self.multitree.replace(number, plan)
        self.multitree.cost = self.multitree.recomputed_cost()

    def undo(self, undo: Undo, cost: float) -> None:
        """Change clauses back, to plans that had this cost."""
        for number, plan in undo:
            self.multitree.replace(number, plan)
        self.multitree.cost = cost

    def replan(self, number: int) -> Plan:
        """Give a clause the tree that adds least to what the other clauses have; gives the plan that it had."""
        old = self.multitree.lift(number)
        tree = self.local_plans[number].cheapest_addition(self.multitree, is_left_deep=self.is_left_deep)
        self.settle(number, tree)
        return old

    def descend(self) -> None:
        """Replan clauses as long as this gives a cheaper plan."""
        waiting = dict.fromkeys(self.multitree.plans)
        while waiting:
            number = next(iter(waiting))
            del waiting[number]
            before = self.multitree.cost
            old = self.replan(number)
            if self.multitree.plans[number].root == old.root:
                continue
            if self.multitree.cost < before * (1.0 - TOLERANCE):
                # What this clause has now, or has no more, may change what is best for its peers.
                for pattern, _ in self.graph.subpatterns_of[number]:
                    waiting.update(dict.fromkeys(peer for peer, _ in self.graph.clauses_of[pattern] if peer != number))
            else:
                self.undo([(number, old)], before)
