"""What says which bucket a row belongs to, and how many buckets there are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.errors import UnsupportedError
from sparkrex.spark.shuffle import is_ordered_by_spark, written_name
from sparkrex.streams.packing import MOST_BUCKETS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import SparkSession
    from pyspark.sql.types import DataType

    from sparkrex.settings import Settings
    from sparkrex.source import Source, Span
    from sparkrex.spark.lowering import Lowered


def hashed_columns(lowered: Lowered) -> tuple[str, ...]:
    """The projected columns whose values say which bucket a row belongs to.

    The keys of equalities count too: an event query mostly has no others, and without them one bucket would have all
    rows. Events that lack such a key meet no other event, so it does not matter that they stay together.
    """
    return tuple(dict.fromkeys((*lowered.keys, *lowered.worker.equal_by)))


def bucket_count(settings: Settings, spark: SparkSession) -> int:
    """How many buckets a new query has.

    A call of a bucket costs some milliseconds whatever it has to do, so many buckets are slow where few tasks share
    them; and buckets are all that tasks can share.
    """
    if settings.buckets is not None:
        return settings.buckets
    n_tasks = int(str(spark.conf.get("spark.sql.shuffle.partitions")))
    return min(_BUCKETS_OF_A_TASK << max(n_tasks - 1, 0).bit_length(), MOST_BUCKETS)


_BUCKETS_OF_A_TASK = 16
"""Enough of them that no task has much more than another, and that a part of a state stays small."""


def check_stream_keys(lowered: Lowered, types: Mapping[str, DataType], source: Source, span: Span) -> None:
    """Refuse keys and order columns that are not hashed or compared alike by Spark and the workers."""
    _refuse(lowered.keys, "PARTITION BY", lowered, types, source, span)
    _refuse(lowered.order, "ORDER BY", lowered, types, source, span)


def _refuse(
    names: Sequence[str], clause: str, lowered: Lowered, types: Mapping[str, DataType], source: Source, span: Span
) -> None:
    for name in names:
        if is_ordered_by_spark(types[name]):
            where = lowered.spans.get(name) or span
            written = source.text[where.start : where.end] if name in lowered.spans else written_name(lowered, name)
            raise UnsupportedError(
                "REX302", f"{clause} {written} of type {types[name].simpleString()} is not supported on streams",
                source, where, hint=f"use its parts, or CAST({written} AS STRING)",
            )
