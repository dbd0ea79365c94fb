"""The multi-pattern graph, in the compact form of the paper's appendix A.

Two hash tables: from a maximal common sub-pattern to the clauses that have it in common with others, and from a clause
to its maximal common sub-patterns. Every common sub-pattern is a part of a maximal one, so nothing else is stored.
Windows make no difference: a shared node takes the largest.

The appendix ends its example AND(A, B, C), AND(A, D, C) with E_12 = {A, B} and AND(B); it must read {A, C} and AND(C).
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from sparkrex.modes.workload.planner.common import maximal_common

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sparkrex.modes.workload.planner.subpattern import Shape, SubPatterns


class PatternGraph:
    """Which clauses have which sub-patterns of two items or more in common."""

    def __init__(self, patterns: SubPatterns) -> None:
        self._patterns = patterns
        self._shapes: dict[int, Shape] = {}
        self._by_pair: dict[int, dict[tuple[int, int], None]] = {}
        """From a sub-pattern of two items to the clauses that have it, each with its items there."""
        self._n_edges: dict[tuple[int, int, int], int] = {}
        """With how many others a clause has a sub-pattern as a maximal one, by sub-pattern, clause and its items."""
        self.clauses_of: dict[int, dict[tuple[int, int], None]] = {}
        """From a maximal common sub-pattern to the clauses that have it, each with its items there."""
        self.subpatterns_of: dict[int, dict[tuple[int, int], None]] = {}
        """From a clause to its maximal common sub-patterns, each with its items there."""

    def add(self, number: int, shape: Shape) -> None:
        """Put a clause in; it is compared with the clauses that have two items in common with it."""
        self.subpatterns_of[number] = {}
        for other, masks in self._edges(shape):
            for mask, other_mask in masks:
                pattern = self._patterns.number(shape, mask)
                self._count(pattern, number, mask)
                self._count(pattern, other, other_mask)
        self._shapes[number] = shape
        for pattern, mask in self._pairs(shape):
            self._by_pair.setdefault(pattern, {})[number, mask] = None

    def remove(self, number: int) -> None:
        """Take a clause out, with the sub-patterns that are common no more."""
        shape = self._shapes.pop(number)
        for pattern, mask in self._pairs(shape):
            del self._by_pair[pattern][number, mask]
        for other, masks in self._edges(shape):
            for mask, other_mask in masks:
                pattern = self._patterns.number(shape, mask)
                self._discount(pattern, number, mask)
                self._discount(pattern, other, other_mask)
        del self.subpatterns_of[number]

    def holders(self, number: int, mask: int) -> dict[int, int]:
        """The clauses that have the sub-pattern of some items of a clause, each with its items; that clause among
        them.
        """
        shape = self._shapes[number]
        found = {number: mask}
        for pattern, larger in self.subpatterns_of[number]:
            if mask & larger != mask:
                continue
            _, items = self._patterns.placed(shape, larger)
            places = [place for place, item in enumerate(items) if mask >> item & 1]
            for other, other_mask in self.clauses_of[pattern]:
                if other not in found:
                    _, other_items = self._patterns.placed(self._shapes[other], other_mask)
                    found[other] = sum(1 << other_items[place] for place in places)
        return found

    def _pairs(self, shape: Shape) -> Iterator[tuple[int, int]]:
        for first, second in combinations(range(len(shape.leaves)), 2):
            mask = 1 << first | 1 << second
            yield self._patterns.number(shape, mask), mask

    def _edges(self, shape: Shape) -> Iterator[tuple[int, list[tuple[int, int]]]]:
        """The other clauses that a clause has something in common with, and the maximal sub-patterns of both.

        Where only one pair of items is the same in both, it is maximal: of three items in common three pairs are.
        """
        in_common: dict[int, list[tuple[int, int]]] = {}
        for pattern, mask in self._pairs(shape):
            for other, other_mask in self._by_pair.get(pattern, ()):
                in_common.setdefault(other, []).append((mask, other_mask))
        for other, masks in in_common.items():
            yield other, masks if len(masks) == 1 else maximal_common(shape, self._shapes[other])

    def _count(self, pattern: int, number: int, mask: int) -> None:
        self._n_edges[pattern, number, mask] = self._n_edges.get((pattern, number, mask), 0) + 1
        self.clauses_of.setdefault(pattern, {})[number, mask] = None
        self.subpatterns_of[number][pattern, mask] = None

    def _discount(self, pattern: int, number: int, mask: int) -> None:
        self._n_edges[pattern, number, mask] -= 1
        if not self._n_edges[pattern, number, mask]:
            del self._n_edges[pattern, number, mask]
            del self.clauses_of[pattern][number, mask], self.subpatterns_of[number][pattern, mask]
            if not self.clauses_of[pattern]:
                del self.clauses_of[pattern]


def parts_of(mask: int) -> list[int]:
    """All sets of two items or more within a set, the largest first."""
    found, part = [], mask
    while part:
        if part & (part - 1):
            found.append(part)
        part = (part - 1) & mask
    return sorted(found, key=lambda subset: (-subset.bit_count(), subset))
