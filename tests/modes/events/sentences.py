"""Matches of SEQ over single components and `+`, from the sentences of issue 6 and nothing else.

A second opinion on `oracle` where the definition needs no places and edges: every subsequence is cut into components in
every way, and each sentence is asked of the whole.

- Every event that satisfies the first component's begin condition may start a match.
- a[i+1] is the first later event that satisfies take given a[1..i].
- The event after a Kleene component is any later event that satisfies begin with no take-satisfying event strictly
  between it and the last a[i]; it may itself satisfy take.
- A single component is the first later event that satisfies its begin.
- Skip till any match drops "first" and "no event between"; contiguity wants neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

from tests.modes.rows.oracle.expressions import View, value

from sparkrex.modes.events.pattern import Event, Kleene, Sequence
from sparkrex.modes.events.plan import EventQuery, Strategy

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from collections.abc import Sequence as Rows

Labelled = tuple[tuple[int, ...], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Component:
    """A variable, and whether it is an array."""

    variable: str
    is_array: bool


def components(query: EventQuery) -> list[Component]:
    """The components of a SEQ of single components and `+`."""
    assert isinstance(query.pattern, Sequence)
    found = []
    for item in query.pattern.items:
        if isinstance(item, Event):
            found.append(Component(item.variable, False))
        else:
            assert isinstance(item, Kleene)
            assert isinstance(item.body, Event)
            assert (item.minimum, item.maximum) == (1, None)
            found.append(Component(item.body.variable, True))
    return found


def matches_by_sentences(query: EventQuery, rows: Rows[Mapping[str, Any]]) -> set[Labelled]:
    """The matches in one partition whose rows are in order; without WITHIN and ties."""
    parts = components(query)
    return {
        (chosen, labels)
        for length in range(len(parts), len(rows) + 1)
        for chosen in combinations(range(len(rows)), length)
        for labels in _labellings(parts, length)
        if _is_match(query, rows, parts, chosen, labels)
    }


def _labellings(parts: list[Component], length: int) -> Iterator[tuple[str, ...]]:
    """Every way to give `length` events to the components in turn, one to a single, one or more to an array."""
    if not parts:
        if length == 0:
            yield ()
        return
    head, *tail = parts
    for size in range(1, (length if head.is_array else min(1, length)) + 1):
        for rest in _labellings(tail, length - size):
            yield (head.variable,) * size + rest


def _is_match(
    query: EventQuery, rows: Rows[Mapping[str, Any]], parts: list[Component], chosen: tuple[int, ...],
    labels: tuple[str, ...],
) -> bool:
    arrays = {part.variable for part in parts if part.is_array}

    def satisfies(word: str, variable: str, n_before: int, row: int) -> bool:
        """Whether the event satisfies the variable's begin or take, given the first `n_before` events."""
        definitions = query.begin if word == "begin" else query.take
        conditions = [one.condition for one in definitions if one.variable == variable]
        seen = [rows[place] for place in (*chosen[:n_before], row)]
        names = (*labels[:n_before], "this event")
        return all(value(one, View(seen, 0, names, names, 1, query.dialect)) is True for one in conditions)

    for n_before, (row, label) in enumerate(zip(chosen, labels, strict=True)):
        previous = labels[n_before - 1] if n_before else None
        word = "take" if label == previous else "begin"
        if not satisfies(word, label, n_before, row):
            return False
        if previous is None:
            continue
        between = range(chosen[n_before - 1] + 1, row)
        if query.strategy in (Strategy.STRICT, Strategy.PARTITION) and between:
            return False
        if query.strategy is Strategy.NEXT:
            awaited = ("take", previous) if previous in arrays else ("begin", label)
            if any(satisfies(*awaited, n_before, passed) for passed in between):
                return False
    return True
