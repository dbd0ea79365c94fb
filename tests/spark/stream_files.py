"""Streams for tests: Parquet files, one for each batch, and what a query over them has written."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sparkrex as rex

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from sparkrex.spark.streaming.metrics import Progress

SECOND = 1_000_000
SETTINGS: dict[str, Any] = {"buckets": 4, "tie_break": ("price",)}


def ticks(seed: int, n_rows: int, first: int = 0, *, swapped: int = 3) -> pa.Table:
    """A row a second, the order disturbed by some seconds."""
    rng = np.random.default_rng(seed)
    order = np.argsort(np.arange(n_rows) + rng.random(n_rows) * swapped)
    seconds = (first + np.arange(n_rows))[order]
    return pa.table(
        {
            "sym": pa.array(rng.choice(["a", "b", "c", "d", "e"], n_rows)),
            "ts": pa.array(seconds * SECOND, pa.timestamp("us", "UTC")),
            "price": np.round(rng.random(n_rows) * 100, 1),
            "kind": pa.array(rng.choice(["Buy", "Sell", "Hold"], n_rows)),
        }
    )


@dataclass
class Files:
    """A folder that a stream reads, file by file."""

    spark: SparkSession
    folder: Path
    tables: list[pa.Table] = field(default_factory=list)

    def add(self, *tables: pa.Table) -> None:
        """Files more; the stream reads them in the order of their times."""
        (self.folder / "in").mkdir(exist_ok=True)
        for table in tables:
            path = self.folder / "in" / f"{len(self.tables):03}.parquet"
            hidden = path.with_name(f"_{path.name}")  # until it is complete: a stream may be looking
            pq.write_table(table, hidden)
            os.utime(hidden, (1_000_000_000 + len(self.tables),) * 2)
            hidden.rename(path)
            self.tables.append(table)

    def stream(self, delay: str = "5 seconds", *, n_files: int = 1) -> DataFrame:
        """All files, so many in each batch, with a watermark."""
        reader = self.spark.readStream.schema(self.whole().schema).option("maxFilesPerTrigger", n_files)
        return reader.parquet(str(self.folder / "in")).withWatermark("ts", delay)

    def whole(self) -> DataFrame:
        """All files as a table."""
        return self.spark.read.parquet(str(self.folder / "in"))

    def run(self, frame: DataFrame, name: str = "out") -> Progress:
        """Whatever there is goes through a query, which then stops."""
        query = self.start(frame, name)
        query.awaitTermination()
        return rex.progress(query)

    def start(self, frame: DataFrame, name: str = "out") -> StreamingQuery:
        """The query, which stops when it has read what there is."""
        writer = frame.writeStream.format("parquet").option("path", str(self.folder / name))
        return writer.option("checkpointLocation", self.checkpoint(name)).trigger(availableNow=True).start()

    def checkpoint(self, name: str = "out") -> str:
        """Where the query keeps its state."""
        return str(self.folder / f"{name}_checkpoint")

    def written(self, frame: DataFrame, name: str = "out") -> list[str]:
        """What the query has written."""
        return lines(self.spark.read.schema(frame.schema).parquet(str(self.folder / name)))


def lines(frame: DataFrame) -> list[str]:
    """Rows in an order that does not matter."""
    return sorted(map(str, frame.collect()))
