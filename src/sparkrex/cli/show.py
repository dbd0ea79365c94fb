"""`rex explain` and `rex version`: text on standard output."""

from __future__ import annotations

import json
import platform
import sys
from importlib import metadata
from typing import TYPE_CHECKING

import sparkrex as rex
from sparkrex.cli.arguments import add_query_arguments
from sparkrex.cli.command import Command
from sparkrex.cli.files import check_files, open_table
from sparkrex.cli.progress import Progress
from sparkrex.cli.query import compiled_query, is_on_spark, query_text, reads_local_files
from sparkrex.cli.standard_output import write_text
from sparkrex.cli.stream_arguments import add_source_arguments, settle_sources

if TYPE_CHECKING:
    import argparse


def explain(arguments: argparse.Namespace) -> None:
    """Print the plan of the query over these tables."""
    settle_sources(arguments)
    query = compiled_query(arguments, query_text(arguments))
    if not is_on_spark(arguments):
        tables = {table.name: open_table(table) for table in arguments.tables}
        write_text(f"{query.explain(tables, analyze=arguments.analyze)}\n")
        return
    from sparkrex.cli.session import spark_session
    from sparkrex.cli.stream_sources import read_all

    if reads_local_files(arguments):
        check_files(arguments.tables)
    with spark_session(arguments, query.settings.time_zone, Progress(sys.stderr)) as spark:
        frames = read_all(spark, arguments)
        write_text(f"{query.explain(frames, spark=spark, analyze=arguments.analyze)}\n")


def version(arguments: argparse.Namespace) -> None:
    """Print what a bug report should say."""
    try:
        spark = metadata.version("pyspark")
    except metadata.PackageNotFoundError:
        spark = None
    if arguments.json:
        found = {"sparkrex": rex.__version__, "python": platform.python_version(), "pyspark": spark}
        write_text(json.dumps(found) + "\n")
        return
    print(f"SparkRex {rex.__version__}")
    print(f"Python {platform.python_version()}")
    print(f"PySpark {spark or 'not installed: --master and --remote need it'}")


def _add_version_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="as one JSON object")


def _add_explain_arguments(parser: argparse.ArgumentParser) -> None:
    add_query_arguments(parser)
    add_source_arguments(parser)
    parser.add_argument(
        "--analyze", action="store_true", help="run the query too, and show what was found and how long it took"
    )


EXPLAIN = Command(
    "explain", "show the plan of a query",
    "Show how a query would run: the matcher, why, and why not the others. Nothing is written.",
    _add_explain_arguments, explain,
)
VERSION = Command(
    "version", "print the versions of SparkRex, Python and Spark",
    "Print the versions of SparkRex, Python and Spark, for reports of faults.",
    _add_version_arguments, version,
)
