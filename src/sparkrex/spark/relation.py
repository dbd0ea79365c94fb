"""One relation of a statement as a lazy DataFrame.

One projection of the input in Spark's SQL, one `repartition` by key (`spark.shuffle`), `mapInArrow` with the worker,
these two once more where a mode merges the workers' results, one select. Types come from Spark's analysis.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pyspark import cloudpickle
from pyspark.sql import functions as F  # noqa: N812  as everybody writes it

import sparkrex
from sparkrex.errors import RexError, UnsupportedError
from sparkrex.matching.gaps import gap_of
from sparkrex.matching.side_rows import MATCH, ROW, check_names
from sparkrex.modes.protocol import Settling
from sparkrex.modes.tables import language_of, mode_of
from sparkrex.pipeline import check_reporting, follow_settings
from sparkrex.scalar.analyze.scope import InputColumn, Scope
from sparkrex.scalar.render.spark import quoted
from sparkrex.spark.explain import ExplainedOnSpark
from sparkrex.spark.files.arriving import Arriving
from sparkrex.spark.files.choosing import FilesRead, FoundWay, choose_way
from sparkrex.spark.files.slicing import SlicesRead
from sparkrex.spark.gathered import regrouped_sql
from sparkrex.spark.host import AGGREGATE_NAMES, AggregateNames, SparkHost, spark_type
from sparkrex.spark.measured import Pass, conversion_advice, measured_lines
from sparkrex.spark.shipping import shipped_task
from sparkrex.spark.shuffle import check_carried, is_not_carried, known_as, shuffle, side_fields
from sparkrex.spark.side_rows import carry_row, is_carried, outputs_with_side_rows
from sparkrex.spark.streaming.around import refuse_stream
from sparkrex.spark.streaming.explain import StreamExplained
from sparkrex.spark.streaming.keys import bucket_count
from sparkrex.spark.streaming.relation import above_watermark, through_buckets
from sparkrex.spark.streaming.requirements import check_classic
from sparkrex.spark.streaming.watermark import (
    ROW_TIME,
    WATERMARK,
    are_results,
    check_order,
    find_watermark,
    watermarked,
)
from sparkrex.spark.versions import zoned_arrow_schema
from sparkrex.spark.worker import Carried, WorkerEvaluator, open_evaluator
from sparkrex.spark.worker_language import refuse_worker_calls
from sparkrex.syntax.names import name_rules
from sparkrex.syntax.tokens import tokenize

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from sparkrex.modes.plan import Plan
    from sparkrex.modes.protocol import Explained, Mode
    from sparkrex.pipeline import ParsedQuery
    from sparkrex.settings import Settings
    from sparkrex.spark.gathered import Gathered
    from sparkrex.spark.lowering import Lowered
    from sparkrex.statement.cut import Relation


@dataclass(frozen=True, slots=True)
class _Through:
    """What workers make of rows, a sample of what travels to them, without rows, and how to measure that."""

    frame: DataFrame
    sample: pa.Table
    passes: tuple[Pass, ...]


def lower_relation(
    query: ParsedQuery, relation: Relation, clause: Any, host: SparkHost, settings: Settings
) -> tuple[DataFrame, Callable[[bool], Explained]]:
    """A relation's result, and what explains it; given True, after a run."""
    source = relation_source(relation, host)
    settings = replace(settings, time_zone=host.time_zone())
    plan = relation_plan(query, relation, clause, source, host, settings)
    time = ""
    # The results of a pattern that is drained are a table; a pattern over them has a state all the same.
    is_stream = source.isStreaming or (host.checkpoint is not None and are_results(source.schema))
    if is_stream:
        check_classic(host.spark, host.source, relation.span)
        mark = WATERMARK if source.isStreaming else ROW_TIME
        order = plan.order_by[0].column if plan.order_by else None
        time = find_watermark(source.schema, order, host.source, relation.span, mark)
        is_row_time = ROW_TIME in source.schema[time].metadata
        check_order(plan, time, source.schema, host.source, relation.span, is_row_time=is_row_time)
    if settings.side_rows:
        check_names((*source.columns, *plan.output_columns()))
    check_reporting(plan, settings, is_stream=is_stream)
    mode = mode_of(plan.mode)

    def projected_types(lowered: Lowered, names: Sequence[str]) -> pa.Schema:
        asked = _project(source, lowered, host, relation).select(*names)
        check_carried(asked, lowered, host, relation)
        return arrow_schema(asked.schema, host)

    def input_types(names: Sequence[str]) -> pa.Schema:
        return arrow_schema(source.select(*map(quoted, names)).schema, host)

    # On a stream the SELECT around may change while the state stays, so what travels must not follow from it.
    wanted = None if is_stream else _wanted_names(query, relation)
    lowered = mode.lower(plan, f"{relation.placeholder}_in", settings, wanted, projected_types)
    refuse_worker_calls(lowered.worker, [function.name for function in settings.functions])
    if is_stream:
        _refuse_gathered(lowered, host, "on a stream")
    if settings.side_rows:
        _refuse_gathered(lowered, host, "with side_rows")
    if settings.side_rows and (is_stream or settings.reports):
        if lowered.following is not None:
            raise _refuse_merged(host, relation)
        _check_row_carried(source, host, relation)
        carry_row(lowered, f"{relation.placeholder}_in", source.columns)
    if is_stream:
        if isinstance(mode, Settling):
            lowered.worker = mode.settled(lowered.worker)
        lowered.where = above_watermark(lowered.where, f"{relation.placeholder}_in.{quoted(time)}")
    projected = _project(source, lowered, host, relation)
    if not is_stream:
        refuse_stream(projected, host.source, relation.span, "a table of a subquery")
    if host.checkpoint is not None and source.isStreaming:
        host.checkpoint.know_input(source, host.source, relation.span)
    host.lasting = []
    way: FoundWay = None
    passes: list[Pass] = []
    if is_stream:
        frame, sample = through_buckets(projected, lowered, mode, plan, host, relation, settings)
    else:
        way = choose_way(query, relation, mode, plan, lowered, projected, host, settings)
        through = _through_workers(projected, lowered, mode, plan, host, relation, settings, way)
        frame, sample = through.frame, through.sample
        passes += through.passes
    lasting = host.lasting
    if plan.partition_gap is not None:
        gap_of(plan, sample.schema.field(lowered.order[0]).type)  # an error now rather than in the job
    if lowered.following is not None:
        merging = _through_workers(frame, lowered.following, mode, plan, host, relation, settings)
        frame = merging.frame
        passes += (replace(one, name="Workers merge") for one in merging.passes)

    def explain(analyze: bool) -> Explained:
        if analyze and is_stream:
            raise _refuse_analysis(host, relation)
        workers = WorkerEvaluator(lowered.worker, settings)
        try:
            found = mode.explain_for_workers(plan, lowered, sample, input_types, workers, settings)
        finally:
            workers.close()
        below: list[str] = []
        if way is not None:
            below.append(f"Files: read by Spark: {way}" if isinstance(way, str) else way.line())
        if analyze and isinstance(way, SlicesRead):
            below.append("Not measured: tasks that search slices")
        elif analyze:
            read = f"{relation.prefix} {relation.input_sql}"
            below += measured_lines(
                passes, [one.placeholder for one in query.statement.relations if one.placeholder in read]
            )
            advice = None if isinstance(way, FilesRead) else conversion_advice(projected)
            below += [advice] if advice is not None else []
        if not source.isStreaming:
            return ExplainedOnSpark(found, tuple(below)) if below else found
        return StreamExplained(
            found, lasting, sample.schema, lowered.keys, has_gap=plan.partition_gap is not None,
            known={name: known_as(lowered, name, host.source.text) for name in lowered.projections if name != ROW},
            time=time, delay=source.schema[time].metadata[WATERMARK], n_buckets=bucket_count(settings, host.spark),
        )

    result = _select(frame, lowered, host, relation)
    if settings.side_rows and not is_carried(lowered):
        result = _all_of_matches(result, source)
    return watermarked(result, lowered) if is_stream else result, explain


