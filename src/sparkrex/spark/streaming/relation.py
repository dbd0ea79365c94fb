"""A relation over a stream: rows packed by bucket, the stateful operator, result rows unpacked.

The plan and the projection are those of batch. There is no exchange by key: a bucket holds many keys, and Spark moves a
few large rows for each.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from pyspark import cloudpickle
from pyspark.sql.types import StructType

import sparkrex
from sparkrex.errors import RexError, UnsupportedError
from sparkrex.matching.runner import Waking
from sparkrex.matching.side_rows import ROW
from sparkrex.modes.fingerprint import fingerprint
from sparkrex.settings import Settings
from sparkrex.spark.shipping import shipped_processor, shipped_task
from sparkrex.spark.shuffle import check_carried, check_keys, keep_comparable, known_as, output_schema
from sparkrex.spark.streaming.checkpoint import Draining, as_last_rows
from sparkrex.spark.streaming.keys import bucket_count, check_stream_keys, hashed_columns
from sparkrex.spark.streaming.metrics import observed
from sparkrex.spark.streaming.packing import BUCKET, PAYLOAD, Packing, Unpacking
from sparkrex.spark.streaming.processor import OUTPUT, StreamWork
from sparkrex.spark.streaming.requirements import check_requirements
from sparkrex.spark.streaming.reuse import may_be_shared, refuse_shared
from sparkrex.spark.versions import zoned_arrow_schema
from sparkrex.spark.worker import Carried, WorkerEvaluator, open_evaluator
from sparkrex.spark.worker_expressions import proven_calls
from sparkrex.spark.worker_types import refuse_types
from sparkrex.streams.members import Members
from sparkrex.streams.task import StreamTask

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from sparkrex.matching.silent import Lasting
    from sparkrex.modes.plan import Plan
    from sparkrex.modes.protocol import Mode
    from sparkrex.spark.host import SparkHost
    from sparkrex.spark.lowering import Lowered
    from sparkrex.spark.worker import WorkerTask
    from sparkrex.statement.cut import Relation


def through_buckets(
    projected: DataFrame, lowered: Lowered, mode: Mode[Any], plan: Plan, host: SparkHost, relation: Relation,
    settings: Settings,
) -> tuple[DataFrame, pa.Table]:
    """What the workers make of a stream's rows, and a sample of what travels to them, without rows.

    If the host drains a checkpoint: what the end of the stream decides, as a table.
    """
    if host.checkpoint is not None and settings.buckets is None:
        # Their number follows from the session, which may have other tasks than the one that began the query.
        settings = replace(settings, buckets=host.checkpoint.bucket_count())
    work, output, lasting = _stream_work(projected, lowered, mode, plan, host, relation, settings)
    sample = work.task.schema.empty_table()
    host.lasting = lasting
    packing = Packing(work.task.schema, work.task.hashed, bucket_count(settings, host.spark), uuid4().hex)
    packed = projected.mapInArrow(shipped_task(packing), f"{BUCKET} int, {PAYLOAD} binary")
    if host.checkpoint is not None:
        parts = host.checkpoint.parts(work.task)
        if not projected.isStreaming:
            parts = parts.unionAll(as_last_rows(packed))
        parts = parts.repartition("bucket").sortWithinPartitions("bucket")
        return parts.mapInArrow(shipped_task(Draining(work)), output), sample
    grouped = packed.groupBy(BUCKET)
    advanced = grouped.transformWithState(
        shipped_processor(work), OUTPUT, outputMode="append", timeMode="eventTime"
    )
    unpacked = observed(advanced).select(PAYLOAD).mapInArrow(shipped_task(Unpacking(work.task.output)), output)
    return unpacked, sample


def _stream_work(
    projected: DataFrame, lowered: Lowered, mode: Mode[Any], plan: Plan, host: SparkHost, relation: Relation,
    settings: Settings,
) -> tuple[StreamWork, StructType, list[Lasting]]:
    """The work on a stream, what comes out, and what is kept of silent keys."""
    check_requirements(host.spark)
    if projected.isStreaming:
        host.n_streams += 1
        host.is_shuffled |= may_be_shared(projected)
        if host.n_streams > 1 and host.is_shuffled:
            refuse_shared(projected, host.source, relation.span)
    types = {field.name: field.dataType for field in projected.schema}
    check_keys(lowered, types, host, relation)
    check_stream_keys(lowered, types, host.source, relation.span)
    keep_comparable(lowered, types)
    output = output_schema(projected, lowered, types)
    check_carried(projected, lowered, host, relation)
    lowered.worker = proven_calls(lowered.worker, types, host, settings.functions)
    refuse_types(lowered.worker, types)
    # Not the session's zone: rows are kept, and the next start may be in another one.
    sample = zoned_arrow_schema(projected.schema, "UTC").empty_table()
    carried = Carried(zoned_arrow_schema(output, host.time_zone()), False, None, sparkrex.__version__)
    batch = _batch_task(lowered, mode, plan, sample, carried, settings)
    lasting = _lasting(batch, sample, settings, host, relation)
    n_buckets = bucket_count(settings, host.spark)
    task = StreamTask(
        mode=batch.mode, plan=batch.plan, settings=settings, schema=sample.schema, hashed=hashed_columns(lowered),
        time=lowered.order[0],
        output=carried.schema, key_names=batch.key_names,
        fingerprint=_own_fingerprint(plan, batch.plan, sample.schema, settings, host), text=_text(plan, settings),
        version=sparkrex.__version__, members=Members.of(plan, n_buckets), known=_known(projected, lowered, host),
    )
    return StreamWork(task, batch), output, lasting


def _known(projected: DataFrame, lowered: Lowered, host: SparkHost) -> tuple[str, ...]:
    """The columns that travel as the user knows them, with their types; of the input row all of its columns."""
    found = []
    for field in projected.schema:
        if field.name == ROW and isinstance(field.dataType, StructType):
            found += [f"{one.name} {one.dataType.simpleString()}" for one in field.dataType]
            continue
        found.append(f"{known_as(lowered, field.name, host.source.text)} {field.dataType.simpleString()}")
    return tuple(found)


def _lasting(
    task: WorkerTask, sample: pa.Table, settings: Settings, host: SparkHost, relation: Relation
) -> list[Lasting]:
    """What is kept of silent keys. Raises REX302 for a search that needs whole partitions: those of a stream never are.
    """
    keys = tuple(column for column, _ in task.key_names)
    evaluator = WorkerEvaluator(task.plan, settings)
    try:
        runner = task.mode.runner(task.plan, sample, keys, evaluator, settings)
        refusal = runner.refusal
        lasting = runner.lasting() if isinstance(runner, Waking) and refusal is None else []
    finally:
        evaluator.close()
    if refusal is not None:
        raise UnsupportedError(
            "REX302", "this search needs whole partitions, and those of a stream never are", host.source, relation.span,
            notes=(refusal,), hint=task.plan.whole_advice,
        )
    return lasting


def _batch_task(
    lowered: Lowered, mode: Mode[Any], plan: Plan, sample: pa.Table, carried: Carried, settings: Settings
) -> WorkerTask:
    evaluator = open_evaluator(lowered.worker, settings)
    try:
        return mode.task(lowered, plan, sample, carried, evaluator, settings, cloudpickle.dumps)
    except RexError as error:
        if error.source is None and error.span is not None:
            error.source = plan.source
        raise
    finally:
        evaluator.host.close()


def above_watermark(where: str | None, time: str) -> str | None:
    """A filter that stays above Spark's node of the watermark, wherever the optimizer would like to have it.

    Rows that take no part in a query still say how late it is. A filter that does not read the watermarked column is
    moved below that node, and then they would not: a query could wait for ever for rows that matter to it.
    """
    return None if where is None else f"({where}) OR unix_micros({time}) = {-(1 << 63)}"


_CHANGING = ("tie_break", "partition_gap", "side_rows", "on_error")
"""Settings that belong to a checkpoint, beside `buckets`."""


def _text(plan: Plan, settings: Settings) -> str:
    """The query as the error of another one's checkpoint names it, with the settings that belong to it."""
    values = {name: getattr(settings, name) for name in _CHANGING}
    given = [f"{name}={value!r}" for name, value in values.items() if value != getattr(Settings(), name)]
    return f"{plan.title()}{', with ' if given else ''}{', '.join(given)}"


