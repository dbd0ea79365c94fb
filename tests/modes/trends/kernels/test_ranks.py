"""Keys in order, against `sorted` and `bisect`."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

import numpy as np
import pytest
from tests.kernels.forms import in_both_forms, in_form

from sparkrex.kernels.lazy import njit
from sparkrex.kernels.null_key import NULL_KEY
from sparkrex.modes.trends.kernels.ranks import lower_bound, sort_keys, upper_bound

LEAST, MOST = -(2**63) + 1, 2**63 - 1


@njit(nogil=True)
def find(keys, n_keys, room, asked, low, high):  # type: ignore[no-untyped-def]
    """The keys in order, and where those that are asked for stand."""
    n_left = sort_keys(keys, n_keys, room)
    for place in range(len(asked)):
        low[place] = lower_bound(keys, n_left, asked[place])
        high[place] = upper_bound(keys, n_left, asked[place])
    return n_left


@in_both_forms
@pytest.mark.parametrize("n_values", [3, 40, 10**6])
@pytest.mark.parametrize("n_keys", [0, 1, 2, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 65, 500, 1025])
def test_keys_in_order(n_keys: int, n_values: int, form: str) -> None:
    random = np.random.default_rng(n_keys)
    some = np.concatenate([[NULL_KEY, LEAST, MOST, 0], random.integers(LEAST, MOST, n_values)])
    drawn = random.choice(some, n_keys)
    for given in (drawn, np.sort(drawn), np.sort(drawn)[::-1]):
        keys = np.concatenate([given, np.full(3, 5)])  # what is behind them is not touched
        asked = np.concatenate([given[::3], some[:10]])
        low, high = np.zeros((2, len(asked)), np.int64)
        n_left = in_form(find, form)(keys, n_keys, np.empty(n_keys, np.int64), asked, low, high)
        expected = sorted({*given.tolist()} - {int(NULL_KEY)})
        assert keys[:n_left].tolist() == expected
        assert keys[n_keys:].tolist() == [5, 5, 5]
        assert low.tolist() == [bisect_left(expected, key) for key in asked.tolist()]
        assert high.tolist() == [bisect_right(expected, key) for key in asked.tolist()]
