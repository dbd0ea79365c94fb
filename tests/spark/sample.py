"""Ticks with two V shapes, the query that finds them, and how tests look at a DataFrame."""

from __future__ import annotations

import contextlib
import io
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sparkrex.spark.versions import zoned_arrow_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

V_SHAPE = """
  PARTITION BY sym ORDER BY ts
  MEASURES FIRST(ts) AS began, MIN(price) AS low, LAST(ts) AS ended
  PATTERN (STRT DOWN+ UP+)
  DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price)"""
QUERY = f"SELECT * FROM ticks MATCH_RECOGNIZE ({V_SHAPE})"

TICKS = pa.table(
    {
        "sym": ["a"] * 6 + ["b"] * 4,
        "ts": [1, 2, 3, 4, 5, 6, 1, 2, 3, 4],
        "price": [10, 8, 7, 9, 11, 3, 5, 4, 6, 2],
        "note": list("pqrstuvwxy"),
    }
)
V_SHAPES = [("a", 1, 7, 5), ("b", 1, 4, 3)]


def rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    """The rows, sorted: a DataFrame has no order."""
    return sorted(tuple(row) for row in frame.collect())


def plan(frame: DataFrame) -> str:
    """Spark's physical plan."""
    captured = io.StringIO()
    with contextlib.redirect_stdout(captured):
        frame.explain()
    return captured.getvalue()


def arrow_rows(frame: DataFrame) -> pa.Table:
    """The rows as a table; before Spark 4 only a private way keeps their types."""
    if hasattr(frame, "toArrow"):
        return frame.toArrow()
    batches: Any = frame._collect_as_arrow()  # type: ignore[operator]
    return pa.Table.from_batches(batches) if batches else zoned_arrow_schema(frame.schema, "UTC").empty_table()
