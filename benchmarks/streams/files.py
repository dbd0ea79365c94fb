"""Rows in files, one for each batch, and streams that read them on two cores."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.local_spark import local_session

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

SECOND = 1_000_000
WARM_UP = 4
ROWS_OF_A_SECOND = 10_000


def stream_session() -> SparkSession:
    """A session with what stateful streams need."""
    spark = local_session(2)
    spark.conf.set("spark.sql.streaming.stateStore.providerClass",
                   "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider")
    spark.conf.set("spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled", "true")
    spark.conf.set("spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows", "false")
    return spark


def random_keys(n_keys: int, per_second: int = ROWS_OF_A_SECOND, *, seed: int = 1) -> Callable[[int, int], pa.Table]:
    """Rows of so many keys, so many in a second of time; their order is disturbed a little."""
    rng = np.random.default_rng(seed)

    def rows(first: int, n_rows: int) -> pa.Table:
        at = first + np.arange(n_rows)
        times = times_of(at, per_second)[np.argsort(at + rng.random(n_rows) * 1_000)]
        return pa.table({
            "k": rng.integers(0, n_keys, n_rows), "ts": pa.array(times, pa.timestamp("us", "UTC")),
            "x": rng.random(n_rows), "kind": rng.integers(0, 20, n_rows),
        })

    return rows


def times_of(at: Any, per_second: int = ROWS_OF_A_SECOND) -> Any:
    """The times of rows by their places."""
    return 1_000_000 * SECOND + at * (SECOND // per_second)


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch with data and the one without that follows: their seconds, and what our operator said after them."""

    seconds: float
    metrics: dict[str, int]


@dataclass
class Files:
    """`n_batches` files of `n_rows` each; `rows` makes those from a place on."""

    spark: SparkSession
    folder: Path
    n_rows: int
    n_batches: int
    rows: Callable[[int, int], pa.Table]
    n_keys: int
    _runs: int = field(default=0)

    def write(self) -> None:
        """Make them."""
        (self.folder / "in").mkdir(parents=True)
        for batch in range(self.n_batches):
            pq.write_table(self.rows(batch * self.n_rows, self.n_rows), self.folder / "in" / f"{batch:05}.parquet")

    def whole(self) -> DataFrame:
        """All of them as a table."""
        return self.spark.read.parquet(str(self.folder / "in"))

    def stream(self) -> DataFrame:
        """One for each batch."""
        reader = self.spark.readStream.schema(self.whole().schema).option("maxFilesPerTrigger", 1)
        return reader.parquet(str(self.folder / "in")).withWatermark("ts", "1 second")

    def run(self, frame: DataFrame) -> list[Batch]:
        """All files through a query into a sink that keeps nothing."""
        self._runs += 1
        checkpoint = self.folder / f"checkpoint-{self._runs}"
        writer = frame.writeStream.format("noop").option("checkpointLocation", str(checkpoint))
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination()
        batches: list[Batch] = []
        for batch in query.recentProgress:
            took = batch["durationMs"]["triggerExecution"] / 1000
            metrics = {}
            for row in (batch["observedMetrics"] or {}).values():
                metrics = {name: value or 0 for name, value in row.asDict().items()}
            if batch["numInputRows"]:
                batches.append(Batch(took, metrics))
            else:
                before = batches.pop()
                metrics["rows_out"] = metrics.get("rows_out", 0) + before.metrics.get("rows_out", 0)
                batches.append(Batch(before.seconds + took, metrics))
        return batches


def usual_seconds(batches: list[Batch]) -> float:
    """Of a batch in the second half: Java compiles a query's code during the first one."""
    return median(batch.seconds for batch in batches[len(batches) // 2 :])
