"""A result on standard output: a table for people, or what a program reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.cli import standard_output
from sparkrex.cli.failures import UsageError
from sparkrex.cli.files import check_columns, write_columns
from sparkrex.cli.json_lines import write_json_array
from sparkrex.cli.standard_output import bytes_written, columns_of_terminal, write_text
from sparkrex.cli.table_text import fitted_text, whole_text

if TYPE_CHECKING:
    import argparse

    import pyarrow as pa

TEXT, ARRAY = "text", "array"
"""A table with aligned columns; one JSON array, which only --json asks for."""


def printed_format(arguments: argparse.Namespace) -> str:
    """What a result is printed as."""
    if arguments.json:
        return ARRAY
    if arguments.format == "parquet" and standard_output.is_terminal():
        raise UsageError("Parquet is not for terminals: give --output PATH, or a pipe")
    return arguments.format or TEXT


def print_result(result: pa.Table, kind: str) -> None:
    """Print it; on a terminal a table is cut to what fits."""
    if kind == TEXT:
        is_terminal = standard_output.is_terminal()
        for part in [fitted_text(result, columns_of_terminal())] if is_terminal else whole_text(result):
            write_text(part)
        return
    check_columns(result, "json" if kind == ARRAY else kind)
    with bytes_written() as file:
        if kind == ARRAY:
            write_json_array(result, file)
        else:
            write_columns(result, file, kind)
