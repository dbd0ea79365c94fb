"""The order of events must be definite: a time for each, and no two of a partition alike in time and tie-breaks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sparkrex.columns.gather import put_in_order
from sparkrex.columns.keys import partition_integers
from sparkrex.errors import ExecutionError
from sparkrex.scalar.expression import ColumnAt

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from sparkrex.modes.events.plan import EventQuery


def order_columns(query: EventQuery) -> tuple[str, ...]:
    """The time column, then the tie-break columns. In a Spark worker they have other names than the user's."""
    names = tuple(key.expression.column for key in query.order_by if isinstance(key.expression, ColumnAt))
    assert len(names) == len(query.order_by)  # events are ordered by columns, not by expressions
    return names


def check_order(
    query: EventQuery, table: pa.Table, order: NDArray[np.int64] | None, offsets: NDArray[np.int64]
) -> None:
    """Fail if an event has no time, or two that follow each other in a partition are tied in everything.

    `order[i]` is the table's row at position i, None if the table is in order; `offsets` cut partitions.
    """
    if not table.num_rows:
        return
    names = order_columns(query)
    times = table.column(names[0])
    time, *tie_break = (str(key.column) for key in query.order_by)
    if times.null_count:
        row = int(np.flatnonzero(times.is_null().to_numpy())[0])
        place = row if order is None else int(np.flatnonzero(order == row)[0])
        raise _error(f"an event has no time: {time} is NULL", query, place, "leave such rows out")
    tied = np.ones(table.num_rows - 1, np.bool_)
    inside = offsets[1:-1]
    tied[inside[(inside > 0) & (inside < table.num_rows)] - 1] = False
    for name in names:
        integers = put_in_order(partition_integers(table.column(name), [(0, table.num_rows)]), order)
        tied &= integers[1:] == integers[:-1]
        if not tied.any():
            return
    place = int(tied.argmax()) + 1
    at = times[place if order is None else int(order[place])]
    also = f" and {', '.join(tie_break)}" if tie_break else ""
    raise _error(
        f"two events have the same {time}{also}, so that neither is before the other: {time} = {at.as_py()}", query,
        place, "name columns that tell them apart by tie_break; inside MATCH_EVENTS: TIE BREAK column",
    )


def _error(message: str, query: EventQuery, place: int, hint: str) -> ExecutionError:
    error = ExecutionError("REX409", message, query.source, query.pattern.span or query.span, hint=hint)
    error.row = place
    return error
