"""Tables named on the command line, and files of them: read and written in memory by pyarrow."""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sparkrex as rex
from sparkrex.cli.failures import Failed, UsageError
from sparkrex.cli.values import named_value

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

FORMATS = ("parquet", "csv", "json")
"""What a result can be written as."""

_NOT_WRITTEN = (".tsv", ".txt", ".xlsx", ".xls", ".orc", ".avro", ".feather", ".arrow", ".sql", ".html", ".xml", ".md")


@dataclass(frozen=True, slots=True)
class TableFile:
    """A table of the query: `path` is a file, a folder or a glob of files that all have one format."""

    name: str
    path: str
    format: str


def table_argument(text: str) -> TableFile:
    """A table from `name=path`; the extension says the format, and a path without one is Parquet."""
    from sparkrex.columns.paths import FORMATS_READ, format_of

    name, path = named_value(text)
    kind = format_of(path)
    if not path or kind is None:
        raise argparse.ArgumentTypeError(f"table {name}: {path!r} does not end like what is read: {FORMATS_READ}")
    return TableFile(name, path, kind)


def output_format(path: str) -> str:
    """The format that the name of an output asks for, Parquet if none; refused if it is one that we do not write."""
    from sparkrex.columns.paths import format_of

    if path == "-" or Path(path.rstrip("/")).suffix.lower() in _NOT_WRITTEN:
        raise UsageError(f"a result cannot be written to {path}: name a .parquet, .csv or .json file, or give --format")
    named = format_of(path)
    return named if named in FORMATS else "parquet"


def open_table(table: TableFile) -> Any:
    """An Arrow dataset for Parquet, of which the query reads the columns it needs; else the table, read at once."""
    from sparkrex.columns.inputs import open_path

    return open_path(table.name, table.path)


def check_files(tables: Iterable[TableFile]) -> None:
    """Fail if the files of a table are not there, before a Spark that reads this machine's files is started."""
    from sparkrex.columns.paths import check_local_path

    for table in tables:
        check_local_path(table.name, table.path)


def count_rows(opened: Any) -> int | None:
    """Rows of what `open_table` gave: of Parquet by the footers of its files."""
    n_rows: int = opened.num_rows if hasattr(opened, "num_rows") else opened.count_rows()
    return n_rows


def count_parquet_rows(table: TableFile) -> int | None:
    """Rows of local Parquet files; None for anything that would have to be read or fetched."""
    import pyarrow as pa

    if table.format != "parquet" or "://" in table.path:
        return None
    try:
        return count_rows(open_table(table))
    except (rex.RexError, pa.ArrowException, OSError):
        return None  # Spark may know the path; if it does not, its own message is the one to show


def write_table(result: pa.Table, path: str, kind: str) -> None:
    """Write a result so that the file appears whole or not at all."""
    import pyarrow as pa

    if len(set(result.column_names)) < result.num_columns:
        twice = next(name for name in result.column_names if result.column_names.count(name) > 1)
        raise Failed(f"the result has two columns called {twice}; tell them apart with AS")
    interval = next((field.name for field in result.schema if pa.types.is_interval(field.type)), None)
    if interval is not None and kind != "json":
        raise Failed(
            f"column {interval} is an interval, which {kind} files cannot hold; return a number instead, for example "
            "timestampdiff(SECOND, FIRST(ts), LAST(ts))"
        )
    target = Path(path).resolve()  # what a link points to, not the link
    unfinished = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _write(result, unfinished, kind)
        unfinished.replace(target)
    except (pa.ArrowException, OSError) as error:
        raise Failed(f"{path} cannot be written as {kind}: {error}") from error
    finally:
        unfinished.unlink(missing_ok=True)


def _write(result: pa.Table, path: Path, kind: str) -> None:
    match kind:
        case "parquet":
            import pyarrow.parquet as pq

            pq.write_table(result, path)
        case "csv":
            from pyarrow import csv

            csv.write_csv(result, path)
        case _:
            from sparkrex.cli.json_lines import write_json_lines

            write_json_lines(result, path)
