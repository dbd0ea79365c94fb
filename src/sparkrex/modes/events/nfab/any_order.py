"""Patterns with AND as automata.

What orders the events of such a pattern is a partial order of its variables: SEQ puts all of one item before all of the
next, AND puts nothing before anything. A match binds the variables of one *way* through the pattern, alternatives and
optional parts resolved, so that each is bound after all that the order puts before it; all events of a variable under
`+` or `*` come before those that the order puts after it, and between them anything else may. So a state is the set of
variables bound so far and the last of them, and only sets that begin some way are reached.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from sparkrex.errors import ParseError
from sparkrex.modes.events import pattern as ep
from sparkrex.modes.events.nfab.automaton import MOST_POSITIONS, Automaton, Edge, Position

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sparkrex.modes.events.pattern import EventPattern
    from sparkrex.source import Source

Bound = frozenset[str]
"""The variables that a run has events of."""


class Ways:
    """The ways through a pattern: which variables may be bound next when others are."""

    def __init__(self, pattern: EventPattern) -> None:
        self.pattern = pattern
        self._names: dict[int, Bound] = {}
        self._name(pattern)

    def _name(self, pattern: EventPattern) -> Bound:
        """The variables that a part binds, noted for it and all its parts."""
        below = [self._name(part) for part in ep.children(pattern)]
        own = {pattern.variable} if isinstance(pattern, ep.Event) else set()
        bound = Bound() if isinstance(pattern, ep.Absent) else frozenset(own).union(*below)
        self._names[id(pattern)] = bound
        return bound

    def _is_begun(self, pattern: EventPattern, bound: Bound) -> bool:
        return not bound.isdisjoint(self._names[id(pattern)])

    def is_whole(self, bound: Bound) -> bool:
        """Whether these variables are one way."""
        return self._is_way(self.pattern, bound)

    def _is_way(self, pattern: EventPattern, bound: Bound) -> bool:
        """Whether those of the variables that the part has are one way through it."""
        match pattern:
            case ep.Event():
                return pattern.variable in bound
            case ep.Sequence() | ep.AllOf():
                return all(self._is_way(item, bound) for item in pattern.items)
            case ep.AnyOf():
                taken = next((option for option in pattern.options if self._is_begun(option, bound)), None)
                return ep.allows_empty(pattern) if taken is None else self._is_way(taken, bound)
            case ep.Kleene():
                is_left_out = pattern.minimum == 0 and not self._is_begun(pattern, bound)
                return is_left_out or self._is_way(pattern.body, bound)
            case ep.Absent():
                return True
            case _:
                assert_never(pattern)

    def next(self, bound: Bound) -> Iterator[tuple[str, bool]]:
        """The variables that the next event may have, each with whether it is one more of a Kleene closure."""
        return self._next(self.pattern, bound)

    def _next(self, pattern: EventPattern, bound: Bound) -> Iterator[tuple[str, bool]]:
        match pattern:
            case ep.Event():
                if pattern.variable not in bound:
                    yield pattern.variable, False
            case ep.Sequence():
                # What stands before the last item that is begun is over.
                begun = (number for number, item in enumerate(pattern.items) if self._is_begun(item, bound))
                for item in pattern.items[max(begun, default=0) :]:
                    yield from self._next(item, bound)
                    if not self._is_way(item, bound):
                        return
            case ep.AllOf():
                for part in pattern.items:
                    yield from self._next(part, bound)
            case ep.AnyOf():
                taken = [option for option in pattern.options if self._is_begun(option, bound)]
                for option in taken or pattern.options:
                    yield from self._next(option, bound)
            case ep.Kleene():
                is_more = pattern.maximum is None and self._is_begun(pattern, bound)
                if is_more and isinstance(pattern.body, ep.Event):
                    yield pattern.body.variable, True
                yield from self._next(pattern.body, bound)
            case ep.Absent():
                return
            case _:
                assert_never(pattern)


def variables_behind(pattern: EventPattern) -> dict[str, Bound]:
    """By variable, those that the order puts after it."""
    found = dict.fromkeys(ep.positive_variables(pattern), Bound())
    pending = [pattern]
    while pending:
        node = pending.pop()
        pending.extend(ep.children(node))
        behind: Bound = Bound()
        for item in reversed(node.items) if isinstance(node, ep.Sequence) else ():
            names = ep.positive_variables(item)
            found.update({name: found[name] | behind for name in names})
            behind |= set(names)
    return found


def compile_any_order(pattern: EventPattern, source: Source) -> Automaton:
    """The automaton of a pattern with AND; `source` is for errors."""
    ways = Ways(pattern)
    states: dict[tuple[Bound, str], int] = {}
    of_state = [Bound()]
    edges: list[tuple[Edge, ...]] = []
    for bound in of_state:  # which grows
        targets = []
        for variable, is_more in ways.next(bound):
            reached = (bound | {variable}, variable)
            if reached not in states:
                states[reached] = len(of_state)
                of_state.append(reached[0])
                if len(states) > MOST_POSITIONS:
                    raise _too_many(pattern, source)
            targets.append(Edge(states[reached], is_more))
        edges.append(tuple(targets))
    arrays = {edge.target for targets in edges for edge in targets if edge.is_take}
    repeated = sorted({variable for (_, variable), state in states.items() if state in arrays})
    return Automaton(
        tuple(Position(name, repeated.index(name) if name in repeated else -1) for _, name in states), tuple(edges),
        tuple(map(ways.is_whole, of_state)), tuple(of_state), tuple(of_state), is_in_any_order=True,
    )


def _too_many(pattern: EventPattern, source: Source) -> ParseError:
    return ParseError(
        "REX106", f"a pattern with AND that has more than {MOST_POSITIONS:,} states", source, pattern.span,
        hint="each set of variables that may have come is one, so eight in one AND are the most; SEQ orders some",
    )
