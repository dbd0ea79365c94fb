"""MATCH_RECOGNIZE and MATCH_EVENTS on Spark, batch: a lazy DataFrame for every statement.

Per relation: one projection of the input in Spark's SQL, one `repartition` by key (which Spark leaves out where the
rows are partitioned so already), `mapInArrow` with the worker, one select. No job runs here; types come from Spark's
analysis.
"""

from __future__ import annotations

import contextlib
import io
import sys
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql import functions as F  # noqa: N812  as everybody writes it
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
)

from sparkrex.aggregates.registry import shipped, user_defined
from sparkrex.analyze.clause import analyze_clause, union_variables
from sparkrex.analyze.events import analyze_events
from sparkrex.analyze.scope import InputColumn, Scope
from sparkrex.analyze.segments import analyze_segments, is_segment_clause
from sparkrex.columns.inputs import is_spark, to_arrow
from sparkrex.errors import AnalysisError, RexError, UnsupportedError
from sparkrex.event_engine import check_events, explain_for_workers
from sparkrex.ir import traverse
from sparkrex.ir.event_query import EventQuery, Strategy
from sparkrex.ir.plan import MatchRecognize, SegmentSearch
from sparkrex.ir.scalar import Aggregate, ColumnAt, walk
from sparkrex.languages.match_recognize.names import name_rules
from sparkrex.languages.match_recognize.syntax import Clause
from sparkrex.physical.event_order import order_columns
from sparkrex.physical.output import NO_COLUMNS
from sparkrex.planner.choose_matcher import Choice, check_conditions, choose_matcher
from sparkrex.segment_engine import plan_search, rewrite_search, searched_columns
from sparkrex.spark.host import AGGREGATE_NAMES, SparkHost, spark_type
from sparkrex.spark.lower import Lowered, lower, quoted
from sparkrex.spark.lower_events import lower_events, ranked_by_spark, tested_projections, unheld_projections
from sparkrex.spark.lower_segments import cut_by_spark, lower_search
from sparkrex.spark.worker import WorkerEvaluator, WorkerTask, open_evaluator
from sparkrex.spark.worker_language import conditions_of, measures_of, refuse_worker_calls
from sparkrex.spark.worker_types import refuse_types
from sparkrex.statement.tokens import tokenize

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import FrameType

    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import DataType

    from sparkrex.aggregates.registry import Shipped
    from sparkrex.config import Settings
    from sparkrex.engine import ParsedQuery, Plan
    from sparkrex.event_explanation import EventsExplained
    from sparkrex.languages.events.syntax import EventText
    from sparkrex.segment_engine import Rewritten
    from sparkrex.statement.cut import Relation

_RANK = "rex_rank"
# Types that NumPy does not order or compare as Spark does: Spark numbers the rows instead.
_ORDERED_BY_SPARK = ("struct", "array", "interval", "collate")


def find_session(spark: SparkSession | None, tables: Mapping[str, object]) -> SparkSession:
    """The session given, or that of the first DataFrame."""
    if spark is not None:
        return spark
    frame: Any = next(value for value in tables.values() if is_spark(value))
    session: SparkSession = frame.sparkSession
    return session


def run_on_spark(
    query: ParsedQuery, tables: Mapping[str, object], spark: SparkSession | None, settings: Settings
) -> DataFrame:
    """The statement's result as a lazy DataFrame."""
    host = _open_host(query, tables, spark)
    result: DataFrame | None = None
    for relation, clause in zip(query.statement.relations, query.clauses, strict=True):
        result, _, _ = _relation(query, relation, clause, host, settings)
        host.frames[relation.placeholder] = result
    if query.statement.bare_relation is None or result is None:
        return host.analyzed(host.translated(query.statement.host_sql), None)
    return result.select() if result.columns == [NO_COLUMNS] else result


