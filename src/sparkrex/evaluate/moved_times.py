"""Times some hours on, without the host: every search that is bounded in time asks for them of all its rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from sparkrex.columns.values import plain
from sparkrex.evaluate.row_kinds import TIME_LIMITS
from sparkrex.scalar.expression import Call, ColumnAt
from sparkrex.scalar.intervals import fixed_interval, is_same_in_every_zone

if TYPE_CHECKING:
    from sparkrex.scalar.expression import Expression


def moved_times(expression: Expression, table: pa.Table) -> pa.Array | None:
    """A column of times moved by a written interval, as the host would have it; None where only the host can say."""
    match expression:
        case Call("add" | "subtract" as name, (ColumnAt(column=column), interval)):
            length, times = fixed_interval(interval), table.column(column)
        case _:
            return None
    if length is None or not pa.types.is_timestamp(times.type) or times.type.unit != "us":
        return None
    if times.type.tz is not None and not is_same_in_every_zone(interval):
        return None
    times = plain(times)
    least, most = TIME_LIMITS
    extremes = pc.min_max(times.view(pa.int64()))
    if extremes["min"].is_valid and not least < extremes["min"].as_py() <= extremes["max"].as_py() < most - length:
        return None  # near the end of all time, and where infinity is
    move = pc.add if name == "add" else pc.subtract
    return move(times, pa.scalar(length, pa.duration("us")))
