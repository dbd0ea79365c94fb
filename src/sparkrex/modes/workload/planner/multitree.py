"""The multi-pattern multitree (MPM): the local plans of all clauses, in which equal subtrees are one node.

Everything that can be shared is shared, so the plan of a workload is given by one tree for each clause. Putting a
clause in, taking it out and changing its tree take time linear in the clause; the total cost is kept along. Changing a
tree back undoes the change, which is how a search tries thousands of neighbours without copying anything.

A clause that shares with nobody (`is_private`) has leaves of its own, and so has all joins for itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import fsum, inf
from typing import TYPE_CHECKING

from sparkrex.modes.workload.planner.cost import Costs, window_size
from sparkrex.modes.workload.planner.subplans import Plan, Subplans

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from sparkrex.modes.workload.clause import Clause
    from sparkrex.modes.workload.planner.statistics import Statistics
    from sparkrex.modes.workload.planner.tree import Tree


CANCELLATION = 1e-3
"""Where less than this share of a sum is left, the sum is taken anew: a Kleene may cost more than all else together,
and what is left after it is rounding.
"""


@dataclass(frozen=True, slots=True)
class NodeLink:
    """What must hold between a slot of the left child and one of the right; `is_forward` if read from left to right."""

    left_slot: int
    right_slot: int
    key: Hashable
    is_forward: bool


@dataclass(frozen=True, slots=True)
class NodeJoint:
    """A condition on three slots or more of the joined node, read in this order."""

    slots: tuple[int, ...]
    key: Hashable


@dataclass(frozen=True, slots=True)
class LeafNode:
    """The events (or under a Kleene the arrays of events) of one label. It has one slot."""

    number: int
    label: Hashable
    is_kleene: bool
    window: float | None
    served: tuple[int, ...]
    cost: float

    @property
    def n_slots(self) -> int:
        """How many events or arrays a partial match has."""
        return 1


@dataclass(frozen=True, slots=True)
class JoinNode:
    """Partial matches of two nodes put together. Slots are those of the left child, then those of the right one.

    Left and right may be the same node. `window` is the largest of the clauses served, None without bound.
    """

    number: int
    left: int
    right: int
    links: tuple[NodeLink, ...]
    joints: tuple[NodeJoint, ...]
    n_slots: int
    window: float | None
    served: tuple[int, ...]
    cost: float


Node = LeafNode | JoinNode


@dataclass(frozen=True, slots=True)
class Root:
    """Where the matches of a clause are: the node, and the slot of each of its items."""

    node: int
    slots: tuple[int, ...]


class Multitree:
    """A multi-pattern multitree under given statistics. Clauses are known by numbers that the caller gives."""

    def __init__(self, statistics: Statistics, subplans: Subplans | None = None, costs: Costs | None = None) -> None:
        self.statistics = statistics
        self.subplans = subplans or Subplans()
        self.costs = costs or Costs(statistics, self.subplans.patterns)
        self.clauses: dict[int, Clause] = {}
        self.plans: dict[int, Plan] = {}
        self.existing: dict[int, list[int]] = {}
        """The joins that exist, by the number of their sub-pattern."""
        self.cost = 0.0
        self.n_uses: dict[int, int] = {}
        self.window_of: dict[int, float] = {}
        """The window of each node that exists, infinite if there is no bound."""
        self._windows: dict[int, dict[float, int]] = {}

    def add(self, number: int, clause: Clause, tree: Tree, *, is_private: bool = False) -> None:
        """Put a clause in, with its local plan."""
        if number in self.plans:
            raise ValueError(f"there is a clause {number}")
        shape = self.subplans.shape(clause, number if is_private else None)
        plan = self.subplans.plan(shape, tree)
        self.clauses[number] = clause
        self.plans[number] = plan
        self._attach(plan.nodes, window_size(clause.window))

    def remove(self, number: int) -> None:
        """Take a clause out, with all that serves it alone."""
        clause, plan = self.clauses.pop(number), self.plans.pop(number)
        self._detach(plan.nodes, window_size(clause.window))
        if not self.plans:
            self.cost = 0.0

    def replace(self, number: int, plan: Plan) -> Plan:
        """Give a clause another plan; replacing it by the one that is returned undoes this."""
        old = self.plans[number]
        if plan is not old:
            window = window_size(self.clauses[number].window)
            self.plans[number] = plan
            kept = set(old.joins).intersection(plan.joins)
            # Leaves stay. New nodes come first: those that both plans have must not go and come again.
            self._attach([node for node in plan.joins if node not in kept], window)
            self._detach([node for node in old.joins if node not in kept], window)
        return old

    def lift(self, number: int) -> Plan:
        """Take the joins of a clause out, for a moment: until `settle` gives it a plan, only its leaves are here."""
        plan = self.plans[number]
        self._detach(plan.joins, window_size(self.clauses[number].window))
        return plan

    def settle(self, number: int, plan: Plan) -> None:
        """Give a clause that was lifted a plan."""
        self.plans[number] = plan
        self._attach(plan.joins, window_size(self.clauses[number].window))

    def find(self, clause: Clause, tree: Tree) -> int | None:
        """The node of a (sub)tree of a clause if it exists."""
        number = self.subplans.find(self.subplans.shape(clause), tree)
        return number if number in self.window_of else None

    def root(self, number: int) -> Root:
        """Where the matches of a clause are."""
        plan = self.plans[number]
        return Root(plan.root, plan.slots)

    def tree(self, number: int) -> Tree:
        """The local plan of a clause."""
        return self.plans[number].tree

    def trees(self) -> dict[int, Tree]:
        """The local plans of all clauses."""
        return {number: plan.tree for number, plan in self.plans.items()}

    def nodes(self) -> Iterator[Node]:
        """All nodes, children before their joins."""
        served: dict[int, list[int]] = {}
        for clause, plan in self.plans.items():
            for node in plan.nodes:
                served.setdefault(node, []).append(clause)
        for number in sorted(served):
            yield self._node(number, tuple(sorted(served[number])))

    def recomputed_cost(self) -> float:
        """The cost as the sum over all nodes, without the rounding of many changes."""
        return fsum(self._cost_of(node, window) for node, window in self.window_of.items())

    def _cost_of(self, node: int, window: float) -> float:
        return self.costs.of(self.subplans.pattern_of[node], window)

    def _attach(self, nodes: list[int] | tuple[int, ...], window: float) -> None:
        window_of, n_uses, pattern_of = self.window_of, self.n_uses, self.subplans.pattern_of
        for node in nodes:
            served = window_of.get(node)
            if served is None:
                self.cost += self.costs.of(pattern_of[node], window)
                window_of[node] = window
                n_uses[node] = 1
                self._windows[node] = {window: 1}
                self.existing.setdefault(pattern_of[node], []).append(node)
                continue
            n_uses[node] += 1
            windows = self._windows[node]
            windows[window] = windows.get(window, 0) + 1
            if window > served:
                self.cost += self._cost_of(node, window) - self._cost_of(node, served)
                window_of[node] = window

    def _detach(self, nodes: list[int] | tuple[int, ...], window: float) -> None:
        window_of, n_uses, pattern_of = self.window_of, self.n_uses, self.subplans.pattern_of
        before = self.cost
        for node in nodes:
            if n_uses[node] == 1:
                self.cost -= self.costs.of(pattern_of[node], window)
                del window_of[node], n_uses[node], self._windows[node]
                alike = self.existing[pattern_of[node]]
                alike.remove(node)
                if not alike:
                    del self.existing[pattern_of[node]]
                continue
            n_uses[node] -= 1
            windows = self._windows[node]
            windows[window] -= 1
            if not windows[window]:
                del windows[window]
                if window == window_of[node]:
                    served = window_of[node] = max(windows)
                    self.cost += self._cost_of(node, served) - self._cost_of(node, window)
        if self.cost < before * CANCELLATION:
            self.cost = self.recomputed_cost()

    def _node(self, number: int, served: tuple[int, ...]) -> Node:
        subplan, keys = self.subplans.known[number], self.subplans.patterns.keys
        size = self.window_of[number]
        window = None if size == inf else size
        cost = self._cost_of(number, size)
        if subplan.leaf >= 0:
            leaf = self.subplans.patterns.leaves[subplan.leaf]
            return LeafNode(number, leaf.label, leaf.is_kleene, window, served, cost)
        links = tuple(NodeLink(left, right, keys[key], forward) for left, right, key, forward in subplan.links)
        joints = tuple(NodeJoint(slots, keys[key]) for slots, key in subplan.joints)
        n_slots = self.subplans.n_slots(number)
        return JoinNode(number, subplan.left, subplan.right, links, joints, n_slots, window, served, cost)
