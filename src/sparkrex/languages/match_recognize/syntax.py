"""The syntax tree of one MATCH_RECOGNIZE clause: our pattern, sqlglot's expressions, positions for all of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlglot import exp

    from sparkrex.ir.plan import RowsPerMatch, SkipTo
    from sparkrex.ir.row_pattern import RowPattern
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


@dataclass(frozen=True, slots=True)
class DefinitionItem:
    """`[SEGMENT] variable AS condition`."""

    variable: Name
    condition: ScalarText
    is_segment: bool = False


@dataclass(frozen=True, slots=True)
class SubsetItem:
    """`union variable = (members)`."""

    name: Name
    members: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class SkipItem:
    """AFTER MATCH SKIP with its target variable, if any."""

    to: SkipTo
    variable: Name | None
    span: Span


@dataclass(frozen=True, slots=True)
class Clause:
    """Everything between MATCH_RECOGNIZE's parentheses.

    `all_matches` is where ALL MATCHES stands, None without it.
    """

    partition_by: tuple[PartitionItem, ...]
    order_by: tuple[OrderItem, ...]
    measures: tuple[MeasureItem, ...]
    rows_per_match: RowsPerMatch
    rows_span: Span | None
    skip: SkipItem | None
    pattern: RowPattern
    pattern_span: Span
    within: ScalarText | None
    subsets: tuple[SubsetItem, ...]
    definitions: tuple[DefinitionItem, ...]
    span: Span
    all_matches: Span | None = None
