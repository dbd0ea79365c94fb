"""What differs between the versions of PySpark, in one place."""

from __future__ import annotations

import inspect
import logging
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.pandas import types as pandas_types

if TYPE_CHECKING:
    from pyspark.errors import PySparkException
    from pyspark.sql.types import StructType


def zoned_arrow_schema(schema: StructType, time_zone: str) -> pa.Schema:
    """The Arrow schema of Spark's columns, timestamps in the session's time zone. PySpark 4.2 takes the zone itself."""
    convert: Any = pandas_types.to_arrow_schema
    if "timezone" in inspect.signature(convert).parameters:
        return convert(schema, timezone=time_zone)
    found: pa.Schema = convert(schema)
    return pa.schema([field.with_type(_zoned(field.type, time_zone)) for field in found])


def _zoned(kind: pa.DataType, time_zone: str) -> pa.DataType:
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return pa.timestamp(kind.unit, time_zone)
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_zoned(field.type, time_zone)) for field in kind])
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_zoned(kind.value_type, time_zone)))
    if pa.types.is_map(kind):
        return pa.map_(_zoned(kind.key_type, time_zone), kind.item_field.with_type(_zoned(kind.item_type, time_zone)))
    return kind


def query_context_logger() -> logging.Logger:
    """The logger to which PySpark 4 writes every analysis error; not a plain one, which could not log them."""
    try:
        from pyspark.logger import PySparkLogger
    except ImportError:  # 3.5 logs none
        return logging.getLogger("SQLQueryContextLogger")
    return PySparkLogger.getLogger("SQLQueryContextLogger")


def condition_of(error: PySparkException) -> str:
    """The name of an error of Spark's; 3.5 calls it its class."""
    read: Any = getattr(error, "getCondition", None) or error.getErrorClass
    return str(read() or "")
