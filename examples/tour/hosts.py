"""Where the queries of the tour run: on a local Spark, or in memory."""

from __future__ import annotations

import itertools
import os
import shutil
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from examples.tour.stop import Scene, Stop

ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


class Host(Protocol):
    """Answers the query of a stop, and gives the rows of the partitions that are drawn."""

    name: str

    def answer(self, name: str, stop: Stop, scene: Scene) -> tuple[pa.Table, pa.Table]: ...


class Memory:
    """Tables in this process. A stream is a table there: its answer is the same."""

    name = "in memory"

    def answer(self, name: str, stop: Stop, scene: Scene) -> tuple[pa.Table, pa.Table]:
        del name
        return stop.find(scene.table), rows_of(scene.table, stop.key, scene.shown)


class Spark:
    """Parquet files in a folder, DataFrames over them, and what comes out collected."""

    name = "on Spark (local[2])"

    def __init__(self, session: SparkSession, folder: Path) -> None:
        self._session = session
        self._folder = folder

    def answer(self, name: str, stop: Stop, scene: Scene) -> tuple[pa.Table, pa.Table]:
        folder = self._folder / name
        shutil.rmtree(folder, ignore_errors=True)  # of an earlier tour, its checkpoint too
        folder.mkdir(parents=True)
        if scene.cuts:
            arrived, found = self._stream(folder, stop, scene)
        else:
            pq.write_table(scene.table, folder / "rows.parquet")
            arrived = self._session.read.parquet(str(folder / "rows.parquet"))
            found = stop.find(arrived)
        # Pictures are made in memory, so only the rows that they show are collected.
        shown = arrived.where(arrived[stop.key].isin(scene.shown))
        return found.toArrow(), shown.toArrow()

    def _stream(self, folder: Path, stop: Stop, scene: Scene) -> tuple[DataFrame, DataFrame]:
        """The rows as files, a batch for each; what the query writes while they go through."""
        rows = folder / "rows"
        rows.mkdir()
        for number, part in enumerate(parts_of(scene)):
            file = rows / f"{number}.parquet"
            pq.write_table(part, file)
            # Spark reads files in the order of their times.
            os.utime(file, (1_700_000_000 + number, 1_700_000_000 + number))
        arrived = self._session.read.parquet(str(rows))
        stream = self._session.readStream.schema(arrived.schema).option("maxFilesPerTrigger", 1).parquet(str(rows))
        found = stop.find(stream.withWatermark("ts", "1 minute"))
        writer = found.writeStream.format("parquet").option("path", str(folder / "found"))
        writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
        writer.trigger(availableNow=True).start().awaitTermination()
        return arrived, self._session.read.schema(found.schema).parquet(str(folder / "found"))


def parts_of(scene: Scene) -> list[pa.Table]:
    """The rows of a stream before its first cut, between cuts, and from the last one on."""
    ts = scene.table["ts"]
    bounds = [0, *(pc.sum(pc.less(ts, pa.scalar(cut, ts.type))).as_py() for cut in scene.cuts), len(ts)]
    return [scene.table.slice(first, end - first) for first, end in itertools.pairwise(bounds)]


def rows_of(table: pa.Table, key: str, shown: list[str]) -> pa.Table:
    """The rows of some partitions."""
    return table.filter(pc.is_in(table[key], pa.array(shown)))


@contextmanager
def local_spark(folder: Path) -> Iterator[SparkSession]:
    """A session of this process alone; what Java prints goes to a log in the folder."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    settings: dict[str, Any] = {
        "spark.driver.memory": "2g",
        "spark.log.level": "ERROR",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        # What docs/streaming.md asks for.
        "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        "spark.sql.warehouse.dir": str((folder / "warehouse").absolute()),
    }
    # Java inherits standard error when it starts, and keeps it.
    own = os.dup(2)
    with (folder / "spark.log").open("wb") as file:
        os.dup2(file.fileno(), 2)
    try:
        session = SparkSession.builder.master("local[2]").appName("SparkRex tour").config(map=settings).getOrCreate()
    finally:
        os.dup2(own, 2)
        os.close(own)
    try:
        yield session
    finally:
        session.stop()
