"""`%load_ext sparkrex`, then a cell that begins with `%%rex` is a query over the notebook's variables.

IPython calls `load_ipython_extension` and hands itself over, so nothing of it is imported here. Errors of the query are
raised, so that a notebook stops there; IPython shows them with their caret instead of a traceback (see `errors`).
"""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING, Any, NoReturn

from sparkrex.cli.values import query_argument, setting_argument
from sparkrex.errors import nearest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

_TERMINAL = 120
"""Columns of text that a notebook has room for."""


class LineError(Exception):
    """The line of the magic is wrong."""

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows; the frames are none of the user's."""
        return [f"%%rex: {self}"]


class ShownTable:
    """A result in memory that is shown and not named: `_.table` is the table."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __repr__(self) -> str:
        from sparkrex.cli.table_text import fitted_text

        return fitted_text(self.table, _TERMINAL, way_out="_.table has all").rstrip("\n")


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise LineError(message)


def register(shell: Any) -> None:
    """Give a shell of IPython the cell magic `%%rex`."""

    def run(line: str, cell: str) -> Any:
        return run_cell(line, cell, shell.user_ns)

    run.__doc__ = _make_parser().format_help()
    shell.register_magic_function(run, "cell", "rex")


def run_cell(line: str, cell: str, variables: dict[str, Any]) -> Any:
    """Run the query of a cell: its result, to be shown, or None where the line names a variable for it."""
    import sparkrex as rex

    arguments = _make_parser().parse_args(_words(line))
    if arguments.help:
        print(_make_parser().format_help())
        return None
    query = rex.compile(
        cell, args=dict(arguments.args) or None, dialect=arguments.dialect, settings=dict(arguments.settings)
    )
    tables = _tables_of(query.tables, variables)
    spark = None if tables else variables.get("spark")
    try:
        result = query(tables, spark=spark)
    except rex.AnalysisError as error:
        if error.code == "REX203":
            meant = [nearest(name, variables) for name in query.tables if name not in tables]
            error.hint = next(filter(None, meant), "tables are variables of the notebook, and none has this name")
        raise
    if arguments.name is not None:
        variables[arguments.name] = result
        return None
    return ShownTable(result) if type(result).__module__.startswith("pyarrow") else result


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as error:
        raise LineError(str(error)) from error


def _make_parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="%%rex", add_help=False, description="Run the cell as a query over the notebook's variables.")
    parser.add_argument("name", nargs="?", type=_name, help="the variable for the result, which is shown without it")
    parser.add_argument("--dialect", help="the SQL dialect of the query (default: spark)")
    parser.add_argument(
        "--arg", action="append", default=[], type=query_argument, metavar="NAME=VALUE", dest="args",
        help="the value of the parameter :NAME; may be repeated",
    )
    parser.add_argument(
        "--set", action="append", default=[], type=setting_argument, metavar="NAME=VALUE", dest="settings",
        help="a setting of SparkRex; may be repeated",
    )
    parser.add_argument("-h", "--help", action="store_true", help="show this")
    return parser


def _name(text: str) -> str:
    if not text.isidentifier():
        raise argparse.ArgumentTypeError(f"{text} is not the name of a variable")
    return text


def _tables_of(names: Sequence[str], variables: Mapping[str, Any]) -> dict[str, Any]:
    """The variables that have the names of tables, in any case if none has just that."""
    by_lower = {name.lower(): name for name in variables}
    found = {name: name if name in variables else by_lower.get(name.lower()) for name in names}
    return {name: variables[variable] for name, variable in found.items() if variable is not None}
