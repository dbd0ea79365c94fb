"""`rex check`: whether a query can be run, and what it would give, without running it."""

from __future__ import annotations

import json
import sys
import warnings
from typing import TYPE_CHECKING

import sparkrex as rex
from sparkrex.cli.arguments import add_query_arguments
from sparkrex.cli.cells import padded, visible, width_of
from sparkrex.cli.command import Command
from sparkrex.cli.files import check_files, open_table
from sparkrex.cli.progress import Progress
from sparkrex.cli.query import compiled_query, is_on_spark, query_text, reads_local_files
from sparkrex.cli.standard_output import say, write_text
from sparkrex.cli.stream_arguments import add_source_arguments, settle_sources

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    Columns = Sequence[tuple[str, str]]


def check(arguments: argparse.Namespace) -> None:
    """Print the columns of the result; errors and warnings are shown as `rex run` shows them.

    Without any table only the text can be read: then there are no columns.
    """
    settle_sources(arguments)
    text = query_text(arguments)
    failed: rex.RexError | None = None
    columns: Columns | None = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            query = compiled_query(arguments, text)
            columns = _columns(query, arguments)
        except rex.RexError as error:
            failed = error
    told = [str(warning.message) for warning in caught]
    for message in told:
        say(f"warning: {message}")
    if arguments.json:
        write_text(json.dumps(_document(columns, told, failed), ensure_ascii=False, indent=2) + "\n")
    if failed is not None:
        raise failed
    if not arguments.json:
        write_text(_text(columns))


def _columns(query: rex.Query, arguments: argparse.Namespace) -> Columns | None:
    """The columns of the result, None if nothing is known of a table that the query reads."""
    if is_on_spark(arguments):
        from sparkrex.cli.session import spark_session
        from sparkrex.cli.stream_sources import read_all

        if reads_local_files(arguments):
            check_files(arguments.tables)
        with spark_session(arguments, query.settings.time_zone, Progress(sys.stderr)) as spark:
            return query.columns(read_all(spark, arguments), spark=spark)
    try:
        return query.columns({table.name: open_table(table) for table in arguments.tables})
    except rex.AnalysisError as error:
        if error.code == "REX203" and not arguments.tables:
            return None
        raise


def _text(columns: Columns | None) -> str:
    if columns is None:
        return "the text is a query; --table NAME=PATH for each of its tables checks names and types too\n"
    shown = [(visible(name), kind) for name, kind in columns]
    width = max((width_of(name) for name, _ in shown), default=0)
    lines = [f"{padded(name, width)}  {kind}" for name, kind in shown]
    return "\n".join([*lines, f"{len(columns)} column{'' if len(columns) == 1 else 's'}, no error"]) + "\n"


def _document(
    columns: Columns | None, told: list[str], failed: rex.RexError | None
) -> dict[str, object]:
    listed = None if columns is None else [{"name": name, "type": kind} for name, kind in columns]
    errors = [] if failed is None else [_error(failed)]
    return {"ok": failed is None, "columns": listed, "warnings": told, "errors": errors}


def _error(error: rex.RexError) -> dict[str, object]:
    """An error as editors want it: the place is from line and column, both from 1, and so many characters long."""
    place = error.position
    return {
        "code": error.code, "message": error.message, "line": place and place[0], "column": place and place[1],
        "length": error.span.end - error.span.start if place and error.span else None,
        "notes": list(error.notes), "hint": error.hint_of_command,
    }


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add_query_arguments(parser)
    add_source_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print columns, warnings and errors as one JSON object")


CHECK = Command(
    "check", "say what is wrong with a query, and which columns it gives",
    "Analyse a query without running it: no row is searched. The columns of tables come from their files; CSV and JSON "
    "files are read for that.",
    _add_arguments, check,
)
