"""`array_agg` over whole matches: rows of a match lie together, so a list is a range of the values in row order.

ORDER BY inside the aggregate sorts inside the matches, and costs nothing where rows are in that order already, as they
are by the ORDER BY of the pattern. Types that the host returns otherwise than it was given them are left to it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sparkrex.columns.arrange import SortKey, arrange
from sparkrex.columns.gather import take_or_null
from sparkrex.columns.values import plain
from sparkrex.scalar.expression import Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sparkrex.matching.row_projection import RowProjection, RowSet
    from sparkrex.scalar.expression import Aggregate

_MOST_VALUES = 2**31 - 1
"""So many values fit one list array."""


def aggregate_lists(projection: RowProjection, nodes: Sequence[Aggregate]) -> dict[Aggregate, pa.ChunkedArray]:
    """Those of the aggregates that are such lists, per match; NULL for a match without a row."""
    results = {}
    for node in nodes:
        is_plain = node.function == "array_agg" and not node.is_distinct and len(node.arguments) == 1
        if not is_plain or isinstance(node.arguments[0], Literal):
            continue
        rows = projection.row_set(node)
        values = plain(projection.values(node.arguments[0], rows))
        keys = [
            SortKey(projection.values(item.expression, rows), item.is_descending, item.nulls_first)
            for item in node.order_by if not isinstance(item.expression, Literal)
        ]
        if _returns_unchanged(values.type) and len(values) <= _MOST_VALUES and all(
            _is_simple(key.values.type) for key in keys
        ):
            results[node] = _lists(projection, rows, values, keys)
    return results


def fill_with_empty(lists: pa.ChunkedArray) -> pa.ChunkedArray:
    """Empty lists in place of NULL."""
    return pc.coalesce(lists, pa.scalar([], lists.type)) if lists.null_count else lists


def _lists(projection: RowProjection, rows: RowSet, values: pa.Array, keys: list[SortKey]) -> pa.ChunkedArray:
    reader = projection.reader
    mask = projection.mask(rows)
    # How many rows of the set lie before each match's first.
    before = np.concatenate(([0], np.cumsum(mask)))
    offsets = before[reader.matches.label_offsets].astype(np.int32)
    if keys and len(values):
        match: NDArray[np.int64] = reader.row_match[mask]
        order = arrange([pa.chunked_array([match])], keys, len(values), reader.threads).order
        if order is not None:
            values = plain(take_or_null(values, order))
    is_null = offsets[1:] == offsets[:-1]
    kind = pa.list_(pa.field("l", values.type))  # as the host names it
    lists = pa.ListArray.from_arrays(
        pa.array(offsets), values, type=kind, mask=pa.array(is_null) if is_null.any() else None
    )
    return pa.chunked_array([lists])


def _is_simple(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_float32(kind) or pa.types.is_float64(kind)
        or pa.types.is_string(kind) or pa.types.is_date(kind) or pa.types.is_timestamp(kind)
    )


def _returns_unchanged(kind: pa.DataType) -> bool:
    is_zoned = pa.types.is_timestamp(kind) and kind.tz is not None
    return _is_simple(kind) and not is_zoned and not pa.types.is_date64(kind)
