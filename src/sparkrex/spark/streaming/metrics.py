"""What a batch did, in numbers: they travel beside the result rows, and Spark sums them up into the query's progress.

`observe` costs nothing where nobody asks, and reaches listeners, `StreamingQuery.recentProgress` and Spark Connect.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812  as everybody writes it
from pyspark.sql.types import LongType, StructField

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

OBSERVED = "rex"
"""How names of observed metrics begin."""
COUNTED = ("rows_in", "late", "errors", "released", "rows_out", "open_keys", "rows_held", "state_bytes")
OLDEST = "oldest"
METRICS = (*COUNTED, OLDEST)
_numbers = count(1)


def metric_fields() -> list[StructField]:
    """The columns of the operator's output that are metrics."""
    return [StructField(name, LongType()) for name in METRICS]


def observed(frame: DataFrame) -> DataFrame:
    """The operator's output, its metrics watched.

    Spark wants a name that no other part of a query has, and several of our relations may be put into one.
    """
    totals = [F.coalesce(F.sum(name), F.lit(0)).alias(name) for name in COUNTED]
    return frame.observe(f"{OBSERVED}_{next(_numbers)}", *totals, F.min(OLDEST).alias(OLDEST))


class Progress:
    """The newest batches of a streaming query: `batches` as dictionaries, as text a line for each."""

    def __init__(self, query: StreamingQuery) -> None:
        if not hasattr(query, "recentProgress"):
            raise TypeError(f"query is a {type(query).__name__}, not what writeStream...start() returns")
        self.batches = [numbers_of(progress) for progress in query.recentProgress]

    def __str__(self) -> str:
        lines = [HEADINGS, *(batch_line(batch) for batch in self.batches)]
        widths = [max(len(line[place]) for line in lines) for place in range(len(HEADINGS))]
        return "\n".join(
            "  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True)) for line in lines
        )

    __repr__ = __str__


HEADINGS = (
    "batch", "watermark", "seconds", "rows in", "late", "errors", "released", "rows out", "open keys", "rows held",
    "state MB", "oldest",
)


def numbers_of(progress: Mapping[str, Any]) -> dict[str, Any]:
    """One batch: what Spark says of it, and the sums of our relations in it."""
    return dict(_numbers_of(progress))


def _numbers_of(progress: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    yield "batch", progress["batchId"]
    yield "watermark", progress["eventTime"].get("watermark")
    yield "seconds", progress["durationMs"].get("triggerExecution", 0) / 1000
    found = [
        dict(row.asDict() if hasattr(row, "asDict") else row)
        for name, row in (progress["observedMetrics"] or {}).items() if name.startswith(f"{OBSERVED}_")
    ]
    for name in COUNTED:
        yield name, sum(row[name] or 0 for row in found)
    oldest = min((row[OLDEST] for row in found if row[OLDEST] is not None), default=None)
    yield OLDEST, None if oldest is None else _as_spark(oldest)


def _as_spark(microseconds: int) -> str:
    """A time as Spark writes watermarks; one that no calendar of Python's has stays a number."""
    try:
        return (_EPOCH + timedelta(microseconds=microseconds)).isoformat(timespec="milliseconds") + "Z"
    except OverflowError:
        return str(microseconds)


_EPOCH = datetime(1970, 1, 1)


def batch_line(batch: Mapping[str, Any]) -> tuple[str, ...]:
    """A batch under `HEADINGS`."""
    counted = (f"{batch[name]:,}" for name in COUNTED if name != "state_bytes")
    return (
        str(batch["batch"]), _time(batch["watermark"]), f"{batch['seconds']:.1f}", *counted,
        f"{batch['state_bytes'] / 1e6:.2f}", _time(batch[OLDEST]),
    )


def _time(text: str | None) -> str:
    return (text or "-").removesuffix(".000Z")
