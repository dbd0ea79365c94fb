"""The order of events must be definite: a time for each, and no two of a partition alike in time and tie-breaks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sparkrex.columns.gather import put_in_order
from sparkrex.columns.keys import partition_integers
from sparkrex.columns.values import python_value
from sparkrex.errors import ExecutionError
from sparkrex.scalar.expression import ColumnAt

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from sparkrex.modes.plan import Plan


def order_columns(plan: Plan) -> tuple[str, ...]:
    """The time column, then the tie-break columns. In a Spark worker they have other names than the user's."""
    names = tuple(key.expression.column for key in plan.order_by if isinstance(key.expression, ColumnAt))
    assert len(names) == len(plan.order_by)  # events are ordered by columns, not by expressions
    return names


def check_times(plan: Plan, table: pa.Table, order: NDArray[np.int64] | None) -> None:
    """Fail if an event has no time. `order[i]` is the table's row at position i, None if the table is in order."""
    times = table.column(order_columns(plan)[0])
    if times.null_count:
        row = int(np.flatnonzero(times.is_null().to_numpy())[0])
        place = row if order is None else int(np.flatnonzero(order == row)[0])
        time = plan.order_by[0].column
        raise _error(f"an event has no time: {time} is NULL", plan, place, "leave such rows out")


def check_order(plan: Plan, table: pa.Table, order: NDArray[np.int64] | None, offsets: NDArray[np.int64]) -> None:
    """Fail if an event has no time, or two that follow each other in a partition are tied in everything.

    `order[i]` is the table's row at position i, None if the table is in order; `offsets` cut partitions.
    """
    if not table.num_rows:
        return
    check_times(plan, table, order)
    names = order_columns(plan)
    tied = np.ones(table.num_rows - 1, np.bool_)
    inside = offsets[1:-1]
    tied[inside[(inside > 0) & (inside < table.num_rows)] - 1] = False
    for name in names:
        integers = put_in_order(partition_integers(table.column(name), [(0, table.num_rows)]), order)
        tied &= integers[1:] == integers[:-1]
        if not tied.any():
            return
    place = int(tied.argmax()) + 1
    at = table.column(names[0])[place if order is None else int(order[place])]
    time, *tie_break = (str(key.column) for key in plan.order_by)
    also = f" and {', '.join(tie_break)}" if tie_break else ""
    raise _error(
        f"two events have the same {time}{also}, so that neither is before the other: {time} = {python_value(at)}",
        plan, place, f"name columns that tell them apart by tie_break; inside {plan.keyword}: TIE BREAK column",
    )


def _error(message: str, plan: Plan, place: int, hint: str) -> ExecutionError:
    error = ExecutionError("REX409", message, plan.source, plan.span, hint=hint)
    error.row = place
    return error
