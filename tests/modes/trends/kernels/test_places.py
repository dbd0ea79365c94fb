"""Places against places of Python's numbers: random steps, in all forms of numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.kernels.forms import in_form
from tests.modes.trends.kernels.lines import exact_values, is_close, log_values

from sparkrex.kernels.lazy import njit
from sparkrex.modes.trends.kernels.places import (
    Shape,
    Store,
    Weights,
    add_place,
    begin_place,
    bind_place,
    clear_place,
    copy_place,
    has_trends,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

CLEAR, BEGIN, COPY, ADD, BIND = range(5)
N_PLACES, N_ROWS, N_VARIABLES = 5, 7, 3
SHAPES = [Shape(1, 0, 0), Shape(4, 3, 3), Shape(2, 0, 1), Shape(1, 2, 0)]


@njit(nogil=True)
def take_steps(store, other, shape, weights, steps, found):  # type: ignore[no-untyped-def]
    """One step after the other; then which places have trends."""
    for step in range(len(steps)):
        code, at, of, variable, row = steps[step]
        if code == CLEAR:
            clear_place(store, at, shape)
        elif code == BEGIN:
            begin_place(store, at, shape)
        elif code == COPY:
            copy_place(store, at, other, of, shape)
        elif code == ADD:
            add_place(store, at, other, of, shape)
        else:
            bind_place(store, at, shape, weights, variable, row)
    for at in range(len(found)):
        found[at] = has_trends(store, at, shape)


@dataclass
class Place:
    """What a place stands for."""

    numbers: list[int]
    reals: list[Fraction]
    extremes: dict[int, int] = field(default_factory=dict)

    @staticmethod
    def empty(shape: Shape, trends: int = 0) -> Place:
        reals = [Fraction(trends), *[Fraction(0)] * (shape.n_reals - 1)] if shape.n_reals else []
        return Place([trends, *[0] * (shape.n_numbers - 1)], reals)

    def copy(self) -> Place:
        return Place(list(self.numbers), list(self.reals), dict(self.extremes))

    def add(self, other: Place) -> None:
        self.numbers = [one + two for one, two in zip(self.numbers, other.numbers, strict=True)]
        self.reals = [one + two for one, two in zip(self.reals, other.reals, strict=True)]
        for place, key in other.extremes.items():
            self.extremes[place] = min(key, self.extremes.get(place, key))

    def bind(self, weights: Weights, variable: int, row: int) -> None:
        trends = self.numbers[0]
        if not trends:
            return
        for number in range(1, len(self.numbers)):
            if weights.number_of[number, variable] and weights.number_valid[number - 1, row]:
                weight = 1 if weights.is_number_counted[number] else int(weights.number_weights[number - 1, row])
                self.numbers[number] += trends * weight
        for real in range(1, len(self.reals)):
            if weights.real_of[real, variable] and weights.real_valid[real - 1, row]:
                is_counted = weights.is_real_counted[real]
                self.reals[real] += trends * Fraction(1 if is_counted else float(weights.real_weights[real - 1, row]))
        for extreme in range(len(weights.extreme_of)):
            if weights.extreme_of[extreme, variable] and weights.extreme_valid[extreme, row]:
                key = int(weights.extreme_keys[extreme, row])
                self.extremes[extreme] = min(key, self.extremes.get(extreme, key))


def new_store(shape: Shape, kind: str, n_places: int = N_PLACES) -> Store:
    """Places without trends; extremes that were not seen hold anything."""
    number: Any = {"exact": np.int64, "log": np.float64, "object": object}[kind]
    return Store(
        np.zeros((n_places * shape.n_numbers, 3), number),
        np.zeros((n_places * shape.n_reals, 3), object if kind == "object" else np.float64),
        np.full(n_places * shape.n_extremes, -77, np.int64), np.zeros(n_places, np.int64),
    )


def drawn_weights(random: np.random.Generator, shape: Shape) -> Weights:
    """Weights are not negative: what cancels is a matter of `test_numbers`."""
    def bits(n_lines: int, width: int) -> NDArray[np.uint8]:
        return (random.random((n_lines, width)) < 0.7).astype(np.uint8)

    n_cells, n_sums = shape.n_numbers - 1, max(0, shape.n_reals - 1)
    return Weights(
        np.vstack([np.zeros((1, N_VARIABLES), np.uint8), bits(n_cells, N_VARIABLES)]),
        np.concatenate([[0], bits(1, n_cells)[0]]).astype(np.uint8),
        random.choice([0, 1, 3, 2**40 + 1, 2**62], (n_cells, N_ROWS)).astype(np.int64), bits(n_cells, N_ROWS),
        np.vstack([np.zeros((1, N_VARIABLES), np.uint8), bits(n_sums, N_VARIABLES)]),
        np.concatenate([[0], bits(1, n_sums)[0]]).astype(np.uint8),
        random.choice([0.0, 0.1, 2.5, 1e200], (n_sums, N_ROWS)), bits(n_sums, N_ROWS),
        bits(shape.n_extremes, N_VARIABLES),
        random.choice([-(2**63), -3, 0, 5, 2**63 - 1], (shape.n_extremes, N_ROWS)).astype(np.int64),
        bits(shape.n_extremes, N_ROWS),
    )


def assert_are(store: Store, shape: Shape, places: list[Place], kind: str) -> None:
    """Whether places of kernels are these."""
    for at, place in enumerate(places):
        numbers = store.numbers[at * shape.n_numbers : (at + 1) * shape.n_numbers]
        reals = store.reals[at * shape.n_reals : (at + 1) * shape.n_reals]
        if kind == "exact":
            assert exact_values(numbers) == [number if number < 2**127 else None for number in place.numbers]
        elif kind == "log":
            found = log_values(numbers)
            assert all(is_close(*pair, size=1) for pair in zip(found, map(Fraction, place.numbers), strict=True))
        else:
            assert numbers[:, 0].tolist() == place.numbers
        if kind == "object":
            assert reals[:, 0].tolist() == place.reals
        else:
            assert all(is_close(*pair, size=0) for pair in zip(log_values(reals), place.reals, strict=True))
        seen = {extreme for extreme in range(shape.n_extremes) if int(store.seen[at]) >> extreme & 1}
        keys = store.extremes[at * shape.n_extremes : (at + 1) * shape.n_extremes]
        assert {extreme: int(keys[extreme]) for extreme in seen} == place.extremes


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("kind", "form"), [
    ("exact", "interpreted"), ("log", "interpreted"), ("object", "interpreted"),
    pytest.param("exact", "compiled", marks=pytest.mark.slow), pytest.param("log", "compiled", marks=pytest.mark.slow),
])
def test_random_steps(kind: str, form: str, shape: Shape) -> None:
    for seed in range(12):
        random = np.random.default_rng(seed)
        weights = drawn_weights(random, shape)
        n_steps = 60
        steps = np.stack([
            random.choice([CLEAR, BEGIN, COPY, ADD, ADD, ADD, BIND, BIND, BIND], n_steps),
            random.integers(0, N_PLACES, n_steps), random.integers(0, N_PLACES, n_steps),
            random.integers(0, N_VARIABLES, n_steps), random.integers(0, N_ROWS, n_steps),
        ], axis=1)
        store, other = new_store(shape, kind), new_store(shape, kind)
        places = [Place.empty(shape) for _ in range(N_PLACES)]
        others = [place.copy() for place in places]
        # Two stores, of which one reads what the other had.
        for part in np.array_split(steps, 6):
            for code, at, of, variable, row in part.tolist():
                match code:
                    case 0 | 1:
                        places[at] = Place.empty(shape, code)
                    case 2:
                        places[at] = others[of].copy()
                    case 3:
                        places[at].add(others[of])
                    case _:
                        places[at].bind(weights, variable, row)
            found = np.zeros(N_PLACES, np.bool_)
            in_form(take_steps, form)(store, other, shape, weights, part, found)
            assert_are(store, shape, places, kind)
            assert found.tolist() == [place.numbers[0] != 0 for place in places]
            for array, copied in zip(store, other, strict=True):
                copied[:] = array
            others = [place.copy() for place in places]


def test_sixty_extremes_have_a_bit_each() -> None:
    shape = Shape(1, 0, 60)
    weights = drawn_weights(np.random.default_rng(1), shape)
    store, place = new_store(shape, "exact", 1), Place.empty(shape, 1)
    in_form(begin_place)(store, 0, shape)
    for row in range(N_ROWS):
        in_form(bind_place)(store, 0, shape, weights, row % N_VARIABLES, row)
        place.bind(weights, row % N_VARIABLES, row)
    assert_are(store, shape, [place], "exact")
    assert max(place.extremes) > 55
