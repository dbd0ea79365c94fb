"""`rex run --stream`: a query over streams, which runs until it is stopped, or until all is read."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

from sparkrex.cli.batches import Batches
from sparkrex.cli.failures import SparkLost, Stopped, UsageError
from sparkrex.cli.files import check_files
from sparkrex.cli.printed_rows import PrintedRows
from sparkrex.cli.progress import ERASED
from sparkrex.cli.query import reads_local_files
from sparkrex.cli.session import is_ending, job_progress, spark_session
from sparkrex.cli.spark_output import HadoopFolders
from sparkrex.cli.standard_output import say
from sparkrex.cli.stops import Stop
from sparkrex.cli.stream_arguments import TERMINAL, is_kafka, kafka_topic
from sparkrex.cli.stream_sources import connector_named, kafka_options, read_all

if TYPE_CHECKING:
    import argparse

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from sparkrex.cli.progress import Progress
    from sparkrex.cli.run import Runnable

_LOOKED_EVERY = 0.1
_PATIENCE = 10.0
"""Seconds that Spark may take to tell of the last batch."""


def run_stream(query: Runnable, arguments: argparse.Namespace, progress: Progress) -> None:
    """Run until the query ends, fails, or is asked to stop; a summary on standard error."""
    if reads_local_files(arguments):
        check_files(arguments.tables)
    stop = Stop()
    try:
        with spark_session(arguments, query.settings.time_zone, progress) as spark:
            _run(spark, query, arguments, progress, stop)
    except SparkLost:
        if stop.signal is None:
            raise
        # The signal was for all processes. What Spark has not committed it does again.
    if stop.signal is not None:
        raise Stopped(_stopped(arguments), stop.signal)


def _run(
    spark: SparkSession, query: Runnable, arguments: argparse.Namespace, progress: Progress, stop: Stop
) -> None:
    """Open the streams, run, and say how it went."""
    _check_continuation(spark, arguments)
    show_jobs = job_progress(spark)
    with progress.stage("read", show_jobs):
        tables = read_all(spark, arguments)
    with progress.stage("plan", show_jobs):
        result = query(tables, spark=spark)
    printed = PrintedRows(arguments.format) if arguments.output == TERMINAL else None
    has_one_terminal = printed is not None and sys.stdout.isatty() and sys.stderr.isatty()
    batches = Batches(None if has_one_terminal else sys.stderr)
    spark.streams.addListener(batches)
    with stop:
        shown = (lambda: f"{batches.newest()}  {show_jobs()}") if has_one_terminal else show_jobs
        with progress.stage("stream", shown):
            started = _start(result, arguments, printed)
            _wait(started, batches, stop, printed)
            batches.ended.wait(_PATIENCE)
    failed = started.exception()
    if failed is not None and is_ending(spark):
        raise SparkLost("Spark has ended")
    say(_summary(batches, arguments, progress))
    if failed is not None:
        raise failed


def _check_continuation(spark: SparkSession, arguments: argparse.Namespace) -> None:
    """An output that is there already is one that the checkpoint knows.

    A new checkpoint counts its batches from 0, and Spark's files of an older one would make it leave out those that
    have the same numbers.
    """
    if arguments.output == TERMINAL or is_kafka(arguments.output):
        return
    folders = HadoopFolders(spark)
    has_begun = folders.exists(f"{arguments.checkpoint.rstrip('/')}/metadata")
    if folders.exists(arguments.output) and not has_begun:
        raise UsageError(
            f"{arguments.output} exists, and {arguments.checkpoint} is no checkpoint of a query that wrote it: "
            "give that one, or another output, or remove the output"
        )


def _start(result: DataFrame, arguments: argparse.Namespace, printed: PrintedRows | None) -> StreamingQuery:
    writer = _with_options(result.writeStream, arguments)
    if printed is not None:
        return writer.foreachBatch(printed).start()
    if is_kafka(arguments.output):
        options = kafka_options(kafka_topic(arguments.output))
        messages = result.selectExpr("to_json(struct(*)) AS value").writeStream
        with connector_named():
            return _with_options(messages, arguments).format("kafka").options(**options).start()
    if arguments.format == "csv":
        writer = writer.option("header", "true")
    return writer.format(arguments.format).start(arguments.output)


def _with_options(writer: DataStreamWriter, arguments: argparse.Namespace) -> DataStreamWriter:
    """The checkpoint, and when batches begin."""
    if arguments.checkpoint is not None:
        writer = writer.option("checkpointLocation", arguments.checkpoint)
    if arguments.available_now:
        return writer.trigger(availableNow=True)
    if arguments.trigger is None:
        return writer
    try:
        return writer.trigger(processingTime=arguments.trigger)
    except Exception as error:  # of Spark's parser, through Java
        raise UsageError(f"--trigger {arguments.trigger!r} is no time such as '5 seconds'") from error


def _wait(query: StreamingQuery, batches: Batches, stop: Stop, printed: PrintedRows | None) -> None:
    """Until the query ends, or is asked to: with its batch by the first signal, at once by the second."""
    n_done: int | None = None
    while query.isActive:
        if stop.signal is not None and n_done is None:
            n_done = batches.n_batches
            if query.status["isTriggerActive"]:
                erased = ERASED if sys.stderr.isatty() else ""
                say(f"{erased}stopping when this batch is done; Ctrl-C again stops at once")
        is_done = n_done is not None and (batches.n_batches > n_done or not query.status["isTriggerActive"])
        if is_done or stop.is_urgent or (printed is not None and printed.is_closed):
            query.stop()
        else:
            time.sleep(_LOOKED_EVERY)


def _summary(batches: Batches, arguments: argparse.Namespace, progress: Progress) -> str:
    """Rows in and out of all batches, what is kept, and the time of each stage."""
    totals = {name: f"{number:,}" for name, number in batches.totals.items()}
    errors = f", {totals['errors']} given up by errors" if batches.totals["errors"] else ""
    place = "" if arguments.output == TERMINAL else f" to {arguments.output}"
    lines = [
        f"{batches.n_batches:,} batch{'' if batches.n_batches == 1 else 'es'}: {totals['rows_in']} rows in, "
        f"{totals['late']} late{errors}, {totals['rows_out']} out{place}"
    ]
    if batches.last:
        lines.append(f"held back: {batches.last['rows_held']:,} rows; open keys: {batches.last['open_keys']:,}")
    return "\n".join([*lines, progress.summary()])


def _stopped(arguments: argparse.Namespace) -> str:
    if arguments.checkpoint is None:
        return "stopped"
    return f"stopped; the same command goes on from {arguments.checkpoint}"
