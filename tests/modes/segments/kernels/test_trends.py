"""Mann-Kendall's test, and rises against falls, by scan and by table, against all pairs."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from tests.modes.segments.kernels.columns import KINDS, check_equal, drawn, values_of

from sparkrex.modes.segments.kernels import trends

SEEDS = range(4)


def ordered(value: float) -> tuple[bool, float]:
    """NaN is above every number and equal to itself."""
    return (math.isnan(value), 0.0 if math.isnan(value) else value)


def sign(a: float, b: float) -> int:
    return (ordered(a) < ordered(b)) - (ordered(b) < ordered(a))


def mann_kendall(values: list[Any]) -> float | None:
    """Z with ties and continuity correction."""
    n = len(values)
    s = sum(sign(a, b) for a, b in combinations(values, 2))
    ties = sum(t * (t - 1) * (2 * t + 5) for t in Counter(map(ordered, values)).values())
    variance = (n * (n - 1) * (2 * n + 5) - ties) / 18
    if n < 2 or variance <= 0:
        return None
    return (s - (s > 0) + (s < 0)) / math.sqrt(variance)



@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", KINDS)
def test_mann_kendall(kind: str, seed: int) -> None:
    column = drawn(kind, seed)
    expected = [mann_kendall(column.of(k)) for k in range(column.n_segments)]
    result, is_null = column.results()
    trends.mann_kendall_scan(column.values, column.nulls, column.start, column.end, result, is_null)
    check_equal(values_of(result, is_null), expected, 1e-9)
    longest = int(np.diff(column.offsets).max(initial=1)) or 1
    statistics, ties = (np.full((column.n_rows, longest), -99) for _ in range(2))
    assert trends.mann_kendall_table(column.values, column.nulls, column.offsets, statistics, ties)
    result, is_null = column.results()
    trends.mann_kendall_lookup(statistics, ties, column.counts(), column.start, column.end, result, is_null)
    check_equal(values_of(result, is_null), expected, 1e-9)
    # Without room for ties it says whether there are any.
    nowhere = np.zeros((0, longest), np.int64)
    has_ties = any(len(set(map(ordered, column.of(k)))) < len(column.of(k)) for k in range(column.n_segments))
    if column.n_rows:
        found = trends.mann_kendall_table(column.values, column.nulls, column.offsets, statistics, nowhere)
        assert found == (not has_ties)


def test_many_values_are_sorted_instead_of_paired() -> None:
    values = np.random.default_rng(1).integers(0, 30, 90)
    values[40] = 1_000
    for kind in (np.int64, np.float64):
        result, is_null = np.zeros(3), np.zeros(3, np.bool_)
        start, end = np.array([0, 10, 0]), np.array([89, 70, 3])
        trends.mann_kendall_scan(values.astype(kind), np.zeros(0, np.uint8), start, end, result, is_null)
        expected = [mann_kendall(values[a : b + 1].tolist()) for a, b in zip(start, end, strict=True)]
        check_equal(values_of(result, is_null), expected, 1e-9)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", KINDS)
def test_ticks(kind: str, seed: int) -> None:
    column = drawn(kind, seed)
    expected = [
        sum(sign(a, b) for a, b in pairwise(column.of(k))) == 0 if column.of(k) else None
        for k in range(column.n_segments)
    ]
    result, is_null = column.results(np.bool_)
    trends.ticks_scan(column.values, column.nulls, column.start, column.end, result, is_null)
    assert values_of(result, is_null) == expected
    net, upcoming = np.zeros(column.n_rows, np.int64), np.zeros(column.n_rows, np.int64)
    trends.ticks_prefix(column.values, column.nulls, column.offsets, net, upcoming)
    result, is_null = column.results(np.bool_)
    trends.ticks_lookup(net, upcoming, column.start, column.end, result, is_null)
    assert values_of(result, is_null) == expected
