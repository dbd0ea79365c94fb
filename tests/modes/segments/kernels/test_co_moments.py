"""Sums of x, y, x^2, y^2 and x y over segments, against exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from tests.modes.segments.kernels import exact
from tests.modes.segments.kernels.columns import KINDS, Column, drawn, drawn_long
from tests.modes.segments.kernels.tables import SCAN, pair_table_of, pairs_of

from sparkrex.modes.segments.kernels import co_moments
from sparkrex.modes.segments.kernels.co_moments import N_AT, N_SUMS

FINITE = [kind for kind in KINDS if kind not in ("empty", "extremes")]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", FINITE)
def test_where_values_change(kind: str, seed: int) -> None:
    column = drawn(kind, seed)
    changes = np.full(column.n_rows, -99)
    co_moments.next_changes(column.values, column.nulls, column.offsets, changes)
    for low, high in pairwise(column.offsets):
        rows = [row for row in range(low, high) if not len(column.nulls) or not column.nulls[row]]
        for row in range(low, high):
            later = [other for other in rows if other >= row]
            differing = (other for other in later if column.values[other] != column.values[later[0]])
            assert changes[row] == next(differing, high)


def test_counts_of_pairs_and_of_those_that_are_not_finite_or_huge() -> None:
    x, y = np.array([1.0, math.inf, 5.0, 2.0, 1.0]), np.array([1.0, 2.0, 5.0, math.nan, 1e200])
    counts = np.zeros((6, 2), np.int64)
    co_moments.pair_counts(x, y, np.array([0, 0, 1, 0, 0], np.uint8), counts)
    assert counts.tolist() == [[0, 0], [1, 0], [2, 1], [2, 1], [3, 2], [4, 3]]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", FINITE)
def test_sums_about_a_row_of_the_segment(kind: str, seed: int) -> None:
    """Which row is the base is the kernel's choice: what is centred does not depend on it."""
    for y in (drawn(kind, seed), drawn_long(kind, seed)):
        x = Column(np.arange(y.n_rows) % 5, y.nulls, y.offsets, y.start, y.end)
        pairs = pairs_of(x, y)
        for table in (SCAN, pair_table_of(pairs)):
            at, parts = np.full(N_AT, -1, np.int64), np.empty((3, N_SUMS))
            for k in range(y.n_segments):
                first, last = int(y.start[k]), int(y.end[k])
                n, is_finite = co_moments.pairs_in(pairs, table, first, last)
                assert (n, is_finite) == (len(y.of(k)), True)
                sums = co_moments.segment_sums(pairs, table, first, last, at, parts)
                if n == 0:
                    assert tuple(sums) == (0.0,) * N_SUMS
                    continue
                a, b, c, d, e = map(Fraction, sums)
                for product, left, right, one, other in (
                    (c, a, a, x, x), (d, b, b, y, y), (e, a, b, x, y),
                ):
                    found = co_moments.centred(n, product, left, right)
                    expected = n * exact.squares(one.of(k), other.of(k))
                    size = n * max(c, d, Fraction(1))
                    assert abs(found - expected) <= size * Fraction(1, 10**12), (first, last)


def test_a_variance_that_is_small_beside_the_squares_is_not_certain() -> None:
    assert co_moments.is_certain(10, 5.0, 10 * 4.0)
    assert not co_moments.is_certain(10, 5.0, 10 * 0.01)
    assert not co_moments.is_certain(10, 1e-300, 10 * 1e-300)
    assert not co_moments.is_certain(10, math.nan, math.nan)
