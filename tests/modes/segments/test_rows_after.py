"""Rows after a segment, and windows of fractions on whole numbers."""

from __future__ import annotations

import numpy as np

from sparkrex.modes.segments.operators.contract import Segments
from sparkrex.modes.segments.operators.rows_after import with_rows_after
from sparkrex.modes.segments.operators.series import Column, Series
from sparkrex.modes.segments.pattern import Window


def rows(*numbers: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(numbers, np.int64)


def test_the_rows_after_must_be_there() -> None:
    # Two partitions, rows 0 to 3 and 4 to 5.
    found = Segments(rows(0, 0, 0, 1), rows(0, 0, 2, 4), rows(1, 3, 2, 4), {"S": (rows(0, 0, 2, 4), rows(1, 3, 2, 4))})
    longer = with_rows_after(found, rows(0, 4, 6), 1)
    assert longer.start.tolist() == [0, 2, 4]
    assert longer.end.tolist() == [2, 3, 5]
    assert longer.bindings["S"][1].tolist() == [1, 2, 4]
    assert with_rows_after(found, rows(0, 4, 6), 0) is found


def test_bounds_between_whole_numbers() -> None:
    series = Series({"day": Column(rows(0, 1, 2, 3), None)}, rows(0, 4))
    first_end, last_end, _, _ = series.bounds((Window("day", 1.5, 2.5),))
    assert first_end.tolist()[:2] == [2, 3]
    assert last_end.tolist()[:2] == [2, 3]
