"""Kernels that wait for Numba: the same results, also when one calls another, and from several threads at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from sparkrex.kernels.lazy import njit


@njit(nogil=True)
def _twice(x):  # type: ignore[no-untyped-def]
    return 2 * x


@njit(nogil=True)
def _sum_of_doubles(values):  # type: ignore[no-untyped-def]
    total = 0
    for value in values:
        total += _twice(value)
    return total


def test_one_kernel_calls_another_from_many_threads() -> None:
    values = np.arange(1000)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(_sum_of_doubles, [values] * 8))
    assert results == [int(2 * values.sum())] * 8
    assert len(_sum_of_doubles.dispatcher.signatures) == 1
    assert _sum_of_doubles.py_func(values[:3]) == 6
