"""What the arguments of `rex run` and `rex explain` have in common: the compiled query and the names of its tables."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import sparkrex as rex
from sparkrex.cli.failures import UsageError
from sparkrex.cli.standard_output import say

if TYPE_CHECKING:
    import argparse


def compiled_query(arguments: argparse.Namespace, text: str) -> rex.Query:
    """The query, parsed with its values, so that a mistake shows before any file is read and any Spark is started."""
    names = [table.name.lower() for table in [*arguments.tables, *arguments.streams]]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"table {name} is given twice")
    return rex.compile(
        text, args=dict(arguments.args), dialect=arguments.dialect, settings=dict(arguments.settings)
    )


def is_on_spark(arguments: argparse.Namespace) -> bool:
    """Whether the arguments ask for Spark."""
    return arguments.master is not None or arguments.remote is not None


def reads_local_files(arguments: argparse.Namespace) -> bool:
    """Whether a path without a scheme means this machine to Spark, as far as can be told without asking it."""
    url = arguments.remote or arguments.master
    is_configured = any(name.endswith("fs.defaultFS") for name, _ in arguments.conf) or "HADOOP_CONF_DIR" in os.environ
    return url.startswith("local") and not is_configured


def query_text(arguments: argparse.Namespace) -> str:
    """The text of the query, which somebody may have to type first."""
    path = arguments.query
    try:
        content = _read_standard_input() if path == "-" else Path(path).read_bytes()
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        place = "standard input" if path == "-" else path
        raise UsageError(f"the query cannot be read: {place} is not UTF-8 at byte {error.start + 1}") from error
    except OSError as error:
        hint = "; QUERY is a file with the query, or - for standard input" if " " in path else ""
        raise UsageError(f"the query cannot be read: {error}{hint}") from error


def _read_standard_input() -> bytes:
    if sys.stdin is None:
        raise UsageError("the query cannot be read: standard input is closed")
    if sys.stdin.isatty():
        say("the query, then Ctrl-D:")
    return sys.stdin.buffer.read()
