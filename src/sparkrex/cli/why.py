"""`rex why`: what stood in the way of a pattern, as text on standard output."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from sparkrex.cli.arguments import add_query_arguments
from sparkrex.cli.command import Command
from sparkrex.cli.files import check_files, open_table
from sparkrex.cli.progress import Progress
from sparkrex.cli.query import compiled_query, is_on_spark, query_text, reads_local_files
from sparkrex.cli.standard_output import write_text
from sparkrex.cli.values import query_argument

if TYPE_CHECKING:
    import argparse


def why(arguments: argparse.Namespace) -> None:
    """Print why the query did not match over these tables."""
    query = compiled_query(arguments, query_text(arguments))
    key = dict(arguments.key) or None
    if not is_on_spark(arguments):
        tables = {table.name: open_table(table) for table in arguments.tables}
        write_text(f"{query.why(tables, key=key, at=arguments.at)}\n")
        return
    from sparkrex.cli.session import spark_session
    from sparkrex.cli.stream_sources import read_all

    if reads_local_files(arguments):
        check_files(arguments.tables)
    with spark_session(arguments, query.settings.time_zone, Progress(sys.stderr)) as spark:
        write_text(f"{query.why(read_all(spark, arguments), key=key, at=arguments.at, spark=spark)}\n")


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_query_arguments(parser)
    parser.add_argument(
        "--key", action="append", default=[], type=query_argument, metavar="NAME=VALUE",
        help="a value of PARTITION BY, written as for --arg; may be repeated. On Spark it is needed",
    )
    parser.add_argument(
        "--at", type=_row_or_time, metavar="ROW", help="one row: its number in the partition, from 1, or its value of "
        "the first column of ORDER BY",
    )
    parser.set_defaults(streams=[])


def _row_or_time(text: str) -> object:
    return int(text) if text.isascii() and text.isdigit() else query_argument(f"at={text}")[1]


WHY = Command(
    "why", "say why a pattern did not match",
    "Say why a pattern did not match: what stood in the way of every start, and by how little it was missed.",
    _add_arguments, why,
)
