"""Row groups that no row of interest is in, told by the statistics of their columns.

A row is of interest where a condition is true. NULLs make no comparison true. A comparison that NaN makes true prunes
nothing, since NaN is not in statistics. The greatest text may be cut off, so it stands for all texts that begin so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sparkrex.spark.files.row_language import Column, Constant, Operation, Row

if TYPE_CHECKING:
    from collections.abc import Mapping

_SWAPPED = {"eq": "eq", "lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "same": "same"}


@dataclass(frozen=True, slots=True)
class Statistics:
    """What a file says of a column in a row group: None for what it does not say."""

    least: Any
    most: Any
    n_nulls: int | None
    n_rows: int


def statistics_of(chunk: Any, kind: pa.DataType) -> Statistics:
    """Those of a column chunk of pyarrow's, for values of a type; dates and times as whole numbers."""
    found = chunk.statistics
    if found is None:
        return Statistics(None, None, None, chunk.num_values)
    n_nulls = found.null_count if found.has_null_count else None
    unknown = Statistics(None, None, n_nulls, chunk.num_values)
    if not found.has_min_max:
        return unknown
    try:
        is_raw = pa.types.is_temporal(kind) or pa.types.is_integer(kind)
        least, most = (found.min_raw, found.max_raw) if is_raw else (found.min, found.max)
    except (ValueError, OverflowError):  # bytes that are no text
        return unknown
    if pa.types.is_timestamp(kind) and "milliseconds" in str(chunk.statistics.logical_type):
        least, most = least * 1000, most * 1000
    if isinstance(least, float) and (least != least or most != most):  # NaN
        return unknown
    return Statistics(least, most, n_nulls, chunk.num_values)


def may_hold(condition: Row, known: Mapping[str, Statistics]) -> bool:
    """Whether a condition may be true in some row of a row group."""
    match condition:
        case Constant(value):
            return bool(value)
        case Operation("and", operands):
            return all(may_hold(operand, known) for operand in operands)
        case Operation("or", operands):
            return any(may_hold(operand, known) for operand in operands)
        case Operation("is_null", (Column(name),)) if name in known:
            return known[name].n_nulls != 0
        case Operation("not", (Operation("is_null", (Column(name),)),)) if name in known:
            return known[name].n_nulls != known[name].n_rows
        case Operation(function, (left, Constant(value))) if function in _SWAPPED:
            return _may_compare(function, left, value, known)
        case Operation(function, (Constant(value), right)) if function in _SWAPPED:
            return _may_compare(_SWAPPED[function], right, value, known)
        case _:
            return True


def _may_compare(function: str, row: Row, value: Any, known: Mapping[str, Statistics]) -> bool:
    if isinstance(row, Operation) and row.function == "widen":
        (row,) = row.operands
    if not isinstance(row, Column) or row.name not in known:
        return True
    column = known[row.name]
    if column.n_nulls == column.n_rows:
        return False  # the value is never NULL
    if column.least is None or column.most is None or type(column.least) is not type(value):
        return True
    # The greatest text in the file may begin with what the footer has.
    is_prefix = isinstance(value, str) and value.startswith(column.most)
    match function:
        case "eq" | "same":
            return bool(column.least <= value and (value <= column.most or is_prefix))
        case "lt":
            return bool(column.least < value)
        case "le":
            return bool(column.least <= value)
    if pa.types.is_floating(row.type):
        return True  # NaN is above every number
    return is_prefix or bool(column.most > value if function == "gt" else column.most >= value)
