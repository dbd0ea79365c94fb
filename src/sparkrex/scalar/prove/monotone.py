"""What is known of points by themselves: constants, positive columns, truth values, sums and products.

A rounded sum or product is the double nearest to the exact one, so it grows, or stays, where the exact one grows; a
double is its own nearest. That is all that is used of it: rounding may make different values equal, so that strict
becomes non-strict, and two roundings do not add up. Each law holds for NaN, which is equal to itself and above all
else, and for infinities; the comments say why where it is not obvious.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from sparkrex.scalar.prove.facts import Facts, ValueKind
from sparkrex.scalar.prove.formulas import Inequality
from sparkrex.scalar.prove.points import DOUBLE, EXACT, ORIGIN, Constant, Point, Product, Sum, Variable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sparkrex.scalar.prove.formulas import Number
    from sparkrex.scalar.prove.inequalities import Inequalities

_ZERO = Constant(0, DOUBLE)


def add_laws(system: Inequalities, facts: Facts) -> None:
    """Let hold what is known of the points of the system, again and again until nothing is new."""
    _add_bases(system)
    for law in _lasting_laws(system, facts):
        system.add(law)
    while not system.is_contradictory:
        is_new = False
        for law in list(_laws_of_order(system)):
            is_new = system.add(law) or is_new
        if not is_new:
            return


def _add_bases(system: Inequalities) -> None:
    for point in list(system.points):
        if isinstance(point, Sum | Product):
            system.add_point(point.variable)
            if point.variable.domain == DOUBLE:
                system.add_point(_ZERO)


def _lasting_laws(system: Inequalities, facts: Facts) -> Iterator[Inequality]:
    """Laws that hold whatever else is known."""
    constants: dict[object, list[Constant]] = {}
    for point in list(system.points):
        match point:
            case Variable(expression=expression, domain=domain) if (
                facts.is_positive(expression) and domain in (EXACT, DOUBLE)
            ):
                yield Inequality(ORIGIN if domain == EXACT else _ZERO, point, 0, True)
        match point:
            case Variable(kind=ValueKind.BOOLEAN, domain=domain) if domain == EXACT:
                yield Inequality(point, ORIGIN, 1, False)
                yield Inequality(ORIGIN, point, 0, False)
    for point in system.points:
        if isinstance(point, Constant):
            constants.setdefault(point.domain, []).append(point)
    for known in constants.values():
        for low, high in pairwise(sorted(known, key=lambda constant: constant.value)):
            yield Inequality(low, high, 0, True)


def _laws_of_order(system: Inequalities) -> Iterator[Inequality]:
    """Laws of sums and products, given the order that is known of their variables."""
    sums = [(point, *_as_sum(point)) for point in system.points if isinstance(point, Sum | Variable)]
    for left, x, a in sums:
        for right, y, b in sums:
            # x <= y and a <= b: x + a <= y + b. Infinities absorb finite constants; a NaN y makes the right side NaN,
            # and a NaN x means that y is NaN.
            if _is_computed(left, right) and x.domain == DOUBLE and a <= b and system.is_below(x, y):
                yield Inequality(left, right, 0, False)
    products = [(point, *_as_product(point)) for point in system.points if isinstance(point, Product | Variable)]
    for one, x, r in products:
        if x.domain not in (EXACT, DOUBLE):
            continue
        zero: Point = ORIGIN if x.domain == EXACT else _ZERO
        is_positive = system.is_below(zero, x, strictly=True)
        if isinstance(one, Product) and is_positive:
            if r > 0:
                # The product of doubles may be too small for one and become zero; NaN is above zero.
                yield Inequality(zero, one, 0, x.domain == EXACT)
            elif x.domain == EXACT:
                # Not for doubles: x may be NaN, and then the product is not below zero.
                yield Inequality(one, zero, 0, True)
        for other, y, s in products:
            if _is_computed(one, other) and y.domain == x.domain:
                law = _law_of_products(system, (one, x, r), (other, y, s), is_positive=is_positive)
                if law is not None:
                    yield law


def _law_of_products(
    system: Inequalities, lesser: tuple[Point, Variable, Number], greater: tuple[Point, Variable, Number], *,
    is_positive: bool,
) -> Inequality | None:
    """`r * x <= s * y` if that follows. No factor is zero: zero times infinity is NaN, above all other products."""
    (one, x, r), (other, y, s) = lesser, greater
    is_exact = x.domain == EXACT
    if not system.is_below(x, y):
        return None
    is_less = system.is_below(x, y, strictly=True)
    if r == s > 0:
        # Whatever the signs. A NaN x means that y is NaN, and a NaN y makes the right side NaN.
        return Inequality(one, other, 0, is_exact and is_less)
    if is_positive and 0 < r < s:
        # r * x <= s * x <= s * y, for x > 0; infinity times either factor is infinity.
        return Inequality(one, other, 0, is_exact)
    if is_positive and x == y and r < s:
        # Factors of any sign: of an infinite x, at least one of different signs differs, in the right direction; of a
        # NaN x both are NaN.
        return Inequality(one, other, 0, is_exact)
    return None


def _is_computed(one: Point, other: Point) -> bool:
    """Whether one of two different points is a sum or a product: of variables alone the system knows already."""
    return one != other and not (isinstance(one, Variable) and isinstance(other, Variable))


def _as_sum(point: Sum | Variable) -> tuple[Variable, Number]:
    return (point, 0) if isinstance(point, Variable) else (point.variable, point.addend)


def _as_product(point: Product | Variable) -> tuple[Variable, Number]:
    return (point, 1) if isinstance(point, Variable) else (point.variable, point.factor)
