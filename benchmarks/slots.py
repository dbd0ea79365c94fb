"""Many open partitions: how long a feed of one row to one of them takes, and a feed of one row to each.

    python -m benchmarks.slots [--slots 100000] [--feeds 300] [--only rows ...]

Every partition is a slot that is open and holds some rows. Then single rows come, each for a slot drawn at random, and
one row for each of all slots; for comparison the same with ten slots. The result rows are counted against those of
whole partitions.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from statistics import median
from time import perf_counter

import numpy as np
import pyarrow as pa

from benchmarks.machine import describe_machine
from sparkrex.columns.arrange import Arrangement
from sparkrex.hosts.duckdb.host import DuckDbHost
from sparkrex.matching.feed import Feed
from sparkrex.matching.slot_table import offsets_of
from sparkrex.modes.tables import mode_of
from sparkrex.pipeline import parse_query, prepare_relation
from sparkrex.settings import Settings

QUERIES = {
    "rows": """SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts
        MEASURES FIRST(ts) AS fell, LAST(ts) AS rose PATTERN (S D+ U) DEFINE D AS x < PREV(x), U AS x > PREV(x))""",
    "rows within": """SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts
        MEASURES FIRST(ts) AS low, LAST(ts) AS high PATTERN (A N*? B) WITHIN 8
        DEFINE A AS x < 0.5, B AS x > A.x + 1)""",
    "segments": """SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts
        MEASURES START_INDEX() AS i, END_INDEX() AS j PATTERN (S)
        DEFINE SEGMENT S AS window(5, 10) AND linear_reg_r2(ts, x) > 0.9)""",
    "events": """SELECT * FROM t MATCH_EVENTS (TIME ts TYPES (Low AS x < 0.5, Any AS true)
        PATTERN SEQ(Low a, Any b) WHERE skip_till_next_match(a, b) { [k] AND b.x > a.x + 1 }
        WITHIN 8 RETURN a.ts AS a, b.ts AS b)""",
    "silence": """SELECT * FROM t MATCH_EVENTS (TIME ts TYPES (High AS x > 1.5, Low AS x < 0)
        PATTERN SEQ(High a, ~(Low b)) WHERE skip_till_any_match(a, b) { [k] } WITHIN 8 RETURN a.ts AS a)""",
    "trends": """SELECT * FROM t MATCH_TRENDS (TIME ts RETURN k, COUNT(*) AS n PATTERN Any a+
        SEMANTICS skip-till-any-match GROUP-BY k WITHIN 8 SLIDE 4)""",
    "falling trends": """SELECT * FROM t MATCH_TRENDS (TIME ts RETURN k, COUNT(*) AS n PATTERN Any a+
        SEMANTICS skip-till-any-match WHERE a.x > NEXT(a).x GROUP-BY k WITHIN 8 SLIDE 4)""",
}
HELD = 10
"""Rows that every slot gets before the clock runs."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds of a feed of one row to one slot, and of one row to each slot."""

    to_one: float
    to_all: float
    is_right: bool


class Slots:
    """A runner of one query, and the rows that its slots have been fed."""

    def __init__(self, query: str, n_slots: int) -> None:
        parsed = parse_query(query, "spark")
        statement = parsed.statement
        settings = Settings(threads=1)
        self.host = DuckDbHost(statement.source, statement.dialect, "spark", settings)
        self.n_slots = n_slots
        self.times = np.zeros(n_slots, np.int64)
        self.draw = np.random.default_rng(1)
        self.tables: list[pa.Table] = []
        self.n_found = 0
        sample = self._rows(np.empty(0, np.int64), 0)
        self.host.register("t", sample)
        plan, _, evaluator = prepare_relation(parsed, statement.relations[0], parsed.clauses[0], self.host)
        self.runner = mode_of(plan.mode).runner(plan, sample, ("k",), evaluator, settings)
        self.state = self.runner.open()

    def _rows(self, slots: np.ndarray, n_rows: int) -> pa.Table:
        times = np.repeat(self.times[slots], n_rows) + np.tile(np.arange(n_rows), len(slots))
        return pa.table({"k": np.repeat(slots, n_rows), "ts": times, "x": self.draw.normal(size=len(times))})

    def feed(self, slots: np.ndarray, n_rows: int, *, opens: bool = False, closes: bool = False) -> float:
        """Seconds of a feed of so many rows to each of some slots."""
        table = self._rows(slots, n_rows)
        self.times[slots] += n_rows
        self.tables.append(table)
        offsets = offsets_of(np.full(len(slots), n_rows, np.int64))
        never = np.zeros(len(slots), np.bool_)
        given = Feed(table, Arrangement(None, offsets, table.num_rows), slots, never | opens, never | closes)
        begun = perf_counter()
        self.n_found += self.runner.feed(self.state, given).num_rows
        return perf_counter() - begun

    def expected(self) -> int:
        """How many result rows whole partitions have."""
        whole = pa.concat_tables(self.tables)
        keys = whole.column("k").to_numpy()
        order = np.lexsort((whole.column("ts").to_numpy(), keys))
        offsets = offsets_of(np.bincount(keys, minlength=self.n_slots))
        feed = Feed.whole(whole, Arrangement(order, offsets, whole.num_rows))
        return int(self.runner.feed(self.runner.open(), feed).num_rows)


def measure(query: str, n_slots: int, n_feeds: int) -> Measured:
    """Open all slots, feed one row to some of them one by one, then one row to all."""
    slots = Slots(query, n_slots)
    every = np.arange(n_slots)
    try:
        for part in np.array_split(every, max(1, n_slots // 20_000)):
            slots.feed(part, HELD, opens=True)
        seconds = [slots.feed(slots.draw.integers(0, n_slots, 1), 1) for _ in range(n_feeds + 20)]
        to_all = [slots.feed(every, 1) for _ in range(4)]
        slots.feed(every, 1, closes=True)
        return Measured(median(seconds[20:]), median(to_all[1:]), slots.expected() == slots.n_found)
    finally:
        slots.host.close()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.slots")
    parser.add_argument("--slots", type=int, default=100_000)
    parser.add_argument("--feeds", type=int, default=300)
    parser.add_argument("--only", nargs="+", choices=QUERIES, default=list(QUERIES))
    asked = parser.parse_args()
    print(describe_machine())
    for name in asked.only:
        few = measure(QUERIES[name], 10, asked.feeds)
        many = measure(QUERIES[name], asked.slots, asked.feeds)
        print(
            f"{name}: one row per feed {many.to_one * 1e3:.2f} ms over {asked.slots:,} open slots, "
            f"{few.to_one * 1e3:.2f} ms over 10; one row to each {many.to_all:.3f} s, "
            f"{many.to_all / asked.slots * 1e6:.2f} us a row; {'right' if few.is_right and many.is_right else 'WRONG'}",
            flush=True,
        )


if __name__ == "__main__":
    main()
