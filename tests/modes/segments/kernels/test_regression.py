"""R^2 and slope, by scan and from a table, against exact fractions."""

from __future__ import annotations

import numpy as np
import pytest
from tests.modes.segments.kernels.columns import KINDS, Column, check_equal, drawn, drawn_long, values_of
from tests.modes.segments.kernels.exact import regression as exact_regression
from tests.modes.segments.kernels.tables import SCAN, pair_table_of, pairs_of

from sparkrex.modes.segments.kernels.gathered import R2, R2_SIGNED, SLOPE
from sparkrex.modes.segments.kernels.regression import regression


@pytest.mark.parametrize("wanted", [R2, R2_SIGNED, SLOPE])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("empty", "extremes", "one row")])
def test_regression(kind: str, seed: int, wanted: int) -> None:
    for y in (drawn(kind, seed), drawn_long(kind, seed)):
        steps = np.random.default_rng(seed).integers(0, 3, y.n_rows)
        x = Column(np.cumsum(steps) + 1_700_000_000_000_000 * (seed % 2), y.nulls, y.offsets, y.start, y.end)
        expected = [exact_regression(wanted, x.of(k), y.of(k)) for k in range(y.n_segments)]
        found = []
        for table in (SCAN, pair_table_of(pairs_of(x, y))):
            result, is_null = y.results()
            regression(wanted, pairs_of(x, y), table, y.start, y.end, result, is_null)
            check_equal(values_of(result, is_null), expected, 1e-9)
            found.append(values_of(result, is_null))
        assert found[0] == found[1], "one double, by scan and from a table"
