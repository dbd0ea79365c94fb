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
        self.points: list[Point] = []
        self._numbers: dict[Point, int] = {}
        self._are_whole: list[bool] = []
        self._bounds: list[dict[int, _Bound]] = []

    def copy(self) -> Inequalities:
        """A system that can be added to by itself."""
        other = Inequalities()
        other.is_contradictory = self.is_contradictory
        other.points = list(self.points)
        other._numbers = dict(self._numbers)
        other._are_whole = list(self._are_whole)
        other._bounds = [dict(bounds) for bounds in self._bounds]
        return other

    def number(self, point: Point) -> int:
        """The point's place in `points`; one that is new is added, and as yet nothing is known of it."""
        number = self._numbers.get(point)
        if number is None:
            number = self._numbers[point] = len(self.points)
            self.points.append(point)
            self._are_whole.append(is_whole(point))
            self._bounds.append({number: _EQUAL})
        return number

    def add(self, inequality: Inequality) -> None:
        """Let it hold, and what follows from it."""
        left, right = self.number(inequality.left), self.number(inequality.right)
        self.add_between(left, right, inequality.limit, is_strict=inequality.is_strict)

    def add_between(self, left: int, right: int, limit: Number = 0, *, is_strict: bool) -> bool:
        """Let an inequality of two numbered points hold; whether it says anything new."""
        pending = [(left, right, (limit, -1 if is_strict else 0))]
        is_new = False
        while pending and not self.is_contradictory:
            left, right, bound = pending.pop()
            if self._are_whole[left] and self._are_whole[right]:
                bound = _whole(bound)
            known = self._bounds[left].get(right)
            if known is not None and known <= bound:
                continue
            is_new = True
            self._close(left, right, bound, pending)
        return is_new

    def _close(self, left: int, right: int, bound: _Bound, pending: list[tuple[int, int, _Bound]]) -> None:
        """Every path that the new bound makes shorter; what is to be rounded down is added again."""
        back = self._bounds[right].get(left)
        if back is not None and _plus(bound, back) < _EQUAL:
            self.is_contradictory = True
            return
        before = [(point, bounds[left]) for point, bounds in enumerate(self._bounds) if left in bounds]
        after = list(self._bounds[right].items())
        for start, first in before:
            reached = _plus(first, bound)
            for end, last in after:
                total = _plus(reached, last)
                known = self._bounds[start].get(end)
                if known is not None and known <= total:
                    continue
                if self._are_whole[start] and self._are_whole[end] and _whole(total) != total:
                    pending.append((start, end, total))
                self._bounds[start][end] = total
                if start == end and total < _EQUAL:
                    self.is_contradictory = True
                    return

    def is_below(self, left: int, right: int, *, strictly: bool = False) -> bool:
        """Whether `left <= right`, or `left < right`, is known of two numbered points."""
        bound = self._bounds[left].get(right)
        return bound is not None and bound <= ((0, -1) if strictly else _EQUAL)

    def denies(self, disequality: Disequality) -> bool:
        """Whether the two points are known to differ by exactly what they must not differ by."""
        left, right, limit = self.number(disequality.left), self.number(disequality.right), disequality.limit
        if left == right:
            return limit == 0
        above, below = self._bounds[left].get(right), self._bounds[right].get(left)
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


def _whole(bound: _Bound) -> _Bound:
    """The bound of an integer: `< 3` is `<= 2`."""
    limit, strictness = bound
    return (math.ceil(limit) - 1, 0) if strictness else (math.floor(limit), 0)


def _plus(one: _Bound, other: _Bound) -> _Bound:
    return (one[0] + other[0], min(one[1], other[1]))
