"""Patterns and sequences on which the gain grows with the length L of runs.

A pattern begins with a star whose run has L rows, and fails behind it. The naive search starts again at each row of the
run and walks the rest of it each time, so it makes about L^2 / 2 tests where OPS, which knows from the failure that no
start inside the run does better, makes L. On `teeth`, (*X, Y) takes (L^2 + 5 L + 2) / 2 tests a tooth against L + 3.
Where each of these attempts walks L more rows behind the run, in (*X, *Y, Z) on `peaks` and in the relaxed double
bottom with a star on X on `flats`, it is 3/2 L^2 against 2 L, and the gain is 3/4 L.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.sqlts_search import data
from benchmarks.sqlts_search.comparing import Compared, compare
from benchmarks.sqlts_search.engine import FORWARD
from benchmarks.sqlts_search.patterns import CRASH, DOUBLE_BOTTOM, PEAK

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from benchmarks.sqlts_search.patterns import Pattern

LENGTHS = (10, 20, 50, 100, 200, 500, 1000, 2000)
GAIN = 90
N_RUNS = 40


@dataclass(frozen=True, slots=True)
class Family:
    """A pattern, and sequences by the length of runs and how many there are."""

    pattern: Pattern
    make: Callable[[int, int], pa.Table]

    def measure(self, length: int) -> Compared:
        """Naive and forward search at one length."""
        return compare(f"L = {length}", self.pattern, self.make(length, N_RUNS), 1, (FORWARD,))

    def least_length(self, gain: float) -> int:
        """The least length at which the gain is reached; it grows with the length."""
        low, high = 1, 2
        while self.measure(high).ratio() < gain:
            low, high = high, 2 * high
        while low + 1 < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self.measure(middle).ratio() >= gain else (middle, high)
        return high


FAMILIES = (
    Family(CRASH, data.teeth), Family(PEAK, data.peaks), Family(DOUBLE_BOTTOM.with_first_star(), data.flats)
)
