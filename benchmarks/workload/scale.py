"""1,000 patterns over 10,000,000 events, in memory and on Spark.

The generator has 40 types here, and every event a random one of 4 sites; all events of a match are of one site, by
which Spark partitions the stream. A type has at most 49 events in any window, of all sites together. In memory the
events are matched a chunk at a time, so that memory follows the chunk.
"""

from __future__ import annotations

import resource
import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.local_spark import local_session
from benchmarks.memory import peak_of
from benchmarks.workload.answers import Answers, answers_of, difference, share_matched, total
from benchmarks.workload.drawing import Rules, draw
from benchmarks.workload.engine import workload_of
from benchmarks.workload.generate import WINDOW, make_generator

if TYPE_CHECKING:
    from benchmarks.workload.drawing import Workload
    from benchmarks.workload.stream import Stream

N_TYPES, N_SITES = 40, 4
CHUNK_ROWS = 200_000
RULES = Rules(least_matches=0.0001, most_matches=0.05, key="site", n_keys=N_SITES)
"""Few matches a window: of 1,000 patterns over 17,000 windows there are many."""


@dataclass(frozen=True, eq=False, slots=True)
class Scaled:
    """A workload over many events, seconds by the clock. Memory in MB: of the table, of the process at its peak, and by
    how much detection made it grow. `spark` is None if it was not asked.
    """

    n_patterns: int
    n_events: int
    most_in_window: int
    seconds: float
    n_matches: int
    share_matched: float
    table: float
    grown: float
    peak: float
    n_spark_events: int = 0
    spark: float | None = None
    wrong: str | None = None


def most_in_window(stream: Stream, minutes: float) -> int:
    """The most events of one type in any window."""
    span = round(minutes * 60_000_000)
    found = 0
    for name in stream.counts():
        times = stream.events(name, "id").times
        found = max(found, int((np.searchsorted(times, times + span, side="right") - np.arange(len(times))).max()))
    return found


def measure_scale(n_patterns: int, n_events: int, seconds: float, n_spark_events: int = 0) -> Scaled:
    """In memory, and over so many events on Spark."""
    generator = make_generator(N_TYPES)
    n_windows = n_events / sum(generator.domain.rates.values()) / WINDOW
    stream = generator.stream(n_windows, n_keys=N_SITES)
    patterns = draw(generator.domain, n_patterns, RULES)
    begin = perf_counter()
    found, grown = peak_of(lambda: _in_memory(patterns, stream, seconds))
    took = perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    answers = answers_of(found, patterns, ("site",))
    spark, wrong = None, None
    if n_spark_events:
        part = stream if n_spark_events >= stream.n_events else stream.first(n_spark_events)
        spark, theirs = _on_spark(patterns, part, seconds)
        ours = answers if part is stream else answers_of(_in_memory(patterns, part, seconds), patterns, ("site",))
        different = difference(ours, theirs)
        wrong = None if different is None else f"in memory and on Spark, {different}"
    return Scaled(
        n_patterns, stream.n_events, most_in_window(stream, WINDOW), took, total(answers), share_matched(answers),
        stream.table.nbytes / 1e6, grown, peak, n_spark_events, spark, wrong,
    )


def _in_memory(patterns: Workload, stream: Stream, seconds: float) -> pa.Table:
    workload = workload_of(
        patterns, stream, seconds=seconds, max_steps=None, settings={"chunk_rows": CHUNK_ROWS}
    )
    return workload.detect(stream.table).table


def _on_spark(patterns: Workload, stream: Stream, seconds: float) -> tuple[float, Answers]:
    """Seconds from a DataFrame over a file to the matches in the driver."""
    spark = local_session(N_SITES)
    try:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "events.parquet"
            kind = stream.table.column("kind").cast(pa.string())
            pq.write_table(stream.table.set_column(1, "kind", kind), file)
            frame = spark.read.parquet(str(file))
            workload = workload_of(patterns, stream, seconds=seconds, max_steps=None, settings=None)
            begin = perf_counter()
            found: Any = workload.detect(frame).table.toArrow()
            return perf_counter() - begin, answers_of(found, patterns, ("site",))
    finally:
        spark.stop()
