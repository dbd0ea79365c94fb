"""ALL MATCHES of a plain query by trying every mapping of rows to variables: for queries that no segments stand for.

Conditions there speak of the rows mapped so far, to several variables or in several iterations. All starts go forward
together, row by row. What is kept of a beginning is where it starts, which place of the pattern its last row has, and
the rows of those variables that somebody refers to: beginnings that agree in this have the same future, and are one. A
condition is asked of all beginnings at once, which to it are matches that end at the row under test. The number of
beginnings may grow exponentially with their length; above `limit` it is `TooManySegmentsError`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.columns.arrange import Arrangement
from sparkrex.columns.values import numpy_of, plain
from sparkrex.errors import ParseError
from sparkrex.matching.matches import Matches
from sparkrex.matching.reading import Viewpoints
from sparkrex.modes.segments import pattern as sp
from sparkrex.modes.segments.operators.arrays import TooManySegmentsError
from sparkrex.modes.segments.operators.mapped_reader import MappedReader
from sparkrex.scalar.expression import ColumnAt, End, Semantics, Target, aggregates, references

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.segments.pattern import SegmentPattern
    from sparkrex.modes.segments.plan import SegmentDefinition, SegmentSearch
    from sparkrex.scalar.expression import Aggregate, Expression
    from sparkrex.source import Source

MOST_PLACES = 20_000
"""How large a pattern may be when its repetitions are written out."""


def find_mappings(
    search: SegmentSearch, table: pa.Table, arrangement: Arrangement, evaluator: Evaluator, limit: int
) -> Matches:
    """Every match, told apart by its rows and by those of the measured variables, in this order; others unlabelled."""
    return _Search(search, table, arrangement, evaluator, limit).run()


def check_conditions(search: SegmentSearch, table: pa.Table, evaluator: Evaluator) -> None:
    """Evaluate every condition over no rows, to meet its errors before any row is read."""
    nothing = Arrangement(None, np.zeros(1, np.int64), 0)
    none = _Search(search, table.slice(0, 0), nothing, evaluator, 1)
    for definition in search.definitions:
        none.evaluated(definition, np.empty(0, np.int64), np.empty((0, 1), np.int16))


def variables_of(search: SegmentSearch) -> tuple[str, ...]:
    """Variables by label; the last one, without a name, is any that nobody refers to."""
    return (*(definition.variable for definition in search.definitions), "")


@dataclass(slots=True)
class _Places:
    """The variables of a pattern by place, repetitions written out, and which place may follow which."""

    variables: list[str] = field(default_factory=list)
    following: list[set[int]] = field(default_factory=list)

    def add(self, pattern: SegmentPattern, source: Source) -> tuple[set[int], set[int]]:
        """Add a pattern; the places that its first and its last row may have."""
        match pattern:
            case sp.PointVariable(name):
                self.variables.append(name)
                self.following.append(set())
                if len(self.variables) > MOST_PLACES:
                    raise ParseError("REX106", "the pattern is too large", source, pattern.span)
                return {len(self.variables) - 1}, {len(self.variables) - 1}
            case sp.Alternation(options):
                found = [self.add(option, source) for option in options]
                return set[int]().union(*(first for first, _ in found)), set[int]().union(*(last for _, last in found))
            case sp.Concatenation(items):
                return self._chain([self.add(item, source) for item in items])
            case sp.Kleene(body, minimum, maximum):
                times = [self.add(body, source) for _ in range(maximum or minimum)]
                if maximum is None:
                    self._join(times[-1][1], times[-1][0])
                first, _ = self._chain(times)
                return first, set[int]().union(*(last for _, last in times[minimum - 1 :]))
            case _:
                raise AssertionError("a plain query has no And, Not or segment variable")

    def _chain(self, parts: list[tuple[set[int], set[int]]]) -> tuple[set[int], set[int]]:
        for (_, last), (first, _) in pairwise(parts):
            self._join(last, first)
        return parts[0][0], parts[-1][1]

    def _join(self, before: set[int], behind: set[int]) -> None:
        for place in before:
            self.following[place] |= behind


class _Search:
    def __init__(
        self, search: SegmentSearch, table: pa.Table, arrangement: Arrangement, evaluator: Evaluator, limit: int
    ) -> None:
        self.search = search
        self.table = table
        self.arrangement = arrangement
        self.evaluator = evaluator
        self.limit = limit
        self.names = variables_of(search)
        number = {name: 2 * place for place, name in enumerate(self.names)}
        places = _Places()
        first, last = places.add(search.pattern, search.source)
        self.variable = np.array([number[name] for name in places.variables], np.int16)
        self.first = np.array(sorted(first), np.int64)
        self.is_last = np.isin(np.arange(len(self.variable)), sorted(last))
        counts = [len(following) for following in places.following]
        self.following_offsets = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        self.following = np.array([place for one in places.following for place in sorted(one)], np.int64)
        conditions = {number[one.variable]: one for one in search.definitions if not _is_free(one)}
        self.of_rows = {label: one for label, one in conditions.items() if _is_of_its_row(one)}
        self.of_mappings = {label: one for label, one in conditions.items() if not _is_of_its_row(one)}
        self.known_rows: dict[int, NDArray[np.bool_]] = {}
        measured = set(_referred_to(measure.expression for measure in search.measures))
        kept = measured | {name for one in self.of_mappings.values() for name in _referred_to([_condition(one)])}
        self.is_kept = np.array([name in kept for name in self.names])
        self.is_measured = np.array([name in measured for name in self.names])

    def run(self) -> Matches:
        """Every match."""
        n_rows = self.arrangement.n_rows
        behind = np.repeat(self.arrangement.offsets[1:], np.diff(self.arrangement.offsets))
        start = np.repeat(np.arange(n_rows, dtype=np.int64), len(self.first))
        place = np.tile(self.first, n_rows)
        labels = np.empty((len(start), 0), np.int16)
        found: list[tuple[NDArray[np.int64], NDArray[np.int16]]] = []
        n_found = 0
        while len(start):
            labels = np.concatenate([labels, self.variable[place][:, None]], axis=1)
            holds = self._holds(start, labels)
            start, place, labels = start[holds], place[holds], labels[holds]
            labels[:, -1] = self._erase_labels(labels[:, -1], self.is_kept)
            start, place, labels = _distinct(start, place, labels)
            is_match = self.is_last[place]
            found.append((start[is_match], self._erase_labels(labels[is_match], self.is_measured)))
            n_found += len(found[-1][0])
            if max(n_found, len(start)) > self.limit:
                raise TooManySegmentsError
            n_following = np.diff(self.following_offsets)[place] * (start + labels.shape[1] < behind[start])
            begin = np.repeat(self.following_offsets[place], n_following)
            start, labels = np.repeat(start, n_following), np.repeat(labels, n_following, axis=0)
            step = np.arange(len(start)) - np.repeat(np.cumsum(n_following) - n_following, n_following)
            place = self.following[begin + step]
        return self._as_matches(found)

    def _erase_labels(self, labels: NDArray[np.int16], is_kept: NDArray[np.bool_]) -> NDArray[np.int16]:
        """The labels, those of variables that need not be told apart all the same."""
        return np.where(is_kept[labels >> 1], labels, np.int16(2 * (len(self.names) - 1)))

    def _holds(self, start: NDArray[np.int64], labels: NDArray[np.int16]) -> NDArray[np.bool_]:
        """Whether the last row of each beginning satisfies the condition of its variable."""
        row = start + labels.shape[1] - 1
        holds = np.ones(len(start), np.bool_)
        for label in np.unique(labels[:, -1]).tolist():
            here = np.flatnonzero(labels[:, -1] == label)
            if label in self.of_rows:
                holds[here] = self._rows_that_hold(label)[row[here]]
            elif label in self.of_mappings:
                holds[here] = self.evaluated(self.of_mappings[label], start[here], labels[here])
        return holds

    def _rows_that_hold(self, label: int) -> NDArray[np.bool_]:
        """A condition that speaks of its own row is asked once for every row."""
        if label not in self.known_rows:
            rows = np.arange(self.arrangement.n_rows, dtype=np.int64)
            labels = np.full((len(rows), 1), label, np.int16)
            self.known_rows[label] = self.evaluated(self.of_rows[label], rows, labels)
        return self.known_rows[label]

    def evaluated(
        self, definition: SegmentDefinition, start: NDArray[np.int64], labels: NDArray[np.int16]
    ) -> NDArray[np.bool_]:
        """Whether the last row of each of these beginnings satisfies a variable's condition."""
        if any((window.low or 0) > (window.column is None) for window in definition.windows):
            return np.zeros(len(start), np.bool_)  # one row is never longer
        if definition.condition is None:
            return np.ones(len(start), np.bool_)
        length = labels.shape[1]
        matches = Matches(
            start, start + length, np.ones(len(start), np.int64), labels.ravel(),
            np.arange(0, length * len(start) + 1, length),
        )
        reader = MappedReader(
            self.table, self.arrangement, matches, self.names, self.search.dialect, self.evaluator
        )
        last = matches.label_offsets[1:] - 1
        views = Viewpoints(np.arange(len(start)), last, at_end=True, is_each=True)
        (result,) = reader.evaluate([definition.condition], views, [definition.condition.span])
        return numpy_of(plain(result.cast("bool")).fill_null(False))

    def _as_matches(self, found: list[tuple[NDArray[np.int64], NDArray[np.int16]]]) -> Matches:
        """In the order of first row, last row, and rows of the measured variables; numbered in each partition."""
        names = [
            next((subset.variables for subset in self.search.subsets if subset.name == name), {name})
            for name in self.search.measured
        ]
        told_apart: dict[tuple[int, int, tuple[tuple[int, ...], ...]], list[int]] = {}
        for starts, labels in found:
            for start, line in zip(starts.tolist(), labels.tolist(), strict=True):
                rows = tuple(
                    tuple(start + k for k, label in enumerate(line) if self.names[label >> 1] in one) or (-1, -1)
                    for one in names
                )
                told_apart.setdefault((start, start + len(line), rows), line)
        ordered = sorted(told_apart)
        start = np.array([one[0] for one in ordered], np.int64)
        end = np.array([one[1] for one in ordered], np.int64)
        partition = np.searchsorted(self.arrangement.offsets, start, side="right")
        number = np.arange(1, len(start) + 1) - np.searchsorted(partition, partition, side="left")
        labels_of_all = np.array([label for one in ordered for label in told_apart[one]], np.int16)
        return Matches(start, end, number, labels_of_all, np.concatenate(([0], np.cumsum(end - start))))


