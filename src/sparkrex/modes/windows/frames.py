"""The frame of every row: from the row itself to its last row, never beyond the partition."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sparkrex.columns.values import plain
from sparkrex.errors import AnalysisError, ExecutionError
from sparkrex.matching.row_values import row_values
from sparkrex.scalar.expression import Literal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.columns.arrange import Arrangement
    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.windows.plan import PatternWindow


def frame_ends(
    plan: PatternWindow, table: pa.Table, arrangement: Arrangement, evaluator: Evaluator
) -> NDArray[np.int64] | None:
    """The position of the last row of each frame, by position; None if all frames end with the partition.

    NULL and negative numbers are errors on every row, whether a match is searched there or not.
    """
    if plan.frame_end is None:
        return None
    offsets = arrangement.offsets
    n_rows = arrangement.n_rows
    behind = np.repeat(offsets[1:], np.diff(offsets)) - 1
    positions = np.arange(n_rows)
    if isinstance(plan.frame_end, Literal):
        return np.minimum(positions + min(int(plan.frame_end.value), n_rows), behind)
    (column,) = row_values([plan.frame_end], table, evaluator)
    ahead = _numbers(plan, column)
    ordered = ahead if arrangement.order is None else ahead[arrangement.order]
    return np.minimum(positions + np.minimum(ordered, n_rows), behind)


_DIGITS = 18
"""Whole decimals with so many digits are bigints."""


def _numbers(plan: PatternWindow, column: pa.ChunkedArray) -> NDArray[np.int64]:
    assert plan.frame_end is not None  # asked for bounded frames only
    kind = column.type
    is_whole = pa.types.is_integer(kind) or (pa.types.is_decimal(kind) and kind.scale == 0) or pa.types.is_null(kind)
    if not is_whole:
        raise AnalysisError(
            "REX232", f"the end of a frame is an integer, a number of rows, not {kind}", plan.source,
            plan.frame_end.span, hint="CAST(... AS BIGINT)",
        )
    if column.null_count:
        raise ExecutionError(
            "REX422", "the end of a frame is NULL", plan.source, plan.frame_end.span,
            hint="COALESCE(n, 0) FOLLOWING, for example",
        )
    values = plain(column)
    if len(values) and pc.min(values).as_py() < 0:
        raise ExecutionError(
            "REX422", "the end of a frame is negative", plan.source, plan.frame_end.span,
            hint="a frame ends at the current row or behind it: GREATEST(n, 0) FOLLOWING, for example",
        )
    if pa.types.is_uint64(kind) or (pa.types.is_decimal(kind) and kind.precision > _DIGITS):
        values = pc.min_element_wise(values, pa.scalar(1 << 60, kind)) if len(values) else values
    return np.asarray(values.cast(pa.int64()).to_numpy(zero_copy_only=False), np.int64)
