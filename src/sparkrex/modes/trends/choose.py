"""Which algorithm counts the trends of a query: the coarsest granularity at which its conditions can be tested.

The paper's Table 5 has three: by type under skip-till-any-match, mixed with comparisons of adjacent events, and one
count for the whole pattern under the other semantics, which is wrong where an event has several predecessors. Here a
place is a state of the automaton, split further only by what must be told apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.modes.trends.plan import Semantics

if TYPE_CHECKING:
    from sparkrex.modes.trends.automaton import Automaton
    from sparkrex.modes.trends.comparisons import Comparisons
    from sparkrex.modes.trends.plan import TrendQuery

BY_STATE, BY_GAP, BY_RANK, BY_OPEN, BY_EVENT = "by_state", "by_gap", "by_rank", "by_open", "by_event"
ALGORITHMS = (BY_STATE, BY_GAP, BY_RANK, BY_OPEN, BY_EVENT)


def refusals(query: TrendQuery, automaton: Automaton, comparisons: Comparisons) -> dict[str, str]:
    """Why algorithms cannot count the trends of a query; those that are missing can."""
    found: dict[str, str] = {}
    if query.adjacent:
        found[BY_STATE] = found[BY_GAP] = "adjacent events are compared"
    elif automaton.has_negation:
        found[BY_STATE] = "the pattern has negated parts"
    for algorithm, semantics in ((BY_RANK, Semantics.ANY), (BY_OPEN, Semantics.NEXT)):
        reason = _not_by_value(query, automaton, comparisons)
        if query.semantics is not semantics:
            reason = f"it is for {semantics.value}"
        elif reason is None and algorithm == BY_OPEN and not _is_told_apart_once(automaton, comparisons):
            reason = "events of one state are compared in several ways"
        if reason is not None:
            found[algorithm] = reason
    return found


def choose(query: TrendQuery, automaton: Automaton, comparisons: Comparisons) -> str:
    """The first that can."""
    refused = refusals(query, automaton, comparisons)
    return next(algorithm for algorithm in ALGORITHMS if algorithm not in refused)


def _not_by_value(query: TrendQuery, automaton: Automaton, comparisons: Comparisons) -> str | None:
    if not query.adjacent:
        return "no adjacent events are compared"
    if automaton.has_negation:
        return "the pattern has negated parts"
    if any(len(pair) > 1 for pair in comparisons.of_pairs):
        return "two events are compared in more than one way"
    return None


def _is_told_apart_once(automaton: Automaton, comparisons: Comparisons) -> bool:
    """Whether for every state all comparisons with later events are of the same values."""
    for state, closers in zip(automaton.states, automaton.closers, strict=True):
        pairs = {comparisons.numbers[state, name] for name in closers if (state, name) in comparisons.numbers}
        read = {(one.left, one.right) for pair in pairs for one in comparisons.of_pairs[pair]}
        if len(read) > 1:
            return False
    return True
