"""MATCH_RECOGNIZE and MATCH_EVENTS on Spark, batch: a lazy DataFrame for every statement.

Its relations one after the other (`spark.relation`), then the statement around them in Spark's SQL. No job runs here.
"""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa

from sparkrex.columns.inputs import is_spark, to_arrow
from sparkrex.errors import UnsupportedError
from sparkrex.matching.output import NO_COLUMNS
from sparkrex.matching.side_rows import check_kept
from sparkrex.matching.silent import warn_of_lasting
from sparkrex.pipeline import INPUT, check_single, explaining_outside
from sparkrex.source import Source
from sparkrex.spark.actions import create_view, refuse_action
from sparkrex.spark.files.opening import SparkFiles, open_files
from sparkrex.spark.host import SparkHost
from sparkrex.spark.relation import lower_relation
from sparkrex.spark.shipping import check_local_workers
from sparkrex.spark.streaming.around import refuse_limits, refuse_writing
from sparkrex.spark.streaming.checkpoint import Checkpoint
from sparkrex.spark.versions import need_version, to_frame
from sparkrex.statement.action import query_start
from sparkrex.syntax.tokens import find_dialect, tokenize

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from sparkrex.functions import Function
    from sparkrex.modes.protocol import Explained
    from sparkrex.pipeline import ParsedQuery
    from sparkrex.settings import Settings


def find_session(spark: SparkSession | None, tables: Mapping[str, object]) -> SparkSession:
    """The session given, or that of the first DataFrame."""
    if spark is not None:
        return spark
    frame: Any = next(value for value in tables.values() if is_spark(value))
    session: SparkSession = frame.sparkSession
    return session


def run_on_spark(
    query: ParsedQuery, tables: Mapping[str, object], spark: SparkSession | None, settings: Settings,
    checkpoint: str | None = None,
) -> DataFrame:
    """The statement's result as a lazy DataFrame.

    With a checkpoint, of a streaming query that has stopped, what the end of its streams decides.
    """
    host = open_host(query, tables, spark)
    register_missing(host.spark, settings.functions)
    if checkpoint is not None:
        host.checkpoint = Checkpoint(host.spark, checkpoint)
    if query.statement.relations:
        check_local_workers(host.spark)
    check_single(query, settings)
    result: DataFrame | None = None
    for relation, clause in zip(query.statement.relations, query.clauses, strict=True):
        result, _ = lower_relation(query, relation, clause, host, settings)
        if checkpoint is None and settings.partition_gap is None:
            warn_of_lasting(host.lasting, host.source)
        host.frames[relation.placeholder] = result
    if host.checkpoint is not None:
        host.checkpoint.check_drained(host.source)
    action = query.statement.action
    if action is not None and action.query is not None:
        if action.is_view and action.is_temporary:
            create_view(action, _rows_of(query, host), host.source)
            return host.spark.range(0).select()
        if action.writes and any(frame.isStreaming for frame in host.frames.values()):
            refuse_writing(action, host.source)
    if query.statement.bare_relation is None or result is None:
        with explaining_outside(query):
            result = _query_around(query, host)
        if settings.side_rows and query.statement.relations:
            check_kept(result.columns)
        return _checked(result, query, host)
    return result.select() if result.columns == [NO_COLUMNS] else result


def register_missing(spark: SparkSession, functions: Sequence[Function]) -> None:
    """Register the Python functions of a call that the session does not know: Spark calls them where one row is read.

    A name that the session knows stays what it is there.
    """
    for function in functions:
        if not spark.catalog.functionExists(function.name):
            spark.udf.register(function.name, function.call, function.spark_result())


def _checked(result: DataFrame, query: ParsedQuery, host: SparkHost) -> DataFrame:
    """The statement's rows, if they are a table or can be a stream."""
    if result.isStreaming and host.checkpoint is not None:
        raise UnsupportedError(
            "REX302", "a stream beside the pattern cannot be drained: there is no state of it", host.source, None,
            hint="drain the pattern alone, and give the other table as spark.read has it",
        )
    if result.isStreaming:
        refuse_limits(query.statement)
    return result


def explain_on_spark(
    query: ParsedQuery, tables: Mapping[str, object], spark: SparkSession | None, settings: Settings, *,
    analyze: bool = False,
) -> tuple[list[Explained], DataFrame]:
    """How every relation is answered, and the DataFrame of the whole.

    With `analyze` the workers run every relation, each alone. The statement around them is not run.
    """
    host = open_host(query, tables, spark)
    register_missing(host.spark, settings.functions)
    action = query.statement.action
    if action is not None and not (action.query and (action.writes or action.is_view)):
        raise UnsupportedError(
            "REX303", f"the plan of {action.kind} cannot be shown without running it", host.source, None,
            hint="explain the query alone",
        )
    if analyze and query.statement.relations:
        check_local_workers(host.spark)
    explained: list[Explained] = []
    for relation, clause in zip(query.statement.relations, query.clauses, strict=True):
        frame, explain = lower_relation(query, relation, clause, host, settings)
        host.frames[relation.placeholder] = frame
        explained.append(explain(analyze))
    if query.statement.bare_relation is None:
        with explaining_outside(query):
            frame = _rows_of(query, host)
    return explained, frame


def _rows_of(query: ParsedQuery, host: SparkHost) -> DataFrame:
    """The rows of the statement's query, nothing done with them yet."""
    text = host.translated(query.statement.host_sql)
    tokens = tokenize(Source(text), find_dialect("spark"))
    return host.analyzed(text[tokens[query_start(tokens)].start :], None)


def _query_around(query: ParsedQuery, host: SparkHost) -> DataFrame:
    """The statement around its relations, whose results the host knows by now."""
    return host.analyzed(host.translated(query.statement.host_sql), None)


def open_host(query: ParsedQuery, tables: Mapping[str, object], spark: SparkSession | None) -> SparkHost:
    session = find_session(spark, tables)
    if ".connect." in type(session).__module__:
        need_version((4, 0), "Spark Connect")
    statement = query.statement
    host = SparkHost(session, statement.source, statement.dialect, query.dialect_name)
    if statement.action is not None:
        reads_ours = bool(statement.relations or tables) or statement.action.hides_matches
        refuse_action(statement.action, statement.source, reads_ours=reads_ours)
    if query.dialect_name == "oracle":
        host.frames["dual"] = session.sql("SELECT 'X' AS dummy")
    for name, value in tables.items():
        if isinstance(value, str | Path):
            value = open_files(session, "" if name == INPUT else name, str(value))
        if is_spark(value):
            host.frames[name] = cast("DataFrame", value)
        elif isinstance(value, SparkFiles):
            host.frames[name] = value.frame
            host.files[name.lower()] = value
        else:
            source = to_arrow(name, value)
            table = source if isinstance(source, pa.Table) else source.to_table()
            host.frames[name] = to_frame(session, table)
    return host


def physical_plan(frame: DataFrame) -> str:
    """Spark's plan of a DataFrame as text."""
    if frame.isStreaming:
        return "Spark plans every batch of a stream for itself: query.explain() shows the last one\n"
    captured = io.StringIO()
    with contextlib.redirect_stdout(captured):
        frame.explain()
    return captured.getvalue()
