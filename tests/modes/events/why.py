"""Why an event begins no match, by brute force, straight from the definition in docs/semantics.md.

1. Candidates are those of `strategies` (with AND `any_order`); a viable run of a start is a legal candidate that begins
   there and lies within the window.
2. The need of a run is the least number of events that the pattern still requires; R is the least need of viable runs,
   and that of the pattern if there is none.
3. What blocks a run of need R is asked of every event behind it, one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.modes.events.negation import _lies_in_gap as lies_in_gap
from tests.modes.events.oracle import is_match
from tests.modes.events.strategies import Selected
from tests.modes.events.windows import spans_at_most

from sparkrex.modes.events.pattern import Absent, AllOf, Sequence
from sparkrex.modes.events.pattern import events as components
from sparkrex.modes.events.plan import Strategy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.modes.events.positions import Edge
    from tests.modes.events.strategies import Candidate, Stream

Blocker = tuple[int, str, str]
"""A row of the partition, a variable, and what is in the way."""


@dataclass(frozen=True, slots=True)
class Blocked:
    """What is known of a start without a match; `runs` has the preferred run of every blocker."""

    need: int
    runs: dict[Blocker, tuple[int, ...]]


def starts(stream: Stream) -> list[int]:
    """The events of a type that the pattern may begin with."""
    edges = stream.next_of(()).edges
    return [
        row for row in range(len(stream.rows)) if any(is_of_type(stream, edge.place.variable, row) for edge in edges)
    ]


def has_match(stream: Stream, start: int) -> bool:
    """Whether a match begins at the event."""
    return any(is_match(stream, run) for run in stream.legal() if run[0].row == start)


def is_of_type(stream: Stream, variable: str, row: int) -> bool:
    """Whether the event has the type of the variable's component."""
    return all(stream.is_true(one.condition, (), row) for one in stream.query.types if one.variable == variable)


def blocked(stream: Stream, start: int) -> Blocked:
    """R of a start, and its blockers."""
    runs = [run for run in stream.legal() if run[0].row == start and spans_at_most(stream, start, run[-1].row)]
    least = min((need(stream, run) for run in runs), default=need(stream, ()))
    found: dict[Blocker, tuple[Any, ...]] = {}
    for run in runs:
        if need(stream, run) == least:
            for blocker in blockers(stream, run, least):
                preferred = order(stream, run)
                found[blocker] = min(found.get(blocker, preferred), preferred)
    if not runs:
        for edge in stream.next_of(()).edges:
            name = edge.place.variable
            if is_of_type(stream, name, start):
                found[start, name, "condition" if spans_at_most(stream, start, start) else "expired"] = (0, ())
    return Blocked(least, {blocker: tuple(row for row, _ in steps) for blocker, (_, steps) in found.items()})


def order(stream: Stream, run: Candidate) -> tuple[int, tuple[tuple[int, int], ...]]:
    """The order of preference: shorter runs, then those with earlier events, then of earlier variables."""
    names = [event.variable for event in components(stream.query.pattern)]
    return len(run), tuple((one.row, names.index(one.place.variable)) for one in run)


def need(stream: Stream, run: Candidate) -> int:
    """How many more events the pattern requires at least."""
    level, seen = [run], set()
    for n_more in range(100):
        if any(one and stream.next_of(one).can_end for one in level):
            return n_more
        longer = {}
        for one in level:
            for edge in stream.next_of(one).edges:
                after = (*one, Selected(-1, edge.place))
                # What may follow depends on the place, and with AND on the variables so far.
                key = edge.place, frozenset(step.place.variable for step in after)
                if key not in seen:
                    seen.add(key)
                    longer[key] = after
        level = list(longer.values())
    raise AssertionError("no pattern is as long")


def blockers(stream: Stream, run: Candidate, least: int) -> Iterator[Blocker]:
    """What blocks a run of need R."""
    if not least:
        yield from of_complete(stream, run)
        return
    state = stream.next_of(run)
    for edge in state.edges:
        if need(stream, (*run, Selected(-1, edge.place))) < least:
            yield from of_edge(stream, run, edge)


def of_edge(stream: Stream, run: Candidate, edge: Edge) -> Iterator[Blocker]:
    """What keeps a run from the next event of a variable: the events that it meets, one after the other."""
    state, name = stream.next_of(run), edge.place.variable
    is_contiguous = stream.query.strategy in (Strategy.STRICT, Strategy.PARTITION)
    for row in range(run[-1].row + 1, len(stream.rows)):
        if not spans_at_most(stream, run[0].row, row):
            yield row, name, "expired"
            return
        is_taken = stream.follows(run, row) and stream.holds(run, edge, row)
        if is_contiguous:
            if not is_taken:
                yield row, name, "contiguity"
            return
        if stream.follows(run, row) and not is_taken and is_of_type(stream, name, row):
            yield row, name, "condition"
        if not stream.may_ignore(run, state, row):
            return
    yield len(stream.rows), name, "end"


def of_complete(stream: Stream, run: Candidate) -> Iterator[Blocker]:
    """What rejects a run that needs nothing more."""
    if not stream.may_end(run):
        yield run[-1].row, run[-1].place.variable, "ending"
        return
    pattern = stream.query.pattern
    for number, item in enumerate(pattern.items if isinstance(pattern, Sequence | AllOf) else ()):
        if isinstance(item, Absent):
            for row in range(len(stream.rows)):
                if lies_in_gap(stream, run, number, row) and stream.forbids(item.event.variable, run, row):
                    yield row, item.event.variable, "negated"
