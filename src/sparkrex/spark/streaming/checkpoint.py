"""The state of a query that has stopped, read from its checkpoint in batch. Nothing in it is changed.

Spark's reader of state gives the parts of every bucket as rows. A query with several relations has an operator for
each; the head of a state says whose it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812  as everybody writes it

from sparkrex.errors import ExecutionError
from sparkrex.spark.streaming.processor import PARTS, DictStore, open_operator
from sparkrex.streams.head import Head
from sparkrex.streams.looking import open_keys
from sparkrex.streams.operator import HEAD
from sparkrex.streams.packing import BUCKET_IDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession

    from sparkrex.spark.streaming.processor import StreamWork

_OPERATOR = "transformWithState"


@dataclass(frozen=True, slots=True)
class Draining:
    """What the end of all partitions decides, from the parts of some buckets, ordered by bucket."""

    work: StreamWork

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows that are still to come out."""
        operator = open_operator(self.work)
        try:
            for bucket, parts in _buckets(batches):
                yield from operator.drain(BUCKET_IDS.index(bucket), parts).rows.to_batches(max_chunksize=100_000)
        finally:
            operator.close()


def _buckets(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, DictStore]]:
    bucket, parts = None, DictStore()
    for batch in batches:
        for row in batch.to_pylist():
            if row["bucket"] != bucket and bucket is not None:
                yield bucket, parts
                parts = DictStore()
            bucket = row["bucket"]
            parts[row["name"]] = row["data"]
    if bucket is not None:
        yield bucket, parts


def saved_parts(spark: SparkSession, checkpoint: str, work: StreamWork) -> DataFrame:
    """The parts of the query's buckets, those of one bucket together."""
    task = work.task
    heads: list[bytes] = []
    for number in _operators(spark, checkpoint):
        parts = _read_parts(spark, checkpoint, number)
        found = parts.where(F.col("name") == HEAD).limit(1).collect()
        heads += [bytes(row.data) for row in found]
        if found and Head.owner(heads[-1])["fingerprint"] == task.fingerprint:
            return parts.repartition("bucket").sortWithinPartitions("bucket")
    if not heads:
        raise no_state(checkpoint)
    Head.read(heads[0], task.fingerprint, task.text)  # says whose it is
    raise AssertionError("a head of another query was read")


def read_state(spark: SparkSession, checkpoint: str) -> pa.Table:
    """The open keys of all operators in a checkpoint."""
    tables = []
    for number in _operators(spark, checkpoint):
        parts = _read_parts(spark, checkpoint, number).sort("bucket")
        for _, store in _buckets(iter(parts.toArrow().to_batches())):
            tables.append(open_keys(store))
    if not tables:
        raise no_state(checkpoint)
    return pa.concat_tables(tables, promote_options="default")


def no_state(checkpoint: str) -> ExecutionError:
    """The error of a folder without a state of ours."""
    return ExecutionError(
        "REX420", f"{checkpoint} has no state of a pattern", None, None,
        notes=("a query has written some once its first batch is committed",),
        hint="give the checkpointLocation with which the query was started",
    )


def no_stream(checkpoint: str) -> ExecutionError:
    """The error of a query that could not have written a state."""
    return ExecutionError(
        "REX420", f"the query reads no stream, so nothing of it is in {checkpoint}", None, None,
        hint="give its tables as it was started with them: as streams, with their watermarks",
    )


def _operators(spark: SparkSession, checkpoint: str) -> list[int]:
    """The numbers of our operators."""
    try:
        found: list[Any] = spark.read.format("state-metadata").load(checkpoint).collect()
    except PySparkException as error:
        raise no_state(checkpoint) from error
    return [
        row.operatorId for row in found
        if row.operatorName.startswith(_OPERATOR) and f'"{PARTS}"' in row.operatorProperties
    ]


def _read_parts(spark: SparkSession, checkpoint: str, operator: int) -> DataFrame:
    reader = spark.read.format("statestore").option("operatorId", operator).option("stateVarName", PARTS)
    try:
        state = reader.load(checkpoint)
    except PySparkException as error:  # no batch is committed; or the path has a character that Spark's reader escapes
        raise no_state(checkpoint) from error
    return state.selectExpr("key.rex_bucket AS bucket", "user_map_key.name AS name", "user_map_value.data AS data")