def _own_fingerprint(plan: Plan, worker: Plan, schema: pa.Schema, settings: Settings, host: SparkHost) -> str:
    """The fingerprint, with a number where the statement has the same pattern over a stream once more."""
    found = _fingerprint(plan, worker, schema, settings, host.spark)
    host.n_alike[found] += 1
    number = host.n_alike[found]
    return found if number == 1 else f"{found}/{number}"


def _fingerprint(plan: Plan, worker: Plan, schema: pa.Schema, settings: Settings, spark: SparkSession) -> str:
    """Of all that a state depends on: what the query means, the columns that are kept, which bucket has which keys."""
    columns = ", ".join(f"{field.name} {_without_zone(field.type)}" for field in schema)
    n_buckets = bucket_count(settings, spark)
    members = Members.of(plan, n_buckets)
    if members is not None:
        parts = [members.base, *(f"{name} {own}" for name, own in members.prints.items()), columns]
    else:
        # Columns of the input that nobody reads may come and go.
        passed = set(plan.passed_columns())
        plan = replace(plan, input_columns=tuple(name for name in plan.input_columns if name in passed))
        parts = [fingerprint(plan), fingerprint(worker), columns]
    if settings.reports:
        parts.append(settings.on_error)
    return f"{hashlib.sha256(chr(10).join(parts).encode()).hexdigest()[:16]}.{n_buckets}"


def _without_zone(kind: pa.DataType) -> str:
    """The type as text, whatever the session's time zone: the values are the same."""
    return re.sub(r"tz=[^],]*", "tz", str(kind))
