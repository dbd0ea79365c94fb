"""`rex run`: plan, read, run, write or print, and a summary; in memory or on Spark."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from sparkrex.cli.arguments import add_output_arguments, add_query_arguments
from sparkrex.cli.command import Command
from sparkrex.cli.failures import UsageError
from sparkrex.cli.files import check_files, count_parquet_rows, count_rows, open_table, output_format, write_table
from sparkrex.cli.own_input import refuse_files_of, refuse_own_input
from sparkrex.cli.printed_result import TEXT, print_result, printed_format
from sparkrex.cli.progress import Progress
from sparkrex.cli.query import compiled_query, is_on_spark, query_text, reads_local_files
from sparkrex.cli.standard_output import is_terminal, say
from sparkrex.cli.stream_arguments import (
    TERMINAL,
    add_running_arguments,
    add_source_arguments,
    check_stream_output,
    settle_sources,
)

if TYPE_CHECKING:
    import argparse

    import sparkrex as rex


def run(arguments: argparse.Namespace) -> None:
    """Run the query, write or print its result, and a summary on standard error."""
    check_output(arguments)
    progress = Progress(sys.stderr)
    text = query_text(arguments)
    with progress.stage("plan"):
        query = compiled_query(arguments, text)
    if arguments.streams:
        from sparkrex.cli.run_stream import run_stream

        run_stream(query, arguments, progress)
        return
    command = run_on_spark if is_on_spark(arguments) else run_in_memory
    rows_in, rows_out = command(query, arguments, progress)
    say(summary(arguments, rows_in, rows_out, progress))


def check_output(arguments: argparse.Namespace) -> None:
    """Refuse an output that is there already, or that is an input; of one on other machines Spark must tell.

    `format` and, of streams, all that is said of them are settled then.
    """
    settle_sources(arguments)
    if arguments.streams:
        check_stream_output(arguments)
        return
    arguments.output = arguments.output or TERMINAL
    if arguments.output == TERMINAL:
        if arguments.overwrite:
            raise UsageError("--overwrite is for files; the result is printed")
        arguments.format = printed_format(arguments)
        return
    if arguments.json:
        raise UsageError("--json prints; files of JSON are --format json")
    if arguments.format == TEXT:
        raise UsageError("--format text is for results that are printed")
    refuse_own_input(arguments.output, arguments.tables, arguments.query)
    arguments.format = arguments.format or output_format(arguments.output)
    output = Path(arguments.output)
    if output.exists() and not output.is_file() and not output.is_dir():
        raise UsageError(f"{output} is neither a file nor a folder")  # replacing a device would take it away
    if (arguments.master or arguments.remote or "local").startswith("local") and output.exists():
        if not arguments.overwrite:
            raise UsageError(f"{output} exists; --overwrite replaces it")
        if output.is_dir() and not is_on_spark(arguments):
            raise UsageError(f"{output} is a folder, and a result in memory is one file: remove the folder first")


class Runnable(Protocol):
    """A query, or whatever else is run over tables."""

    @property
    def settings(self) -> rex.Settings:
        """Under which it runs."""
        ...

    def __call__(self, tables: Any, /, *, spark: Any = None) -> Any:
        """The result."""
        ...


def run_in_memory(
    query: Runnable, arguments: argparse.Namespace, progress: Progress
) -> tuple[list[int | None], int]:
    """Run with pyarrow and DuckDB. Columns of Parquet files are read when the query runs, only those it uses."""
    with progress.stage("read"):
        tables = {table.name: open_table(table) for table in arguments.tables}
        rows_in = [count_rows(opened) for opened in tables.values()]
    with progress.stage("run", getattr(query, "detail", lambda: "")):
        result = query(tables)
    if arguments.output == TERMINAL:
        print_result(result, arguments.format)
    else:
        with progress.stage("write"):
            write_table(result, arguments.output, arguments.format)
    return rows_in, result.num_rows


def run_on_spark(
    query: Runnable, arguments: argparse.Namespace, progress: Progress
) -> tuple[list[int | None], int]:
    """Run with Spark, which also writes: there, running and writing are one job."""
    from sparkrex.cli.session import job_progress, read_table, spark_session
    from sparkrex.cli.spark_output import collected, find_folders, write_counted

    if reads_local_files(arguments):
        check_files(arguments.tables)
    with spark_session(arguments, query.settings.time_zone, progress) as spark:
        show_jobs = job_progress(spark)
        with progress.stage("read", show_jobs):
            tables = {table.name: read_table(spark, table) for table in arguments.tables}
            for table in arguments.tables if arguments.output != TERMINAL else ():
                refuse_files_of(arguments.output, table, tables[table.name].frame.inputFiles())
            rows_in = [count_parquet_rows(table) if arguments.remote is None else None for table in arguments.tables]
        with progress.stage("plan", show_jobs):
            result = query(tables, spark=spark)
        if arguments.output == TERMINAL:
            with progress.stage("run", show_jobs):
                rows = collected(result)
            print_result(rows, arguments.format)
            return rows_in, rows.num_rows
        with progress.stage("run and write", show_jobs):
            folders = find_folders(spark, arguments.remote or arguments.master)
            rows_out = write_counted(
                result, arguments.output, arguments.format, folders, overwrite=arguments.overwrite
            )
    return rows_in, rows_out


def summary(arguments: argparse.Namespace, rows_in: list[int | None], rows_out: int, progress: Progress) -> str:
    """Rows of each table, as far as known without reading it, and of the result; then the time of each stage."""
    lines = [
        (table.name, "?" if n_rows is None else f"{n_rows:,}", table.path)
        for table, n_rows in zip(arguments.tables, rows_in, strict=True)
    ]
    if arguments.output != TERMINAL:
        lines.append(("result", f"{rows_out:,}", arguments.output))
    elif not is_terminal():  # there the table says it
        lines.append(("result", f"{rows_out:,}", "printed"))
    if not lines:
        return progress.summary()
    name_width, count_width = (max(len(line[place]) for line in lines) for place in (0, 1))
    shown = [f"{name.ljust(name_width)}  {count.rjust(count_width)} rows  {path}" for name, count, path in lines]
    return "\n".join([*shown, progress.summary()])


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_query_arguments(parser)
    add_source_arguments(parser)
    add_running_arguments(parser)
    add_output_arguments(parser)


RUN = Command(
    "run", "run a query and print or write its result",
    "Run a query over files, and print its result or write it: in memory, or on Spark with --master or --remote. "
    "Over streams it runs until it is stopped (Ctrl-C), and gives rows as they are decided.",
    _add_arguments, run,
)
