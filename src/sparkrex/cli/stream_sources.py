"""Streaming DataFrames over files, topics of Kafka and rates, each with its watermark."""

from __future__ import annotations

import re
from contextlib import contextmanager
from importlib import metadata
from typing import TYPE_CHECKING

from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812  as everybody writes it
from pyspark.sql import types as T  # noqa: N812  as everybody writes it

from sparkrex.cli.failures import UsageError
from sparkrex.cli.session import read_table
from sparkrex.cli.stream_arguments import no_columns
from sparkrex.errors import nearest
from sparkrex.spark.files.opening import READERS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.readwriter import DataStreamReader

    from sparkrex.cli.stream_arguments import KafkaTopic, StreamSource
    from sparkrex.spark.files.opening import SparkFiles

_SETTINGS = {
    "spark.sql.streaming.stateStore.providerClass":
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.sql.streaming.stateStore.rocksdb.trackTotalNumberOfRows": "false",
}
"""What streams with state of ours need, and what they should have."""
_CAST = (T.StringType, T.DateType, T.TimestampNTZType)
"""Types of times that a watermark cannot be on, but a cast of them."""
_ABOUT_MESSAGES = {
    "kafka_key": "CAST(key AS STRING)", "kafka_topic": "topic", "kafka_partition": "partition",
    "kafka_offset": "offset", "kafka_timestamp": "timestamp",
}
"""The columns of a message beside those of its value."""


def read_all(spark: SparkSession, arguments: argparse.Namespace) -> dict[str, DataFrame | SparkFiles]:
    """All tables of a query, streams or not."""
    if arguments.streams:
        _complete_settings(spark, arguments)
    tables = {table.name: read_table(spark, table) for table in arguments.tables}
    streams = {
        source.name: read_stream(spark, source, arguments.files_per_batch) for source in arguments.streams
    }
    return {**tables, **streams}


def _complete_settings(spark: SparkSession, arguments: argparse.Namespace) -> None:
    """Settings that neither the command nor Spark's own files give."""
    settings = dict(_SETTINGS)
    if arguments.master.startswith("local"):
        # Each task of a stream has a store of its own; Spark's 200 are for clusters.
        settings["spark.sql.shuffle.partitions"] = str(spark.sparkContext.defaultParallelism)
    given = spark.sparkContext.getConf()
    for name, value in settings.items():
        if not given.contains(name):
            spark.conf.set(name, value)


def read_stream(spark: SparkSession, source: StreamSource, files_per_batch: int | None) -> DataFrame:
    """The rows of a stream as they come, with its watermark if it has one."""
    reader = spark.readStream
    match source.kind:
        case "kafka":
            frame = _messages(reader, source, _declared(source))
        case "rate":
            frame = reader.format("rate").option("rowsPerSecond", source.place).options(**dict(source.options)).load()
        case _:
            kind, options = READERS[source.kind]
            if files_per_batch is not None:
                reader = reader.option("maxFilesPerTrigger", files_per_batch)
            schema = _declared(source) or _found(spark, source)
            frame = reader.format(kind).options(**options).schema(schema).load(source.place)
    return frame if source.watermark is None else _watermarked(frame, source)


def _declared(source: StreamSource) -> T.StructType | None:
    if source.columns is None:
        return None
    try:
        found = T.StructType.fromDDL(source.columns)
    except PySparkException as error:
        message = f"stream {source.name}: --schema {source.columns!r} cannot be read: {_first(error)}"
        raise UsageError(message) from error
    if not isinstance(found, T.StructType):
        raise UsageError(f"stream {source.name}: --schema {source.columns!r} is a type, not columns: COLUMN TYPE, ...")
    return found


def _found(spark: SparkSession, source: StreamSource) -> T.StructType:
    """The columns of the files that are there."""
    kind, options = READERS[source.kind]
    try:
        schema = spark.read.format(kind).options(**options).load(source.place).schema
    except Exception as error:
        if isinstance(error, PySparkException) and error.getCondition() in ("UNABLE_TO_INFER_SCHEMA", "PATH_NOT_FOUND"):
            raise no_columns(source) from error
        if "No FileSystem for scheme" in str(error):  # of Hadoop, through Java
            scheme = source.place.partition("://")[0]
            raise UsageError(
                f"stream {source.name}: nothing reads {scheme}://; a stream is files, kafka://HOST:PORT/TOPIC or rate://N"
            ) from error
        raise
    if not schema.fields:
        raise no_columns(source)
    return schema


def _messages(reader: DataStreamReader, source: StreamSource, schema: T.StructType | None) -> DataFrame:
    """The messages of topics from the first on, as files are read; the value is text, or the columns of its JSON."""
    servers, _, topic = source.place.partition("/")
    options = {"subscribe": topic, "startingOffsets": "earliest", **dict(source.options)}
    described = reader.format("kafka").option("kafka.bootstrap.servers", servers).options(**options)
    with connector_named():
        messages = described.load()
    value = F.col("value").cast("string")
    about = [F.expr(text).alias(name) for name, text in _ABOUT_MESSAGES.items()]
    if schema is None:
        return messages.select(value.alias("value"), *about)
    return messages.select(F.from_json(value, schema).alias("value"), *about).select("value.*", *_ABOUT_MESSAGES)


@contextmanager
def connector_named() -> Iterator[None]:
    """If Spark does not know Kafka inside, the error names the package that it lacks."""
    try:
        yield
    except PySparkException as error:
        if not re.search(r"(?i)find (the )?data source:? `?kafka", str(error)):
            raise
        # Spark is built for one version of Scala; from 4.0 on there is no other.
        package = f"org.apache.spark:spark-sql-kafka-0-10_2.13:{metadata.version('pyspark')}"
        raise UsageError(
            f"Spark needs a package for Kafka, which this session lacks; add --conf spark.jars.packages={package}"
        ) from error


def kafka_options(topic: KafkaTopic) -> dict[str, str]:
    """What a sink of Kafka is told."""
    return {"kafka.bootstrap.servers": topic.servers, "topic": topic.topic, **dict(topic.options)}


def _watermarked(frame: DataFrame, source: StreamSource) -> DataFrame:
    if source.watermark is None:
        return frame
    column, delay = source.watermark
    types = {field.name.lower(): field.dataType for field in frame.schema}
    if column.lower() not in types:
        hint = nearest(column, frame.columns) or f"it has {', '.join(frame.columns)}"
        raise UsageError(f"stream {source.name} has no column {column} for --watermark; {hint}")
    found = types[column.lower()]
    quoted = f"`{column.replace('`', '``')}`"
    if isinstance(found, _CAST):
        frame = frame.withColumn(column, F.expr(f"TRY_CAST({quoted} AS TIMESTAMP)"))
    elif not isinstance(found, T.TimestampType):
        raise UsageError(
            f"--watermark: column {column} of stream {source.name} is of type {found.simpleString()}, not a timestamp"
        )
    try:
        return frame.withWatermark(column, delay)
    except PySparkException as error:
        raise UsageError(f"--watermark: {delay!r} is no delay such as '10 seconds': {_first(error)}") from error


def _first(error: PySparkException) -> str:
    return str(error).strip().splitlines()[0]
