"""A quiet Spark session on two cores of this machine."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def local_session(n_partitions: int) -> SparkSession:
    """A session whose shuffles make so many partitions."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings: dict[str, bool | float | int | str | None] = {
        "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.log.level": "ERROR",
        "spark.sql.shuffle.partitions": str(n_partitions), "spark.sql.session.timeZone": "UTC",
        "spark.driver.memory": "4g", "spark.driver.maxResultSize": "2g", "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
    }
    return SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
