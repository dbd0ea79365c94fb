"""Read the rows of found matches: the values that navigation, CLASSIFIER, MATCH_NUMBER and aggregates stand for.

A `MatchReader` answers for many output rows at once. An output row belongs to a match and sees it from one of its rows,
or, for an empty match, from none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.gather import take_or_null
from sparkrex.ir.render import Leaf, leaves, reads_relation, render
from sparkrex.ir.scalar import Aggregate, ClassifierAt, ColumnAt, End, Expression, MatchNumber, Semantics, Target
from sparkrex.kernels.navigate import navigate_final, navigate_running
from sparkrex.physical.aggregation import aggregate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sparkrex.columns.arrange import Arrangement
    from sparkrex.hosts.host import Evaluator
    from sparkrex.physical.contract import Matches
    from sparkrex.source import Span


@dataclass(frozen=True, eq=False, slots=True)
class Viewpoints:
    """Output rows: the match of each, and the mapped row it sees the match from (index into labels, -1 for none).

    `at_end` says that every output row sees its match from the match's last row, where RUNNING and FINAL agree.
    """

    match: NDArray[np.int64]
    mapped_row: NDArray[np.int64]
    at_end: bool

    def __len__(self) -> int:
        return len(self.match)


class MatchReader:
    """Reads `table`, whose rows `arrangement` orders, under `matches` given as positions in that order."""

    def __init__(
        self, table: pa.Table, arrangement: Arrangement, matches: Matches, variables: tuple[str, ...], dialect: str,
        evaluator: Evaluator,
    ) -> None:
        self.table = table
        self.arrangement = arrangement
        self.matches = matches
        self.variables = variables
        self.dialect = dialect
        self.evaluator = evaluator
        self._found: dict[tuple[Target, bool], NDArray[np.int64]] = {}

    @cached_property
    def row_match(self) -> NDArray[np.int64]:
        """The match of every mapped row."""
        return np.repeat(np.arange(len(self.matches)), np.diff(self.matches.label_offsets))

    @cached_property
    def row_position(self) -> NDArray[np.int64]:
        """The position of every mapped row."""
        places = np.arange(len(self.matches.labels)) - self.matches.label_offsets[:-1][self.row_match]
        return self.matches.start[self.row_match] + places

    @cached_property
    def _bounds(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """First position of every match's partition, and the one behind its last."""
        offsets = self.arrangement.offsets
        partition = np.searchsorted(offsets, self.matches.start, side="right") - 1
        return offsets[partition], offsets[partition + 1]

    def evaluate(
        self, expressions: Sequence[Expression], views: Viewpoints, spans: Sequence[Span | None]
    ) -> list[pa.ChunkedArray]:
        """The values of expressions, one array each. Bare references are not touched; the host computes the rest."""
        wanted: dict[Leaf, str] = {}
        for expression in expressions:
            for leaf in leaves(expression):
                wanted.setdefault(leaf, f"c{len(wanted)}")
        values = {leaf: self.leaf(leaf, views) for leaf in wanted}
        computed = [
            (number, expression) for number, expression in enumerate(expressions) if expression not in values
        ]
        results: dict[int, pa.ChunkedArray] = {}
        if computed:
            table = pa.table(
                {name: values[leaf] for leaf, name in wanted.items()} or {"c": pa.nulls(len(views), pa.int8())}
            )
            texts = [render(expression, lambda leaf: f"rex_rows.{wanted[leaf]}") for _, expression in computed]
            columns = self.evaluator.evaluate(
                texts, table, [spans[number] for number, _ in computed],
                reads_relation=any(reads_relation(expression) for _, expression in computed),
            )
            results = {number: column for (number, _), column in zip(computed, columns, strict=True)}
        return [
            results[number] if number in results else values[expression]  # type: ignore[index]  # a leaf
            for number, expression in enumerate(expressions)
        ]

    def leaf(self, leaf: Leaf, views: Viewpoints) -> pa.ChunkedArray:
        """What one leaf stands for, per output row."""
        match leaf:
            case ColumnAt(target, column):
                positions = self._positions(target, views)
                rows = np.where(positions < 0, -1, self.arrangement.input_rows(positions))
                return take_or_null(self.table.column(column), rows)
            case ClassifierAt(target):
                return self._classifiers(self._positions(target, views), views)
            case MatchNumber():
                return pa.chunked_array([pa.array(self.matches.number[views.match])])
            case Aggregate():
                return self._aggregate(leaf, views)

    def _positions(self, target: Target, views: Viewpoints) -> NDArray[np.int64]:
        """The position of the target row per output row, -1 where there is none."""
        is_final = views.at_end or target.semantics is Semantics.FINAL
        key = (replace(target, shift=0), is_final)
        if key not in self._found:
            self._found[key] = self._navigate(target, is_final)
        found = self._found[key]
        if is_final:
            places = found[views.match] if len(found) else np.full(len(views), -1)
        else:
            places = np.full(len(views), -1)
            has_row = views.mapped_row >= 0
            places[has_row] = found[views.mapped_row[has_row]]
        positions = np.where(places < 0, -1, self.matches.start[views.match] + places)
        if target.shift:
            low, high = self._bounds
            shifted = positions + target.shift
            inside = (positions >= 0) & (shifted >= low[views.match]) & (shifted < high[views.match])
            positions = np.where(inside, shifted, -1)
        return positions

    def _navigate(self, target: Target, is_final: bool) -> NDArray[np.int64]:
        """Places in the match (0 is its first row), per match if final, else per mapped row."""
        matches = self.matches
        from_first = target.end is End.FIRST
        lengths = np.diff(matches.label_offsets)
        if target.variables is None:
            if is_final:
                places = np.full(len(matches), target.offset) if from_first else lengths - 1 - target.offset
                return np.where((places >= 0) & (places < lengths), places, -1)
            here = np.arange(len(matches.labels)) - matches.label_offsets[:-1][self.row_match]
            places = np.full(len(here), target.offset) if from_first else here - target.offset
            return np.where((places >= 0) & (places <= here), places, -1)
        is_member = self.is_member(target.variables)
        found = np.empty(len(matches) if is_final else len(matches.labels), np.int64)
        kernel = navigate_final if is_final else navigate_running
        kernel(matches.label_offsets, matches.labels, is_member, from_first, target.offset, found)
        return found

    def is_member(self, variables: frozenset[str]) -> NDArray[np.bool_]:
        """Per variable of the pattern, whether it is one of these."""
        return np.array([name in variables for name in self.variables], np.bool_)

    def _classifiers(self, positions: NDArray[np.int64], views: Viewpoints) -> pa.ChunkedArray:
        matches = self.matches
        places = positions - matches.start[views.match]
        lengths = np.diff(matches.label_offsets)[views.match]
        inside = (positions >= 0) & (places >= 0) & (places < lengths)
        label = np.full(len(views), -1)
        label[inside] = matches.labels[matches.label_offsets[:-1][views.match[inside]] + places[inside]] // 2
        return take_or_null(pa.array(self.variables, pa.string()), label)

    def _aggregate(self, node: Aggregate, views: Viewpoints) -> pa.ChunkedArray:
        """Aggregates are computed per match, or per mapped row, and then read per output row."""
        is_final = views.at_end or node.semantics is Semantics.FINAL
        values = aggregate(self, node, is_final=is_final)
        rows = np.where(views.mapped_row < 0, -1, views.match if is_final else views.mapped_row)
        result = take_or_null(values, rows)
        if node.function in ("count", "count_if"):
            # Over the rows of an empty match a count is 0.
            result = result.fill_null(0)
        return result

    def each_row(self, expressions: Sequence[Expression], rows: NDArray[np.int64]) -> list[pa.ChunkedArray]:
        """Expressions over the mapped rows themselves, as aggregates see them; `rows` are indices into labels."""
        views = Viewpoints(self.row_match[rows], rows, at_end=False)
        return self.evaluate(expressions, views, [expression.span for expression in expressions])