def explain_on_spark(
    query: ParsedQuery, tables: Mapping[str, object], spark: SparkSession | None, settings: Settings
) -> tuple[list[tuple[Plan, Choice | Rewritten | EventsExplained]], DataFrame]:
    """Plan and matcher of every relation, or its logical plan if it is a search, and the DataFrame of the whole."""
    host = _open_host(query, tables, spark)
    plans: list[tuple[Plan, Choice | Rewritten | EventsExplained]] = []
    for relation, clause in zip(query.statement.relations, query.clauses, strict=True):
        frame, plan, choice = _relation(query, relation, clause, host, settings)
        host.frames[relation.placeholder] = frame
        plans.append((plan, choice or _explained(plan, relation, host, settings)))
    if query.statement.bare_relation is None:
        frame = host.analyzed(host.translated(query.statement.host_sql), None)
    return plans, frame


def _open_host(query: ParsedQuery, tables: Mapping[str, object], spark: SparkSession | None) -> SparkHost:
    session = find_session(spark, tables)
    statement = query.statement
    host = SparkHost(session, statement.source, statement.dialect, query.dialect_name)
    if query.dialect_name == "oracle":
        host.frames["dual"] = session.sql("SELECT 'X' AS dummy")
    for name, value in tables.items():
        if is_spark(value):
            host.frames[name] = cast("DataFrame", value)
        else:
            source = to_arrow(name, value)
            table = source if isinstance(source, pa.Table) else source.to_table()
            host.frames[name] = session.createDataFrame(table)
    return host


def _relation(
    query: ParsedQuery, relation: Relation, clause: Clause | EventText, host: SparkHost, settings: Settings
) -> tuple[DataFrame, Plan, Choice | None]:
    """A relation's result, plan and matcher; only for row patterns there is one to choose."""
    source = _source(relation, host)
    columns = tuple(InputColumn(field.name, spark_type(field.dataType.simpleString())) for field in source.schema)
    scopes = [_scope(query, relation, clause, columns, host, dialect) for dialect in ("spark", "duckdb")]
    settings = replace(settings, time_zone=host.time_zone())
    input_name = f"{relation.placeholder}_in"
    if not isinstance(clause, Clause):
        events, theirs = (analyze_events(clause, scope, relation, query.event_options) for scope in scopes)
        lowered = _lower_events(events, theirs, source, _wanted(query, relation), host, relation)
    elif is_segment_clause(clause):
        users = user_defined()
        search, twin = (analyze_segments(clause, scope, relation, users) for scope in scopes)
        lowered = lower_search(search, twin, input_name, settings.tie_break)
    else:
        plan, their_plan = (analyze_clause(clause, scope, relation) for scope in scopes)
        lowered = lower(plan, their_plan, input_name, settings.tie_break, _wanted(query, relation))
    refuse_worker_calls(lowered.worker)
    projected = _project(source, lowered, host, relation)
    shuffled = _shuffle(projected, lowered, host, relation)
    if isinstance(lowered.worker, EventQuery):
        frame = _match_events(shuffled, lowered.worker, events, lowered, host, settings)
        return _select(frame, lowered, host, relation), events, None
    if isinstance(lowered.worker, SegmentSearch):
        frame = _search(shuffled, lowered.worker, lowered, host, settings)
        return _select(frame, lowered, host, relation), search, None
    frame, choice = _match(shuffled, lowered.worker, lowered, host, settings)
    return _select(frame, lowered, host, relation), plan, choice


def _source(relation: Relation, host: SparkHost) -> DataFrame:
    return host.analyzed(host.translated(f"{relation.prefix}SELECT * FROM {relation.input_sql}"), relation.span)


def _explained(
    plan: Plan, relation: Relation, host: SparkHost, settings: Settings
) -> Rewritten | EventsExplained:
    """The logical plan or automaton of what the user wrote; that of the workers is over projected columns."""
    if isinstance(plan, EventQuery):
        return explain_for_workers(plan, WorkerEvaluator(plan, settings), settings)
    assert isinstance(plan, SegmentSearch)  # row patterns have a matcher
    read = _source(relation, host).select(*map(quoted, sorted(searched_columns(plan))))
    return rewrite_search(plan, _arrow_schema(read.schema, host).empty_table())


