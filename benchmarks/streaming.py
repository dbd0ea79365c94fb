"""Searches on Structured Streaming beside what Spark needs to move the same rows, and beside Flink.

    python benchmarks/streaming.py [--rows N] [--batches N] [--keys N ...] [--queries NAME ...]
                                   [--parts queries flink curve latency]

Files of rows are read one for each batch, on two cores with two shuffle partitions, into a sink that keeps nothing. A
batch with data gives what those before it have decided; a batch without data, which follows where no file waits, is
added to the one before it. The first half of the batches warms up (Java compiles the code of a query for eight of
them or so), and the median of the others is shown. The floor is a stateless stream through `mapInArrow` that changes
nothing. `counter` is a stateful processor in pandas that counts the rows of each key, the least that a processor by
key can do; it is fed a tenth of the rows. After each search what it has given and what drains are counted together
and compared with the table's answer.

The part `flink` runs what Flink SQL can express there too, as a stream of fewer rows on two cores; the seconds of a
tenth of them are subtracted, and with them the start. `curve` runs the funnel in fewer and fewer buckets, so that each
has more state. `latency` is from the commit of a small source file to the commit of its last result, with both engines.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # when run as a file

from benchmarks.machine import describe_machine
from benchmarks.streams import flink, latency
from benchmarks.streams.files import ROWS_OF_A_SECOND, WARM_UP, Files, random_keys, stream_session, usual_seconds
from benchmarks.streams.queries import QUERIES
from benchmarks.tables import show

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from pyspark.sql import DataFrame, SparkSession

    from benchmarks.streams.queries import StreamQuery

IDENTITY, COUNTER = "identity", "counter"
CURVE, CURVE_BUCKETS = "funnel", (256, 64, 16, 4)
_FLINK_PER_SECOND = 1_000  # Flink's times have milliseconds
_Lines = list[list[str]]


def measure_search(
    files: Files, query: StreamQuery, settings: Mapping[str, Any] | None = None
) -> tuple[float, float, bool]:
    """Seconds of a batch, megabytes of state, and whether as many rows came as the table has."""
    batches = files.run(query.search(files.stream(), settings or {}))
    n_given = sum(batch.metrics["rows_out"] for batch in batches)
    n_expected = query.search(files.whole(), settings or {}).count()
    # What only the end decides is in the state: of all rows these are few.
    is_right = n_given <= n_expected and n_expected - n_given <= 0.02 * n_expected + 2 * files.n_keys
    return usual_seconds(batches), max(batch.metrics["state_bytes"] for batch in batches) / 1e6, is_right


def identity(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows."""
    yield from batches


def count_by_key(files: Files) -> DataFrame:
    """A counter for each key, in pandas."""
    import pandas as pd
    from pyspark.sql.streaming.stateful_processor import StatefulProcessor

    class Counter(StatefulProcessor):
        def init(self, handle: Any) -> None:
            self._count = handle.getValueState("n", "n long")

        def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Any:  # noqa: N802, N803  Spark's names
            before = self._count.get()
            n_rows = (before[0] if before else 0) + sum(len(part) for part in rows)
            self._count.update((n_rows,))
            yield pd.DataFrame({"k": [key[0]], "n": [n_rows]})

        def close(self) -> None:
            pass

    return files.stream().groupBy("k").transformWithStateInPandas(Counter(), "k long, n long", "append", "none")


def floor_of(files: Files) -> float:
    """Seconds of a batch that nobody changes."""
    return usual_seconds(files.run(files.stream().mapInArrow(identity, files.whole().schema)))


def on_spark(spark: SparkSession, folder: Path, options: argparse.Namespace) -> tuple[_Lines, bool]:
    """Every query, over rows of few keys and of many."""
    found = [_with_keys(spark, folder, options, n_keys) for n_keys in options.keys]
    return [line for lines, _ in found for line in lines], all(right for _, right in found)


