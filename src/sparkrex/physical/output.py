"""Matches to result rows: which rows each mode gives, in which order, with which columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.gather import take_or_null
from sparkrex.ir.plan import RowsPerMatch
from sparkrex.physical.reading import MatchReader, Viewpoints

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.errors import ExecutionError
    from sparkrex.ir.plan import MatchRecognize


NO_COLUMNS = "rex_none"
"""Stands in for the columns of a result that has none, so that its rows can still be counted."""


def name_partition(error: ExecutionError, names: list[str], keys: list[pa.ChunkedArray], input_row: int) -> None:
    """Say in which partition a search failed."""
    values = [f"{name} = {key[input_row].as_py()!r}" for name, key in zip(names, keys, strict=True)]
    if values:
        error.notes = (*error.notes, f"in partition {', '.join(values)}")
    error.row = None


@dataclass(frozen=True, slots=True)
class Decided:
    """In chunked feeding: positions from `first` up to `last` were decided by this feed.

    Rows before `covered` lie in a match of an earlier feed.
    """

    first: int
    last: int
    covered: int


def build_output(
    plan: MatchRecognize, reader: MatchReader, partition_columns: list[pa.ChunkedArray], decided: Decided | None = None
) -> pa.Table:
    """The result table of a plan. `partition_columns` hold the partition keys in input order."""
    if plan.rows_per_match is RowsPerMatch.ONE:
        views, positions = _one_row(reader)
        place = None
    else:
        views, positions, place = _all_rows(plan.rows_per_match, reader, decided)
    expressions = [measure.expression for measure in plan.measures]
    measures = reader.evaluate(expressions, views, [measure.span for measure in plan.measures])
    if place is not None:
        # Unmatched rows have no measures.
        measures = [take_or_null(measure, place) for measure in measures]
    rows = reader.arrangement.input_rows(positions)
    columns = [take_or_null(column, rows) for column in partition_columns]
    columns += [take_or_null(reader.table.column(name), rows) for name in plan.order_columns()]
    columns += measures
    columns += [take_or_null(reader.table.column(name), rows) for name in plan.rest_columns()]
    if not columns:
        return pa.table({NO_COLUMNS: pa.nulls(len(rows), pa.int8())})
    return pa.table(columns, names=list(plan.output_columns()))


def _one_row(reader: MatchReader) -> tuple[Viewpoints, NDArray[np.int64]]:
    """One output row per match, seen from its last row."""
    matches = reader.matches
    is_empty = np.diff(matches.label_offsets) == 0
    last = np.where(is_empty, -1, matches.label_offsets[1:] - 1)
    return Viewpoints(np.arange(len(matches)), last, at_end=True), matches.start


def _all_rows(
    mode: RowsPerMatch, reader: MatchReader, decided: Decided | None
) -> tuple[Viewpoints, NDArray[np.int64], NDArray[np.int64] | None]:
    """One output row per mapped row that is not excluded, per empty match shown, per unmatched row shown.

    Returns the rows that belong to matches, the position of every output row, and, if there are unmatched rows, for
    every output row its place among the former, -1 for unmatched.
    """
    matches = reader.matches
    mapped = np.flatnonzero(matches.labels % 2 == 0)
    row_match, row_mapped, row_position = reader.row_match[mapped], mapped, reader.row_position[mapped]
    if mode is not RowsPerMatch.ALL_OMIT_EMPTY:
        empty = np.flatnonzero(np.diff(matches.label_offsets) == 0)
        row_match = np.concatenate([row_match, empty])
        row_mapped = np.concatenate([row_mapped, np.full(len(empty), -1)])
        row_position = np.concatenate([row_position, matches.start[empty]])
        order = np.argsort(row_match, kind="stable")
        row_match, row_mapped, row_position = row_match[order], row_mapped[order], row_position[order]
    views = Viewpoints(row_match, row_mapped, at_end=False)
    if mode is not RowsPerMatch.ALL_WITH_UNMATCHED:
        return views, row_position, None
    unmatched = _unmatched(reader)
    if decided is not None:
        first = max(decided.first, decided.covered)
        unmatched = unmatched[(unmatched >= first) & (unmatched < decided.last)]
    # A match stands where it starts; an unmatched row where it is.
    key = np.concatenate([matches.start[row_match], unmatched])
    order = np.argsort(key, kind="stable")
    place = np.concatenate([np.arange(len(row_match)), np.full(len(unmatched), -1)])[order]
    return views, np.concatenate([row_position, unmatched])[order], place


def _unmatched(reader: MatchReader) -> NDArray[np.int64]:
    """Positions that no match covers and at which no empty match stands."""
    matches = reader.matches
    change = np.zeros(reader.arrangement.n_rows + 1, np.int64)
    is_empty = matches.end == matches.start
    np.add.at(change, matches.start, 1)
    np.add.at(change, np.where(is_empty, matches.start + 1, matches.end), -1)
    return np.flatnonzero(np.cumsum(change[:-1]) == 0)
