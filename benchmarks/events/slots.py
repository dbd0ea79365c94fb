"""Many open partitions: the time of a feed of one row to one of them, and of a feed of one row to each.

    python -m benchmarks.events.slots [--slots 100000] [--feeds 300]

Every slot is a device whose alarms wait for an answer. Answers are checked against those of whole partitions.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from benchmarks.events.running import prepare
from sparkrex.columns.arrange import Arrangement
from sparkrex.matching.feed import Feed
from sparkrex.modes.events.nfab.matcher import NfabMatcher
from sparkrex.modes.events.runner import EventRunner
from sparkrex.settings import Settings

if TYPE_CHECKING:
    from numpy.typing import NDArray

QUERIES = {
    "next": "PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) { [device] AND b.x > a.x } WITHIN 1000",
    "silence": "PATTERN SEQ(A a, ~(B b)) WHERE skip_till_any_match(a, b) { [device] AND b.x > 4 } WITHIN 1000",
}


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds per feed: of the one that opens all slots, of one row to all, of one row to one slot; and matches."""

    query: str
    opening: float
    to_all: float
    to_one: float
    n_matches: int
    is_right: bool


def rows_of(devices: NDArray[np.int64], time: int, kind: str) -> pa.Table:
    """One event for each of some devices."""
    n_rows = len(devices)
    return pa.table({
        "ts": np.full(n_rows, time), "device": devices, "kind": pa.array([kind] * n_rows),
        "x": devices % 7 + time % 5,
    })


def measure(name: str, n_slots: int, n_feeds: int) -> Measured:
    """Open all slots with an A, feed one row to some of them one by one, then a B to all."""
    every = np.arange(n_slots)
    prepared = prepare(QUERIES[name], rows_of(every[:10], 0, "A"), type="kind")
    runner = EventRunner(prepared.query, NfabMatcher(prepared.query, prepared.evaluator, Settings(threads=1)))
    state = runner.open()
    tables: list[pa.Table] = []
    n_matches = 0

    def feed(devices: NDArray[np.int64], time: int, kind: str, *, opens: bool = False, closes: bool = False) -> float:
        nonlocal n_matches
        table = rows_of(devices, time, kind)
        tables.append(table)
        n_rows = len(devices)
        given = Feed(
            table, Arrangement(None, np.arange(n_rows + 1), n_rows), devices, np.full(n_rows, opens),
            np.full(n_rows, closes), pa.scalar(time - 1, pa.int64()),
        )
        begin = perf_counter()
        result = runner.feed(state, given)
        seconds = perf_counter() - begin
        n_matches += result.num_rows
        return seconds

    random = np.random.default_rng(0)
    feed(every, 0, "A", opens=True)
    opening = feed(every, 1, "A")
    to_one = [
        feed(random.integers(0, n_slots, 1), 2 + number, "AB"[number % 2]) for number in range(n_feeds)
    ]
    to_all = feed(every, 10 + n_feeds, "A")
    feed(every, 11 + n_feeds, "B", closes=True)
    whole = pa.concat_tables(tables)
    order = np.lexsort((whole.column("ts").to_numpy(), whole.column("device").to_numpy()))
    offsets = np.concatenate(([0], np.cumsum(np.bincount(whole.column("device").to_numpy()))))
    expected = runner.feed(runner.open(), Feed.whole(whole, Arrangement(order, offsets, whole.num_rows)))
    prepared.host.close()
    return Measured(name, opening, to_all, median(to_one), n_matches, expected.num_rows == n_matches)


def main() -> None:
    """Print one line per query."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--slots", type=int, default=100_000)
    parser.add_argument("--feeds", type=int, default=300)
    asked = parser.parse_args()
    for name in QUERIES:
        for n_slots in (100, asked.slots):
            found = measure(name, n_slots, asked.feeds)
            print(
                f"{name}, {n_slots:,} slots: {found.to_one * 1e3:.2f} ms a feed of one row, "
                f"{found.to_all:.3f} s a feed of a row to each, {found.n_matches:,} events of matches, "
                f"{'right' if found.is_right else 'NO, DIFFERS'}"
            )


if __name__ == "__main__":
    main()
