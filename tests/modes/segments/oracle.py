"""The answer to a segment search by brute force, straight from Definitions 2.1 to 2.5 of the paper.

1. `layouts` lays the pattern over the rows [i, j] in every way that concatenation, repetition and the rest allow,
   conditions aside. A repetition is not laid out in full (there may be endless ways): only the segments of its last
   iteration, which is all that the outside sees of it, are guessed. A Not stays a promise to be checked.
2. A layout *holds* if, with all of its variables bound, every condition is TRUE, every repetition has iterations that
   end in the guessed one, and no Not's pattern has a layout that holds. Iterations and the inside of a Not are laid
   out and tested in the same way, each with variables of its own that hide those outside of the same name.

Nothing depends on an order of evaluation, since all bindings are there before the first condition is asked. Windows are
conditions like others. Exponential, for a handful of rows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import TYPE_CHECKING, Any, assert_never

from tests.modes.segments.definitions import number
from tests.modes.segments.plain import Labels, labelled_matches, mapped_rows, measure
from tests.modes.segments.values import Scene, Segment, value, variables_read

from sparkrex.modes.plan import Skip, SkipTo
from sparkrex.modes.segments.pattern import (
    Alternation,
    And,
    Concatenation,
    Kleene,
    Not,
    PointVariable,
    SegmentPattern,
    SegmentVariable,
    Window,
    children,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sparkrex.modes.plan import OrderKey
    from sparkrex.modes.segments.plan import SegmentDefinition, SegmentSearch

Bindings = frozenset[tuple[str, Segment]]
"""The variables that have a segment, each with it."""


class SkipFails(Exception):  # noqa: N818  # the search's own error, not one of the oracle
    """AFTER MATCH SKIP goes to a variable without a segment, or to the match's first row."""


@dataclass(frozen=True, slots=True)
class Found:
    """A segment that the pattern matches, and the segments of the search's `measured` variables, in their order.

    In a plain query a binding is the tuple of all rows mapped to the variable.
    """

    partition: tuple[Any, ...]
    start: int
    end: int
    bindings: tuple[tuple[int, ...] | None, ...] = ()


def find_segments(search: SegmentSearch, rows: Sequence[Mapping[str, Any]]) -> list[Found]:
    """Every answer, partitions in the order of their first rows, each ordered by (start, end, bindings)."""
    if search.is_plain:
        return [found for found, _ in _plain(search, rows)]
    found = []
    for key, partition in partitions(search, rows):
        matches = sorted(_matches(search, partition), key=_rank)
        if search.skip is not None:
            matches = list(_skipping(matches, search.skip, _kept_variables(search)))
        n_measured = len(search.measured)
        distinct = dict.fromkeys((start, end, bindings[:n_measured]) for start, end, bindings in matches)
        found += [Found(key, *match) for match in distinct]
    return found


def evaluate(search: SegmentSearch, rows: Sequence[Mapping[str, Any]]) -> list[tuple[Any, ...]]:
    """The rows of the result: partition keys, then measures."""
    if search.is_plain:
        return [(*found.partition, *measures) for found, measures in _plain(search, rows)]
    found = find_segments(search, rows)
    result: list[tuple[Any, ...]] = []
    for key, partition in partitions(search, rows):
        for match_number, match in enumerate((one for one in found if one.partition == key), 1):
            bindings: dict[str, Any] = dict(zip(search.measured, match.bindings, strict=True))
            scene = Scene(partition, bindings, (match.start, match.end), match_number=match_number)
            result.append((*key, *(value(measure.expression, scene) for measure in search.measures)))
    return result


def _plain(
    search: SegmentSearch, rows: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[Found, tuple[Any, ...]]]:
    """A plain query's answers, one for every choice of rows for the measured variables, and their measures."""
    for key, partition in partitions(search, rows):
        distinct: dict[Found, Labels] = {}
        for start, end, labels in labelled_matches(search, partition):
            mapped = tuple(mapped_rows(search, name, start, labels) for name in search.measured)
            distinct.setdefault(Found(key, start, end, mapped), labels)
        ordered = sorted(distinct, key=lambda one: _rank((one.start, one.end, one.bindings)))
        for match_number, found in enumerate(ordered, 1):
            yield found, tuple(
                measure(search, one.expression, partition, found.start, distinct[found], match_number)
                for one in search.measures
            )


def partitions(
    search: SegmentSearch, rows: Sequence[Mapping[str, Any]]
) -> list[tuple[tuple[Any, ...], list[Mapping[str, Any]]]]:
    """Rows that agree on PARTITION BY, ordered by ORDER BY, ties in the order given."""
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(_of_row(key.expression, row) for key in search.partition_by), []).append(row)
    return [(key, _ordered(group, search.order_by)) for key, group in groups.items()]


