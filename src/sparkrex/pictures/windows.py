"""Windows of time with values, as boxes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sparkrex.columns.values import python_value
from sparkrex.columns.wrap import wrap
from sparkrex.pictures.picture import Boxes
from sparkrex.pictures.positions import is_number, make_axis

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from sparkrex.matching.located import LocatedWindows
    from sparkrex.pictures.picture import Axis
    from sparkrex.pictures.positions import Positions

_MOST_LETTERS = 200
"""Of what a window says."""


def window_places(found: LocatedWindows) -> NDArray[np.int64]:
    """The partition of every window, by the values of its group."""
    rows = found.arrangement.partition_rows()
    keys = [column.take(wrap(rows)) for _, column in found.keys]
    known = {
        tuple(python_value(key[row]) for key in keys): row for row in range(len(found.arrangement.offsets) - 1)
    }
    return np.array(
        [known[tuple(python_value(key[row]) for key in found.window_keys)] for row in range(len(found.start))], np.int64
    )


def boxes_of(
    found: LocatedWindows, own: NDArray[np.int64], x: Axis, domain: tuple[float, float], most: int
) -> Boxes:
    """The windows of a group; those without bounds reach over the whole axis."""
    names = [name for name in found.values.column_names if is_number(found.values.schema.field(name).type)]
    name = names[0] if names else next(iter(found.values.column_names), "")
    rows = wrap(own)
    values = np.full(len(own), np.nan)
    if names:
        (values,) = make_axis(name, [found.values.column(name).take(rows)])[1]
    first, last = np.full(len(own), domain[0]), np.full(len(own), domain[1])
    if len(own) and not found.start.null_count:
        first, last = (_window_positions(x, column.take(rows)) for column in (found.start, found.end))
    meets = (last > domain[0]) & (first <= domain[1])
    own, first, last, values = own[meets], first[meets], last[meets], values[meets]
    chosen = np.arange(len(own)) if len(own) <= most else _extreme_boxes(first, values, domain, most // 2)
    listed = found.values.take(wrap(own[chosen])).to_pylist()
    texts = tuple("\n".join(f"{key} = {value}" for key, value in row.items())[:_MOST_LETTERS] for row in listed)
    return Boxes(name, first[chosen], last[chosen], values[chosen], texts, len(own))


def _extreme_boxes(
    first: Positions, values: Positions, domain: tuple[float, float], columns: int
) -> NDArray[np.int64]:
    """Of each column of the axis the windows with the least and the greatest value."""
    column = np.clip((first - domain[0]) / (domain[1] - domain[0]) * columns, 0, columns - 1)
    order = np.lexsort((values, column.astype(np.int64)))
    cuts = np.flatnonzero(np.diff(column.astype(np.int64)[order], prepend=-1))
    return np.unique(np.concatenate((order[cuts], order[np.append(cuts[1:], len(order)) - 1])))


def _window_positions(x: Axis, column: pa.ChunkedArray) -> Positions:
    own, (positions,) = make_axis(x.name, [column])
    return positions + (own.origin - x.origin)
