"""States with the same future become one: the coarsest partition in which states of a class have the same edges.

The states a[1] and a[i] of `T+ a[]` are of this kind once their conditions are known, so runs in them merge at once.
And a pattern that can be read in several ways, `(T+ a[])+`, would have a run for every way; what tells the ways apart
is only the iteration that a run believes to be in, which nothing asks for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.modes.events.nfab.automaton import Automaton, Edge
from sparkrex.modes.events.nfab.conditions import Conditions

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence


def reduce_states(automaton: Automaton, conditions: Conditions) -> tuple[Automaton, Conditions]:
    """The automaton with one state for each class, and the conditions of its edges. The start is a class of its own."""
    n_states = len(automaton.edges)
    variables = ["", *(position.variable for position in automaton.positions)]
    classes = _numbered([(state == 0, variables[state], conditions.accepts[state]) for state in range(n_states)])
    while True:
        moves = [_moves(automaton, conditions, state, classes) for state in range(n_states)]
        finer = _numbered([(classes[state], frozenset(moves[state])) for state in range(n_states)])
        if max(finer) == max(classes):
            break
        classes = finer
    kept = [classes.index(number) for number in range(max(classes) + 1)]
    fewer = Conditions(conditions.distinct, absent=conditions.absent)
    edges: list[tuple[Edge, ...]] = []
    for state in kept:
        # Of two edges that differ only in what they are called, taking is the one that forbids to ignore the event.
        distinct = [
            (target, is_take, number) for target, is_take, number in dict.fromkeys(moves[state])
            if is_take or (target, True, number) not in moves[state]
        ]
        edges.append(tuple(Edge(target, is_take) for target, is_take, _ in distinct))
        fewer.edges.append([number for _, _, number in distinct])
        fewer.accepts.append(conditions.accepts[state])
    return Automaton(
        tuple(automaton.positions[state - 1] for state in kept[1:]), tuple(edges),
        tuple(automaton.accepts[state] for state in kept), tuple(automaton.surely[state] for state in kept),
        tuple(automaton.possibly[state] for state in kept), automaton.is_in_any_order,
    ), fewer


def _moves(
    automaton: Automaton, conditions: Conditions, state: int, classes: Sequence[int]
) -> list[tuple[int, bool, int]]:
    """Class, kind and condition of every edge of a state."""
    return [
        (classes[edge.target], edge.is_take, number)
        for edge, number in zip(automaton.edges[state], conditions.edges[state], strict=True)
    ]


def _numbered(signatures: Sequence[Hashable]) -> list[int]:
    """The number of each signature, in order of appearance."""
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(signature, len(numbers)) for signature in signatures]
