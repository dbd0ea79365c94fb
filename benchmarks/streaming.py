"""Searches on Structured Streaming beside what Spark needs to move the same rows.

    python benchmarks/streaming.py [--rows N] [--batches N] [--keys N ...] [--queries NAME ...]

Files of rows are read one for each batch, on two cores with two shuffle partitions, into a sink that keeps nothing. Of
each query the seconds of a batch with data and of the batch without that follows it are added up, since a search gives
its rows in the latter; the first two batches warm up, and the median of the others is shown. The floor is a stateless
stream through `mapInArrow` that changes nothing. `counter` is a stateful processor in pandas that counts the rows of
each key, the least that a processor by key can do; it is fed a tenth of the rows. After each search what it has given
and what drains are counted together and compared with the table's answer.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # when run as a file

import sparkrex as rex
from benchmarks.local_spark import local_session
from benchmarks.machine import describe_machine
from benchmarks.tables import show

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame, SparkSession

SECOND = 1_000_000
WARM_UP = 2
IDENTITY, COUNTER = "identity", "counter"
_ROWS = "SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts {})"
QUERIES: dict[str, Callable[[DataFrame], DataFrame]] = {
    "V shape": lambda ticks: rex.sql(_ROWS.format(
        "MEASURES FIRST(ts) AS a, LAST(ts) AS b, MIN(D.x) AS low PATTERN (S D+ U+) "
        "DEFINE D AS x < PREV(x), U AS x > PREV(x)"), ticks=ticks),
    "funnel": lambda ticks: rex.sql(_ROWS.format(
        "MEASURES A.ts AS a, C.ts AS c PATTERN (A N*? B M*? C) WITHIN INTERVAL '1' HOUR "
        "DEFINE A AS kind = 0, B AS kind = 1, C AS kind = 2"), ticks=ticks),
    "events": lambda ticks: rex.events(
        "PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) { [k] } WITHIN 10 minutes RETURN a.ts AS a, b.ts AS b",
        ticks, time="ts", types={"A": "kind = 0", "B": "kind = 1"}, ties="order", tie_break="x"),
    "trends": lambda ticks: rex.trends(
        "RETURN k, COUNT(*) AS n PATTERN SEQ(A+, B) SEMANTICS skip-till-next-match WHERE [k] GROUP-BY k "
        "WITHIN 1 minutes SLIDE 1 minutes",
        ticks, time="ts", types={"A": "kind = 0", "B": "kind = 1"}, ties="order", tie_break="x"),
}


@dataclass
class Files:
    """Rows of so many keys in files, one for each batch: a second of time for each 10,000 rows."""

    spark: SparkSession
    folder: Path
    n_rows: int
    n_batches: int
    n_keys: int
    _runs: int = field(default=0)

    def write(self) -> None:
        """Make them; the order of the rows is disturbed a little."""
        rng = np.random.default_rng(1)
        (self.folder / "in").mkdir()
        for batch in range(self.n_batches):
            at = batch * self.n_rows + np.arange(self.n_rows)
            times = (1_000_000 * SECOND + at * (SECOND // 10_000))[np.argsort(at + rng.random(self.n_rows) * 1_000)]
            table = pa.table({
                "k": rng.integers(0, self.n_keys, self.n_rows), "ts": pa.array(times, pa.timestamp("us", "UTC")),
                "x": rng.random(self.n_rows), "kind": rng.integers(0, 20, self.n_rows),
            })
            pq.write_table(table, self.folder / "in" / f"{batch:03}.parquet")

    def whole(self) -> DataFrame:
        """All of them as a table."""
        return self.spark.read.parquet(str(self.folder / "in"))

    def stream(self) -> DataFrame:
        """One for each batch."""
        reader = self.spark.readStream.schema(self.whole().schema).option("maxFilesPerTrigger", 1)
        return reader.parquet(str(self.folder / "in")).withWatermark("ts", "1 second")

    def run(self, frame: DataFrame) -> tuple[float, list[Any]]:
        """Seconds of a batch, and all batches."""
        self._runs += 1
        checkpoint = self.folder / f"checkpoint-{self._runs}"
        writer = frame.writeStream.format("noop").option("checkpointLocation", str(checkpoint))
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination()
        batches = list(query.recentProgress)
        seconds: list[float] = []
        for batch in batches:
            took = batch["durationMs"]["triggerExecution"] / 1000
            if batch["numInputRows"]:
                seconds.append(took)
            else:
                seconds[-1] += took
        return median(seconds[WARM_UP:]), batches


def measure_search(files: Files, search: Callable[[DataFrame], DataFrame]) -> tuple[float, float, bool]:
    """Seconds of a batch, megabytes of state, and whether as many rows came as the table has."""
    found = search(files.stream())
    seconds, batches = files.run(found)
    kept = [dict(row.asDict()) for batch in batches for row in (batch["observedMetrics"] or {}).values()]
    n_given = sum(row["rows_out"] or 0 for row in kept)
    n_expected = search(files.whole()).count()
    # What only the end decides is in the state: of all rows these are few.
    is_right = n_given <= n_expected and n_expected - n_given <= 0.02 * n_expected + 2 * files.n_keys
    return seconds, max(row["state_bytes"] or 0 for row in kept) / 1e6, is_right


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


def main(arguments: list[str] | None = None) -> int:
    """Measure and print; the exit code says whether all answers are right."""
    parser = argparse.ArgumentParser(prog="python benchmarks/streaming.py")
    parser.add_argument("--rows", type=int, default=1_000_000, help="of a batch (default 1,000,000)")
    parser.add_argument("--batches", type=int, default=5)
    parser.add_argument("--keys", type=int, nargs="+", default=[1_000, 1_000_000])
    parser.add_argument("--queries", nargs="+", choices=[*QUERIES, COUNTER], default=[*QUERIES, COUNTER])
    options = parser.parse_args(arguments)
    print(describe_machine(), flush=True)
    spark = local_session(2)
    spark.conf.set("spark.sql.streaming.stateStore.providerClass",
                   "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider")
    spark.conf.set("spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled", "true")
    lines = [["keys", "query", "seconds a batch", "rows/s", "x of identity", "state MB", "answer"]]
    is_right = True
    folder = Path(tempfile.mkdtemp())
    try:
        for n_keys in options.keys:
            files = Files(spark, Path(tempfile.mkdtemp(dir=folder)), options.rows, options.batches, n_keys)
            files.write()
            floor, *_ = files.run(files.stream().mapInArrow(identity, files.whole().schema))
            lines.append([f"{n_keys:,}", IDENTITY, f"{floor:.2f}", f"{options.rows / floor:,.0f}", "1.00", "", ""])
            for name in options.queries:
                if name == COUNTER:
                    few = Files(spark, Path(tempfile.mkdtemp(dir=folder)), options.rows // 10, WARM_UP + 1, n_keys)
                    few.write()
                    seconds, *_ = few.run(count_by_key(few))
                    rate, state, right = few.n_rows / seconds, "", True
                else:
                    seconds, held, right = measure_search(files, QUERIES[name])
                    rate, state = options.rows / seconds, f"{held:.1f}"
                is_right &= right
                answer = "" if name == COUNTER else "ok" if right else "WRONG"
                share = rate * floor / options.rows
                lines.append([f"{n_keys:,}", name, f"{seconds:.2f}", f"{rate:,.0f}", f"{share:.2f}", state, answer])
                print("  ".join(lines[-1]), flush=True)
    finally:
        spark.stop()
        shutil.rmtree(folder, ignore_errors=True)
    show(lines)
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
