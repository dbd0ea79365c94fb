"""Compare a result with the expected answer, and sum it up in one number."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from benchmarks.query import Answer


def differences(result: pa.Table, expected: Answer, *, any_order: bool = False) -> str | None:
    """What is wrong with a result, None if nothing is. Floats may differ in the last digits only."""
    if result.column_names != list(expected):
        return f"columns {result.column_names}, expected {list(expected)}"
    wanted = pa.table({name: pa.array(column) for name, column in expected.items()})
    if result.num_rows != wanted.num_rows:
        return f"{result.num_rows:,} rows, expected {wanted.num_rows:,}"
    if any_order:
        result, wanted = by_value(result), by_value(wanted)
    for name in wanted.column_names:
        different = np.flatnonzero(~same(result.column(name), wanted.column(name)))
        if len(different):
            place = int(different[0])
            got, want = result.column(name)[place].as_py(), wanted.column(name)[place].as_py()
            return f"{len(different):,} rows differ, first in row {place}: {name} is {got!r}, expected {want!r}"
    return None


def by_value(table: pa.Table) -> pa.Table:
    """The rows sorted by all columns but lists; columns of floats last, because they may differ in the last digits."""
    types = {field.name: field.type for field in table.schema if not pa.types.is_list(field.type)}
    names = sorted(types, key=lambda name: pa.types.is_floating(types[name]))
    return table.sort_by([(name, "ascending") for name in names])


def same(got: pa.ChunkedArray, wanted: pa.ChunkedArray) -> np.ndarray[Any, Any]:
    """For each row whether both values are equal; NULL equals NULL only."""
    kind = wanted.type
    # Engines differ in the width of counts and sums and in the unit of time stamps; the values must be the same.
    got = got.cast(kind)
    both_null: np.ndarray[Any, Any] = pc.and_(got.is_null(), wanted.is_null()).to_numpy()
    if pa.types.is_list(kind):
        return _either(both_null, _same_lists(got, wanted))
    if pa.types.is_floating(kind):
        left, right = got.to_numpy(), wanted.to_numpy()
        equal = np.isclose(left, right, rtol=1e-9, atol=1e-9) & ~np.isnan(left)
    else:
        equal = pc.fill_null(pc.equal(got, wanted), False).to_numpy()
    return _either(both_null, equal)


def _either(left: np.ndarray[Any, Any], right: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    both: np.ndarray[Any, Any] = left | right
    return both


def _same_lists(got: pa.ChunkedArray, wanted: pa.ChunkedArray) -> np.ndarray[Any, Any]:
    """For each row whether both lists have equal elements in the same order."""
    lengths = [pc.fill_null(pc.list_value_length(lists), -1).to_numpy() for lists in (got, wanted)]
    equal: np.ndarray[Any, Any] = lengths[0] == lengths[1]
    if equal.all():
        row = pc.list_parent_indices(wanted).to_numpy()
        elements = [pc.list_flatten(lists) for lists in (got, wanted)]
        equal[row[~same(*elements)]] = False
    return equal


def checksum(result: pa.Table) -> str:
    """Eight digits that depend on every value of a result and on its order."""
    total = 0
    columns = list(result.columns)
    while columns:
        column = columns.pop(0)
        plain = column.combine_chunks()
        if pa.types.is_list(plain.type):
            columns += [pc.list_flatten(column), pc.list_value_length(column)]
            continue
        if pa.types.is_string(plain.type) or pa.types.is_large_string(plain.type):
            plain = plain.fill_null("").dictionary_encode()
            total = zlib.crc32("\n".join(plain.dictionary.to_pylist()).encode(), total)
            plain = plain.indices
        total = zlib.crc32(np.ascontiguousarray(plain.to_numpy(zero_copy_only=False)).tobytes(), total)
    return f"{total:08x}"
