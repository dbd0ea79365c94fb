"""The conditions of an automaton's edges (paper, 3.2 step 2), each distinct one once.

An edge to an event of v tests `begin` of v if the run has no event of v yet, else `take`; and `leave` of the variables
whose outermost Kleene it goes out of. Where the state alone does not tell whether a variable is bound, the condition
counts its events.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sparkrex.scalar.expression import Aggregate, Call, Expression, Literal, Semantics
from sparkrex.scalar.split import Condition, conjunction, conjuncts, is_row_condition, split_condition

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sparkrex.modes.events.nfab.automaton import Automaton
    from sparkrex.modes.events.plan import EventQuery
    from sparkrex.modes.plan import Definition

ALWAYS, NEVER = -1, -2
"""Numbers of conditions that are none."""


@dataclass(slots=True)
class Conditions:
    """Numbers of the conditions: of every edge by state, of ending by state, of negated events in order."""

    distinct: list[Expression] = field(default_factory=list)
    edges: list[list[int]] = field(default_factory=list)
    accepts: list[int] = field(default_factory=list)
    absent: list[int] = field(default_factory=list)

    def number(self, condition: Expression | None) -> int:
        """The number of a condition, ALWAYS for none."""
        if condition is None:
            return ALWAYS
        if condition not in self.distinct:
            self.distinct.append(condition)
        return self.distinct.index(condition)

    def split(self) -> tuple[Condition, ...]:
        """What rows decide and what the run decides, by `condition_name`."""
        return tuple(split_condition(condition_name(i), _rows_first(part)) for i, part in enumerate(self.distinct))



def condition_name(number: int) -> str:
    """A name that no variable has."""
    return f"{number} condition"


def edge_conditions(query: EventQuery, automaton: Automaton, negated: Iterable[str]) -> Conditions:
    """All conditions of a query."""
    begin, take, leave, absent = map(_by_variable, (query.begin, query.take, query.leave, query.absent))
    found = Conditions()
    for state, edges in enumerate(automaton.edges):
        found.edges.append([])
        for edge in edges:
            variable = automaton.variable(edge.target)
            parts = leaves_of(leave, automaton, state, edge.target)
            if variable not in automaton.possibly[state]:
                parts.append(begin.get(variable))
            elif variable in automaton.surely[state]:
                parts.append(take.get(variable))
            else:
                parts.append(_either(variable, begin.get(variable), take.get(variable)))
            found.edges[-1].append(found.number(_and(parts)))
        ends = automaton.accepts[state]
        found.accepts.append(found.number(_and(leaves_of(leave, automaton, state, None))) if ends else NEVER)
    found.absent = [found.number(absent.get(variable)) for variable in negated]
    return found


def _by_variable(definitions: tuple[Definition, ...]) -> dict[str, Expression]:
    return {definition.variable: definition.condition for definition in definitions}


def leaves_of(
    leave: dict[str, Expression], automaton: Automaton, state: int, target: int | None
) -> list[Expression | None]:
    """What must hold for a run to leave the state by an edge to `target`, or as a match."""
    if not automaton.is_left(state, target):
        return []
    parts: list[Expression | None] = []
    for variable in sorted(automaton.variables_of(state) & automaton.possibly[state] & leave.keys()):
        condition = leave[variable]
        is_bound = variable in automaton.surely[state]
        parts.append(condition if is_bound else Call("or", (_count(variable, "eq"), condition)))
    return parts


def _either(variable: str, begin: Expression | None, take: Expression | None) -> Expression:
    first = _and([_count(variable, "eq"), begin])
    later = _and([_count(variable, "gt"), take])
    assert first is not None and later is not None  # both count
    return Call("or", (first, later))


def _count(variable: str, comparison: str) -> Expression:
    count = Aggregate("count", (), frozenset((variable,)), Semantics.RUNNING)
    return Call(comparison, (count, Literal(0)))


def _rows_first(condition: Expression) -> Expression:
    """Conjuncts have no order here: what an event alone decides comes first, and need not wait for what a run decides.

    Behind a test of the run, a function that may fail could not be evaluated once per event.
    """
    parts = sorted(conjuncts(condition), key=lambda part: not is_row_condition(part))
    return _and(parts) or condition


def _and(parts: Iterable[Expression | None]) -> Expression | None:
    return conjunction([part for part in parts if part is not None])
