"""Patterns with AND, straight from their definition: ways through the pattern, partial matches, settled conditions.

A *way* is what is left of a pattern when alternatives and optional parts are decided: some variables, and which of them
come before which. All ways are listed. A sequence of events with variables is a *partial match* of a way if it breaks
no order and nothing is missing in front of what is there. A variable may come next if that gives a partial match of any
way, and a match may end if some way has nothing else.

A conjunct is tested at the event that settles the last of its identifiers. `v` and `v[1]` are settled when v has an
event, `v[v.LEN]` and aggregates over v when something is there that comes after v; either when no way that is left has
v. What is not settled before a match ends is by that. It is tested if its last variable by the text has an event, on
the events so far, and reads NULL where there is none. `v[i]` is tested at each event of v but the first.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, assert_never

from tests.modes.events.positions import Edge, Next, Place
from tests.modes.events.strategies import Candidate, Stream
from tests.modes.rows.oracle.expressions import View, value

from sparkrex.modes.events.language.syntax import Index
from sparkrex.modes.events.pattern import Absent, AllOf, AnyOf, Event, EventPattern, Kleene, Sequence, absences, events
from sparkrex.scalar.expression import Target
from sparkrex.scalar.targets import with_targets

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sparkrex.modes.events.plan import Conjunct
    from sparkrex.scalar.expression import Expression

_UNDER_TEST = "(under test)"


@dataclass(frozen=True, slots=True)
class Way:
    """Some variables; pairs of which the first comes before the second."""

    variables: frozenset[str]
    before: frozenset[tuple[str, str]]


@cache
def ways(pattern: EventPattern) -> tuple[Way, ...]:
    """All ways through a pattern."""
    match pattern:
        case Event(variable=variable):
            return (Way(frozenset({variable}), frozenset()),)
        case Absent():
            return (Way(frozenset(), frozenset()),)
        case Sequence(items=items):
            return tuple(_joined(parts, is_ordered=True) for parts in product(*map(ways, items)))
        case AllOf(items=items):
            return tuple(_joined(parts, is_ordered=False) for parts in product(*map(ways, items)))
        case AnyOf(options=options):
            return tuple(way for option in options for way in ways(option))
        case Kleene(body=body, minimum=minimum):
            return ways(body) + ((Way(frozenset(), frozenset()),) if minimum == 0 else ())
        case _:
            assert_never(pattern)


def _joined(parts: tuple[Way, ...], *, is_ordered: bool) -> Way:
    before = {pair for part in parts for pair in part.before}
    if is_ordered:
        before |= {
            (one, other) for number, part in enumerate(parts) for later in parts[number + 1 :]
            for one in part.variables for other in later.variables
        }
    return Way(frozenset().union(*(part.variables for part in parts)), frozenset(before))


@cache
def _kleenes(pattern: EventPattern) -> frozenset[str]:
    match pattern:
        case Kleene(body=Event(variable=variable), maximum=None):
            return frozenset({variable})
        case Sequence(items=parts) | AllOf(items=parts) | AnyOf(options=parts):
            return frozenset().union(*map(_kleenes, parts))
        case Kleene(body=body):
            return _kleenes(body)
        case _:
            return frozenset()


@cache
def _partial_ways(pattern: EventPattern, labels: tuple[str, ...]) -> tuple[Way, ...]:
    """The ways that events with these variables, in this order, are a partial match of."""
    singles = [label for label in labels if label not in _kleenes(pattern)]
    if len(set(singles)) < len(singles):
        return ()
    bound = set(labels)
    return tuple(
        way for way in ways(pattern)
        if bound <= way.variables
        and all(
            (later, earlier) not in way.before
            for number, earlier in enumerate(labels) for later in labels[number + 1 :]
        )
        and all(first in bound for first, second in way.before if second in bound)
    )


class AnyOrderStream(Stream):
    """One partition in order, under a query with AND."""

    def next_of(self, candidate: Candidate) -> Next:
        """What may follow a candidate."""
        pattern, labels = self.query.pattern, _labels(candidate)
        assert isinstance(pattern, Sequence | AllOf)
        edges = [
            Edge(Place((item,), event.variable), event.variable in labels, ())
            for item, part in enumerate(pattern.items) if not isinstance(part, Absent)
            for event in events(part) if _partial_ways(pattern, (*labels, event.variable))
        ]
        is_whole = any(way.variables == set(labels) for way in _partial_ways(pattern, labels))
        return Next(tuple(edges), bool(labels) and is_whole, ())

    def holds(self, candidate: Candidate, edge: Edge, row: int) -> bool:
        """Whether the event satisfies its type and the conjuncts that are tested at it."""
        key = (candidate, edge, row)
        if key not in self.known:
            variable, labels = edge.place.variable, _labels(candidate)
            tested = [one.condition for one in self.query.types if one.variable == variable]
            tested += [conjunct.expression for conjunct in self.query.conjuncts if not conjunct.references]
            open_to_all = self._positive_conjuncts()
            tested += [
                conjunct.expression for conjunct in open_to_all
                if not _is_of_later(conjunct) and conjunct.last in (*labels, variable)
                and self._is_settled(conjunct, (*labels, variable)) and not self._is_settled(conjunct, labels)
            ]
            now = [*((selected.row, selected.place.variable) for selected in candidate), (row, variable)]
            holds = all(self._is_true(condition, now) for condition in tested)
            if holds and variable in labels:
                now[-1] = (row, _UNDER_TEST)
                holds = all(
                    self._is_true(_of_one_more(conjunct, variable), now) for conjunct in open_to_all
                    if _is_of_later(conjunct) and conjunct.last == variable
                )
            self.known[key] = holds
        return self.known[key]

    def may_end(self, candidate: Candidate) -> bool:
        """Whether all conjuncts hold that were not tested on the way."""
        labels = _labels(candidate)
        now = [(selected.row, selected.place.variable) for selected in candidate]
        return all(
            self._is_true(conjunct.expression, now) for conjunct in self._positive_conjuncts()
            if not _is_of_later(conjunct) and conjunct.last in labels and not self._is_settled(conjunct, labels)
        )

    def forbids(self, variable: str, match: Candidate, row: int) -> bool:
        """Whether the event is one that must be absent."""
        now = [*((selected.row, selected.place.variable) for selected in match), (row, variable)]
        tested = [one.condition for one in self.query.types if one.variable == variable]
        tested += [one.expression for one in self.query.conjuncts if variable in dict(one.references)]
        return all(self._is_true(condition, now) for condition in tested)

    def _positive_conjuncts(self) -> list[Conjunct]:
        negated = {event.variable for event in absences(self.query.pattern)}
        return [one for one in self.query.conjuncts if one.references and negated.isdisjoint(dict(one.references))]

    def _is_settled(self, conjunct: Conjunct, labels: tuple[str, ...]) -> bool:
        return all(self._is_known(name, index, labels) for name, index in conjunct.references)

    def _is_known(self, name: str, index: Index, labels: tuple[str, ...]) -> bool:
        left = _partial_ways(self.query.pattern, labels)
        if name not in labels:
            return not any(name in way.variables for way in left)
        if index in (Index.SINGLE, Index.FIRST):
            return True
        return any((name, label) in way.before for way in left for label in labels)

    def _is_true(self, condition: Expression, now: Iterable[tuple[int, str]]) -> bool:
        rows, labels = zip(*now, strict=True)
        view = View([self.rows[row] for row in rows], 0, labels, labels, 1, self.query.dialect)
        return value(condition, view) is True


def _labels(candidate: Candidate) -> tuple[str, ...]:
    return tuple(selected.place.variable for selected in candidate)


def _is_of_later(conjunct: Conjunct) -> bool:
    return any(index is Index.CURRENT for _, index in conjunct.references)


def _of_one_more(conjunct: Conjunct, variable: str) -> Expression:
    """A conjunct of `v[i]`, which is the event under test; `v[i-1]` is then v's last."""

    def changed(target: Target, _: object) -> Target:
        is_own = target.variables == frozenset({variable})
        if is_own and target == Target(target.variables):
            return Target()
        return Target(target.variables, end=target.end) if target.offset else target

    return with_targets(conjunct.expression, changed)
