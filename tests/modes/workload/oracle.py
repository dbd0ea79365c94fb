"""The answer of one pattern of a workload by brute force, from the definition of event queries under
skip_till_any_match. It knows nothing of plans, normal forms or matchers.

1. Rows form partitions by the equivalence tests, ordered by time and tie-break columns.
2. A choice gives every variable of one way through the pattern events of its type: one, or under a Kleene a non-empty
   set (`choices`). SEQ orders its parts, AND does not; no event is chosen twice.
3. A choice is a match if it lies within the window, all conjuncts hold, and nothing is there that must be absent.
   The same events under the same variables are one match, by however many alternatives.
4. With more than `max_kleene` events of a Kleene in a window, matches that end there or later do not count.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

from tests.modes.rows.oracle.expressions import View, value, value_of_row

from sparkrex.modes.events.language.syntax import Index
from sparkrex.modes.events.pattern import Absent, AllOf, AnyOf, Event, Kleene, Sequence, absences, positive_variables
from sparkrex.syntax.units import WindowUnit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sparkrex.modes.events.pattern import EventPattern
    from sparkrex.modes.events.plan import Conjunct, EventQuery

Match = tuple[tuple[int, ...], tuple[str, ...]]
"""The numbers of the input rows of a match's events, in their order, and the variable of each."""
Choice = dict[str, tuple[int, ...]]
"""Positions in the partition, by variable."""


@dataclass(frozen=True)
class Partition:
    """The numbers of its rows in order, the rows, and their times."""

    numbers: list[int]
    rows: list[Mapping[str, Any]]
    times: list[Any]


def find_matches(
    query: EventQuery, rows: list[dict[str, Any]], max_kleene: int = 20
) -> list[list[Match]]:
    """All matches, a list for each partition in the order of `partitions`; those that end first come first."""
    return [_Finder(query, partition, max_kleene).matches() for partition in partitions(query, rows)]


def partitions(query: EventQuery, rows: list[dict[str, Any]]) -> list[Partition]:
    """Events that agree in the equivalence tests, by their first rows; one that is NULL in any is in no partition."""
    groups: dict[tuple[Any, ...], list[int]] = {}
    for number, row in enumerate(rows):
        key = tuple(value_of_row(one.expression, row, query.dialect) for one in query.partition_by)
        if None not in key:
            groups.setdefault(key, []).append(number)
    found = []
    for numbers in groups.values():
        keys = {
            number: tuple(value_of_row(one.expression, rows[number], query.dialect) for one in query.order_by)
            for number in numbers
        }
        numbers.sort(key=lambda number, keys=keys: keys[number])  # type: ignore[misc]
        found.append(Partition(numbers, [rows[one] for one in numbers], [keys[one][0] for one in numbers]))
    return found