def _ordered(rows: list[Mapping[str, Any]], keys: Sequence[OrderKey]) -> list[Mapping[str, Any]]:
    for key in reversed(keys):
        known = [row for row in rows if _of_row(key.expression, row) is not None]
        unknown = [row for row in rows if _of_row(key.expression, row) is None]
        known.sort(key=lambda row, key=key: _of_row(key.expression, row), reverse=key.is_descending)  # type: ignore[misc]
        rows = unknown + known if key.nulls_first else known + unknown
    return rows


def _of_row(expression: Any, row: Mapping[str, Any]) -> Any:
    return value(expression, Scene((row,), {}, row=0))


def _kept_variables(search: SegmentSearch) -> tuple[str, ...]:
    """Variables whose segments tell matches apart; SKIP TO must know where its variables are."""
    extra = search.skip.variables - set(search.measured) if search.skip is not None else ()
    return (*search.measured, *sorted(extra))


Match = tuple[int, int, tuple[tuple[int, ...] | None, ...]]


def _matches(search: SegmentSearch, rows: Sequence[Mapping[str, Any]]) -> set[Match]:
    partition = _Partition(search, rows)
    return {
        (start, end, tuple(bindings.get(name) for name in _kept_variables(search)))
        for start in range(len(rows))
        for end in range(start, len(rows))
        for layout in partition.layouts(search.pattern, start, end)
        if partition.holds(layout, search.pattern, frozenset())
        for bindings in [dict(layout.bindings)]
    }


def _rank(match: Match) -> tuple[Any, ...]:
    """Ascending start, end, bindings; no segment comes before any."""
    start, end, bindings = match
    return start, end, [(-1, -1) if rows is None else rows for rows in bindings]


def _skipping(matches: list[Match], skip: Skip, variables: tuple[str, ...]) -> Iterator[Match]:
    """Earliest start, of these the longest, of these the smallest bindings; then on from where `skip` says."""
    row = 0
    while rest := [match for match in matches if match[0] >= row]:
        start = rest[0][0]
        end = max(match[1] for match in rest if match[0] == start)
        best = next(match for match in rest if match[:2] == (start, end))
        yield best
        match skip.to:
            case SkipTo.PAST_LAST_ROW:
                row = end + 1
            case SkipTo.NEXT_ROW:
                row = start + 1
            case SkipTo.FIRST | SkipTo.LAST:
                bound = dict(zip(variables, best[2], strict=True))
                segments = [segment for name in skip.variables if (segment := bound[name]) is not None]
                if not segments:
                    raise SkipFails("to a variable without a segment")
                row = min(map(min, segments)) if skip.to is SkipTo.FIRST else max(map(max, segments))
                if row <= start:
                    raise SkipFails("to the first row of the match")


@dataclass(frozen=True, slots=True)
class _Layout:
    """A pattern laid over rows: who has which segment (as far as anybody asks) and what is still to be tested."""

    bindings: Bindings = frozenset()
    variables: frozenset[tuple[str, Segment]] = frozenset()
    repetitions: frozenset[tuple[Kleene, Segment, Bindings]] = frozenset()
    absences: frozenset[tuple[Not, Segment]] = frozenset()

    def then(self, other: _Layout) -> _Layout:
        """Both together; where both bind a variable, the one that stands later in the pattern counts."""
        bindings = frozenset((dict(self.bindings) | dict(other.bindings)).items())
        return _Layout(
            bindings, self.variables | other.variables, self.repetitions | other.repetitions,
            self.absences | other.absences,
        )


