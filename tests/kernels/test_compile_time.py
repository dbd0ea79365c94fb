"""Kernels compile in less time, to the same code, and nobody else's compilation is changed."""

from __future__ import annotations

import gc
from collections import Counter
from typing import Any

import pytest

import sparkrex.kernels.cached  # noqa: F401  # listens to compilations
from sparkrex.kernels import compile_time
from sparkrex.kernels.arithmetic import multiply_checked

numba = pytest.importorskip("numba")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Counter[bool]:
    """How often Numba looked for a signature, with and without the search for garbage."""
    found: Counter[bool] = Counter()
    find = compile_time._find_signature

    def count(*arguments: Any) -> Any:
        found[gc.isenabled()] += 1
        return find(*arguments)

    monkeypatch.setattr(compile_time, "_find_signature", count)
    return found


def test_a_signature_is_looked_for_once_in_a_kernel(asked: Counter[bool]) -> None:
    numbers = numba.int64, numba.int64
    as_kernel = numba.njit(multiply_checked.py_func)
    as_kernel.compile(numbers)
    n_of_kernel = asked.total()
    assert asked == {False: n_of_kernel}
    asked.clear()
    plain = numba.njit(_copy_of(multiply_checked.py_func, "somebody.else"))
    plain.compile(numbers)
    assert asked == {True: asked.total()}
    assert 2 * n_of_kernel <= asked.total()
    assert _code_of(as_kernel) == _code_of(plain)
    assert gc.isenabled()


def test_a_failure_leaves_nothing_behind(asked: Counter[bool]) -> None:
    def wrong(number: int) -> Any:
        return number + "text"  # type: ignore[operator]

    wrong.__module__ = multiply_checked.py_func.__module__
    with pytest.raises(numba.core.errors.TypingError):
        numba.njit(wrong).compile((numba.int64,))
    assert asked[True] == 0
    assert gc.isenabled()
    assert compile_time.quick_compilation._n_begun == 0


def _copy_of(function: Any, module: str) -> Any:
    copied = type(function)(function.__code__, function.__globals__, function.__name__)
    copied.__module__ = module
    return copied


def _code_of(function: Any) -> list[str]:
    """The instructions, without the name of the function and numbers of what Numba has compiled so far."""
    (text,) = function.inspect_asm().values()
    lines = [line.split("#")[0].strip() for line in text.splitlines()]
    return [line.split()[0] for line in lines if line and not line.startswith(".") and not line.endswith(":")]
