"""Where negated components are asked for: on edges and at the ends of matches, of all histories that a run shares.

Between two events of a match, a negated component's *gap*, the rows are known on the edge that selects the second: the
edge that crosses the gap. There it is asked for if its condition is settled, which means that no later event changes
what it reads (`settled`). A component whose condition reads what comes later is *postponed*: to the edge behind which
it is settled, or to the end of the match. Until then runs remember their gaps (`kernels.absence.gap_of`), and
those that differ by what is in them are kept apart. Before and behind all events it is asked for where a match ends.

In AND it is negated between the first and the last event of a match. That is asked for where the match ends, too; but
what lies between two events of a run lies there, whatever follows, so a run is given up as soon as it is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sparkrex.modes.events import pattern as ep
from sparkrex.modes.events.nfab.settled import settled_states
from sparkrex.scalar.expression import Call
from sparkrex.scalar.split import conjuncts, is_row_condition

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sparkrex.modes.events.nfab.automaton import Automaton
    from sparkrex.modes.events.plan import EventQuery
    from sparkrex.scalar.expression import Expression


@dataclass(frozen=True, slots=True)
class AbsencePlan:
    """Numbers of negated components, in order of appearance.

    `before` and `behind` are the variables on both sides of each. By state and edge, `crossed` are those whose gap an
    edge crosses, and `asked` those of them that are asked for there. `postponed` are those that are not, `asked_late`
    by state and edge where those are asked for; `waiting` by state those that runs there have crossed and must yet be
    asked for, which a match that ends there is. `at_end` are those that may stand before or behind all events, or in
    AND, where `is_around`.
    `may_be_partitioned` tells whether all of them are equal to events of the match, without which equalities make no
    partition of the stream (`analyze.equalities`).
    """

    before: tuple[frozenset[str], ...]
    behind: tuple[frozenset[str], ...]
    crossed: tuple[tuple[tuple[int, ...], ...], ...]
    asked: tuple[tuple[tuple[int, ...], ...], ...]
    postponed: tuple[int, ...]
    asked_late: tuple[tuple[tuple[int, ...], ...], ...]
    waiting: tuple[tuple[int, ...], ...]
    at_end: tuple[int, ...]
    may_be_partitioned: bool
    is_around: bool = False

    def gaps(self, state: int) -> tuple[int, ...]:
        """Those whose gap some edge of a state crosses: runs that wait there differ by their last event."""
        return _distinct(self.crossed[state])

    def read_in(self, state: int, *, accepts: bool) -> tuple[int, ...]:
        """Those whose conditions are tested on an edge of a state, or where a match ends in it."""
        ends = self.at_end + self.waiting[state] if accepts else ()
        return _distinct([*self.asked[state], *self.asked_late[state], ends])

    def edge_tables(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """By edge what is asked for, for kernels: offsets, and numbers (see `_late`)."""
        pairs = zip(self.asked, self.asked_late, strict=True)
        return offsets_and_items([
            (*asked, *self._late(late)) for of_state in pairs for asked, late in zip(*of_state, strict=True)
        ])

    def end_tables(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """By state what is asked for, of those between two events, where a match ends."""
        return offsets_and_items([self._late(waiting) for waiting in self.waiting])

    def gap_tables(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """By state what runs differ by: gaps in front of them, and gaps that they remember."""
        return offsets_and_items([
            (*self.gaps(state), *self._late(waiting)) for state, waiting in enumerate(self.waiting)
        ])

    def _late(self, numbers: Sequence[int]) -> tuple[int, ...]:
        """Postponed components as negative numbers, `~place` among those that are postponed."""
        return tuple(~self.postponed.index(k) for k in numbers)


def plan_absences(query: EventQuery, automaton: Automaton) -> AbsencePlan:
    """Where to ask for the negated components of a query."""
    if isinstance(query.pattern, ep.AllOf):
        return _plan_around(query, automaton)
    around = ep.around_absences(query.pattern)
    before, behind = (
        tuple(frozenset(event.variable for item in sides[side] for event in ep.events(item)) for sides in around)
        for side in (0, 1)
    )
    conditions = {definition.variable: definition.condition for definition in query.absent}
    names = [event.variable for event in ep.absences(query.pattern)]
    settled = [
        settled_states(conditions.get(name), variables, automaton)
        for name, variables in zip(names, before, strict=True)
    ]
    variables_of = [None, *(position.variable for position in automaton.positions)]
    edges = [[(state, edge.target) for edge in of_state] for state, of_state in enumerate(automaton.edges)]

    def crosses(state: int, target: int, k: int) -> bool:
        return variables_of[state] in before[k] and variables_of[target] in behind[k]

    def waits(state: int, k: int) -> bool:
        return variables_of[state] in behind[k] and state not in settled[k]

    crossed = tuple(
        tuple(tuple(k for k in range(len(names)) if crosses(*edge, k)) for edge in of_state) for of_state in edges
    )
    asked = tuple(
        tuple(tuple(k for k in numbers if target in settled[k]) for (_, target), numbers in zip(*pair, strict=True))
        for pair in zip(edges, crossed, strict=True)
    )
    # Of alternatives one may cross the gap where the condition is settled, the other before.
    postponed = tuple(k for k in range(len(names)) if any(waits(state, k) for state in range(len(edges))))
    return AbsencePlan(
        before, behind, crossed, asked, postponed,
        tuple(
            tuple(
                tuple(k for k in postponed if waits(state, k) and target in settled[k]) for state, target in of_state
            )
            for of_state in edges
        ),
        tuple(tuple(k for k in postponed if waits(state, k)) for state in range(len(edges))),
        tuple(k for k, sides in enumerate(around) if any(all(map(ep.allows_empty, side)) for side in sides)),
        all(_has_equality(conditions.get(name)) for name in names),
    )


def _plan_around(query: EventQuery, automaton: Automaton) -> AbsencePlan:
    """Where to ask for those of AND."""
    conditions = {definition.variable: definition.condition for definition in query.absent}
    names = [event.variable for event in ep.absences(query.pattern)]
    everything = frozenset(ep.positive_variables(query.pattern))
    settled = [settled_states(conditions.get(name), everything, automaton) for name in names]
    numbers = tuple(range(len(names)))
    asked = tuple(
        tuple(tuple(k for k in numbers if state and edge.target in settled[k]) for edge in edges)
        for state, edges in enumerate(automaton.edges)
    )
    nothing = tuple(tuple(() for _ in edges) for edges in automaton.edges)
    nowhere = (frozenset[str](),) * len(names)
    return AbsencePlan(
        nowhere, nowhere, asked, asked, (), nothing, ((),) * len(automaton.edges), numbers,
        all(_has_equality(conditions.get(name)) for name in names), is_around=True,
    )


def _has_equality(condition: Expression | None) -> bool:
    """Whether an equality with an event of the match is among the conjuncts."""
    return condition is not None and any(
        isinstance(part, Call) and part.function == "eq" and not is_row_condition(part) for part in conjuncts(condition)
    )


def _distinct(lists: Sequence[Sequence[int]]) -> tuple[int, ...]:
    return tuple(sorted({number for numbers in lists for number in numbers}))


def offsets_and_items(lists: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Several lists of numbers as arrays."""
    offsets: Any = np.concatenate(([0], np.cumsum([len(items) for items in lists])))
    return offsets.astype(np.int64), np.array([item for items in lists for item in items], np.int64)
