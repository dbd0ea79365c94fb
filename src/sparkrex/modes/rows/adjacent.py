"""References to other variables that always stand at the same distance from the row under test.

In `PATTERN (X Y+ Z)` the row before Z's is the last one of Y, so `Y.a` in Z's condition is `PREV(a)`. Named so, a
condition that seems to depend on the match is seen to depend on rows alone.

The pattern is walked once for each reference, with what is known of the distance between the next row and the last
(or first) row mapped to one of its variables: there is no such row yet, it is a number of rows, or it may be anything.
Where ways through the pattern meet and differ, it may be anything; a loop is walked until nothing changes.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING

from sparkrex.languages.match_recognize import row_pattern as rp
from sparkrex.scalar.expression import Call, ColumnAt, End, Expression, Target

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sparkrex.languages.match_recognize.row_pattern import RowPattern


class _Known(Enum):
    """What is known of a distance beside numbers."""

    UNREACHED = "unreached"
    NO_ROW = "no row"
    ANYTHING = "anything"


_Distance = int | _Known


def name_adjacent_rows(pattern: RowPattern, variables: tuple[str, ...], condition: Expression) -> Expression:
    """The condition of `variables` with references at fixed distances made references to neighbours of the row.

    References to the row under test must already be named as such (`scalar.current_row`). Aggregates stay as they are.
    """
    match condition:
        case ColumnAt(target):
            distance = _distance(pattern, variables, target)
            if distance is None:
                return condition
            return replace(condition, target=Target(shift=target.shift - distance))
        case Call(operands=operands):
            return replace(
                condition, operands=tuple(name_adjacent_rows(pattern, variables, part) for part in operands)
            )
        case _:
            return condition


def _distance(pattern: RowPattern, variables: tuple[str, ...], target: Target) -> int | None:
    """How many rows before the row under test the target's row, without its shift, always stands; None if it varies."""
    if target.offset or (target.variables is None and target.end is End.LAST):
        return None
    walk = _Walk(variables, target.variables, target.end)
    walk.pass_through(pattern, _Known.NO_ROW)
    return walk.found if isinstance(walk.found, int) else None


class _Walk:
    def __init__(self, tested: tuple[str, ...], read: frozenset[str] | None, end: End) -> None:
        self.tested = tested
        self.read = read
        self.end = end
        self.found: _Distance = _Known.UNREACHED

    def pass_through(self, pattern: RowPattern, before: _Distance) -> _Distance:
        """The distance after the pattern, from that before it; notes what it is where a variable is tested."""
        match pattern:
            case rp.Variable(name):
                return self._variable(name, before)
            case rp.Concatenation(items):
                for item in items:
                    before = self.pass_through(item, before)
                return before
            case rp.Alternation(options):
                return _join(self.pass_through(option, before) for option in options)
            case rp.Quantified(body=body, minimum=minimum, maximum=maximum):
                if minimum == maximum == 1:
                    return self.pass_through(body, before)
                return self._loop(body, before, is_optional=minimum == 0, repeats=maximum != 1)
            case rp.Exclusion(body):
                return self.pass_through(body, before)
            case rp.Permutation(items):
                for item in items:
                    self.pass_through(item, _Known.ANYTHING)
                return _Known.ANYTHING
            case rp.Anchor() | rp.Empty():
                return before
            case _:
                self.found = _Known.ANYTHING  # patterns of segments
                return _Known.ANYTHING

    def _loop(self, body: RowPattern, before: _Distance, *, is_optional: bool, repeats: bool) -> _Distance:
        start = before
        after = self.pass_through(body, start)
        while repeats and (joined := _join((start, after))) != start:
            start = joined
            after = self.pass_through(body, start)
        return _join((before, after)) if is_optional else after

    def _variable(self, name: str, before: _Distance) -> _Distance:
        is_read = self.read is None or name in self.read
        if name in self.tested:
            # The row under test counts as mapped: it may be the first.
            here = 0 if is_read and (before is _Known.NO_ROW or self.end is End.LAST) else before
            self.found = _join((self.found, here))
        if is_read and (before is _Known.NO_ROW or self.end is End.LAST):
            return 1
        return before + 1 if isinstance(before, int) else before


def _join(distances: Iterable[_Distance]) -> _Distance:
    """What is known where several ways meet."""
    known = {distance for distance in distances if distance is not _Known.UNREACHED}
    if not known:
        return _Known.UNREACHED
    return known.pop() if len(known) == 1 else _Known.ANYTHING
