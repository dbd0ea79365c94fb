"""A trend query's patterns as one deterministic automaton over variables.

Two trends are the same if they have the same events under the same variables. So the automaton reads variables, and is
made deterministic: every trend has one run, however many ways there are to derive it. A state is what can follow, and
the variable that was read last; adjacent events are therefore a pair of states.

A negated part forbids a trend of its own between two events. Whether it has one there depends on the events; so an
edge, or an end, may ask that some negated parts have none there (`open`) and that others have one (`blocked`): the
derivations that are left decide what can follow. The automata of negated parts stand beside, with states of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from sparkrex.errors import UnsupportedError
from sparkrex.modes.trends.fragments import Positions
from sparkrex.modes.trends.pattern import absences
from sparkrex.modes.trends.plan import Semantics

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping

    from sparkrex.modes.trends.fragments import Fragment, Ways
    from sparkrex.modes.trends.pattern import TrendPattern
    from sparkrex.modes.trends.plan import TrendQuery
    from sparkrex.source import Source, Span

_Result = TypeVar("_Result")

START = 0
"""The state before the first event. It is not in `Automaton.states`."""
MOST_STATES = 4_000
_MOST_AT_AN_EDGE = 6
"""Negated parts that one edge may depend on: there may be an edge for every subset of them."""

FIRST, SECOND, BOTH = 0, 1, 2
"""Classes of trends: of a pattern, or of the first side of `&`; of the second side; and again those of both."""
NEGATED = 3
"""The class of the first negated part; those of the others follow."""


@dataclass(frozen=True, slots=True)
class Test:
    """What an edge or an end asks of negated parts, by their numbers."""

    open: frozenset[int] = frozenset()
    blocked: frozenset[int] = frozenset()


ALWAYS = Test()


@dataclass(frozen=True, slots=True)
class Edge:
    """From the state of the earlier event, or START, to that of the later."""

    source: int
    target: int
    test: Test = ALWAYS


@dataclass(frozen=True, slots=True)
class End:
    """A trend of a class may end in a state."""

    state: int
    kind: int
    test: Test = ALWAYS


@dataclass(frozen=True, slots=True)
class Automaton:
    """`states` has the variable of every state; the first of them is state 1.

    `closers` has, for every state, the variables whose events can follow, whatever the negated parts say: under
    skip-till-next-match such an event is relevant. `n_negated` negated parts have the classes from NEGATED on.
    """

    states: tuple[str, ...]
    edges: tuple[Edge, ...]
    ends: tuple[End, ...]
    closers: tuple[frozenset[str], ...]
    n_negated: int

    @property
    def has_negation(self) -> bool:
        """Whether something may be forbidden."""
        return self.n_negated > 0


@dataclass(frozen=True, slots=True)
class _Key:
    """A state while the automaton is made: positions that the events so far may have led to.

    `full` are those if negated parts are disregarded, by which events are relevant; `valid` those that are left. Where
    relevance does not matter they are kept equal. `length` counts events up to the minimal length.
    """

    variable: str
    full: frozenset[int]
    valid: frozenset[int]
    length: int


def adjacent_variables(pattern: TrendPattern) -> frozenset[tuple[str, str]]:
    """The pairs of variables, also inside negated parts, that two adjacent events of a trend may be bound to."""
    found: set[tuple[str, str]] = set()
    negated = absences(pattern)
    numbers = {id(absent): number for number, absent in enumerate(negated)}
    for part in (pattern, *(absent.body for absent in negated)):
        positions = Positions(numbers, None)
        follow = positions.fragment(part).follow
        found |= {(positions.variables[before], positions.variables[after]) for before, after in follow}
    return frozenset(found)


def make_automaton(query: TrendQuery) -> Automaton:
    """The automaton of a query's patterns, and of their negated parts."""
    made = _Maker(query.source)
    keeps_full = query.semantics is Semantics.NEXT
    negated = [absent for pattern in query.patterns for absent in absences(pattern)]
    numbers = {id(absent): number for number, absent in enumerate(negated)}

    def side(pattern: TrendPattern, kind: int, minimum: int) -> _Side:
        return _Side(pattern, kind, numbers, minimum, query.source, keeps_full)

    sides = [side(pattern, kind, query.minimum_length) for kind, pattern in enumerate(query.patterns)]
    for one in sides:
        made.add(one)
    if len(sides) == 2 and set(sides[0].variables) & set(sides[1].variables):
        made.add(_Both(sides[0], sides[1], query.source, query.patterns[0].span))
    for number, absent in enumerate(negated):
        made.add(side(absent.body, NEGATED + number, 1))
    return Automaton(
        tuple(made.variables), tuple(made.edges), tuple(made.ends), tuple(made.closers), len(negated)
    )


