"""The state of a query that has stopped, read from its checkpoint in batch. Nothing in it is changed.

Spark's reader of state gives the parts of every bucket as rows. A query with several relations has an operator for
each; the head of a state says whose it is.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812  as everybody writes it

from sparkrex.errors import ExecutionError, is_from_spark
from sparkrex.spark.streaming.packing import BUCKET, PAYLOAD
from sparkrex.spark.streaming.processor import PARTS, DictStore, open_operator, with_digests
from sparkrex.spark.streaming.stateful import inputs_of, refuse_behind
from sparkrex.streams.columns import COLUMNS, WrittenColumns
from sparkrex.streams.head import Head, buckets_of
from sparkrex.streams.looking import open_keys, together
from sparkrex.streams.packing import BUCKET_IDS
from sparkrex.streams.store import HEAD

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from sparkrex.source import Source, Span
    from sparkrex.spark.streaming.processor import StreamWork
    from sparkrex.streams.task import StreamTask

_OPERATOR = "transformWithState"
_LAST_ROWS = "rows"
"""The name beside those of parts: rows that reach a bucket when its stream has ended."""
_SCHEMA = "bucket int, name string, data binary"
_ESCAPED = re.compile(r"[^\w/.:\-~!'()*,;$&+=@]")
"""Characters that Spark's reader of state escapes, and then does not find."""


@dataclass(frozen=True, slots=True)
class Draining:
    """What the end of all partitions decides, from the parts of some buckets and their last rows, ordered by bucket."""

    work: StreamWork

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows that are still to come out."""
        operator = open_operator(self.work)
        try:
            for bucket, parts, blobs in _buckets(batches):
                advanced = operator.drain(BUCKET_IDS.index(bucket), parts, blobs)
                yield from advanced.rows.to_batches(max_chunksize=100_000)
        finally:
            operator.close()


def _buckets(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, DictStore, list[bytes]]]:
    bucket, parts, blobs = None, DictStore(), list[bytes]()
    for batch in batches:
        for row in batch.to_pylist():
            if row["bucket"] != bucket and bucket is not None:
                yield bucket, parts, blobs
                parts, blobs = DictStore(), []
            bucket = row["bucket"]
            if row["name"] == _LAST_ROWS:
                blobs.append(row["data"])
            else:
                parts[row["name"]] = with_digests(row["data"])[0] if row["name"] == HEAD else row["data"]
    if bucket is not None:
        yield bucket, parts, blobs


def as_last_rows(packed: DataFrame) -> DataFrame:
    """Rows in blobs by bucket, to stand among the parts of these buckets."""
    return packed.select(F.col(BUCKET).alias("bucket"), F.lit(_LAST_ROWS).alias("name"), F.col(PAYLOAD).alias("data"))


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A checkpoint, and how far a statement has read it: `fingerprints` of the patterns that it drains.

    `before` counts what Spark keeps state for in front of them, by the name that it has in the checkpoint.
    """

    spark: SparkSession
    path: str
    fingerprints: set[str] = field(default_factory=set)
    before: Counter[str] = field(default_factory=Counter)

    def know_input(self, source: DataFrame, text: Source, span: Span) -> None:
        """The stream of a pattern that is drained: nothing may wait in front of it."""
        self.before.update(inputs_of(source, text, span))

    def bucket_count(self) -> int | None:
        """How many buckets the query was started with; None if it is not known, or not one number."""
        heads = [head for found in self._heads.values() for head in found.values()]
        numbers = {buckets_of(Head.owner(head)["fingerprint"]) for head in heads}
        return next(iter(numbers)) if len(numbers) == 1 else None

    def parts(self, task: StreamTask) -> DataFrame:
        """The parts of a pattern's buckets."""
        self.fingerprints.add(task.fingerprint)
        heads = self._heads
        own = [
            number for number, found in heads.items()
            if any(Head.owner(head)["fingerprint"] == task.fingerprint for head in found.values())
        ]
        if any(heads[number] != heads[own[0]] for number in own):
            raise ExecutionError(
                "REX420", f"{self.path} has several states of this pattern, of different streams", None, None,
                hint="put all of them into one statement, so that each has a place of its own",
            )
        if own:
            return self._read(own[0])
        others = [head for found in heads.values() for head in found.values()]
        if not self._ours:
            raise no_state(self.path)
        if others and all(heads.values()):
            number = next(iter(heads))
            Head.read(others[0], task.fingerprint, task.text, lambda: self._changes(number, task))  # says whose it is
        # One operator has not written anything yet, so it has nothing that waits.
        return self.spark.createDataFrame([], _SCHEMA)

    def check_drained(self, text: Source) -> None:
        """Raise if a statement has drained nothing, or if Spark keeps a state behind its patterns."""
        if not self.fingerprints:
            raise no_stream(self.path)
        refuse_behind(self._others - self.before, text)

    def open_keys(self) -> pa.Table:
        """The open keys of all operators."""
        if not self._ours:
            raise no_state(self.path)
        tables = [
            open_keys(store) for number in self._ours
            for _, store, _ in _buckets(iter(self._collected(self._read(number).sort("bucket"))))
        ]
        return together(tables)

    @cached_property
    def _operators(self) -> list[Any]:
        try:
            found: list[Any] = self.spark.read.format("state-metadata").load(self.path).collect()
        except Exception as error:
            if not is_from_spark(error):
                raise
            raise self._unreadable(error) from error
        return list({row.operatorId: row for row in found}.values())  # a join of streams has several stores

    @cached_property
    def _ours(self) -> list[int]:
        """The numbers of our operators."""
        return [row.operatorId for row in self._operators if _is_ours(row)]

    @property
    def _others(self) -> Counter[str]:
        """Spark's operators by name."""
        return Counter(str(row.operatorName) for row in self._operators if not _is_ours(row))

    @cached_property
    def _heads(self) -> Mapping[int, Mapping[int, bytes]]:
        """The heads of the buckets of our operators."""
        return {number: self._heads_of(number) for number in self._ours}

    def _heads_of(self, operator: int) -> Mapping[int, bytes]:
        found = self._collected(self._read(operator).where(F.col("name") == HEAD))
        return {row["bucket"]: with_digests(row["data"])[0] for batch in found for row in batch.to_pylist()}

    def _changes(self, operator: int, task: StreamTask) -> list[str]:
        """How the columns of the query that wrote an operator's states differ from those of a task."""
        found = self._collected(self._read(operator).where(F.col("name") == COLUMNS).limit(1))
        written = [row["data"] for batch in found for row in batch.to_pylist()]
        return WrittenColumns.read(written[0]).changes(task.columns()) if written else []

    def _collected(self, frame: DataFrame) -> list[pa.RecordBatch]:
        """Rows of the state; what Spark cannot read is damaged."""
        try:
            return list(frame.toArrow().to_batches())
        except Exception as error:
            if not is_from_spark(error):
                raise
            raise damaged(self.path, error) from error

    def _unreadable(self, error: Exception) -> ExecutionError:
        """No batch is committed, or this is no checkpoint; what is no error of Spark's own language is damage."""
        return no_state(self.path) if isinstance(error, PySparkException) else damaged(self.path, error)

    def _read(self, operator: int) -> DataFrame:
        reader = self.spark.read.format("statestore").option("operatorId", operator).option("stateVarName", PARTS)
        try:
            state = reader.load(self.path)
        except Exception as error:
            if not is_from_spark(error):
                raise
            if escaped := _ESCAPED.search(self.path):
                raise escaped_path(self.path, escaped.group()) from error
            raise self._unreadable(error) from error
        return state.selectExpr("key.rex_bucket AS bucket", "user_map_key.name AS name", "user_map_value.data AS data")


