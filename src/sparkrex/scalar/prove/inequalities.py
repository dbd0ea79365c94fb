"""Systems of inequalities between differences of points, closed transitively.

`x - y <= a` and `y - z <= b` give `x - z <= a + b`; a point that is below itself is a contradiction (Guo, Sun and
Weiss). Between integers a bound is rounded down. In domains where only the order is known all bounds are zero, so that
the same closure adds nothing up.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

from sparkrex.scalar.prove.facts import ValueKind
from sparkrex.scalar.prove.points import EXACT, Origin, Point, Product, Variable

if TYPE_CHECKING:
    from sparkrex.scalar.prove.formulas import Disequality, Inequality, Number

_Bound: TypeAlias = "tuple[Number, int]"
"""A limit, and -1 if it is not reached, 0 if it may be: the smaller pair says more."""

_EQUAL: _Bound = (0, 0)


class Inequalities:
    """Bounds on differences of points, always closed. `is_contradictory` once they cannot all hold."""

    def __init__(self) -> None:
        self.is_contradictory = False
        self.points: dict[Point, None] = {}
        self._bounds: dict[Point, dict[Point, _Bound]] = {}

    def copy(self) -> Inequalities:
        """A system that can be added to by itself."""
        other = Inequalities()
        other.is_contradictory = self.is_contradictory
        other.points = dict(self.points)
        other._bounds = {point: dict(bounds) for point, bounds in self._bounds.items()}
        return other

    def add_point(self, point: Point) -> None:
        """Know the point, and as yet nothing of it."""
        if point not in self.points:
            self.points[point] = None
            self._bounds[point] = {point: _EQUAL}

    def add(self, inequality: Inequality) -> bool:
        """Let it hold, and what follows from it; whether it says anything new."""
        self.add_point(inequality.left)
        self.add_point(inequality.right)
        bound: _Bound = (inequality.limit, -1 if inequality.is_strict else 0)
        pending = [(inequality.left, inequality.right, bound)]
        is_new = False
        while pending and not self.is_contradictory:
            left, right, bound = pending.pop()
            if _are_integers(left, right):
                bound = _whole(bound)
            known = self._bounds[left].get(right)
            if known is not None and known <= bound:
                continue
            is_new = True
            self._close(left, right, bound, pending)
        return is_new

    def _close(
        self, left: Point, right: Point, bound: _Bound, pending: list[tuple[Point, Point, _Bound]]
    ) -> None:
        """Every path that the new bound makes shorter; what is rounded down on the way is added again."""
        back = self._bounds[right].get(left)
        if back is not None and _plus(bound, back) < _EQUAL:
            self.is_contradictory = True
            return
        before = [(point, bounds[left]) for point, bounds in self._bounds.items() if left in bounds]
        after = list(self._bounds[right].items())
        for start, first in before:
            reached = _plus(first, bound)
            for end, last in after:
                total = _plus(reached, last)
                known = self._bounds[start].get(end)
                if known is not None and known <= total:
                    continue
                if _are_integers(start, end) and _whole(total) != total:
                    pending.append((start, end, total))
                self._bounds[start][end] = total
                if start == end and total < _EQUAL:
                    self.is_contradictory = True
                    return

    def is_below(self, left: Point, right: Point, *, strictly: bool = False) -> bool:
        """Whether `left <= right`, or `left < right`, is known."""
        bound = self._bounds.get(left, {}).get(right)
        return bound is not None and bound <= ((0, -1) if strictly else _EQUAL)

    def denies(self, disequality: Disequality) -> bool:
        """Whether the two points are known to differ by exactly what they must not differ by."""
        left, right, limit = disequality.left, disequality.right, disequality.limit
        if left == right:
            return limit == 0
        above = self._bounds.get(left, {}).get(right)
        below = self._bounds.get(right, {}).get(left)
        return above is not None and below is not None and above <= (limit, 0) and below <= (-limit, 0)


def is_whole(point: Point) -> bool:
    """Whether it is an integer at every row."""
    match point:
        case Origin():
            return True
        case Variable(domain=domain, kind=kind):
            return domain == EXACT and kind in (ValueKind.INTEGER, ValueKind.BOOLEAN)
        case Product(variable=variable, factor=factor):
            return is_whole(variable) and isinstance(factor, int)
        case _:
            return False


def _are_integers(left: Point, right: Point) -> bool:
    return is_whole(left) and is_whole(right)


def _whole(bound: _Bound) -> _Bound:
    """The bound of an integer: `< 3` is `<= 2`."""
    limit, strictness = bound
    return (math.ceil(limit) - 1, 0) if strictness else (math.floor(limit), 0)


def _plus(one: _Bound, other: _Bound) -> _Bound:
    return (one[0] + other[0], min(one[1], other[1]))
