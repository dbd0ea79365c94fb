"""Run trend queries of all kinds, in a process of its own, and print how every kernel was compiled.

    python -m tests.modes.trends.kernel_signatures

Prints JSON: by kernel that Python calls, its signatures. Streams are in order or not, in one piece or in several, with
and without NULLs; times and values are of several types; events are fed at once or in chunks.
"""

from __future__ import annotations

import json
import warnings
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np
import pyarrow as pa

import sparkrex as rex
from sparkrex.kernels import lazy
from sparkrex.kernels.lazy import Kernel
from sparkrex.modes.trends import kernels, search

if TYPE_CHECKING:
    from collections.abc import Iterator

AGGREGATES = "COUNT(*), COUNT(a), SUM(a.x), AVG(a.d), SUM(a.y), AVG(a.z), MIN(a.x), MAX(a.y), MIN(a.ts)"
QUERIES = [
    "RETURN COUNT(*) PATTERN A+ a SEMANTICS {any}",
    "RETURN k, {all} PATTERN SEQ(A+ a, B? b) SEMANTICS {any} WHERE [w] GROUP-BY k WITHIN {within}",
    "RETURN {all} PATTERN SEQ(A+ a, (B b | C c)+) SEMANTICS {next} WHERE [k]",
    "RETURN COUNT(*) PATTERN SEQ(A a, B b){{1,3}} SEMANTICS {contiguous} WITHIN {within}",
    "RETURN COUNT(*) PATTERN SEQ(A a, B b) & SEQ(B b, C c) SEMANTICS {any} WHERE [k]",
    "RETURN {all} PATTERN SEQ(~(C n), A+ a, ~SEQ(C c, B m), B b, ~(C o)) SEMANTICS {any} WHERE [k] WITHIN {within}",
    "RETURN COUNT(*) PATTERN SEQ(A+ a, ~(C c), B b) SEMANTICS {next}",
    "RETURN {all} PATTERN SEQ(A+ a, B b) SEMANTICS {any} WHERE a.x < NEXT(a).x AND a.y <> NEXT(b).y WITHIN {within}",
    "RETURN COUNT(*) PATTERN A+ a SEMANTICS {any} WHERE a.s <= NEXT(a).s",
    "RETURN {all} PATTERN SEQ(A+ a, B b) SEMANTICS {next} WHERE a.d >= NEXT(a).d AND [k] WITHIN {within}",
    "RETURN COUNT(*) PATTERN A+ a SEMANTICS {next} WHERE a.y = NEXT(a).y",
    "RETURN {all} PATTERN SEQ(A+ a, ~(C c), B b) SEMANTICS {contiguous} WHERE a.x < NEXT(b).x AND a.z <= NEXT(a).z",
    "RETURN COUNT(*) PATTERN A+ a SEMANTICS {any} WHERE a.x < NEXT(a).x AND a.y > NEXT(a).y WITHIN {within}",
]
SEMANTICS = {"any": "skip-till-any-match", "next": "skip-till-next-match", "contiguous": "contiguous"}
SETTINGS: list[dict[str, Any]] = [{}, {"chunk_rows": 7}, {"threads": 2}, {"matcher": "by_event"}, {"matcher": "by_gap"}]


def streams() -> Iterator[tuple[pa.Table, str, Any]]:
    """Streams, the type of their times, and the size of a window."""
    for seed in range(4):
        random = np.random.default_rng(seed)
        n_rows = 60
        numbers = random.integers(-3, 5, n_rows)
        is_null = np.arange(n_rows) % 9 == 0 if seed % 2 else None
        times = np.cumsum(random.integers(0, 3, n_rows))
        kinds = pa.array(random.choice(list("ABC"), n_rows))
        stream = pa.table({
            "number": times, "real": times / 2.0, "at": pa.array(times * 1_000_000).cast(pa.timestamp("us")),
            "ts": pa.array(times.astype(np.int32)), "k": random.integers(0, 3, n_rows),
            "w": random.choice(["u", "v"], n_rows),
            "kind": kinds.dictionary_encode() if seed == 1 else kinds, "x": pa.array(numbers, mask=is_null),
            "y": pa.array(numbers / 4, mask=is_null), "z": pa.array(numbers.astype(np.int32), mask=is_null),
            "d": pa.array(numbers, mask=is_null).cast(pa.decimal128(19, 0)).cast(pa.decimal128(10, 2)),
            "s": pa.array(random.choice(["p", "q", "r"], n_rows), mask=is_null),
        })
        if seed == 2:
            stream = pa.concat_tables([stream.slice(30), stream.slice(0, 30)])
        if seed == 3:
            stream = stream.take(pa.array(random.permutation(n_rows)))
        yield stream, ("number", "real", "at", "number")[seed], ("8", "4.5", "8 seconds", "100")[seed]


def run() -> None:
    """Every query over every stream, exactly and by logarithms."""
    for stream, time, within in streams():
        for query in QUERIES:
            text = query.format(all=AGGREGATES, within=within, **SEMANTICS)
            for counts in ("exact", "log"):
                for settings in SETTINGS:
                    options: Any = {"time": time, "type": "kind", "counts": counts, "settings": settings}
                    for rows in (stream, stream.slice(0, 0), stream.slice(0, 1)):
                        try:
                            rex.trends(text, rows, **options)
                        except rex.AnalysisError as error:
                            assert error.code == "REX217", error  # the algorithm refuses


def signatures() -> dict[str, list[list[str]]]:
    """By kernel, the types of its arguments, once for every time that it was compiled."""
    found = {}
    for module in iter_modules(kernels.__path__, f"{kernels.__name__}."):
        for name, kernel in vars(import_module(module.name)).items():
            is_called = isinstance(kernel, Kernel) and "no_cpython_wrapper" not in kernel._options
            if is_called and kernel.__module__ == module.name:
                compiled = [] if kernel._dispatcher is None else kernel.dispatcher.signatures
                found[f"{module.name.rpartition('.')[2]}.{name}"] = [[str(one) for one in form] for form in compiled]
    return found


if __name__ == "__main__":
    # Streams are short: all kernels are compiled nonetheless.
    with mock.patch.object(search, "FEW_ROWS", -10), mock.patch.object(lazy, "FEW_ROWS", -1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run()
    print(json.dumps(signatures()))
