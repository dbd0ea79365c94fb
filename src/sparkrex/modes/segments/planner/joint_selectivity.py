"""How many segments several conditions leave together, for the many sets of leaves that planning asks about.

Conditions are seldom independent: what falls steeply falls. So the sampled segments on which all of them hold are
counted. As independence says if there is nothing sampled to go by, or not enough: the estimate is that of a Poisson
number whose prior is what independence says.

A leaf is looked up in the statistics once. That hashes its whole condition, and there are far more sets than leaves;
its sampled segments become the bits of a number, so that a set of leaves takes one operation per leaf.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sparkrex.modes.segments.pattern import Window
    from sparkrex.modes.segments.planner.logical import Leaf
    from sparkrex.modes.segments.planner.statistics import Statistics


def as_bits(mask: NDArray[np.bool_]) -> int:
    """A mask as the bits of a number, the first one the lowest."""
    return int.from_bytes(np.packbits(mask, bitorder="little").tobytes(), "little")


class _Known(NamedTuple):
    """A leaf, its selectivity, which of the sampled segments satisfy it, how many those are, and whose windows."""

    leaf: Leaf
    selectivity: float
    holds: int
    n_sampled: int
    windows: int


class JointSelectivity:
    """Selectivities of sets of leaves; sets and leaves are told apart by identity, so leaves are kept."""

    def __init__(self, statistics: Statistics) -> None:
        self._statistics = statistics
        self._leaves: dict[int, _Known] = {}
        self._windows: dict[tuple[Window, ...], int] = {}
        self._sets: dict[frozenset[int], float] = {}

    def of(self, leaves: Sequence[Leaf]) -> float:
        """Of leaves on the same segment."""
        key = frozenset(map(id, leaves))
        known = self._sets.get(key)
        if known is None:
            known = self._sets[key] = self._new([self._known_of(leaf) for leaf in leaves])
        return known

    @staticmethod
    def _new(leaves: list[_Known]) -> float:
        selectivities = [one.selectivity for one in leaves]
        independent = prod(selectivities)
        n = min([one.n_sampled for one in leaves], default=0)
        if len(leaves) < 2 or not n or not independent or len({one.windows for one in leaves}) > 1:
            return independent
        together = (1 << n) - 1
        for one in leaves:
            together &= one.holds
        return min((together.bit_count() + 1) / (n + 1 / independent), *selectivities)

    def _known_of(self, leaf: Leaf) -> _Known:
        known = self._leaves.get(id(leaf))
        if known is None:
            sampled = self._statistics.leaves.get(leaf)
            holds, n_sampled = 0, 0
            if sampled is not None and sampled.holds is not None:
                n_sampled = len(sampled.holds)
                holds = as_bits(sampled.holds)
            windows = self._windows.setdefault(leaf.windows, len(self._windows))
            known = _Known(leaf, self._statistics.selectivity(leaf), holds, n_sampled, windows)
            self._leaves[id(leaf)] = known
        return known
