"""Numbers of trends in their three forms, against Python's integers and fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.kernels.forms import in_form
from tests.modes.trends.kernels.lines import (
    LIMIT,
    exact_lines,
    exact_values,
    is_close,
    log_lines,
    log_values,
    object_lines,
)

from sparkrex.kernels.lazy import njit
from sparkrex.modes.trends.kernels.numbers import add, add_product, clear, is_zero, set_one

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@njit(nogil=True)
def add_lines(target, at, source, of):  # type: ignore[no-untyped-def]
    """One addition after the other."""
    for step in range(len(at)):
        add(target, at[step], source, of[step])  # type: ignore[no-untyped-call]


@njit(nogil=True)
def add_products(target, at, source, of, weights):  # type: ignore[no-untyped-def]
    """One product after the other."""
    for step in range(len(at)):
        add_product(target, at[step], source, of[step], weights[step])  # type: ignore[no-untyped-call]


@njit(nogil=True)
def reset_and_test(target, ones, zeros, found):  # type: ignore[no-untyped-def]
    """Some become 1, others 0; which then are 0."""
    for place in ones:
        set_one(target, place)  # type: ignore[no-untyped-call]
    for place in zeros:
        clear(target, place)  # type: ignore[no-untyped-call]
    for place in range(len(found)):
        found[place] = is_zero(target, place)  # type: ignore[no-untyped-call]


# These are compiled in a second or two: both forms are a part of `make test`.
in_both_forms = pytest.mark.parametrize("form", ["interpreted", "compiled"])


def added(form: str, targets: NDArray[Any], sources: NDArray[Any]) -> NDArray[Any]:
    """Line by line the sum."""
    places = np.arange(len(targets))
    in_form(add_lines, form)(targets, places, sources, places)
    return targets


def products_added(
    form: str, targets: NDArray[Any], sources: NDArray[Any], weights: Sequence[float] | NDArray[Any]
) -> NDArray[Any]:
    """Line by line the sum with a product."""
    places = np.arange(len(targets))
    in_form(add_products, form)(targets, places, sources, places, np.asarray(weights))
    return targets


# Exact numbers.

SIZES = [0, 1, 2, 3, 10**9, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 2**64 + 1, 2**95, 2**96 - 1,
         10**38, 2**126, 2**126 + 2**63, LIMIT - 1]
VALUES = [*SIZES, *(-size for size in SIZES[1:]), -LIMIT]
WEIGHTS = [0, 1, -1, 2, 3, -7, 2**31, 2**32 - 1, -(2**32), 2**32 + 1, 10**18, 2**62, 2**63 - 1, -(2**63) + 1, -(2**63)]


def drawn_values(seed: int, n_values: int) -> list[int]:
    """Integers of all lengths and signs, many near a power of two."""
    random = np.random.default_rng(seed)
    found = []
    for _ in range(n_values):
        bits = int(random.integers(0, 128))
        value = int.from_bytes(random.bytes(16)) % 2**bits if random.random() < 0.6 else 2**bits
        value += int(random.integers(-2, 3))
        found.append(max(-LIMIT, min(LIMIT - 1, value if random.random() < 0.5 else -value)))
    return found


@in_both_forms
@pytest.mark.parametrize("seed", [None, 1, 2])
def test_exact_sums(seed: int | None, form: str) -> None:
    pairs = list(product(VALUES, VALUES))
    if seed is not None:
        pairs = list(zip(drawn_values(seed, 600), drawn_values(seed + 100, 600), strict=True))
    found = added(form, exact_lines([one for one, _ in pairs]), exact_lines([other for _, other in pairs]))
    expected = exact_values(exact_lines([one + other for one, other in pairs]))
    assert exact_values(found) == expected
    assert None in expected


@in_both_forms
@pytest.mark.parametrize("seed", [None, 1, 2, 3])
def test_exact_products(seed: int | None, form: str) -> None:
    """A product of 2^127 and more is too large even if the sum with it were not."""
    cases = list(product([0, 5, -(2**64), LIMIT - 1, -LIMIT], VALUES, WEIGHTS))
    if seed is not None:
        random = np.random.default_rng(seed)
        weights = [value % 2**64 - 2**63 if random.random() < 0.3 else value >> 64 for value in drawn_values(seed, 600)]
        cases = list(zip(drawn_values(seed + 10, 600), drawn_values(seed + 20, 600), weights, strict=True))
    found = products_added(
        form, exact_lines([one for one, _, _ in cases]), exact_lines([other for _, other, _ in cases]),
        np.array([weight for _, _, weight in cases], np.int64),
    )
    n_large = 0
    for (one, other, weight), value in zip(cases, exact_values(found), strict=True):
        is_large = abs(other * weight) >= LIMIT or not -LIMIT <= one + other * weight < LIMIT
        assert value == (None if is_large else one + other * weight), (one, other, weight)
        n_large += is_large
    assert 0 < n_large < len(cases)


@in_both_forms
def test_too_large_stays_too_large(form: str) -> None:
    line = exact_lines([LIMIT - 1])
    for value in (1, -LIMIT, 5, -5):
        added(form, line, exact_lines([value]))
        assert exact_values(line) == [None]
    products_added(form, line, exact_lines([3]), [-1])
    assert exact_values(line) == [None]
    # And so is whatever it is added to, unless not even once.
    for weight, expected in ((0, [7]), (1, [None]), (-1, [None])):
        assert exact_values(products_added(form, exact_lines([7]), line.copy(), [weight])) == expected
    assert exact_values(added(form, exact_lines([0]), line)) == [None]


@in_both_forms
def test_a_thousand_doublings_never_wrap(form: str) -> None:
    """Of 2^128 there is nothing left in two halves, but it is not 0."""
    line = exact_lines([1])
    for power in range(1, 1000):
        added(form, line, line.copy())
        assert exact_values(line) == [2**power if power < 127 else None]
    assert line[0, :2].tolist() == [0, 0]
    found = np.zeros(1, np.bool_)
    in_form(reset_and_test, form)(line, np.empty(0, np.int64), np.empty(0, np.int64), found)
    assert found.tolist() == [False]


# Numbers with an exponent.


def drawn_fractions(seed: int, n_values: int, most: int = 3000) -> list[Fraction]:
    """Numbers from 2^-most to 2^most, of 100 bits."""
    random = np.random.default_rng(seed)
    powers = random.integers(-most, most + 1, n_values).tolist()
    return [Fraction(int.from_bytes(random.bytes(12)) + 2**95) * Fraction(2) ** (power - 96) for power in powers]


@in_both_forms
@pytest.mark.parametrize("most", [3, 300, 3000])
@pytest.mark.parametrize("has_signs", [False, True])
def test_sums_with_an_exponent(has_signs: bool, most: int, form: str) -> None:
    random = np.random.default_rng(most)
    values = drawn_fractions(most, 400, most)
    if has_signs:
        values = [value if random.random() < 0.5 else -value for value in values]
    sources = log_lines(values)
    exact = log_values(sources)
    # In tens, each one after the other into one number.
    targets = np.zeros((40, 3))
    in_form(add_lines, form)(targets, np.arange(400) // 10, sources, np.arange(400))
    for place, found in enumerate(log_values(targets)):
        terms = exact[10 * place : 10 * place + 10]
        assert is_close(found, sum(terms, Fraction(0)), sum(map(abs, terms))), terms
    assert_are_scaled(targets)


def assert_are_scaled(lines: NDArray[np.float64], least: float = 2.0**-256) -> None:
    """The pair is near 1, and 0 has no exponent."""
    sizes = np.abs(lines[:, 0])
    assert ((sizes == 0) | ((sizes >= least) & (sizes < 2.0**256))).all()
    assert (lines[sizes == 0] == 0).all()
    assert (np.abs(lines[:, 1]) <= 2.0**-52 * sizes).all()


@in_both_forms
def test_five_thousand_doublings(form: str) -> None:
    line = log_lines([3])
    for _ in range(5000):
        added(form, line, line.copy())
    assert log_values(line) == [3 * 2**5000]


@pytest.mark.parametrize(
    ("form", "n_times"), [("interpreted", 10_000), pytest.param("compiled", 10**8, marks=pytest.mark.slow)]
)
def test_the_same_number_many_times(form: str, n_times: int) -> None:
    """Beyond 2^53, where plain doubles lose every second of them."""
    one = 2**28 - 1 if form == "compiled" else 2**50 - 1
    line, many = log_lines([0]), 10_000
    sources, places = log_lines([one]), np.zeros(many, np.int64)
    for _ in range(n_times // many):
        in_form(add_lines, form)(line, places, sources, places)
    assert log_values(line) == [one * n_times]


@in_both_forms
def test_a_doubling_and_one_more_each_time(form: str) -> None:
    """2^n - 1 for n up to 2000: the last bit counts up to 2^106, and then no more."""
    line, one = np.zeros((1, 3)), log_lines([1])
    for power in range(1, 2001):
        added(form, line, line.copy())
        added(form, line, one)
        (found,) = log_values(line)
        assert found == 2**power - 1 if power < 105 else is_close(found, Fraction(2**power)), power


@in_both_forms
def test_what_cancels(form: str) -> None:
    values = [Fraction(7), Fraction(10) ** 300, Fraction(1, 3), Fraction(10) ** 77]
    lines = added(form, log_lines(values), -log_lines(values) * [1, 1, -1])
    assert (lines == 0).all()
    # Down to the last bit: what is left is small, and exact.
    lines = added(form, log_lines([2**90 + 1, 2**600 + 2**512]), log_lines([-(2**90), -(2**600)]))
    assert log_values(lines) == [1, 2**512]
    assert_are_scaled(lines)


@in_both_forms
def test_products_with_an_exponent(form: str) -> None:
    weights = [0.0, 1.0, -2.5, 0.1, 1e308, -1e308, 5e-324, 1e-300, 2.0**255, 2.0**256, 2.0**-256, 2.0**-257, math.pi]
    counts = [Fraction(0), Fraction(1), *drawn_fractions(3, 40)]
    cases = list(product(counts, weights))
    sources = log_lines([count for count, _ in cases])
    exact = log_values(sources)
    for targets in (np.zeros((len(cases), 3)), log_lines(drawn_fractions(4, len(cases)))):
        before = log_values(targets)
        found = log_values(products_added(form, targets, sources, [weight for _, weight in cases]))
        for one, count, (_, weight), value in zip(before, exact, cases, found, strict=True):
            term = count * Fraction(weight)
            assert is_close(value, one + term, max(abs(one), abs(term))), (one, count, weight)
        # The least doubles may leave a little less, which does no harm.
        assert_are_scaled(targets, 2.0**-320)


@in_both_forms
def test_products_with_integers_are_rounded_to_doubles(form: str) -> None:
    weights = [weight for weight in WEIGHTS for _ in range(5)]
    sources = log_lines(drawn_fractions(5, len(weights)))
    found = products_added(form, np.zeros((len(weights), 3)), sources, np.array(weights, np.int64))
    for value, count, weight in zip(log_values(found), log_values(sources), weights, strict=True):
        assert is_close(value, count * Fraction(float(weight))), (count, weight)


INFINITE = [
    ([math.inf, 1.0], math.inf), ([1.0, math.inf], math.inf), ([-math.inf, 1.0], -math.inf),
    ([math.inf, -math.inf], math.nan), ([math.nan, 1.0], math.nan), ([math.inf, math.nan], math.nan),
    ([math.inf, math.inf], math.inf), ([0.0, math.inf, 0.0], math.inf), ([5e-324, -math.inf], -math.inf),
]
FAR = [
    ([math.inf, 1e300], math.inf), ([1e300, math.inf], math.inf), ([math.nan, 1e300], math.nan),
    ([1e300, math.nan], math.nan), ([math.inf, 1e-300, 1e300, -1e300], math.inf), ([1e308, -math.inf], -math.inf),
]
KINDS_OF_COUNTS: dict[str, Any] = {"log": log_lines, "object": object_lines}
of_all_kinds = pytest.mark.parametrize(("kind", "form"), [
    ("log", "interpreted"), ("log", "compiled"), ("object", "interpreted"),
])


@of_all_kinds
def test_infinities_stay(kind: str, form: str) -> None:
    check_infinities(kind, form, INFINITE, [1, 3, 2**100])


@of_all_kinds
def test_infinities_stay_beside_large_numbers(kind: str, form: str) -> None:
    check_infinities(kind, form, FAR, [1] if kind == "object" else [1, 2**100])


def test_infinities_stay_beside_numbers_beyond_doubles() -> None:
    check_infinities("object", "interpreted", FAR, [2**100, 2**1100])


@in_both_forms
def test_infinities_stay_as_often_as_can_be(form: str) -> None:
    check_infinities("log", form, INFINITE, [2**1000, 2**5000])


def check_infinities(kind: str, form: str, cases: list[tuple[list[float], float]], counts: list[int]) -> None:
    """Each weight so often; then the sums of two places, in both orders."""
    new = object_lines if kind == "object" else log_lines
    for count, (weights, expected) in product(counts, cases):
        source = KINDS_OF_COUNTS[kind]([count])
        line, parts = new([0]), []
        for weight in weights:
            products_added(form, line, source, [weight])
            parts.append(products_added(form, new([0]), source, [weight]))
        for direction in (1, -1):
            total = new([0])
            for part in parts[::direction]:
                added(form, total, part)
            for found in (line[0, 0], total[0, 0]):
                assert found == expected or (math.isnan(expected) and math.isnan(found)), (count, weights, found)


# Numbers of all digits.


def test_objects_have_all_digits() -> None:
    lines = object_lines([3, Fraction(1, 3), 10**50])
    added("interpreted", lines, object_lines([10**100, Fraction(2, 3), -(10**50)]))
    assert lines[:, 0].tolist() == [10**100 + 3, 1, 0]
    found = np.zeros(3, np.bool_)
    in_form(reset_and_test)(lines, [], [], found)
    assert found.tolist() == [False, False, True]
    products_added("interpreted", lines, object_lines([10**40, 7, 5]), np.array([-(2**63), 2**63 - 1, 0]))
    assert lines[:, 0].tolist() == [10**100 + 3 - 10**40 * 2**63, 1 + 7 * (2**63 - 1), 0]
    assert all(isinstance(value, int | Fraction) for value in lines[:, 0])
    products_added("interpreted", lines, object_lines([1, 3, 0]), [0.1, 0.5, math.inf])
    assert lines[1, 0] == Fraction(1) + 7 * (2**63 - 1) + Fraction(3, 2)
    assert lines[2, 0] == 0  # not even once


# All forms.


@of_all_kinds
def test_one_and_nothing(kind: str, form: str) -> None:
    lines = KINDS_OF_COUNTS[kind]([2**90, 2**90, 0, 2**90])
    found = np.zeros(4, np.bool_)
    in_form(reset_and_test, form)(lines, np.array([0]), np.array([1]), found)
    assert found.tolist() == [False, True, True, False]
    assert lines[:3].tolist() == [[1, 0, 0], [0, 0, 0], [0, 0, 0]]
