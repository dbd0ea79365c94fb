"""Takes and shifts against plain Python."""

from __future__ import annotations

import datetime
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparkrex import threads as thread_pool
from sparkrex.columns import gather
from sparkrex.columns.gather import put_in_order, shifted_positions, take_or_null

_TYPES: dict[pa.DataType, Any] = {
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.uint8(): st.integers(0, 255),
    pa.int16(): st.integers(-9, 9),
    pa.float64(): st.floats(allow_nan=False),
    pa.float32(): st.floats(allow_nan=False, width=32),
    pa.float16(): st.integers(-4, 4).map(float),
    pa.bool_(): st.booleans(),
    pa.string(): st.text(max_size=3),
    pa.date32(): st.dates(),
    pa.timestamp("us", "UTC"): st.datetimes(timezones=st.just(datetime.UTC)),
    pa.duration("us"): st.integers(0, 99).map(lambda value: datetime.timedelta(microseconds=value)),
    pa.time32("s"): st.integers(0, 59).map(lambda second: datetime.time(1, 2, second)),
    pa.list_(pa.int8()): st.lists(st.integers(0, 5), max_size=2),
    pa.null(): st.none(),
}


def _many_pieces(n_items: int, threads: int) -> list[tuple[int, int]]:
    return thread_pool.ranges(n_items, threads, least=1)


@pytest.mark.parametrize("kind", _TYPES, ids=str)
@settings(deadline=None)
@given(data=st.data())
def test_take_or_null(kind: pa.DataType, data: st.DataObject) -> None:
    chunks = data.draw(st.lists(st.lists(_TYPES[kind] | st.none() if data.draw(st.booleans()) else _TYPES[kind])))
    values = [value for chunk in chunks for value in chunk]
    rows = data.draw(st.lists(st.integers(-2 if data.draw(st.booleans()) or not values else 0, len(values) - 1)))
    if not values:
        rows = [-1 for _ in rows]
    expected = [None if row < 0 else values[row] for row in rows]
    column = pa.chunked_array([pa.array([None, *chunk], kind).slice(1) for chunk in chunks], kind)
    whole = pa.array([None, *values], kind).slice(1)
    for threads in (1, 3):
        with mock.patch.object(gather, "ranges", _many_pieces):
            for source in (column, whole):
                taken = take_or_null(source, np.array(rows, np.int64), threads)
                taken.validate(full=True)
                assert taken.type == kind
                assert taken.to_pylist() == expected


@settings(deadline=None)
@given(st.lists(st.integers(-5, 5), min_size=1), st.data())
def test_put_in_order(values: list[int], data: st.DataObject) -> None:
    order = data.draw(st.lists(st.integers(0, len(values) - 1)))
    for dtype in (np.int64, np.float64, np.uint8):
        array = np.array(values).astype(dtype)
        for threads in (1, 3):
            with mock.patch.object(gather, "ranges", _many_pieces):
                found = put_in_order(array, np.array(order, np.int64), threads)
            assert found.dtype == dtype
            np.testing.assert_array_equal(found, array[order] if order else array[:0])
    assert put_in_order(array, None, 3) is array


@settings(deadline=None)
@given(st.lists(st.integers(0, 5)), st.integers(-7, 7))
def test_shifted_positions(lengths: list[int], shift: int) -> None:
    offsets = np.cumsum([0, *lengths])
    expected = [
        begin + place + shift if 0 <= place + shift < length else -1
        for begin, length in zip(offsets.tolist(), lengths, strict=False) for place in range(length)
    ]
    assert shifted_positions(offsets, int(offsets[-1]), shift).tolist() == expected
