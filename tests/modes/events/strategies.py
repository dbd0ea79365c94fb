"""Whether an event may be the next of a candidate: the selection strategies as conditions on one step.

A candidate is a list of selected events, each with its place in the pattern. It is legal if every step in it is: the
event satisfies the condition of the edge to its place, and every event that the step passes over is one that the
strategy lets a run ignore. Nothing here knows of runs that go on at the same time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.modes.events.positions import Edge, Next, Place, after, firsts
from tests.modes.rows.oracle.expressions import View, value

from sparkrex.modes.events.plan import EventQuery, Strategy

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sparkrex.modes.plan import Definition
    from sparkrex.scalar.expression import Expression

# No variable of a query has this name: references to selected events do not see the event under test.
_UNDER_TEST = "(under test)"


@dataclass(frozen=True, slots=True)
class Selected:
    """An event of a candidate: its position in the partition, and its place in the pattern."""

    row: int
    place: Place


Candidate = tuple[Selected, ...]


@dataclass(slots=True)
class Stream:
    """One partition in order, under one query."""

    query: EventQuery
    rows: Sequence[Mapping[str, Any]]
    times: Sequence[Any]
    known: dict[Any, bool] = field(default_factory=dict)

    def legal(self) -> Iterator[Candidate]:
        """Every legal candidate, depth first; those that are not complete too."""
        pending: list[Candidate] = [()]
        while pending:
            candidate = pending.pop()
            state = self.next_of(candidate)
            if candidate:
                yield candidate
            begin = candidate[-1].row + 1 if candidate else 0
            pending.extend(
                (*candidate, Selected(row, edge.place))
                for row in range(begin, len(self.rows))
                for edge in state.edges
                if self.is_step(candidate, state, edge, row)
            )

    def next_of(self, candidate: Candidate) -> Next:
        """What may follow a candidate."""
        pattern = self.query.pattern
        if candidate:
            return after(pattern, candidate[-1].place)
        return Next(tuple(Edge(place, False, ()) for place in firsts(pattern)), False, ())

    def may_end(self, candidate: Candidate) -> bool:
        """Whether what ending tests holds, of a candidate that may end by the pattern."""
        return self.may_leave(candidate, self.next_of(candidate).left)

    def forbids(self, variable: str, match: Candidate, row: int) -> bool:
        """Whether the event is one that must be absent."""
        return self.is_true(absent_condition(self.query, variable), match, row)

    def is_step(self, candidate: Candidate, state: Next, edge: Edge, row: int) -> bool:
        """Whether the candidate, which is at `state`, may go over `edge` with the event at `row`."""
        if not candidate:
            return self.holds(candidate, edge, row)
        between = range(candidate[-1].row + 1, row)
        return (
            self.follows(candidate, row)
            and self.holds(candidate, edge, row)
            and all(self.may_ignore(candidate, state, passed) for passed in between)
        )

    def follows(self, candidate: Candidate, row: int) -> bool:
        """Whether the event comes after the last selected one; with strict ties, later in time."""
        return not self.query.has_strict_ties or not self.is_tied(row, candidate[-1].row)

    def is_tied(self, one: int, other: int) -> bool:
        """Whether two events have the same time. All NaN are one, as they are for a host that orders them."""
        times = self.times[one], self.times[other]
        return times[0] == times[1] or all(time != time for time in times)

    def may_ignore(self, candidate: Candidate, state: Next, row: int) -> bool:
        """Whether a run with these events and at this state stays where it is when it meets the event."""
        match self.query.strategy:
            case Strategy.STRICT | Strategy.PARTITION:
                return False
            case Strategy.ANY:
                return True
            case Strategy.NEXT:
                takes = [edge for edge in state.edges if edge.is_take]
                return not self.follows(candidate, row) or not any(
                    self.holds(candidate, edge, row) for edge in takes or state.edges
                )

    def holds(self, candidate: Candidate, edge: Edge, row: int) -> bool:
        """Whether the event satisfies the edge's condition, given what was selected."""
        key = (candidate, edge, row)
        if key not in self.known:
            variable = edge.place.variable
            is_first = all(selected.place.variable != variable for selected in candidate)
            condition = _condition(self.query.begin if is_first else self.query.take, variable)
            self.known[key] = self.is_true(condition, candidate, row) and self.may_leave(candidate, edge.left)
        return self.known[key]

    def may_leave(self, candidate: Candidate, left: tuple[str, ...]) -> bool:
        """Whether what is said of the whole arrays of these variables holds; of an empty one nothing is said."""
        bound = {selected.place.variable for selected in candidate}
        return all(
            self.is_true(_condition(self.query.leave, variable), candidate, None)
            for variable in left if variable in bound
        )

    def is_true(self, condition: Expression | None, candidate: Candidate, row: int | None) -> bool:
        """Whether a condition holds: NULL does not."""
        if condition is None:
            return True
        rows = [self.rows[selected.row] for selected in candidate]
        labels = [selected.place.variable for selected in candidate]
        if row is not None:
            rows.append(self.rows[row])
            labels.append(_UNDER_TEST)
        view = View(rows, 0, tuple(labels), tuple(labels), 1, self.query.dialect)
        return value(condition, view) is True


def _condition(definitions: tuple[Definition, ...], variable: str) -> Expression | None:
    return next((one.condition for one in definitions if one.variable == variable), None)


def absent_condition(query: EventQuery, variable: str) -> Expression | None:
    """What makes an event one that must be absent."""
    return _condition(query.absent, variable)
