"""What is known of points by themselves: constants, positive columns, truth values, sums and products.

A rounded sum or product is the double nearest to the exact one, so it grows, or stays, where the exact one grows; a
double is its own nearest. That is all that is used of it: rounding may make different values equal, so that strict
becomes non-strict, and two roundings do not add up. Each law holds for NaN, which is equal to itself and above all
else, and for infinities; the comments say why where it is not obvious.
"""

from __future__ import annotations

from itertools import pairwise, permutations
from typing import TYPE_CHECKING, TypeAlias

from sparkrex.scalar.prove.facts import ValueKind
from sparkrex.scalar.prove.formulas import Inequality
from sparkrex.scalar.prove.points import DOUBLE, EXACT, ORIGIN, Constant, Domain, Point, Product, Sum, Variable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sparkrex.scalar.prove.facts import Facts
    from sparkrex.scalar.prove.formulas import Number
    from sparkrex.scalar.prove.inequalities import Inequalities

_Computed: TypeAlias = "dict[int, tuple[Variable, int, Number]]"
"""By the number of a point, its variable, the number of that, and the constant it is computed with."""

_Law: TypeAlias = tuple[int, int, bool]
"""That one point is below another, and whether strictly."""


def add_laws(system: Inequalities, facts: Facts) -> None:
    """Let hold what is known of the points of the system, again and again until nothing is new."""
    for point in list(system.points):
        if isinstance(point, Sum | Product):
            system.number(point.variable)
    for law in _lasting_laws(system, facts):
        system.add(law)
    sums = _computed(system, Sum)
    products = _computed(system, Product)
    zero_of = {domain: system.number(_zero(domain)) for domain in {base.domain for base, _, _ in products.values()}}
    is_new = bool(sums or products)
    while is_new and not system.is_contradictory:
        is_new = False
        for left, right, is_strict in [*_laws_of_sums(system, sums), *_laws_of_products(system, products, zero_of)]:
            is_new = system.add_between(left, right, is_strict=is_strict) or is_new


def _zero(domain: Domain) -> Point:
    return ORIGIN if domain == EXACT else Constant(0, domain)


def _lasting_laws(system: Inequalities, facts: Facts) -> Iterator[Inequality]:
    """Laws that hold whatever else is known."""
    for point in list(system.points):
        if isinstance(point, Variable) and facts.is_positive(point.expression) and point.domain in (EXACT, DOUBLE):
            yield Inequality(_zero(point.domain), point, 0, True)
        if isinstance(point, Variable) and point.domain == EXACT and point.kind is ValueKind.BOOLEAN:
            yield Inequality(point, ORIGIN, 1, False)
            yield Inequality(ORIGIN, point, 0, False)
        if isinstance(point, Product) and point.variable.domain == DOUBLE:
            system.number(_zero(DOUBLE))
    constants: dict[Domain, list[Constant]] = {}
    for point in system.points:
        if isinstance(point, Constant):
            constants.setdefault(point.domain, []).append(point)
    for known in constants.values():
        for low, high in pairwise(sorted(known, key=lambda constant: constant.value)):
            yield Inequality(low, high, 0, True)


def _computed(system: Inequalities, form: type[Sum] | type[Product]) -> _Computed:
    """Points of this form, and variables of their domains: a variable is itself plus zero, and once itself."""
    found: _Computed = {}
    for number, point in enumerate(system.points):
        if isinstance(point, form):
            constant = point.addend if isinstance(point, Sum) else point.factor
            found[number] = (point.variable, system.number(point.variable), constant)
    domains = {variable.domain for variable, _, _ in found.values()}
    for number, point in enumerate(system.points):
        if isinstance(point, Variable) and point.domain in domains:
            found[number] = (point, number, 0 if form is Sum else 1)
    return found


def _laws_of_sums(system: Inequalities, sums: _Computed) -> Iterator[_Law]:
    """`x + a <= y + b` for `x <= y` and `a <= b`.

    Infinities absorb finite constants; a NaN y makes the right side NaN, and a NaN x means that y is NaN.
    """
    for (left, (_, x, a)), (right, (_, y, b)) in permutations(sums.items(), 2):
        if a <= b and system.is_below(x, y):
            yield left, right, False


def _laws_of_products(system: Inequalities, products: _Computed, zero_of: dict[Domain, int]) -> Iterator[_Law]:
    """The order of products, and whether they are above zero, given what is known of their variables.

    No factor is zero: zero times infinity is NaN, above all other products.
    """
    positive = {
        number for number, (variable, x, _) in products.items()
        if system.is_below(zero_of[variable.domain], x, strictly=True)
    }
    for number in positive:
        variable, _, r = products[number]
        zero, is_exact = zero_of[variable.domain], variable.domain == EXACT
        if r > 0:
            # The product of doubles may be too small for one and become zero; NaN is above zero.
            yield zero, number, is_exact
        elif is_exact:
            # Not for doubles: the variable may be NaN, and then the product is not below zero.
            yield number, zero, True
    for (left, (variable, x, r)), (right, (_, y, s)) in permutations(products.items(), 2):
        if not system.is_below(x, y):
            continue
        is_exact = variable.domain == EXACT
        if r == s > 0:
            # Whatever the signs. A NaN x means that y is NaN, and a NaN y makes the right side NaN.
            yield left, right, is_exact and system.is_below(x, y, strictly=True)
        elif left in positive and r < s and (r > 0 or x == y):
            # Of positive factors r * x <= s * x <= s * y; infinity times either is infinity. Of one variable also with
            # factors of other signs: if it is infinite, products of different signs are in the right order, and if it
            # is NaN, both are.
            yield left, right, is_exact
