"""Reads matches of labelled rows, aggregates of T-ReX included: over the rows of a variable, wherever they are."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.wrap import wrap
from sparkrex.matching.labels import selecting
from sparkrex.matching.reading import MatchReader
from sparkrex.modes.segments.aggregates.registry import is_of_segments
from sparkrex.modes.segments.kernels.pivots import Partitions
from sparkrex.modes.segments.operators.arguments import number_column
from sparkrex.modes.segments.operators.calls import arguments_of, as_measure, call_of, in_parts, over_segments
from sparkrex.modes.segments.operators.series import Column
from sparkrex.scalar.expression import EACH_ROW, Aggregate, ColumnAt

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from sparkrex.matching.reading import Viewpoints
    from sparkrex.modes.segments.aggregates.contract import Values
    from sparkrex.modes.segments.operators.contract import Binding
    from sparkrex.scalar.render.renderer import Leaf


class MappedReader(MatchReader):
    """A reader of matches seen from their last row."""

    def _prepare(self, wanted: Iterable[Leaf], views: Viewpoints) -> None:
        super()._prepare([leaf for leaf in wanted if not _is_ours(leaf)], views)

    def leaf(self, leaf: Leaf, views: Viewpoints) -> pa.ChunkedArray:
        """What one leaf stands for, per match."""
        if isinstance(leaf, Aggregate) and _is_ours(leaf):
            return pa.chunked_array([self._of_mapped_rows(leaf)])
        return super().leaf(leaf, views)

    def _of_mapped_rows(self, node: Aggregate) -> pa.Array:
        call = call_of(node)
        aggregate = call.aggregate
        columns = [self._ordered_column(name) for name in call.columns]
        arguments = [argument for argument in node.arguments if isinstance(argument, ColumnAt)]
        if aggregate.needs_index:
            # It reads rows before the variable's own.
            index = aggregate.index(*_arrays(columns), Partitions.whole(self.arrangement.offsets), None)
            rows, segments = self._rows_of(node.variables)
            found = over_segments(
                aggregate, [segments], lambda given: aggregate.lookup(index, rows[given[0][0]], rows[given[0][1]])
            )
            return as_measure(found)
        sides = [
            self._rows_of(node.variables if argument.target == EACH_ROW else argument.target.variables)
            for argument in arguments
        ]
        # Rows that a variable has lie together in columns of their own.
        values = arguments_of(aggregate, columns)
        gathered = [
            Column(one[rows], None if column.nulls is None else column.nulls[rows])
            for one, column, (rows, _) in zip(values, columns, sides, strict=True)
        ]
        segments_of = [segments for _, segments in sides[: aggregate.n_segments]]
        # Each match is a partition, so that its value does not depend on the others.
        partitions = Partitions.whole(np.append(0, segments_of[0][1] + 1))

        def compute(given: Sequence[Binding]) -> Values:
            if len(given) == 2:
                return in_parts(partial(aggregate.scan_pairs, *_arrays(gathered)), *given[0], *given[1])
            return in_parts(partial(aggregate.scan_many, *_arrays(gathered), partitions), *given[0])

        return as_measure(over_segments(aggregate, segments_of, compute))

    def _ordered_column(self, name: str) -> Column:
        values = self.table.column(name)
        order = self.arrangement.order
        return number_column(values if order is None else values.take(wrap(order)))

    def _rows_of(self, variables: frozenset[str] | None) -> tuple[NDArray[np.int64], Binding]:
        """The rows mapped to the variables, match by match, and where those of each match begin and end among them."""
        chosen = selecting(variables, self.variables)
        matches = self.matches
        takes_part = np.ones(matches.n_mapped, np.bool_) if chosen is None else self.is_member(chosen)[matches.labels]
        before = np.concatenate(([0], np.cumsum(takes_part)))
        first, behind = before[matches.label_offsets[:-1]], before[matches.label_offsets[1:]]
        return self.row_position[takes_part], (np.where(first < behind, first, -1), behind - 1)


def _is_ours(leaf: Leaf) -> bool:
    return isinstance(leaf, Aggregate) and is_of_segments(leaf.function)


def _arrays(columns: Sequence[Column]) -> tuple[tuple[NDArray[np.int64], ...], tuple[NDArray[np.uint8] | None, ...]]:
    return tuple(column.values for column in columns), tuple(column.nulls for column in columns)

