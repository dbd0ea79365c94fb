"""One relation of a statement as a lazy DataFrame.

One projection of the input in Spark's SQL, one `repartition` by key (`spark.shuffle`), `mapInArrow` with the worker,
one select. Types come from Spark's analysis.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from pyspark import cloudpickle

from sparkrex.errors import RexError, UnsupportedError
from sparkrex.languages.match_recognize import traverse
from sparkrex.languages.match_recognize.syntax import Clause
from sparkrex.modes.events.analyze.query import analyze_events
from sparkrex.modes.events.engine import check_events
from sparkrex.modes.events.lower import lower_events, tested_projections, unheld_projections
from sparkrex.modes.events.plan import EventQuery
from sparkrex.modes.rows.analyze import analyze_clause, union_variables
from sparkrex.modes.rows.choose import Choice, check_conditions, choose_matcher
from sparkrex.modes.rows.lower import lower
from sparkrex.modes.segments.aggregates.registry import shipped, user_defined
from sparkrex.modes.segments.analyze.clause import analyze_segments, is_segment_clause
from sparkrex.modes.segments.engine import plan_search
from sparkrex.modes.segments.lower import cut_by_spark, lower_search
from sparkrex.modes.segments.plan import SegmentSearch
from sparkrex.scalar.analyze.scope import InputColumn, Scope
from sparkrex.scalar.expression import Aggregate, walk
from sparkrex.scalar.render.spark import quoted
from sparkrex.spark.host import AGGREGATE_NAMES, SparkHost, spark_type
from sparkrex.spark.shipping import shipped_task
from sparkrex.spark.shuffle import Shuffled, check_carried, shuffle
from sparkrex.spark.streams import refuse_stream
from sparkrex.spark.versions import zoned_arrow_schema
from sparkrex.spark.worker import WorkerTask, open_evaluator
from sparkrex.spark.worker_language import refuse_worker_calls
from sparkrex.syntax.names import name_rules
from sparkrex.syntax.tokens import tokenize

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from sparkrex.modes.events.language.syntax import EventText
    from sparkrex.modes.rows.plan import MatchRecognize
    from sparkrex.modes.segments.aggregates.registry import Shipped
    from sparkrex.pipeline import ParsedQuery, Plan
    from sparkrex.settings import Settings
    from sparkrex.spark.lowering import Lowered
    from sparkrex.statement.cut import Relation


def lower_relation(
    query: ParsedQuery, relation: Relation, clause: Clause | EventText, host: SparkHost, settings: Settings
) -> tuple[DataFrame, Plan, Choice | None]:
    """A relation's result, plan and matcher; only for row patterns there is one to choose."""
    source = relation_source(relation, host)
    refuse_stream(source, host.source, relation.span, "the input")
    columns = tuple(InputColumn(field.name, spark_type(field.dataType.simpleString())) for field in source.schema)
    scope = _scope(query, relation, clause, columns, host)
    settings = replace(settings, time_zone=host.time_zone())
    input_name = f"{relation.placeholder}_in"
    if not isinstance(clause, Clause):
        events = analyze_events(clause, scope, relation, query.event_options)
        lowered = _lower_events(events, source, _wanted(query, relation), host, relation)
    elif is_segment_clause(clause):
        search = analyze_segments(clause, scope, relation, user_defined())
        lowered = lower_search(search, input_name, settings.tie_break)
    else:
        plan = analyze_clause(clause, scope, relation)
        lowered = lower(plan, input_name, settings.tie_break, _wanted(query, relation))
    refuse_worker_calls(lowered.worker)
    projected = _project(source, lowered, host, relation)
    refuse_stream(projected, host.source, relation.span, "a table of a subquery")
    shuffled = shuffle(projected, lowered, host, relation)
    if isinstance(lowered.worker, EventQuery):
        frame = _match_events(shuffled, lowered.worker, events, lowered, host, settings)
        # As the user wrote them, for EXPLAIN.
        events = replace(events, equal_by=tuple(lowered.equal[name] for name in lowered.worker.equal_by))
        return _select(frame, lowered, host, relation), events, None
    if isinstance(lowered.worker, SegmentSearch):
        frame = _search(shuffled, lowered.worker, lowered, host, settings)
        return _select(frame, lowered, host, relation), search, None
    frame, choice = _match(shuffled, lowered.worker, lowered, host, settings)
    return _select(frame, lowered, host, relation), plan, choice


