"""A whole event query after analysis: what the nfab matcher compiles and the oracle evaluates.

Expressions. In a condition, `ColumnAt` with the default target is the event under test; every other target has exactly
one variable, or all positive ones, and speaks of the events selected *before* the event under test: FIRST 0 is `v[1]`,
LAST 0 is `v[i-1]`, `v[v.LEN]`, or a single `v` (all RUNNING, shift 0). An `Aggregate` (RUNNING) is over the events
selected so far, without the one under test: `agg(v[..i-1].x)` in a condition of v itself, `agg(v[].x)` in a later one.
In `measures` targets and aggregates are FINAL and see the whole match.

Which condition an event must meet is settled by the last identifier of each conjunct (paper, 3.2 step 2):
`begin` where the event is the variable's first (`v`, `v[1]`), `take` where it is a later one (`v[i]`), `leave` for what
is said of a whole array and of nothing later (`v[v.LEN]`, `agg(v[])`): tested when the match goes on behind v's
outermost Kleene, or ends. A conjunct whose last identifier is never bound, because its branch is not taken, is not
tested.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decimal import Decimal

    from sparkrex.modes.events.pattern import EventPattern
    from sparkrex.modes.plan import Definition, Measure, OrderKey, PartitionKey
    from sparkrex.scalar.expression import Expression
    from sparkrex.source import Source, Span


MATCH_ID, VARIABLE = "match_id", "variable"
"""The columns that RETURN of the events themselves adds to the input's."""


class Strategy(Enum):
    """Which events a run may pass over."""

    STRICT = "strict_contiguity"
    PARTITION = "partition_contiguity"
    NEXT = "skip_till_next_match"
    ANY = "skip_till_any_match"


class WindowUnit(Enum):
    """What the size of a window counts: time in microseconds, the time column's own numbers, or events."""

    TIME = "microseconds"
    NUMBER = "of the time column"
    EVENTS = "events"


@dataclass(frozen=True, slots=True)
class EventWindow:
    """WITHIN: last - first <= size. Events are counted inside the partition: position of last - position of first."""

    size: int | float | Decimal
    unit: WindowUnit
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class EventQuery:
    """One event query.

    `partition_by` are the attributes of equivalence tests; events in which one is NULL take part in no match. Under
    strict contiguity it is empty: the tests are in the conditions then. `order_by` is the time column, then the
    tie-break columns. `begin`, `take`, `leave` and `absent` have at most one condition a variable; those of events
    include the test of the event's type. `relevant` holds for events of a type that the query names; None if no event
    may be dropped (contiguity; windows that count events). `measures` None means RETURN of the events themselves: one
    row per event. `is_non_overlapping` and `has_strict_ties` are the output mode and ties="strict". `output_names` are
    those of a column list behind the relation. `equal_by` is for Spark's workers: columns by which events were brought
    together because equalities keep others apart (`analyze.equalities`). `type_names` are the types that are told
    by their name in `type_column`.
    """

    input_columns: tuple[str, ...]
    partition_by: tuple[PartitionKey, ...]
    order_by: tuple[OrderKey, ...]
    pattern: EventPattern
    strategy: Strategy
    begin: tuple[Definition, ...]
    take: tuple[Definition, ...]
    leave: tuple[Definition, ...]
    absent: tuple[Definition, ...]
    relevant: Expression | None
    window: EventWindow | None
    measures: tuple[Measure, ...] | None
    is_non_overlapping: bool
    has_strict_ties: bool
    dialect: str
    source: Source
    span: Span
    output_names: tuple[str, ...] | None = None
    equal_by: tuple[str, ...] = ()
    type_column: str | None = None
    type_names: tuple[str, ...] = ()

    def output_columns(self) -> tuple[str, ...]:
        """Names of the result's columns: what RETURN names, or match, variable and the event's own columns."""
        if self.output_names is not None:
            return self.output_names
        if self.measures is not None:
            return tuple(measure.name for measure in self.measures)
        return (MATCH_ID, VARIABLE, *self.input_columns)

    def conditions(self) -> tuple[Definition, ...]:
        """Everything that is tested of events, in whatever role."""
        return self.begin + self.take + self.leave + self.absent
