"""Wrapping without pandas against what pyarrow does."""

from __future__ import annotations

import random
import subprocess
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sparkrex.columns.wrap import unwrap, wrap, wrap_strings


@pytest.mark.parametrize("kind", ["i1", "i2", "i4", "i8", "u8", "f4", "f8", "?"])
@pytest.mark.parametrize("n_rows", [0, 1, 7, 8, 9, 100])
def test_there_and_back(kind: str, n_rows: int) -> None:
    chance = np.random.default_rng(n_rows)
    values: np.ndarray[Any, Any] = chance.integers(0, 2 if kind == "?" else 100, 2 * n_rows).astype(kind)[::2]
    is_null = chance.random(n_rows) < 0.3
    for nulls in (None, is_null):
        wrapped = wrap(values, nulls)
        wrapped.validate(full=True)
        assert wrapped.equals(pa.array(values, mask=nulls))
    for first in range(0, n_rows, 5):
        for end in range(first, n_rows, 3):
            found = unwrap(wrap(values).slice(first, end - first))
            assert found.dtype == values.dtype
            assert found.tolist() == values[first:end].tolist()


def test_what_numpy_cannot_hold_goes_pyarrows_way() -> None:
    for array in (pa.array([1, None, 3]), pa.array(["a", None]), pa.array([True, None]), pa.array([], pa.int64())):
        expected = array.to_numpy(zero_copy_only=False)
        assert unwrap(array).dtype == expected.dtype
        assert repr(unwrap(array).tolist()) == repr(expected.tolist())


def test_strings() -> None:
    chance = random.Random(1)
    for texts in ([], [""], ["a", "", "é", "日本"], [chr(chance.randrange(32, 5_000)) * 3 for _ in range(50)]):
        wrapped = wrap_strings(texts)
        wrapped.validate(full=True)
        assert wrapped.equals(pa.array(texts, pa.large_string()))


def test_pandas_is_not_loaded() -> None:
    code = (
        "import sys, numpy as np; from sparkrex.columns.wrap import unwrap, wrap, wrap_strings\n"
        "unwrap(wrap(np.arange(3))), unwrap(wrap(np.arange(3) > 1)), wrap(np.arange(2), np.arange(2) > 0)\n"
        "wrap_strings(['a']); print('pandas' in sys.modules)"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert shown.stdout.strip() == "False"