def relation_source(relation: Relation, host: SparkHost) -> DataFrame:
    """The rows that a relation reads."""
    return host.analyzed(host.translated(f"{relation.prefix}SELECT * FROM {relation.input_sql}"), relation.span)


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
    host: SparkHost,
) -> Scope:
    scope = Scope(
        source=query.statement.source, dialect=query.statement.dialect, dialect_name=query.dialect_name,
        host_dialect="spark", rules=name_rules(query.dialect_name), columns=columns, alias=relation.input_alias,
        variables=(), unions={}, aggregate_names=AGGREGATE_NAMES,
        table_columns=host.table_columns, outer_names=relation.outer_names, schema=relation.input_schema,
        zero_gives_null=not host.is_ansi(), session_variable=host.session_variable,
    )
    if not isinstance(clause, Clause):
        return scope
    variables = traverse.variables(clause.pattern)
    scope = replace(scope, variables=variables, rules=scope.rules.spelling(variables))
    return replace(scope, unions=union_variables(clause, scope))


def _lower_events(
    query: EventQuery, source: DataFrame, wanted: frozenset[str] | None, host: SparkHost, relation: Relation
) -> Lowered:
    """The query cut so that kernels can hold what conditions read, as far as that goes: Spark knows the types."""
    unheld: frozenset[str] = frozenset()
    while True:
        lowered = lower_events(query, f"{relation.placeholder}_in", wanted, unheld)
        tested = _project(source, lowered, host, relation).select(*tested_projections(lowered))
        check_carried(tested, lowered, host, relation)
        found = unheld_projections(lowered, arrow_schema(tested.schema, host))
        if found <= unheld:
            return lowered
        unheld |= found


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


def _match(
    shuffled: Shuffled, plan: MatchRecognize, lowered: Lowered, host: SparkHost, settings: Settings
) -> tuple[DataFrame, Choice]:
    import sparkrex

    sample = arrow_schema(shuffled.frame.schema, host).empty_table()
    evaluator = open_evaluator(plan, settings)
    try:
        choice = choose_matcher(plan, sample, evaluator, settings)
        check_conditions(choice, plan, sample, evaluator)
    finally:
        evaluator.host.close()
    task = WorkerTask(
        sparkrex.__version__, plan, arrow_schema(shuffled.output, host), settings, shuffled.is_ordered, shuffled.cut,
        _key_names(lowered),
    )
    return shuffled.frame.mapInArrow(shipped_task(task), shuffled.output), choice


def _match_events(
    shuffled: Shuffled, query: EventQuery, written: EventQuery, lowered: Lowered, host: SparkHost, settings: Settings
) -> DataFrame:
    """The events of the matches, or what RETURN reads from them, by the workers; `written` has the user's names."""
    import sparkrex
    from sparkrex.modes.events.worker import EventTask

    evaluator = open_evaluator(query, settings)
    try:
        check_events(query, arrow_schema(shuffled.frame.schema, host).empty_table(), evaluator, settings)
    finally:
        evaluator.host.close()
    names = tuple(zip(lowered.keys, (key.name for key in written.partition_by), strict=True))
    task = EventTask(
        sparkrex.__version__, query, arrow_schema(shuffled.output, host), settings, shuffled.is_ordered, shuffled.cut,
        names,
    )
    return shuffled.frame.mapInArrow(shipped_task(task), shuffled.output)


def _search(
    shuffled: Shuffled, search: SegmentSearch, lowered: Lowered, host: SparkHost, settings: Settings
) -> DataFrame:
    """The search in the workers."""
    import sparkrex
    from sparkrex.columns.ordered import Columns
    from sparkrex.modes.segments.worker import SERIES, SegmentTask

    if shuffled.is_ordered:
        search = cut_by_spark(search, SERIES, keeps_order=set(lowered.order) <= set(shuffled.frame.columns))
    sample = arrow_schema(shuffled.frame.schema, host).empty_table()
    evaluator = open_evaluator(search, settings)
    try:
        # Over no rows: what is wrong with the search shows before any job.
        plan_search(search, Columns(sample, np.zeros(1, np.int64)), evaluator, settings)
    finally:
        evaluator.host.close()
    task = SegmentTask(
        sparkrex.__version__, search, arrow_schema(shuffled.output, host), settings, shuffled.is_ordered, shuffled.cut,
        _key_names(lowered), _shipped(search),
    )
    return shuffled.frame.mapInArrow(shipped_task(task), shuffled.output)


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


def _select(frame: DataFrame, lowered: Lowered, host: SparkHost, relation: Relation) -> DataFrame:
    """The relation's own columns, measures computed by Spark over what the workers read."""
    if not lowered.outputs:
        return frame
    return _selected(frame, f"{relation.placeholder}_out", lowered.outputs, lowered, host, relation)


def arrow_schema(schema: StructType, host: SparkHost) -> pa.Schema:
    """Columns of a DataFrame as workers get and give them."""
    return zoned_arrow_schema(schema, host.time_zone())
