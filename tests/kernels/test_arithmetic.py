"""Checked arithmetic, compiled, against Python's unbounded integers; comparisons of doubles as SQL has them."""

from __future__ import annotations

import itertools
import math
import operator
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from tests.kernels.forms import in_both_forms, in_form

import sparkrex as rex
from sparkrex.kernels.arithmetic import add_checked, equal, less, multiply_checked, subtract_checked

if TYPE_CHECKING:
    from collections.abc import Callable

_LOW, _HIGH = -(2**63), 2**63 - 1
_VALUES = [
    _LOW, _LOW + 1, -(2**62), -(10**16) + 1, -3, -1, 0, 1, 2, 3, 2**31, 3_037_000_499, 3_037_000_500, 10**16 - 1,
    2**62, _HIGH,
]


@pytest.mark.parametrize(
    ("kernel", "exact"),
    [(add_checked, operator.add), (subtract_checked, operator.sub), (multiply_checked, operator.mul)],
)
def test_no_operation_wraps(kernel: Any, exact: Callable[[int, int], int]) -> None:
    for a, b in itertools.product(_VALUES, repeat=2):
        result, overflowed = kernel(np.int64(a), np.int64(b))
        expected = exact(a, b)
        if overflowed:
            assert not _LOW < expected <= _HIGH, (a, b)
        else:
            assert int(result) == expected, (a, b)


@pytest.mark.parametrize(
    "column",
    [pa.array([2**62] * 3), pa.array([Decimal("99999999999999.99")] * 3, pa.decimal128(16, 2))],
)
def test_a_product_over_the_match_is_an_error_rather_than_wrong(column: pa.Array) -> None:
    table = pa.table({"x": [1, 2, 3], "m": column})
    with pytest.raises(rex.ExecutionError) as caught:
        rex.sql("SELECT * FROM t MATCH_RECOGNIZE (ORDER BY x PATTERN (A B+) DEFINE B AS B.m * A.m > 1)", t=table)
    assert caught.value.code == "REX405"


@in_both_forms
def test_doubles_are_compared_as_in_sql(form: str) -> None:
    # In ascending order; 0 and -0 are equal.
    values = [-math.inf, -1e308, -1.0, 0.0, 5e-324, 1.0, 1e308, math.inf, math.nan]
    for (i, a), (j, b) in itertools.product(enumerate(values), repeat=2):
        assert bool(in_form(less, form)(a, b)) == (i < j), (a, b)
        assert bool(in_form(equal, form)(a, b)) == (i == j), (a, b)
    assert in_form(equal, form)(0.0, -0.0)
    assert not in_form(less, form)(-0.0, 0.0)
