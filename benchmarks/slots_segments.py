"""One row per feed over many open slots: how long a feed of a windowed segment search takes.

    python benchmarks/slots_segments.py [--slots 100000] [--feeds 500]

Every slot is opened and given rows first, so that its window is full; then single rows come, each for a slot drawn at
random. Prints medians, and for comparison the same with one slot only and with many rows in a feed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # when run as a file

from benchmarks.machine import describe_machine
from sparkrex.columns.arrange import Arrangement
from sparkrex.hosts.duckdb.host import DuckDbHost
from sparkrex.matching.feed import Feed
from sparkrex.matching.slot_table import offsets_of
from sparkrex.modes.segments.runner import SegmentRunner
from sparkrex.pipeline import parse_query, prepare_relation
from sparkrex.settings import Settings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.matching.state import State

CLAUSES = {
    "window of 10 rows, R2": """SEGMENT S AS window(5, 10) AND linear_reg_r2(t, x) > 0.9""",
    "window of 9 seconds, R2": """SEGMENT S AS window(t, 4, 9) AND linear_reg_r2(t, x) > 0.9""",
    "window of 10 rows, two ends": """SEGMENT S AS window(5, 10) AND last(x) > first(x) + 4""",
}
_FULL = 12
"""Rows that every slot gets before the clock runs."""


def runner_of(define: str) -> SegmentRunner:
    """A runner of `S`, partitioned by k and ordered by t."""
    sample = pa.table({"k": pa.array([], pa.int64()), "t": pa.array([], pa.int64()), "x": pa.array([], pa.float64())})
    query = parse_query(
        f"""SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY t
        MEASURES START_INDEX() AS i, END_INDEX() AS j, last(x) AS x PATTERN (S) DEFINE {define})""", "duckdb",
    )
    host = DuckDbHost(query.statement.source, query.statement.dialect, "duckdb", Settings())
    host.register("t", sample)
    plan, _, evaluator = prepare_relation(query, query.statement.relations[0], query.clauses[0], host)
    return SegmentRunner(plan, sample, ("k",), evaluator, Settings())  # type: ignore[arg-type]  # a segment search


def feed_of(slots: NDArray[np.int64], time: int, n_rows: int, draw: np.random.Generator, *, opens: bool) -> Feed:
    """Rows from `time` on for each of some slots."""
    table = pa.table({
        "k": np.repeat(slots, n_rows), "t": np.tile(np.arange(time, time + n_rows), len(slots)),
        "x": draw.normal(size=len(slots) * n_rows).cumsum(),
    })
    offsets = offsets_of(np.full(len(slots), n_rows, np.int64))
    never = np.zeros(len(slots), np.bool_)
    return Feed(table, Arrangement(None, offsets, table.num_rows), slots, never | opens, never)


def filled(runner: SegmentRunner, n_slots: int, draw: np.random.Generator) -> State:
    """A state whose slots are open and hold a window's rows each."""
    state = runner.open()
    for part in np.array_split(np.arange(n_slots), max(1, n_slots // 10_000)):
        runner.feed(state, feed_of(part, 0, _FULL, draw, opens=True))
    return state


def time_feeds(runner: SegmentRunner, n_slots: int, n_feeds: int, n_at_once: int) -> float:
    """The median of so many feeds, each of one row for each of some slots, in seconds."""
    draw = np.random.default_rng(5)
    state = filled(runner, n_slots, draw)
    seconds = []
    for number in range(n_feeds + 20):
        slots = draw.choice(n_slots, n_at_once, replace=False) if n_at_once < n_slots else np.arange(n_slots)
        feed = feed_of(slots.astype(np.int64), _FULL + number, 1, draw, opens=False)
        begun = perf_counter()
        runner.feed(state, feed)
        seconds.append(perf_counter() - begun)
    return median(seconds[20:])


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python benchmarks/slots_segments.py")
    parser.add_argument("--slots", type=int, default=100_000)
    parser.add_argument("--feeds", type=int, default=500)
    options = parser.parse_args()
    print(describe_machine())
    for name, define in CLAUSES.items():
        runner = runner_of(define)
        alone = time_feeds(runner, 1, options.feeds, 1)
        single = time_feeds(runner, options.slots, options.feeds, 1)
        many = time_feeds(runner, options.slots, max(3, options.feeds // 50), 10_000)
        print(
            f"{name}: one row per feed {single * 1e3:.2f} ms over {options.slots:,} open slots, "
            f"{alone * 1e3:.2f} ms over one; 10,000 slots per feed {many * 1e3:.1f} ms, "
            f"{many / 10_000 * 1e6:.2f} us a row"
        )


if __name__ == "__main__":
    main()