class _Side:
    """The automaton of one pattern, made step by step from its positions."""

    def __init__(
        self, pattern: TrendPattern, kind: int, numbers: dict[int, int], minimum: int, source: Source | None,
        keeps_full: bool,
    ) -> None:
        positions = Positions(numbers, source)
        self.fragment: Fragment = positions.fragment(pattern)
        self.variables = tuple(dict.fromkeys(positions.variables))
        self.kind = kind
        self._of = positions.variables
        self._minimum = minimum
        self._keeps_full = keeps_full
        self._span, self._source = pattern.span, source
        self._follow: dict[int, list[int]] = {}
        for before, after in self.fragment.follow:
            self._follow.setdefault(before, []).append(after)

    def steps(self, key: _Key | None, variable: str) -> Iterator[tuple[Test, _Key]]:
        """The keys after one more event, and what they ask of negated parts."""
        return _cases(*self.step(key, variable), self._source, self._span)

    def step(self, key: _Key | None, variable: str) -> tuple[list[Ways], Callable[[frozenset[int]], _Key | None]]:
        """The ways of one more event, and the key after it by which negated parts are blocked; None if there is none.
        """
        reached: dict[int, Ways] = {}
        if key is None:
            full = {after for after in self.fragment.first if self._of[after] == variable}
            reached = {after: self.fragment.first[after] for after in full}
        else:
            full = set(self._after(key.full, variable))
            for before in key.valid:
                for after in self._after((before,), variable):
                    reached[after] = reached.get(after, frozenset()) | self.fragment.follow[before, after]
        length = min(self._minimum, 1 if key is None else key.length + 1)

        def target(blocked: frozenset[int]) -> _Key | None:
            valid = frozenset(after for after, ways in reached.items() if any(not way & blocked for way in ways))
            if not valid:
                return None
            return _Key(variable, frozenset(full) if self._keeps_full else valid, valid, length)

        return list(reached.values()), target

    def ends(self, key: _Key) -> Iterator[tuple[int, Test]]:
        """When a trend may end there, and of which class it is."""
        for test, _ in _cases(*self.end(key), self._source, self._span):
            yield self.kind, test

    def end(self, key: _Key | None) -> tuple[list[Ways], Callable[[frozenset[int]], bool | None]]:
        """The ways out, and whether a trend may end there by which negated parts are blocked; None if it may not."""
        last: list[Ways] = []
        if key is not None and key.length >= self._minimum:
            last = [self.fragment.last[position] for position in key.valid if position in self.fragment.last]
        return last, lambda blocked: True if any(not way & blocked for ways in last for way in ways) else None

    def closers(self, key: _Key) -> frozenset[str]:
        """The variables whose events can follow, whatever negated parts say."""
        return frozenset(name for name in self.variables if any(True for _ in self._after(key.full, name)))

    def label(self, key: _Key) -> str:
        """The variable of the last event."""
        return key.variable

    def _after(self, positions: Iterable[int], variable: str) -> Iterator[int]:
        return (
            after for before in positions for after in self._follow.get(before, ()) if self._of[after] == variable
        )


def _cases(
    every: Iterable[Ways], result: Callable[[frozenset[int]], _Result | None], source: Source | None, span: Span | None
) -> Iterator[tuple[Test, _Result]]:
    """The results that there are, each under as few tests of negated parts as are needed to tell it from others."""
    negated = sorted({number for ways in every for way in ways for number in way})
    if len(negated) > _MOST_AT_AN_EDGE:
        raise UnsupportedError(
            "REX301", f"more than {_MOST_AT_AN_EDGE} negated parts between two events", source, span,
            hint="negate fewer parts at one place",
        )

    def split(test: Test, rest: list[int]) -> Iterator[tuple[Test, _Result]]:
        blocked = [
            test.blocked | {number for place, number in enumerate(rest) if bits >> place & 1}
            for bits in range(1 << len(rest))
        ]
        found = {result(one) for one in blocked}
        if len(found) == 1:
            value = found.pop()
            if value is not None:
                yield test, value
            return
        number, *others = rest
        yield from split(Test(test.open | {number}, test.blocked), others)
        yield from split(Test(test.open, test.blocked | {number}), others)

    yield from split(ALWAYS, negated)


