"""Tables that users pass: pyarrow, pandas, polars, a path. All become Arrow; nothing is read before it is needed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

from sparkrex.columns.paths import FORMATS_READ, Files, find_files, format_of, table_label
from sparkrex.errors import ExecutionError

if TYPE_CHECKING:
    from pyarrow.dataset import Dataset

ArrowInput: TypeAlias = "pa.Table | Dataset"
_SHOWN = {"parquet": "Parquet", "csv": "CSV", "tsv": "TSV", "json": "JSON lines"}


def is_spark(value: object) -> bool:
    """Whether the value is a Spark DataFrame, classic or Connect, told without importing pyspark."""
    return any(
        kind.__module__.startswith("pyspark.sql") and kind.__name__ == "DataFrame" for kind in type(value).__mro__
    )


def check_session(value: object) -> None:
    """Fail unless this is nothing or a Spark session, classic or Connect."""
    kinds = type(value).__mro__
    if value is not None and not any(
        kind.__module__.startswith("pyspark.sql") and kind.__name__ == "SparkSession" for kind in kinds
    ):
        raise TypeError(f"spark= is a {type(value).__name__}, not a SparkSession")


def to_arrow(name: str, value: object) -> ArrowInput:
    """An Arrow table, or a dataset of which only the columns needed will be read. `name` is empty if it has none."""
    match value:
        case pa.Table():
            return without_views(value)
        case pa.RecordBatch():
            return without_views(pa.Table.from_batches([value]))
        case pa.RecordBatchReader():
            return without_views(value.read_all())
        case str() | Path():
            return open_path(name, str(value))
    if type(value).__module__.startswith("pyarrow._dataset"):
        return value
    if library_of(value) == "pandas":
        return _from_pandas(name, value)
    if library_of(value) == "polars":
        collected: Any = value.collect() if hasattr(value, "collect") else value
        return _from_polars(name, collected)
    told = ", or, if it was meant as an option, put it into settings={...}" if name else ""
    kinds = "pass a pyarrow, pandas or polars table, a path"
    raise TypeError(f"{_argument(name)} is a {type(value).__name__}, not a table: {kinds}{told}")


def _argument(name: str) -> str:
    return f"{name}=" if name else "the input"


def _from_pandas(name: str, value: Any) -> pa.Table:
    try:
        return pa.Table.from_pandas(value, preserve_index=False).replace_schema_metadata(None)
    except (pa.ArrowException, ValueError) as error:  # values of several types in a column, two columns of one name
        raise _unreadable(name, error, "each column has a name of its own and values of one type") from error


def _from_polars(name: str, value: Any) -> pa.Table:
    try:
        return without_views(value.to_arrow())
    except pa.ArrowException as error:  # a type that Arrow does not have
        raise _unreadable(name, error, "each column has a type that Arrow has; cast integers of 128 bits") from error


def _unreadable(name: str, error: Exception, hint: str) -> ExecutionError:
    reason = "; ".join(str(part) for part in error.args)
    return ExecutionError("REX407", f"{_argument(name)} cannot be read as a table: {reason}", None, None, hint=hint)


def without_views(table: pa.Table) -> pa.Table:
    """The table with texts and bytes in Arrow's older layout: for the one by views Arrow has few functions yet."""
    for place, field in enumerate(table.schema):
        kind = {"string_view": pa.large_string(), "binary_view": pa.large_binary()}.get(str(field.type))
        if kind is not None:
            table = table.set_column(place, field.with_type(kind), table.column(place).cast(kind))
    return table


def library_of(value: object) -> str:
    """`pandas` or `polars` if it is a frame of theirs, told without importing them; else empty."""
    is_frame = type(value).__name__ in ("DataFrame", "LazyFrame")
    library = type(value).__module__.split(".")[0] if is_frame else ""
    return library if library in ("pandas", "polars") else ""


def open_path(name: str, path: str) -> ArrowInput:
    """The table of a path: a dataset of Parquet files, or the rows of others."""
    kind = format_of(path) or "parquet"
    try:
        files = find_files(name, path)
        return files.dataset("parquet") if kind == "parquet" else _read_texts(files, kind)
    except (pa.ArrowException, OSError) as error:
        raise ExecutionError(
            "REX407", f"{table_label(name)}: {path} cannot be read as {_SHOWN[kind]}", None, None,
            notes=(str(error).split("\n")[0],),
            hint="a JSON file has one object per line" if kind == "json" else f"files that are read: {FORMATS_READ}",
        ) from error


def _read_texts(files: Files, kind: str) -> pa.Table:
    """All files with their columns brought together: types are inferred from each file by itself."""
    import pyarrow.dataset as ds
    from pyarrow import csv, json

    options = csv.ParseOptions(delimiter="\t" if kind == "tsv" else ",")
    if files.partitioning is not None:
        return files.dataset("json" if kind == "json" else ds.CsvFileFormat(parse_options=options)).to_table()
    tables = []
    for file in files.paths:
        with files.system.open_input_stream(file) as stream:  # decompressed by its name
            table = json.read_json(stream) if kind == "json" else csv.read_csv(stream, parse_options=options)
            tables.append(table)
    return pa.concat_tables(tables, promote_options="permissive")


def read_columns(source: ArrowInput, columns: list[str]) -> pa.Table:
    """These columns of a table or dataset, in its row order, types untouched."""
    if isinstance(source, pa.Table):
        # By position: a table may hold one name twice.
        indices = [source.column_names.index(column) for column in columns]
        return source.select(indices)
    try:
        return source.to_table(columns=columns)
    except (pa.ArrowInvalid, OSError) as error:
        raise ExecutionError(
            "REX407", "the files of a table cannot be read", None, None, notes=(str(error).split("\n")[0],)
        ) from error
