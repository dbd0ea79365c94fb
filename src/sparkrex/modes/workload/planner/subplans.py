"""Sub-plans: trees of sub-patterns, hash-consed, so that plans of different clauses meet in the same numbers.

A sub-plan has *slots*, one for each event of its partial matches: those of its left child, then those of its right
child. A leaf is known by its label; a join by its children and by what becomes testable there, said by slots. So the
same two children under other conditions are another join.

The sides of a join are not ordered, and a child may be laid over itself in more than one way (AND(A a, A b) can swap
its slots). Of all these forms the least one is kept, and the ways that leave it as it is are the join's own
symmetries. Two trees have the same number exactly if one can be laid over the other. Beyond `MAX_SYMMETRIES` a join is
taken to have none: equal sub-plans may then be missed, never confused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkrex.modes.workload.planner.subpattern import Shape, SubPatterns

if TYPE_CHECKING:
    from collections.abc import Hashable

    from sparkrex.modes.workload.clause import Clause
    from sparkrex.modes.workload.planner.tree import Tree

MAX_SYMMETRIES = 48

SlotLink = tuple[int, int, int, bool]
SlotJoint = tuple[tuple[int, ...], int]
Symmetry = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """A local plan in numbers: its sub-plans, each once and children first, and the slot of each item in the root."""

    shape: Shape
    tree: Tree
    nodes: tuple[int, ...]
    joins: tuple[int, ...]
    masks: tuple[int, ...]
    root: int
    slots: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Subplan:
    """A node as it is hash-consed. A leaf has children -1; `items` of a join's joints are slots of the join."""

    leaf: int
    left: int
    right: int
    links: tuple[SlotLink, ...]
    joints: tuple[SlotJoint, ...]