def _with_keys(spark: SparkSession, folder: Path, options: argparse.Namespace, n_keys: int) -> tuple[_Lines, bool]:
    files = made(spark, folder, options.rows, options.batches, n_keys)
    floor = floor_of(files)
    lines = [[f"{n_keys:,}", IDENTITY, f"{floor:.2f}", f"{options.rows / floor:,.0f}", "1.00", "", ""]]
    is_right = True
    for name in options.queries:
        if name == COUNTER:
            few = made(spark, folder, options.rows // 10, WARM_UP, n_keys)
            seconds = usual_seconds(few.run(count_by_key(few)))
            rate, state, answer = few.n_rows / seconds, "", ""
        else:
            seconds, held, right = measure_search(files, QUERIES[name])
            rate, state, answer = options.rows / seconds, f"{held:.1f}", _told(right)
            is_right &= right
        share = rate * floor / options.rows
        lines.append([f"{n_keys:,}", name, f"{seconds:.2f}", f"{rate:,.0f}", f"{share:.2f}", state, answer])
        print("  ".join(lines[-1]), flush=True)
    return lines, is_right


def on_flink(spark: SparkSession, folder: Path, options: argparse.Namespace) -> tuple[_Lines, bool]:
    """What Flink can express, there and here, over the same rows; here in batches as large."""
    problem = flink.is_there()
    if problem is not None:
        print(f"Flink cannot be installed here: {problem}")
        return [], True
    lines, is_right = [], True
    n_rows = options.flink_rows
    for n_keys in options.keys:
        files = made(spark, folder, n_rows, WARM_UP + 2, n_keys, _FLINK_PER_SECOND)
        rows = pq.read_table(files.folder / "in" / "00000.parquet")
        for name, query in QUERIES.items():
            if query.flink is None or name not in options.queries:
                continue
            seconds, _, right = measure_search(files, query)
            here = n_rows / seconds
            there = _rate_of_flink(folder, query.flink, query.search(rows, {}), rows)
            lines.append([f"{n_keys:,}", name, f"{here:,.0f}", *(
                ["", "", there] if isinstance(there, str)
                else [f"{there[0]:,.0f}", f"{here / there[0]:.1f}", there[1]]
            ), _told(right)])
            is_right &= right
            print("  ".join(lines[-1]), flush=True)
    return lines, is_right


def _rate_of_flink(folder: Path, sql: str, answer: pa.Table, rows: pa.Table) -> tuple[float, str] | str:
    """Rows a second, and how its answer differs; or what went wrong."""
    n_few = rows.num_rows // 10
    few = flink.run(sql, answer.schema, rows.slice(0, n_few), Path(tempfile.mkdtemp(dir=folder)))
    if isinstance(few, str):
        return few
    every = flink.run(sql, answer.schema, rows, Path(tempfile.mkdtemp(dir=folder)))
    if isinstance(every, str):
        return every
    seconds, n_found = every
    is_same = n_found == answer.num_rows
    return (rows.num_rows - n_few) / max(seconds - few[0], 1e-3), (
        "as many rows" if is_same else f"{n_found:,} rows for {answer.num_rows:,}"
    )


def _told(right: bool) -> str:
    return "ok" if right else "WRONG"


def curve(spark: SparkSession, folder: Path, options: argparse.Namespace) -> tuple[_Lines, bool]:
    """The same search and rows in fewer buckets, so that there is more state in each."""
    files = made(spark, folder, options.rows, options.batches, options.keys[-1])
    floor = floor_of(files)
    lines, is_right = [], True
    for n_buckets in CURVE_BUCKETS:
        seconds, held, right = measure_search(files, QUERIES[CURVE], {"buckets": n_buckets})
        lines.append([
            f"{n_buckets}", f"{held / n_buckets:.2f}", f"{seconds:.2f}", f"{options.rows / seconds:,.0f}",
            f"{floor / seconds:.2f}", _told(right),
        ])
        is_right &= right
        print("  ".join(lines[-1]), flush=True)
    return lines, is_right


def latencies(spark: SparkSession, folder: Path, options: argparse.Namespace) -> tuple[_Lines, bool]:
    """Seconds from file to file, here and with Flink."""
    found = {"SparkRex": latency.of_spark(spark, folder / "of_spark", options.files)}
    problem = flink.is_there()
    if problem is None:
        found["Flink SQL"] = latency.of_flink(folder / "of_flink", options.files)
    else:
        print(f"Flink cannot be installed here: {problem}")
    return [
        [name, f"{median(seconds):.2f}", f"{quantiles(seconds, n=10)[-1]:.2f}", f"{max(seconds):.2f}"]
        for name, seconds in found.items()
    ], True


def made(
    spark: SparkSession, folder: Path, n_rows: int, n_batches: int, n_keys: int, per_second: int = ROWS_OF_A_SECOND
) -> Files:
    """Files of rows of so many keys."""
    files = Files(spark, Path(tempfile.mkdtemp(dir=folder)), n_rows, n_batches, random_keys(n_keys, per_second), n_keys)
    files.write()
    return files


PARTS: dict[str, tuple[list[str], Callable[[SparkSession, Path, argparse.Namespace], tuple[_Lines, bool]]]] = {
    "queries": (["keys", "query", "seconds a batch", "rows/s", "x of identity", "state MB", "answer"], on_spark),
    "flink": (["keys", "query", "rows/s", "Flink rows/s", "x Flink", "Flink's answer", "answer"], on_flink),
    "curve": (["buckets", "MB a bucket", "seconds a batch", "rows/s", "x of identity", "answer"], curve),
    "latency": (["engine", "seconds, median", "of ten the slowest", "most"], latencies),
}


def main(arguments: list[str] | None = None) -> int:
    """Measure and print; the exit code says whether all answers are right."""
    parser = argparse.ArgumentParser(prog="python benchmarks/streaming.py")
    parser.add_argument("--parts", nargs="+", choices=list(PARTS), default=list(PARTS))
    parser.add_argument("--rows", type=int, default=1_000_000, help="of a batch (default 1,000,000)")
    parser.add_argument("--batches", type=int, default=16)
    parser.add_argument("--keys", type=int, nargs="+", default=[1_000, 1_000_000])
    parser.add_argument("--queries", nargs="+", choices=[*QUERIES, COUNTER], default=[*QUERIES, COUNTER])
    parser.add_argument("--flink-rows", type=int, default=1_000_000, help="for Flink (default 1,000,000)")
    parser.add_argument("--files", type=int, default=30, help="whose latency is measured (default 30)")
    options = parser.parse_args(arguments)
    print(describe_machine(), flush=True)
    spark = stream_session()
    folder = Path(tempfile.mkdtemp())
    tables = []
    is_right = True
    try:
        for name in options.parts:
            header, measure = PARTS[name]
            print(name, flush=True)
            lines, right = measure(spark, folder, options)
            tables.append([header, *lines])
            is_right &= right
    finally:
        spark.stop()
        shutil.rmtree(folder, ignore_errors=True)
    for table in tables:
        print()
        show(table)
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
