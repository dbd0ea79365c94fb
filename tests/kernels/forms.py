"""Kernels in both forms: as the Python function that they are, and compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from sparkrex.kernels.lazy import Kernel

in_both_forms = pytest.mark.parametrize("form", ["interpreted", "compiled"])


def in_form(kernel: Kernel, form: str) -> Callable[..., Any]:
    """The kernel as it is run over few rows, or over many."""
    return kernel.interpreted if form == "interpreted" else kernel