class _Both:
    """Two sides that share variables, read at once: the trends of both.

    Under skip-till-next-match an event that is relevant to one side may not be passed over, so all that are relevant to
    either close.
    """

    def __init__(self, first: _Side, second: _Side, source: Source | None, span: Span | None) -> None:
        self._first, self._second = first, second
        self.variables = tuple(name for name in first.variables if name in second.variables)
        self._source, self._span = source, span

    def steps(self, key: tuple[_Key, _Key] | None, variable: str) -> Iterator[tuple[Test, tuple[_Key, _Key]]]:
        """As of a side; both must go on."""
        first_ways, first = self._first.step(None if key is None else key[0], variable)
        second_ways, second = self._second.step(None if key is None else key[1], variable)

        def result(blocked: frozenset[int]) -> tuple[_Key, _Key] | None:
            one, other = first(blocked), second(blocked)
            return None if one is None or other is None else (one, other)

        return _cases([*first_ways, *second_ways], result, self._source, self._span)

    def ends(self, key: tuple[_Key, _Key]) -> Iterator[tuple[int, Test]]:
        """When a trend of both may end there."""
        (first_ways, first), (second_ways, second) = self._first.end(key[0]), self._second.end(key[1])

        def result(blocked: frozenset[int]) -> bool | None:
            return first(blocked) and second(blocked)

        for test, _ in _cases([*first_ways, *second_ways], result, self._source, self._span):
            yield BOTH, test

    def closers(self, key: tuple[_Key, _Key]) -> frozenset[str]:
        """The variables whose events can follow in either."""
        return self._first.closers(key[0]) | self._second.closers(key[1])

    def label(self, key: tuple[_Key, _Key]) -> str:
        """The variable of the last event."""
        return key[0].variable


class _Maker:
    """Numbers the states of one automaton after the other."""

    def __init__(self, source: Source | None) -> None:
        self.variables: list[str] = []
        self.edges: list[Edge] = []
        self.ends: list[End] = []
        self.closers: list[frozenset[str]] = []
        self._source = source

    def add(self, side: Any) -> None:
        """All states of a side, or of two, that lead to an end; alike ones as one."""
        numbers: dict[Any, int] = {}
        edges: list[tuple[int, int, Test]] = []
        pending: list[Any] = [None]
        while pending:
            key = pending.pop()
            for variable in side.variables:
                for test, reached in side.steps(key, variable):
                    if reached not in numbers:
                        numbers[reached] = len(numbers) + 1
                        pending.append(reached)
                        self._check_size(len(numbers))
                    edges.append((START if key is None else numbers[key], numbers[reached], test))
        ends = {number: frozenset(side.ends(key)) for key, number in numbers.items()}
        keys = {number: key for key, number in numbers.items()}
        alive = _leading_to({number for number, found in ends.items() if found}, edges)
        edges = [edge for edge in edges if edge[1] in alive and (edge[0] == START or edge[0] in alive)]
        signs = {number: (side.label(keys[number]), ends[number], side.closers(keys[number])) for number in alive}
        blocks = _alike(sorted(alive), edges, signs)
        number_of = {START: START}
        samples: dict[Hashable, int] = {}
        for number in sorted(alive):
            if blocks[number] not in samples:
                samples[blocks[number]] = len(self.variables) + 1
                label, found, closers = signs[number]
                self.variables.append(label)
                self.closers.append(closers)
                self.ends += [End(len(self.variables), kind, test) for kind, test in sorted(found, key=str)]
            number_of[number] = samples[blocks[number]]
        joined = dict.fromkeys((number_of[source], number_of[target], test) for source, target, test in edges)
        self.edges += [Edge(source, target, test) for source, target, test in joined]

    def _check_size(self, n_states: int) -> None:
        if n_states > MOST_STATES:
            raise UnsupportedError(
                "REX301", f"the pattern needs more than {MOST_STATES:,} states", self._source, None,
                hint="use smaller bounds of quantifiers, or a shorter minimal length",
            )


def _leading_to(ends: set[int], edges: list[tuple[int, int, Test]]) -> set[int]:
    """The states from which an end can be reached."""
    before: dict[int, list[int]] = {}
    for source, target, _ in edges:
        before.setdefault(target, []).append(source)
    found = set(ends)
    pending = list(ends)
    while pending:
        for source in before.get(pending.pop(), ()):
            if source != START and source not in found:
                found.add(source)
                pending.append(source)
    return found


def _alike(
    states: list[int], edges: list[tuple[int, int, Test]], signs: Mapping[int, Hashable]
) -> dict[int, Hashable]:
    """A block for every state, the same for states after which the same can follow (Moore's refinement)."""
    out: dict[int, list[tuple[int, Test]]] = {state: [] for state in states}
    for source, target, test in edges:
        if source in out:
            out[source].append((target, test))
    blocks: dict[int, Hashable] = {state: signs[state] for state in states}
    while True:
        fresh: dict[Hashable, int] = {}
        refined: dict[int, Hashable] = {}
        for state in states:
            sign = (blocks[state], frozenset((blocks[target], test) for target, test in out[state]))
            refined[state] = fresh.setdefault(sign, len(fresh))
        if len(fresh) == len(set(blocks.values())):
            return refined
        blocks = refined
