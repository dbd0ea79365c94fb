"""`njit` that waits: importing a module of kernels does not import Numba, calling one of its kernels does.

A query that needs other kernels should not pay for these. A kernel that calls no other kernel can also run as the plain
Python function it is: over a few rows that takes less time than importing Numba and loading compiled code.
"""

from __future__ import annotations

from functools import update_wrapper
from threading import RLock
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

FEW_ROWS = 2_000
"""So many rows are walked in plain Python in less time than it takes to load a kernel."""

# Kernels are called from threads, and asked for while a kernel that calls them is compiled.
_lock = RLock()


class Kernel:
    """A function that is compiled, or loaded from the cache, when it is first called from Python or from a kernel."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self._options = options
        self._dispatcher: Any = None

    @property
    def dispatcher(self) -> Any:
        """Numba's own object."""
        if self._dispatcher is None:
            with _lock:
                if self._dispatcher is None:
                    from sparkrex.kernels import cached

                    self._dispatcher = cached.njit(**self._options)(self.py_func)
        return self._dispatcher

    @property
    def _numba_type_(self) -> Any:
        """What Numba takes this object for where a kernel calls it."""
        return self.dispatcher._numba_type_

    def __call__(self, *arguments: Any) -> Any:
        if "no_cpython_wrapper" in self._options:
            return self.interpreted(*arguments)  # a part of kernels has no way in for Python
        return self.dispatcher(*arguments)

    def interpreted(self, *arguments: Any) -> Any:
        """The kernel as plain Python. Compiled code computes with infinities and NaN in silence, and so does this."""
        with np.errstate(all="ignore"):
            return self.py_func(*arguments)


def njit(**options: Any) -> Callable[[Callable[..., Any]], Kernel]:
    """In place of Numba's decorator of that name. The way in for C, which nobody takes, is not compiled."""
    return lambda function: Kernel(function, {"no_cfunc_wrapper": True, **options})


def kernel_for(kernel: Kernel, n_rows: int) -> Callable[..., Any]:
    """The kernel in the form that suits so many rows."""
    return kernel.interpreted if n_rows <= FEW_ROWS else kernel