def _wanted(query: ParsedQuery, relation: Relation) -> frozenset[str] | None:
    """Names that the rest of the statement holds, None if it asks for all columns by a star.

    Spark cannot look through `mapInArrow`: a column that nobody reads must not be sent in the first place.
    """
    statement = query.statement
    if statement.bare_relation is not None or relation.column_aliases is not None:
        return None
    tokens = tokenize(statement.source, statement.dialect)
    outside = [token for token in tokens if not relation.span.start <= token.start < relation.span.end]
    for place, token in enumerate(outside):
        is_counted = place >= 2 and outside[place - 2].text.upper() == "COUNT"
        if token.text == "*" and not is_counted:
            return None
    return frozenset(token.text.lower() for token in outside)


def _scope(
    query: ParsedQuery, relation: Relation, clause: Clause | EventText, columns: tuple[InputColumn, ...],
    host: SparkHost, dialect: str,
) -> Scope:
    scope = Scope(
        source=query.statement.source, dialect=query.statement.dialect, dialect_name=query.dialect_name,
        host_dialect=dialect, rules=name_rules(query.dialect_name), columns=columns, alias=relation.input_alias,
        variables=(), unions={}, aggregate_names=AGGREGATE_NAMES,
        table_columns=host.table_columns, outer_names=relation.outer_names,
        translates_all=dialect == "spark", zero_gives_null=not host.is_ansi(),
    )
    if not isinstance(clause, Clause):
        return scope
    scope = replace(scope, variables=traverse.variables(clause.pattern))
    return replace(scope, unions=union_variables(clause, scope))


def _project(source: DataFrame, lowered: Lowered, host: SparkHost, relation: Relation) -> DataFrame:
    """The columns that the workers need, computed by Spark, of the rows that they need."""
    name = f"{relation.placeholder}_in"
    return _selected(source, name, lowered.projections, lowered, host, relation, lowered.where)