def _is_free(definition: SegmentDefinition) -> bool:
    return definition.condition is None and not definition.windows


def _condition(definition: SegmentDefinition) -> Expression:
    assert definition.condition is not None  # only such refer to mappings
    return definition.condition


def _mentions(expression: Expression) -> Iterator[tuple[frozenset[str] | None, ColumnAt | Aggregate]]:
    for node in references(expression):
        assert isinstance(node, ColumnAt)  # analysis refuses CLASSIFIER under ALL MATCHES
        yield node.target.variables, node
    for aggregate in aggregates(expression):
        yield aggregate.variables, aggregate


def _is_of_its_row(definition: SegmentDefinition) -> bool:
    """Whether a condition speaks of the row under test only, or of rows at a fixed distance from it."""
    if definition.condition is None:
        return True
    own = frozenset((definition.variable,))
    return all(
        isinstance(node, ColumnAt)
        and Target(own, Semantics.FINAL, End.LAST, 0, node.target.shift) == node.target
        for _, node in _mentions(definition.condition)
    )


def _referred_to(expressions: Iterator[Expression] | list[Expression]) -> Iterator[str]:
    """The variables whose rows expressions read."""
    for expression in expressions:
        for variables, _ in _mentions(expression):
            yield from variables or ()


def _distinct(
    start: NDArray[np.int64], place: NDArray[np.int64], labels: NDArray[np.int16]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int16]]:
    """Each beginning once, in the order they come."""
    if len(start) < 2:
        return start, place, labels
    lines = np.concatenate([start[:, None], place[:, None], labels.astype(np.int64)], axis=1)
    packed = np.ascontiguousarray(lines).view(np.dtype((np.void, lines.shape[1] * 8))).ravel()
    _, kept = np.unique(packed, return_index=True)
    kept.sort()
    return start[kept], place[kept], labels[kept]
