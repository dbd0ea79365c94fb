"""What clauses of every language are made of: a scalar expression, a key, a measure, a name, each with its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp

    from sparkrex.source import Span


@dataclass(frozen=True, slots=True)
class ScalarText:
    """A parsed scalar expression. Navigation and the like are calls of functions named `__REX_...`."""

    tree: exp.Expression
    span: Span


@dataclass(frozen=True, slots=True)
class PartitionItem:
    """An item of PARTITION BY with its alias, if one was given."""

    expression: ScalarText
    alias: str | None


@dataclass(frozen=True, slots=True)
class OrderItem:
    """An item of ORDER BY; `nulls_first` None leaves it to the dialect."""

    expression: ScalarText
    is_descending: bool
    nulls_first: bool | None


@dataclass(frozen=True, slots=True)
class MeasureItem:
    """`expression AS name`."""

    expression: ScalarText
    name: str
    name_span: Span


@dataclass(frozen=True, slots=True)
class Name:
    """A canonical variable name where it is written."""

    text: str
    span: Span