class Subplans:
    """All sub-plans that were met, by number; children have smaller numbers than their joins."""

    def __init__(self) -> None:
        self.patterns = SubPatterns()
        self.known: list[Subplan] = []
        self.pattern_of: list[int] = []
        self.tree_of: list[Tree] = []
        """The tree of each sub-plan over the places of its sub-pattern."""
        self._slots: list[int] = []
        self._symmetries: list[tuple[Symmetry, ...]] = []
        self._numbers: dict[Subplan, int] = {}
        self._met: dict[tuple[Shape, Tree], tuple[int, tuple[int, ...]]] = {}
        self._plans: dict[tuple[Shape, Tree], Plan] = {}

    def shape(self, clause: Clause, owner: int | None = None) -> Shape:
        """The clause in numbers."""
        return self.patterns.shape(clause, owner)

    def plan(self, shape: Shape, tree: Tree) -> Plan:
        """The plan that a tree is for a clause."""
        plan = self._plans.get((shape, tree))
        if plan is None:
            plan = self._plans[shape, tree] = self._make_plan(shape, tree)
        return plan

    def find(self, shape: Shape, tree: Tree) -> int:
        """The number of a (sub)tree of a clause."""
        return self._meet(shape, tree)[0]

    def n_slots(self, number: int) -> int:
        """How many events a partial match has."""
        return self._slots[number]

    def label(self, number: int) -> Hashable:
        """The label of a leaf."""
        return self.patterns.leaves[self.known[number].leaf].label

    def _make_plan(self, shape: Shape, tree: Tree) -> Plan:
        root, order = self._meet(shape, tree)
        uses: dict[int, int] = {}
        self._walk(shape, tree, uses)
        nodes = tuple(sorted(uses))
        slots = [0] * len(shape.leaves)
        for slot, item in enumerate(order):
            slots[item] = slot
        joins = tuple(node for node in nodes if self.known[node].leaf < 0)
        return Plan(shape, tree, nodes, joins, tuple(uses[node] for node in joins), root, tuple(slots))

    def _walk(self, shape: Shape, tree: Tree, uses: dict[int, int]) -> int:
        """Collect the sub-plans of a tree, each with the items of one place where it stands."""
        mask = 1 << tree if isinstance(tree, int) else 0
        if not isinstance(tree, int):
            mask = self._walk(shape, tree[0], uses) | self._walk(shape, tree[1], uses)
        uses[self._meet(shape, tree)[0]] = mask
        return mask

    def _meet(self, shape: Shape, tree: Tree) -> tuple[int, tuple[int, ...]]:
        """The number of a tree of a clause, and the item in each of its slots."""
        met = self._met.get((shape, tree))
        if met is None:
            if isinstance(tree, int):
                leaf = Subplan(shape.leaves[tree], -1, -1, (), ())
                met = self._number(leaf, shape, (tree,), ((0,),)), (tree,)
            else:
                met = self._join(shape, self._meet(shape, tree[0]), self._meet(shape, tree[1]))
            self._met[shape, tree] = met
        return met

    def _join(
        self, shape: Shape, one: tuple[int, tuple[int, ...]], other: tuple[int, tuple[int, ...]]
    ) -> tuple[int, tuple[int, ...]]:
        (left, left_items), (right, right_items) = (one, other) if one[0] <= other[0] else (other, one)
        n_left = len(left_items)
        ways = [
            (*(left_items[slot] for slot in first), *(right_items[slot] for slot in second))
            for first in self._symmetries[left]
            for second in self._symmetries[right]
        ]
        if left == right:
            ways += [(*items[n_left:], *items[:n_left]) for items in ways]
        forms = [(_testable(shape, items, n_left), items) for items in ways]
        form, chosen = min(forms)
        at = {item: slot for slot, item in enumerate(chosen)}
        same = tuple(tuple(at[item] for item in items) for other_form, items in forms if other_form == form)
        if len(same) > MAX_SYMMETRIES:
            same = (tuple(range(len(chosen))),)
        return self._number(Subplan(-1, left, right, *form), shape, chosen, same), chosen

    def _number(
        self, subplan: Subplan, shape: Shape, items: tuple[int, ...], symmetries: tuple[Symmetry, ...]
    ) -> int:
        number = self._numbers.get(subplan)
        if number is None:
            number = self._numbers[subplan] = len(self.known)
            mask = sum(1 << item for item in items)
            pattern, order = self.patterns.placed(shape, mask)
            place = {item: at for at, item in enumerate(order)}
            self.known.append(subplan)
            self.pattern_of.append(pattern)
            self._slots.append(len(items))
            self._symmetries.append(symmetries)
            self.tree_of.append(self._placed_tree(subplan, [place[item] for item in items]))
        return number

    def _placed_tree(self, subplan: Subplan, places: list[int]) -> Tree:
        if subplan.leaf >= 0:
            return places[0]
        n_left = self._slots[subplan.left]
        left, right = self.known[subplan.left], self.known[subplan.right]
        return self._placed_tree(left, places[:n_left]), self._placed_tree(right, places[n_left:])


def _testable(
    shape: Shape, items: tuple[int, ...], n_left: int
) -> tuple[tuple[SlotLink, ...], tuple[SlotJoint, ...]]:
    """What is tested where the first `n_left` items meet the others."""
    left, right = items[:n_left], items[n_left:]
    links = []
    for left_slot, first in enumerate(left):
        row = shape.between[first]
        for right_slot, second in enumerate(right):
            for key, is_forward in row[second]:
                links.append((left_slot, right_slot, key, is_forward))
    if not shape.joints:
        return tuple(links), ()
    left_mask, right_mask = sum(1 << item for item in left), sum(1 << item for item in right)
    at = {item: slot for slot, item in enumerate(items)}
    joints = [
        (tuple(at[item] for item in joined), key)
        for (joined, key), inside in zip(shape.joints, shape.joint_masks, strict=True)
        if inside & (left_mask | right_mask) == inside and inside & left_mask and inside & right_mask
    ]
    return tuple(links), tuple(sorted(joints))
