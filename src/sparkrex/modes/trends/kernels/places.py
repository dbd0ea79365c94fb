"""Places: what is known of all trends that have come to one state, or to one event; and how places are put together.

A place has *numbers* (how many trends, how many events, sums of integers), *reals* (sums of doubles), and *extremes*
(the least key so far; keys of MAX are turned round), of which `seen` tells by bits which there are.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from sparkrex.kernels.inlined import inlined
from sparkrex.modes.trends.kernels.numbers import add, add_product, clear, is_zero, set_one


class Shape(NamedTuple):
    """How many numbers, reals and extremes a place has."""

    n_numbers: int
    n_reals: int
    n_extremes: int


class Store(NamedTuple):
    """Places, one after the other: `numbers` and `reals` have a line for each of a place, `extremes` an entry."""

    numbers: Any
    reals: Any
    extremes: Any
    seen: Any


class Weights(NamedTuple):
    """What an event adds to a place, by row.

    Number 0 is how many trends there are. Number c has `number_of[c, v]` set for the variables whose events count, and
    adds, where `number_valid[c - 1, row]`, the trends as often as `number_weights` says, or once if
    `is_number_counted[c]`. Likewise reals: the first, if there are any, is again how many trends there are, as a real,
    which no count is too large for. Extremes are numbered from 0.
    """

    number_of: Any
    is_number_counted: Any
    number_weights: Any
    number_valid: Any
    real_of: Any
    is_real_counted: Any
    real_weights: Any
    real_valid: Any
    extreme_of: Any
    extreme_keys: Any
    extreme_valid: Any


@inlined
def clear_place(store, at, shape):
    """No trends."""
    for number in range(at * shape.n_numbers, (at + 1) * shape.n_numbers):
        clear(store.numbers, number)
    for real in range(at * shape.n_reals, (at + 1) * shape.n_reals):
        clear(store.reals, real)
    store.seen[at] = 0


@inlined
def begin_place(store, at, shape):
    """One trend, without an event yet."""
    clear_place(store, at, shape)
    set_one(store.numbers, at * shape.n_numbers)
    if shape.n_reals:
        set_one(store.reals, at * shape.n_reals)


@inlined
def copy_place(store, at, other, of, shape):
    """The same trends."""
    for number in range(shape.n_numbers):
        for part in range(3):
            store.numbers[at * shape.n_numbers + number, part] = other.numbers[of * shape.n_numbers + number, part]
    for real in range(shape.n_reals):
        for part in range(3):
            store.reals[at * shape.n_reals + real, part] = other.reals[of * shape.n_reals + real, part]
    for extreme in range(shape.n_extremes):
        store.extremes[at * shape.n_extremes + extreme] = other.extremes[of * shape.n_extremes + extreme]
    store.seen[at] = other.seen[of]


@inlined
def has_trends(store, at, shape):
    """Whether there is a trend."""
    return not is_zero(store.numbers, at * shape.n_numbers)


@inlined
def add_place(store, at, other, of, shape):
    """The trends of both."""
    for number in range(shape.n_numbers):
        add(store.numbers, at * shape.n_numbers + number, other.numbers, of * shape.n_numbers + number)
    for real in range(shape.n_reals):
        add(store.reals, at * shape.n_reals + real, other.reals, of * shape.n_reals + real)
    if shape.n_extremes:
        seen = other.seen[of]
        for extreme in range(shape.n_extremes):
            if seen >> extreme & 1:
                key = other.extremes[of * shape.n_extremes + extreme]
                here = at * shape.n_extremes + extreme
                if not store.seen[at] >> extreme & 1 or key < store.extremes[here]:
                    store.extremes[here] = key
        store.seen[at] |= seen


@inlined
def bind_place(store, at, shape, weights, variable, row):
    """All trends of a place have one more event, bound to a variable."""
    trends = at * shape.n_numbers
    if shape.n_numbers + shape.n_reals + shape.n_extremes == 1 or is_zero(store.numbers, trends):
        return
    for number in range(1, shape.n_numbers):
        if weights.number_of[number, variable] and weights.number_valid[number - 1, row]:
            if weights.is_number_counted[number]:
                add(store.numbers, trends + number, store.numbers, trends)
            else:
                weight = weights.number_weights[number - 1, row]
                add_product(store.numbers, trends + number, store.numbers, trends, weight)
    trends = at * shape.n_reals
    for real in range(1, shape.n_reals):
        if weights.real_of[real, variable] and weights.real_valid[real - 1, row]:
            if weights.is_real_counted[real]:
                add(store.reals, trends + real, store.reals, trends)
            else:
                add_product(store.reals, trends + real, store.reals, trends, weights.real_weights[real - 1, row])
    for extreme in range(shape.n_extremes):
        if weights.extreme_of[extreme, variable] and weights.extreme_valid[extreme, row]:
            key = weights.extreme_keys[extreme, row]
            here = at * shape.n_extremes + extreme
            if not store.seen[at] >> extreme & 1 or key < store.extremes[here]:
                store.extremes[here] = key
            store.seen[at] |= 1 << extreme
