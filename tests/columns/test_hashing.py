"""Hashes of keys: equal for equal keys, whatever stands around them, and mostly different for others."""

from __future__ import annotations

import random
import sys
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from sparkrex.columns import hashing
from sparkrex.columns.hashing import hashes_of

COLUMNS = {
    "integers": pa.array([0, 1, -1, None, 2**63 - 1, -(2**63)]),
    "small integers": pa.array([0, 1, -1, None], pa.int8()),
    "doubles": pa.array([0.0, 1.5, None, float("inf"), float("nan"), 5e-324]),
    "floats": pa.array([0.0, 1.5, None, float("nan")], pa.float32()),
    "truth": pa.array([True, False, None]),
    "days": pa.array([0, None, -1], pa.int32()).view(pa.date32()),
    "times": pa.array([0, None, 10**15], pa.int64()).view(pa.timestamp("us", "UTC")),
    "decimals": pa.array([Decimal("1.10"), None, Decimal("-1.10"), Decimal(10) ** 30], pa.decimal128(38, 2)),
    "texts": pa.array(["", "a", "b", "ab", "ba", None, "a\0", "\U0001f600" * 3, "x" * 5_000]),
    "large texts": pa.array(["", "a", None, "ab"], pa.large_string()),
    "octets": pa.array([b"", b"\0", b"\0\0", None, b"\xff"], pa.binary()),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_only_the_values_count(name: str) -> None:
    values = COLUMNS[name]
    expected = hashes_of(pa.table({"k": values}), ["k"])
    assert len(set(expected.tolist())) == len(values)
    draw = random.Random(name)
    for _ in range(20):
        places = [draw.randrange(len(values)) for _ in range(30)]
        start, length = draw.randrange(30), draw.randrange(31)
        rows = pa.table({"k": values.take(pa.array(places))}).slice(start, length)
        if draw.random() < 0.5:
            rows = pa.concat_tables([rows.slice(0, 2), rows.slice(2)])
        assert hashes_of(rows, ["k"]).tolist() == expected[places][start : start + length].tolist()


def test_equal_keys_have_one_hash() -> None:
    rows = pa.table({"k": pa.array([0.0, -0.0]), "other": pa.array([1, 1])})
    assert len(set(hashes_of(rows, ["k", "other"]).tolist())) == 1
    nan = np.array([0x7FF8000000000000, 0xFFF8000000000001], np.uint64).view(np.float64)
    assert len(set(hashes_of(pa.table({"k": nan}), ["k"]).tolist())) == 1


def test_places_of_columns_count() -> None:
    rows = pa.table({"a": ["x", "y", "", "xy"], "b": ["y", "x", "xy", ""]})
    assert len(set(hashes_of(rows, ["a", "b"]).tolist())) == 4
    assert set(hashes_of(rows, []).tolist()) == {0}


def test_texts_are_hashed_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = pa.table({"k": [f"key {n}" * (n % 7) for n in range(300)]})
    expected = hashes_of(rows, ["k"]).tolist()
    for size in (1, 5, 64):
        monkeypatch.setattr(hashing, "_OCTETS_AT_ONCE", size)
        assert hashes_of(rows, ["k"]).tolist() == expected


@pytest.mark.parametrize("n_buckets", [2, 32, 256])
def test_buckets_are_filled_evenly(n_buckets: int) -> None:
    for keys in (range(20_000), [f"user-{n:06}" for n in range(20_000)], [n / 8 for n in range(20_000)]):
        numbers = hashes_of(pa.table({"k": pa.array(keys)}), ["k"]) % n_buckets
        counts = np.bincount(numbers, minlength=n_buckets)
        assert counts.min() > 0.6 * 20_000 / n_buckets
        assert counts.max() < 1.5 * 20_000 / n_buckets


def test_they_never_change() -> None:
    """A checkpoint lives longer than a version: its slots are found by these."""
    rows = pa.table({"k": ["a", "", None], "n": [1, -5, None], "x": [0.5, -0.0, None]})
    assert sys.byteorder == "little"
    assert hashes_of(rows, ["k", "n", "x"]).tolist() == [
        8990410766632073295, -4342427525306302371, 3035663360028473806,
    ]
