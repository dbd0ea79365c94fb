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
    import pyarrow as pa

FORMATS = ("parquet", "csv", "json")
"""What a result can be written as."""

_SUFFIXES = {
    "": "parquet", ".parquet": "parquet", ".csv": "csv", ".tsv": "tsv",
    ".json": "json", ".jsonl": "json", ".ndjson": "json",
}
_NOT_WRITTEN = (".tsv", ".txt", ".xlsx", ".xls", ".orc", ".avro", ".feather", ".arrow", ".sql", ".html", ".xml", ".md")
_COMPRESSED = (".gz", ".bz2", ".zst")


@dataclass(frozen=True, slots=True)
class TableFile:
    """A table of the query: `path` is a file, a folder or a glob of files that all have one format."""

    name: str
    path: str
    format: str


def table_argument(text: str) -> TableFile:
    """A table from `name=path`; the extension says the format, and a path without one is Parquet."""
    name, path = named_value(text)
    suffix = _suffix(path)
    if not path or suffix not in _SUFFIXES:
        known = ", ".join(filter(None, _SUFFIXES))
        raise argparse.ArgumentTypeError(f"table {name}: {path!r} does not end like a known format: {known}")
    return TableFile(name, path, _SUFFIXES[suffix])


def output_format(path: str) -> str:
    """The format that the name of an output asks for, Parquet if none; refused if it is one that we do not write."""
    if path == "-" or _suffix(path) in _NOT_WRITTEN:
        raise UsageError(f"a result cannot be written to {path}: name a .parquet, .csv or .json file, or give --format")
    named = _SUFFIXES.get(_suffix(path))
    return named if named in FORMATS else "parquet"


def _suffix(path: str) -> str:
    plain = Path(path.rstrip("/"))
    if plain.suffix.lower() in _COMPRESSED:
        plain = plain.with_suffix("")
    return plain.suffix.lower()


def open_table(table: TableFile) -> Any:
    """An Arrow dataset for Parquet, of which the query reads the columns it needs; else the table, read at once."""
    import pyarrow as pa
    import pyarrow.dataset as ds
    from pyarrow import csv

    from sparkrex.columns.paths import open_dataset

    kind: Any = table.format
    if kind == "tsv":
        kind = ds.CsvFileFormat(parse_options=csv.ParseOptions(delimiter="\t"))
    try:
        opened = open_dataset(table.name, table.path, kind)
        return opened if table.format == "parquet" else opened.to_table()
    except (pa.ArrowException, OSError) as error:
        raise rex.ExecutionError(
            "REX407", f"table {table.name}: {table.path} cannot be read as {table.format}", None, None,
            notes=(str(error).split("\n")[0],),
        ) from error


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
