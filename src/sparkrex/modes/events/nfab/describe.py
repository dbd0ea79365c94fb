"""An automaton as text: its states, and the formula of every edge (paper, Figure 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.modes.events import pattern as ep
from sparkrex.modes.events.display import event_text
from sparkrex.modes.events.nfab.conditions import ALWAYS, NEVER
from sparkrex.modes.events.nfab.lookup import equality_of
from sparkrex.modes.events.plan import Strategy

if TYPE_CHECKING:
    from sparkrex.modes.events.nfab.automaton import Automaton
    from sparkrex.modes.events.nfab.conditions import Conditions
    from sparkrex.modes.events.plan import EventQuery


def state_name(automaton: Automaton, state: int) -> str:
    """The name of a state after the event selected last: `a`, `b[1]`, `b[i]`."""
    position = automaton.positions[state - 1]
    if position.kleene < 0:
        return position.variable
    if automaton.is_in_any_order:
        return f"{position.variable}[]"  # whichever of them
    same = [number for number, other in enumerate(automaton.positions, 1) if other.variable == position.variable]
    return f"{position.variable}[{'1' if state == same[0] else 'i'}]"


def automaton_lines(
    query: EventQuery, automaton: Automaton, conditions: Conditions, *, looks_up: bool
) -> list[str]:
    """A line for every state and one for each of its edges; with `looks_up`, by which equality runs are looked up."""
    lines: list[str] = []
    for state, edges in enumerate(automaton.edges):
        lines.append(f"state {state}: " + (_state_text(query, automaton, state) if state else "start"))
        tests: list[tuple[bool, str]] = []
        for edge, number in zip(edges, conditions.edges[state], strict=True):
            name = state_name(automaton, edge.target).replace("[]", "[i]" if edge.is_take else "[1]")
            text = _formula(conditions, number, automaton, edge.target)
            tests.append((edge.is_take, text))
            lines.append(f"  {'take' if edge.is_take else 'begin'} {name} (state {edge.target}) if {text}")
            equality = equality_of(conditions.distinct[number]) if looks_up and state and number != ALWAYS else None
            if equality is not None:
                arrays = _arrays(automaton)
                lines[-1] += f"; runs looked up by {event_text(equality, arrays, automaton.variable(edge.target))}"
        if state and edges:
            lines.append(f"  ignore if {_ignore(query.strategy, tests)}")
        if conditions.accepts[state] != NEVER:
            lines.append(f"  match if {_formula(conditions, conditions.accepts[state], automaton, None)}")
    for event, number in zip(ep.absences(query.pattern), conditions.absent, strict=True):
        lines.append(f"refused if there is {event} with {_formula(conditions, number, automaton, None)}")
    return lines


def _state_text(query: EventQuery, automaton: Automaton, state: int) -> str:
    name = state_name(automaton, state)
    if not automaton.is_in_any_order:
        return f"{name} selected"
    bound = [variable for variable in ep.positive_variables(query.pattern) if variable in automaton.surely[state]]
    return f"{', '.join(bound)} selected" + (f", {name} last" if len(bound) > 1 else "")


def _ignore(strategy: Strategy, tests: list[tuple[bool, str]]) -> str:
    match strategy:
        case Strategy.STRICT:
            return "FALSE"
        case Strategy.PARTITION:
            return "the event is of another partition"
        case Strategy.ANY:
            return "TRUE"
        case Strategy.NEXT:
            takes = [text for is_take, text in tests if is_take] or [text for _, text in tests]
            return "NOT (" + " OR ".join(takes) + ")"


def _formula(conditions: Conditions, number: int, automaton: Automaton, target: int | None) -> str:
    if number == ALWAYS:
        return "TRUE"
    own = None if target is None else automaton.variable(target)
    return event_text(conditions.distinct[number], _arrays(automaton), own)


def _arrays(automaton: Automaton) -> frozenset[str]:
    return frozenset(position.variable for position in automaton.positions if position.kleene >= 0)
