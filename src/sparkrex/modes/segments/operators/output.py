"""Found segments to result rows: what the measures are of those that count (`skip`).

A measure reads the rows of one variable's segment, or of the whole match; these are rows in sequence, so each variable
has a `MatchReader` of its own to which its segments are matches without labels. Aggregates of T-ReX are those of
conditions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.gather import take_or_null
from sparkrex.columns.wrap import wrap
from sparkrex.errors import ExecutionError
from sparkrex.matching.matches import Matches
from sparkrex.matching.output import NO_COLUMNS
from sparkrex.matching.reading import MatchReader, Viewpoints
from sparkrex.modes.segments.aggregates.registry import is_of_segments
from sparkrex.modes.segments.kernels.pivots import Partitions
from sparkrex.modes.segments.operators.arguments import number_column
from sparkrex.modes.segments.operators.arrays import projected
from sparkrex.modes.segments.operators.calls import call_of, measured
from sparkrex.modes.segments.operators.skip import chosen
from sparkrex.scalar.expression import (
    Aggregate,
    Call,
    ClassifierAt,
    ColumnAt,
    End,
    MatchNumber,
    MatchStatus,
    Semantics,
    Target,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from sparkrex.columns.arrange import Arrangement
    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.segments.operators.contract import Binding, Segments
    from sparkrex.modes.segments.operators.series import Column
    from sparkrex.modes.segments.plan import SegmentSearch
    from sparkrex.scalar.expression import Expression
    from sparkrex.scalar.render.renderer import Leaf

INDEX = "rex_index"
"""A hidden column: the row's position in its partition, from 0."""


@dataclass(frozen=True, eq=False, slots=True)
class Counted:
    """What is counted from the beginning of a partition: the position of its first row here, and the number of the next
    match."""

    first: NDArray[np.int64]
    number: NDArray[np.int64]

    @staticmethod
    def whole(arrangement: Arrangement) -> Counted:
        """For partitions of which all rows are here."""
        n_partitions = len(arrangement.offsets) - 1
        return Counted(np.zeros(n_partitions, np.int64), np.ones(n_partitions, np.int64))


def build_rows(
    search: SegmentSearch, found: Segments, table: pa.Table, arrangement: Arrangement, counted: Counted,
    partition_columns: list[pa.ChunkedArray], evaluator: Evaluator,
) -> pa.Table:
    """The result table of the segments that count. `table` is in input order."""
    table = with_index(table, arrangement, counted)
    reader = SegmentReader(search, found, table, arrangement, counted, evaluator)
    return measured_table(search, reader, partition_columns)


def with_index(table: pa.Table, arrangement: Arrangement, counted: Counted) -> pa.Table:
    """The table with the column that START_INDEX() and END_INDEX() read."""
    return table.append_column(INDEX, wrap(indexes_in_partitions(arrangement, counted.first)))


def choose_results(search: SegmentSearch, found: Segments) -> tuple[Segments, Segments]:
    """The segments that count, and the same with only those bindings that MEASURES reads, each once."""
    counting = chosen(search, found)
    return counting, projected(counting, frozenset(search.measured))


def measured_table(
    search: SegmentSearch, reader: MatchReader, partition_columns: list[pa.ChunkedArray]
) -> pa.Table:
    """A row for every match that is read: its partition and the measures."""
    start = reader.matches.start
    measures = [with_indexes(measure.expression) for measure in search.measures]
    every = np.arange(len(start))
    views = Viewpoints(every, every, at_end=True, is_each=True)
    values = reader.evaluate(measures, views, [measure.span for measure in search.measures])
    rows = reader.arrangement.input_rows(start)
    columns = [take_or_null(column, rows) for column in partition_columns] + values
    if not columns:
        return pa.table({NO_COLUMNS: pa.nulls(len(start), pa.int8())})
    return pa.table(columns, names=list(search.output_columns()))


