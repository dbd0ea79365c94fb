"""In what order the parts of a large And are tried: by what testing one costs and how much it leaves.

All sets of n parts are 2^n, and even a beam that tries every other part after every set it keeps looks at n^2 joins
over up to n parts each. So the joins that are looked at for one And are bounded: the more parts, the fewer sets are
kept, and the fewer parts are tried after each. Those to try come in the order that is best for filters that do not
depend on each other: cost of a test over the part of segments that it removes, least first. A part that refers to
another is tried only after that one.
"""

from __future__ import annotations

from math import isqrt
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sparkrex.modes.segments.planner.logical import Both, Logical

MOST_SETS = 12
"""Sets of parts that are kept at each size."""
EVERY_PART = 16
"""Parts up to which every other one is tried after each set that is kept."""
MOST_JOINS = 1500
"""Joins to look at for an And of more parts, about."""
_LEAST_REMOVED = 1e-6


class Breadth(NamedTuple):
    """How many sets are kept at each size, and how many parts are tried after each of them."""

    sets: int
    parts: int


def breadth(n_parts: int) -> Breadth:
    """What an And of so many parts can afford."""
    if n_parts <= EVERY_PART:
        return Breadth(MOST_SETS, n_parts)
    joins = max(1, MOST_JOINS // n_parts)
    sets = min(MOST_SETS, isqrt(joins))
    return Breadth(sets, joins // sets)


class NextParts:
    """Which parts to try after a set of them. Sets are bits of a number."""

    def __init__(self, node: Both, price: Callable[[Logical], tuple[float, float]]) -> None:
        """`price` is what testing a part costs for each segment, and the part of the segments that it leaves."""
        n_parts = len(node.parts)
        self.breadth = breadth(n_parts)
        self._order = list(range(n_parts))
        if n_parts > EVERY_PART:
            ranks = [_rank(*price(part)) for part in node.parts]
            self._order.sort(key=ranks.__getitem__)
        self._awaits = _awaits(node.parts)

    def independent(self) -> list[int]:
        """Places of the parts that refer to no other: one of them comes first."""
        return [place for place, awaited in enumerate(self._awaits) if not awaited]

    def behind(self, chosen: int) -> Iterator[int]:
        """Places of parts that are not in the set and refer to nobody outside of it, the most promising first."""
        n_left = self.breadth.parts
        for place in self._order:
            if not chosen >> place & 1 and not self._awaits[place] & ~chosen:
                yield place
                n_left -= 1
                if not n_left:
                    return


def _rank(cost: float, left: float) -> float:
    return cost / max(1 - left, _LEAST_REMOVED)


def _awaits(parts: tuple[Logical, ...]) -> list[int]:
    """For each part the set of the others that it refers to."""
    if not any(part.needs for part in parts):
        return [0] * len(parts)
    givers: dict[str, int] = {}
    for place, part in enumerate(parts):
        for name in part.gives:
            givers[name] = givers.get(name, 0) | 1 << place
    found = []
    for place, part in enumerate(parts):
        awaited = 0
        for name in part.needs:
            awaited |= givers.get(name, 0)
        found.append(awaited & ~(1 << place))
    return found