def _selected(
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


@dataclass(frozen=True, slots=True)
class _Shuffled:
    """Rows on their way to the workers, and what comes back. See `WorkerTask` for `is_ordered` and `cut`."""

    frame: DataFrame
    types: dict[str, DataType]
    output: StructType
    is_ordered: bool
    cut: str | None


def _shuffle(projected: DataFrame, lowered: Lowered, host: SparkHost, relation: Relation) -> _Shuffled:
    """The rows of a partition brought together; ordered by Spark only where the workers cannot, or need not."""
    keys = list(dict.fromkeys(lowered.keys))
    types = {field.name: field.dataType for field in projected.schema}
    _check_keys(lowered, types, host, relation)
    output = _output_schema(projected, lowered, types)
    ordered_by_spark = any(_is_ordered_by_spark(types[name]) for name in (*keys, *lowered.order))
    # All rows of a search are in memory at once: there the workers order them.
    is_ordered = ordered_by_spark or (not keys and not isinstance(lowered.worker, SegmentSearch))
    cut: str | None = None
    if not keys:
        warnings.warn(_one_task(lowered.worker), stacklevel=_callers_level())
        frame = projected.repartition(1)
        if is_ordered:
            frame = frame.sortWithinPartitions(*_sort_columns(lowered))
    elif ordered_by_spark:
        cut = "rex_number"
        frame = projected.withColumn(cut, F.expr(f"row_number() {_window(lowered)}"))
    else:
        frame = projected.repartition(*map(quoted, keys))
    if isinstance(lowered.worker, EventQuery) and any(_is_ordered_by_spark(types[name]) for name in lowered.order):
        frame = frame.withColumn(_RANK, F.expr(f"rank() {_window(lowered)}"))
        types[_RANK] = IntegerType()
        lowered.worker = ranked_by_spark(lowered.worker, _RANK)
    needed = _carried(lowered, keys, types, is_ordered=is_ordered)
    if cut is not None:
        needed.append(cut)
    frame = frame.select(*map(quoted, needed))
    _check_carried(frame, lowered, host, relation)
    refuse_types(lowered.worker, types)
    return _Shuffled(frame, types, output, is_ordered, cut)


def _match(
    shuffled: _Shuffled, plan: MatchRecognize, lowered: Lowered, host: SparkHost, settings: Settings
) -> tuple[DataFrame, Choice]:
    import sparkrex

    sample = _arrow_schema(shuffled.frame.schema, host).empty_table()
    evaluator = open_evaluator(plan, settings)
    try:
        choice = choose_matcher(plan, sample, evaluator, settings)
        check_conditions(choice, plan, sample, evaluator)
    finally:
        evaluator.host.close()
    task = WorkerTask(
        sparkrex.__version__, plan, _arrow_schema(shuffled.output, host), settings, shuffled.is_ordered, shuffled.cut,
        _key_names(lowered),
    )
    return shuffled.frame.mapInArrow(task, shuffled.output), choice


def _lower_events(
    query: EventQuery, theirs: EventQuery, source: DataFrame, wanted: frozenset[str] | None, host: SparkHost,
    relation: Relation,
) -> Lowered:
    """The query cut so that kernels can hold what conditions read, as far as that goes: Spark knows the types."""
    unheld: frozenset[str] = frozenset()
    while True:
        lowered = lower_events(query, theirs, f"{relation.placeholder}_in", wanted, unheld)
        tested = _project(source, lowered, host, relation).select(*tested_projections(lowered))
        _check_carried(tested, lowered, host, relation)
        found = unheld_projections(lowered, _arrow_schema(tested.schema, host))
        if found <= unheld:
            return lowered
        unheld |= found


def _match_events(
    shuffled: _Shuffled, query: EventQuery, written: EventQuery, lowered: Lowered, host: SparkHost, settings: Settings
) -> DataFrame:
    """The events of the matches, or what RETURN reads from them, by the workers; `written` has the user's names."""
    import sparkrex
    from sparkrex.spark.event_worker import EventTask

    evaluator = open_evaluator(query, settings)
    try:
        check_events(query, _arrow_schema(shuffled.frame.schema, host).empty_table(), evaluator, settings)
    except UnsupportedError as error:
        for name in lowered.projections:
            error.message = error.message.replace(f"{name}[", f"{_written(lowered, name)}[")
        raise
    finally:
        evaluator.host.close()
    names = tuple(zip(lowered.keys, (key.name for key in written.partition_by), strict=True))
    task = EventTask(
        sparkrex.__version__, query, _arrow_schema(shuffled.output, host), settings, shuffled.is_ordered, shuffled.cut,
        names,
    )
    return shuffled.frame.mapInArrow(task, shuffled.output)


def _search(
    shuffled: _Shuffled, search: SegmentSearch, lowered: Lowered, host: SparkHost, settings: Settings
) -> DataFrame:
    """The search in the workers."""
    import sparkrex
    from sparkrex.physical.contract import Columns
    from sparkrex.spark.segment_worker import SERIES, SegmentTask

    if shuffled.is_ordered:
        search = cut_by_spark(search, SERIES, keeps_order=set(lowered.order) <= set(shuffled.frame.columns))
    sample = _arrow_schema(shuffled.frame.schema, host).empty_table()
    evaluator = open_evaluator(search, settings)
    try:
        # Over no rows: what is wrong with the search shows before any job.
        plan_search(search, Columns(sample, np.zeros(1, np.int64)), evaluator, settings)
    finally:
        evaluator.host.close()
    task = SegmentTask(
        sparkrex.__version__, search, _arrow_schema(shuffled.output, host), settings, shuffled.is_ordered, shuffled.cut,
        _key_names(lowered), _shipped(search),
    )
    return shuffled.frame.mapInArrow(task, shuffled.output)


def _shipped(search: SegmentSearch) -> tuple[Shipped, ...]:
    """The aggregates of the user's own that a search calls; workers learn them from the task."""
    expressions = [measure.expression for measure in search.measures]
    expressions += [d.condition for d in search.definitions if d.condition is not None]
    calls = {node.function: node for e in expressions for node in walk(e) if isinstance(node, Aggregate)}
    found = shipped(calls)
    for one in found:
        try:
            cloudpickle.dumps(one)  # type: ignore[no-untyped-call]
        except Exception as error:  # whatever pickling the user's object raises
            raise UnsupportedError(
                "REX301", f"the aggregate {one[0].name} cannot be sent to Spark's workers: {error}", search.source,
                calls[one[0].name].span or search.span, hint="keep what cannot be pickled out of the class",
            ) from error
    return found


def _key_names(lowered: Lowered) -> tuple[tuple[str, str], ...]:
    return tuple(zip(lowered.keys, lowered.outputs, strict=False))


def _one_task(plan: MatchRecognize | SegmentSearch | EventQuery) -> str:
    """The warning of a plan that gives all rows to one task."""
    if not isinstance(plan, EventQuery):
        return "MATCH_RECOGNIZE without PARTITION BY: all rows go through one task; add PARTITION BY if possible"
    advice = "add an equivalence test [attribute]"
    if plan.strategy is Strategy.STRICT:
        advice = "use partition_contiguity with an equivalence test [attribute]"
    return f"event query without partitions: all events go through one task; {advice} if possible"


def _callers_level() -> int:
    """How many frames above the caller of this function the user's code stands."""
    level = 1
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__", "").split(".")[0] in ("sparkrex", "pyspark"):
        frame = frame.f_back
        level += 1
    return level


def _is_ordered_by_spark(kind: DataType) -> bool:
    return any(word in kind.simpleString() for word in _ORDERED_BY_SPARK)


def _carried(lowered: Lowered, keys: list[str], types: dict[str, DataType], *, is_ordered: bool) -> list[str]:
    """Columns that travel to the workers: once Spark has ordered the rows, order columns only if read otherwise."""
    columns = list(types)
    if not is_ordered:
        return columns
    used = set(keys)
    if isinstance(lowered.worker, SegmentSearch):
        is_plain = not any(map(_is_ordered_by_spark, (types[name] for name in lowered.order)))
        # A window on the first of them bounds the search.
        used |= searched_columns(lowered.worker if is_plain else replace(lowered.worker, order_by=()))
    else:
        plan = lowered.worker
        if isinstance(plan, EventQuery):  # order decides ties and windows
            used.update(order_columns(plan), plan.input_columns)
        else:
            used.update(replace(plan, order_by=()).passed_columns())
        for expression in (*(measure.expression for measure in measures_of(plan)), *conditions_of(plan)):
            used.update(node.column for node in walk(expression) if isinstance(node, ColumnAt))
    return [name for name in columns if name in used] or columns[:1]


def _window(lowered: Lowered) -> str:
    """The rows of a partition in order, as a window of Spark's."""
    keys = ", ".join(map(quoted, dict.fromkeys(lowered.keys)))
    texts = []
    for name, key in zip(lowered.order, lowered.worker.order_by, strict=True):
        direction = "DESC" if key.is_descending else "ASC"
        texts.append(f"{quoted(name)} {direction} NULLS {'FIRST' if key.nulls_first else 'LAST'}")
    return f"OVER ({f'PARTITION BY {keys} ' if keys else ''}ORDER BY {', '.join(texts)})"


def _sort_columns(lowered: Lowered) -> list[Column]:
    columns: list[Column] = []
    for name, key in zip(lowered.order, lowered.worker.order_by, strict=True):
        column = F.col(quoted(name))
        if key.is_descending:
            columns.append(column.desc_nulls_first() if key.nulls_first else column.desc_nulls_last())
        else:
            columns.append(column.asc_nulls_first() if key.nulls_first else column.asc_nulls_last())
    return columns


def _output_schema(projected: DataFrame, lowered: Lowered, types: dict[str, DataType]) -> StructType:
    """What the workers give back."""
    aggregates: dict[str, DataType] = {}
    if lowered.aggregates:
        listed = [F.expr(text).alias(name) for name, text in lowered.aggregates.items()]
        aggregates = {field.name: field.dataType for field in projected.agg(*listed).schema}
    plain: dict[str, DataType] = {"string": StringType(), "bigint": LongType(), "boolean": BooleanType()}
    # An event query gives back what RETURN asks for, and no more.
    keys = () if isinstance(lowered.worker, EventQuery) else dict.fromkeys(lowered.keys)
    fields = [StructField(name, types[name]) for name in keys]
    for name, origin in lowered.sources.items():
        known = aggregates[name] if origin is None else types.get(origin) or plain[origin]
        fields.append(StructField(name, known))
    fields += [StructField(name, types[name]) for name in lowered.worker.input_columns]
    fields = [StructField(field.name, _nullable(field.dataType)) for field in fields]
    return StructType(fields or [StructField(NO_COLUMNS, BooleanType())])


def _nullable(kind: DataType) -> DataType:
    """The type with NULL allowed everywhere inside: Spark's own aggregates promise more than ours keep."""
    match kind:
        case ArrayType():
            return ArrayType(_nullable(kind.elementType), True)
        case MapType():
            return MapType(_nullable(kind.keyType), _nullable(kind.valueType), True)
        case StructType():
            return StructType([StructField(field.name, _nullable(field.dataType)) for field in kind])
        case _:
            return kind


def _arrow_schema(schema: StructType, host: SparkHost) -> pa.Schema:
    return to_arrow_schema(schema, timezone=host.time_zone())


def _check_keys(lowered: Lowered, types: dict[str, DataType], host: SparkHost, relation: Relation) -> None:
    """Refuse PARTITION BY and ORDER BY of what Spark cannot compare."""
    for name in (*lowered.keys, *lowered.order):
        kind = types[name].simpleString()
        if kind == "interval" or "map<" in kind or "variant" in kind:
            raise AnalysisError(
                "REX214", f"{_written(lowered, name)} of type {kind} can be neither ordered nor compared", host.source,
                lowered.spans.get(name) or relation.span, hint="use a part of it, or a cast to a string",
            )
    if isinstance(lowered.worker, EventQuery) and _is_ordered_by_spark(types[lowered.order[0]]):
        time = lowered.order[0]
        raise AnalysisError(
            "REX214", f"{_written(lowered, time)} of type {types[time].simpleString()} cannot be a time", host.source,
            lowered.spans.get(time) or relation.span, hint="a time is a timestamp, a date, a number or a string",
        )


def _check_carried(frame: DataFrame, lowered: Lowered, host: SparkHost, relation: Relation) -> None:
    """Refuse a column that Arrow cannot carry, naming it and a cast."""
    for field in frame.schema:
        name = field.dataType.simpleString()
        if name == "interval" or (name.startswith("interval") and ("month" in name or "year" in name)):
            raise UnsupportedError(
                "REX301", f"{_written(lowered, field.name)} of type {name} cannot be carried to Python workers",
                host.source, lowered.spans.get(field.name) or relation.span,
                hint=f"cast it in a subquery: SELECT CAST({_written(lowered, field.name)} AS STRING) ...",
            )


def _written(lowered: Lowered, column: str) -> str:
    """A projected column as the user knows it."""
    return lowered.projections.get(column, column).split(".", 1)[-1].strip("`")


def _select(frame: DataFrame, lowered: Lowered, host: SparkHost, relation: Relation) -> DataFrame:
    """The relation's own columns, measures computed by Spark over what the workers read."""
    if not lowered.outputs:
        return frame
    return _selected(frame, f"{relation.placeholder}_out", lowered.outputs, lowered, host, relation)


def physical_plan(frame: DataFrame) -> str:
    """Spark's plan of a DataFrame as text."""
    captured = io.StringIO()
    with contextlib.redirect_stdout(captured):
        frame.explain()
    return captured.getvalue()
