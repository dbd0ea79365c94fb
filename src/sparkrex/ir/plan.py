"""A whole MATCH_RECOGNIZE relation after analysis: what the planner plans and the oracle evaluates."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sparkrex.ir.row_pattern import RowPattern
    from sparkrex.ir.scalar import Expression
    from sparkrex.ir.segment_pattern import SegmentPattern, Window
    from sparkrex.source import Source, Span


class RowsPerMatch(Enum):
    """Which rows a match gives."""

    ONE = "ONE ROW PER MATCH"
    ALL_SHOW_EMPTY = "ALL ROWS PER MATCH SHOW EMPTY MATCHES"
    ALL_OMIT_EMPTY = "ALL ROWS PER MATCH OMIT EMPTY MATCHES"
    ALL_WITH_UNMATCHED = "ALL ROWS PER MATCH WITH UNMATCHED ROWS"


class SkipTo(Enum):
    """Where the search goes on after a non-empty match. After an empty one it always goes on at the next row."""

    PAST_LAST_ROW = "PAST LAST ROW"
    NEXT_ROW = "TO NEXT ROW"
    FIRST = "TO FIRST"
    LAST = "TO LAST"


@dataclass(frozen=True, slots=True)
class Skip:
    """AFTER MATCH SKIP; `variables` for FIRST and LAST only: the variable, or the parts of the union variable."""

    to: SkipTo
    variables: frozenset[str] = frozenset()
    name: str | None = None
    span: Span | None = None

    def __str__(self) -> str:
        return f"AFTER MATCH SKIP {self.to.value}" + (f" {self.name}" if self.name else "")


@dataclass(frozen=True, slots=True)
class PartitionKey:
    """An expression of PARTITION BY over the input row, and the name of its output column."""

    name: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class OrderKey:
    """An expression of ORDER BY over the input row; `column` is set when it is simply that column."""

    expression: Expression
    is_descending: bool
    nulls_first: bool
    column: str | None


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure and the name of its output column."""

    name: str
    expression: Expression
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Definition:
    """The condition of a variable. A variable without one maps any row."""

    variable: str
    condition: Expression


@dataclass(frozen=True, slots=True)
class Subset:
    """A union variable and the variables it stands for."""

    name: str
    variables: frozenset[str]


@dataclass(frozen=True, slots=True)
class MatchRecognize:
    """One MATCH_RECOGNIZE relation.

    `input_columns` are the input's column names in order. Expressions of PARTITION BY and ORDER BY, and aggregate
    arguments, refer to the row itself: `ColumnAt` with the default target. WITHIN is already part of every definition.
    `dialect` is the query's: it decides where dialects differ in what a function returns.
    """

    input_columns: tuple[str, ...]
    partition_by: tuple[PartitionKey, ...]
    order_by: tuple[OrderKey, ...]
    measures: tuple[Measure, ...]
    rows_per_match: RowsPerMatch
    skip: Skip
    pattern: RowPattern
    subsets: tuple[Subset, ...]
    definitions: tuple[Definition, ...]
    dialect: str
    source: Source
    span: Span
    output_names: tuple[str, ...] | None = None

    def definition(self, variable: str) -> Expression | None:
        """The condition of a variable, None if any row will do."""
        for definition in self.definitions:
            if definition.variable == variable:
                return definition.condition
        return None

    def passed_columns(self) -> tuple[str, ...]:
        """Input columns in the output: none under ONE ROW; else order columns first, then the rest.

        A column that PARTITION BY already gives is not repeated.
        """
        if self.rows_per_match is RowsPerMatch.ONE:
            return ()
        return self.order_columns() + self.rest_columns()

    def order_columns(self) -> tuple[str, ...]:
        """Columns that ORDER BY names, once each, without those of PARTITION BY."""
        if self.rows_per_match is RowsPerMatch.ONE:
            return ()
        keys = {key.name for key in self.partition_by}
        return tuple(dict.fromkeys(key.column for key in self.order_by if key.column and key.column not in keys))

    def rest_columns(self) -> tuple[str, ...]:
        """Input columns that neither PARTITION BY nor ORDER BY names; none under ONE ROW."""
        if self.rows_per_match is RowsPerMatch.ONE:
            return ()
        named = {key.name for key in self.partition_by} | set(self.order_columns())
        return tuple(column for column in self.input_columns if column not in named)

    def output_columns(self) -> tuple[str, ...]:
        """Names of the result's columns: partition, order, measures, the rest."""
        if self.output_names is not None:
            return self.output_names
        return (
            tuple(key.name for key in self.partition_by)
            + self.order_columns()
            + tuple(measure.name for measure in self.measures)
            + self.rest_columns()
        )


@dataclass(frozen=True, slots=True)
class SegmentDefinition:
    """A variable of a segment pattern.

    `windows` are the conjuncts that bound the segment's length; `condition` is the rest, None if there is none. In it
    `ColumnAt` has the target's variables set (exactly one, FINAL, FIRST or LAST with an offset), `Aggregate` likewise:
    this variable's own name for the segment under test, another's for a segment matched elsewhere. A point variable's
    condition may also read rows at a fixed distance (`shift`).

    An aggregate of pairs, `corr(A.x, B.x)`, has both variables in `variables`, and in its arguments the targets say
    whose rows each reads. A division by zero is NULL: its divisor is `nullif(divisor, 0)`. A window that is no conjunct
    of its own has become a comparison of `count(*)`, or of `subtract(last, first)`, with numbers in the column's own
    unit (see `Window`).
    """

    variable: str
    is_segment: bool
    windows: tuple[Window, ...]
    condition: Expression | None
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class SegmentSearch:
    """One MATCH_RECOGNIZE relation in segments.

    `skip` None means ALL MATCHES: one row per distinct (start, end, segments of the variables in `measured`). Else the
    earliest start, longest end, then lexicographically smallest segments of `measured`, and on from there. `measured`
    are the variables that MEASURES refers to, in order of appearance in the pattern. START_INDEX() and END_INDEX() are
    calls `start_index` and `end_index` without operands: positions of the match's rows in their partition, from 0.

    `is_plain` is set for a query of the standard under ALL MATCHES: no segment variables, no And, no Not. Then
    references are the standard's, to all rows mapped to one of `variables` (None: to any) in whatever iteration. In
    conditions they are RUNNING, but for those to the row itself, or to a single row mapped earlier in every match,
    which are FINAL. Only such a query has `subsets`, and `measured` then names the union variables that MEASURES does.

    `rows_after` rows follow the pattern's segment, whatever they are, and belong to the match: they must exist, and the
    match ends on the last of them (START_INDEX, END_INDEX and references without a variable see them).
    """

    input_columns: tuple[str, ...]
    partition_by: tuple[PartitionKey, ...]
    order_by: tuple[OrderKey, ...]
    measures: tuple[Measure, ...]
    skip: Skip | None
    pattern: SegmentPattern
    definitions: tuple[SegmentDefinition, ...]
    measured: tuple[str, ...]
    dialect: str
    source: Source
    span: Span
    is_plain: bool = False
    subsets: tuple[Subset, ...] = ()
    rows_after: int = 0
    output_names: tuple[str, ...] | None = None

    def definition(self, variable: str) -> SegmentDefinition:
        """The definition of a variable of the pattern; every one has one, if only an empty one."""
        return next(definition for definition in self.definitions if definition.variable == variable)

    def output_columns(self) -> tuple[str, ...]:
        """Names of the result's columns: partition, measures."""
        if self.output_names is not None:
            return self.output_names
        return tuple(key.name for key in self.partition_by) + tuple(measure.name for measure in self.measures)
