"""What differs between the versions of PySpark, in one place."""

from __future__ import annotations

import inspect
import logging
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyspark
from pyspark.sql import functions
from pyspark.sql.pandas import types as pandas_types

from sparkrex.errors import UnsupportedError

if TYPE_CHECKING:
    from pyspark.errors import PySparkException
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructType

BYTES_PER_BATCH, NO_LIMIT = "spark.sql.execution.arrow.maxBytesPerBatch", str((1 << 31) - 1)
"""A setting of Spark 4, and the value that switches the limit off. Earlier versions have no such limit."""
_VERSION = tuple(int(part) for part in pyspark.__version__.split(".")[:2])


def weighs_batches(spark: SparkSession) -> bool:
    """Whether the session limits the bytes of a batch for Python."""
    # With a default of ours, Spark would give that instead of its own.
    try:
        limit = spark.conf.get(BYTES_PER_BATCH)
    except Exception:  # there is no such setting: of another class in each version, and on Connect
        return False
    return str(limit).lower().removesuffix("b") != NO_LIMIT


def need_version(least: tuple[int, int], what: str) -> None:
    """Refuse what this version of Spark lacks."""
    if least > _VERSION:
        wanted = ".".join(map(str, least))
        raise UnsupportedError(
            "REX301", f"{what} needs Spark {wanted} or later, and this is Spark {pyspark.__version__}", None, None
        )


def to_frame(spark: SparkSession, table: pa.Table) -> DataFrame:
    """An Arrow table as a DataFrame with the same types; Spark 3.5 takes it row by row."""
    if _VERSION >= (4, 0):
        return spark.createDataFrame(table)
    exact = pandas_types.from_arrow_schema(table.schema, prefer_timestamp_ntz=True)
    columns = [column.to_pylist(maps_as_pydicts="strict") for column in table.columns]
    frame = spark.createDataFrame(list(zip(*columns, strict=True)), exact)
    # Times without a zone are the session's, as later versions have it; in rows they would be those of this process.
    is_ntz = spark.conf.get("spark.sql.timestampType") == "TIMESTAMP_NTZ"
    wanted = pandas_types.from_arrow_schema(table.schema, prefer_timestamp_ntz=is_ntz)
    if wanted == exact:
        return frame
    return frame.select(*[functions.col(f"`{field.name.replace('`', '``')}`").cast(field.dataType) for field in wanted])


def to_arrow(frame: DataFrame) -> pa.Table:
    """All rows of a DataFrame as an Arrow table."""
    if _VERSION >= (4, 0):
        return frame.toArrow()
    collect: Any = frame._collect_as_arrow  # type: ignore[operator, unused-ignore]  # of 3.5, where toPandas uses it
    batches = collect()
    zone = frame.sparkSession.conf.get("spark.sql.session.timeZone") or "UTC"
    return pa.Table.from_batches(
        batches, schema=batches[0].schema if batches else zoned_arrow_schema(frame.schema, zone)
    )


def zoned_arrow_schema(schema: StructType, time_zone: str) -> pa.Schema:
    """The Arrow schema of Spark's columns, timestamps in the session's time zone. PySpark 4.2 takes the zone itself."""
    convert: Any = pandas_types.to_arrow_schema
    if "timezone" in inspect.signature(convert).parameters:
        return convert(schema, timezone=time_zone)
    found: pa.Schema = convert(schema)
    return pa.schema([field.with_type(_with_zone(field.type, time_zone)) for field in found])


def spark_type_of(kind: pa.DataType) -> DataType:
    """Spark's type of an Arrow type; a time without a zone stays one."""
    found: DataType = pandas_types.from_arrow_type(kind, prefer_timestamp_ntz=True)
    return found


def _with_zone(kind: pa.DataType, time_zone: str) -> pa.DataType:
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return pa.timestamp(kind.unit, time_zone)
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_with_zone(field.type, time_zone)) for field in kind])
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_with_zone(kind.value_type, time_zone)))
    if pa.types.is_map(kind):
        values = kind.item_field.with_type(_with_zone(kind.item_type, time_zone))
        return pa.map_(_with_zone(kind.key_type, time_zone), values)
    return kind


def function_names() -> set[str]:
    """Names of Spark's functions; 3.5 has no list of them, and some names beside."""
    return set(getattr(functions, "__all__", dir(functions)))


def error_loggers() -> list[logging.Logger]:
    """The loggers to which PySpark 4 writes every analysis error; not plain ones, which could not log them."""
    names = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
    try:
        from pyspark.logger import PySparkLogger
    except ImportError:  # 3.5 logs none
        return [logging.getLogger(name) for name in names]
    return [PySparkLogger.getLogger(name) for name in names]


def condition_of(error: PySparkException) -> str:
    """The name of an error of Spark's; 3.5 calls it its class."""
    read: Any = getattr(error, "getCondition", None) or error.getErrorClass
    return str(read() or "")
