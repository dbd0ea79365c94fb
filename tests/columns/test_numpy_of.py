"""`numpy_of` gives what Arrow's own conversion gives."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from sparkrex.columns.values import numpy_of

KINDS = [
    pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(), pa.float16(),
    pa.float32(), pa.float64(), pa.bool_(), pa.date32(), pa.timestamp("us"), pa.string(),
]


@pytest.mark.parametrize("kind", KINDS, ids=str)
@pytest.mark.parametrize("n_nulls", [0, 3])
def test_slices_of_every_kind(kind: pa.DataType, n_nulls: int) -> None:
    random = np.random.default_rng(0)
    numbers = pa.array(random.integers(0, 2, 100).astype(np.int32), mask=np.arange(100) < n_nulls)
    values = numbers.cast(pa.float32()).cast(kind) if kind == pa.float16() else numbers.cast(
        pa.int64() if pa.types.is_timestamp(kind) else kind
    ).cast(kind)
    for begin, length in [(0, 100), (0, 0), (3, 0), (1, 7), (7, 9), (8, 8), (13, 64), (99, 1)]:
        part = values.slice(begin, length)
        expected = part.to_numpy(zero_copy_only=False)
        found = numpy_of(part)
        assert found.dtype == expected.dtype
        assert found.shape == expected.shape
        np.testing.assert_array_equal(found, expected)
