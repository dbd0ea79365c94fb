"""Windows over ascending times, against comparing all pairs of rows."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from tests.kernels.forms import in_both_forms, in_form

from sparkrex.modes.events.kernels.windows import first_rows, last_rows, next_set


def drawn(seed: int, kind: type) -> tuple[Any, Any]:
    """Times and where partitions begin; some are empty, and doubles may end with NaN."""
    generator = np.random.default_rng(seed)
    sizes = generator.integers(0, 7, seed % 4)
    parts: list[Any] = [np.cumsum(generator.integers(0, 3, size)).astype(kind) for size in sizes]
    if kind is np.float64:
        for part in parts[::2]:
            part[len(part) - seed % 3 :] = math.nan
    times = np.concatenate([*parts, np.empty(0, kind)])
    return times, np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


@in_both_forms
@pytest.mark.parametrize("kind", [np.uint64, np.float64])
@pytest.mark.parametrize("size", [0, 1, 3, 100])
@pytest.mark.parametrize("seed", range(8))
def test_windows(seed: int, size: int, kind: type, form: str) -> None:
    times, offsets = drawn(seed, kind)
    first = in_form(first_rows, form)(times, offsets, kind(size))
    last = in_form(last_rows, form)(times, offsets, kind(size))
    for low, high in itertools.pairwise(offsets):
        for row in range(low, high):
            before = [k for k in range(low, row + 1) if float(times[row]) - float(times[k]) <= size]
            after = [k for k in range(row, high) if float(times[k]) - float(times[row]) <= size]
            assert first[row] == min(before, default=row + 1), row
            assert last[row] == max(after, default=row - 1), row


@in_both_forms
def test_times_at_the_ends_of_their_type(form: str) -> None:
    times = np.array([0, 1, 2**63, 2**64 - 1], np.uint64)
    offsets = np.array([0, 4])
    size = np.uint64(2**63)
    assert in_form(first_rows, form)(times, offsets, size).tolist() == [0, 0, 0, 2]
    assert in_form(last_rows, form)(times, offsets, size).tolist() == [2, 2, 3, 3]


@in_both_forms
@pytest.mark.parametrize("bits", [[], [0], [1], [0, 1, 0, 0, 1, 0]])
def test_next_set(bits: list[int], form: str) -> None:
    found = in_form(next_set, form)(np.array(bits, np.uint8))
    assert found.tolist() == [
        next((k for k in range(row, len(bits)) if bits[k]), len(bits)) for row in range(len(bits) + 1)
    ]
