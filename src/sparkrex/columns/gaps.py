"""Cutting ordered rows into partitions where no row came for long, and leaving rows out of an arrangement.

A row more than a gap after the row before it begins a partition. Between a NULL and another row nothing is known of
time, so that neither begins one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.arrange import Arrangement
from sparkrex.columns.gather import put_in_order
from sparkrex.columns.values import ints_of, plain
from sparkrex.columns.wrap import wrap

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_SECOND, _DAY = 1_000_000, 86_400_000_000


def gap_in(kind: pa.DataType, microseconds: int) -> int | None:
    """A gap in the integers that a type counts time in, rounded down: what is longer there is longer than the gap.

    None if values of the type are no times.
    """
    if pa.types.is_dictionary(kind):
        return gap_in(kind.value_type, microseconds)
    if pa.types.is_date32(kind):
        return microseconds // _DAY
    if pa.types.is_date64(kind):
        return microseconds * _PER_SECOND["ms"] // _SECOND
    if pa.types.is_timestamp(kind):
        return microseconds * _PER_SECOND[kind.unit] // _SECOND
    return None


def is_beyond(before: NDArray[np.int64], after: NDArray[np.int64], gap: int) -> NDArray[np.bool_]:
    """Whether times are more than a gap after others, none of which is after its own."""
    # The difference of two integers of 64 bits always fits 64 bits without a sign.
    return (after - before).view(np.uint64) > np.uint64(min(gap, 2**64 - 1))


def cut_at_gaps(
    offsets: NDArray[np.int64], times: pa.ChunkedArray, gap: int, order: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Offsets that also cut partitions at gaps. `order[i]` is the row at position i, None if the times are in order."""
    column = plain(times)
    values = put_in_order(ints_of(column), order)
    begins = is_beyond(values[:-1], values[1:], gap)
    if column.null_count:
        is_known = put_in_order(np.asarray(column.is_valid()), order)
        begins &= is_known[:-1] & is_known[1:]
    return np.union1d(offsets, np.flatnonzero(begins) + 1)


def kept_rows(
    table: pa.Table, arrangement: Arrangement, keep: NDArray[np.bool_]
) -> tuple[pa.Table, Arrangement]:
    """Those of a table's rows that are kept, in order, and their arrangement. Partitions may be left without rows."""
    if keep.all():
        return table, arrangement
    order = np.arange(len(keep)) if arrangement.order is None else arrangement.order
    stays = keep[order]
    n_before = np.concatenate(([0], np.cumsum(stays)))
    table = table.take(wrap(order[stays]))
    return table, Arrangement(None, n_before[arrangement.offsets].astype(np.int64), table.num_rows)


def without_empty(arrangement: Arrangement) -> Arrangement:
    """The arrangement without partitions that have no rows."""
    return replace(arrangement, offsets=np.unique(np.append(arrangement.offsets, 0)))