class SegmentReader(MatchReader):
    """Reads measures: each leaf by the reader of its variable."""

    def __init__(
        self, search: SegmentSearch, found: Segments, table: pa.Table, arrangement: Arrangement, counted: Counted,
        evaluator: Evaluator,
    ) -> None:
        number = _numbers(found, arrangement, counted.number)
        super().__init__(table, arrangement, _as_matches(found.start, found.end, number), (), search.dialect, evaluator)
        # None is the whole match.
        self._bound: dict[str | None, Binding] = {None: (found.start, found.end)}
        for name, binding in found.bindings.items():
            self._bound[name] = binding
        self._readers = {
            name: _SegmentsReader(table, arrangement, _as_matches(*binding, number), (), search.dialect, evaluator)
            for name, binding in self._bound.items()
        }
        self._partitions = Partitions(arrangement.offsets, counted.first)
        self._numbers: dict[str, Column] = {}

    def _prepare(self, wanted: Iterable[Leaf], views: Viewpoints) -> None:
        """Nothing is shared between variables."""

    def leaf(self, leaf: Leaf, views: Viewpoints) -> pa.ChunkedArray:
        """What one leaf stands for, per match."""
        match leaf:
            case MatchNumber():
                return super().leaf(leaf, views)
            case Aggregate() if is_of_segments(leaf.function):
                return self._of_segments(leaf)
            case ColumnAt(target=Target(variables=variables)) | Aggregate(variables=variables):
                (name,) = variables or (None,)
                first, _ = self._bound[name]
                # A variable without a segment sees its match from no row.
                here = replace(views, mapped_row=np.where(first < 0, -1, views.mapped_row))
                return self._readers[name].leaf(_of_all_rows(leaf), here)
            case ClassifierAt() | MatchStatus():
                raise AssertionError("analysis refuses them in segment queries")

    def _of_segments(self, node: Aggregate) -> pa.ChunkedArray:
        """An aggregate over segments, or pairs of them, of one or two variables."""
        call = call_of(node)
        for column in call.columns:
            if column not in self._numbers:
                values = self.table.column(column)
                order = self.arrangement.order
                self._numbers[column] = number_column(values if order is None else values.take(wrap(order)))
        columns = [self._numbers[column] for column in call.columns]
        segments = [self._bound[name] for name in call.variables or (None,)]
        try:
            return pa.chunked_array([measured(call.aggregate, columns, segments, self._partitions)])
        except ExecutionError as error:
            error.span = error.span or node.span
            raise


class _SegmentsReader(MatchReader):
    """Reads segments of one variable, which lie in the order of the matches, not their own."""

    @cached_property
    def match_partition(self) -> NDArray[np.int64]:
        """The partition of every segment; one that is not there is in the first."""
        return np.searchsorted(self.arrangement.offsets, self.matches.start, side="right") - 1


def _of_all_rows(leaf: Leaf) -> Leaf:
    match leaf:
        case ColumnAt(target=target):
            return replace(leaf, target=replace(target, variables=None, semantics=Semantics.FINAL))
        case Aggregate():
            return replace(leaf, variables=None, semantics=Semantics.FINAL)
        case _:
            return leaf


def _as_matches(first: NDArray[np.int64], last: NDArray[np.int64], number: NDArray[np.int64]) -> Matches:
    """Segments as matches; one that is not there is an empty match."""
    start, end = np.where(first < 0, 0, first), np.where(first < 0, 0, last + 1)
    offsets = np.zeros(len(start) + 1, np.int64)
    np.cumsum(end - start, out=offsets[1:])
    return Matches(start, end, number, np.empty(0, np.int16), offsets)


def _numbers(found: Segments, arrangement: Arrangement, next_number: NDArray[np.int64]) -> NDArray[np.int64]:
    """Results are numbered in each partition, in order."""
    partition = np.searchsorted(arrangement.offsets, found.start, side="right") - 1
    first = np.searchsorted(partition, partition, side="left")
    numbers: NDArray[np.int64] = np.arange(len(found)) - first + next_number[partition]
    return numbers


def indexes_in_partitions(arrangement: Arrangement, first: NDArray[np.int64]) -> NDArray[np.int64]:
    """For every input row its position in its partition."""
    lengths = np.diff(arrangement.offsets)
    positions = np.arange(arrangement.n_rows) - np.repeat(arrangement.offsets[:-1] - first, lengths)
    if arrangement.order is None:
        return positions
    indexes = np.empty(arrangement.n_rows, np.int64)
    indexes[arrangement.order] = positions
    return indexes


def with_indexes(expression: Expression) -> Expression:
    """START_INDEX() and END_INDEX() as reads of the hidden column."""
    if not isinstance(expression, Call):
        return expression
    if expression.function in ("start_index", "end_index"):
        end = End.FIRST if expression.function == "start_index" else End.LAST
        return ColumnAt(Target(semantics=Semantics.FINAL, end=end), INDEX, span=expression.span)
    return replace(expression, operands=tuple(with_indexes(operand) for operand in expression.operands))
