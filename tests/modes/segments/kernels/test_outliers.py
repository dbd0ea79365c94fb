"""How far rows are from the mean of those before them, against exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from tests.modes.segments.kernels.columns import KINDS, Column, check_equal, drawn
from tests.modes.segments.kernels.exact import squares

from sparkrex.modes.segments.kernels.outliers import zscores


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("empty", "extremes")])
def test_distances_from_the_mean_of_the_rows_before(kind: str, seed: int, size: int) -> None:
    column = drawn(kind, seed)
    result, is_null = np.full(column.n_rows, -99.0), np.zeros(column.n_rows, np.bool_)
    # In two parts, as threads share the work.
    middle = column.n_rows // 3
    for begin, stop in ((0, middle), (middle, column.n_rows)):
        zscores(column.values, column.nulls, column.offsets, size, begin, stop, result, is_null)
    for low, high in pairwise(column.offsets):
        for row in range(low, high):
            window = Column(column.values, column.nulls, column.offsets, np.array([row - size + 1]), np.array([row]))
            is_here = not len(column.nulls) or not column.nulls[row]
            values = window.of(0) if row - size + 1 >= low and is_here else []
            expected = None
            if len(set(values)) > 1:
                mean = sum(map(Fraction, values)) / len(values)
                expected = float(Fraction(values[-1]) - mean) / math.sqrt(squares(values, values) / len(values))
            check_equal([None if is_null[row] else result[row]], [expected], 1e-9)
