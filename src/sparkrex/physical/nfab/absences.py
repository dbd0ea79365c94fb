"""Where negated components are asked for: on edges, at the ends of matches, or of every match that is listed.

Between two events of a match a negated component is asked for on the edge that selects the second, since the rows
between them are known there. That needs what its condition reads of the match to be known, too: variables that stand
before it, the event selected, the match's first event. A condition that reads more is asked of complete matches, one by
one. Before and behind all events it is asked for where a match ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sparkrex.ir import event_pattern as ep
from sparkrex.ir.scalar import Aggregate, ColumnAt, End, Target, walk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sparkrex.ir.event_pattern import EventPattern
    from sparkrex.ir.event_query import EventQuery
    from sparkrex.ir.scalar import Expression
    from sparkrex.physical.nfab.automaton import Automaton


@dataclass(frozen=True, slots=True)
class AbsencePlan:
    """Numbers of negated components, in order of appearance.

    `before` are the variables in front of each. `crossed` are those that an edge asks for, by state and edge; `at_end`
    those that the end of a match asks for; `listed` those that are left to complete matches.
    """

    before: tuple[frozenset[str], ...]
    crossed: tuple[tuple[tuple[int, ...], ...], ...]
    at_end: tuple[int, ...]
    listed: tuple[int, ...]

    def gaps(self, state: int) -> tuple[int, ...]:
        """Those that some edge of a state asks for: runs that wait there differ by their last event."""
        return tuple(sorted({k for of_edge in self.crossed[state] for k in of_edge}))

    def edge_tables(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """`crossed` for kernels: offsets by edge, and the numbers."""
        return offsets_and_items([of_edge for of_state in self.crossed for of_edge in of_state])

    def gap_tables(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """`gaps` for kernels: offsets by state, and the numbers."""
        return offsets_and_items([self.gaps(state) for state in range(len(self.crossed))])


def plan_absences(query: EventQuery, automaton: Automaton) -> AbsencePlan:
    """Where to ask for the negated components of a query."""
    around = ep.around_absences(query.pattern)
    before = tuple(frozenset(event.variable for item in items for event in ep.events(item)) for items, _ in around)
    conditions = {definition.variable: definition.condition for definition in query.absent}
    names = [event.variable for event in ep.absences(query.pattern)]
    is_known = [
        _is_known(conditions.get(name), of_name, behind)
        for name, of_name, (_, behind) in zip(names, before, around, strict=True)
    ]

    def passes(state: int, target: int, k: int) -> bool:
        return state > 0 and automaton.variable(state) in before[k] and automaton.variable(target) not in before[k]

    def crossed(state: int, target: int, *, known: bool) -> tuple[int, ...]:
        return tuple(k for k in range(len(names)) if is_known[k] == known and passes(state, target, k))

    edges = [[(state, edge.target) for edge in of_state] for state, of_state in enumerate(automaton.edges)]
    return AbsencePlan(
        before,
        tuple(tuple(crossed(*edge, known=True) for edge in of_state) for of_state in edges),
        tuple(k for k, sides in enumerate(around) if any(all(map(ep.allows_empty, side)) for side in sides)),
        tuple(sorted({k for of_state in edges for edge in of_state for k in crossed(*edge, known=False)})),
    )


def _is_known(condition: Expression | None, before: frozenset[str], behind: Sequence[EventPattern]) -> bool:
    """Whether all that a condition reads of the match is known when the first event behind it is selected."""
    if condition is None:
        return True
    known = set(before)
    if behind and isinstance(behind[0], ep.Event):
        known.add(behind[0].variable)
    for node in walk(condition):
        match node:
            case ColumnAt(target=Target(variables=variables, end=end)) if node.target != Target():
                # The first event of all is there, whichever variable it is of.
                is_first_of_all = variables is not None and end is End.FIRST and before <= variables
                if variables is None or not (variables <= known or is_first_of_all):
                    return False
            case Aggregate(variables=variables) if variables is None or not variables <= known:
                return False
            case _:
                pass
    return True


def offsets_and_items(lists: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Several lists of numbers as arrays."""
    offsets: Any = np.concatenate(([0], np.cumsum([len(items) for items in lists])))
    return offsets.astype(np.int64), np.array([item for items in lists for item in items], np.int64)