class _Finder:
    """The matches of a query in one partition."""

    def __init__(self, query: EventQuery, partition: Partition, max_kleene: int) -> None:
        self.query, self.partition, self.max_kleene = query, partition, max_kleene
        self.types = {definition.variable: definition.condition for definition in query.types}
        self.positive = positive_variables(query.pattern)
        self.negated = {event.variable for event in absences(query.pattern)}

    def matches(self) -> list[Match]:
        stop = self.first_overflow()
        found = [
            choice for choice in self.choices(self.query.pattern)
            if choice and _last(choice) < stop and self.is_match(choice)
        ]
        partition = self.partition
        result = []
        for choice in found:
            events = sorted((row, variable) for variable, chosen in choice.items() for row in chosen)
            rows, variables = zip(*events, strict=True)
            places = tuple(self.positive.index(variable) for variable in variables)
            result.append(((rows[-1], rows[0], len(rows), rows, places), rows, variables))
        return [
            (tuple(partition.numbers[row] for row in rows), variables) for _, rows, variables in sorted(set(result))
        ]

    # What may be chosen.

    def choices(self, pattern: EventPattern) -> Iterator[Choice]:
        """Every choice of events for a pattern, in the order that it asks for."""
        match pattern:
            case Event(variable=variable):
                for row in self.events_of(variable):
                    yield {variable: (row,)}
            case Absent():
                yield {}
            case Kleene(body=Event(variable=variable), minimum=minimum, maximum=None):
                assert minimum < 2
                if not minimum:
                    yield {}
                rows = self.events_of(variable)
                for size in range(1, len(rows) + 1):
                    for chosen in combinations(rows, size):
                        if all(self.precedes(one, other) for one, other in pairwise(chosen)):
                            yield {variable: chosen}
            case Kleene(body=body, minimum=0, maximum=1):
                yield {}
                yield from self.choices(body)
            case AnyOf(options=options):
                for option in options:
                    yield from self.choices(option)
            case Sequence(items=items) | AllOf(items=items):
                yield from self._combined(items, is_ordered=isinstance(pattern, Sequence))
            case _:
                raise NotImplementedError(pattern)

    def _combined(self, items: tuple[EventPattern, ...], *, is_ordered: bool) -> Iterator[Choice]:
        if not items:
            yield {}
            return
        *before, item = items
        for choice in list(self.choices(item)):
            for others in self._combined(tuple(before), is_ordered=is_ordered):
                if self._may_stand_together(others, choice, is_ordered=is_ordered):
                    yield {**others, **choice}

    def _may_stand_together(self, one: Choice, other: Choice, *, is_ordered: bool) -> bool:
        pairs = [(left, right) for left in _rows(one) for right in _rows(other)]
        if is_ordered:
            return all(self.precedes(left, right) for left, right in pairs)
        return all(self.precedes(left, right) or self.precedes(right, left) for left, right in pairs)

    def events_of(self, variable: str) -> list[int]:
        """The events of a variable's type."""
        condition = self.types.get(variable)
        if condition is None:
            return list(range(len(self.partition.rows)))
        dialect = self.query.dialect
        return [row for row, event in enumerate(self.partition.rows) if value_of_row(condition, event, dialect) is True]

    def precedes(self, earlier: int, later: int) -> bool:
        """Whether one event comes before another; with strict ties, earlier in time."""
        times = self.partition.times
        return earlier < later and not (self.query.has_strict_ties and times[earlier] == times[later])

    def is_within(self, first: int, last: int) -> bool:
        """Whether the second of two events is at most a window after the first."""
        window, times = self.query.window, self.partition.times
        if window is None:
            return True
        if window.unit is WindowUnit.EVENTS:
            return bool(last - first <= window.size)
        distance = times[last] - times[first]
        if window.unit is WindowUnit.TIME:
            return bool(distance / timedelta(microseconds=1) <= window.size)
        return bool(distance <= window.size)

    # What must hold.

    def is_match(self, choice: Choice) -> bool:
        """Whether a choice is a match."""
        positive = [conjunct for conjunct in self.query.conjuncts if not conjunct.variables & self.negated]
        return (
            self.is_within(_first(choice), _last(choice))
            and all(self.holds(conjunct, choice) for conjunct in positive)
            and not any(self.is_there(number, choice) for number in range(len(self._items())))
        )

    def holds(self, conjunct: Conjunct, choice: Choice) -> bool:
        """Whether a conjunct holds: at every later event of an array that it says something of, else once."""
        if conjunct.last is not None and conjunct.last not in choice:
            return True
        arrays = {name for name, index in conjunct.references if index is Index.CURRENT}
        if not arrays:
            return self.is_true(conjunct, choice)
        (array,) = arrays
        lengths = range(2, len(choice[array]) + 1)
        return all(self.is_true(conjunct, {**choice, array: choice[array][:length]}) for length in lengths)

    def is_true(self, conjunct: Conjunct, choice: Choice) -> bool:
        """Whether it is true of the last events of a choice's arrays."""
        events = sorted((row, variable) for variable, chosen in choice.items() for row in chosen)
        rows = [self.partition.rows[row] for row, _ in events]
        labels = tuple(variable for _, variable in events)
        return value(conjunct.expression, View(rows, 0, labels, labels, 1, self.query.dialect)) is True

    def _items(self) -> tuple[EventPattern, ...]:
        pattern = self.query.pattern
        return pattern.items if isinstance(pattern, Sequence | AllOf) else ()

    def is_there(self, number: int, choice: Choice) -> bool:
        """Whether an event is there that an item of the pattern says must be absent."""
        item = self._items()[number]
        if not isinstance(item, Absent):
            return False
        variable = item.event.variable
        conjuncts = [conjunct for conjunct in self.query.conjuncts if variable in conjunct.variables]
        return any(
            self.is_in_gap(number, choice, row)
            and all(self.is_true(conjunct, {**choice, variable: (row,)}) for conjunct in conjuncts)
            for row in self.events_of(variable)
        )

    def is_in_gap(self, number: int, choice: Choice, row: int) -> bool:
        """Whether an event is where a negated item looks."""
        if isinstance(self.query.pattern, AllOf):
            return self.precedes(_first(choice), row) and self.precedes(row, _last(choice))
        before = self._chosen(self._items()[:number], choice)
        after = self._chosen(self._items()[number + 1 :], choice)
        is_after = self.precedes(max(before), row) if before else self.is_within(row, _last(choice))
        is_before = self.precedes(row, min(after)) if after else self.is_within(_first(choice), row)
        return is_after and is_before

    def _chosen(self, items: tuple[EventPattern, ...], choice: Choice) -> list[int]:
        names = {name for item in items for name in positive_variables(item)}
        return [row for name, rows in choice.items() if name in names for row in rows]

    # Too many events of a Kleene.

    def first_overflow(self) -> int:
        """The first event that is one too many of a Kleene in a window; the number of events if there is none."""
        n_rows = len(self.partition.rows)
        found = [n_rows]
        for variable in _arrays(self.query.pattern):
            events = [row for row in self.events_of(variable) if self.may_be_in_array(variable, row)]
            found += [
                row for row in events
                if sum(self.is_within(one, row) for one in events if one <= row) > self.max_kleene
            ]
        return min(found)

    def may_be_in_array(self, variable: str, row: int) -> bool:
        """Whether what is said of one event of an array alone lets it be the first, or a later one."""
        alone = [conjunct for conjunct in self.query.conjuncts if conjunct.variables == {variable}]
        return any(
            all(self.is_true(one, {variable: (row,)}) for one in alone if _reads_only(one, index))
            for index in (Index.FIRST, Index.CURRENT)
        )


def _reads_only(conjunct: Conjunct, index: Index) -> bool:
    return all(one is index for _, one in conjunct.references)


def _arrays(pattern: EventPattern) -> list[str]:
    match pattern:
        case Kleene(body=Event(variable=variable), maximum=None):
            return [variable]
        case Kleene(body=body):
            return _arrays(body)
        case Sequence(items=parts) | AllOf(items=parts) | AnyOf(options=parts):
            return [name for part in parts for name in _arrays(part)]
        case _:
            return []


def _rows(choice: Choice) -> list[int]:
    return [row for chosen in choice.values() for row in chosen]


def _first(choice: Choice) -> int:
    return min(_rows(choice))


def _last(choice: Choice) -> int:
    return max(_rows(choice))
