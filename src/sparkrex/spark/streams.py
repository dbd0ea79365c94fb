"""Streaming DataFrames are refused before anything starts.

A batch search over micro-batches would lose every match that lies in two of them, without a word. Each place that takes
rows from outside asks here, so that streaming, once it is built, has one refusal to lift.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.errors import UnsupportedError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from sparkrex.source import Source, Span


def refuse_stream(frame: DataFrame, source: Source, span: Span | None, called: str) -> None:
    """Raise REX302 if the DataFrame is streaming; `called` says how the user knows it."""
    if frame.isStreaming:
        raise stream_error(source, span, called)


def stream_error(source: Source, span: Span | None, called: str) -> UnsupportedError:
    """The error of a streaming input."""
    return UnsupportedError(
        "REX302", f"{called} is a streaming DataFrame: patterns are searched in batch only, for now", source, span,
        notes=("a match that lies in two micro-batches would be lost",),
        hint="read the rows with spark.read, or write the stream to a table and query that",
    )
