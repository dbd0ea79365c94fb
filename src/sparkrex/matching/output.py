"""What the results of all modes have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sparkrex.columns.values import python_value
from sparkrex.matching.reading import MatchReader, Viewpoints

if TYPE_CHECKING:


    import pyarrow as pa

    from sparkrex.errors import ExecutionError


NO_COLUMNS = "rex_none"
"""Stands in for the columns of a result that has none, so that its rows can still be counted."""


def name_partition(error: ExecutionError, names: list[str], keys: list[pa.ChunkedArray], input_row: int) -> None:
    """Say in which partition a search failed."""
    error.partition = tuple((name, python_value(key[input_row])) for name, key in zip(names, keys, strict=True))
    error.row = None


def one_row(reader: MatchReader) -> Viewpoints:
    """One output row per match, seen from its last row."""
    matches = reader.matches
    last = matches.label_offsets[1:] - 1
    if reader.has_empty:
        last[matches.start == matches.end] = -1
    return Viewpoints(np.arange(len(matches)), last, at_end=True, is_each=True)
