"""The picture of a result: rows with the begin and the end of a match each, on the rows that it was found in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.columns.arrange import arrange
from sparkrex.columns.values import python_value
from sparkrex.columns.wrap import wrap
from sparkrex.errors import AnalysisError
from sparkrex.matching.located import Located, Pieces
from sparkrex.pictures.notes import Shown, notes_of
from sparkrex.pictures.options import first_drawable, named_column
from sparkrex.pictures.panels import Budget, Spans, make_panel
from sparkrex.pictures.partitions import chosen_partitions, cut_to_range, domain_of, read_partitions
from sparkrex.pictures.picture import Picture, Style
from sparkrex.pictures.positions import is_number, is_text, is_time, make_axis

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from sparkrex.pictures.options import Options
    from sparkrex.pictures.picture import Axis


@dataclass(frozen=True, slots=True)
class ResultColumns:
    """The columns of a result: begin and end of each match on the x axis, what to call it, and keys of partitions."""

    start: str | None = None
    end: str | None = None
    label: str | None = None
    keys: tuple[str, ...] | None = None


def picture_of_result(result: pa.Table, rows: pa.Table, columns: ResultColumns, options: Options) -> Picture:
    """The matches that a result tells of, on the rows of a table."""
    x = named_column(options.x, rows) if options.x is not None else _first_axis(rows)
    start, end = _bounds(result, rows.schema.field(x).type, columns)
    keys = tuple(named_column(name, rows) for name in _keys(result, rows, columns, {x, start, end}))
    others = [name for name in rows.column_names if name not in {x, *keys}]
    y = named_column(options.y, rows) if options.y is not None else first_drawable(others, rows)
    found = _arranged(rows, x, keys)
    place = _places(found, result, keys)
    kept = np.flatnonzero(place >= 0)
    chosen, n_asked = chosen_partitions(found, place[kept], options)
    axis, y_axis, partitions = read_partitions(found, chosen, x, y)
    kind = rows.schema.field(x).type
    domain = domain_of([partition.series for partition in partitions], axis, kind, options.between)
    spans = _spans(result, axis, start, end, columns.label)
    made = []
    for number, partition in zip(chosen.tolist(), partitions, strict=True):
        own = np.flatnonzero((place == number) & np.isfinite(spans.first) & np.isfinite(spans.last))
        mine = Spans(spans.first[own], spans.last[own], [spans.texts[row] for row in own.tolist()], spans.kind[own])
        series, pieces = partition.series, Pieces.none()
        if options.between is not None:
            series, mine, pieces = cut_to_range(series, mine, pieces, domain)
        made.append(make_panel(
            partition.title, series, mine, pieces, Style.RUNS, domain, Budget.share(len(partitions))
        ))
    shown = Shown(
        n_partitions=n_asked, n_answers=len(kept), n_answers_shown=sum(one.panel.n_matches for one in made),
        has_range=options.between is not None,
    )
    notes = notes_of(made, shown)
    if len(kept) < result.num_rows:
        notes = (*notes, f"{result.num_rows - len(kept):,} rows of the result belong to no partition of the table.")
    title = options.title or f"{start} to {end}"
    return Picture(
        title, axis, y_axis, Style.RUNS, (), tuple(one.panel for one in made), notes, low=domain[0], high=domain[1]
    )


def _first_axis(rows: pa.Table) -> str:
    for is_wanted in (is_time, is_number):
        for field in rows.schema:
            if is_wanted(field.type):
                return str(field.name)
    raise AnalysisError(
        "REX201", "the table has no column of times or numbers for the x axis", None, None, hint='name one: x="ts"'
    )


def _bounds(result: pa.Table, kind: pa.DataType, columns: ResultColumns) -> tuple[str, str]:
    """The columns where matches begin and end: those named, else the first and the second one like the x axis."""
    alike = is_time if is_time(kind) else is_number
    found = [field.name for field in result.schema if alike(field.type)]
    start = None if columns.start is None else named_column(columns.start, result, "the result")
    end = None if columns.end is None else named_column(columns.end, result, "the result")
    found = [name for name in found if name not in (start, end)]
    start = start or (found.pop(0) if found else end)
    end = end or (found.pop(0) if found else start)
    if start is None or end is None:
        raise AnalysisError(
            "REX201", "the result has no column that says where a match begins", None, None,
            hint='name them: start="...", end="...", columns like that of the x axis; or plot the query itself',
        )
    for name in (start, end):
        if not alike(result.schema.field(name).type):
            raise AnalysisError(
                "REX202", f"column {name} is of type {result.schema.field(name).type}, and the x axis of {kind}",
                None, None,
                hint="start= and end= are positions on the x axis",
            )
    return start, end


def _keys(result: pa.Table, rows: pa.Table, columns: ResultColumns, taken: set[str]) -> Sequence[str]:
    """The columns of partitions: those named, else the texts that both tables have."""
    if columns.keys is not None:
        for name in columns.keys:
            named_column(name, result, "the result")
        return columns.keys
    shared = [name for name in rows.column_names if name in result.column_names and name not in taken]
    return [name for name in shared if is_text(rows.schema.field(name).type) and name != columns.label]


def _arranged(rows: pa.Table, x: str, keys: tuple[str, ...]) -> Located:
    """The rows by partition, in order of x, without matches yet."""
    (positions,) = make_axis(x, [rows.column(x)])[1]
    arranged = arrange([rows.column(name) for name in keys], [], rows.num_rows)
    order = np.arange(rows.num_rows) if arranged.order is None else arranged.order
    place = np.repeat(np.arange(len(arranged.offsets) - 1), np.diff(arranged.offsets))
    order = order[np.lexsort((positions[order], place))]
    nothing = np.empty(0, np.int64)
    return Located(
        rows, replace(arranged, known_order=order, scatter=None), tuple((name, rows.column(name)) for name in keys), (),
        nothing, nothing, nothing, Pieces.none(),
    )


def _places(found: Located, result: pa.Table, keys: tuple[str, ...]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """The partition of every row of the result, -1 if there is none."""
    if not keys:
        return np.full(result.num_rows, 0 if found.table.num_rows else -1)
    rows = found.arrangement.partition_rows()
    columns = [column.take(wrap(rows)) for _, column in found.keys]
    known = {
        tuple(python_value(column[place]) for column in columns): place
        for place in range(len(found.arrangement.offsets) - 1)
    }
    own = [result.column(named_column(name, result, "the result")) for name in keys]
    return np.array(
        [known.get(tuple(python_value(column[row]) for column in own), -1) for row in range(result.num_rows)], np.int64
    )


def _spans(result: pa.Table, axis: Axis, start: str, end: str, label: str | None) -> Spans:
    bounds = []
    for name in (start, end):
        own, (positions,) = make_axis(name, [result.column(name)])
        bounds.append(positions + (own.origin - axis.origin))
    if label is None:
        texts = [f"#{number + 1}" for number in range(result.num_rows)]
    else:
        values = result.column(named_column(label, result, "the result"))
        texts = ["" if value.as_py() is None else str(python_value(value)) for value in values]
    first, last = bounds
    return Spans(np.minimum(first, last), np.maximum(first, last), texts, np.zeros(result.num_rows, np.int64))


