"""Arguments that several commands have: the query and its tables, settings, Spark, and the output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.cli.files import FORMATS, table_argument
from sparkrex.cli.stream_arguments import PRINTED
from sparkrex.cli.values import named_value, query_argument, setting_argument

if TYPE_CHECKING:
    import argparse


def add_query_arguments(parser: argparse.ArgumentParser) -> None:
    """A query, its tables, and what `add_common_arguments` adds."""
    parser.add_argument("query", metavar="QUERY", help="a file with the query, or - for standard input")
    parser.add_argument(
        "-t", "--table", action="append", default=[], type=table_argument, metavar="NAME=PATH", dest="tables",
        help="a table of the query and its files: .parquet, .csv, .tsv or .json (lines), texts also .gz, .bz2 or .zst; "
        "with * in the name, or a folder, several; may be repeated",
    )
    add_common_arguments(parser)


def add_common_arguments(parser: argparse.ArgumentParser) -> None:
    """What is said of a query beside its tables, and whether Spark runs it."""
    parser.add_argument("--dialect", default="spark", help="the SQL dialect of the query (default: spark)")
    parser.add_argument(
        "--set", action="append", default=[], type=setting_argument, metavar="NAME=VALUE", dest="settings",
        help="a setting of SparkRex; may be repeated",
    )
    parser.add_argument(
        "--arg", action="append", default=[], type=query_argument, metavar="NAME=VALUE", dest="args",
        help="the value of the parameter :NAME: a number, true, false, null, a date, a timestamp, or text; in single "
        "quotes it is always text; may be repeated",
    )
    spark = parser.add_argument_group("Spark")
    where = spark.add_mutually_exclusive_group()
    where.add_argument("--master", metavar="URL", help="run on Spark: local[*], spark://..., yarn, ...")
    where.add_argument("--remote", metavar="URL", help="run on a Spark Connect server: sc://...")
    spark.add_argument(
        "--conf", action="append", default=[], type=named_value, metavar="NAME=VALUE",
        help="a setting of Spark, for example spark.driver.memory=4g; may be repeated",
    )


def add_output_arguments(parser: argparse.ArgumentParser) -> None:
    """Where the result goes, and as what."""
    parser.add_argument(
        "-o", "--output", metavar="PATH", help="where to write the result: .parquet, .csv or .json; on Spark a folder; "
        "of streams also kafka://HOST:PORT/TOPIC. Without it, or with -, the result is printed",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--format", choices=dict.fromkeys((*FORMATS, *PRINTED)), help="of the result (default: by the output's name, "
        "Parquet if it has no extension; text if it is printed); json is one object per line",
    )
    what.add_argument(
        "--json", action="store_true", help="print the result as one JSON array; of streams an object per line"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace the output if it exists")
