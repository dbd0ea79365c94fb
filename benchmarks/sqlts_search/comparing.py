"""Naive search and the engine's on one sequence: tests, times, and whether they find the same."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.sqlts_search import naive
from benchmarks.sqlts_search.engine import ENGINE_SEARCHES, FORWARD, Searched, search_by_engine

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from benchmarks.sqlts_search.patterns import Pattern

ENOUGH_SECONDS = 1.0
"""Of the naive search, whose time grows with the square of runs: it is not repeated any longer."""


@dataclass(eq=False)
class Compared:
    """One pattern on one sequence."""

    sequence: str
    pattern: str
    n_rows: int
    n_matches: int
    naive_tests: int
    naive_seconds: float
    engine: dict[str, Searched | str]
    begins: NDArray[np.int64] = field(repr=False)
    wrong: list[str] = field(default_factory=list)

    def ratio(self, search: str = FORWARD) -> float:
        """Tests of the naive search by test of the engine's."""
        found = self.engine[search]
        assert isinstance(found, Searched)  # asked of forward search, which there always is
        return self.naive_tests / found.n_tests

    def as_json(self) -> dict[str, Any]:
        """Plain data."""
        engine = {
            name: found if isinstance(found, str) else {
                "tests": found.n_tests, "seconds": found.seconds, "search_seconds": found.search_seconds
            }
            for name, found in self.engine.items()
        }
        return {
            "sequence": self.sequence, "pattern": self.pattern, "rows": self.n_rows, "matches": self.n_matches,
            "naive": {"tests": self.naive_tests, "search_seconds": self.naive_seconds}, "engine": engine,
        }


def compare(
    sequence: str, pattern: Pattern, table: pa.Table, repeat: int, searches: Sequence[str] = ENGINE_SEARCHES
) -> Compared:
    """Search naively and by the engine."""
    truth, is_star = pattern.truth(table.column("price").to_numpy()), pattern.stars()
    naive.search(truth[:, :1], is_star, np.empty((1, len(is_star) + 1), np.int64))  # compiles it
    seconds: list[float] = []
    while len(seconds) < repeat and sum(seconds) < ENOUGH_SECONDS:
        found = np.empty((table.num_rows + 1, len(is_star) + 1), np.int64)
        begin = time.perf_counter()
        n_tests, n_matches = naive.search(truth, is_star, found)
        seconds.append(time.perf_counter() - begin)
    begins = found[:n_matches].copy()
    engine = {search: search_by_engine(pattern, table, search, repeat) for search in searches}
    wrong = [
        f"{sequence}, {pattern.title}: {search} finds other matches than the naive search"
        for search, answer in engine.items()
        if isinstance(answer, Searched) and not np.array_equal(answer.begins, begins)
    ]
    wrong += [
        f"{sequence}, {pattern.title}: {search} makes more tests than the naive search"
        for search, answer in engine.items()
        if isinstance(answer, Searched) and search == FORWARD and answer.n_tests > n_tests
    ]
    return Compared(
        sequence, pattern.title, table.num_rows, int(n_matches), int(n_tests), statistics.median(seconds), engine,
        begins, wrong,
    )


def count_readings(pattern: Pattern, table: pa.Table, begins: NDArray[np.int64]) -> tuple[dict[str, int], int, bool]:
    """The tests of each reading of naive, how many attempts tested element 3, and whether all find the same matches.
    """
    truth, is_star = pattern.truth(table.column("price").to_numpy()), pattern.stars()
    room = np.empty((table.num_rows + 1, len(is_star) + 1), np.int64)
    found = np.empty((table.num_rows + 1, 2), np.int64)
    counts = {naive.NAIVE: int(naive.search(truth, is_star, room)[0])}
    borders = begins[:, [0, -1]]
    is_same = True
    for reading, search in (
        (naive.GIVES_BACK, naive.search_giving_back), (naive.EVERY_LENGTH, naive.search_every_length)
    ):
        n_tests, n_matches = search(truth, is_star, found)
        counts[reading] = int(n_tests)
        is_same = is_same and np.array_equal(found[:n_matches], borders)
    of_all, in_windows, n_far = naive.count_attempts(truth, is_star)
    counts[naive.ALL_CONDITIONS], counts[naive.EVERY_WINDOW] = int(of_all), int(in_windows)
    return counts, int(n_far), is_same
