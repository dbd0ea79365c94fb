"""The syntax tree of one MATCH_RECOGNIZE clause: our pattern, sqlglot's expressions, positions for all of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:

    from sparkrex.languages.match_recognize.row_pattern import RowPattern
    from sparkrex.modes.plan import RowsPerMatch, SkipTo
    from sparkrex.source import Span
    from sparkrex.syntax.items import MeasureItem, Name, OrderItem, PartitionItem, ScalarText


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

    `all_matches` is where ALL MATCHES stands, `timeouts` where SHOW TIMEOUT MATCHES does; None without them.
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
    timeouts: Span | None = None
