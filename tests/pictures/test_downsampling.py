"""Points that are left have the extremes of every column, and gaps stay gaps."""

from __future__ import annotations

import numpy as np
import pytest

from sparkrex.pictures.downsampling import POINTS_PER_COLUMN, kept_points, lanes, merged_bands


def random_series(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray, int]:
    n_rows, columns = int(random.integers(1, 400)), int(random.integers(1, 12))
    x = np.sort(random.integers(0, 50, n_rows).astype(np.float64))
    y = random.integers(-20, 20, n_rows).astype(np.float64)
    y[random.random(n_rows) < random.choice([0.0, 0.2, 0.95])] = np.nan
    begin, end = sorted(random.integers(0, n_rows, 2).tolist())
    if random.random() < 0.3:
        y[begin:end] = np.nan
    return x, y, columns


def column_of(x: np.ndarray, columns: int) -> np.ndarray:
    """By the definition: equal parts of the axis, the end belongs to the last one."""
    edges = [x[0] + (x[-1] - x[0]) * number / columns for number in range(1, columns)]
    return np.array([sum(edge <= at for edge in edges) for at in x])


def test_every_column_keeps_its_ends_extremes_and_gaps() -> None:
    random = np.random.default_rng(7)
    n_thinned = 0
    for _ in range(300):
        x, y, columns = random_series(random)
        kept = kept_points(x, y, x[0], x[-1], columns)
        assert (np.diff(kept) > 0).all()
        if len(x) <= POINTS_PER_COLUMN * columns or x[0] == x[-1]:
            assert kept.tolist() == list(range(len(x)))
            continue
        n_thinned += len(kept) < len(x)
        assert len(kept) <= POINTS_PER_COLUMN * columns
        own, chosen = column_of(x, columns), set(kept.tolist())
        for column in set(own.tolist()):
            rows = np.flatnonzero(own == column).tolist()
            drawn = [row for row in rows if row in chosen]
            assert {rows[0], rows[-1]} <= chosen
            values, shown = ([y[row] for row in some if not np.isnan(y[row])] for some in (rows, drawn))
            assert bool(values) == bool(shown)
            if values:
                assert (min(values), max(values)) == (min(shown), max(shown))
            missing = [row for row in rows if np.isnan(y[row])]
            if missing:
                assert {missing[0], missing[-1]} <= chosen
    assert n_thinned > 50


def test_no_line_crosses_a_gap_between_two_columns() -> None:
    """Two values that are neighbours among the points of different columns have no gap between them."""
    random = np.random.default_rng(8)
    for _ in range(300):
        x, y, columns = random_series(random)
        kept = kept_points(x, y, x[0], x[-1], columns)
        own = column_of(x, columns)
        for before, after in zip(kept[:-1].tolist(), kept[1:].tolist(), strict=True):
            if own[before] != own[after] and not np.isnan(y[[before, after]]).any():
                assert not np.isnan(y[before:after]).any()


def test_ten_million_rows_leave_few_points_and_both_extremes() -> None:
    n_rows = 10_000_000
    y = np.zeros(n_rows)
    y[1_234_567], y[7_654_321], y[5_000_000] = 9.0, -9.0, np.nan
    kept = kept_points(np.arange(n_rows, dtype=np.float64), y, 0.0, n_rows - 1.0, 900)
    assert len(kept) <= 900 * POINTS_PER_COLUMN
    assert {0, 1_234_567, 5_000_000, 7_654_321, n_rows - 1} <= set(kept.tolist())


@pytest.mark.parametrize("least", [0.0, 1.0, 2.5])
def test_bands_are_merged_if_they_are_nearer_than_asked(least: float) -> None:
    random = np.random.default_rng(9)
    for _ in range(100):
        first = np.sort(random.integers(0, 60, random.integers(0, 20)).astype(np.float64))
        last = first + random.integers(0, 6, len(first))
        groups = merged_bands(first, last, least).tolist()
        # By the definition: neighbours in one group are joined by bands less than `least` apart.
        expected: list[int] = []
        for number in range(len(first)):
            reached = max(last[:number], default=-np.inf)
            expected.append(0 if not number else expected[-1] + int(first[number] - reached >= least))
        assert groups == expected


def test_lanes_keep_overlapping_bands_apart_and_are_as_few_as_possible() -> None:
    random = np.random.default_rng(10)
    for _ in range(100):
        first = np.sort(random.integers(0, 40, random.integers(1, 15)).astype(np.float64))
        last = first + random.integers(1, 8, len(first))
        found = lanes(first, last).tolist()
        for one in range(len(first)):
            for other in range(one):
                if found[one] == found[other]:
                    assert last[other] <= first[one]
        depth = max(int(((first <= at) & (last > at)).sum()) for at in first)
        assert max(found) + 1 == depth
