"""Places merged by group, against places of Python's numbers."""

from __future__ import annotations

import numpy as np
import pytest
from tests.kernels.forms import in_form
from tests.modes.trends.kernels.test_places import (
    N_ROWS,
    N_VARIABLES,
    SHAPES,
    Place,
    assert_are,
    drawn_weights,
    new_store,
)

from sparkrex.modes.trends.kernels.merging import merge_places
from sparkrex.modes.trends.kernels.places import Shape, begin_place, bind_place


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("kind", "form"), [
    ("exact", "interpreted"), ("log", "interpreted"), ("object", "interpreted"), ("exact", "compiled"),
    pytest.param("log", "compiled", marks=pytest.mark.slow),
])
@pytest.mark.parametrize("n_groups", [0, 1, 4])
def test_groups_have_the_trends_of_all_their_places(n_groups: int, kind: str, form: str, shape: Shape) -> None:
    random = np.random.default_rng(n_groups)
    weights = drawn_weights(random, shape)
    sizes = random.integers(0, 4, n_groups)
    n_places = int(sizes.sum())
    store = new_store(shape, kind, n_places)
    places = [Place.empty(shape) for _ in range(n_places)]
    for at in range(n_places - 1):  # the last has no trends
        in_form(begin_place)(store, at, shape)
        places[at] = Place.empty(shape, 1)
        for row in random.integers(0, N_ROWS, 3).tolist():
            in_form(bind_place)(store, at, shape, weights, row % N_VARIABLES, row)
            places[at].bind(weights, row % N_VARIABLES, row)
    order = random.permutation(n_places)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    merged = new_store(shape, kind, n_groups)
    in_form(merge_places, form)(store, order, offsets, shape, merged)
    expected = []
    for group in range(n_groups):
        total = Place.empty(shape)
        for at in order[offsets[group] : offsets[group + 1]].tolist():
            total.add(places[at])
        expected.append(total)
    assert_are(merged, shape, expected, kind)
