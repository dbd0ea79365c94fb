"""A whole MATCH_RECOGNIZE relation after analysis: what the planner plans and the oracle evaluates."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sparkrex.scalar.expression import Expression
    from sparkrex.source import Span


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
