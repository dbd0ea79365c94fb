"""What all plans have: keys, measures, and what is read and tested. A plan is a relation after analysis."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, ClassVar

from sparkrex.scalar.expression import ROW_TIME, ColumnAt, Target, walk
from sparkrex.syntax.units import whole_units

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sparkrex.scalar.expression import Expression
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One relation, whatever its mode.

    `input_columns` are the input's column names in order. Expressions of PARTITION BY and ORDER BY, and aggregate
    arguments, refer to the row itself: `ColumnAt` with the default target. `measures` None means that rows themselves
    are returned. `dialect` is the query's: it decides where dialects differ in what a function returns. `output_names`
    are those of a column list after the relation. `equal_by` is for Spark's workers: columns by which rows were
    brought together beside the keys. A row more than `partition_gap` microseconds after the one before it, by the first
    column of ORDER BY, begins a partition.
    """

    mode: ClassVar[str]
    """The mode that answers such plans (`modes.tables`)."""
    keyword: ClassVar[str] = "MATCH_RECOGNIZE"
    """What the user wrote it with."""
    returns_keys: ClassVar[bool] = True
    """Whether the partition's keys are columns of the result."""
    needs_order: ClassVar[bool] = False
    """Whether order columns are read in the search, and must be comparable there as Spark compares them."""
    needs_whole_partitions: ClassVar[bool] = False
    """Whether all rows of a partition may have to be in memory at once: then workers order them, and get the order
    columns to bound the search by, if they can read them."""
    whole_advice: ClassVar[str] = "bound the pattern: by WITHIN, window(...), or quantifiers"
    """What to say of a search that needs whole partitions, of a stream."""
    gives_up_starts: ClassVar[bool] = False
    """Whether a search that fails at a row can go on at the next one, in batch and on streams."""
    gives_up_events: ClassVar[bool] = False
    """Whether a search that fails at a row of a stream can go on as if the row had not come."""
    has_side_rows: ClassVar[bool] = True
    """Whether rows of the input can be left aside, as late or as failing, and become rows of the result."""
    tests_doubles: ClassVar[bool] = False
    """Whether conditions compute with doubles, whatever the types of columns."""

    input_columns: tuple[str, ...]
    partition_by: tuple[PartitionKey, ...]
    order_by: tuple[OrderKey, ...]
    measures: tuple[Measure, ...] | None
    dialect: str
    source: Source
    span: Span
    output_names: tuple[str, ...] | None = None
    equal_by: tuple[str, ...] = ()
    partition_gap: int | None = None

    def output_columns(self) -> tuple[str, ...]:
        """Names of the result's columns."""
        raise NotImplementedError

    def tested(self) -> tuple[Expression, ...]:
        """What is tested in the search."""
        raise NotImplementedError

    def returned(self) -> tuple[Measure, ...]:
        """What is read from each match; nothing where rows themselves are returned."""
        return self.measures or ()

    def members(self) -> dict[str, Plan]:
        """What it is of that may come and go while a stream goes on, by name."""
        return {}

    def without_members(self) -> Plan:
        """All else: the same for every member."""
        return self

    def title(self) -> str:
        """What the plan is called where it is told from others."""
        return self.source.text

    def row_times(self) -> tuple[str, ...]:
        """What is returned as MATCH_ROWTIME(), by name."""
        found = ((one.name, one.expression) for one in self.returned())
        return tuple(name for name, value in found if isinstance(value, ColumnAt) and value.target == ROW_TIME)

    def passed_columns(self) -> tuple[str, ...]:
        """Input columns that are columns of the result."""
        return ()

    def searched_columns(self) -> set[str]:
        """Columns that the search reads beside its keys."""
        expressions = [*self.tested(), *(measure.expression for measure in self.returned())]
        return columns_of(expressions) | set(self.passed_columns())

    def columns_read(self) -> list[str]:
        """Input columns that the plan reads or passes on, in input order; the first one if it needs none, to count
        rows."""
        keys = [key.expression for key in self.partition_by] + [key.expression for key in self.order_by]
        read = self.searched_columns() | columns_of(keys)
        return [column for column in self.input_columns if column in read] or list(self.input_columns[:1])

    def has_own_aggregate(self, function: str) -> bool:
        """Whether the mode computes an aggregate of that name itself, which hosts may not know."""
        return False

    def with_tie_break(self, names: Sequence[str]) -> Plan:
        """The plan with more columns behind its order keys. They are not columns of the result for that."""
        keys = (OrderKey(ColumnAt(Target(), name), False, True, None) for name in names)
        return replace(self, order_by=(*self.order_by, *keys)) if names else self

    def with_partition_gap(self, microseconds: int) -> Plan:
        """The plan with partitions that end where no row comes for so long."""
        return replace(self, partition_gap=microseconds)

    def gap_lines(self) -> list[str]:
        """What EXPLAIN says of `partition_gap`: nothing without it."""
        if self.partition_gap is None:
            return []
        time = self.order_by[0]
        return [f"a new partition where {time.column or time.expression} is more than "
                f"{whole_units(self.partition_gap)} after the row before (partition_gap)"]

    def ranked(self, rank: str) -> Plan:
        """The plan over rows that Spark has ordered: `rank` is equal where all order columns are.

        For plans that need their order, and columns that NumPy cannot compare as Spark does.
        """
        raise NotImplementedError

    def one_task_advice(self) -> str:
        """What to say of a plan that gives all rows to one task of Spark's."""
        return f"{self.keyword} without PARTITION BY: all rows go through one task; add PARTITION BY if possible"


def columns_of(expressions: Iterable[Expression]) -> set[str]:
    """The columns that expressions read."""
    return {node.column for expression in expressions for node in walk(expression) if isinstance(node, ColumnAt)}
