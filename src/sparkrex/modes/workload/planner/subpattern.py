"""Sub-patterns: sets of items with all that holds between them, numbered so that equal ones have one number.

A `Shape` is a clause as planners see it: the numbers of its labels and keys, and for each pair of items what holds
between them. Any set of its items is a sub-pattern. Two sets, of the same clause or of two, have the same number
exactly if one can be laid over the other: equal labels, equal links, equal joints.

Where labels differ, sorting the items by label is a canonical order. Where a label repeats, all orders of the items
that have it are compared; beyond `MAX_ORDERS` the order of the clause is taken, and equal sub-patterns may then be
missed, never confused.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import groupby, permutations, product
from math import factorial, prod
from typing import TYPE_CHECKING

from sparkrex.modes.workload.clause import SYMMETRIC
from sparkrex.modes.workload.planner.tree import items_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from sparkrex.modes.workload.clause import Clause

MAX_ORDERS = 720

Between = tuple[tuple[int, bool], ...]
"""What holds between two items: numbers of keys, and whether each is read from the first to the second."""


@dataclass(frozen=True, slots=True)
class SubPattern:
    """A sub-pattern in canonical order: leaves, for each pair of places what holds between them, and joints."""

    leaves: tuple[int, ...]
    between: tuple[Between, ...]
    joints: tuple[tuple[tuple[int, ...], int], ...]


@dataclass(frozen=True, slots=True)
class Leaf:
    """The events of one label, or their arrays. `owner` is the clause that shares it with nobody, None if all do."""

    label: Hashable
    is_kleene: bool = False
    owner: int | None = None


@dataclass(eq=False, slots=True)
class Shape:
    """A clause in numbers. `between[i][j]` is what holds between two items, read from i to j."""

    leaves: tuple[int, ...]
    between: tuple[tuple[Between, ...], ...]
    joints: tuple[tuple[tuple[int, ...], int], ...]
    joint_masks: tuple[int, ...]
    found: dict[int, tuple[int, tuple[int, ...]]] = field(default_factory=dict)

    @property
    def full(self) -> int:
        """The set of all items."""
        return (1 << len(self.leaves)) - 1


class SubPatterns:
    """All labels, keys, shapes and sub-patterns that were met, by number."""

    def __init__(self) -> None:
        self.leaves: list[Leaf] = []
        self.keys: list[Hashable] = []
        self.known: list[SubPattern] = []
        self._leaf_numbers: dict[Leaf, int] = {}
        self._key_numbers: dict[Hashable, int] = {}
        self._numbers: dict[SubPattern, int] = {}
        self._shapes: dict[Hashable, Shape] = {}

    def shape(self, clause: Clause, owner: int | None = None) -> Shape:
        """The shape of a clause; clauses that differ in names and windows only have the same one."""
        leaves = tuple(self._leaf(Leaf(item.label, item.is_kleene, owner)) for item in clause.items)
        n_items = len(leaves)
        between: list[list[set[tuple[int, bool]]]] = [[set() for _ in range(n_items)] for _ in range(n_items)]
        for link in clause.links:
            key, is_symmetric = self._key(link.key), link.key in SYMMETRIC
            between[link.first][link.second].add((key, True))
            between[link.second][link.first].add((key, is_symmetric))
        rows = tuple(tuple(tuple(sorted(cell)) for cell in row) for row in between)
        joints = tuple(sorted({(joint.items, self._key(joint.key)) for joint in clause.joints}))
        identity = (leaves, rows, joints)
        if identity not in self._shapes:
            masks = tuple(sum(1 << item for item in set(items)) for items, _ in joints)
            self._shapes[identity] = Shape(leaves, rows, joints, masks)
        return self._shapes[identity]

    def number(self, shape: Shape, mask: int) -> int:
        """The number of the sub-pattern that some items of a clause are."""
        return self.placed(shape, mask)[0]

    def placed(self, shape: Shape, mask: int) -> tuple[int, tuple[int, ...]]:
        """The number of a sub-pattern, and the item of the clause at each of its places."""
        try:
            return shape.found[mask]
        except KeyError:
            found = shape.found[mask] = self._place(shape, mask)
            return found

    def _place(self, shape: Shape, mask: int) -> tuple[int, tuple[int, ...]]:
        best: tuple[object, ...] | None = None
        chosen: tuple[int, ...] = ()
        described: SubPattern | None = None
        for order in _orders(shape, mask):
            candidate = _describe(shape, mask, order)
            rank = (candidate.between, candidate.joints)
            if best is None or rank < best:
                best, chosen, described = rank, order, candidate
        assert described is not None
        number = self._numbers.get(described)
        if number is None:
            number = self._numbers[described] = len(self.known)
            self.known.append(described)
        return number, chosen

    def _leaf(self, leaf: Leaf) -> int:
        number = self._leaf_numbers.setdefault(leaf, len(self.leaves))
        if number == len(self.leaves):
            self.leaves.append(leaf)
        return number

    def _key(self, key: Hashable) -> int:
        number = self._key_numbers.setdefault(key, len(self.keys))
        if number == len(self.keys):
            self.keys.append(key)
        return number


def _orders(shape: Shape, mask: int) -> Iterator[tuple[int, ...]]:
    leaves = shape.leaves
    items = sorted(items_of(mask), key=leaves.__getitem__)
    if len({leaves[item] for item in items}) == len(items):
        yield tuple(items)
        return
    groups = [tuple(group) for _, group in groupby(items, key=leaves.__getitem__)]
    if prod(factorial(len(group)) for group in groups) > MAX_ORDERS:
        yield tuple(items)
        return
    for choice in product(*(permutations(group) for group in groups)):
        yield tuple(item for group in choice for item in group)


def _describe(shape: Shape, mask: int, order: tuple[int, ...]) -> SubPattern:
    between = shape.between
    pairs = tuple(between[first][second] for at, first in enumerate(order) for second in order[at + 1 :])
    joints: tuple[tuple[tuple[int, ...], int], ...] = ()
    if shape.joints:
        place = {item: at for at, item in enumerate(order)}
        joints = tuple(
            sorted(
                (tuple(place[item] for item in items), key)
                for (items, key), inside in zip(shape.joints, shape.joint_masks, strict=True)
                if inside & mask == inside
            )
        )
    return SubPattern(tuple(shape.leaves[item] for item in order), pairs, joints)
