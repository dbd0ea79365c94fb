"""The trends of a pattern among a few events, by Definitions 2.4, 2.6 and 2.8 of the paper, one by one.

A trend under skip-till-any-match is every sequence of events with variables that the pattern allows, whose events are
each later than the one before and meet the conditions on adjacent events. The other semantics throw some of these away,
as soon as they can be told. So does negation, which looks for trends of the negated part in the same events.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias

from tests.modes.trends import query as queries
from tests.modes.trends.event_types import is_of_type
from tests.modes.trends.query import leaves, positive_leaves
from tests.modes.trends.values import holds
from tests.modes.trends.words import derivations, is_prefix, is_word

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tests.modes.trends.query import Absent, Adjacent, Local, Pattern, Query


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """A row in its partition: `number` is its place among all its rows, `moment` what decides which is later."""

    row: Mapping[str, Any]
    number: int
    moment: tuple[Any, ...]

    def __repr__(self) -> str:
        return f"{self.row['kind']}{self.number}"


Trend: TypeAlias = tuple[tuple[Event, str], ...]
"""Events and their variables. Two trends are the same if they have the same events under the same variables."""


class Stream:
    """The events of one partition inside one window, without those that are removed; in order."""

    def __init__(self, query: Query, events: Sequence[Event]) -> None:
        self.query = query
        self.events = tuple(events)
        self.fitting = {event: fitting_variables(query, event.row) for event in events}
        self._formed: dict[Pattern, frozenset[Trend]] = {}
        self._adjacent: defaultdict[tuple[str, str], list[Adjacent]] = defaultdict(list)
        for pair in query.adjacent:
            for names in product(query.variables_of(pair.before), query.variables_of(pair.after)):
                self._adjacent[names].append(pair)

    def trends(self, pattern: Pattern) -> frozenset[Trend]:
        """The trends of one side of `&` that count."""
        return frozenset(
            trend for trend in self.formed(pattern)
            if len(trend) >= self.query.least_length and not self._is_rejected(pattern, trend)
        )

    def formed(self, pattern: Pattern) -> frozenset[Trend]:
        """The trends as if nothing were negated."""
        if pattern not in self._formed:
            self._formed[pattern] = frozenset(
                trend for trend in self._sequences(pattern, ()) if is_word(pattern, _word(trend))
            )
        return self._formed[pattern]

    def _sequences(self, pattern: Pattern, trend: Trend) -> Iterator[Trend]:
        """All sequences that begin like this one and may become trends.

        One that the semantics do not allow does not become allowed by what follows it.
        """
        if not self._is_allowed(pattern, trend):
            return
        yield trend
        for event in self.events:
            if not trend or trend[-1][0].moment < event.moment:
                for variable in self._continuations(pattern, trend, event):
                    yield from self._sequences(pattern, (*trend, (event, variable)))

    def _continuations(self, pattern: Pattern, trend: Trend, event: Event) -> list[str]:
        """The variables under which a later event may be the next one of the trend, by pattern and conditions."""
        return [
            leaf.variable for leaf in positive_leaves(pattern)
            if leaf.variable in self.fitting[event]
            and is_prefix(pattern, (*_word(trend), leaf.variable))
            and (not trend or self._may_be_adjacent(*trend[-1], event, leaf.variable))
        ]

    def _may_be_adjacent(self, event: Event, variable: str, later: Event, later_variable: str) -> bool:
        return all(
            holds(pair.left.of(event.row), pair.operator, pair.right.of(later.row))
            for pair in self._adjacent[variable, later_variable]
        )

    def _is_allowed(self, pattern: Pattern, trend: Trend) -> bool:
        match self.query.semantics:
            case queries.CONTIGUOUS:
                return not self._has_gap(trend)
            case queries.NEXT:
                return not self._skips_relevant(pattern, trend)
            case _:
                return True

    def _skips_relevant(self, pattern: Pattern, trend: Trend) -> bool:
        """Whether between two of its events there is one that could have continued it (Definition 2.6)."""
        return any(
            trend[n - 1][0].moment < event.moment < trend[n][0].moment
            and self._continuations(pattern, trend[:n], event)
            for n in range(1, len(trend)) for event in self.events
        )

    def _has_gap(self, trend: Trend) -> bool:
        """Whether an event between its first and its last is not part of it (Definition 2.8)."""
        chosen = {event for event, _ in trend}
        return bool(trend) and any(
            trend[0][0].moment < event.moment < trend[-1][0].moment and event not in chosen for event in self.events
        )

    def _is_rejected(self, pattern: Pattern, trend: Trend) -> bool:
        """Whether, however the trend is read, a negated part has a trend where it must not have one."""
        moments = [(-math.inf,), *(event.moment for event, _ in trend), (math.inf,)]
        return not any(
            all(
                not self._has_trend_between(absent, moments[gap], moments[gap + 1])
                for gap, absences in enumerate(derivation) for absent in absences
            )
            for derivation in derivations(pattern, _word(trend))
        )

    def _has_trend_between(self, absent: Absent, low: tuple[Any, ...], high: tuple[Any, ...]) -> bool:
        return any(low < trend[0][0].moment and trend[-1][0].moment < high for trend in self.formed(absent.body))


def fitting_variables(query: Query, row: Mapping[str, Any]) -> frozenset[str]:
    """The variables, also negated ones, of whose type an event is and whose own conditions it meets."""
    return frozenset(
        leaf.variable for pattern in query.patterns for leaf in leaves(pattern)
        if is_of_type(row, leaf.type)
        and all(_is_met(local, row) for local in query.local if leaf.variable in query.variables_of(local.name))
    )


def is_removed(query: Query, row: Mapping[str, Any]) -> bool:
    """Whether an event is of a type that the query names, and yet fits no variable."""
    types = {leaf.type for pattern in query.patterns for leaf in leaves(pattern)}
    return any(is_of_type(row, name) for name in types) and not fitting_variables(query, row)


def _is_met(condition: Local, row: Mapping[str, Any]) -> bool:
    left = condition.left.of(row)
    match condition.operator:
        case "IS NULL":
            return left is None
        case "IS NOT NULL":
            return left is not None
    assert condition.right is not None
    return holds(left, condition.operator, condition.right.of(row))


def _word(trend: Trend) -> tuple[str, ...]:
    return tuple(variable for _, variable in trend)
