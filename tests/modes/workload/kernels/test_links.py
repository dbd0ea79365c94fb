"""Links between the slots of two partial matches, against their definition."""

from __future__ import annotations

import numpy as np
import pytest
from tests.kernels.forms import in_both_forms, in_form
from tests.modes.workload.kernels.drawn import drawn_link, drawn_rows, drawn_slot, link_holds

from sparkrex.kernels.lazy import njit
from sparkrex.kernels.null_key import NULL_KEY
from sparkrex.modes.workload.kernels import links as codes
from sparkrex.modes.workload.kernels.links import compares, holds


@njit(nogil=True)
def all_hold(links, left, right, pool, rank, ordinal, cells, found):  # type: ignore[no-untyped-def]
    """Every link between its own two values."""
    for number in range(len(links)):
        found[number] = holds(
            links[number], left[number], right[number], pool, rank, ordinal, cells.row, cells.first, cells.before
        )


@in_both_forms
def test_links_hold_as_defined(form: str) -> None:
    n_true = np.zeros((4, 2), np.int64)
    for seed in range(60):
        random, rows = np.random.default_rng(seed), drawn_rows(seed)
        links, left, right, expected = [], [], [], []
        for _ in range(12):
            kleenes = bool(random.random() < 0.5), bool(random.random() < 0.5)
            link = drawn_link(random, kleenes, (0, 0))
            pair = [drawn_slot(random, rows, is_kleene=is_kleene) for is_kleene in kleenes]
            links.append(rows.place(link))
            left.append(pair[0])
            right.append(pair[1])
            expected.append(link_holds(rows, link, *pair))
            n_true[link[0], int(expected[-1])] += 1
        found = np.zeros(len(links), np.bool_)
        in_form(all_hold, form)(
            np.array(links, np.int64), np.array(left, np.int64), np.array(right, np.int64), rows.pool, rows.rank,
            rows.ordinal, rows.columns(), found,
        )
        assert found.tolist() == expected
    assert n_true.min() > 20


@pytest.mark.parametrize(("operator", "expected"), [
    (codes.LESS, "100"), (codes.LESS_OR_EQUAL, "110"), (codes.EQUAL, "010"), (codes.UNEQUAL, "101"),
    (codes.GREATER_OR_EQUAL, "011"), (codes.GREATER, "001"),
])
def test_comparisons(operator: int, expected: str) -> None:
    assert "".join(str(int(compares.py_func(operator, one, 5))) for one in (4, 5, 6)) == expected
    for pair in ((NULL_KEY, 5), (5, NULL_KEY), (NULL_KEY, NULL_KEY)):
        assert not compares.py_func(operator, *pair)
