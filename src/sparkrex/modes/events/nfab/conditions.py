"""The conditions of an automaton's edges (paper, 3.2 step 2), each distinct one once.

An edge to an event of v tests `begin` of v if the run has no event of v yet, else `take`; and `leave` of the variables
whose outermost Kleene it goes out of. Where the state alone does not tell whether a variable is bound, the condition
counts its events. Of a pattern with AND an edge also tests the conjuncts that it settles (`open_conjuncts`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sparkrex.modes.events.nfab.open_conjuncts import OpenConjuncts
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
    _numbers: dict[Expression, int] = field(default_factory=dict)

    def number(self, condition: Expression | None) -> int:
        """The number of a condition, ALWAYS for none."""
        if condition is None:
            return ALWAYS
        number = self._numbers.setdefault(condition, len(self.distinct))
        if number == len(self.distinct):
            self.distinct.append(condition)
        return number

    def split(self) -> tuple[Condition, ...]:
        """What rows decide and what the run decides, by `condition_name`."""
        return tuple(split_condition(condition_name(i), _rows_first(part)) for i, part in enumerate(self.distinct))



def condition_name(number: int) -> str:
    """A name that no variable has."""
    return f"{number} condition"


def edge_conditions(query: EventQuery, automaton: Automaton, negated: Iterable[str]) -> Conditions:
    """All conditions of a query."""
    tests = OpenConjuncts(query, automaton) if automaton.is_in_any_order else _Placed(query, automaton)
    absent = _by_variable(query.absent)
    found = Conditions()
    for state, edges in enumerate(automaton.edges):
        found.edges.append([found.number(_and(tests.of_edge(state, edge.target))) for edge in edges])
        ends = automaton.accepts[state]
        found.accepts.append(found.number(_and(tests.of_end(state))) if ends else NEVER)
    found.absent = [found.number(absent.get(variable)) for variable in negated]
    return found


class _Placed:
    """Conditions that the analysis has placed."""

    def __init__(self, query: EventQuery, automaton: Automaton) -> None:
        self.begin, self.take, self.leave = map(_by_variable, (query.begin, query.take, query.leave))
        self.automaton = automaton

    def of_edge(self, state: int, target: int) -> list[Expression | None]:
        """What an edge tests."""
        variable = self.automaton.variable(target)
        begin, take = self.begin.get(variable), self.take.get(variable)
        parts = leaves_of(self.leave, self.automaton, state, target)
        if variable not in self.automaton.possibly[state]:
            return [*parts, begin]
        is_bound = variable in self.automaton.surely[state]
        return [*parts, take if is_bound else _either(variable, begin, take)]

    def of_end(self, state: int) -> list[Expression | None]:
        """What is tested where a match ends."""
        return leaves_of(self.leave, self.automaton, state, None)


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