def _through_workers(
    rows: DataFrame, lowered: Lowered, mode: Mode[Any], plan: Plan, host: SparkHost, relation: Relation,
    settings: Settings, way: FoundWay = None,
) -> _Through:
    """What the workers make of rows.

    Rows of files that workers read themselves come in blobs, or are read by the tasks that search them.
    """
    is_sliced = isinstance(way, SlicesRead)
    shuffled = shuffle(rows, lowered, host, relation, settings.functions, is_sliced=is_sliced)
    sample = arrow_schema(shuffled.frame.schema, host).empty_table()
    carried = Carried(
        arrow_schema(shuffled.output, host), shuffled.is_ordered, shuffled.cut, sparkrex.__version__
    )
    evaluator = open_evaluator(lowered.worker, settings)
    try:
        task = mode.task(lowered, plan, sample, carried, evaluator, settings, cloudpickle.dumps)
    except RexError as error:
        if error.source is None and error.span is not None:
            error.source = plan.source
        raise
    finally:
        evaluator.host.close()
    if isinstance(way, FilesRead):
        arriving = Arriving(task, way.reading.schema)
        blobs = way.blobs(host.spark)
        reading = Pass("Workers read", way.units(host.spark), way.reading, "blobs")
        frame = blobs.mapInArrow(shipped_task(arriving), shuffled.output)
        return _Through(frame, sample, (reading, Pass("Workers match", blobs, arriving)))
    if isinstance(way, SlicesRead):
        return _Through(way.results(host.spark, task, shuffled.output), sample, ())
    frame = shuffled.frame.mapInArrow(shipped_task(task), shuffled.output)
    return _Through(frame, sample, (Pass("Workers match", shuffled.frame, task),))


