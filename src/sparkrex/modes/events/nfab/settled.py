"""From which event on a negated condition is settled: nothing that may be selected later changes what it reads.

The last event of a variable, or an aggregate over it, may change as long as an event of that variable may follow. Its
first event may only come while there is none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.scalar.expression import Aggregate, ColumnAt, End, Target, walk

if TYPE_CHECKING:
    from sparkrex.modes.events.nfab.automaton import Automaton
    from sparkrex.scalar.expression import Expression


def settled_states(condition: Expression | None, before: frozenset[str], automaton: Automaton) -> frozenset[int]:
    """The states in which the condition is settled, of runs that have an event of `before`, which stands in front."""
    followers = variables_that_follow(automaton)
    settled = set(range(1, len(automaton.edges)))
    for node in walk(condition) if condition is not None else ():
        match node:
            case ColumnAt(target=Target(variables=variables, end=End.FIRST, offset=0)) if variables is not None:
                lacking = _states_without(variables, before, automaton)
                settled -= {state for state in lacking if variables & followers[state]}
            case ColumnAt(target=target) if target != Target():
                settled -= _changing(target.variables, followers)
            case Aggregate(variables=variables):
                settled -= _changing(variables, followers)
            case _:
                pass
    return frozenset(settled)


def variables_that_follow(automaton: Automaton) -> list[frozenset[str]]:
    """By state, the variables of events that may be selected behind it. A fixed point; most edges lead to higher
    states."""
    found = [frozenset[str]()] * len(automaton.edges)
    changed = True
    while changed:
        changed = False
        for state in reversed(range(len(found))):
            targets = {edge.target for edge in automaton.edges[state]}
            reached = found[state].union(map(automaton.variable, targets), *(found[target] for target in targets))
            changed = changed or reached != found[state]
            found[state] = reached
    return found


def _changing(variables: frozenset[str] | None, followers: list[frozenset[str]]) -> set[int]:
    """The states behind which an event of the variables (None: of any) may come."""
    return {state for state, names in enumerate(followers) if (names if variables is None else names & variables)}


def _states_without(variables: frozenset[str], before: frozenset[str], automaton: Automaton) -> set[int]:
    """The states that a run with an event of `before` can reach without one of the variables."""
    found: set[int] = set()
    pending = [edge.target for edge in automaton.edges[0] if automaton.variable(edge.target) in before]
    while pending:
        state = pending.pop()
        if state not in found and automaton.variable(state) not in variables:
            found.add(state)
            pending += [edge.target for edge in automaton.edges[state]]
    return found
