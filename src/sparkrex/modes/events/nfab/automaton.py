"""Compile an event pattern to NFAb states and edges (paper, 3.2 step 1), for patterns beyond a sequence too.

A state is the position of the last selected event; state 0 has selected nothing. A position is one place of the
pattern where an event can be selected: a Kleene is unrolled so that a variable's first event and its later ones differ
(the paper's p[1] and p[i]), `{n,m}` into its copies. Between positions the edges of a position automaton (Glushkov):

    last events of one part  ->  first events of the next; of the parts behind it while those may be left out

An edge is a *take* edge if it begins one more iteration of a Kleene that could have ended, else *begin*: the paper's
proceed move, which selects nothing, and the begin move behind it are one edge here, as step 6 makes them one test.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, assert_never

from sparkrex.errors import ParseError
from sparkrex.modes.events import pattern as ep

if TYPE_CHECKING:
    from sparkrex.modes.events.pattern import EventPattern
    from sparkrex.source import Source

MOST_POSITIONS = 2_000
"""More than this is a quantifier with an absurd bound; kernels would take minutes per event."""


@dataclass(frozen=True, slots=True)
class Position:
    """A place where an event can be selected; `kleene` is the outermost Kleene around it, -1 if there is none."""

    variable: str
    kleene: int


@dataclass(frozen=True, slots=True)
class Edge:
    """To `target`, a state."""

    target: int
    is_take: bool


@dataclass(frozen=True, slots=True)
class Automaton:
    """States 1 to n are positions 0 to n - 1.

    `edges` are by state; `accepts` tells where a match may end. `surely` and `possibly` are the variables that a run in
    a state has events of, whatever its way there, or on some way. `is_in_any_order` if the pattern has AND: then states
    are sets of variables (`any_order`).
    """

    positions: tuple[Position, ...]
    edges: tuple[tuple[Edge, ...], ...]
    accepts: tuple[bool, ...]
    surely: tuple[frozenset[str], ...]
    possibly: tuple[frozenset[str], ...]
    is_in_any_order: bool = False

    @property
    def is_unambiguous(self) -> bool:
        """Whether the variables of a match's events settle its run: no state has two edges to one variable."""
        return all(len({self.variable(edge.target) for edge in edges}) == len(edges) for edges in self.edges)

    def variable(self, state: int) -> str:
        """The variable of the event that was selected last."""
        return self.positions[state - 1].variable

    def is_left(self, state: int, target: int | None) -> bool:
        """Whether going on to `target`, or ending (None), leaves the outermost Kleene of the state."""
        kleene = self.positions[state - 1].kleene if state else -1
        return kleene >= 0 and (target is None or self.positions[target - 1].kleene != kleene)

    def variables_of(self, state: int) -> frozenset[str]:
        """The variables of the outermost Kleene around a state."""
        kleene = self.positions[state - 1].kleene
        return frozenset(position.variable for position in self.positions if position.kleene == kleene)


@dataclass(slots=True)
class _Part:
    """States that may come first and last, and whether the part may be left out."""

    first: list[int] = field(default_factory=list)
    last: list[int] = field(default_factory=list)
    allows_empty: bool = True


