"""Jobs on executors that are sent the package; `test_ship.py` runs it in a process of its own.

Spark's `local-cluster` has executors that are processes, each with a folder of its own.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812  as everybody writes it
from tests.spark.sample import QUERY, TICKS, rows

import sparkrex as rex

if TYPE_CHECKING:
    from collections.abc import Callable

# The planner of segment searches reads a file beside its modules.
RISES = """SELECT sym, first_ts, n FROM ticks MATCH_RECOGNIZE (
  PARTITION BY sym ORDER BY ts MEASURES first(R.ts) AS first_ts, count(R.*) AS n ALL MATCHES
  PATTERN (R) DEFINE SEGMENT R AS count(*) = 2 AND last(price) > first(price))"""
_QUIET = {
    "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "OFF",
    "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1", "spark.executor.memory": "512m",
}


def main(way: str, master: str) -> None:
    """Send the package twice and print, as JSON, what was found, and where the workers have the package."""
    options = " ".join(f"--conf {name}={value}" for name, value in _QUIET.items())
    os.environ["PYSPARK_SUBMIT_ARGS"] = f"{options} pyspark-shell"
    os.environ["SPARK_TESTING"] = "1"  # the Connect server takes a port that is free
    builder = SparkSession.builder.remote(master) if way == "connect" else SparkSession.builder.master(master)
    spark = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    try:
        for _ in range(2):
            rex.ship(spark)
        ticks = spark.createDataFrame(TICKS)
        told = spark.range(4).repartition(4).select(F.udf(_teller(), "string", useArrow=False)("id"))
        found = {name: rows(rex.sql(query, ticks=ticks)) for name, query in (("v shapes", QUERY), ("rises", RISES))}
        print(json.dumps({**found, "places": rows(told.distinct())}))
    finally:
        spark.stop()


def _teller() -> Callable[[int], str]:
    def tell(_: int) -> str:
        import sparkrex

        return sparkrex.__file__

    tell.__module__ = "__main__"  # sent by value
    return tell
