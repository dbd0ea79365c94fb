"""A job whose workers lack the package; `test_shipping.py` runs it in a process of its own."""

from __future__ import annotations

from unittest import mock

from pyspark.sql import SparkSession
from tests.spark.sample import QUERY, TICKS

import sparkrex as rex
from sparkrex.spark import batch


def main(way: str, sent: str = "") -> None:
    """Ask for the sample's V shapes: `asks` meets the check before a job, `runs` goes past it. `sent` is a file that is
    sent to the workers, as spark-submit does it for --py-files."""
    spark = (
        SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").config("spark.log.level", "OFF")
        .config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
        .config("spark.submit.pyFiles", sent).getOrCreate()
    )
    if way == "runs":  # as on a cluster, whose Python cannot be asked from here
        with mock.patch.object(batch, "check_local_workers"):
            rex.sql(QUERY, ticks=spark.createDataFrame(TICKS)).collect()
    rex.sql(QUERY, ticks=spark.createDataFrame(TICKS)).collect()
