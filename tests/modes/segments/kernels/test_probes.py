"""Probes that are asked once, against asking each."""

from __future__ import annotations

import numpy as np
import pytest
from tests.kernels.forms import in_both_forms, in_form
from tests.modes.segments.kernels.drawing import ENDLESS, budget, lists

from sparkrex.modes.segments.kernels import probes
from sparkrex.modes.segments.kernels.segments import SPENT, TOO_MANY, Limits, Triples

FIRST_ROW, N_ROWS = 5, 12
SEEDS = range(8)


def drawn(seed: int) -> tuple[list[tuple[int, int]], list[tuple[int, int, int]], dict[int, list[int]]]:
    """Base segments as (space, start), the probe of each as (row, low, high), and what is found from every row."""
    generator = np.random.default_rng(seed)
    n = seed * 3
    base = sorted(map(tuple, generator.integers(0, 4, (n, 2)).tolist()))
    low = generator.integers(FIRST_ROW, FIRST_ROW + N_ROWS, n)
    probed = [
        (int(row), int(begin), int(begin + size))
        for row, begin, size in zip(generator.integers(FIRST_ROW, FIRST_ROW + N_ROWS, n), low,
                                    generator.integers(-2, 6, n), strict=True)
    ]
    found = {
        row: sorted(generator.integers(row, FIRST_ROW + N_ROWS + 3, generator.integers(0, 5)).tolist())
        for row in range(FIRST_ROW, FIRST_ROW + N_ROWS)
    }
    return base, probed, found


@in_both_forms
@pytest.mark.parametrize("seed", SEEDS)
def test_each_row_is_asked_once_for_all_that_is_wanted(seed: int, form: str) -> None:
    base, wanted, ends = drawn(seed)
    rows, low, high = (np.array([probe[k] for probe in wanted], np.int64) for k in range(3))
    n, probed, lows, highs, place = in_form(probes.shared_probes, form)(rows, low, high, FIRST_ROW, N_ROWS)
    asked = [probe for probe in wanted if probe[1] <= probe[2]]
    expected: dict[int, tuple[int, int]] = {}
    for row, begin, end in asked:
        least, most = expected.get(row, (begin, end))
        expected[row] = (min(least, begin), max(most, end))
    assert lists((n, probed, lows, highs)) == [(row, *bounds) for row, bounds in expected.items()]
    numbers = {row: number for number, row in enumerate(expected)}
    assert place.tolist() == [numbers[row] if begin <= end else -1 for row, begin, end in wanted]

    # What the probes find, in the order of the probes.
    found = [(number, end) for number, row in enumerate(expected) for end in ends[row]]
    offsets = in_form(probes.offsets_of, form)(np.array([number for number, _ in found], np.int64), n)
    assert offsets.tolist() == [sum(number < k for number, _ in found) for k in range(n + 1)]
    found_end = np.array([end for _, end in found], np.int64)
    pairs = [
        (item, at) for item, (row, begin, end) in enumerate(wanted) for at, (number, other) in enumerate(found)
        if begin <= end and numbers[row] == number and begin <= other <= end
    ]
    find = in_form(probes.probed_pairs, form)
    given = probes.Probed(low, high, place, offsets, found_end)
    assert lists(find(given, Limits(1, ENDLESS, budget()))) == pairs
    if pairs:
        assert find(given, Limits(1, len(pairs) - 1, budget()))[0] == TOO_MANY
        assert find(given, Limits(1, ENDLESS, budget(given_up=True)))[0] == SPENT

    distinct = sorted({(*base[item], found[at][1]) for item, at in pairs})
    space, start = (np.array([segment[k] for segment in base], np.int64) for k in range(2))
    find = in_form(probes.probed_distinct, form)
    longest, segments = FIRST_ROW + N_ROWS + 3, Triples(space, start, start)
    assert lists(find(segments, given, Limits(longest, ENDLESS, budget()))) == distinct
    if distinct:
        assert find(segments, given, Limits(longest, len(distinct) - 1, budget()))[0] == TOO_MANY
        assert find(segments, given, Limits(longest, ENDLESS, budget(0)))[0] == SPENT
