"""Pairs of doubles, against fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from sparkrex.kernels.double_double import (
    add_pairs,
    difference,
    distance,
    multiply_pairs,
    subtract_sums,
    two_product,
    two_sum,
)

INTEGERS = [-(2**63), -(2**63) + 1, -(2**53) - 1, -1, 0, 1, 2**31, 2**53 + 1, 1_700_000_000_000_001, 2**63 - 1]


def exact(pair: tuple[float, float]) -> Fraction:
    return Fraction(pair[0]) + Fraction(pair[1])


def numbers(seed: int, n: int = 200) -> list[float]:
    """Doubles of many sizes and signs, and some that nearly cancel."""
    generator = np.random.default_rng(seed)
    values = (generator.normal(size=n) * 10.0 ** generator.integers(-20, 20, n)).tolist()
    return [0.0, -0.0, 1.0, -1.0, 0.1, 1e16, -1e16 + 2, *values, *(-x * (1 + 2**-40) for x in values[:20])]


def pairs(seed: int) -> list[tuple[float, float]]:
    return [two_sum(a, b * 2.0**-55) for a, b in pairwise(numbers(seed))]


@pytest.mark.parametrize("seed", range(3))
def test_a_sum_and_a_product_and_their_errors_are_exact(seed: int) -> None:
    for a, b in pairwise(numbers(seed)):
        assert exact(two_sum(a, b)) == Fraction(a) + Fraction(b), (a, b)
        assert exact(two_product(a, b)) == Fraction(a) * Fraction(b), (a, b)


@pytest.mark.parametrize("seed", range(3))
def test_pairs_have_a_hundred_bits(seed: int) -> None:
    for a, b in pairwise(pairs(seed)):
        total = exact(a) + exact(b)
        assert abs(exact(add_pairs(*a, *b)) - total) <= abs(total) * Fraction(1, 2**100), (a, b)
        product = exact(a) * exact(b)
        assert abs(exact(multiply_pairs(*a, *b)) - product) <= abs(product) * Fraction(1, 2**100), (a, b)
        # Of sums, the error is relative to what is subtracted, not to what is left.
        least = max(abs(exact(a)), abs(exact(b))) * Fraction(1, 2**100)
        assert abs(exact(subtract_sums(*a, *b)) - (exact(a) - exact(b))) <= least, (a, b)


def test_differences_of_integers_are_exact() -> None:
    for a in INTEGERS:
        for b in INTEGERS:
            found = difference(np.int64(a), np.int64(b))  # type: ignore[no-untyped-call]
            assert exact(found) == a - b, (a, b)
            assert distance(np.int64(a), np.int64(b)) == float(a - b), (a, b)  # type: ignore[no-untyped-call]


def test_differences_of_doubles_are_exact() -> None:
    for a, b in pairwise(numbers(7)):
        assert exact(difference(a, b)) == Fraction(a) - Fraction(b)  # type: ignore[no-untyped-call]
        assert distance(a, b) == a - b  # type: ignore[no-untyped-call]


def test_infinities_and_nan_are_seen_in_the_sum() -> None:
    assert two_sum(math.inf, 1.0)[0] == math.inf
    assert math.isnan(two_sum(math.inf, -math.inf)[0])
    assert math.isnan(distance(math.nan, 1.0))  # type: ignore[no-untyped-call]
