"""`rex explain` and `rex version`: text on standard output."""

from __future__ import annotations

import platform
import sys
from importlib import metadata
from typing import TYPE_CHECKING

import sparkrex as rex
from sparkrex.cli.files import open_table
from sparkrex.cli.progress import Progress
from sparkrex.cli.query import compiled_query, is_on_spark

if TYPE_CHECKING:
    import argparse


def explain(arguments: argparse.Namespace) -> None:
    """Print the plan of the query over these tables."""
    query = compiled_query(arguments)
    if not is_on_spark(arguments):
        tables = {table.name: open_table(table) for table in arguments.tables}
        print(query.explain(tables, args=dict(arguments.args), analyze=arguments.analyze))
        return
    from sparkrex.cli.session import read_table, spark_session

    with spark_session(arguments, query.settings.time_zone, Progress(sys.stderr)) as spark:
        frames = {table.name: read_table(spark, table) for table in arguments.tables}
        print(query.explain(frames, args=dict(arguments.args), spark=spark, analyze=arguments.analyze))


def version() -> None:
    """Print what a bug report should say."""
    print(f"SparkRex {rex.__version__}")
    print(f"Python {platform.python_version()}")
    try:
        print(f"PySpark {metadata.version('pyspark')}")
    except metadata.PackageNotFoundError:
        print("PySpark not installed: --master and --remote need it")
