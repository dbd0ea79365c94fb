"""Kernels in both forms: as the Python function that they are, and compiled.

Compiling takes seconds for each, and queries run the compiled ones in `make test` anyway: here that is for
`make test-all`, which also compiles them with checks of bounds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from sparkrex.kernels.lazy import Kernel

in_both_forms = pytest.mark.parametrize("form", ["interpreted", pytest.param("compiled", marks=pytest.mark.slow)])


def in_form(kernel: Kernel, form: str) -> Callable[..., Any]:
    """The kernel as it is run over few rows, or over many."""
    return kernel.interpreted if form == "interpreted" else kernel
