"""The watermarked column of a stream, and whether ORDER BY follows it.

Spark says with a watermark up to when all rows have come, and only that time can release rows. So rows must be ordered
by that column first, from the earliest on; anything else would be an order that never becomes final.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql.types import NumericType, TimestampType

from sparkrex.errors import AnalysisError
from sparkrex.scalar.render.spark import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructField, StructType

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


def find_watermark(
    schema: StructType, order: str | None, source: Source, span: Span, mark: str = WATERMARK
) -> str:
    """The name of the one watermarked column. `order` is the first column of ORDER BY, if it is one."""
    found = [field for field in schema if mark in (field.metadata or {})]
    if not found:
        raise no_watermark(_time_column(schema, order), source, span)
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


def no_watermark(time: StructField | None, source: Source, span: Span) -> AnalysisError:
    """The error of a stream of which it is never known whether all rows up to a time have come; `time` could say it."""
    notes = ["a column computed from a watermarked one has none; of the results of a pattern MATCH_ROWTIME() has one"]
    hint, command_hint = "set one on a TIMESTAMP, and order by that", None
    if time is not None:
        command_hint = f"name the time column, and how late rows may come: {_option(time)}"
        hint = f"set one on the time column: {setting_watermark(time)}"
        notes += _about_type(time)
    return AnalysisError(
        "REX230", "the stream has no watermark, so it never says that all rows up to a time have come", source, span,
        hint=hint, command_hint=command_hint, notes=notes,
    )


def _time_column(schema: StructType, order: str | None) -> StructField | None:
    """The column that the watermark should be on: that of ORDER BY, else the first TIMESTAMP."""
    found = [field for field in schema if field.name == order]
    return next(iter(found or [field for field in schema if isinstance(field.dataType, TimestampType)]), None)


def setting_watermark(time: StructField) -> str:
    """How to set a watermark on a column, which only a TIMESTAMP can have."""
    cast = "" if isinstance(time.dataType, TimestampType) else (
        f'.withColumn("{time.name}", stream["{time.name}"].cast("timestamp"))'
    )
    return f'stream{cast}.withWatermark("{time.name}", "10 seconds")'


def _option(time: StructField) -> str:
    """The same for the command, which casts by itself."""
    name = time.name if time.name.isidentifier() else f"`{time.name}`"
    return f"--watermark '{name} 10 seconds'"


def _about_type(time: StructField) -> list[str]:
    kind = time.dataType
    if isinstance(kind, TimestampType):
        return []
    is_number = isinstance(kind, NumericType)
    return [f"{time.name} is a {kind.simpleString()}, and Spark's watermarks are on a TIMESTAMP"
            + ("; the cast takes it as seconds since 1970" if is_number else "")]


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


def check_order(
    plan: Plan, column: str, schema: StructType, source: Source, span: Span, *, is_row_time: bool
) -> None:
    """Raise REX231 unless rows are ordered by the watermarked column first, ascending.

    `is_row_time` says that it is MATCH_ROWTIME() of another pattern.
    """
    if not plan.order_by:
        message = f"rows of a stream need an order, and that begins with its watermarked column {column}"
        raise _refused(message, source, span, f"ORDER BY {column}")
    key = plan.order_by[0]
    where = key.expression.span or span
    if key.column != column:
        found = None if key.column is None else schema[key.column]
        raise other_order(found, column, source, where, is_row_time=is_row_time)
    if key.is_descending:
        raise _refused(f"{column} DESC: a stream is read from its earliest row on", source, where, f"ORDER BY {column}")
    if not key.nulls_first:
        message = f"{column} NULLS LAST: a stream has no last row; rows without a time are all late"
        raise _refused(message, source, where, "leave NULLS LAST out")


def other_order(
    found: StructField | None, wanted: str, source: Source, span: Span, *, is_row_time: bool = False
) -> AnalysisError:
    """The error of an order that begins with something else; None for an expression."""
    what = "an expression" if found is None else found.name
    hint, command_hint = f"order by {wanted} first", None
    if is_row_time:
        hint += ": matches come when they are decided, and only their MATCH_ROWTIME() follows that"
    elif found is not None:
        command_hint = f"{hint}, or set the watermark on the other column: {_option(found)}"
        hint += f", or set the watermark on the other column: {setting_watermark(found)}"
    message = f"rows are ordered by {what} first, and the watermark of the stream is on {wanted}"
    return _refused(message, source, span, hint, command_hint)


def _refused(
    message: str, source: Source, span: Span, hint: str, command_hint: str | None = None
) -> AnalysisError:
    return AnalysisError("REX231", message, source, span, hint=hint, command_hint=command_hint)
