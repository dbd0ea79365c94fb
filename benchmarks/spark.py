"""Spark jobs against the floor, which is Spark's own shuffle and sort of the same columns, and against other ways.

    python benchmarks/spark.py [--rows 10000000] [--pairs 9] [--json FILE] ...      quick: --rows 500000 --pairs 3

Three layouts of the same rows (1,000 keys, 1 key, 1,000,000 keys), which lie in the files in no order; three queries
(V shape, a condition that reads the match so far, ALL ROWS PER MATCH with string measures). Where rows arrive in the
order of time, Spark sorts them in half the time; so the V shape over 1,000 keys is measured once more with the files in
that order. The floor is `repartition(key)` and `sortWithinPartitions(key, ts)` of the columns that the query reads.
Every query runs over a DataFrame, and over the files by path, which workers read. Floor and both ways run in turn, each
into a no-op sink; what counts is the ratio within a turn. Every answer is checked in a run of its own, before the
turns, against a NumPy count or the in-memory engine. Then the V shape
by hand: Spark SQL with a regular expression, and a Python loop under `applyInPandas`; they are slow, so fewer pairs do.
Last, the peak memory of the Python workers for one key, by default and with `sort_memory` at 64 MB.

Every figure is printed, and with --json written, when it is there: an interrupted run (Ctrl-C) still shows its tables.
The whole takes about half an hour on two quiet cores.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sparkrex as rex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pandas as pd
    from pyspark.sql import DataFrame, SparkSession

SEED = 20261115
N_FILES = 8
VENUES = ("NYSE", "NASDAQ", "XETRA", "LSE", "TSE")
LAYOUTS = {"1,000 keys": 1_000, "1 key": 1, "1,000,000 keys": 1_000_000}
TIME_ORDER = "1,000 keys, in order of time"
GOALS = {"1,000 keys": 1.15, "1 key": 1.0, "1,000,000 keys": 1.3}
"""Most that the V shape may take, in floors."""
DATA_FRAME, BY_PATH = "DataFrame", "by path"
PATH_GOAL = 0.5
"""Most that the V shape over files by path may take in every layout, in floors."""
SQL_GOAL, PANDAS_GOAL = 2.0, 6.0
"""Least that the V shape must be faster than the same by hand."""
MEMORY_GOALS = {None: 700, 64 << 20: 300}
"""Most memory of a worker in MB, one key, by `sort_memory`."""

V_SHAPE = """SELECT * FROM ticks MATCH_RECOGNIZE (
  PARTITION BY key ORDER BY ts
  MEASURES FIRST(DOWN.ts) AS fell_at, LAST(UP.ts) AS back_at, MIN(DOWN.price) AS low
  PATTERN (STRT DOWN+ UP+)
  DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price))"""

CONTEXT = """SELECT * FROM ticks MATCH_RECOGNIZE (
  PARTITION BY key ORDER BY ts
  MEASURES FIRST(A.ts) AS began_at, B.ts AS ended_at, count(A.*) AS n_above
  PATTERN (A+ B)
  DEFINE A AS price >= avg(A.price), B AS volume < 150)"""

ALL_ROWS = """SELECT * FROM ticks MATCH_RECOGNIZE (
  PARTITION BY key ORDER BY ts
  MEASURES CLASSIFIER() AS label, FIRST(venue) AS opened_at
  ALL ROWS PER MATCH
  PATTERN (STRT DOWN+ UP+)
  DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price))"""

Checksum = tuple[int, ...]


@dataclass(frozen=True)
class Query:
    """A query over `ticks`, the columns it reads, and a checksum of its result in Spark's SQL."""

    name: str
    text: str
    columns: tuple[str, ...]
    checksum: tuple[str, ...]
    expected: Callable[[pa.Table], Checksum]


def main() -> int:
    arguments = parse_arguments()
    report: dict[str, Any] = {"queries": [], "by_hand": [], "memory": [], "is_complete": False}
    with tempfile.TemporaryDirectory() as folder:
        try:
            measure_all(arguments, Path(folder), report)
            report["is_complete"] = True
        except KeyboardInterrupt:
            stop_spark()
            print("interrupted; what was measured so far:", flush=True)
    print_report(report)
    save(report, arguments)
    everything = report["queries"] + report["by_hand"] + report["memory"]
    return 0 if report["is_complete"] and all(part["is_right"] for part in everything) else 1


