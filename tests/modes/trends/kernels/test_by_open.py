"""Trends by open event: the bits that tell places; compiled as interpreted, as by event, and as a plain loop."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.kernels.forms import in_both_forms, in_form
from tests.modes.trends.kernels.answers import OPERATORS, count, drawn_values, holds, is_count, table
from tests.modes.trends.kernels.long_streams import check_compiled, check_equals_by_event
from tests.modes.trends.query import NEXT

from sparkrex.kernels.lazy import njit
from sparkrex.modes.trends.kernels.by_open import OpenPlaces, _free, _next_taken, _take

if TYPE_CHECKING:
    from numpy.typing import NDArray

SEED = 16
SIZES = [1, 2, 63, 64, 65, 4095, 4096, 4097, 262143, 262144, 262145]


# Bits.


@njit(nogil=True)
def use_bits(opened, taken, freed, asked, ends, found):  # type: ignore[no-untyped-def]
    """Take and free places of state 1, then look for what is taken."""
    for place in taken:
        _take(opened, 1, place)
    for place in freed:
        _free(opened, 1, place)
    for number in range(len(asked)):
        found[number] = _next_taken(opened, 1, asked[number], ends[number])


def new_bits(n_room: int) -> OpenPlaces:
    """As `search` makes them."""
    nothing: Any = np.zeros(0, np.int64)
    words = (np.zeros((3, (n_room >> shift) + 2), np.uint64) for shift in (6, 12, 18))
    return OpenPlaces(nothing, nothing, nothing, *words)


def drawn_places(random: np.random.Generator, n_room: int, n_places: int) -> NDArray[np.int64]:
    """Places of which many are at the ends of words, of any level."""
    edges = np.array([edge + step for edge in (0, 64, 4096, 65536, 262144, n_room) for step in (-2, -1, 0, 1)])
    edges = np.unique(np.concatenate([edges, n_room - 1 - edges]).clip(0, n_room - 1))
    return np.concatenate([random.choice(edges, n_places), random.integers(0, n_room, n_places)])


@in_both_forms
@pytest.mark.parametrize("n_places", [0, 1, 3, 40])
@pytest.mark.parametrize("n_room", SIZES)
def test_the_next_place_that_is_taken(n_room: int, n_places: int, form: str) -> None:
    for seed in range(4):
        random = np.random.default_rng(seed)
        opened = new_bits(n_room)
        is_taken: set[int] = set()
        for _ in range(3):  # what was freed can be taken again
            taken, freed = drawn_places(random, n_room, n_places), drawn_places(random, n_room, n_places // 2)
            is_taken = (is_taken | {*taken.tolist()}) - {*freed.tolist()}
            asked = np.concatenate([drawn_places(random, n_room, 20), [n_room]])
            ends = np.concatenate([drawn_places(random, n_room, 20), [n_room]])
            ends[::2] = n_room
            found = np.zeros(len(asked), np.int64)
            in_form(use_bits, form)(opened, taken, freed, asked, ends, found)
            places = [*sorted(is_taken), n_room]
            nearest = [places[bisect_left(places, place)] for place in asked.tolist()]
            assert found.tolist() == [min(*pair) for pair in zip(nearest, ends.tolist(), strict=True)]
        assert not opened.low[[0, 2]].any()  # other states


@in_both_forms
def test_freed_words_are_zero_on_all_levels(form: str) -> None:
    opened = new_bits(300_000)
    places = np.arange(0, 300_000, 997)
    nothing = np.empty(0, np.int64)
    in_form(use_bits, form)(opened, places, places[::-1].copy(), nothing, nothing, nothing)
    assert not any(words.any() for words in (opened.low, opened.middle, opened.high))


# Trends.


@pytest.mark.parametrize(("counts", "n_small", "n_long"), [
    ("exact", 12, 5),
    pytest.param("exact", 150, 50, marks=pytest.mark.slow), pytest.param("log", 150, 50, marks=pytest.mark.slow),
])
def test_compiled_equals_interpreted(counts: str, n_small: int, n_long: int) -> None:
    check_compiled("by_open", counts, SEED, n_small, n_long)


@pytest.mark.parametrize("n_examples", [5, pytest.param(60, marks=pytest.mark.slow)])
def test_by_open_equals_by_event(n_examples: int) -> None:
    check_equals_by_event("by_open", SEED + 1, n_examples)


def trends_by_loop(values: list[int | None], times: list[int], sign: str) -> int:
    """An event is followed by all events of the first time at which one may follow it."""
    ending = [1] * len(values)
    for row in range(len(values)):
        next_time = next((
            times[after] for after in range(row + 1, len(values))
            if times[after] > times[row] and holds(sign, values[row], values[after])
        ), None)
        for after in range(row + 1, len(values)):
            if times[after] == next_time and holds(sign, values[row], values[after]):
                ending[after] += ending[row]
    return sum(ending)


@pytest.mark.parametrize("sign", OPERATORS)
@pytest.mark.parametrize("n_different", [2, 7, 500])
def test_one_comparison(n_different: int, sign: str) -> None:
    random = np.random.default_rng(n_different)
    for n_rows, has_ties in ((140, False), (250, True)):
        values = drawn_values(random, n_rows, n_different)
        times = np.cumsum(random.integers(0 if has_ties else 1, 3, n_rows)).tolist()
        expected = trends_by_loop(values, times, sign)
        found = count(table("A" * n_rows, values, times), "A+ a", NEXT, "by_open", f"a.x {sign} NEXT(a).x")
        assert is_count(found, expected, "exact")


@pytest.mark.slow
def test_three_hundred_thousand_open_events() -> None:
    """Falling values stay open until a larger one comes: found by a stack."""
    random = np.random.default_rng(3)
    n_rows = 300_000
    values = np.concatenate([np.arange(270_000, 0, -1), random.integers(0, 300_000, n_rows - 270_000)])
    ending = [1] * n_rows
    stack: list[int] = []
    for row, value in enumerate(values.tolist()):
        while stack and values[stack[-1]] < value:
            ending[row] += ending[stack.pop()]
        stack.append(row)
    found = count(table("A" * n_rows, values.tolist()), "A+ a", NEXT, "by_open", "a.x < NEXT(a).x")
    assert found == sum(ending)
