"""A whole event query after analysis: what the nfab matcher compiles and the oracle evaluates.

Expressions. In a condition, `ColumnAt` with the default target is the event under test; every other target has exactly
one variable, or all positive ones, and refers to the events selected *before* the event under test: FIRST 0 is `v[1]`,
LAST 0 is `v[i-1]`, `v[v.LEN]`, or a single `v` (all RUNNING, shift 0). An `Aggregate` (RUNNING) is over the events
selected so far, without the one under test: `agg(v[..i-1].x)` in a condition of v itself, `agg(v[].x)` in a later one.
In `measures` targets and aggregates are FINAL and see the whole match.

Which condition an event must meet is settled by the last identifier of each conjunct (paper, 3.2 step 2):
`begin` where the event is the variable's first (`v`, `v[1]`), `take` where it is a later one (`v[i]`), `leave` for what
is a condition on a whole array and nothing later (`v[v.LEN]`, `agg(v[])`): tested when the match continues after v's
outermost Kleene, or ends. A conjunct whose last identifier is never bound, because its branch is not taken, is not
tested.

In a pattern with AND the text does not tell which of several identifiers is settled last. A conjunct that must wait for
several (`open_conjuncts`) is in none of these conditions: it is tested at the event that settles the last of them,
which the matcher finds out edge by edge (`nfab.any_order`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, ClassVar

from sparkrex.modes.events.language.syntax import Index
from sparkrex.modes.events.pattern import absences, has_any_order
from sparkrex.modes.plan import OrderKey, Plan, columns_of
from sparkrex.scalar.expression import ColumnAt, Target

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from decimal import Decimal

    from sparkrex.modes.events.pattern import EventPattern
    from sparkrex.modes.plan import Definition
    from sparkrex.scalar.expression import Expression
    from sparkrex.source import Span
    from sparkrex.syntax.units import WindowUnit


MATCH_ID, VARIABLE = "match_id", "variable"
"""The columns that RETURN of the events themselves adds to the input's."""


class Strategy(Enum):
    """Which events a run may pass over."""

    STRICT = "strict_contiguity"
    PARTITION = "partition_contiguity"
    NEXT = "skip_till_next_match"
    ANY = "skip_till_any_match"


@dataclass(frozen=True, slots=True)
class EventWindow:
    """WITHIN: last - first <= size. Events are counted inside the partition: position of last - position of first."""

    size: int | float | Decimal
    unit: WindowUnit
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Conjunct:
    """A conjunct of WHERE, whatever the event it is tested at.

    In `expression` every reference has the variable that it names: `v` and `v[i]` are its running last event, `v[i-1]`
    the one before that (offset 1), `v[1]` its first, `v[v.LEN]` its final last. `agg(v[])` is FINAL, `agg(v[..i-1])`
    RUNNING. `references` are the identifiers, in order of appearance; `last` is the variable of the last of them that
    a match binds, by the pattern's text: without an event of it the conjunct is not tested. It is None if none is
    bound by the match.
    """

    expression: Expression
    references: tuple[tuple[str, Index], ...]
    last: str | None

    @property
    def variables(self) -> frozenset[str]:
        """The variables that it mentions."""
        return frozenset(name for name, _ in self.references)

    @property
    def of_whole(self) -> frozenset[str]:
        """Those of which it reads the last event or all of them, settled when no more of them can come."""
        return frozenset(name for name, index in self.references if index in (Index.LAST, Index.ALL))

    @property
    def is_of_later(self) -> bool:
        """Whether it is tested at every later event of a variable, `v[i]`."""
        return any(index is Index.CURRENT for _, index in self.references)


