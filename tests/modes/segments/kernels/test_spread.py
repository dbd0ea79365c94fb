"""Variances and their roots, by scan and from a table, against exact fractions."""

from __future__ import annotations

import pytest
from tests.modes.segments.kernels.columns import KINDS, Column, check_equal, drawn, drawn_long, values_of
from tests.modes.segments.kernels.exact import variance
from tests.modes.segments.kernels.tables import SCAN, pair_table_of, pairs_of

from sparkrex.modes.segments.kernels.spread import spread


@pytest.mark.parametrize("is_root", [False, True])
@pytest.mark.parametrize("lost", [0, 1])
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "extremes"])
def test_spreads(kind: str, seed: int, lost: int, is_root: bool) -> None:
    columns: list[Column] = [drawn(kind, seed)]
    if kind not in ("empty", "one row"):
        columns.append(drawn_long(kind, seed))
    for column in columns:
        expected = [variance(column.of(k), lost, is_root) for k in range(column.n_segments)]
        found = []
        for table in (SCAN, pair_table_of(pairs_of(column, column))):
            result, is_null = column.results()
            spread(pairs_of(column, column), table, column.start, column.end, lost, is_root, result, is_null)
            check_equal(values_of(result, is_null), expected, 1e-9)
            found.append(values_of(result, is_null))
        assert found[0] == found[1], "one double, by scan and from a table"
