"""The partitions that are drawn: their rows and matches as positions on the axes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.values import numpy_of, python_value
from sparkrex.columns.wrap import wrap
from sparkrex.matching.located import Pieces
from sparkrex.pictures.options import ROW, asked_rows
from sparkrex.pictures.panels import Series, Spans
from sparkrex.pictures.picture import Axis
from sparkrex.pictures.positions import make_axis, position_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sparkrex.matching.located import Located, LocatedWindows
    from sparkrex.pictures.options import Options
    from sparkrex.pictures.positions import Positions


_ROOM = 0.012
"""Of the x axis, before the first row and behind the last one, so that both can be seen whole."""


@dataclass(frozen=True, eq=False, slots=True)
class Partition:
    """Rows of a partition as positions `begin` up to `end`, those that can be drawn, and where they stand."""

    begin: int
    end: int
    title: str
    series: Series
    has_x: NDArray[np.bool_] | None


def chosen_partitions(
    found: Located | LocatedWindows, place: NDArray[np.int64], options: Options
) -> tuple[NDArray[np.int64], int]:
    """The partitions to draw, and how many were asked for: first those with answers, in their order."""
    n_partitions = len(found.arrangement.offsets) - 1
    asked = np.arange(n_partitions)
    if options.key is not None:
        rows = wrap(found.arrangement.partition_rows()) if n_partitions else pa.array([], pa.int64())
        columns = [column.take(rows) for _, column in found.keys]
        keep = asked_rows(options.key, [name for name, _ in found.keys], columns)
        asked = asked[numpy_of(keep.fill_null(False))]
    has_any = np.isin(asked, place)
    first = np.concatenate((asked[has_any], asked[~has_any]))
    return first[: options.panels], len(asked)


def read_partitions(
    found: Located | LocatedWindows, chosen: NDArray[np.int64], x: str | None, y: str | None
) -> tuple[Axis, Axis | None, list[Partition]]:
    """Both axes, and the rows of these partitions."""
    offsets = found.arrangement.offsets
    bounds = [(int(offsets[number]), int(offsets[number + 1])) for number in chosen.tolist()]
    if x is None:
        x_axis, x_parts = Axis(ROW, grain=1.0), [np.arange(end - begin, dtype=np.float64) for begin, end in bounds]
    else:
        x_axis, x_parts = make_axis(x, [_rows(found, x, begin, end) for begin, end in bounds])
    y_axis: Axis | None = None
    y_parts: list[Positions] = [np.zeros(end - begin) for begin, end in bounds]
    if y is not None:
        y_axis, y_parts = make_axis(y, [_rows(found, y, begin, end) for begin, end in bounds])
    partitions = []
    for (begin, end), x_part, y_part in zip(bounds, x_parts, y_parts, strict=True):
        y_part = np.where(np.isfinite(y_part), y_part, np.nan) if not np.isfinite(y_part).all() else y_part
        series, has_x = Series(x_part, y_part), None
        if not np.isfinite(x_part).all():
            has_x = np.isfinite(x_part)
            series = Series(x_part[has_x], y_part[has_x])
        partitions.append(Partition(begin, end, title_of(found, begin), series, has_x))
    return x_axis, y_axis, partitions


def _rows(found: Located | LocatedWindows, name: str, begin: int, end: int) -> pa.ChunkedArray:
    column = found.table.column(name)
    order = found.arrangement.order
    return column.slice(begin, end - begin) if order is None else column.take(wrap(order[begin:end]))


def title_of(found: Located | LocatedWindows, begin: int) -> str:
    """The keys of the partition that begins at a position."""
    if not found.keys or not found.table.num_rows:
        return ""
    (row,) = found.arrangement.input_rows(np.array([begin])).tolist()
    return ", ".join(f"{name} = {_text(column[row])}" for name, column in found.keys)


def _text(scalar: pa.Scalar) -> str:
    value = python_value(scalar)
    return "NULL" if value is None else str(value)


def spans_of(found: Located, own: NDArray[np.int64], partition: Partition) -> tuple[Spans, Pieces]:
    """The matches `own` of a partition, and their pieces. Without x, a row counts as the next one that has it."""
    length = partition.end - partition.begin
    place = np.arange(length) if partition.has_x is None else np.cumsum(partition.has_x) - partition.has_x
    n_drawn = len(partition.series.x)
    if not n_drawn:
        return Spans.none(), Pieces.none()
    place = np.minimum(place, n_drawn - 1)
    begin = np.minimum(found.first[own] - partition.begin, length - 1)
    behind = np.maximum(found.behind[own] - 1 - partition.begin, begin)
    one, other = partition.series.x[place[begin]], partition.series.x[place[behind]]
    texts = tuple(
        f"#{number}" + (" (empty)" if is_empty else "")
        for number, is_empty in zip(
            found.number[own].tolist(), (found.first[own] == found.behind[own]).tolist(), strict=True
        )
    )
    spans = Spans(np.minimum(one, other), np.maximum(one, other), texts, np.zeros(len(own), np.int64))
    number = np.full(len(found), -1)
    number[own] = np.arange(len(own))
    mine = found.pieces.selected(number[found.pieces.match] >= 0)
    pieces = Pieces(
        number[mine.match], mine.variable, place[mine.first - partition.begin], place[mine.last - partition.begin]
    )
    return spans, pieces


def cut_to_range(
    series: Series, spans: Spans, pieces: Pieces, domain: tuple[float, float]
) -> tuple[Series, Spans, Pieces]:
    """Matches that reach into a range, and the rows that stand in it or belong to them."""
    meets = (spans.last >= domain[0]) & (spans.first <= domain[1])
    number = np.cumsum(meets) - 1
    kept = pieces.selected(meets[pieces.match])
    spans = Spans(
        spans.first[meets], spans.last[meets], [spans.texts[place] for place in np.flatnonzero(meets).tolist()],
        spans.kind[meets],
    )
    low = min(domain[0], float(spans.first.min())) if len(spans) else domain[0]
    high = max(domain[1], float(spans.last.max())) if len(spans) else domain[1]
    keep = _with_neighbours((series.x >= low) & (series.x <= high))
    at = np.cumsum(keep) - 1
    pieces = Pieces(number[kept.match], kept.variable, at[kept.first], at[kept.last])
    return Series(series.x[keep], series.y[keep]), spans, pieces


def _with_neighbours(keep: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Rows and those next to them, to which lines lead."""
    found = keep.copy()
    found[1:] |= keep[:-1]
    found[:-1] |= keep[1:]
    return found


def within(series: Series, domain: tuple[float, float]) -> Series:
    """The rows in a range, and those next to it."""
    keep = _with_neighbours((series.x >= domain[0]) & (series.x <= domain[1]))
    return Series(series.x[keep], series.y[keep])


def domain_of(
    series: Sequence[Series], axis: Axis, kind: pa.DataType, between: tuple[object, object] | None
) -> tuple[float, float]:
    """What the x axis must show: the range asked for, else all rows and some room on both sides.

    `kind` is the type of the column on the axis.
    """
    if between is not None:
        low, high = sorted(position_of(axis, kind, value) for value in between)
        return (low, high) if high > low else (low - 0.5, high + 0.5)
    lows = [float(one.x.min()) for one in series if len(one.x)]
    highs = [float(one.x.max()) for one in series if len(one.x)]
    if not lows:
        return 0.0, 1.0
    low, high = min(lows), max(highs)
    room = (high - low) * _ROOM or 0.5
    return low - room, high + room
