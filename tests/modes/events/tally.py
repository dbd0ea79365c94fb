"""What a run of random event queries exercised, and whether that was enough to mean something."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tests.modes.events.oracle import find_matches, partitions
from tests.modes.events.patterns import shapes

from sparkrex.modes.events.pattern import Absent, AllOf, Sequence, absences, has_any_order

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.modes.events.draws import Example
    from tests.modes.events.oracle import Match
    from tests.modes.events.strategies import Stream

    from sparkrex.modes.events.plan import EventQuery

LEAST_PERCENT = {
    "matched": 50, "matched more than once": 35, "matched in two partitions": 7,
    "strict_contiguity": 10, "partition_contiguity": 12, "skip_till_next_match": 25, "skip_till_any_match": 20,
    "negation at the start": 4, "negation at the middle": 4, "negation at the end": 4, "negation rejects some": 5,
    "non-overlapping": 15, "non-overlapping leaves some out": 5, "take and proceed": 15, "ignore and proceed": 5,
    "last - first = window": 2, "window leaves some out": 5, "ties": 15, "strict ties leave some out": 2,
    "microseconds": 5, "of the time column": 15, "events": 15,
    "+": 40, "*": 5, "?": 5, "{n,m}": 10, "alternation": 8, "Kleene of more than an event": 10,
    "leave": 8, "leave matters": 2, "NULL in an equivalence test": 3,
    "any order": 12, "any order matched": 7, "negation in any order": 2, "several decide in any order": 6,
    "several decide in any order, which matters": 2,
}
"""The share of examples, of all, in which each must have happened."""


@dataclass(slots=True)
class Tally:
    """Counts of examples by what happened in them."""

    examples: int = 0
    happened: Counter[str] = field(default_factory=Counter)
    ways: Counter[str] = field(default_factory=Counter)

    def add(self, example: Example, matches: list[Match], ways: Iterable[str] = ()) -> None:
        """Counts one example, whose answer is `matches`; `ways` say how the engine was asked."""
        self.examples += 1
        self.happened.update(set(_happened(example, matches)))
        self.ways.update(ways)

    def percent(self, name: str) -> float:
        """The share of examples in which it happened."""
        return 100 * self.happened[name] / max(1, self.examples)

    def shortfalls(self) -> list[str]:
        """The targets that this run missed."""
        return [
            f"{name}: {self.percent(name):.1f}%, wanted at least {least}%"
            for name, least in LEAST_PERCENT.items() if self.percent(name) < least
        ]

    def table(self) -> str:
        """The counts as text."""
        lines = [f"{self.examples} examples"]
        lines += [f"{name:34} {self.happened[name]:7} {self.percent(name):6.1f}%" for name in LEAST_PERCENT]
        lines += [
            f"asked: {name:27} {count:7} {100 * count / self.examples:6.1f}%" for name, count in self.ways.most_common()
        ]
        return "\n".join(lines)


def _happened(example: Example, matches: list[Match]) -> list[str]:
    query, rows = example.query, example.rows
    happened = [query.strategy.value, *shapes(query.pattern)]
    streams = partitions(query, rows)
    everything = replace(query, is_non_overlapping=False)
    n_all = len(find_matches(everything, rows))
    found_in = [sum(chosen[0] in partition.rows for chosen, _ in matches) for partition in streams]
    tied = [partition for partition in streams if len(set(partition.stream.times)) < len(partition.rows)]
    questions = {
        "matched": bool(matches),
        "matched more than once": len(matches) > 1,
        "any order matched": bool(matches) and has_any_order(query.pattern),
        "matched in two partitions": sum(map(bool, found_in)) > 1,
        "non-overlapping": query.is_non_overlapping,
        "non-overlapping leaves some out": query.is_non_overlapping and len(matches) < n_all,
        "ties": bool(tied),
        "leave": bool(query.leave),
        "NULL in an equivalence test": bool(query.partition_by) and any(row["k"] is None for row in rows),
        "take and proceed": any(_branches(partition.stream, is_take=True) for partition in streams),
        "ignore and proceed": any(_branches(partition.stream, is_take=False) for partition in streams),
    }
    if query.window is not None:
        happened.append(query.window.unit.value)
        smaller = replace(query, window=replace(query.window, size=float(query.window.size) - 0.25))
        if not absences(query.pattern):
            questions["last - first = window"] = find_matches(smaller, rows) != matches
            questions["window leaves some out"] = len(find_matches(replace(everything, window=None), rows)) > n_all
    if absences(query.pattern):
        questions["negation rejects some"] = n_all < len(find_matches(_without_negation(everything), rows))
    if tied and query.has_strict_ties:
        loose = replace(everything, has_strict_ties=False)
        questions["strict ties leave some out"] = n_all < len(find_matches(loose, rows))
    if query.open_conjuncts():
        rest = tuple(one for one in query.conjuncts if one not in query.open_conjuncts())
        questions["several decide in any order"] = True
        questions["several decide in any order, which matters"] = n_all < len(
            find_matches(replace(everything, conjuncts=rest), rows)
        )
    if query.leave:
        questions["leave matters"] = n_all < len(find_matches(replace(everything, leave=()), rows))
    return happened + [name for name, is_so in questions.items() if is_so]


def _without_negation(query: EventQuery) -> EventQuery:
    """The same query for the positive components only."""
    assert isinstance(query.pattern, Sequence | AllOf)
    kept = tuple(item for item in query.pattern.items if not isinstance(item, Absent))
    negated = {event.variable for event in absences(query.pattern)}
    conjuncts = tuple(one for one in query.conjuncts if one.variables.isdisjoint(negated))
    return replace(query, pattern=replace(query.pattern, items=kept), absent=(), conjuncts=conjuncts)


def _branches(stream: Stream, *, is_take: bool) -> bool:
    """Whether some event lets a run proceed that could also take it (or else ignore it, and stay)."""
    for candidate in stream.legal():
        state = stream.next_of(candidate)
        takes = [edge for edge in state.edges if edge.is_take]
        if not takes or len(takes) == len(state.edges):
            continue
        for row in range(candidate[-1].row + 1, len(stream.rows)):
            proceeds = any(
                stream.is_step(candidate, state, edge, row) for edge in state.edges if not edge.is_take
            )
            if proceeds and is_take == any(stream.holds(candidate, edge, row) for edge in takes):
                return True
    return False
