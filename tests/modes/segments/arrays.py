"""The rows of a drawn example as the table and the series that operators take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from tests.modes.segments.oracle import partitions

from sparkrex.columns.ordered import Columns
from sparkrex.modes.segments.operators.series import Column, Series

if TYPE_CHECKING:
    from tests.modes.segments.draws import Example

SCHEMA = pa.schema({"k": pa.string(), "t": pa.int64(), "x": pa.int64(), "y": pa.float64()})
_KINDS: dict[str, Any] = {"t": np.int64, "x": np.int64, "y": np.float64}


def columns_of(example: Example) -> Columns:
    """The rows in the oracle's order of partitions and rows."""
    groups = [group for _, group in partitions(example.search, example.rows)]
    table = pa.Table.from_pylist([dict(row) for group in groups for row in group], schema=SCHEMA)
    offsets = np.concatenate([[0], np.cumsum([len(group) for group in groups])]).astype(np.int64)
    return Columns(table, offsets)


def series_of(columns: Columns) -> Series:
    """The same as arrays. What stands in the place of a NULL is no number of the draws, so that reading it shows."""
    arrays = {}
    for name, kind in _KINDS.items():
        values = columns.table.column(name).to_pylist()
        nulls = np.array([value is None for value in values], np.uint8)
        filled = np.array([97 if value is None else value for value in values], kind)
        arrays[name] = Column(filled, nulls if nulls.any() else None)
    return Series(arrays, columns.offsets)
