"""One case to look into: the ordered events, the pattern's automaton and its conditions, as the user wrote them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.columns.arrange import Arrangement
from sparkrex.columns.ordered import Columns
from sparkrex.columns.wrap import wrap
from sparkrex.evaluate.bitmaps import evaluate_bitmaps
from sparkrex.matching.matches import Matches
from sparkrex.matching.reading import MatchReader, Viewpoints
from sparkrex.modes.events import pattern as ep
from sparkrex.modes.events.nfab.any_order import compile_any_order
from sparkrex.modes.events.nfab.automaton import compile_automaton
from sparkrex.modes.events.nfab.conditions import ALWAYS, Conditions, condition_name, edge_conditions
from sparkrex.modes.events.nfab.windows import Times
from sparkrex.scalar.split import Condition

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    import pyarrow as pa
    from numpy.typing import NDArray

    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.events.nfab.automaton import Automaton
    from sparkrex.modes.events.plan import EventQuery
    from sparkrex.reasons.conditions import Evaluate
    from sparkrex.scalar.expression import Expression
    from sparkrex.settings import Settings

    Tested: TypeAlias = tuple["Run", int | None]
    """A run, and the event that is under test after it; None if a condition is about the run alone."""

UNDER_TEST = "(under test)"
"""The label of the event under test: references to selected events do not see it, whatever its variable."""


@dataclass(frozen=True, slots=True)
class Run:
    """Selected events as positions, and the state behind each."""

    rows: tuple[int, ...] = ()
    states: tuple[int, ...] = ()

    @property
    def state(self) -> int:
        """The state that it is in."""
        return self.states[-1] if self.states else 0


@dataclass(frozen=True)
class Case:
    """`rows` has the events in order, those too that no match can use; `offsets` cuts them into partitions."""

    query: EventQuery
    rows: pa.Table
    offsets: NDArray[np.int64]
    evaluator: Evaluator
    settings: Settings

    @cached_property
    def automaton(self) -> Automaton:
        """The automaton of the pattern."""
        compiled = compile_any_order if ep.has_any_order(self.query.pattern) else compile_automaton
        return compiled(self.query.pattern, self.query.source)

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The variables in order of appearance, negated ones too."""
        return tuple(event.variable for event in ep.events(self.query.pattern))

    @cached_property
    def variable_of(self) -> tuple[int, ...]:
        """By state the number of its variable; of state 0, which has none, -1."""
        numbers = {name: number for number, name in enumerate(self.variables)}
        return (-1, *(numbers[position.variable] for position in self.automaton.positions))

    @cached_property
    def absences(self) -> tuple[str, ...]:
        """The variables of negated components."""
        return tuple(event.variable for event in ep.absences(self.query.pattern))

    @cached_property
    def needs(self) -> tuple[int, ...]:
        """By state the least number of events that a run there still needs."""
        edges, accepts = self.automaton.edges, self.automaton.accepts
        before: list[list[int]] = [[] for _ in edges]
        for state, of_state in enumerate(edges):
            for edge in of_state:
                before[edge.target].append(state)
        needs = {state: 0 for state, ends in enumerate(accepts) if ends and state}
        pending = list(needs)
        for state in pending:  # which grows
            for earlier in before[state]:
                if earlier not in needs:
                    needs[earlier] = needs[state] + 1
                    pending.append(earlier)
        return tuple(needs[state] for state in range(len(edges)))

    @cached_property
    def conditions(self) -> Conditions:
        """The conditions of edges, ends and negated events."""
        return edge_conditions(self.query, self.automaton, self.absences)

    @cached_property
    def _split(self) -> tuple[Condition, ...]:
        return self.conditions.split()

    @cached_property
    def contexts(self) -> dict[int, Expression]:
        """By number of a condition, what of it reads the run."""
        return {number: one.context for number, one in enumerate(self._split) if one.context is not None}

    @cached_property
    def _row_holds(self) -> list[NDArray[np.int64]]:
        """By number of a condition, the events for which what they alone decide of it is TRUE."""
        found = self._bitmaps(self._split)
        return [found[condition_name(number)] for number in range(len(self._split))]

    @cached_property
    def of_type(self) -> dict[str, NDArray[np.int64]]:
        """By variable the events of its type."""
        types = {one.variable: one.condition for one in self.query.types}
        return self._bitmaps([Condition(name, types.get(name), None) for name in self.variables])

    def _bitmaps(self, conditions: Sequence[Condition]) -> dict[str, NDArray[np.int64]]:
        columns = Columns(self.rows, self.offsets)
        numbers, bitmaps = evaluate_bitmaps(
            conditions, columns, self.evaluator, self.query.source, self.settings.thread_count()
        )
        every = np.arange(self.rows.num_rows)
        return {
            one.variable: np.flatnonzero(bitmaps[numbers[one.variable]]) if one.variable in numbers else every
            for one in conditions
        }

    def candidates(self, number: int, low: int, high: int) -> NDArray[np.int64]:
        """The events from `low` to `high` that alone do not fail a condition."""
        return np.arange(low, high + 1) if number == ALWAYS else between(self._row_holds[number], low, high)

    @cached_property
    def times(self) -> Times:
        """The times of the events."""
        return Times(self.query, Columns(self.rows, self.offsets), self.settings.thread_count())

    @cached_property
    def window_first(self) -> NDArray[np.int64]:
        """By event the first one that is not further away than the window."""
        return self.times.window_first()

    @cached_property
    def window_last(self) -> NDArray[np.int64]:
        """By event the last one that is not further away than the window."""
        return self.times.window_last()

    @cached_property
    def _ties(self) -> NDArray[np.int64]:
        """By event the number of its time in the stream; without strict ties each has its own."""
        return self.times.ties() if self.query.has_strict_ties else np.arange(self.rows.num_rows)

    def behind(self, row: int) -> int:
        """The first event that comes after one in time; without strict ties, the next."""
        return int(np.searchsorted(self._ties, self._ties[row], side="right"))

    def ahead(self, row: int) -> int:
        """The last event that comes before one in time; without strict ties, the one before."""
        return int(np.searchsorted(self._ties, self._ties[row], side="left")) - 1

    def end_of(self, row: int) -> int:
        """The position behind the partition of an event."""
        return int(self.offsets[np.searchsorted(self.offsets, row, side="right")])

    def begin_of(self, row: int) -> int:
        """The position of the first event of the partition."""
        return int(self.offsets[np.searchsorted(self.offsets, row, side="right") - 1])

    def evaluate_at(self, tested: Sequence[Tested]) -> Evaluate:
        """What reads runs, and the events under test after them, as matches seen from their last events."""
        lengths = np.array([len(run.rows) + (row is not None) for run, row in tested], np.int64)
        ends = np.cumsum(lengths)
        labels: list[int] = []
        rows: list[int] = []
        for run, row in tested:
            rows += run.rows
            labels += [self.variable_of[state] for state in run.states]
            if row is not None:
                rows.append(row)
                labels.append(len(self.variables))
        table = self.rows.take(wrap(np.array(rows, np.int64)))
        mapped = Matches(
            ends - lengths, ends, np.ones(len(tested), np.int64), np.array(labels, np.int16) * np.int16(2),
            np.concatenate(([0], ends)),
        )
        whole = Arrangement(None, np.array([0, len(rows)]), len(rows))
        reader = MatchReader(
            table, whole, mapped, (*self.variables, UNDER_TEST), self.query.dialect, self.evaluator,
            self.settings.thread_count(),
        )
        views = Viewpoints(np.arange(len(tested)), ends - 1, at_end=True, is_each=True)
        return lambda expressions: reader.evaluate(expressions, views, [one.span for one in expressions])


def between(rows: NDArray[np.int64], low: int, high: int) -> NDArray[np.int64]:
    """Those of ascending positions that are from `low` to `high`."""
    begin, end = np.searchsorted(rows, (low, high + 1))
    return rows[begin : max(begin, end)]
