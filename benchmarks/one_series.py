"""One series of many rows without PARTITION BY: one thread beside several, in memory, and one task beside several.

    python -m benchmarks.one_series [--rows 20000000] [--repeat 5] [--threads 2] [--only V W4 ...]
    python -m benchmarks.one_series --spark [--rows 20000000] [--repeat 3]

Both sides take turns in one process; what counts is the ratio of their medians. Their answers are compared row by row,
in order. V and W4 are the queries of `benchmarks.queries` without their keys, `context` has conditions that read the
match, and a bound in time. On Spark all three have WITHIN, the answer is written into a no-op sink, and compared as a
set of rows in a run of its own.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import TYPE_CHECKING

import sparkrex as rex
from benchmarks.data import ticks
from benchmarks.machine import describe_machine
from benchmarks.queries.w1_v_shape import SQL as V_SHAPE
from benchmarks.queries.w4_double_bottom import SQL as DOUBLE_BOTTOM

if TYPE_CHECKING:
    import pyarrow as pa

CONTEXT = """SELECT * FROM t MATCH_RECOGNIZE (
  ORDER BY ts
  MEASURES A.ts AS began_at, C.ts AS ended_at, count(B.*) AS n_below
  PATTERN (A B+ C) WITHIN INTERVAL '100' MILLISECOND
  DEFINE A AS volume > 900, B AS price < A.price, C AS price > A.price + 0.1)"""
QUERIES = {
    "V": V_SHAPE.format(partition=""), "W4": DOUBLE_BOTTOM.replace("PARTITION BY symbol ", ""), "context": CONTEXT,
}
GOAL = 1.6


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.one_series")
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", nargs="+", choices=QUERIES, default=list(QUERIES))
    arguments = parser.parse_args()
    table = ticks(arguments.rows, n_symbols=1)
    print(f"{describe_machine()}; {arguments.rows:,} rows in one partition, median of {arguments.repeat}\n", flush=True)
    print(f"{'query':<8} {'matches':>10} {'1 thread':>10} {f'{arguments.threads} threads':>10} {'ratio':>6}  answers")
    is_right = True
    for name in arguments.only:
        is_right &= compare(name, table, arguments.threads, arguments.repeat)
    return 0 if is_right else 1


def compare(name: str, table: pa.Table, threads: int, repeat: int) -> bool:
    """Print one line; whether both sides gave the same answer every time."""
    counts = (1, threads)
    expected, _ = run(name, table, 1)
    is_same: bool = run(name, table, threads)[0].equals(expected)  # loads the kernels of both sides, too
    seconds: dict[int, list[float]] = {count: [] for count in counts}
    for _ in range(repeat):
        for count in counts:
            found, duration = run(name, table, count)
            seconds[count].append(duration)
            is_same &= found.num_rows == expected.num_rows
    one, many = (statistics.median(seconds[count]) for count in counts)
    answers = "same" if is_same else "DIFFERENT"
    missed = "" if one / many >= GOAL else f"  below {GOAL}"
    print(
        f"{name:<8} {expected.num_rows:>10,} {one:>8.3f} s {many:>8.3f} s {one / many:>6.2f}  {answers}{missed}",
        flush=True,
    )
    return is_same


def run(name: str, table: pa.Table, threads: int) -> tuple[pa.Table, float]:
    """The answer of a query with so many threads, and how long it took."""
    start = time.perf_counter()
    found = rex.sql(QUERIES[name], t=table, settings={"threads": threads})
    return found, time.perf_counter() - start


if __name__ == "__main__":
    raise SystemExit(main())
