"""Kernels in both forms: as the Python function that they are, and compiled.

Compiling takes seconds for each, and queries run the compiled ones in `make test` anyway: here that is for
`make test-all`, which also compiles them with checks of bounds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

in_both_forms = pytest.mark.parametrize("form", ["interpreted", pytest.param("compiled", marks=pytest.mark.slow)])


def in_form(kernel: Any, form: str = "interpreted") -> Callable[..., Any]:
    """The kernel as it is run over few rows, or over many; one that waits for Numba, or one that does not."""
    return kernel if form == "compiled" else lambda *arguments: _interpreted(kernel, arguments)


def _interpreted(kernel: Any, arguments: tuple[Any, ...]) -> Any:
    with np.errstate(all="ignore"):
        return kernel.py_func(*arguments)
