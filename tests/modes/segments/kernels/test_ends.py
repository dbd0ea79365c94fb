"""Conditions on the values in a segment's first and last row, against testing every segment."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from tests.kernels.forms import in_both_forms, in_form
from tests.modes.segments.kernels.drawing import ENDLESS, Batch, budget, drawn_batch, lists, room_for, uneven

from sparkrex.modes.segments.kernels import ends as kernels
from sparkrex.modes.segments.kernels.segments import SPENT, TOO_MANY, Ranges

FORMS = range(6)
COMPARISONS = range(4)
SHIFT = 2
"""Blocks of four rows."""


def holds(form: int, comparison: int, threshold: float, first: float, last: float) -> bool:
    """The condition, straight from the names."""
    dividend, divisor = (last, first) if form == kernels.LAST_OVER_FIRST else (first, last)
    if form in (kernels.LAST_OVER_FIRST, kernels.FIRST_OVER_LAST) and divisor == 0:
        return False
    value = {
        kernels.LAST_MINUS_FIRST: last - first, kernels.FIRST_MINUS_LAST: first - last, kernels.LAST_ALONE: last,
        kernels.FIRST_ALONE: first,
    }.get(form)
    if value is None:
        value = dividend / divisor
    return [value < threshold, value <= threshold, value > threshold, value >= threshold][comparison]


VALUES = [-math.inf, -2.0, -0.5, 0.0, -0.0, 0.1, 1.0, 2.0, math.inf, math.nan]


@in_both_forms
@pytest.mark.parametrize("form_of", FORMS)
def test_one_pair_and_many(form_of: int, form: str) -> None:
    pairs = [(a, b) for a in VALUES for b in VALUES]
    firsts, lasts = (np.array([pair[k] for pair in pairs]) for k in range(2))
    for comparison in COMPARISONS:
        for threshold in (-1.0, 0.0, 0.5, 2.0):
            test = (form_of, comparison, threshold)
            expected = [holds(*test, *pair) for pair in pairs]
            if form == "interpreted":
                assert [bool(kernels.end_holds(*test, np.float64(a), np.float64(b))) for a, b in pairs] == expected
            room, result = np.empty(len(pairs)), np.zeros(len(pairs), np.bool_)
            in_form(kernels.ends_hold, form)(*test, firsts, lasts, room, result)
            assert result.tolist() == expected, test


def test_what_is_wanted_at_the_end_is_monotone() -> None:
    """If the condition holds for a value, it holds for all values on the wanted side of it."""
    ordered = [-2.0, -0.5, 0.0, 0.1, 1.0, 3.0]
    positive = [value for value in ordered if value > 0]
    for form_of in FORMS:
        for comparison in COMPARISONS:
            for first in ordered:
                for is_positive in (False, True):
                    wants = kernels.wanted_end(form_of, comparison, first, is_positive)
                    lasts = positive if is_positive else [value for value in ordered if value != 0]
                    for threshold in (-1.0, 0.0, 0.5, 2.0):
                        truth = [holds(form_of, comparison, threshold, first, last) for last in lasts]
                        if wants == kernels.SMALL:
                            assert truth == sorted(truth, reverse=True)
                        elif wants == kernels.LARGE:
                            assert truth == sorted(truth)
                        else:
                            assert form_of == kernels.FIRST_ALONE or not is_positive


@in_both_forms
@pytest.mark.parametrize("n", [1, 4, 5, 11])
def test_extremes_of_blocks(n: int, form: str) -> None:
    values = np.random.default_rng(n).normal(size=n)
    n_blocks = (n + 3) >> SHIFT
    smallest, largest = np.empty(n_blocks), np.empty(n_blocks)
    in_form(kernels.block_extremes, form)(values, SHIFT, smallest, largest)
    blocks = [values[4 * k : 4 * k + 4] for k in range(n_blocks)]
    assert smallest.tolist() == [block.min() for block in blocks]
    assert largest.tolist() == [block.max() for block in blocks]


def drawn(seed: int) -> tuple[Batch, tuple[Any, ...], np.ndarray, np.ndarray]:
    """A batch with a window (of one length, of rows, of its own for every row) and values at first and last rows."""
    generator = np.random.default_rng(seed)
    batch = drawn_batch(generator)
    frame = batch.frame
    if seed % 3 == 1:
        batch = uneven(batch, generator)
        frame = batch.frame_by_row
    elif seed % 3 == 2:
        rows, last = np.arange(batch.n_rows), np.repeat(batch.end_high, np.diff(batch.offsets))
        batch = Batch(batch.offsets, batch.low, batch.low, rows + batch.low - 1, np.minimum(rows + batch.low - 1, last))
        frame = batch.frame
    firsts, lasts = (np.round(generator.normal(size=batch.n_rows), 1) for _ in range(2))
    if seed % 2:
        lasts = np.abs(lasts) + 0.1
    return batch, frame, firsts, lasts


@in_both_forms
@pytest.mark.parametrize("form_of", FORMS)
@pytest.mark.parametrize("seed", range(12))
def test_segments_for_which_the_condition_holds(seed: int, form_of: int, form: str) -> None:
    batch, frame, firsts, lasts = drawn(seed)
    comparison, threshold = seed % 4, float(seed % 3) - 0.5
    n_blocks = (batch.n_rows + 3) >> SHIFT
    smallest, largest = np.empty(n_blocks), np.empty(n_blocks)
    kernels.block_extremes.interpreted(lasts, SHIFT, smallest, largest)
    compared = kernels.Compared(form_of, comparison, threshold, bool((lasts > 0).all()))
    expected = [
        line for line in batch.segments if holds(form_of, comparison, threshold, firsts[line[1]], lasts[line[2]])
    ]
    given = (batch.ranges, frame, compared, kernels.EndValues(firsts, lasts, SHIFT, smallest, largest))
    find = in_form(kernels.end_segments, form)
    for size in (9, 500):
        found: list[tuple[int, ...]] = []
        space, start, n_tested = 0, -1, 0
        while space < batch.n_spaces:
            buffers = room_for(size)
            n, space, start, tested = find(*given, space, start, 0, buffers, budget())
            assert n > 0 or space == batch.n_spaces or tested > 0
            found += lists((n, *buffers))
            n_tested += tested
        assert found == expected
        assert n_tested >= len(expected)
    if batch.segments:
        assert find(*given, 0, -1, 0, room_for(500), budget(0))[0] == SPENT
    result = np.zeros(len(expected), np.bool_)
    in_form(kernels.end_tests, form)(
        compared, firsts, lasts, np.array([line[1] for line in expected], np.int64),
        np.array([line[2] for line in expected], np.int64), result,
    )
    assert result.all()


@in_both_forms
@pytest.mark.parametrize("seed", range(6))
def test_points(seed: int, form: str) -> None:
    generator = np.random.default_rng(seed)
    bounds = np.sort(generator.integers(0, 12, (seed, 2, 2)), axis=2).reshape(-1, 4)
    ranges = Ranges(*(np.ascontiguousarray(bounds[:, k]) for k in range(4)))
    rows = np.flatnonzero(generator.random(12) < 0.6)
    inside = [
        (space, row) for space, (a, b, c, d) in enumerate(bounds.tolist()) for row in range(max(a, c), min(b, d) + 1)
    ]
    expected = [pair for pair in inside if pair[1] in rows]
    assert in_form(kernels.n_points, form)(ranges) == len(inside)
    assert lists(in_form(kernels.points_in, form)(ranges, rows, ENDLESS)) == expected
    if expected:
        assert in_form(kernels.points_in, form)(ranges, rows, len(expected) - 1)[0] == TOO_MANY
