"""A job whose Python workers die once, in a session of its own: `python -m tests.spark.kill_worker FOLDER`.

Prints the answer with all workers alive, then with a worker killed inside a UDF, then inside the matching, as JSON.
Spark starts a failed task again (`local[2,3]` allows two failures); a file in FOLDER marks that a worker has died.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

from pyspark.sql import SparkSession

import sparkrex as rex
from sparkrex.spark import relation
from sparkrex.spark.shipping import shipped_task

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from pyspark.sql import DataFrame

    from sparkrex.spark.worker import WorkerTask

QUERY = """SELECT * FROM ticks MATCH_RECOGNIZE (
  PARTITION BY sym ORDER BY ts
  MEASURES FIRST(ts) AS began, COUNT(*) AS n, MIN(price) AS low
  PATTERN (STRT DOWN+ UP+)
  DEFINE DOWN AS {price} < PREV(price), UP AS price > PREV(price))"""


def die_once(mark: Path) -> None:
    """End this process as the out-of-memory killer would, the first time."""
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class DyingTask:
    """The worker's task, in a process that dies after the first batch of results."""

    task: WorkerTask
    mark: Path

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Match, and die before the end."""
        for batch_out in self.task(batches):
            yield batch_out
            die_once(self.mark)


def main(folder: Path) -> None:
    """Run the three jobs."""
    spark = (
        SparkSession.builder.master("local[2,3]")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.log.level", "OFF")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .getOrCreate()
    )
    ticks = spark.range(2_000).selectExpr("id % 7 AS sym", "id AS ts", "(id * 7919) % 101 AS price")

    def fragile(price: int) -> int:
        if price == 50:
            die_once(folder / "died in a function")
        return price

    spark.udf.register("fragile", fragile, "bigint")
    answers = {"alive": _rows(rex.sql(QUERY.format(price="price"), ticks=ticks))}
    answers["function"] = _rows(rex.sql(QUERY.format(price="fragile(price)"), ticks=ticks))

    def dying(task: WorkerTask) -> Any:
        return shipped_task(DyingTask(task, folder / "died while matching"))

    with mock.patch.object(relation, "shipped_task", dying):
        answers["matching"] = _rows(rex.sql(QUERY.format(price="price"), ticks=ticks))
    print(json.dumps(answers))
    spark.stop()


def _rows(frame: DataFrame) -> list[list[Any]]:
    return sorted(list(row) for row in frame.collect())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
