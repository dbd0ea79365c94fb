"""Parts of kernels: Python runs them interpreted, kernels compile them in, and both give the same."""

from __future__ import annotations

import numpy as np
import pytest

from sparkrex.kernels.inlined import allocating, inlined, shared
from sparkrex.kernels.lazy import Kernel, njit


@inlined
def _twice(x):  # type: ignore[no-untyped-def]
    return 2 * x


@shared
def _plus(x, y):  # type: ignore[no-untyped-def]
    return x + _twice(y)


@allocating
def _steps(n):  # type: ignore[no-untyped-def]
    found = np.empty(n, np.int64)
    for i in range(n):
        found[i] = _plus(i, 10)
    return found


@njit(nogil=True)
def _sum_of_steps(n):  # type: ignore[no-untyped-def]
    return _steps(n).sum()


def test_python_runs_a_part_without_compiling_it() -> None:
    assert _steps(3).tolist() == [20, 21, 22]
    assert all(part._dispatcher is None for part in (_twice, _plus, _steps))


def test_a_kernel_contains_its_parts() -> None:
    assert _sum_of_steps(3) == _sum_of_steps.interpreted(3) == 63


@pytest.mark.parametrize("part", [_twice, _plus, _steps])
def test_a_part_has_no_way_in_for_python(part: Kernel) -> None:
    assert part._options["no_cpython_wrapper"]
    assert part._options["no_cfunc_wrapper"]
    # Reference counts are left to what allocates.
    assert part._options.get("_nrt", True) == (part is _steps)