def measure_all(arguments: argparse.Namespace, folder: Path, report: dict[str, Any]) -> None:
    """All layouts, one after the other, then memory; each figure goes into the report when it is there."""
    spark = start_spark(arguments, folder)
    machine = (
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"Spark {spark.version} {arguments.master}, load {os.getloadavg()[0]:.1f}"
    )
    print(f"{machine}; {arguments.rows:,} rows, {arguments.pairs} pairs, seed {SEED}\n", flush=True)
    queries = [query for query in QUERIES if query.name in arguments.queries]
    report |= {"machine": machine, "seed": SEED, "rows": arguments.rows}
    for layout in arguments.layouts:
        # A quick run with fewer rows keeps ten rows a key, or there would be nothing to match.
        table = make_ticks(arguments.rows, min(LAYOUTS[layout], max(1, arguments.rows // 10)))
        path = write_ticks(shuffled(table), folder / layout)
        measured = [(layout, path, query) for query in queries]
        if layout == "1,000 keys":
            measured += [(TIME_ORDER, write_ticks(table, folder / TIME_ORDER), query) for query in queries[:1]]
        for name, source, query in measured:
            for part in measure(spark, source, table, name, query, arguments.pairs):
                report["queries"].append(part)
                print(query_line(part), flush=True)
            save(report, arguments)
        if layout in arguments.by_hand:
            for part in measure_by_hand(spark, path, table, layout, arguments.by_hand_pairs):
                report["by_hand"].append(part)
                print(by_hand_line(part), flush=True)
                save(report, arguments)
        del table
    spark.stop()
    if not arguments.skip_memory:
        for part in measure_memory(arguments, folder):
            report["memory"].append(part)
            print(memory_line(part), flush=True)
            save(report, arguments)


def save(report: dict[str, Any], arguments: argparse.Namespace) -> None:
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python benchmarks/spark.py")
    parser.add_argument("--rows", type=int, default=10_000_000, help="rows of each layout (default 10,000,000)")
    parser.add_argument("--pairs", type=int, default=9, help="pairs of floor and query (default 9)")
    parser.add_argument("--layouts", nargs="*", choices=LAYOUTS, default=list(LAYOUTS), help="default: all three")
    names = [query.name for query in QUERIES]
    parser.add_argument("--queries", nargs="*", choices=names, default=names, help="default: all three")
    parser.add_argument(
        "--by-hand", nargs="*", choices=LAYOUTS, default=["1,000 keys"], help="layouts for the V shape by hand"
    )
    parser.add_argument("--by-hand-pairs", type=int, default=3, help="pairs of query and by hand (default 3)")
    parser.add_argument("--skip-memory", action="store_true", help="leave the workers' memory out")
    parser.add_argument("--master", default="local[2]", help="default local[2]")
    parser.add_argument("--conf", nargs="*", default=[], metavar="NAME=VALUE", help="more settings of Spark")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    return parser.parse_args()


def start_spark(arguments: argparse.Namespace, folder: Path) -> SparkSession:
    """A session with Spark's own defaults but for two things: the memory, which must hold the sort of the floor, and
    the limit of bytes in a batch for Python, which docs/deploy.md advises to switch off (--conf sets it back)."""
    from pyspark.sql import SparkSession

    from sparkrex.spark.versions import BYTES_PER_BATCH, NO_LIMIT

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    settings = {
        "spark.driver.memory": "4g", "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC", "spark.log.level": "ERROR", BYTES_PER_BATCH: NO_LIMIT,
        "spark.sql.warehouse.dir": f"{folder}/warehouse",
    }
    settings |= dict(text.split("=", 1) for text in arguments.conf)
    builder = SparkSession.builder.master(arguments.master).appName("SparkRex benchmark")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def stop_spark() -> None:
    """End the session, if there is one, before the files that its job still reads are removed."""
    from pyspark.sql import SparkSession

    if (spark := SparkSession.getActiveSession()) is not None:
        spark.stop()


# The data, and what is known of it without a pattern engine.


def make_ticks(n_rows: int, n_keys: int) -> pa.Table:
    """Ticks in time order: each row is the next step in the random walk of a random key, in whole cents."""
    random = np.random.default_rng(SEED)
    key = random.integers(0, n_keys, n_rows)
    order = np.argsort(key, kind="stable")
    walk = np.cumsum(random.integers(-30, 31, n_rows))
    # One long walk, cut where the key changes and moved to a common level.
    starts = first_rows(key[order])
    walk -= np.repeat(walk[starts], np.diff(np.append(starts, n_rows)))
    cents = np.empty(n_rows, np.int64)
    cents[order] = 1_000_000 + walk
    ts = 1_800_000_000_000_000 + np.arange(n_rows) * 1_000 + random.integers(0, 1_000, n_rows)
    venues = pa.DictionaryArray.from_arrays(random.integers(0, len(VENUES), n_rows).astype(np.int8), list(VENUES))
    return pa.table(
        {
            "key": key, "ts": pa.array(ts, pa.timestamp("us")), "price": cents / 100.0,
            "volume": random.integers(100, 1_100, n_rows), "venue": venues,
        }
    )


def shuffled(table: pa.Table) -> pa.Table:
    """The rows in no order."""
    return table.take(pa.array(np.random.default_rng(SEED + 1).permutation(table.num_rows)))


def first_rows(ordered_keys: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Where each key begins in ordered keys."""
    return np.flatnonzero(np.append(True, ordered_keys[1:] != ordered_keys[:-1]))


def write_ticks(table: pa.Table, folder: Path) -> Path:
    """The table as Parquet files in a folder, several, so that Spark reads them in parallel."""
    folder.mkdir()
    size = -(-table.num_rows // N_FILES)
    for number in range(N_FILES):
        pq.write_table(table.slice(number * size, size), folder / f"{number}.parquet")
    return folder


@dataclass(frozen=True)
class VShapes:
    """All matches of (STRT DOWN+ UP+): of each, its rows' number, its lowest price in cents, the row of STRT."""

    n_rows: np.ndarray[Any, Any]
    low: np.ndarray[Any, Any]
    row_start: np.ndarray[Any, Any]


def find_v_shapes(table: pa.Table) -> VShapes:
    """The matches, from runs of equal direction.

    A fall that a climb follows at once is a V, and STRT is the row before it. But if that row is the end of the V
    before, STRT must be the first row of the fall itself, and a fall of one row has none left for DOWN: then it is no
    V, and the next one is free again. So in a chain of touching one-row falls every other one is a V.
    """
    key = table["key"].to_numpy()
    order = np.argsort(key, kind="stable")
    cents = np.round(table["price"].to_numpy()[order] * 100).astype(np.int64)
    direction = np.sign(np.diff(cents, prepend=cents[:1]))
    direction[first_rows(key[order])] = 2  # neither up nor down
    # The first row of a key is a run of its own, also after a key of one row, so no run spans two keys.
    run_starts = np.union1d(first_rows(direction), first_rows(key[order]))
    run_ends = np.append(run_starts[1:], len(cents))
    kind = direction[run_starts]
    fall = np.flatnonzero((kind[:-1] == -1) & (kind[1:] == 1))
    is_single = run_ends[fall] - run_starts[fall] == 1
    touches = np.append(False, fall[1:] == fall[:-1] + 2)[: len(fall)]
    place = np.arange(len(fall))
    anchor = np.maximum.accumulate(np.where(touches & is_single, 0, place))
    is_match = (place - anchor) % 2 == 0
    is_consumed = touches & np.append(False, is_match[:-1])[: len(fall)]
    fall, is_consumed = fall[is_match], is_consumed[is_match]
    start = run_starts[fall] - 1 + is_consumed
    return VShapes(run_ends[fall + 1] - start, cents[run_ends[fall] - 1], order[start])


def expected_v_shape(table: pa.Table) -> Checksum:
    found = find_v_shapes(table)
    return len(found.low), int(found.low.sum())


def expected_all_rows(table: pa.Table) -> Checksum:
    found = find_v_shapes(table)
    lengths = np.array([len(name) for name in VENUES])[table["venue"].combine_chunks().indices.to_numpy()]
    return int(found.n_rows.sum()), len(found.low), int((found.n_rows * lengths[found.row_start]).sum())


def expected_context(table: pa.Table) -> Checksum:
    """By the engine in memory: no shuffle, no worker, no spill, another host."""
    found = rex.sql(CONTEXT, ticks=table)
    return found.num_rows, int(found["n_above"].to_numpy().sum())


CENTS = "sum(cast(round(low * 100) AS BIGINT))"

QUERIES = (
    Query("V shape", V_SHAPE, ("key", "ts", "price"), ("count(*)", CENTS), expected_v_shape),
    Query("context", CONTEXT, ("key", "ts", "price", "volume"), ("count(*)", "sum(n_above)"), expected_context),
    Query(
        "all rows", ALL_ROWS, ("key", "ts", "price", "volume", "venue"),
        ("count(*)", "count_if(label = 'STRT')", "sum(length(opened_at))"), expected_all_rows,
    ),
)


# Time.


def measure(
    spark: SparkSession, path: Path, table: pa.Table, layout: str, query: Query, n_pairs: int
) -> Iterator[dict[str, Any]]:
    """One query on one layout: turns of the floor and both ways, and the answer of each."""
    ticks = spark.read.parquet(str(path))

    def floor() -> None:
        rows = ticks.select(*query.columns)
        consume(rows.repartition("key").sortWithinPartitions("key", "ts"))

    # By path all that `rex.sql` does counts: Spark lists the files and footers are read, each time.
    ways: dict[str, Callable[[], DataFrame]] = {
        DATA_FRAME: lambda: rex.sql(query.text, ticks=ticks),
        BY_PATH: lambda: rex.sql(query.text, ticks=str(path), spark=spark),
    }
    expected = query.expected(table)
    answers = {way: checksum(found(), query.checksum) for way, found in ways.items()}
    floor()
    runs = [partial(lambda found: consume(found()), found) for found in ways.values()]
    floors, *seconds = take_turns([floor, *runs], n_pairs)
    for way, taken in zip(ways, seconds, strict=True):
        goal = GOALS.get(layout) if way == DATA_FRAME else PATH_GOAL
        yield {
            "layout": layout, "query": query.name, "way": way, "floor": floors, "seconds": taken,
            "goal": goal if query.name == "V shape" else None, "answer": answers[way], "expected": expected,
            "is_right": answers[way] == expected, **ratio_report(taken, floors),
        }


def measure_by_hand(
    spark: SparkSession, path: Path, table: pa.Table, layout: str, n_pairs: int
) -> Iterator[dict[str, Any]]:
    """The V shape by other means on the same rows, beside ours."""
    ticks = spark.read.parquet(str(path))
    query = QUERIES[0]
    expected = query.expected(table)
    ways: list[tuple[str, Callable[[DataFrame], DataFrame], float]] = [
        ("Spark SQL, string and regexp", v_shape_by_regexp, SQL_GOAL),
        ("applyInPandas, Python loop", v_shape_by_pandas, PANDAS_GOAL),
    ]
    for name, find, goal in ways:
        by_hand = find(ticks)
        answer = checksum(by_hand, query.checksum)
        ours, theirs = take_turns(
            [lambda: consume(rex.sql(query.text, ticks=ticks)), partial(consume, by_hand)], n_pairs
        )
        yield {
            "layout": layout, "way": name, "ours": ours, "seconds": theirs, "goal": goal, "answer": answer,
            "expected": expected, "is_right": answer == expected, **ratio_report(theirs, ours),
        }


def take_turns(jobs: Sequence[Callable[[], None]], n_turns: int) -> list[list[float]]:
    """Seconds of each job in turns, each turn in the other order; all have run before."""
    seconds: list[list[float]] = [[] for _ in jobs]
    for number in range(n_turns):
        for which in range(len(jobs)) if number % 2 else reversed(range(len(jobs))):
            start = time.perf_counter()
            jobs[which]()
            seconds[which].append(time.perf_counter() - start)
    return seconds


def ratio_report(above: list[float], below: list[float]) -> dict[str, float]:
    """Median and quartiles of the ratios within pairs."""
    ratios = sorted(a / b for a, b in zip(above, below, strict=True))
    low, middle, high = np.quantile(ratios, (0.25, 0.5, 0.75)).tolist()
    return {"ratio": middle, "ratio_first_quartile": low, "ratio_third_quartile": high}


def consume(frame: DataFrame) -> None:
    """Compute every row and drop it."""
    frame.write.format("noop").mode("overwrite").save()


def checksum(frame: DataFrame, columns: tuple[str, ...]) -> Checksum:
    """A few sums over the whole result."""
    from pyspark.sql import functions as f

    row = frame.agg(*[f.expr(text).alias(f"c{number}") for number, text in enumerate(columns)]).collect()[0]
    return tuple(int(value or 0) for value in row)


# The V shape by hand.


def v_shape_by_regexp(ticks: DataFrame) -> DataFrame:
    """Rows as letters with their values behind them, one string a key; a regular expression over it; values cut out.

    A token is 25 characters: S, D or U, the time in microseconds (16 digits), the price in cents (8 digits).
    """
    return ticks.sparkSession.sql(
        r"""
        WITH steps AS (
          SELECT key, ts, CAST(round(price * 100) AS BIGINT) AS cents,
                 price - lag(price) OVER (PARTITION BY key ORDER BY ts) AS step
          FROM {ticks}),
        strings AS (
          SELECT key, string_agg(
                   concat(CASE WHEN step < 0 THEN 'D' WHEN step > 0 THEN 'U' ELSE 'S' END,
                          lpad(unix_micros(CAST(ts AS TIMESTAMP)), 16, '0'), lpad(cents, 8, '0')), '')
                   WITHIN GROUP (ORDER BY ts) AS letters
          FROM steps GROUP BY key),
        found AS (
          SELECT key, explode(regexp_extract_all(letters, '[SDU][0-9]{{24}}(D[0-9]{{24}})+(U[0-9]{{24}})+', 0)) AS m
          FROM strings)
        SELECT key, timestamp_micros(CAST(substr(m, 27, 16) AS BIGINT)) AS fell_at,
               timestamp_micros(CAST(substr(m, -24, 16) AS BIGINT)) AS back_at,
               CAST(substr(m, instr(m, 'U') - 8, 8) AS BIGINT) / 100 AS low
        FROM (SELECT key, concat('S', substr(m, 2)) AS m FROM found)
        """,
        ticks=ticks,
    )


def v_shape_by_pandas(ticks: DataFrame) -> DataFrame:
    """A Python loop over each key's rows."""
    rows = ticks.select("key", "ts", "price")
    schema = "key long, fell_at timestamp_ntz, back_at timestamp_ntz, low double"
    return rows.groupBy("key").applyInPandas(v_shapes_of_key, schema)


def v_shapes_of_key(rows: pd.DataFrame) -> pd.DataFrame:
    """The V shapes among the rows of one key."""
    import pandas as pd

    rows = rows.sort_values("ts")
    prices, ts = rows["price"].tolist(), rows["ts"].to_numpy()
    found = []
    start, n_rows = 0, len(prices)
    while start < n_rows:
        turn = start + 1
        while turn < n_rows and prices[turn] < prices[turn - 1]:
            turn += 1
        end = turn
        while end < n_rows and prices[end] > prices[end - 1]:
            end += 1
        if turn > start + 1 and end > turn:
            found.append((rows["key"].iloc[0], ts[start + 1], ts[end - 1], prices[turn - 1]))
            start = end
        else:
            start += 1
    return pd.DataFrame(found, columns=["key", "fell_at", "back_at", "low"])


# Memory.


def measure_memory(arguments: argparse.Namespace, folder: Path) -> Iterator[dict[str, Any]]:
    """The largest Python worker of the V shape over one key, each time among workers of a fresh session."""
    table = make_ticks(arguments.rows, 1)
    path = write_ticks(shuffled(table), folder / "memory")
    expected = QUERIES[0].expected(table)
    del table
    for sort_memory, goal in MEMORY_GOALS.items():
        settings = {} if sort_memory is None else {"sort_memory": sort_memory}
        spark = start_spark(arguments, folder)
        with peak_of_workers() as peaks:
            found = rex.sql(V_SHAPE, ticks=spark.read.parquet(str(path)), settings=settings)
            start = time.perf_counter()
            answer = checksum(found, QUERIES[0].checksum)
            seconds = time.perf_counter() - start
        spark.stop()
        yield {
            "sort_memory": sort_memory, "goal": goal, "peak_mb": max(peak.total for peak in peaks.values()) / 1024,
            "peak_own_mb": max(peak.own for peak in peaks.values()) / 1024, "seconds": seconds,
            "answer": answer, "expected": expected, "is_right": answer == expected,
        }


@dataclass(frozen=True)
class Peak:
    """Most memory of a process in kB: all of it, and without the files (libraries) that processes share."""

    total: int
    own: int


@contextmanager
def peak_of_workers() -> Iterator[dict[int, Peak]]:
    """The most memory that each Python worker of our Spark ever had, by process id, filled while it runs."""
    peaks: dict[int, Peak] = {}
    done = threading.Event()

    def look() -> None:
        for number, seen in workers().items():
            before = peaks.get(number, seen)
            peaks[number] = Peak(max(before.total, seen.total), max(before.own, seen.own))

    def watch() -> None:
        while not done.wait(0.05):
            look()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield peaks
    finally:
        done.set()
        watcher.join()
        look()


def workers() -> dict[int, Peak]:
    """The processes that `pyspark.daemon` forked, of this process's own Spark only, by process id.

    The kernel keeps the peak of the total (VmHWM); of a worker's own memory (RssAnon) it only knows the present.
    """
    parents: dict[int, int] = {}
    commands: dict[int, str] = {}
    status: dict[int, str] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            text = (folder / "status").read_text(encoding="utf-8")
            commands[int(folder.name)] = (folder / "cmdline").read_text(encoding="utf-8", errors="replace")
        except (OSError, ValueError):
            continue  # it ended meanwhile
        status[int(folder.name)] = text
        parents[int(folder.name)] = int(text.split("PPid:")[1].split()[0])
    found = {}
    for number, command in commands.items():
        is_worker = "pyspark.daemon" in command and "pyspark.daemon" in commands.get(parents[number], "")
        if is_worker and "VmHWM:" in status[number] and os.getpid() in ancestors(number, parents):
            total, own = (int(status[number].split(f"{name}:")[1].split()[0]) for name in ("VmHWM", "RssAnon"))
            found[number] = Peak(total, own)
    return found


def ancestors(number: int, parents: dict[int, int]) -> set[int]:
    """All processes above one."""
    above: set[int] = set()
    while number in parents and parents[number] not in above:
        number = parents[number]
        above.add(number)
    return above


# The report.


def query_line(report: dict[str, Any]) -> str:
    return f"{report['layout']}, {report['query']}, {report['way']}: {spread(report)} floors, {verdict(report)}"


def by_hand_line(report: dict[str, Any]) -> str:
    return f"{report['layout']}, V shape by {report['way']}: {spread(report)} times ours, {verdict(report)}"


def memory_line(report: dict[str, Any]) -> str:
    return f"1 key, sort_memory {memory_name(report)}: a worker has {report['peak_mb']:,.0f} MB, {verdict(report)}"


def memory_name(report: dict[str, Any]) -> str:
    return "default" if report["sort_memory"] is None else f"{report['sort_memory'] >> 20} MB"


def print_report(report: dict[str, Any]) -> None:
    """The three tables."""
    lines = [
        [
            part["layout"], part["query"], part["way"], median(part["floor"]), median(part["seconds"]),
            f"{report['rows'] / statistics.median(part['seconds']):,.0f}", spread(part),
            goal(part["ratio"], part["goal"], is_most=True), f"{part['answer'][0]:,}", verdict(part),
        ]
        for part in report["queries"]
    ]
    if lines:
        print()
        names = "layout, query, input, floor, ours, rows/s, ours / floor (quartiles), goal, rows out, answer"
        print_table(names.split(", "), lines)
    lines = [
        [
            part["layout"], part["way"], median(part["ours"]), median(part["seconds"]), spread(part),
            goal(part["ratio"], part["goal"], is_most=False), verdict(part),
        ]
        for part in report["by_hand"]
    ]
    if lines:
        print()
        names = "layout, V shape by hand, ours, by hand, by hand / ours (quartiles), goal, answer"
        print_table(names.split(", "), lines)
    lines = [
        [
            memory_name(part), f"{part['peak_mb']:,.0f} MB", f"{part['peak_own_mb']:,.0f} MB",
            goal(part["peak_mb"], part["goal"], is_most=True), f"{part['seconds']:.2f} s", verdict(part),
        ]
        for part in report["memory"]
    ]
    if lines:
        print()
        print_table(["sort_memory, 1 key", "peak of a worker", "without libraries", "goal", "time", "answer"], lines)


def median(seconds: list[float]) -> str:
    return f"{statistics.median(seconds):.2f} s"


def spread(part: dict[str, Any]) -> str:
    return f"{part['ratio']:.2f} ({part['ratio_first_quartile']:.2f} to {part['ratio_third_quartile']:.2f})"


def goal(value: float, wanted: float | None, *, is_most: bool) -> str:
    if wanted is None:
        return "-"
    is_met = value <= wanted if is_most else value >= wanted
    return f"{'<=' if is_most else '>='} {wanted:g} {'ok' if is_met else 'MISSED'}"


def verdict(part: dict[str, Any]) -> str:
    return "right" if part["is_right"] else "WRONG"


def print_table(header: list[str], lines: list[list[str]]) -> None:
    """Columns as wide as they need to be, the first to the left, the others to the right."""
    widths = [max(len(line[place]) for line in [header, *lines]) for place in range(len(header))]
    for line in [header, *lines]:
        cells = [cell.rjust(width) for cell, width in zip(line, widths, strict=True)]
        print("  ".join([line[0].ljust(widths[0]), *cells[1:]]))


if __name__ == "__main__":
    sys.exit(main())
