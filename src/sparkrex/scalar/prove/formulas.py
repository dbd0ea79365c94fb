"""Formulas of two-valued logic over inequalities and NULLs: what the truth of a condition comes to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from fractions import Fraction

    from sparkrex.scalar.expression import Expression
    from sparkrex.scalar.prove.points import Point

Number: TypeAlias = "int | Fraction"


@dataclass(frozen=True, slots=True)
class Inequality:
    """`left - right <= limit`, or `<` if it is strict."""

    left: Point
    right: Point
    limit: Number
    is_strict: bool


@dataclass(frozen=True, slots=True)
class Disequality:
    """`left - right <> limit`."""

    left: Point
    right: Point
    limit: Number


@dataclass(frozen=True, slots=True)
class Nullness:
    """Whether the expression is NULL."""

    expression: Expression
    is_null: bool


@dataclass(frozen=True, slots=True)
class All:
    """A conjunction."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Some:
    """A disjunction."""

    parts: tuple[Formula, ...]


LiteralFormula: TypeAlias = Inequality | Disequality | Nullness
Formula: TypeAlias = LiteralFormula | All | Some

TRUE: Formula = All(())
"""What always holds; also what stands for a part of which nothing is known: it constrains nothing."""

FALSE: Formula = Some(())


def all_of(*parts: Formula) -> Formula:
    """The conjunction."""
    kept = [part for part in parts if part != TRUE]
    if FALSE in kept:
        return FALSE
    return kept[0] if len(kept) == 1 else All(tuple(kept))


def some_of(*parts: Formula) -> Formula:
    """The disjunction."""
    kept = [part for part in parts if part != FALSE]
    if TRUE in kept:
        return TRUE
    return kept[0] if len(kept) == 1 else Some(tuple(kept))


_COMPLEMENTS = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}


def complement(operator: str) -> str:
    """The comparison that holds of two values, neither of them NULL, where this one does not: orders are total."""
    return _COMPLEMENTS[operator]


def compare_points(operator: str, left: Point, right: Point, limit: Number = 0) -> Formula:
    """`left - right` compared with the limit."""
    match operator:
        case "lt" | "le":
            return Inequality(left, right, limit, operator == "lt")
        case "gt" | "ge":
            return Inequality(right, left, -limit, operator == "gt")
        case "eq":
            return All((Inequality(left, right, limit, False), Inequality(right, left, -limit, False)))
        case _:
            return Disequality(left, right, limit)


def compare_numbers(operator: str, number: Number) -> Formula:
    """Whether a known number stands so to zero."""
    holds = {
        "eq": number == 0, "ne": number != 0, "lt": number < 0, "le": number <= 0, "gt": number > 0, "ge": number >= 0
    }[operator]
    return TRUE if holds else FALSE
