"""`rex workload run` and `rex workload explain`: many patterns over one table or stream."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sparkrex as rex
from sparkrex.cli.arguments import add_common_arguments, add_output_arguments
from sparkrex.cli.command import Command
from sparkrex.cli.failures import UsageError
from sparkrex.cli.files import check_files, open_table, table_argument
from sparkrex.cli.progress import Progress
from sparkrex.cli.query import is_on_spark, reads_local_files
from sparkrex.cli.run import check_output, run_in_memory, run_on_spark, summary
from sparkrex.cli.standard_output import say, write_text
from sparkrex.cli.stream_arguments import add_running_arguments, add_source_arguments, settle_sources

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping


def _add_workload_arguments(parser: argparse.ArgumentParser) -> None:
    """What both commands take."""
    parser.add_argument(
        "patterns", metavar="PATTERNS", help="a folder with a file for each pattern (.rex, .sase, .sql, .txt), or a "
        "table with the columns name and text",
    )
    parser.add_argument("--time", required=True, metavar="COLUMN", help="the column by which events follow each other")
    parser.add_argument("--type", metavar="COLUMN", help="the column that has an event's type")
    parser.add_argument(
        "--tie-break", action="append", default=[], metavar="COLUMN",
        help="a column that orders events of the same time; may be repeated",
    )
    parser.add_argument("--ties", choices=("order", "strict"), default="order", help="of events of the same time")
    parser.add_argument("--method", default="sa-edge", help="how the shared plan is found (default: sa-edge)")
    parser.add_argument("--seed", type=int, default=0, help="of the search (default: 0)")
    parser.add_argument("--max-steps", type=int, default=20_000, help="of the search (default: 20,000)")
    parser.add_argument("--seconds", type=float, help="how long the search may take")
    parser.add_argument(
        "--max-kleene", type=int, default=20, help="events of a Kleene's type in a window (default: 20)"
    )
    parser.add_argument("--on-overflow", choices=("stop", "error"), default="stop", help="of a Kleene with more")
    parser.add_argument("--strict", action="store_true", help="a pattern that cannot be read is an error")
    parser.add_argument(
        "-t", "--table", action="append", default=[], type=stream_argument, metavar="PATH", dest="tables",
        help="the stream: files as for `rex run`",
    )
    add_source_arguments(parser, is_named=False)
    add_common_arguments(parser)


def stream_argument(text: str) -> Any:
    """A table, with or without a name."""
    head = text.split("/", 1)[0]
    return table_argument(text if "=" in head else f"stream={text}")


class WorkloadCommand:
    """A workload as the commands run queries: called with tables, of which there is one."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        if len(arguments.tables) + len(arguments.streams) != 1:
            raise UsageError("a workload reads one table or stream: --table PATH or --stream SOURCE")
        if not Path(arguments.patterns).exists():
            raise UsageError(f"the patterns cannot be read: there is no folder or file {arguments.patterns}")
        self.progress = ""
        self.workload = rex.workload(
            arguments.patterns, time=arguments.time, type=arguments.type, tie_break=arguments.tie_break,
            ties=arguments.ties, dialect=arguments.dialect, args=dict(arguments.args) or None,
            settings=dict(arguments.settings), method=arguments.method, seed=arguments.seed,
            max_steps=arguments.max_steps, seconds=arguments.seconds, max_kleene=arguments.max_kleene,
            on_overflow=arguments.on_overflow, strict=arguments.strict, on_progress=self._on_progress,
        )
        self.settings = self.workload.settings

    def __call__(self, tables: Mapping[str, Any], *, spark: Any = None) -> Any:
        """The events of all matches."""
        (stream,) = tables.values()
        return self.workload.detect(stream, spark=spark).table

    def detail(self) -> str:
        """How far the search for a plan is."""
        return self.progress

    def _on_progress(self, steps: int, cost: float) -> None:
        self.progress = f"{steps:,} plans tried, the best costs {cost:,.4g}"


def run_workload(arguments: argparse.Namespace) -> None:
    """Run all patterns, write the events of their matches, print the summary on standard error."""
    arguments.query = arguments.patterns
    check_output(arguments)
    progress = Progress(sys.stderr)
    with progress.stage("plan"):
        command = WorkloadCommand(arguments)
    n_patterns = len(command.workload)
    told = f"{n_patterns:,} pattern{'' if n_patterns == 1 else 's'}"
    if arguments.streams:
        from sparkrex.cli.run_stream import run_stream

        say(told)
        run_stream(command, arguments, progress)
        return
    execute = run_on_spark if is_on_spark(arguments) else run_in_memory
    rows_in, rows_out = execute(command, arguments, progress)
    say(told)
    say(summary(arguments, rows_in, rows_out, progress))


def explain_workload(arguments: argparse.Namespace) -> None:
    """Print the shared plan; with --picture draw it."""
    if arguments.picture is not None and not arguments.picture.lower().endswith((".svg", ".html", ".htm")):
        raise UsageError(f"--picture {arguments.picture}: the name ends with .svg, or with .html for text and picture")
    settle_sources(arguments)
    command = WorkloadCommand(arguments)
    if is_on_spark(arguments):
        from sparkrex.cli.session import spark_session
        from sparkrex.cli.stream_sources import read_all

        if reads_local_files(arguments):
            check_files(arguments.tables)
        with spark_session(arguments, command.settings.time_zone, Progress(sys.stderr)) as spark:
            (stream,) = read_all(spark, arguments).values()
            explanation = command.workload.explain(stream, spark=spark)
    else:
        with Progress(sys.stderr).stage("plan", command.detail):
            explanation = command.workload.explain(open_table(arguments.tables[0]))
    if arguments.picture is not None:
        explanation.save(arguments.picture)
    write_text(f"{explanation}\n")


def _add_run_arguments(parser: argparse.ArgumentParser) -> None:
    _add_workload_arguments(parser)
    add_running_arguments(parser)
    add_output_arguments(parser)


def _add_explain_arguments(parser: argparse.ArgumentParser) -> None:
    _add_workload_arguments(parser)
    parser.add_argument("--picture", metavar="PATH", help="where to write the plan as a picture (.svg, .html)")


WORKLOAD = Command(
    "workload", "run many event patterns by one shared plan",
    "Find the matches of many event patterns in one stream, by one plan that shares what they have in common.",
    actions=(
        Command(
            "run", "write the events of all matches", "Write the events of all matches.", _add_run_arguments,
            run_workload,
        ),
        Command(
            "explain", "show the shared plan: what serves which patterns, costs",
            "Show the shared plan: what serves which patterns, costs.", _add_explain_arguments, explain_workload,
        ),
    ),
)
