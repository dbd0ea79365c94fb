"""Measurements of the experiments, each made once however many tables show it."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.events.buffer import BufferCost, buffer_cost
from benchmarks.events.data import N_SYMBOLS, stocks
from benchmarks.events.running import Checksum, Fed, Prepared, prepare
from benchmarks.events.workload import Workload

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

FEED_OUTPUT = 2_000_000
"""Streams are fed so many rows at a time that about this many events come out: few enough for memory to be used again,
which fresh memory for all matches of a stream would not be."""
SHORT, LONG = 0.2, 2.0
"""Passes of fewer seconds are repeated three times as often, those of more once only."""


@dataclass(frozen=True)
class Figures:
    """One query with one algorithm over one stream; seconds are medians of several passes."""

    query: str
    window: int
    is_non_overlapping: bool
    rising: float
    algorithm: str
    constructs: bool
    n_events: int
    n_starts: int
    n_matches: int
    n_output: int
    wall: float
    cpu: float
    kernel: float
    statistics: dict[str, int]
    checksum: Checksum

    @property
    def rate(self) -> float:
        """Events per second of processor time."""
        return self.n_events / self.cpu

    @property
    def match_length(self) -> float:
        """Events per match."""
        return self.n_output / self.n_matches if self.n_matches else 0.0

    @property
    def runs(self) -> float:
        """Runs at a time, those of all symbols together, as the paper counts them."""
        return N_SYMBOLS * self.statistics["run_steps"] / self.n_events

    @property
    def cost_of_output(self) -> float:
        """Nanoseconds of processor time per event of the output."""
        return 1e9 * self.cpu / self.n_output if self.n_output else float("inf")


_Key = tuple[Workload, float, str, bool]


class Bench:
    """Makes streams and measures queries over them; remembers what it measured."""

    def __init__(self, windows_long: int, repeat: int, tell: Callable[[str], None]) -> None:
        self.windows_long = windows_long
        self.repeat = repeat
        self.tell = tell
        self.measured: dict[_Key, Figures] = {}

    def stream(self, window: int, rising: float) -> pa.Table:
        """As long as the paper's: so many windows for each symbol."""
        return stocks(self.windows_long * window, rising)

    def run(
        self, name: str, window: int = 500, rising: float = 0.7, algorithm: str = "nfab", *, constructs: bool = True,
        is_non_overlapping: bool = False,
    ) -> Figures:
        """Measure a query, or recall it."""
        workload = Workload(name, window, is_non_overlapping)
        key = (workload, rising, algorithm, constructs)
        if key not in self.measured:
            self.measured[key] = self._measure(workload, rising, algorithm, constructs=constructs)
        return self.measured[key]

    def buffer(self, name: str, window: int, rising: float) -> BufferCost:
        """What the shared buffer costs with merging."""
        prepared = prepare(Workload(name, window).text(), self.stream(window, rising))
        try:
            return buffer_cost(prepared.buffer("nfab"))
        finally:
            prepared.host.close()

    def _measure(self, workload: Workload, rising: float, algorithm: str, *, constructs: bool) -> Figures:
        stream = self.stream(workload.window, rising)
        prepared = prepare(workload.text(), stream)
        try:
            chunk_rows = feed_rows(workload) if constructs and algorithm != "backtrack" else None
            passes = self._passes(prepared, algorithm, constructs=constructs, chunk_rows=chunk_rows)
        finally:
            prepared.host.close()
        first = passes[0]
        price = stream.column("price").to_numpy()
        figures = Figures(
            workload.name, workload.window, workload.is_non_overlapping, rising, algorithm, constructs,
            stream.num_rows, int(np.count_nonzero(price % 500 == 0)), first.n_matches, first.n_output,
            median(fed.wall for fed in passes), median(fed.cpu for fed in passes),
            median(fed.kernel for fed in passes), first.statistics, first.checksum,
        )
        kind = "" if constructs else ", matches not constructed"
        kind += ", non-overlapping" if workload.is_non_overlapping else ""
        self.tell(
            f"{workload.name} W = {workload.window} p = {rising} {algorithm}{kind}: "
            f"{figures.rate / 1e6:.2f}M events/s, {figures.n_matches:,} matches"
        )
        return figures

    def _passes(
        self, prepared: Prepared, algorithm: str, *, constructs: bool, chunk_rows: int | None
    ) -> list[Fed]:
        """The first loads kernels and makes the sums; the others count."""
        first = prepared.fed(algorithm, constructs=constructs, chunk_rows=chunk_rows, sums=constructs)
        n_more = 1 if first.cpu > LONG or self.repeat == 1 else self.repeat if first.cpu > SHORT else 3 * self.repeat
        passes = [prepared.fed(algorithm, constructs=constructs, chunk_rows=chunk_rows) for _ in range(n_more)]
        for fed in passes:
            assert (fed.n_matches, fed.n_output) == (first.n_matches, first.n_output)
            fed.checksum = first.checksum
        return passes


def feed_rows(workload: Workload) -> int | None:
    """Rows of a feed, None for the whole stream: where matches are short or do not overlap, they are few.

    Else of 100 events 15 can end a match of each run, of which one starts every 500 events and lives for a window; the
    match is half a window long on average.
    """
    if workload.name == "p2s2" or workload.is_non_overlapping:
        return None
    output_of_row = 0.15 * (workload.window / 500) * (workload.window / 2)
    return round(FEED_OUTPUT / output_of_row)
