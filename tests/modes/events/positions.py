"""Where in a pattern an event is selected, and what may be selected next.

A `Place` is a component of the pattern and the way down to it: which item of a sequence, which option of an
alternation, which iteration of a Kleene. Iterations are counted, not unrolled: the places of an unbounded Kleene are
without end, and `after` finds the next ones by walking up from a place to the root. A negated component is a part that
selects nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from sparkrex.modes.events.pattern import Absent, AllOf, AnyOf, Event, EventPattern, Kleene, Sequence, events

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Place:
    """A component and the way to it from the root: indices of items and options, numbers (from 1) of iterations."""

    path: tuple[int, ...]
    variable: str


@dataclass(frozen=True, slots=True)
class Edge:
    """A place that may come next. `left` are the variables of the outermost Kleene that going there leaves."""

    place: Place
    is_take: bool
    left: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Next:
    """What may follow a place; `can_end` if nothing must, and then `left` is what ending leaves."""

    edges: tuple[Edge, ...]
    can_end: bool
    left: tuple[str, ...]


def allows_empty(pattern: EventPattern) -> bool:
    """Whether the pattern may select no event at all."""
    match pattern:
        case Event():
            return False
        case Absent():
            return True
        case Sequence(items=items) | AllOf(items=items):
            return all(map(allows_empty, items))
        case AnyOf(options=options):
            return any(map(allows_empty, options))
        case Kleene(body=body, minimum=minimum):
            return minimum == 0 or allows_empty(body)
        case _:
            assert_never(pattern)


def firsts(pattern: EventPattern, path: tuple[int, ...] = ()) -> Iterator[Place]:
    """The places of the first event that the pattern, which stands at `path`, may select."""
    match pattern:
        case Event(variable=variable):
            yield Place(path, variable)
        case Absent():
            return
        case Sequence(items=items):
            yield from _firsts_in_turn(items, path, 0)
        case AllOf():
            raise AssertionError("see `any_order`")
        case AnyOf(options=options):
            for number, option in enumerate(options):
                yield from firsts(option, (*path, number))
        case Kleene(body=body):
            yield from firsts(body, (*path, 1))
        case _:
            assert_never(pattern)


def _firsts_in_turn(items: tuple[EventPattern, ...], path: tuple[int, ...], start: int) -> Iterator[Place]:
    for number in range(start, len(items)):
        yield from firsts(items[number], (*path, number))
        if not allows_empty(items[number]):
            return


def after(pattern: EventPattern, place: Place) -> Next:
    """What may follow when the event at `place` was the last one selected."""
    way = _way(pattern, place.path)
    edges: list[Edge] = []

    def add(places: Iterator[Place], *, is_take: bool) -> None:
        edges.extend(Edge(found, is_take, _left(way, place.path, found.path)) for found in places)

    for depth in reversed(range(len(place.path))):
        above, number = place.path[:depth], place.path[depth]
        match way[depth]:
            case Sequence(items=items):
                add(_firsts_in_turn(items, above, number + 1), is_take=False)
                if not all(map(allows_empty, items[number + 1 :])):
                    return Next(tuple(edges), False, ())
            case Kleene(body=body, minimum=minimum, maximum=maximum):
                # Iterations that select nothing are not counted; if such are allowed, none is required.
                required = 0 if allows_empty(body) else minimum
                if maximum is None or number < maximum:
                    add(firsts(body, (*above, number + 1)), is_take=number + 1 > required)
                if number < required:
                    return Next(tuple(edges), False, ())
    return Next(tuple(edges), True, _left(way, place.path, ()))


def _way(pattern: EventPattern, path: tuple[int, ...]) -> list[EventPattern]:
    """The nodes from the root to the component."""
    way = [pattern]
    for number in path:
        match way[-1]:
            case Sequence(items=parts) | AnyOf(options=parts):
                way.append(parts[number])
            case Kleene(body=body):
                way.append(body)
    return way


def _left(way: list[EventPattern], path: tuple[int, ...], target: tuple[int, ...]) -> tuple[str, ...]:
    """The variables of the outermost Kleene around `path`, if `target` is outside of it."""
    for depth, node in enumerate(way):
        if isinstance(node, Kleene):
            is_inside = target[:depth] == path[:depth] and len(target) > depth
            return () if is_inside else tuple(event.variable for event in events(node))
    return ()
