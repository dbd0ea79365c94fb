"""One series of many rows without PARTITION BY: one thread beside several, in memory, and one task beside several.

    python -m benchmarks.one_series [--rows 20000000] [--repeat 5] [--threads 2] [--only V W4 ...]
    python -m benchmarks.one_series --spark [--rows 20000000] [--repeat 3]

Both sides take turns in one process; what counts is the ratio of their medians. Their answers are compared row by row,
in order. V and W4 are the queries of `benchmarks.queries` without their keys, `context` has conditions that read the
match, and a bound in time. On Spark (`local[2]`) all three have WITHIN, the rows are in a Parquet file in order of
time and named by its path, the answer is written into a no-op sink, and compared row by row in a run of its own. One
task, which has its rows from Spark, stands beside tasks that read and search a slice each; and beside the seconds the
processor time of all processes.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

import sparkrex as rex
from benchmarks.data import ticks
from benchmarks.local_spark import local_session
from benchmarks.machine import describe_machine
from benchmarks.queries.w1_v_shape import SQL as V_SHAPE
from benchmarks.queries.w4_double_bottom import SQL as DOUBLE_BOTTOM
from benchmarks.spark import ancestors

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

CONTEXT = """SELECT * FROM t MATCH_RECOGNIZE (
  ORDER BY ts
  MEASURES A.ts AS began_at, C.ts AS ended_at, count(B.*) AS n_below
  PATTERN (A B+ C) WITHIN INTERVAL '100' MILLISECOND
  DEFINE A AS volume > 900, B AS price < A.price, C AS price > A.price + 0.1)"""
QUERIES = {
    "V": V_SHAPE.format(partition=""), "W4": DOUBLE_BOTTOM.replace("PARTITION BY symbol ", ""), "context": CONTEXT,
}
WITHIN = {"V": "'100' MILLISECOND", "W4": "'1' SECOND", "context": ""}
"""On Spark, where the query has no bound yet."""
SIDES = ("one task", "slices")
GOAL = 1.6


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.one_series")
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--repeat", type=int, default=None, help="turns of each side: 5, on Spark 3")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--only", nargs="+", choices=QUERIES, default=list(QUERIES))
    parser.add_argument("--spark", action="store_true", help="one task of Spark's beside several")
    arguments = parser.parse_args()
    arguments.repeat = arguments.repeat or (3 if arguments.spark else 5)
    table = ticks(arguments.rows, n_symbols=1)
    print(f"{describe_machine()}; {arguments.rows:,} rows in one partition, median of {arguments.repeat}\n", flush=True)
    if arguments.spark:
        return on_spark(table, arguments.only, arguments.repeat)
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


def on_spark(table: pa.Table, names: list[str], repeat: int) -> int:
    """Print a line for each query; 0 if all answers are the same."""
    is_right = True
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that one task has all rows
        path = str(Path(folder) / "ticks.parquet")
        pq.write_table(table, path)
        spark = local_session(2)
        try:
            shown = (f"{side:>12}" for side in (*SIDES, *(f"CPU, {side}" for side in SIDES)))
            print(f"{'query':<8} {'matches':>10}", *shown, " ratio  answers", flush=True)
            for name in names:
                is_right &= compare_on_spark(spark, name, path, repeat)
        finally:
            spark.stop()
    return 0 if is_right else 1


def compare_on_spark(spark: SparkSession, name: str, path: str, repeat: int) -> bool:
    """The same as `compare`, of one task and slices."""
    expected, found = (in_order(asked(spark, name, path, side).toArrow()) for side in SIDES)
    is_same = bool(found.equals(expected))
    seconds: dict[str, list[float]] = {side: [] for side in SIDES}
    busy: dict[str, list[float]] = {side: [] for side in SIDES}
    for _ in range(repeat):
        for side in SIDES:
            start, busy_before = time.perf_counter(), processor_seconds()
            asked(spark, name, path, side).write.format("noop").mode("overwrite").save()
            seconds[side].append(time.perf_counter() - start)
            busy[side].append(processor_seconds() - busy_before)
    one, slices = (statistics.median(seconds[side]) for side in SIDES)
    shown = [one, slices, *(statistics.median(busy[side]) for side in SIDES)]
    missed = "" if one / slices >= GOAL else f"  below {GOAL}"
    print(
        f"{name:<8} {expected.num_rows:>10,}", *(f"{value:>10.3f} s" for value in shown),
        f"{one / slices:>6.2f}  {'same' if is_same else 'DIFFERENT'}{missed}", flush=True,
    )
    return is_same


def asked(spark: SparkSession, name: str, path: str, side: str) -> DataFrame:
    """A query as one of the sides asks it."""
    query = QUERIES[name]
    if WITHIN[name]:
        query = query.replace("\n  DEFINE", f" WITHIN INTERVAL {WITHIN[name]}\n  DEFINE")
    return rex.sql(query, t=path, spark=spark, settings={"slices": side == "slices"})


def processor_seconds() -> float:
    """What this process, its Spark and Spark's workers have used, those that have ended too."""
    parents: dict[int, int] = {}
    ticks_used: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            # Behind the name: state, parent, ...; from the 12th on user and system time, own and of ended children.
            known = (folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue  # it ended meanwhile
        parents[int(folder.name)] = int(known[1])
        ticks_used[int(folder.name)] = sum(map(int, known[11:15]))
    own = [number for number in parents if os.getpid() in (number, *ancestors(number, parents))]
    return sum(ticks_used[number] for number in own) / os.sysconf("SC_CLK_TCK")


def in_order(answer: pa.Table) -> pa.Table:
    """An answer by all columns: slices are searched in any order."""
    return answer.combine_chunks().sort_by([(name, "ascending") for name in answer.column_names]).combine_chunks()


if __name__ == "__main__":
    raise SystemExit(main())