def relation_source(relation: Relation, host: SparkHost) -> DataFrame:
    """The rows that a relation reads."""
    return host.analyzed(host.translated(f"{relation.prefix}SELECT * FROM {relation.input_sql}"), relation.span)


def relation_plan(
    query: ParsedQuery, relation: Relation, clause: Any, source: DataFrame, host: SparkHost, settings: Settings
) -> Plan:
    """The plan of a relation over the rows that it reads."""
    columns = tuple(InputColumn(field.name, spark_type(field.dataType.simpleString())) for field in source.schema)
    language = language_of(relation.keyword)
    scope = _scope(query, relation, language.variables(clause), columns, host)
    return follow_settings(language.analyze(clause, scope, relation, query.options), scope, settings)


def _wanted_names(query: ParsedQuery, relation: Relation) -> frozenset[str] | None:
    """Names that the rest of the statement holds, None if it asks for all columns by a star.

    Spark cannot look through `mapInArrow`: a column that nobody reads must not be sent in the first place.
    """
    statement = query.statement
    if statement.bare_relation is not None or relation.column_aliases is not None or relation.is_read_whole:
        return None
    tokens = tokenize(statement.source, statement.dialect)
    outside = [token for token in tokens if not relation.span.start <= token.start < relation.span.end]
    for place, token in enumerate(outside):
        is_counted = place >= 2 and outside[place - 2].text.upper() == "COUNT"
        if token.text == "*" and not is_counted:
            return None
    return frozenset(token.text.lower() for token in outside)


def _scope(
    query: ParsedQuery, relation: Relation, variables: tuple[str, ...], columns: tuple[InputColumn, ...],
    host: SparkHost,
) -> Scope:
    return Scope(
        source=query.statement.source, dialect=query.statement.dialect, dialect_name=query.dialect_name,
        host_dialect="spark", rules=name_rules(query.dialect_name).spelling(variables), columns=columns,
        alias=relation.input_alias, variables=variables, unions={}, aggregate_names=AggregateNames(host),
        table_columns=host.table_columns, outer_names=relation.outer_names, schema=relation.input_schema,
        zero_gives_null=not host.is_ansi(), session_variable=host.session_variable,
    )


def _project(source: DataFrame, lowered: Lowered, host: SparkHost, relation: Relation) -> DataFrame:
    """The columns that the workers need, computed by Spark, of the rows that they need."""
    name = f"{relation.placeholder}_in"
    return _select_as(source, name, lowered.projections, lowered, host, relation, lowered.where)


