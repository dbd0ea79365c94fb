"""A path on Spark means what `spark.read` gives: names, types, values."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparkrex.columns.inputs import is_spark, to_arrow
from sparkrex.columns.paths import format_of, table_label
from sparkrex.errors import ExecutionError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

READERS: dict[str, tuple[str, dict[str, str]]] = {
    "parquet": ("parquet", {}),
    "csv": ("csv", {"header": "true", "inferSchema": "true"}),
    "tsv": ("csv", {"header": "true", "inferSchema": "true", "sep": "\t"}),
    "json": ("json", {}),
}
"""Spark's format and options for each of ours."""


@dataclass(frozen=True, slots=True)
class SparkFiles:
    """A table of files: its path, its format by our name, and the DataFrame of Spark's reader over it."""

    path: str
    kind: str
    frame: DataFrame


def table_for_spark(name: str, value: object) -> Any:
    """A table of a call for Spark: DataFrames, paths and opened files as they are, anything else as Arrow."""
    is_ready = is_spark(value) or isinstance(value, str | Path | SparkFiles)
    return value if is_ready else to_arrow(name, value)


def _is_of_java(error: Exception) -> bool:
    return type(error).__module__.split(".")[0] == "py4j"


def read_files(spark: SparkSession, path: str, kind: str) -> SparkFiles:
    """The table of a path. Spark's errors pass."""
    name, options = READERS[kind]
    return SparkFiles(path, kind, spark.read.format(name).options(**options).load(path))


def open_files(spark: SparkSession, name: str, path: str) -> SparkFiles:
    """The same, errors ours; `name` is empty if the table has none."""
    from pyspark.errors import PySparkException

    from sparkrex.spark.versions import condition_of, error_loggers

    kind = format_of(path) or "parquet"
    logger = error_loggers()[0]
    was_disabled, logger.disabled = logger.disabled, True
    try:
        opened = read_files(spark, path, kind)
        _ = opened.frame.schema  # Connect asks for it later
    except PySparkException as error:
        if condition_of(error).startswith("PATH_NOT_FOUND"):
            raise ExecutionError("REX407", f"{table_label(name)}: there is no file {path}", None, None) from error
        message = next((line for line in str(error).split("\n") if line.strip()), "")
        raise ExecutionError(
            "REX407", f"{table_label(name)}: {path} cannot be read as {kind} by Spark", None, None, notes=(message,)
        ) from error
    except Exception as error:
        if not _is_of_java(error):
            raise
        # Where Spark's executors fail to read a footer, its message is under Java's.
        message = next((line for line in str(error).split("\n")[1:] if line.strip()), str(error))
        raise ExecutionError(
            "REX407", f"{table_label(name)}: {path} cannot be read as {kind} by Spark", None, None,
            notes=(message.strip(),),
        ) from None
    finally:
        logger.disabled = was_disabled
    return opened
