"""Patterns of two-row segments, walked by sets of positions, against trying every way."""

from __future__ import annotations

import numpy as np
import pytest
from tests.kernels.forms import in_both_forms, in_form
from tests.modes.segments.kernels.drawing import budget, lists

from sparkrex.modes.segments.kernels.ends import GREATER, LAST_MINUS_FIRST, LESS
from sparkrex.modes.segments.kernels.segments import SPENT
from sparkrex.modes.segments.kernels.steps import Starts, StepPattern, StepTests, step_ends

# Positions 0 and 1 are a rise, 2 is a fall: (rise+ fall)+ | rise, as sets of bits.
BEGINS, FINISHES = 0b011, 0b110
FOLLOWS = np.array([0b101, 0, 0b001])
TESTED_BY = np.array([0b011, 0b100])
N_ROWS = 14


def ends_from(row: int, near: int, far: int, values: np.ndarray) -> set[int]:
    """Where the pattern can end, by following every way."""
    found = set()

    def walk(at: int, position: int) -> None:
        if at >= far:
            return
        rises = values[at + 1] - values[at] > 0
        falls = values[at + 1] - values[at] < 0
        if not (falls if position == 2 else rises):
            return
        if FINISHES >> position & 1 and at + 1 >= near:
            found.add(at + 1)
        for following in range(3):
            if FOLLOWS[position] >> following & 1:
                walk(at + 1, following)

    for position in range(3):
        if BEGINS >> position & 1:
            walk(row, position)
    return found


@in_both_forms
@pytest.mark.parametrize("room", [N_ROWS, 300])
@pytest.mark.parametrize("seed", range(6))
def test_ends(seed: int, room: int, form: str) -> None:
    generator = np.random.default_rng(seed)
    values = generator.integers(0, 4, N_ROWS).astype(np.float64)
    start = np.sort(generator.choice(N_ROWS, seed, replace=False))
    nearest = start + generator.integers(0, 3, seed)
    furthest = np.minimum(start + generator.integers(0, 9, seed), N_ROWS - 1)
    truth, counts = np.zeros((2, N_ROWS), np.uint8), np.zeros(2, np.int64)
    forms, comparisons = np.array([LAST_MINUS_FIRST] * 2), np.array([GREATER, LESS])
    tests = StepTests(forms, comparisons, np.zeros(2), values, values, 0, truth, counts)
    given = (Starts(start, nearest, furthest), StepPattern(BEGINS, FINISHES, FOLLOWS, TESTED_BY), tests)
    found: list[tuple[int, ...]] = []
    place = 0
    while place < seed:
        places, ends = np.empty(room, np.int64), np.empty(room, np.int64)
        n, after = in_form(step_ends, form)(*given, place, 0, places, ends, budget())
        assert after > place
        place = after
        found += lists((n, places, ends))
    assert found == [
        (place, end) for place in range(seed)
        for end in sorted(ends_from(int(start[place]), int(nearest[place]), int(furthest[place]), values))
    ]
    # A row is tested once, whoever asks.
    assert (counts <= N_ROWS).all()
    if seed:
        room_left = (np.empty(300, np.int64), np.empty(300, np.int64))
        assert in_form(step_ends, form)(*given, 0, 0, *room_left, budget(0))[0] == SPENT
