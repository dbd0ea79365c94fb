"""The points of orders: what the two sides of a comparison stand for.

Values are compared in a *domain*, and points of different domains are never related. In `EXACT`, of integers, decimals
and booleans, differences of points are bounded by numbers, and a constant is a distance from `ORIGIN`. In every other
domain only the order counts, so constants are points too, and so are the rounded sums and products of doubles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Hashable

    from sparkrex.scalar.expression import Expression
    from sparkrex.scalar.prove.facts import ValueKind
    from sparkrex.scalar.prove.formulas import Number


@dataclass(frozen=True, slots=True)
class Domain:
    """An order. `key` is set where it is an order of few expressions only."""

    name: str
    key: Hashable = None


EXACT, DOUBLE, TEXT, TIME = Domain("exact"), Domain("double"), Domain("text"), Domain("time")


@dataclass(frozen=True, slots=True)
class Origin:
    """Zero, in the exact domain."""


ORIGIN = Origin()


@dataclass(frozen=True, slots=True)
class Variable:
    """The value of an expression, converted to the type in which the domain compares."""

    expression: Expression
    domain: Domain
    kind: ValueKind | None


@dataclass(frozen=True, slots=True)
class Constant:
    """A known value; values of one domain can be compared in Python."""

    value: Any
    domain: Domain


@dataclass(frozen=True, slots=True)
class Sum:
    """A double plus a constant, rounded; the variable's domain is `DOUBLE`."""

    variable: Variable
    addend: Number


@dataclass(frozen=True, slots=True)
class Product:
    """A variable times a constant other than 0 and 1; rounded in the domain `DOUBLE`, exact in `EXACT`."""

    variable: Variable
    factor: Number


Point: TypeAlias = Origin | Variable | Constant | Sum | Product
