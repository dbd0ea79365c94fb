"""Matches of a row pattern to result rows: which rows each mode of rows gives, in which order, with which columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.gather import take_or_null
from sparkrex.kernels.lazy import kernel_for
from sparkrex.kernels.navigate import merge_unmatched
from sparkrex.languages.match_recognize.traverse import has_exclusion
from sparkrex.matching.output import NO_COLUMNS, one_row
from sparkrex.matching.reading import MatchReader, Viewpoints
from sparkrex.modes.plan import RowsPerMatch
from sparkrex.scalar.expression import EACH_ROW
from sparkrex.threads import in_parallel

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from sparkrex.modes.rows.plan import MatchRecognize


@dataclass(frozen=True, slots=True)
class Decided:
    """Where partitions are fed in parts: in each, positions from `first` up to `last` were decided by this feed, and
    lie in no match of an earlier one. Where starts are on their own, `is_covered` says of every row whether it does."""

    first: NDArray[np.int64]
    last: NDArray[np.int64]
    is_covered: NDArray[np.bool_] | None = None

    def those_of(self, positions: NDArray[np.int64], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
        """The positions that were decided."""
        place = np.searchsorted(offsets, positions, side="right") - 1
        is_one = (positions >= self.first[place]) & (positions < self.last[place])
        if self.is_covered is not None:
            is_one &= ~self.is_covered[positions]
        return positions[is_one]


def build_output(
    plan: MatchRecognize, reader: MatchReader, partition_columns: list[pa.ChunkedArray], decided: Decided | None = None
) -> pa.Table:
    """The result table of a plan. `partition_columns` hold the partition keys in input order."""
    if plan.rows_per_match is RowsPerMatch.ONE:
        views, positions = one_row(reader), reader.matches.start
        place = None
    else:
        views, positions, place = _all_rows(plan, reader, decided)
    expressions = [measure.expression for measure in plan.measures]
    measures = reader.evaluate(expressions, views, [measure.span for measure in plan.measures])
    if place is not None:
        # Unmatched rows have no measures.
        tasks = [partial(take_or_null, measure, place) for measure in measures]
        measures = in_parallel(tasks, reader.threads, len(place))
    keys = [_partition_column(reader, column, views, place) for column in partition_columns]
    passed = [reader.table.column(name) for name in plan.order_columns() + plan.rest_columns()]
    rows = np.empty(0, np.int64)
    if passed or None in keys:
        # The row of a mapped row is itself, which measures may have asked for already.
        is_mapped = place is None and views.is_each and not views.at_end
        rows = reader.target_rows(EACH_ROW, views) if is_mapped else reader.input_rows(positions)
    # With fewer columns than threads, threads share a column.
    each = max(1, reader.threads // max(1, len(keys) + len(passed)))
    reads: list[Callable[[], pa.ChunkedArray]] = [
        key or partial(take_or_null, column, rows, each)
        for key, column in zip_longest(keys, [*partition_columns, *passed])
    ]
    columns = in_parallel(reads, reader.threads, len(positions))
    n_before = len(keys) + len(plan.order_columns())
    columns = columns[:n_before] + measures + columns[n_before:]
    if not columns:
        return pa.table({NO_COLUMNS: pa.nulls(len(positions), pa.int8())})
    return pa.table(columns, names=list(plan.output_columns()))


def _partition_column(
    reader: MatchReader, column: pa.ChunkedArray, views: Viewpoints, place: NDArray[np.int64] | None
) -> Callable[[], pa.ChunkedArray] | None:
    """How to read a partition key once per partition instead of once per output row; None if that is no gain.

    Equal doubles may be spelt differently (0.0 and -0.0): each row then shows its own.
    """
    offsets = reader.arrangement.offsets
    kind = column.type
    if place is not None or 2 * len(offsets) > len(views) or pa.types.is_floating(kind) or pa.types.is_nested(kind):
        return None

    def read() -> pa.ChunkedArray:
        # A partition that has no rows here has no matches either: what is read for it is never looked at.
        once = take_or_null(column, reader.arrangement.partition_rows())
        partition = reader.match_partition
        return take_or_null(once, partition if views.at_end and views.is_each else partition[views.match])

    return read


def _all_rows(
    plan: MatchRecognize, reader: MatchReader, decided: Decided | None
) -> tuple[Viewpoints, NDArray[np.int64], NDArray[np.int64] | None]:
    """One output row per mapped row that is not excluded, per empty match shown, per unmatched row shown.

    Returns the rows that belong to matches, the position of every output row, and, if there are unmatched rows, for
    every output row its place among the former, -1 for unmatched.
    """
    matches = reader.matches
    views, row_position = reader.each_mapped_row, reader.row_position
    if has_exclusion(plan.pattern):
        shown = np.flatnonzero(matches.labels & 1 == 0)
        views, row_position = Viewpoints(reader.row_match[shown], shown, at_end=False), row_position[shown]
    if plan.rows_per_match is not RowsPerMatch.ALL_OMIT_EMPTY and reader.has_empty:
        empty = np.flatnonzero(matches.start == matches.end)
        row_match = np.concatenate([views.match, empty])
        order = np.argsort(row_match, kind="stable")
        row_mapped = np.concatenate([views.mapped_row, np.full(len(empty), -1)])
        views = Viewpoints(row_match[order], row_mapped[order], at_end=False)
        row_position = np.concatenate([row_position, matches.start[empty]])[order]
    if plan.rows_per_match is not RowsPerMatch.ALL_WITH_UNMATCHED:
        return views, row_position, None
    unmatched = unmatched_positions(reader)
    if decided is not None:
        unmatched = decided.those_of(unmatched, reader.arrangement.offsets)
    n_rows = len(views) + len(unmatched)
    place, positions = np.empty(n_rows, np.int64), np.empty(n_rows, np.int64)
    kernel_for(merge_unmatched, n_rows)(views.match, row_position, matches.start, unmatched, place, positions)
    return views, positions, place


def unmatched_positions(reader: MatchReader) -> NDArray[np.int64]:
    """Positions that no match covers and at which no empty match stands."""
    matches = reader.matches
    # Matches begin in order, so what lies between the furthest row covered so far and the next begin is unmatched.
    covered = np.maximum.accumulate(np.maximum(matches.end, matches.start + 1))
    first = np.concatenate(([0], covered))
    lengths = np.maximum(np.concatenate((matches.start, [reader.arrangement.n_rows])) - first, 0)
    within = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    unmatched: NDArray[np.int64] = np.repeat(first, lengths) + within
    return unmatched
