"""When nothing that may still come can change what starts in a row: the rule, once.

A match reaches at most so many rows, or so far in the first column of ORDER BY, from its first row on: the upper bound
of the whole pattern, which follows from windows (`planner.lengths`). So there is a last row that a match from here may
end in, once it is known, and conditions and measures read so many rows beyond it. A start is *decided* if all these
rows are there. The last end is known by rows, by a row that lies beyond the window, or by the horizon; if the partition
is over, every start is decided. Bounds ascend with the start, so the starts that are decided come first.

Of NULLs in the first column of ORDER BY this holds: a segment that a window on the column bounds is a single row, or
both its ends have values. For a window does not hold if one of them is NULL, and the bound of a whole is made of those
of parts that share rows. NULLs are first or last, so no row between two values has one.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.keys import read_only
from sparkrex.modes.segments.aggregates.registry import find
from sparkrex.modes.segments.kernels.segments import value_window
from sparkrex.modes.segments.operators.arguments import number_column
from sparkrex.modes.segments.planner.lengths import columns_of, lengths
from sparkrex.scalar.expression import Aggregate, ColumnAt, Literal, walk

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from sparkrex.modes.segments.plan import SegmentSearch
    from sparkrex.modes.segments.planner.logical import Logical
    from sparkrex.scalar.expression import Expression

    Rows = NDArray[np.int64]

_NEVER = np.int64(2**62)
_LARGEST = 2**64 - 1


@dataclass(frozen=True, slots=True)
class Reach:
    """What a match may need: at most `rows` rows, `column` growing by `growth` at most, None for no such bound.

    `column` is the one that windows prune by, None if none does. `after` rows behind the pattern's last row, and
    `before` rows before its first one, are read or must be there.
    """

    rows: int | None
    column: str | None
    growth: float | None
    after: int
    before: int
    nulls_first: bool = False

    @property
    def is_bounded(self) -> bool:
        """Whether starts are decided before the partition is over."""
        return self.rows is not None or self.growth is not None


def reach_of(search: SegmentSearch, logical: Logical) -> Reach:
    """How far matches of a search reach; `logical` is its plan where the column to prune by has no NULLs."""
    rows = lengths(logical, None).high
    column = next((name for name in columns_of(logical) if name is not None), None)
    growth = None if column is None else lengths(logical, column).high
    tested = [expression for one in search.definitions if (expression := one.condition) is not None]
    before, after = _read_beyond(tested)
    measures_before, measures_after = _read_beyond([measure.expression for measure in search.measures])
    nulls_first = bool(search.order_by) and search.order_by[0].nulls_first
    return Reach(
        None if rows is None else floor(rows), column, growth, max(after, search.rows_after + measures_after),
        max(before, measures_before), nulls_first,
    )


def _read_beyond(expressions: list[Expression]) -> tuple[int, int]:
    """How many rows before and behind a variable's segment are read."""
    before = after = 0
    for expression in expressions:
        for node in walk(expression):
            if isinstance(node, ColumnAt):
                before, after = max(before, -node.target.shift), max(after, node.target.shift)
            elif isinstance(node, Aggregate) and (found := find(node.function)) is not None and found.needs_index:
                sizes = [part.value for part in node.arguments if isinstance(part, Literal)]
                before = max([before, *(size - 1 for size in sizes if isinstance(size, int))])
    return before, after


def first_undecided(
    reach: Reach, offsets: Rows, values: pa.ChunkedArray | None, closes: NDArray[np.bool_], horizon: pa.Scalar | None
) -> Rows:
    """For each partition its first start that is not decided. `values` are those of `reach.column`, in order."""
    lengths_of = np.diff(offsets)
    last_row = np.repeat(offsets[1:] - 1, lengths_of)
    last_end = np.full(len(last_row), _NEVER)
    if reach.rows is not None:
        last_end = np.arange(len(last_row)) + reach.rows - 1
    if reach.growth is not None and values is not None:
        last_end = np.minimum(last_end, _last_in_window(reach, offsets, values, last_row, horizon))
    is_decided = last_end + reach.after <= last_row
    is_decided |= np.repeat(closes, lengths_of)
    n_decided = np.concatenate(([0], np.cumsum(is_decided)))
    found: Rows = offsets[:-1] + n_decided[offsets[1:]] - n_decided[offsets[:-1]]
    return found


def _last_in_window(
    reach: Reach, offsets: Rows, values: pa.ChunkedArray, last_row: Rows, horizon: pa.Scalar | None
) -> Rows:
    """For every row the last one in its window on the column; far away where more may come into it."""
    column = number_column(values)
    numbers, growth = column.values, reach.growth or 0.0
    is_null = np.zeros(len(numbers), np.bool_) if column.nulls is None else column.nulls != 0
    beyond = None
    if horizon is not None:
        beyond = _is_beyond_horizon(numbers, number_column(pa.chunked_array([pa.repeat(horizon, 1)])).values[0], growth)
    if is_null.any():
        limits = np.iinfo(np.int64) if numbers.dtype.kind == "i" else np.finfo(np.float64)
        furthest = limits.min if reach.nulls_first else limits.max
        numbers = read_only(np.where(is_null, furthest, numbers).astype(numbers.dtype))
    kind: Any = numbers.dtype.type
    if numbers.dtype.kind == "i":
        # As `Series.bounds` does: the difference of any two ascending integers is a uint64.
        numbers, kind = numbers.view(np.uint64), np.uint64
        growth = min(max(floor(growth), 0), _LARGEST)
    last_end = last_row.copy()
    value_window(offsets, numbers, kind(0), kind(growth), True, np.arange(len(last_row)), last_end)
    is_known = last_end < last_row
    if beyond is not None:
        is_known |= beyond
    last_end = np.where(is_known, last_end, _NEVER)
    return np.where(is_null, np.arange(len(last_row)), last_end)


def _is_beyond_horizon(numbers: NDArray[Any], horizon: Any, growth: float) -> NDArray[np.bool_]:
    """Whether every row behind the horizon is outside of a row's window."""
    if numbers.dtype.kind == "i":
        room = np.uint64(min(max(floor(growth), 0), _LARGEST))
        distance = horizon.view(np.uint64) - numbers.view(np.uint64)  # wraps round where the row is behind the horizon
        found: NDArray[np.bool_] = (numbers <= horizon) & (distance >= room)
        return found
    # Above the horizon, and yet at the bound by rounding: hence not at the bound itself.
    with np.errstate(invalid="ignore"):
        return np.asarray(horizon - numbers > growth)
