"""Trends by rank: compiled as interpreted, as by event, and as a sum over all earlier events."""

from __future__ import annotations

import numpy as np
import pytest
from tests.modes.trends.kernels.answers import OPERATORS, count, drawn_values, holds, is_count, table
from tests.modes.trends.kernels.long_streams import check_compiled, check_equals_by_event
from tests.modes.trends.query import ANY

SEED = 15


@pytest.mark.parametrize(("counts", "n_small", "n_long"), [
    ("exact", 12, 5),
    pytest.param("exact", 150, 50, marks=pytest.mark.slow), pytest.param("log", 150, 50, marks=pytest.mark.slow),
])
def test_compiled_equals_interpreted(counts: str, n_small: int, n_long: int) -> None:
    check_compiled("by_rank", counts, SEED, n_small, n_long)


@pytest.mark.parametrize("n_examples", [5, pytest.param(60, marks=pytest.mark.slow)])
def test_by_rank_equals_by_event(n_examples: int) -> None:
    check_equals_by_event("by_rank", SEED + 1, n_examples)


def trends_by_sums(values: list[int | None], times: list[int], sign: str) -> int:
    """Every event ends itself, and what earlier events end that it may follow."""
    ending: list[int] = []
    for row, value in enumerate(values):
        earlier = (ending[before] for before in range(row) if times[before] < times[row] and holds(
            sign, values[before], value))
        ending.append(1 + sum(earlier))
    return sum(ending)


@pytest.mark.parametrize("sign", OPERATORS)
@pytest.mark.parametrize("n_different", [2, 7, 500])
def test_one_comparison(n_different: int, sign: str) -> None:
    random = np.random.default_rng(n_different)
    for n_rows, has_ties in ((120, False), (250, True)):
        values = drawn_values(random, n_rows, n_different)
        times = np.cumsum(random.integers(0 if has_ties else 1, 3, n_rows)).tolist()
        expected = trends_by_sums(values, times, sign)
        counts = "exact" if expected < 10**38 else "text"
        found = count(table("A" * n_rows, values, times), "A+ a", ANY, "by_rank", f"a.x {sign} NEXT(a).x", counts)
        assert is_count(found, expected, counts)


def test_values_at_the_ends_of_integers() -> None:
    values = [-(2**63) + 1, 2**63 - 1, None, 0, -(2**63) + 1, 2**63 - 1, 5]
    stream = table("A" * 7, values)
    for sign in OPERATORS:
        found = count(stream, "A+ a", ANY, "by_rank", f"a.x {sign} NEXT(a).x")
        assert found == trends_by_sums(values, list(range(7)), sign), sign