@dataclass(frozen=True, slots=True, kw_only=True)
class EventQuery(Plan):
    """One event query.

    `partition_by` are the attributes of equivalence tests; events in which one is NULL take part in no match. Under
    strict contiguity it is empty: the tests are in the conditions then. `order_by` is the time column, then the
    tie-break columns. `begin`, `take`, `leave` and `absent` have at most one condition a variable; those of events
    include the test of the event's type. `relevant` holds for events of a type that the query names; None if no event
    may be dropped (contiguity; windows that count events). `measures` None means RETURN of the events themselves: one
    row per event. `is_non_overlapping` and `has_strict_ties` are the output mode and ties="strict". `equal_by` is there
    where equalities keep events apart (`analyze.equalities`). `type_names` are the types that are told by their name in
    `type_column`.

    `types` and `conjuncts` say once more what is in the conditions, apart: of every variable, negated ones too, the
    test of its type, if there is one, and all conjuncts of WHERE but equivalence tests. The plan of Spark's workers has
    of them the open conjuncts alone, which only a pattern with AND has.
    """

    mode: ClassVar[str] = "events"
    keyword: ClassVar[str] = "MATCH_EVENTS"
    returns_keys: ClassVar[bool] = False
    needs_order: ClassVar[bool] = True
    gives_up_events: ClassVar[bool] = True

    pattern: EventPattern
    strategy: Strategy
    begin: tuple[Definition, ...]
    take: tuple[Definition, ...]
    leave: tuple[Definition, ...]
    absent: tuple[Definition, ...]
    relevant: Expression | None
    window: EventWindow | None
    is_non_overlapping: bool
    has_strict_ties: bool
    type_column: str | None = None
    type_names: tuple[str, ...] = ()
    types: tuple[Definition, ...] = ()
    conjuncts: tuple[Conjunct, ...] = ()

    def output_columns(self) -> tuple[str, ...]:
        """Names of the result's columns: what RETURN names, or match, variable and the event's own columns."""
        if self.output_names is not None:
            return self.output_names
        if self.measures is not None:
            return tuple(measure.name for measure in self.measures)
        return (MATCH_ID, VARIABLE, *self.input_columns)

    def conditions(self) -> tuple[Definition, ...]:
        """What is tested of events by variable, in whatever role."""
        return self.begin + self.take + self.leave + self.absent

    def open_conjuncts(self) -> tuple[Conjunct, ...]:
        """Those that are in no condition of a variable."""
        if not has_any_order(self.pattern):
            return ()
        negated = {event.variable for event in absences(self.pattern)}
        return tuple(conjunct for conjunct in self.conjuncts if must_wait(conjunct, negated))

    def tested(self) -> tuple[Expression, ...]:
        """The conditions alone."""
        return (
            *(definition.condition for definition in self.conditions()),
            *(conjunct.expression for conjunct in self.open_conjuncts()),
        )

    def passed_columns(self) -> tuple[str, ...]:
        """All of them, where the events themselves are returned."""
        return self.input_columns if self.measures is None else ()

    def searched_columns(self) -> set[str]:
        """Columns that conditions and RETURN read, and the test of what can take part."""
        # Not super(): a class with slots is made twice, and the name in it means the first.
        return Plan.searched_columns(self) | columns_of(() if self.relevant is None else (self.relevant,))

    def with_tie_break(self, names: Sequence[str]) -> EventQuery:
        """The time, the columns that the query itself names, then these."""
        known = {key.column for key in self.order_by}
        keys = (OrderKey(ColumnAt(Target(), name), False, True, name) for name in names if name not in known)
        return replace(self, order_by=(*self.order_by, *keys))

    def ranked(self, rank: str) -> EventQuery:
        """The time stays; the tie-break columns become their rank."""
        time, *tie_break = self.order_by
        names = ", ".join(str(key.column) for key in tie_break)
        return replace(self, order_by=(time, OrderKey(ColumnAt(Target(), rank), False, True, names)))

    def one_task_advice(self) -> str:
        """What to say of a query that gives all events to one task of Spark's."""
        advice = "add an equivalence test [attribute]"
        if self.strategy is Strategy.STRICT:
            advice = "use partition_contiguity with an equivalence test [attribute]"
        return f"event query without partitions: all events go through one task; {advice} if possible"


def must_wait(conjunct: Conjunct, negated: Collection[str]) -> bool:
    """Whether several identifiers, or one of a whole array, must be settled before a conjunct can be tested."""
    names = conjunct.variables
    return not conjunct.is_of_later and names.isdisjoint(negated) and (len(names) > 1 or bool(conjunct.of_whole))
