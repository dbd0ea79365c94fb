"""A streaming job that may be killed: `python -m tests.spark.stream_job FOLDER`, over the files in FOLDER/in."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from pyspark.sql import SparkSession
from tests.spark.conftest import ROCKSDB
from tests.spark.stream_files import SETTINGS, Files

import sparkrex as rex

QUERY = """SELECT * FROM ticks MATCH_RECOGNIZE (
      PARTITION BY sym ORDER BY ts
      MEASURES FIRST(ts) AS began, MIN(price) AS low, MATCH_NUMBER() AS n
      PATTERN (STRT DOWN+ UP+) DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price))"""


def main(folder: Path) -> None:
    """Everything there is, then stop; says so when it has, so that it was not killed."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.log.level", "OFF")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
        .getOrCreate()
    )
    files = Files(spark, folder)
    files.run(rex.sql(QUERY, ticks=files.stream(), settings=SETTINGS))
    (folder / "done").touch()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
