"""Which bucket a row belongs to: a hash of its keys, computed by Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.errors import UnsupportedError
from sparkrex.scalar.render.spark import quoted
from sparkrex.spark.shuffle import is_ordered_by_spark, written_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql.types import DataType

    from sparkrex.source import Source, Span
    from sparkrex.spark.lowering import Lowered


def hash_of(lowered: Lowered) -> str:
    """The hash as Spark SQL over the projected columns.

    The keys of equalities count too: an event query mostly has no others, and without them one bucket would have all
    rows. Events that lack such a key meet no other event, so it does not matter that they stay together.
    """
    keys = list(map(quoted, dict.fromkeys((*lowered.keys, *lowered.worker.equal_by))))
    return f"xxhash64({', '.join(keys)})" if keys else "0L"


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
