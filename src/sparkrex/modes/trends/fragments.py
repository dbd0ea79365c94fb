"""Which positions of a pattern follow each other, and which negated parts stand between them.

A *position* is an occurrence of a variable, after quantifiers with bounds have been written out. A *way* is the set of
negated parts on one path between two positions; a pair of positions may have several ways, and one that contains
another is left out: it allows nothing more.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sparkrex.errors import UnsupportedError
from sparkrex.modes.trends.pattern import Absent, AnyOf, Event, Kleene, Sequence

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sparkrex.modes.trends.pattern import TrendPattern
    from sparkrex.source import Source

Way = frozenset[int]
Ways = frozenset[Way]

FREE: Ways = frozenset((frozenset(),))
"""One way, with nothing on it."""
NONE: Ways = frozenset()
MOST_POSITIONS = 1_000
"""Of one pattern with its bounded quantifiers written out."""


@dataclass(slots=True)
class Fragment:
    """A part of a pattern: the ways through it without an event, to its first positions, from its last ones, and
    between positions that follow each other."""

    empty: Ways = NONE
    first: dict[int, Ways] = field(default_factory=dict)
    last: dict[int, Ways] = field(default_factory=dict)
    follow: dict[tuple[int, int], Ways] = field(default_factory=dict)


class Positions:
    """Writes patterns out: `variables` has the variable of every position so far.

    `numbers` are those of negated parts, by the identity of their nodes.
    """

    def __init__(self, numbers: dict[int, int], source: Source | None) -> None:
        self.variables: list[str] = []
        self._numbers = numbers
        self._source = source

    def fragment(self, pattern: TrendPattern) -> Fragment:
        """The fragment of a pattern, with positions of its own."""
        match pattern:
            case Event(variable=variable):
                if len(self.variables) >= MOST_POSITIONS:
                    raise UnsupportedError(
                        "REX301", f"a pattern of more than {MOST_POSITIONS:,} events, quantifiers written out",
                        self._source, pattern.span, hint="use smaller bounds",
                    )
                self.variables.append(variable)
                position = len(self.variables) - 1
                return Fragment(first={position: FREE}, last={position: FREE})
            case Absent():
                return Fragment(empty=frozenset((frozenset((self._numbers[id(pattern)],)),)))
            case Sequence(items=items):
                return self._sequence([self.fragment(item) for item in items])
            case AnyOf(options=options):
                return _either([self.fragment(option) for option in options])
            case Kleene():
                return self._repeat(pattern)

    def _repeat(self, loop: Kleene) -> Fragment:
        required = [self.fragment(loop.body) for _ in range(loop.minimum)]
        if loop.maximum is None:
            if not required:
                return _optional(_plus(self.fragment(loop.body)))
            return self._sequence([*required[:-1], _plus(required[-1])])
        rest = Fragment(empty=FREE)
        for _ in range(loop.maximum - loop.minimum):
            # From the inside out: one more only after all before it.
            rest = _optional(_concatenate(self.fragment(loop.body), rest))
        return self._sequence([*required, rest])

    def _sequence(self, parts: Iterable[Fragment]) -> Fragment:
        found = Fragment(empty=FREE)
        for part in parts:
            found = _concatenate(found, part)
        return found


def _join(one: Ways, other: Ways) -> Ways:
    return _minimal(here | there for here in one for there in other)


def _minimal(ways: Iterable[Way]) -> Ways:
    every = set(ways)
    return frozenset(way for way in every if not any(other < way for other in every))


def _merge(target: dict[int, Ways], position: int, ways: Ways) -> None:
    if ways:
        target[position] = _minimal(target.get(position, NONE) | ways)


def _add_pairs(follow: dict[tuple[int, int], Ways], last: dict[int, Ways], first: dict[int, Ways]) -> None:
    for before, out in last.items():
        for after, into in first.items():
            follow[before, after] = _minimal(follow.get((before, after), NONE) | _join(out, into))


def _concatenate(one: Fragment, other: Fragment) -> Fragment:
    found = Fragment(
        _join(one.empty, other.empty), dict(one.first), dict(other.last), {**one.follow, **other.follow}
    )
    for position, ways in other.first.items():
        _merge(found.first, position, _join(one.empty, ways))
    for position, ways in one.last.items():
        _merge(found.last, position, _join(ways, other.empty))
    _add_pairs(found.follow, one.last, other.first)
    return found


def _either(options: list[Fragment]) -> Fragment:
    found = Fragment()
    for option in options:
        found.empty = _minimal(found.empty | option.empty)
        found.first.update(option.first)
        found.last.update(option.last)
        found.follow.update(option.follow)
    return found


def _plus(body: Fragment) -> Fragment:
    follow = dict(body.follow)
    _add_pairs(follow, body.last, body.first)
    return Fragment(body.empty, body.first, body.last, follow)


def _optional(body: Fragment) -> Fragment:
    return Fragment(_minimal(body.empty | FREE), body.first, body.last, body.follow)
