"""`rex studio`: a page in the browser on which queries are written over files."""

from __future__ import annotations

import argparse
import re
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING

from sparkrex.cli.command import Command
from sparkrex.cli.failures import Failed, UsageError
from sparkrex.cli.files import check_files, table_argument
from sparkrex.cli.standard_output import say, write_text

if TYPE_CHECKING:
    from sparkrex.cli.files import TableFile

_NAMED = re.compile(r"[A-Za-z_]\w*=.+", re.DOTALL)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files", nargs="+", metavar="PATH", help="a table: a file, a folder or a glob, or NAME=PATH; else its name is "
        "that of the file",
    )
    parser.add_argument("--port", type=int, default=0, metavar="N", help="the port (default: any that is free)")
    parser.add_argument(
        "--seconds", type=float, default=30.0, metavar="N", help="how long an answer may take (default: 30)"
    )
    parser.add_argument("--no-browser", action="store_true", help="print the address, and open no browser")


def studio(arguments: argparse.Namespace) -> None:
    """Serve until Ctrl-C; the address is printed on standard output."""
    if not 0 <= arguments.port < 1 << 16:
        raise UsageError(f"--port {arguments.port}: a port is a number from 1 to 65535")
    if not 0 < arguments.seconds < float("inf"):
        raise UsageError(f"--seconds {arguments.seconds:g}: give a number above zero")
    tables = _tables(arguments.files)
    check_files(tables)
    try:
        from sparkrex.studio.limits import Limits
        from sparkrex.studio.serving import serve
    except ModuleNotFoundError as error:
        if error.name not in ("starlette", "uvicorn"):
            raise
        raise Failed(f"rex studio needs {error.name}: pip install 'sparkrex[studio]'") from error

    def announce(address: str) -> None:
        write_text(f"{address}\n")
        say("Ctrl-C ends it")
        if not arguments.no_browser:
            webbrowser.open(address)

    try:
        serve(
            {table.name: str(_absolute(table.path)) for table in tables}, arguments.port,
            Limits(seconds=arguments.seconds), announce,
        )
    except OSError as error:
        raise Failed(f"port {arguments.port} cannot be opened: {error.strerror or error}") from error
    except KeyboardInterrupt:
        say("")  # the line with ^C


def _absolute(path: str) -> str:
    return path if "://" in path else str(Path(path).absolute())


def _tables(given: list[str]) -> list[TableFile]:
    """The tables of the arguments."""
    found: dict[str, TableFile] = {}
    for text in given:
        try:
            table = table_argument(text if _NAMED.fullmatch(text) else f"{_name_of(text)}={text}")
        except argparse.ArgumentTypeError as error:
            raise UsageError(str(error)) from error
        if table.name.lower() in found:
            raise UsageError(f"two tables are called {table.name}: write NAME={text}")
        found[table.name.lower()] = table
    return list(found.values())


def _name_of(path: str) -> str:
    """A name for the table of a path: what its file or folder is called, without what names cannot have."""
    stem = Path(path.rstrip("/")).name.split(".")[0]
    name = re.sub(r"\W+", "_", stem).strip("_") or "t"
    return f"t_{name}" if name[0].isdigit() else name


STUDIO = Command(
    "studio", "write queries on a page in the browser, and see their matches",
    "Open a page on which queries are written over files: errors while you type, the matches drawn on the rows, "
    "their result, and EXPLAIN. It runs on this machine, and nothing leaves it.",
    _add_arguments, studio,
)
