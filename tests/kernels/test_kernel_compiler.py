"""Parts of kernels have no machine code of their own; kernels that contain them run, compiled or loaded."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("numba")
pytestmark = pytest.mark.slow  # every test starts processes that compile

# A part that two others call, which a kernel calls: it comes into the kernel on two ways.
SOURCE = """
import numpy as np
from sparkrex.kernels.inlined import inlined, shared
from sparkrex.kernels.lazy import njit

@inlined
def twice(x):
    return 2 * x

@shared
def one_more(x):
    return twice(x) + 1

@shared
def one_less(x):
    return twice(x) - 1

@njit(cache=True, nogil=True, _nrt=False)
def product(pair):
    numbers, factor = pair
    total = 0
    for i in range(numbers.shape[0]):
        if numbers[i] < 0:
            return -1
        total += one_more(numbers[i]) * one_less(numbers[i]) * factor
    return total
"""
RUN = """
import sys
import numpy as np
import sparkrex.kernels
sys.path.insert(0, sys.argv[1])
sparkrex.kernels.__path__.append(sys.argv[1])
from sparkrex.kernels import sample
print(sample.product((np.array([1, 2]), 10)), sample.product((np.array([1, -2]), 10)))
print(sum(sample.product.dispatcher.stats.cache_hits.values()))
print(len(sample.twice.dispatcher.overloads) and [
    function.name for result in sample.twice.dispatcher.overloads.values()
    for function in result.library.get_defined_functions()
])
"""


def test_parts_are_linked_and_their_kernel_is_cached(tmp_path: Path) -> None:
    (tmp_path / "sample.py").write_text(SOURCE)
    assert _run(RUN, tmp_path) == ["180 -1", "0", "[]"]
    assert _run(RUN, tmp_path) == ["180 -1", "1", "0"]


def test_an_unknown_numba_compiles_as_it_would_without_us(tmp_path: Path) -> None:
    """It then makes machine code of parts too."""
    (tmp_path / "sample.py").write_text(SOURCE)
    product, n_loaded, parts = _run(f"import numba; numba.__version__ = '0.99.1'\n{RUN}", tmp_path)
    assert (product, n_loaded) == ("180 -1", "0")
    assert "twice" in parts


def _run(text: str, folder: Path) -> list[str]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache")}
    command = [sys.executable, "-c", text, str(folder)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout.splitlines()
