"""AFTER MATCH SKIP over segments, against choosing one after the other."""

from __future__ import annotations

import numpy as np
import pytest
from tests.kernels.forms import in_both_forms, in_form

from sparkrex.modes.segments.kernels.skip import choose


@in_both_forms
@pytest.mark.parametrize("seed", range(10))
def test_choosing(seed: int, form: str) -> None:
    generator = np.random.default_rng(seed)
    n = seed * 2
    start = generator.integers(0, 12, n)
    following = start + generator.integers(1, 5, n)
    order = np.lexsort((generator.random(n), start))
    expected = []
    next_start = -1
    for place in order.tolist():
        if start[place] >= next_start:
            expected.append(place)
            next_start = following[place]
    is_chosen = np.zeros(n, np.bool_)
    assert in_form(choose, form)(order, start, following, is_chosen) == -1
    assert sorted(expected) == np.flatnonzero(is_chosen).tolist()


@in_both_forms
def test_a_skip_that_leads_nowhere_ends_the_pass(form: str) -> None:
    start, following = np.array([0, 3, 4]), np.array([2, 3, 9])
    is_chosen = np.zeros(3, np.bool_)
    assert in_form(choose, form)(np.arange(3), start, following, is_chosen) == 1
    assert is_chosen.tolist() == [True, True, False]
