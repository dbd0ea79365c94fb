"""Windows, candidates and joins of segments, against all pairs of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.kernels.forms import in_both_forms, in_form
from tests.modes.segments.kernels.drawing import (
    ENDLESS,
    Batch,
    Lines,
    arrays,
    budget,
    drawn_batch,
    lists,
    room_for,
    some_of,
    uneven,
)

from sparkrex.modes.segments.kernels import segments as kernels
from sparkrex.modes.segments.kernels.segments import GIVEN_UP, SPENT, STEPS_LEFT, TOO_MANY, Lefts, Limits, Ranges

SEEDS = range(10)


def drawn(seed: int) -> tuple[np.random.Generator, Batch]:
    generator = np.random.default_rng(seed)
    batch = drawn_batch(generator)
    return generator, uneven(batch, generator) if seed % 2 else batch


def frame_of(batch: Batch, seed: int) -> tuple[Any, ...]:
    return batch.frame_by_row if seed % 2 else batch.frame


@in_both_forms
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", [None, np.int64, np.float64])
def test_windows(kind: type | None, seed: int, form: str) -> None:
    generator, batch = drawn(seed)
    low, high = (int(number) for number in np.sort(generator.integers(0, 8, 2)))
    values = np.arange(batch.n_rows) if kind is None else np.cumsum(generator.integers(0, 3, batch.n_rows)).astype(kind)
    first_end, last_end = np.arange(batch.n_rows), np.repeat(batch.offsets[1:] - 1, np.diff(batch.offsets))
    if kind is None:
        low, high = max(low, 1), max(high, 1)
        in_form(kernels.row_window, form)(batch.offsets, low, high, first_end, last_end)
    else:
        has_high = seed % 3 > 0
        bounds = (kind(low), kind(high))
        in_form(kernels.value_window, form)(batch.offsets, values, *bounds, has_high, first_end, last_end)
        high = high if has_high else 10**9
    for start in range(batch.n_rows):
        for end in range(start, int(batch.offsets[batch.space_of(start) + 1])):
            length = values[end] - values[start] + (kind is None)
            assert (first_end[start] <= end <= last_end[start]) == (low <= length <= high), (start, end)


@in_both_forms
@pytest.mark.parametrize("seed", SEEDS)
def test_a_window_turned_around(seed: int, form: str) -> None:
    _, batch = drawn(seed)
    first_start, last_start = np.full(batch.n_rows, -9), np.full(batch.n_rows, -9)
    in_form(kernels.turn_around, form)(batch.offsets, batch.first_end, batch.last_end, first_start, last_start)
    for end in range(batch.n_rows):
        for start in range(int(batch.offsets[batch.space_of(end)]), end + 1):
            assert (first_start[end] <= start <= last_start[end]) == batch.fits(start, end), (start, end)


def drawn_spaces(batch: Batch, generator: np.random.Generator) -> np.ndarray[Any, Any]:
    """First and last start, first and last end of some spaces, each in one partition; some are empty."""
    found = []
    for _ in range(generator.integers(0, 5)):
        partition = generator.integers(0, batch.n_spaces)
        low, high = batch.offsets[partition], batch.offsets[partition + 1]
        found.append([*np.sort(generator.integers(low, high, 2)), *np.sort(generator.integers(low, high, 2))])
        if generator.random() < 0.2:
            found[-1][2:] = [high - 1, low]
    return np.array(found, np.int64).reshape(-1, 4)


@in_both_forms
@pytest.mark.parametrize("room", [8, 50, 1_000])
@pytest.mark.parametrize("seed", SEEDS)
def test_candidates_come_in_pieces_that_fit(seed: int, room: int, form: str) -> None:
    generator, batch = drawn(seed)
    spaces = drawn_spaces(batch, generator)
    expected = [
        (number, start, end)
        for number, (start_low, start_high, end_low, end_high) in enumerate(spaces.tolist())
        for start in range(start_low, start_high + 1) for end in range(end_low, end_high + 1)
        if batch.fits(start, end)
    ]
    found: list[tuple[int, ...]] = []
    space, start = 0, -1
    buffers = room_for(room)
    ranges = Ranges(*(np.ascontiguousarray(spaces[:, k]) for k in range(4)))
    while space < len(spaces):
        n, space, start = in_form(kernels.fill_candidates, form)(ranges, frame_of(batch, seed), space, start, buffers)
        assert n > 0 or space == len(spaces)
        found += lists((n, *buffers))
    assert found == expected


@in_both_forms
@pytest.mark.parametrize("seed", SEEDS)
def test_which_segments_fit(seed: int, form: str) -> None:
    _, batch = drawn(seed)
    pairs = [
        (start, end) for start in range(batch.n_rows) for end in range(start, batch.n_rows)
        if batch.space_of(start) == batch.space_of(end)
    ]
    result = np.zeros(len(pairs), np.bool_)
    start, end = (np.array([pair[k] for pair in pairs]) for k in range(2))
    in_form(kernels.fits, form)(frame_of(batch, seed), start, end, result)
    assert result.tolist() == [batch.fits(*pair) for pair in pairs]


def sides(seed: int) -> tuple[Batch, Lines, Lines, list[tuple[int, int]]]:
    """Two lists of segments, and from where to where what joins each of the first may start."""
    generator, batch = drawn(seed)
    pairs = [
        (batch.space_of(s), s, e) for s in range(batch.n_rows) for e in range(s, batch.n_rows)
        if batch.space_of(s) == batch.space_of(e)
    ]
    left, right = some_of(pairs, generator), some_of(pairs, generator)
    return batch, left, right, [(end + seed % 2, end + seed % 2 + int(generator.integers(0, 3))) for _, _, end in left]


def joined(seed: int) -> tuple[Batch, tuple[Any, ...], list[tuple[int, int]]]:
    """What is to be joined, as arguments, and the pairs of places that are joined."""
    batch, left, right, reach = sides(seed)
    space, start, _ = arrays(left)
    first, last = (np.array([pair[k] for pair in reach], np.int64) for k in range(2))
    arguments = (Lefts(space, start, first, last), arrays(right), batch.ranges, frame_of(batch, seed))
    pairs = [
        (i, j)
        for i, (space_of, begin, _) in enumerate(left) for j, (other, middle, end) in enumerate(right)
        if space_of == other and reach[i][0] <= middle <= reach[i][1] and batch.fits(begin, end)
    ]
    return batch, arguments, pairs


@in_both_forms
@pytest.mark.parametrize("seed", SEEDS)
def test_joins(seed: int, form: str) -> None:
    batch, arguments, pairs = joined(seed)
    space, start, right_end = arguments[0].space, arguments[0].start, arguments[1].end
    distinct = sorted({(int(space[i]), int(start[i]), int(right_end[j])) for i, j in pairs})
    assert lists(in_form(kernels.join_pairs, form)(*arguments, Limits(1, ENDLESS, budget()))) == pairs
    found = in_form(kernels.join_distinct, form)(*arguments, Limits(batch.longest, ENDLESS, budget()))
    assert lists(found) == distinct
    if len(pairs) > 1:
        assert in_form(kernels.join_pairs, form)(*arguments, Limits(1, len(pairs) - 1, budget()))[0] == TOO_MANY
        assert in_form(kernels.join_pairs, form)(*arguments, Limits(1, len(pairs), budget()))[0] == len(pairs)
        few = Limits(batch.longest, len(distinct) - 1, budget())
        assert in_form(kernels.join_distinct, form)(*arguments, few)[0] == TOO_MANY
        for spent in (budget(0), budget(given_up=True)):
            for kernel in (kernels.join_pairs, kernels.join_distinct):
                limits = Limits(batch.longest, ENDLESS, spent.copy())
                assert in_form(kernel, form)(*arguments, limits)[0] == SPENT


@in_both_forms
@pytest.mark.parametrize("seed", SEEDS)
def test_equal_segments(seed: int, form: str) -> None:
    _, left, right, _ = sides(seed)
    # Segments with different bindings are there more than once.
    left, right = sorted(left + left[::3]), sorted(right + right[::2])
    pairs = [(i, j) for i, one in enumerate(left) for j, other in enumerate(right) if one == other]
    assert lists(in_form(kernels.same_segments, form)(arrays(left), arrays(right), ENDLESS)) == pairs
    if pairs:
        assert in_form(kernels.same_segments, form)(arrays(left), arrays(right), len(pairs) - 1)[0] == TOO_MANY
    found = np.zeros(len(left), np.bool_)
    in_form(kernels.is_among, form)(arrays(left), arrays(right), found)
    assert found.tolist() == [one in right for one in left]


def test_the_first_place_from_a_start_on() -> None:
    lines = [(0, 1, 0), (0, 1, 0), (0, 4, 0), (2, 0, 0), (2, 3, 0)]
    space, start, _ = arrays(lines)
    for wanted in [(0, 0), (0, 1), (0, 2), (0, 9), (1, 5), (2, 0), (2, 4), (3, 0)]:
        for low in range(len(lines) + 1):
            expected = next((k for k in range(low, len(lines)) if lines[k][:2] >= wanted), len(lines))
            assert kernels.first_from.interpreted(space, start, low, *wanted) == expected


@pytest.mark.parametrize("lengths", [[], [3], [5, 1, 4], [900, 2, 450], list(range(40, 0, -1))])
def test_lengths_are_put_in_order(lengths: list[int]) -> None:
    seen = np.full(1_000, -1)
    seen[lengths] = 7
    seen[next(k for k in range(2, 50) if k not in lengths)] = 5  # a mark of another group
    given = np.array([*lengths, -1, -1])
    kernels.put_in_order.interpreted(given, len(lengths), seen, 7)
    assert given.tolist() == [*sorted(lengths), -1, -1]


def test_an_array_grows_to_twice_its_size_or_to_what_is_needed() -> None:
    array = np.arange(4)
    for length, size in [(5, 8), (20, 20)]:
        larger = kernels.grown.interpreted(array, length)
        assert (len(larger), larger[:4].tolist(), larger.dtype) == (size, [0, 1, 2, 3], array.dtype)


def test_a_budget_is_spent_when_it_is_below_zero_or_given_up() -> None:
    steps = budget(5)
    assert [bool(kernels.is_spent(steps, 3)), bool(kernels.is_spent(steps, 2)), bool(kernels.is_spent(steps, 1))] == [
        False, False, True,
    ]
    assert (steps[STEPS_LEFT], steps[GIVEN_UP]) == (-1, 0)
    assert kernels.is_spent(budget(given_up=True), 1)
