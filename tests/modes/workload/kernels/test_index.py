"""The index of a side of a join, and what may be looked for in it."""

from __future__ import annotations

import numpy as np
import pytest
from tests.modes.workload.kernels.drawn import OPERATORS

from sparkrex.kernels.null_key import NULL_KEY
from sparkrex.modes.workload.kernels import codes
from sparkrex.modes.workload.kernels import links as link_codes
from sparkrex.modes.workload.kernels.index import LARGEST_KEY, enter_side, fill_index, key_range, pass_over


@pytest.mark.parametrize("operator", [one for one in OPERATORS if one != link_codes.UNEQUAL])
def test_the_range_of_keys_of_the_other_side(operator: int) -> None:
    holds = OPERATORS[operator]
    values = np.array([int(NULL_KEY) + 1, int(NULL_KEY) + 2, -1, 0, 1, LARGEST_KEY - 1, LARGEST_KEY], np.int64)
    for own in values:
        for is_left in (True, False):
            low, high = key_range.py_func(operator, own, is_left)
            for other in values:
                assert (low <= other <= high) == (holds(own, other) if is_left else holds(other, own))
            assert not low <= NULL_KEY <= high
    low, high = key_range.py_func(operator, NULL_KEY, True)
    assert low > high


def test_an_index_has_what_the_window_has() -> None:
    """Instances come one by one; the window has the last hundred, of which those with the key are in the chain."""
    random = np.random.default_rng(7)
    n = 700
    keys = random.integers(-4, 4, n)
    pool = np.concatenate([keys, np.zeros(4096, np.int64)])
    sides, at = np.zeros((1, 2, codes.N_SIDE_FIELDS), np.int64), np.zeros(codes.N_AT, np.int64)
    at[codes.USED] = n
    with np.errstate(all="ignore"):
        for end in range(0, n, 7):
            sides[0, 1, codes.HEAD] = head = max(0, end - 100)
            assert fill_index.py_func(0, 1, end, 0, sides, pool, at)
            index, mask = int(sides[0, 1, codes.INDEX]), int(sides[0, 1, codes.SIZE]) - 1
            found: list[int] = []
            for bucket in range(mask + 1):
                place = int(pool[index + bucket]) if mask >= 0 else -1
                while place >= head:
                    found.append(place)
                    place = int(pool[index + mask + 1 + (place & mask)])
            assert sorted(found) == list(range(head, end))
    assert mask == 127
    assert not fill_index.py_func(0, 0, n, 0, sides, pool[: int(at[codes.USED])], at)


def test_what_ends_before_the_window_is_passed_over_for_good() -> None:
    pool, sides = np.array([1, 1, 4, 6, 9]), np.zeros((1, 2, codes.N_SIDE_FIELDS), np.int64)
    for end, bound, expected in ((5, 0, 0), (5, 4, 2), (5, 2, 2), (3, 9, 3), (5, 9, 4), (5, 99, 5)):
        assert pass_over.py_func(0, 1, end, bound, 0, sides, pool) == expected
        assert sides[0, 1, codes.HEAD] == expected


def test_places_that_have_moved_are_forgotten() -> None:
    pool, sides, at = np.arange(600), np.zeros((1, 2, codes.N_SIDE_FIELDS), np.int64), np.zeros(codes.N_AT, np.int64)
    at[codes.USED] = 100
    with np.errstate(all="ignore"):
        fill_index.py_func(0, 0, 50, 0, sides, pool, at)
        index = slice(100, 100 + sides[0, 0, codes.SIZE])
        sides[0, 0, codes.HEAD] = 20
        enter_side.py_func(0, 0, 0, sides, pool)  # nothing has moved
        assert sides[0, 0].tolist() == [20, 0, 50, 64, 100]
        assert (pool[index] >= 0).any()
        enter_side.py_func(0, 0, 1, sides, pool)
    assert sides[0, 0].tolist() == [0, 1, 0, 64, 100]
    assert (pool[index] == -1).all()
