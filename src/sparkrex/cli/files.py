"""Tables named on the command line, and files of them: read and written in memory by pyarrow."""

from __future__ import annotations

import argparse
import contextlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import sparkrex as rex
from sparkrex.cli.failures import Failed, UsageError
from sparkrex.cli.values import named_value

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pyarrow as pa

FORMATS = ("parquet", "csv", "json")
"""What a result can be written as."""

_WRITTEN = {".parquet": "parquet", ".csv": "csv", ".json": "json", ".jsonl": "json", ".ndjson": "json"}


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
    """The format that the name of an output asks for, Parquet if it has no extension."""
    extension = Path(path.rstrip("/")).suffix
    if extension and extension.lower() not in _WRITTEN:
        known = ", ".join(_WRITTEN)
        raise UsageError(
            f"no result is written as {extension}: the output ends with one of {known}, or with none for Parquet; "
            "or --format says what it is"
        )
    return _WRITTEN.get(extension.lower(), "parquet")


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


def check_columns(result: pa.Table, kind: str) -> None:
    """Fail if a format cannot hold the columns of a result, in words that help."""
    import pyarrow as pa

    if len(set(result.column_names)) < result.num_columns:
        twice = next(name for name in result.column_names if result.column_names.count(name) > 1)
        raise Failed(f"the result has two columns called {twice}; tell them apart with AS")
    if kind == "json":
        return
    for field in result.schema:
        if pa.types.is_interval(field.type):
            raise Failed(
                f"column {field.name} is an interval, which {kind} files cannot hold; return a number instead, for "
                "example timestampdiff(SECOND, FIRST(ts), LAST(ts))"
            )
        if kind == "csv" and pa.types.is_nested(field.type):
            raise Failed(f"column {field.name} is of type {field.type}, which CSV cannot hold; JSON and Parquet can")


def write_table(result: pa.Table, path: str, kind: str) -> None:
    """Write a result so that the file appears whole or not at all."""
    import pyarrow as pa

    check_columns(result, kind)
    target = Path(path).resolve()  # what a link points to, not the link
    unfinished = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with unfinished.open("wb") as file:
            write_columns(result, file, kind)
        unfinished.replace(target)
    except (pa.ArrowException, OSError) as error:
        raise Failed(f"{path} cannot be written as {kind}: {error}") from error
    finally:
        with contextlib.suppress(OSError):  # where nothing can be written, nothing is there
            unfinished.unlink(missing_ok=True)


def write_columns(result: pa.Table, file: IO[bytes], kind: str) -> None:
    """Write the rows of a result to an open file."""
    match kind:
        case "parquet":
            import pyarrow.parquet as pq

            pq.write_table(result, file)
        case "csv":
            from pyarrow import csv

            csv.write_csv(result, file)
        case _:
            from sparkrex.cli.json_lines import write_json_lines

            write_json_lines(result, file)
