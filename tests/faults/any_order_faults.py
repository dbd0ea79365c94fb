"""Deliberate faults of how event queries with AND are matched."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from unittest import mock

from tests.faults.event_faults import Context, EventFault

from sparkrex.modes.events.nfab import absences, any_order, matcher
from sparkrex.modes.events.nfab.open_conjuncts import OpenConjuncts
from sparkrex.modes.events.pattern import AllOf, positive_variables
from sparkrex.modes.events.pattern import absences as negated
from sparkrex.modes.events.plan import Conjunct, EventQuery, Strategy

if TYPE_CHECKING:
    from collections.abc import Callable

    from sparkrex.modes.events.nfab.absences import AbsencePlan
    from sparkrex.modes.events.nfab.automaton import Automaton, Edge
    from sparkrex.modes.events.pattern import EventPattern
    from sparkrex.source import Source


def _edges_left(keeps: Callable[[tuple[str, ...], Automaton, int, Edge], bool]) -> Context:
    """Only some of the edges; `keeps` is asked with the variables in order of appearance."""
    compiled = any_order.compile_any_order

    def changed(pattern: EventPattern, source: Source) -> Automaton:
        found, names = compiled(pattern, source), positive_variables(pattern)
        edges = [
            tuple(edge for edge in of_state if keeps(names, found, state, edge))
            for state, of_state in enumerate(found.edges)
        ]
        return replace(found, edges=tuple(edges))

    return mock.patch.object(matcher, "compile_any_order", changed)


def _is_in_order_of_the_text(names: tuple[str, ...], found: Automaton, state: int, edge: Edge) -> bool:
    return state == 0 or names.index(found.variable(edge.target)) >= names.index(found.variable(state))


def _goes_on_at_once(names: tuple[str, ...], found: Automaton, state: int, edge: Edge) -> bool:
    return not edge.is_take or found.variable(edge.target) == found.variable(state)


def _settled(decide: Callable[[OpenConjuncts, Conjunct, int], bool]) -> Context:
    return mock.patch.object(OpenConjuncts, "_is_settled", decide)


def _all_are_bound(self: OpenConjuncts, conjunct: Conjunct, state: int) -> bool:
    """What can no longer come is waited for."""
    bound = self.automaton.surely[state]
    return conjunct.variables <= bound and all(not self.behind[name].isdisjoint(bound) for name in conjunct.of_whole)


def _last_is_bound(self: OpenConjuncts, conjunct: Conjunct, state: int) -> bool:
    return conjunct.last in self.automaton.surely[state]


def _asked_between_neighbours_only() -> Context:
    plan = absences._plan_around

    def changed(query: EventQuery, automaton: Automaton) -> AbsencePlan:
        return replace(plan(query, automaton), at_end=())

    return mock.patch.object(absences, "_plan_around", changed)


def _looked_for_in_the_window() -> Context:
    plan = absences._plan_around

    def changed(query: EventQuery, automaton: Automaton) -> AbsencePlan:
        return replace(plan(query, automaton), is_around=False)

    return mock.patch.object(absences, "_plan_around", changed)


def _has_open(query: EventQuery) -> bool:
    return bool(query.open_conjuncts())


def _negates_in_and(query: EventQuery) -> bool:
    return isinstance(query.pattern, AllOf) and bool(negated(query.pattern))


def _must_not_pass(query: EventQuery) -> bool:
    return _has_open(query) and query.strategy is not Strategy.ANY


ANY_ORDER_FAULTS = (
    EventFault("AND is read as SEQ", lambda: _edges_left(_is_in_order_of_the_text)),
    EventFault("an array of AND ends when another event comes", lambda: _edges_left(_goes_on_at_once)),
    EventFault("a condition of AND is tested as soon as its last variable by the text is bound",
               lambda: _settled(_last_is_bound), _has_open),
    EventFault("a condition of AND waits for what can no longer come",
               lambda: _settled(_all_are_bound), _must_not_pass),
    EventFault("a condition on an array of AND is tested at its first event",
               lambda: mock.patch.object(Conjunct, "of_whole", frozenset()), _has_open),
    EventFault("a condition of AND is tested though its last variable is not bound",
               lambda: mock.patch.object(OpenConjuncts, "_is_bound", lambda *given: True), _has_open),
    EventFault("NOT in AND does not see the events of the match", _asked_between_neighbours_only, _negates_in_and),
    EventFault("NOT in AND looks before the match", _looked_for_in_the_window, _negates_in_and),
)
