"""The watermarked column of a stream, and whether ORDER BY follows it.

Spark says with a watermark up to when all rows have come, and only that time can release rows. So rows must be ordered
by that column first, from the earliest on; anything else would be an order that never becomes final.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql.types import TimestampType

from sparkrex.errors import AnalysisError
from sparkrex.scalar.render.spark import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from sparkrex.modes.plan import Plan
    from sparkrex.source import Source, Span
    from sparkrex.spark.lowering import Lowered

WATERMARK = "spark.watermarkDelayMs"
"""The entry in a column's metadata by which Spark knows that it is watermarked."""
ROW_TIME = "sparkrex.row_time"
"""The entry of MATCH_ROWTIME(), by which a pattern over the results knows them, also where both are drained."""


def are_results(schema: StructType) -> bool:
    """Whether rows are the results of a pattern over a stream, with their times."""
    return any(ROW_TIME in (field.metadata or {}) for field in schema)


def find_watermark(schema: StructType, source: Source, span: Span, mark: str = WATERMARK) -> str:
    """The name of the one watermarked column."""
    found = [field for field in schema if mark in (field.metadata or {})]
    if not found:
        raise no_watermark(source, span)
    if len(found) > 1:
        names = " and ".join(field.name for field in found)
        raise AnalysisError(
            "REX231", f"the stream has {len(found)} watermarked columns, {names}: which of them is its time?",
            source, span, hint="leave all but one out in a subquery: FROM (SELECT ... FROM stream)",
        )
    (field,) = found
    if not isinstance(field.dataType, TimestampType):
        raise AnalysisError(
            "REX231", f"the watermarked column {field.name} is a {field.dataType.simpleString()}, not a timestamp",
            source, span, hint="set the watermark on a TIMESTAMP",
        )
    return field.name


def no_watermark(source: Source, span: Span) -> AnalysisError:
    """The error of a stream of which it is never known whether all rows up to a time have come."""
    return AnalysisError(
        "REX230", "the stream has no watermark, so it never says that all rows up to a time have come", source, span,
        hint='set one on the time column: stream.withWatermark("ts", "10 seconds")',
        command_hint="name the time column, and how late rows may come: --watermark 'ts 10 seconds'",
        notes=(
            "a column computed from a watermarked one has none; of the results of a pattern MATCH_ROWTIME() has one",
        ),
    )


def watermarked(result: DataFrame, lowered: Lowered) -> DataFrame:
    """The result with a watermark on MATCH_ROWTIME(), so that it can be windowed, joined and searched again.

    The operator gives no row before the watermark that Spark has for what comes behind it. What drains is a table.
    """
    last = lowered if lowered.following is None else lowered.following
    times = {quoted(name) for name in last.worker.row_times()}
    given = lowered.outputs or {name: quoted(name) for name in last.worker.row_times()}
    found = [name for name, text in given.items() if text in times]
    mark = {WATERMARK: 0, ROW_TIME: True} if result.isStreaming else {ROW_TIME: True}
    return result.withMetadata(found[0], mark) if found else result


def check_order(plan: Plan, column: str, source: Source, span: Span, *, is_row_time: bool) -> None:
    """Raise REX231 unless rows are ordered by the watermarked column first, ascending.

    `is_row_time` says that it is MATCH_ROWTIME() of another pattern.
    """
    if not plan.order_by:
        message = f"rows of a stream need an order, and that begins with its watermarked column {column}"
        raise _refused(message, source, span, f"ORDER BY {column}")
    key = plan.order_by[0]
    where = key.expression.span or span
    if key.column != column:
        raise other_order(key.column, column, source, where, is_row_time=is_row_time)
    if key.is_descending:
        raise _refused(f"{column} DESC: a stream is read from its earliest row on", source, where, f"ORDER BY {column}")
    if not key.nulls_first:
        message = f"{column} NULLS LAST: a stream has no last row; rows without a time are all late"
        raise _refused(message, source, where, "leave NULLS LAST out")


def other_order(
    found: str | None, wanted: str, source: Source, span: Span, *, is_row_time: bool = False
) -> AnalysisError:
    """The error of an order that begins with something else; None for an expression."""
    what = "an expression" if found is None else found
    hint, command_hint = f"order by {wanted} first", None
    if is_row_time:
        hint += ": matches come when they are decided, and only their MATCH_ROWTIME() follows that"
    elif found is not None:
        command_hint = f"{hint}, or set the watermark on the other column: --watermark '{found} 10 seconds'"
        hint += f', or set the watermark on the other column: stream.withWatermark("{found}", "10 seconds")'
    message = f"rows are ordered by {what} first, and the watermark of the stream is on {wanted}"
    return _refused(message, source, span, hint, command_hint)


def _refused(
    message: str, source: Source, span: Span, hint: str, command_hint: str | None = None
) -> AnalysisError:
    return AnalysisError("REX231", message, source, span, hint=hint, command_hint=command_hint)
