"""Plain queries under ALL MATCHES by brute force: every mapping of rows to point variables, conditions as the standard
has them. Segment variables may occur beside them, as they do between two steps of rewriting.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

from tests.modes.segments import definitions
from tests.modes.segments.values import Scene, value

from sparkrex.modes.segments import pattern as sp
from sparkrex.scalar.expression import Aggregate, Call, ColumnAt, End, Expression, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sparkrex.modes.segments.pattern import SegmentPattern
    from sparkrex.modes.segments.plan import SegmentSearch

Segment = tuple[int, int]


@dataclass(frozen=True, slots=True)
class RowMapping:
    """Rows mapped to point variables, in order, and the segments of segment variables."""

    points: tuple[tuple[int, str], ...] = ()
    segments: tuple[tuple[str, Segment], ...] = ()

    def then(self, other: RowMapping) -> RowMapping:
        """Both together."""
        return RowMapping(tuple(sorted({*self.points, *other.points})), (*self.segments, *other.segments))


def answers(search: SegmentSearch, rows: Sequence[Mapping[str, Any]]) -> set[tuple[Any, ...]]:
    """(start, end, measures...) of every match in one partition."""
    last = len(rows) - 1 - search.rows_after
    return {
        (start, whole[1], *(_value(measure.expression, found, rows, whole) for measure in search.measures))
        for start in range(last + 1)
        for end in range(start, last + 1)
        for whole in [(start, end + search.rows_after)]
        for found in _mappings(search.pattern, start, end)
        if _holds(search, found, rows, whole)
    }


def _mappings(pattern: SegmentPattern, start: int, end: int) -> Iterator[RowMapping]:
    if start > end:
        return
    match pattern:
        case sp.PointVariable(name):
            if start == end:
                yield RowMapping(((start, name),))
        case sp.SegmentVariable(name):
            yield RowMapping((), ((name, (start, end)),))
        case sp.Alternation(options):
            for option in options:
                yield from _mappings(option, start, end)
        case sp.And(items):
            for together in product(*(list(_mappings(item, start, end)) for item in items)):
                yield _all(together)
        case sp.Concatenation(items, shares):
            yield from _chained(items, shares, start, end)
        case sp.Kleene(body, minimum, maximum, shares):
            assert not shares  # a plain query repeats points
            n_rows = end - start + 1
            for times in range(minimum, min(maximum or n_rows, n_rows) + 1):
                yield from _chained((body,) * times, (False,) * (times - 1), start, end)


def _chained(
    items: tuple[SegmentPattern, ...], shares: tuple[bool, ...], start: int, end: int
) -> Iterator[RowMapping]:
    if len(items) == 1:
        yield from _mappings(items[0], start, end)
        return
    for middle in range(start, end + 1):
        for first in _mappings(items[0], start, middle):
            for rest in _chained(items[1:], shares[1:], middle if shares[0] else middle + 1, end):
                yield first.then(rest)


def _all(together: tuple[RowMapping, ...]) -> RowMapping:
    found = RowMapping()
    for one in together:
        found = found.then(one)
    return found


def _holds(search: SegmentSearch, found: RowMapping, rows: Sequence[Mapping[str, Any]], whole: Segment) -> bool:
    for row, name in found.points:
        condition = search.definition(name).condition
        seen = RowMapping(tuple(point for point in found.points if point[0] <= row), found.segments)
        if condition is not None and _value(condition, seen, rows, whole) is not True:
            return False
    for name, segment in found.segments:
        definition = search.definition(name)
        for window in definition.windows:
            first, last = (row[window.column] if window.column else 0 for row in (rows[segment[0]], rows[segment[1]]))
            length = last - first if window.column else segment[1] - segment[0] + 1
            if not (window.low or 0) <= length <= (length if window.high is None else window.high):
                return False
        own = RowMapping(found.points, (*(one for one in found.segments if one[0] != name), (name, segment)))
        if definition.condition is not None and _value(definition.condition, own, rows, whole) is not True:
            return False
    return True


def _value(expression: Expression, found: RowMapping, rows: Sequence[Mapping[str, Any]], whole: Segment) -> Any:
    return value(_with_rows_read(expression, found, rows), Scene(rows, {}, whole))


def _with_rows_read(expression: Expression, found: RowMapping, rows: Sequence[Mapping[str, Any]]) -> Expression:
    match expression:
        case ColumnAt(target, column) if target.variables is not None:
            mapped = _rows_of(target.variables, found)
            if target.offset >= len(mapped):
                return Literal(None)
            place = mapped[target.offset] if target.end is End.FIRST else mapped[-1 - target.offset]
            place += target.shift
            return Literal(rows[place][column] if 0 <= place < len(rows) else None)
        case Aggregate(function, arguments, variables) if variables is not None:
            inputs = [
                tuple(value(argument, Scene(rows, {}, row=row)) for argument in arguments)
                for row in _rows_of(variables, found)
            ]
            return Literal(definitions.aggregate(function, inputs))
        case Call(operands=operands):
            return replace(expression, operands=tuple(_with_rows_read(one, found, rows) for one in operands))
        case _:
            return expression


def _rows_of(names: frozenset[str], found: RowMapping) -> list[int]:
    segments = dict(found.segments)
    if len(names) == 1 and (name := min(names)) in segments:
        return list(range(segments[name][0], segments[name][1] + 1))
    return [row for row, variable in found.points if variable in names]
