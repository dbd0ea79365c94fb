"""Partitions and their order.

Rows are grouped by the partition key, groups in order of first appearance, and ordered inside a group by the sort keys;
ties keep input order. Keys are compared as the hosts compare them: NULL keys are one group, NaN equals NaN and is above
every number, -0.0 equals 0.0, strings compare by their UTF-8 bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sparkrex.columns.values import numpy_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, slots=True)
class SortKey:
    """A key column with its direction."""

    values: pa.ChunkedArray
    is_descending: bool
    nulls_first: bool


@dataclass(frozen=True, eq=False, slots=True)
class Arrangement:
    """`order[i]` is the input row at position i, None if the input is in order already; `offsets` cut partitions."""

    order: NDArray[np.int64] | None
    offsets: NDArray[np.int64]
    n_rows: int

    def input_rows(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Input rows at these positions."""
        return positions if self.order is None else self.order[positions]


def arrange(partition_by: Sequence[pa.ChunkedArray], order_by: Sequence[SortKey], n_rows: int) -> Arrangement:
    """Order and partitions of `n_rows` rows."""
    groups = _groups(partition_by, n_rows)
    keys: list[NDArray[Any]] = []
    for key in order_by:
        keys += _sortable(key)
    sorting = [*keys] if groups is None else [groups, *keys]
    order = None
    if sorting and n_rows > 1 and not _is_sorted(sorting):
        order = np.lexsort(sorting[::-1]).astype(np.int64, copy=False)
    if groups is None or n_rows == 0:
        offsets = np.array([0, n_rows] if n_rows else [0], np.int64)
    else:
        arranged = groups if order is None else groups[order]
        cuts = np.flatnonzero(arranged[1:] != arranged[:-1]) + 1
        offsets = np.concatenate(([0], cuts, [n_rows])).astype(np.int64)
    return Arrangement(order, offsets, n_rows)


def _groups(partition_by: Sequence[pa.ChunkedArray], n_rows: int) -> NDArray[np.int64] | None:
    """Group numbers in order of first appearance."""
    if not partition_by or n_rows == 0:
        return None
    codes = key_codes(partition_by[0])
    for key in partition_by[1:]:
        more = key_codes(key)
        # Both are below the number of rows, so the product stays far inside int64.
        codes = key_codes(pa.chunked_array([pa.array(codes * (int(more.max()) + 1) + more)]))
    return codes


def key_codes(values: pa.ChunkedArray) -> NDArray[np.int64]:
    """Equal values get equal codes, numbered by first appearance."""
    kind = values.type
    if pa.types.is_dictionary(kind):
        values = values.cast(kind.value_type)
        kind = values.type
    if pa.types.is_floating(kind):
        # -0.0 + 0.0 is 0.0; every NaN becomes the same one.
        plain = pc.add(values.cast(pa.float64()), 0.0)
        values = pc.if_else(pc.is_nan(plain), float("nan"), plain)
    elif pa.types.is_nested(kind) or pa.types.is_null(kind):
        values = pa.chunked_array([pa.array([repr(value) for value in values.to_pylist()], pa.string())])
    encoded = values.combine_chunks() if values.num_chunks != 1 else values.chunk(0)
    encoded = pc.dictionary_encode(encoded, null_encoding="encode")
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    return numpy_of(encoded.indices).astype(np.int64, copy=False)


def _sortable(key: SortKey) -> list[NDArray[Any]]:
    """Arrays that sort ascending as the key does: NULLs first or last by an array of their own, if there are any."""
    values = key.values.combine_chunks() if isinstance(key.values, pa.ChunkedArray) else key.values
    if isinstance(values, pa.ChunkedArray):
        values = pa.concat_arrays(values.chunks) if values.num_chunks else pa.array([], values.type)
    result: list[NDArray[Any]] = []
    if values.null_count:
        is_null = numpy_of(values.is_null())
        result.append((~is_null if key.nulls_first else is_null).astype(np.int8))
    array = _comparable(values)
    if key.is_descending:
        if array.dtype.kind == "f":
            # Negation would leave NaN last; descending puts it first.
            is_nan = np.isnan(array)
            if is_nan.any():
                result.append((~is_nan).astype(np.int8))
            array = -array
        else:
            array = ~array  # never overflows, unlike negation
    result.append(array)
    return result


def _comparable(values: pa.Array) -> NDArray[Any]:
    """A NumPy array that compares as the values do; NULL rows hold anything fixed."""
    kind = values.type
    if pa.types.is_dictionary(kind):
        values = values.cast(kind.value_type)
        kind = values.type
    if pa.types.is_boolean(kind):
        return numpy_of(pc.fill_null(values, False)).astype(np.int8)
    if pa.types.is_floating(kind):
        return numpy_of(pc.fill_null(values.cast(pa.float64()), 0.0)) + 0.0
    if pa.types.is_unsigned_integer(kind) and kind.bit_width == 64:
        return numpy_of(pc.fill_null(values, 0))
    if pa.types.is_integer(kind):
        return numpy_of(pc.fill_null(values.cast(pa.int64()), 0))
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind) or pa.types.is_time(kind) or pa.types.is_duration(kind):
        width = pa.int32() if kind.bit_width == 32 else pa.int64()
        return numpy_of(pc.fill_null(values.view(width).cast(pa.int64()), 0))
    if pa.types.is_null(kind):
        return np.zeros(len(values), np.int8)
    return _ranks(values)


def _ranks(values: pa.Array) -> NDArray[np.int64]:
    """Dense ranks: strings and binaries by bytes, decimals by value, lists and structs element by element."""
    kind = values.type
    if pa.types.is_nested(kind):
        return _nested_ranks(values)
    encoded = values.dictionary_encode()
    order = numpy_of(pc.array_sort_indices(encoded.dictionary))
    ranks = np.empty(len(order) + 1, np.int64)
    ranks[order] = np.arange(len(order))
    ranks[-1] = 0
    row_ranks: NDArray[np.int64] = ranks[numpy_of(pc.fill_null(encoded.indices.cast(pa.int64()), len(order)))]
    return row_ranks


def _nested_ranks(values: pa.Array) -> NDArray[np.int64]:
    plain = values.to_pylist()
    distinct = sorted({repr(value): value for value in plain}.values(), key=_nested_key)
    rank = {repr(value): number for number, value in enumerate(distinct)}
    return np.array([rank[repr(value)] for value in plain], np.int64)


def _nested_key(value: object) -> tuple[object, ...]:
    """NULLs last inside, as DuckDB compares lists and structs."""
    if value is None:
        return (1,)
    if isinstance(value, dict):
        return (0, tuple(_nested_key(item) for item in value.values()))
    if isinstance(value, list | tuple):
        return (0, tuple(_nested_key(item) for item in value))
    return (0, value)


def _is_sorted(keys: list[NDArray[Any]]) -> bool:
    """Whether the rows are in order already: one pass per key over the rows that earlier keys leave tied."""
    tied: NDArray[np.bool_] | None = None
    for key in keys:
        before, after = key[:-1], key[1:]
        ascends = before < after
        is_equal = before == after
        if key.dtype.kind == "f":
            is_nan = np.isnan(key)
            if is_nan.any():
                ascends |= ~is_nan[:-1] & is_nan[1:]
                is_equal |= is_nan[:-1] & is_nan[1:]
        in_order = ascends | is_equal if tied is None else ~tied | ascends | is_equal
        if not in_order.all():
            return False
        tied = is_equal if tied is None else tied & is_equal
        if not tied.any():
            return True
    return True
