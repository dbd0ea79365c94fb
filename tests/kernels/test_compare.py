"""Comparisons of terms, against the definition, row by row."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np
import pytest
from tests.kernels.forms import in_both_forms, in_form

from sparkrex.kernels import compare as kernel

if TYPE_CHECKING:
    from numpy.typing import NDArray

NUMBERS: dict[str, list[Any]] = {
    "float64": [math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, 1.5, -1.0, 5e-324, 1.7976931348623157e308],
    "int64": [-(2**63), 2**63 - 1, 0, 1, -1, 2**53, 2**53 + 1],
}


def less(left: Any, right: Any) -> bool:
    """NaN is above every number."""
    return bool(left == left and (right != right or left < right))


def equal(left: Any, right: Any) -> bool:
    """NaN equals NaN."""
    return bool(left == right or (left != left and right != right))


@in_both_forms
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("type_", NUMBERS)
def test_comparisons_hold_as_defined(form: str, type_: str, seed: int) -> None:
    random = np.random.default_rng(seed)
    n_rows = int(random.integers(1, 90))
    columns = [random.choice(np.array(NUMBERS[type_], type_), n_rows) for _ in range(kernel.MOST_COLUMNS)]
    terms = np.array([[random.integers(-1, 4), random.integers(-3, 4)] for _ in range(5)], np.int64)
    factors = random.choice(np.array(NUMBERS[type_], type_), 5)
    if type_ == "int64":
        factors[terms[:, 0] >= 0] = 1  # integers are never multiplied
    lines = random.permutation(4)[:3].astype(np.int64)
    rows = sorted(
        [int(random.integers(0, 3)), int(random.integers(0, 2)), int(random.integers(0, 2)), *random.integers(0, 5, 2)]
        for _ in range(6)
    )
    comparisons = np.array(rows, np.int64)
    begin, end = sorted(random.integers(0, n_rows + 1, 2).tolist())
    truths = np.full((4, n_rows), 7, np.uint8)
    with mock.patch.object(kernel, "_BLOCK", 16 if form == "interpreted" else kernel._BLOCK):
        read = [column.view() for column in columns]
        for column in read:
            column.flags.writeable = False
        in_form(kernel.hold_comparisons, form)(
            *read, terms, factors, comparisons, begin, end, lines, truths
        )
    expected = np.full((4, n_rows), 7, np.int64)
    with np.errstate(all="ignore"):
        for row in range(begin, end):
            values = [value_of(columns, term, factor, row) for term, factor in zip(terms, factors, strict=True)]
            for place in {int(each[0]) for each in rows}:
                tests = [each for each in rows if each[0] == place]
                if any(values[int(side)] is None for each in tests for side in each[3:]):
                    truths[lines[place], row] = expected[lines[place], row] = 0  # anything
                    continue
                expected[lines[place], row] = all(
                    (less, equal)[kind](values[int(left)], values[int(right)]) != bool(denied)
                    for _, kind, denied, left, right in tests
                )
    assert truths.tolist() == expected.tolist()


def value_of(columns: list[NDArray[Any]], term: NDArray[np.int64], factor: Any, row: int) -> Any:
    """A term's value; None where it reads no row."""
    if term[0] < 0:
        return factor
    place = row + int(term[1])
    return columns[int(term[0])][place] * factor if 0 <= place < len(columns[0]) else None
