"""A search by the engine: its answer, its count of tests, and its time as a whole and of the search alone."""

from __future__ import annotations

import re
import statistics
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

import sparkrex as rex
from sparkrex.modes.rows.kernels import ops as kernel

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from benchmarks.sqlts_search.patterns import Pattern

FORWARD, REVERSE, CHUNKS = "OPS forward", "OPS reverse", "OPS forward, sign unknown"
ENGINE_SEARCHES = (FORWARD, REVERSE, CHUNKS)


@dataclass(eq=False)
class Searched:
    """`seconds` from a table to a table, `search_seconds` of the kernel over truth that is there, both medians."""

    n_tests: int
    seconds: float
    search_seconds: float
    begins: NDArray[np.int64] = field(repr=False)


def search_by_engine(pattern: Pattern, table: pa.Table, search: str, repeat: int) -> Searched | str:
    """All about one search, or why the engine does not search so."""
    text = pattern.text()
    settings: dict[str, Any] = {"matcher": "ops_reverse" if search == REVERSE else "ops_forward", "threads": 1}
    if search == CHUNKS:
        # Fed in chunks, as on a stream, the data prove nothing: here all of them are in one.
        settings["chunk_rows"] = table.num_rows + 1
    explained = str(rex.explain(text, t=table, analyze=True, settings=settings))
    if search == REVERSE and (refused := re.search(r"forward search: (.+)", explained)):
        return refused[1]
    seconds, search_seconds = [], []
    for _ in range(repeat):
        with _timed_search() as spent:
            begin = time.perf_counter()
            answer = rex.sql(text, t=table, settings=settings)
            seconds.append(time.perf_counter() - begin)
        search_seconds.append(sum(spent))
    begins = np.column_stack([column.to_numpy() for column in answer.columns]).astype(np.int64)
    begins[:, -1] += 1  # the row behind the last one
    return Searched(
        count_tests(explained), statistics.median(seconds), statistics.median(search_seconds), begins
    )


def count_tests(explained: str) -> int:
    """The tests that EXPLAIN ANALYZE names."""
    found = re.search(r"([\d,]+) tests of [\d,]+ rows", explained)
    assert found is not None  # `ops` always counts
    return int(found[1].replace(",", ""))


@contextmanager
def _timed_search() -> Iterator[list[float]]:
    """Times of the calls of the kernels of OPS, which return for each block of truth that is yet to be evaluated."""
    spent: list[float] = []
    kept = kernel.search, kernel.search_back

    def timed(function: Any) -> Any:
        def call(*given: Any) -> Any:
            begin = time.perf_counter()
            result = function(*given)
            spent.append(time.perf_counter() - begin)
            return result
        return call

    kernel.search, kernel.search_back = map(timed, kept)
    try:
        yield spent
    finally:
        kernel.search, kernel.search_back = kept
