"""Throughput over a long stream on one thread: of the kernel, of the matcher, from a table to matches, to a table."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median
from time import perf_counter, process_time
from typing import TYPE_CHECKING

import sparkrex as rex
from benchmarks.events.data import N_SYMBOLS, stocks
from benchmarks.events.measuring import feed_rows
from benchmarks.events.running import prepare
from benchmarks.events.workload import Workload
from sparkrex.matching.feeding import feeds_of
from sparkrex.modes.events.engine import arrange_events
from sparkrex.modes.events.nfab.matcher import NfabMatcher
from sparkrex.modes.events.runner import EventRunner, tested_columns
from sparkrex.modes.events.taking_part import taking_part
from sparkrex.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from benchmarks.events.running import Prepared

GOALS = {"p2s2": 20e6, "p3s3": 1e6}
"""Events per second at W = 500 and p = 0.7, matches constructed."""
STAGES = ("kernel", "matcher", "table to matches", "rex.events")


@dataclass
class Throughput:
    """Seconds of each pass, by stage: of the processor, and by the clock (the kernel's are of the processor only)."""

    query: str
    n_events: int
    n_matches: int
    n_output: int
    goal: float
    cpu: dict[str, list[float]] = field(default_factory=dict)
    wall: dict[str, list[float]] = field(default_factory=dict)

    def rate(self, stage: str, *, is_wall: bool = False) -> float:
        """Events per second."""
        return self.n_events / median((self.wall if is_wall else self.cpu)[stage])


def measure_throughput(name: str, n_events: int, repeat: int, window: int = 500) -> Throughput:
    """Stages take turns, so that what else the machine does meets them alike."""
    stream = stocks(n_events // N_SYMBOLS, 0.7)
    workload = Workload(name, window)
    text = workload.text()
    prepared = prepare(text, stream)
    chunk_rows = feed_rows(workload)
    try:
        fed = prepared.fed("nfab", chunk_rows=chunk_rows)
        found = Throughput(name, stream.num_rows, fed.n_matches, fed.n_output, GOALS[name])
        settings = {"threads": 1, "chunk_rows": chunk_rows}
        found.cpu = {stage: [] for stage in STAGES}
        found.wall = {stage: [] for stage in STAGES}
        rex.events(text, stream, time="ts", settings=settings)
        for _ in range(repeat):
            fed = prepared.fed("nfab", chunk_rows=chunk_rows)
            found.cpu["kernel"].append(fed.kernel)
            found.wall["kernel"].append(fed.kernel)
            found.cpu["matcher"].append(fed.cpu)
            found.wall["matcher"].append(fed.wall)
            _time(found, "table to matches", lambda: to_matches(prepared, stream, chunk_rows))
            _time(found, "rex.events", lambda: rex.events(text, stream, time="ts", settings=settings))
    finally:
        prepared.host.close()
    return found


def to_matches(prepared: Prepared, stream: pa.Table, chunk_rows: int | None) -> int:
    """Arrange, check for ties, match: what `rex.events` does before it makes a table. Gives the number of matches."""
    settings = Settings(threads=1)
    query = prepared.query
    table = taking_part(query, stream, prepared.evaluator, settings)
    arrangement = arrange_events(query, table, settings)
    table = table.select([name for name in table.column_names if name in tested_columns(query)])
    runner = EventRunner(query, NfabMatcher(query, prepared.evaluator, settings))
    state = runner.open()
    return sum(len(runner.decide(state, feed).matches) for feed in feeds_of(table, arrangement, chunk_rows))


def _time(found: Throughput, stage: str, run: Callable[[], object]) -> None:
    begin, begin_cpu = perf_counter(), process_time()
    run()
    found.cpu[stage].append(process_time() - begin_cpu)
    found.wall[stage].append(perf_counter() - begin)