@dataclass(slots=True)
class _Partition:
    """One search in one partition."""

    search: SegmentSearch
    rows: Sequence[Mapping[str, Any]]
    definitions: dict[str, SegmentDefinition] = field(init=False)
    read: dict[str, frozenset[str]] = field(init=False)
    asked_for: frozenset[str] = field(init=False)
    known_layouts: dict[Any, frozenset[_Layout]] = field(default_factory=dict)
    known_answers: dict[Any, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.definitions = {definition.variable: definition for definition in self.search.definitions}
        self.read = {
            name: frozenset() if definition.condition is None else variables_read(definition.condition) - {name}
            for name, definition in self.definitions.items()
        }
        self.asked_for = frozenset(_kept_variables(self.search)).union(*self.read.values())

    def layouts(self, pattern: SegmentPattern, start: int, end: int) -> frozenset[_Layout]:
        """Every way to lay the pattern over the rows from start to end; over no rows, none."""
        if start > end:
            return frozenset()
        key = (pattern, start, end)
        if key not in self.known_layouts:
            self.known_layouts[key] = frozenset(self._layouts(pattern, start, end))
        return self.known_layouts[key]

    def _layouts(self, pattern: SegmentPattern, start: int, end: int) -> Iterable[_Layout]:
        match pattern:
            case PointVariable(name=name) | SegmentVariable(name=name):
                if isinstance(pattern, PointVariable) and start != end:
                    return ()
                return self._layouts_of_variable(name, (start, end))
            case Concatenation(items=items, shares=shares):
                return self._layouts_in_turn(items, shares, start, end)
            case Alternation(options=options):
                return frozenset().union(*(self.layouts(option, start, end) for option in options))
            case And(items=items):
                return map(_all_together, product(*(self.layouts(item, start, end) for item in items)))
            case Kleene(body=body):
                return (
                    _Layout(layout.bindings, repetitions=frozenset({(pattern, (start, end), layout.bindings)}))
                    for last_start in range(start, end + 1)
                    for layout in self.layouts(body, last_start, end)
                )
            case Not():
                return (_Layout(absences=frozenset({(pattern, (start, end))})),)
            case _:
                assert_never(pattern)

    def _layouts_of_variable(self, name: str, segment: Segment) -> Iterable[_Layout]:
        bound = frozenset({(name, segment)})
        bindings = bound if name in self.asked_for else frozenset()
        if name not in self.definitions:
            return (_Layout(bindings),)
        if self.read[name]:
            return (_Layout(bindings, bound),)
        # A condition that reads no other variable says the same whenever it is asked.
        return (_Layout(bindings),) if self.satisfies(name, segment, {}) else ()

    def _layouts_in_turn(
        self, items: tuple[SegmentPattern, ...], shares: tuple[bool, ...], start: int, end: int
    ) -> Iterator[_Layout]:
        """Definition 2.1, the first item against the others."""
        if len(items) == 1:
            yield from self.layouts(items[0], start, end)
            return
        for middle in range(start, end + 1):
            firsts = self.layouts(items[0], start, middle)
            if firsts:
                others = frozenset(
                    self._layouts_in_turn(items[1:], shares[1:], middle if shares[0] else middle + 1, end)
                )
                yield from (first.then(other) for first in firsts for other in others)

    def holds(self, layout: _Layout, pattern: SegmentPattern, outer: Bindings) -> bool:
        """Whether everything that the layout leaves to be tested is so; `outer` is bound outside of the pattern."""
        own = variables_of(pattern)
        everybody = frozenset((name, segment) for name, segment in outer if name not in own) | layout.bindings
        bindings = dict(everybody)
        return (
            all(self.satisfies(name, segment, bindings) for name, segment in layout.variables)
            and all(not self.has_layout(absence.body, *segment, everybody) for absence, segment in layout.absences)
            and all(self.is_repeated(*repetition, everybody) for repetition in layout.repetitions)
        )

    def has_layout(
        self, pattern: SegmentPattern, start: int, end: int, outer: Bindings, bindings: Bindings | None = None
    ) -> bool:
        """Whether the pattern matches these rows, with just these bindings if they are given."""
        key = (pattern, start, end, outer, bindings)
        if key not in self.known_answers:
            self.known_answers[key] = any(
                self.holds(layout, pattern, outer)
                for layout in self.layouts(pattern, start, end)
                if bindings is None or layout.bindings == bindings
            )
        return bool(self.known_answers[key])

    def is_repeated(self, pattern: Kleene, segment: Segment, last: Bindings, outer: Bindings) -> bool:
        """Whether iterations, as many as the pattern allows, cover the segment and end in one with these bindings."""
        start, end = segment
        starts = frozenset({start})  # where the next iteration may start
        n_iterations = 0
        seen = set()
        while starts and (pattern.maximum is None or n_iterations < pattern.maximum):
            n_iterations += 1
            if n_iterations >= pattern.minimum:
                if any(self.has_layout(pattern.body, row, end, outer, last) for row in starts):
                    return True
                # One-row iterations that share their row come back to where they were.
                if starts in seen:
                    return False
                seen.add(starts)
            starts = frozenset(
                to if pattern.shares else to + 1
                for row in starts
                for to in range(row, end + 1)
                if self.has_layout(pattern.body, row, to, outer)
            )
        return False

    def satisfies(self, name: str, segment: Segment, bindings: Mapping[str, Segment]) -> bool:
        """Whether a segment is in the variable's windows and its condition is TRUE."""
        definition = self.definitions[name]
        if not all(self._is_in(window, segment) for window in definition.windows):
            return False
        if definition.condition is None:
            return True
        return value(definition.condition, Scene(self.rows, {**bindings, name: segment})) is True

    def _is_in(self, window: Window, segment: Segment) -> bool:
        start, end = segment
        if window.low is None and window.high is None:
            return True
        if window.column is None:
            length: Any = end - start + 1
        else:
            first, last = (number(self.rows[row][window.column]) for row in segment)
            if first is None or last is None:
                return False
            length = last - first
        return (window.low is None or length >= window.low) and (window.high is None or length <= window.high)


def _all_together(layouts: tuple[_Layout, ...]) -> _Layout:
    together = _Layout()
    for layout in layouts:
        together = together.then(layout)
    return together


def variables_of(pattern: SegmentPattern) -> frozenset[str]:
    """The variables in a pattern, those inside a Not included."""
    if isinstance(pattern, PointVariable | SegmentVariable):
        return frozenset({pattern.name})
    return frozenset().union(*map(variables_of, children(pattern)))