def _select_as(
    frame: DataFrame, name: str, columns: dict[str, str], lowered: Lowered, host: SparkHost, relation: Relation,
    where: str | None = None,
) -> DataFrame:
    """Columns given as Spark SQL over a DataFrame that it knows under a name."""
    host.frames[name] = frame
    listed = ", ".join(f"{text} AS {quoted(column)}" for column, text in columns.items())
    head = host.prefix(relation.prefix)
    try:
        filtered = f"{name} WHERE {where}" if where else name
        return host.analyzed(f"{head}SELECT {listed} FROM {filtered}", relation.span)
    except RexError:
        # One by one, to find the expression that Spark refuses and point at it.
        for column, text in columns.items():
            host.analyzed(f"{head}SELECT {text} FROM {name}", lowered.spans.get(column) or relation.span)
        raise
    finally:
        del host.frames[name]


def _select(frame: DataFrame, lowered: Lowered, host: SparkHost, relation: Relation) -> DataFrame:
    """The relation's own columns, measures computed by Spark over what the workers read."""
    if not lowered.outputs:
        return frame
    if lowered.gathered:
        name = f"{relation.placeholder}_gathered"
        frame = _regrouped(frame, name, lowered, host, relation)
    outputs = outputs_with_side_rows(lowered) if is_carried(lowered) else lowered.outputs
    return _select_as(frame, f"{relation.placeholder}_out", outputs, lowered, host, relation)


def _regrouped(frame: DataFrame, name: str, lowered: Lowered, host: SparkHost, relation: Relation) -> DataFrame:
    """The workers' rows with the aggregates that Spark computes."""
    host.frames[name] = frame
    try:
        return host.analyzed(_regrouped_sql(name, frame, lowered.gathered, lowered), relation.span)
    except RexError:
        # One by one, to find the aggregate that Spark refuses and point at it.
        for one in lowered.gathered:
            host.analyzed(_regrouped_sql(name, frame, [one], lowered), one.span or relation.span)
        raise
    finally:
        del host.frames[name]


def _regrouped_sql(name: str, frame: DataFrame, gathered: Sequence[Gathered], lowered: Lowered) -> str:
    return regrouped_sql(name, frame.columns, gathered, lowered.identity, AGGREGATE_NAMES.__contains__)


def _refuse_analysis(host: SparkHost, relation: Relation) -> UnsupportedError:
    return UnsupportedError(
        "REX301", "a stream has no end, so EXPLAIN cannot run the query over it", host.source, relation.span,
        hint="rex.progress(query) says what the batches of a running query did",
        command_hint="leave --analyze out; rex run --stream says what its batches did",
    )


def _refuse_gathered(lowered: Lowered, host: SparkHost, why: str) -> None:
    """Refuse what Spark would aggregate behind the workers where nothing can."""
    for one in lowered.gathered:
        message = f"{one.function} is Spark's to compute, from what the workers gather: not {why}"
        raise UnsupportedError(
            "REX301", message, host.source, one.span,
            hint="collect its arguments: array_agg(...), and aggregate what the query gives",
        )


def _all_of_matches(result: DataFrame, source: DataFrame) -> DataFrame:
    """The result with the columns of side rows where there is none."""
    kind, row, error = side_fields(source.schema)
    return result.select(
        "*", F.lit(MATCH).alias(kind.name), F.lit(None).cast(row.dataType).alias(row.name),
        F.lit(None).cast(error.dataType).alias(error.name),
    )


def _check_row_carried(source: DataFrame, host: SparkHost, relation: Relation) -> None:
    """Refuse a column of the input that Arrow cannot carry: with side rows all of them travel."""
    for field in source.schema:
        if is_not_carried(field.dataType):
            raise UnsupportedError(
                "REX301", f"with side_rows all columns travel, and {field.name} of type "
                f"{field.dataType.simpleString()} cannot be carried to Python workers", host.source, relation.span,
                hint="leave it out, or cast it, in a subquery that the pattern reads",
            )


def _refuse_merged(host: SparkHost, relation: Relation) -> UnsupportedError:
    return UnsupportedError(
        "REX301", "side_rows where trends of several partitions are merged into groups are not supported", host.source,
        relation.span, hint="group by all keys and equivalent columns, and add the groups up behind it",
    )


def arrow_schema(schema: StructType, host: SparkHost) -> pa.Schema:
    """Columns of a DataFrame as workers get and give them."""
    return zoned_arrow_schema(schema, host.time_zone())