class _Builder:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.positions: list[Position] = []
        self.edges: dict[tuple[int, int], bool] = {}
        self.n_kleenes = 0

    def part(self, pattern: EventPattern, kleene: int) -> _Part:
        match pattern:
            case ep.Event():
                self.positions.append(Position(pattern.variable, kleene))
                if len(self.positions) > MOST_POSITIONS:
                    raise ParseError(
                        "REX106", f"a pattern with more than {MOST_POSITIONS:,} places for events", self.source,
                        pattern.span, hint="a quantifier without an upper bound needs two places only: T+ v[]",
                    )
                return _Part([len(self.positions)], [len(self.positions)], False)
            case ep.Sequence():
                whole = _Part()
                for item in pattern.items:
                    if not isinstance(item, ep.Absent):  # tested on complete matches
                        whole = self._joined(whole, self.part(item, kleene))
                return whole
            case ep.AnyOf():
                options = [self.part(option, kleene) for option in pattern.options]
                return _Part(
                    [state for option in options for state in option.first],
                    [state for option in options for state in option.last],
                    any(option.allows_empty for option in options),
                )
            case ep.Kleene():
                return self._kleene(pattern, kleene)
            case ep.AllOf():
                raise AssertionError("a pattern with AND has an automaton of another kind")
            case ep.Absent():
                return _Part()
            case _:
                assert_never(pattern)

    def _kleene(self, pattern: ep.Kleene, kleene: int) -> _Part:
        if kleene < 0:
            kleene, self.n_kleenes = self.n_kleenes, self.n_kleenes + 1
        # Iterations that select nothing do not count: a body that may be empty requires none.
        minimum = 0 if ep.allows_empty(pattern.body) else pattern.minimum
        # Without an upper bound the last copy repeats itself; it is never the first, whose events are v[1].
        n_copies = max(pattern.minimum, 2) if pattern.maximum is None else pattern.maximum
        copies = [self.part(pattern.body, kleene) for _ in range(n_copies)]
        for number, (copy, following) in enumerate(pairwise(copies), 1):
            self._connect(copy.last, following.first, is_take=number >= minimum)
        if pattern.maximum is None:
            self._connect(copies[-1].last, copies[-1].first, is_take=True)
        last = [state for number, copy in enumerate(copies, 1) if number >= minimum for state in copy.last]
        return _Part(copies[0].first, last, minimum == 0)

    def _joined(self, left: _Part, right: _Part) -> _Part:
        self._connect(left.last, right.first, is_take=False)
        return _Part(
            left.first + right.first if left.allows_empty else left.first,
            left.last + right.last if right.allows_empty else right.last,
            left.allows_empty and right.allows_empty,
        )

    def _connect(self, sources: list[int], targets: list[int], *, is_take: bool) -> None:
        for source in sources:
            for target in targets:
                # An inner Kleene's take edge may be an outer one's too; either way it takes.
                self.edges[source, target] = self.edges.get((source, target), False) or is_take


def compile_automaton(pattern: EventPattern, source: Source) -> Automaton:
    """The automaton of a pattern without AND; `source` is for errors."""
    builder = _Builder(source)
    whole = builder.part(pattern, -1)
    n_states = len(builder.positions) + 1
    edges: list[list[Edge]] = [[] for _ in range(n_states)]
    edges[0] = [Edge(state, False) for state in dict.fromkeys(whole.first)]
    for (origin, target), is_take in builder.edges.items():
        edges[origin].append(Edge(target, is_take))
    last = set(whole.last)
    surely, possibly = _bound_variables(builder.positions, edges)
    return Automaton(
        tuple(builder.positions), tuple(map(tuple, edges)), tuple(state in last for state in range(n_states)), surely,
        possibly,
    )


def _bound_variables(
    positions: list[Position], edges: list[list[Edge]]
) -> tuple[tuple[frozenset[str], ...], tuple[frozenset[str], ...]]:
    """By state, its own event included: variables bound on every way to it, and on some way. A fixed point."""
    everything = frozenset(position.variable for position in positions)
    n_states = len(edges)
    surely = [frozenset[str]()] + [everything] * (n_states - 1)
    possibly = [frozenset[str]()] * n_states
    pending = [0]
    while pending:
        state = pending.pop()
        for edge in edges[state]:
            own = {positions[edge.target - 1].variable}
            sure = surely[edge.target] & (surely[state] | own)
            possible = possibly[edge.target] | possibly[state] | own
            if (sure, possible) != (surely[edge.target], possibly[edge.target]):
                surely[edge.target], possibly[edge.target] = sure, possible
                pending.append(edge.target)
    return tuple(surely), tuple(possibly)
