"""A whole trend query after analysis: what the engine computes.

In all expressions `ColumnAt` with the default target is a column of the one event that they read. A condition between
adjacent events is a comparison of two such expressions, one of the earlier event and one of the later.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, ClassVar

from sparkrex.modes.plan import OrderKey, Plan, columns_of
from sparkrex.scalar.expression import ColumnAt, Target

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

    from sparkrex.modes.plan import Definition
    from sparkrex.modes.trends.pattern import TrendPattern
    from sparkrex.scalar.expression import Expression
    from sparkrex.source import Span
    from sparkrex.syntax.units import WindowUnit

WINDOW_START, WINDOW_END = "window_start", "window_end"
"""The columns of every result, in front of what RETURN names."""


class Semantics(Enum):
    """Which events a trend may pass over."""

    ANY = "skip-till-any-match"
    NEXT = "skip-till-next-match"
    CONTIGUOUS = "contiguous"


class Counts(Enum):
    """How numbers of trends are given: exactly up to 38 digits, as logarithms to base 10, or with all digits."""

    EXACT = "exact"
    LOG = "log"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class TrendWindow:
    """WITHIN and SLIDE: the windows [origin + k * slide, origin + k * slide + size) of every integer k."""

    size: int | float | Decimal
    slide: int | float | Decimal
    origin: int | float | Decimal
    unit: WindowUnit
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Adjacent:
    """What holds where an event of `after` directly follows one of `before`: `left operator right`.

    `left` is over the earlier event, `right` over the later. `operator` is one of < <= > >= = <>. It is a comparison of
    SQL: with a NULL it does not hold.
    """

    before: str
    after: str
    left: Expression
    operator: str
    right: Expression
    span: Span | None = None


class Function(Enum):
    """The aggregates of RETURN."""

    TRENDS = "COUNT(*)"
    COUNT = "COUNT"
    MIN = "MIN"
    MAX = "MAX"
    SUM = "SUM"
    AVG = "AVG"


@dataclass(frozen=True, slots=True)
class TrendAggregate:
    """An aggregate over all trends: over the events bound to `variables`, each as often as trends contain it.

    `argument` is over such an event; None for COUNT(*) and COUNT(E).
    """

    function: Function
    variables: frozenset[str] = frozenset()
    argument: Expression | None = None


@dataclass(frozen=True, slots=True)
class RowTime:
    """MATCH_ROWTIME(): the last time that lies in the window, which is the least unit before its end."""

    def __str__(self) -> str:
        return "MATCH_ROWTIME()"


@dataclass(frozen=True, slots=True)
class Returned:
    """An item of RETURN: the name of a column of GROUP-BY, an aggregate or MATCH_ROWTIME(); and its output column."""

    name: str
    value: str | TrendAggregate | RowTime
    span: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendQuery(Plan):
    """One trend query.

    `partition_by` are the attributes of GROUP-BY, then those of [..] that are not among them, by the columns' names;
    `group_by` are the names of the former, `equivalent` those of all in [..], whose NULLs take part in nothing.
    `order_by` is the time, then the tie-break columns; with strict ties events of one time never follow each other.

    `patterns` has one pattern, or the two sides of `&`. `definitions` say which events a variable may be bound to: of
    its type, and by the conditions on it alone; a variable without one may be bound to any. `named` holds for events of
    types that the pattern names, None if it does so for all. An event of such a type that fits no variable is left out
    before anything else; another one stands between its neighbours under contiguous semantics.

    `is_partial` is for Spark's workers: they give accumulators by partition and window, which are merged by group.
    """

    mode: ClassVar[str] = "trends"
    keyword: ClassVar[str] = "MATCH_TRENDS"
    returns_keys: ClassVar[bool] = False
    needs_order: ClassVar[bool] = True
    gives_up_events: ClassVar[bool] = True

    patterns: tuple[TrendPattern, ...]
    semantics: Semantics
    definitions: tuple[Definition, ...]
    named: Expression | None
    adjacent: tuple[Adjacent, ...]
    minimum_length: int
    group_by: tuple[str, ...]
    equivalent: tuple[str, ...]
    window: TrendWindow | None
    has_strict_ties: bool
    counts: Counts
    items: tuple[Returned, ...]
    type_column: str | None = None
    type_names: tuple[str, ...] = ()
    is_partial: bool = False

    def output_columns(self) -> tuple[str, ...]:
        """The window, then what RETURN names."""
        if self.output_names is not None:
            return self.output_names
        return (WINDOW_START, WINDOW_END, *(item.name for item in self.items))

    def aggregates(self) -> tuple[TrendAggregate, ...]:
        """The aggregates of RETURN, each once."""
        return tuple(dict.fromkeys(item.value for item in self.items if isinstance(item.value, TrendAggregate)))

    def tested(self) -> tuple[Expression, ...]:
        """What events and pairs of events are tested by."""
        found = [definition.condition for definition in self.definitions]
        found += [side for pair in self.adjacent for side in (pair.left, pair.right)]
        return tuple(found if self.named is None else [*found, self.named])

    def searched_columns(self) -> set[str]:
        """Columns that are tested or aggregated."""
        arguments = [found.argument for found in self.aggregates() if found.argument is not None]
        return columns_of([*self.tested(), *arguments])

    def row_times(self) -> tuple[str, ...]:
        """Items that are MATCH_ROWTIME(); partial results have none yet."""
        return () if self.is_partial else tuple(item.name for item in self.items if isinstance(item.value, RowTime))

    def needs_merge(self) -> bool:
        """Whether several partitions are one group."""
        return len(self.partition_by) > len(self.group_by) or self.partition_gap is not None

    def with_tie_break(self, names: Sequence[str]) -> TrendQuery:
        """The time, the columns that the query itself names, then these."""
        known = {key.column for key in self.order_by}
        keys = (OrderKey(ColumnAt(Target(), name), False, True, name) for name in names if name not in known)
        return replace(self, order_by=(*self.order_by, *keys))

    def ranked(self, rank: str) -> TrendQuery:
        """The time stays; the tie-break columns become their rank."""
        time, *tie_break = self.order_by
        names = ", ".join(str(key.column) for key in tie_break)
        return replace(self, order_by=(time, OrderKey(ColumnAt(Target(), rank), False, True, names)))

    def one_task_advice(self) -> str:
        """What to say of a query that gives all events to one task of Spark's."""
        return (
            "trend query without partitions: all events go through one task; add GROUP-BY or an equivalence test "
            "[attribute] if possible"
        )