def _causes(told: str) -> tuple[str, ...]:
    """What lies at the bottom of an error of Spark's, and the file that it names; above that are threads and tasks."""
    lines = [line.strip().removeprefix(": ") for line in told.splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith("An error occurred while calling")]  # Py4J's
    causes = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    found = causes[-1:]
    if found and "/state/" not in found[0]:
        found += [cause for cause in causes if "/state/" in cause][:1]
    return tuple(found or lines[:2])


def _is_ours(row: Any) -> bool:
    return row.operatorName.startswith(_OPERATOR) and f'"{PARTS}"' in row.operatorProperties


def no_state(checkpoint: str) -> ExecutionError:
    """The error of a folder without a state of ours."""
    return ExecutionError(
        "REX420", f"{checkpoint or 'the empty path'} has no state of a pattern", None, None,
        notes=("a query has written some once its first batch is committed",),
        hint="give the checkpointLocation with which the query was started",
    )


def damaged(checkpoint: str, error: Exception) -> ExecutionError:
    """The error of a checkpoint that Spark's reader of states fails over."""
    return ExecutionError(
        "REX419", f"the checkpoint is damaged: Spark cannot read the states in {checkpoint}", None, None,
        notes=_causes(str(error)), hint="go back to a copy, or begin with a new checkpoint",
    )


def escaped_path(checkpoint: str, character: str) -> ExecutionError:
    """The error of a path that Spark writes states to, and does not find when it reads them."""
    return ExecutionError(
        "REX420", f"Spark does not find the states in {checkpoint}, because of the character {character!r}", None, None,
        notes=("its reader of states escapes it, and looks for a folder of that name",),
        hint="copy the checkpoint, or make a symbolic link to it, whose path has no such character, and give that",
    )


def no_stream(checkpoint: str) -> ExecutionError:
    """The error of a query that could not have written a state."""
    return ExecutionError(
        "REX420", f"the query reads no stream, so nothing of it is in {checkpoint}", None, None,
        hint="give its tables as it was started with them: as streams, with their watermarks",
    )
