"""Every kernel of event queries is compiled for one kind of arguments, whatever is asked and however it is fed.

`None` stands for a part that a query does not need and that is then not compiled: such an argument has two types.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sparkrex as rex
from sparkrex.kernels.lazy import Kernel
from sparkrex.modes.events import kernels

QUERIES = [
    "PATTERN SEQ(A a, B+ b[], C c) WHERE skip_till_any_match(a, b[], c) { [k] AND b[i].x >= b[i-1].x } WITHIN 9",
    "PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) { b.x = a.x AND b.s = a.s }",
    "PATTERN SEQ(~(C n), A a, ~(C m), B b, ~(C o)) WHERE skip_till_next_match(a, b) { o.y > a.y } WITHIN 6",
    "PATTERN SEQ(A a, B b, ~(C o)) WHERE skip_till_any_match(a, b) { [k] AND a.y < b.y } WITHIN 5 NON-OVERLAPPING",
    "PATTERN SEQ(A a, B? b, C c) WHERE partition_contiguity(a, b, c) { [k] } WITHIN 20 EVENTS NON-OVERLAPPING",
    "PATTERN SEQ(A+ a[], B b) WHERE skip_till_next_match(a[], b) { a[i].y > avg(a[..i-1].y) AND a[1].x IS NOT NULL }",
]
SETTINGS: list[dict[str, Any]] = [
    {}, {"chunk_rows": 7}, {"matcher": "basic", "chunk_rows": 1}, {"matcher": "backtrack"},
]


def compiled() -> dict[str, list[Any]]:
    """The signatures of all kernels that Python calls."""
    found = {}
    for module in iter_modules(kernels.__path__, f"{kernels.__name__}."):
        for name, kernel in vars(import_module(module.name)).items():
            is_called = isinstance(kernel, Kernel) and "no_cpython_wrapper" not in kernel._options
            if is_called and kernel._dispatcher is not None and kernel.__module__ == module.name:
                found[f"{module.name.rpartition('.')[2]}.{name}"] = kernel.dispatcher.signatures
    return found


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_each_kernel_has_one_signature(seed: int) -> None:
    random = np.random.default_rng(seed)
    n_rows = 60
    numbers = pa.array(random.integers(0, 4, n_rows), mask=np.arange(n_rows) % 9 == 0)
    stream = pa.table({
        "ts": np.arange(n_rows) // 2, "id": np.arange(n_rows), "k": random.integers(0, 3, n_rows),
        "kind": random.choice(list("ABC"), n_rows), "x": numbers,
        "y": random.random(n_rows), "s": random.choice(["u", "w"], n_rows),
    })
    for query in QUERIES:
        for settings in SETTINGS:
            for ties in ("order", "strict"):
                options: dict[str, Any] = {"time": "ts", "type": "kind", "tie_break": "id", "ties": ties}
                rex.events(query, stream, settings=settings, **options)
                rex.events(query, stream.slice(0, 0), settings=settings, **options)
    for name, signatures in compiled().items():
        if name.startswith("windows."):
            continue  # times are doubles or unsigned numbers
        for arguments in zip(*signatures, strict=True):
            assert len({str(one) for one in arguments} - {"none"}) == 1, (name, set(map(str, arguments)))
