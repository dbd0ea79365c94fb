"""One query in a process of its own: speed, memory, matcher and answer, printed as one line of JSON.

    python -m benchmarks.measure W1 --rows 1000000 [--repeat 5] [--threads 2]
    python -m benchmarks.measure W6 --growth 125000 250000 500000
"""

from __future__ import annotations

import argparse
import json
import math
import re
import statistics
import time
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import duckdb

import sparkrex as rex
from benchmarks.check import checksum, differences
from benchmarks.kernel import time_matcher
from benchmarks.memory import peak_of
from benchmarks.queries import ALL

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from benchmarks.query import Query

FEW_ROWS = 10_000
"""Enough for the same matcher as with many rows."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.measure")
    parser.add_argument("name", choices=ALL)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--growth", type=int, nargs="+", help="measure at these sizes instead")
    arguments = parser.parse_args()
    query = ALL[arguments.name]
    if arguments.growth:
        print(json.dumps(measure_growth(query, arguments.growth, arguments.repeat, arguments.threads)))
    else:
        print(json.dumps(measure(query, arguments.rows, arguments.repeat, arguments.threads)))


def measure(query: Query, n_rows: int, repeat: int, threads: int | None) -> dict[str, Any]:
    """Everything about one query; its runs and those of the SQL by hand take turns."""
    table = query.make(n_rows)
    ours = runner(query, table, threads)
    runner(query, table.slice(0, FEW_ROWS), threads)()  # loads the engine, so that its code does not count as memory
    answer, peak = peak_of(ours)
    explained = str(rex.explain(query.sql, t=table))
    wanted = query.expected(table)
    report: dict[str, Any] = {
        "name": query.name, "title": query.title, "rows": n_rows, "matcher": matcher_of(explained),
        "reads_match": query.reads_match, "peak_mb": peak, "result_rows": answer.num_rows,
        "checksum": checksum(answer), "wrong": differences(answer, wanted),
        "rate_goal": query.rate_goal, "ratio_goal": query.ratio_goal, "kernel_goal": query.kernel_goal,
    }
    by_hand = None
    if query.duckdb is not None:
        connection = duckdb.connect()
        connection.execute("SET TimeZone = 'UTC'")
        if threads is not None:
            connection.execute(f"SET threads = {threads}")
        connection.register("t", table)
        by_hand = hand_runner(connection, query.duckdb)
        report["duckdb_wrong"] = differences(by_hand(), wanted, any_order=True)
    del answer, wanted
    report["seconds"], report["duckdb_seconds"] = [], []
    for _ in range(repeat):
        seconds, result = timed(ours)
        report["seconds"].append(seconds)
        # The whole result was compared above; a later run that gives another one is wrong as well.
        if checksum(result) != report["checksum"]:
            report["wrong"] = report["wrong"] or "another run gave another answer"
        if by_hand is not None:
            report["duckdb_seconds"].append(timed(by_hand)[0])
    report["rate"] = n_rows / statistics.median(report["seconds"])
    if by_hand is not None:
        report["ratio"] = statistics.median(report["duckdb_seconds"]) / statistics.median(report["seconds"])
    if query.kernel_goal is not None:
        report["kernel_rate"] = n_rows / statistics.median(time_matcher(query, table, "symbol", repeat))
    return report


def measure_growth(query: Query, sizes: list[int], repeat: int, threads: int | None) -> dict[str, Any]:
    """The time of one query at growing sizes, and the power of n at which it grows."""
    medians = []
    wrong = None
    for n_rows in sizes:
        table = query.make(n_rows)
        ours = runner(query, table, threads)
        wrong = wrong or differences(ours(), query.expected(table))
        medians.append(statistics.median(timed(ours)[0] for _ in range(repeat)))
    power = math.log(medians[-1] / medians[0]) / math.log(sizes[-1] / sizes[0])
    doublings = [later / earlier for earlier, later in pairwise(medians)]
    return {
        "name": query.name, "title": query.title, "sizes": sizes, "medians": medians, "doublings": doublings,
        "power": power, "wrong": wrong,
    }


def runner(query: Query, table: pa.Table, threads: int | None) -> Callable[[], pa.Table]:
    """A call that runs the query from table to table, the parsing included."""
    settings = {} if threads is None else {"threads": threads}
    return lambda: rex.sql(query.sql, t=table, settings=settings)


def hand_runner(connection: Any, text: str) -> Callable[[], pa.Table]:
    """A call that runs the SQL by hand over the same pyarrow table into a pyarrow table."""
    return lambda: connection.sql(text).to_arrow_table()


def timed(run: Callable[[], pa.Table]) -> tuple[float, pa.Table]:
    """Seconds of a call, and its result."""
    start = time.perf_counter()
    result = run()
    return time.perf_counter() - start, result


def matcher_of(explained: str) -> str:
    """The name of the matcher that EXPLAIN shows."""
    found = re.search(r"matcher (\w+)", explained)
    assert found is not None  # every query has one
    return found[1]


if __name__ == "__main__":
    main()
