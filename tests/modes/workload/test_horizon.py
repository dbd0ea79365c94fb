"""The time before a time, of every type that times have."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from sparkrex.modes.workload.horizon import before


@pytest.mark.parametrize(("value", "kind", "expected"), [
    (5, pa.int64(), 4), (5, pa.int32(), 4), (-(2**63), pa.int64(), None), (0, pa.uint8(), None), (1, pa.uint64(), 0),
    (1.0, pa.float64(), 0.9999999999999999), (Decimal("1.00"), pa.decimal128(5, 2), Decimal("0.99")),
    (date(2024, 3, 1), pa.date32(), date(2024, 2, 29)),
    (datetime(2024, 3, 1), pa.timestamp("us"), datetime(2024, 2, 29, 23, 59, 59, 999999)),
    (datetime(2024, 3, 1), pa.timestamp("s"), datetime(2024, 2, 29, 23, 59, 59)),
    (None, pa.int64(), None), ("a", pa.string(), None),
])
def test_the_time_before(value: Any, kind: pa.DataType, expected: Any) -> None:
    found = before(pa.scalar(value, kind))
    assert (None if found is None else found.as_py()) == expected
    assert found is None or found.type == kind


def test_a_zone_is_kept() -> None:
    kind = pa.timestamp("ms", "Europe/Berlin")
    found = before(pa.scalar(1_000, pa.int64()).cast(pa.timestamp("ms")).cast(kind))
    assert found is not None and found.type == kind and found.value == 999
