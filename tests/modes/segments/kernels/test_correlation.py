"""Correlation of two segments, against exact fractions."""

from __future__ import annotations

import numpy as np
import pytest
from tests.modes.segments.kernels.columns import KINDS, check_equal, drawn
from tests.modes.segments.kernels.exact import correlation

from sparkrex.modes.segments.kernels.correlation import Side, correlation_scan


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("empty", "extremes")])
def test_correlation_of_two_segments(kind: str, seed: int) -> None:
    x = drawn(kind, seed)
    order = np.random.default_rng(seed).permutation(x.n_segments)
    y_start, y_end = x.start[order].copy(), x.end[order].copy()
    if x.n_segments > 2:
        y_start[0] = -1  # there is no segment
    result, is_null = x.results()
    one, other = Side(x.values, x.nulls, x.start, x.end), Side(x.values, x.nulls, y_start, y_end)
    correlation_scan(one, other, result, is_null)
    for k in range(x.n_segments):
        n_rows = int(x.end[k] - x.start[k])
        expected = None
        if y_start[k] >= 0 and y_end[k] - y_start[k] == n_rows:
            rows = [
                (x.start[k] + i, y_start[k] + i) for i in range(n_rows + 1)
                if not len(x.nulls) or not (x.nulls[x.start[k] + i] or x.nulls[y_start[k] + i])
            ]
            a, b = ([x.values[pair[side]].item() for pair in rows] for side in range(2))
            expected = correlation(a, b)
        check_equal([None if is_null[k] else result[k]], [expected], 1e-9)
