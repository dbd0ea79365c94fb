"""The pipeline in one process: text to table.

`parse_query` cuts and parses once; running analyses each MATCH_RECOGNIZE or MATCH_EVENTS over its input's columns,
matches, and hands the result back to the host under a placeholder name.
"""

from __future__ import annotations

import secrets
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa

from sparkrex.columns.cuts import cut_chunks
from sparkrex.columns.inputs import ArrowInput, read_columns, to_arrow
from sparkrex.columns.ordered import Columns
from sparkrex.errors import AnalysisError, ExecutionError, RexError, UnsupportedError
from sparkrex.evaluate.bitmaps import host_reasons
from sparkrex.explanation import RowsExplained
from sparkrex.hosts.duckdb.host import AggregateNames, DuckDbHost, RelationEvaluator
from sparkrex.languages.match_recognize import traverse
from sparkrex.languages.match_recognize.parse import parse_clause
from sparkrex.languages.match_recognize.syntax import Clause
from sparkrex.matching.output import NO_COLUMNS, build_output, name_partition
from sparkrex.matching.reading import MatchReader
from sparkrex.matching.relation_columns import add_relation_columns
from sparkrex.matching.row_values import arrange_rows
from sparkrex.modes.events.analyze.query import analyze_events
from sparkrex.modes.events.language.query import parse_events
from sparkrex.modes.events.plan import EventQuery
from sparkrex.modes.rows.analyze import analyze_clause, union_variables
from sparkrex.modes.rows.choose import Choice, choose_matcher
from sparkrex.modes.rows.plan import MatchRecognize
from sparkrex.modes.rows.streamed import StreamedRelation, measure_reach
from sparkrex.modes.segments.analyze.clause import analyze_segments, is_segment_clause
from sparkrex.modes.segments.plan import SegmentSearch
from sparkrex.scalar.analyze.scope import InputColumn, Scope
from sparkrex.scalar.expression import ColumnAt, walk
from sparkrex.source import Source, Span
from sparkrex.statement.cut import Relation, Statement, cut
from sparkrex.statement.named_tables import named_tables
from sparkrex.statement.outside import explained
from sparkrex.statement.parameters import Literals, bind, write_literals
from sparkrex.stopwatch import Stopwatch
from sparkrex.syntax.names import name_rules
from sparkrex.syntax.tokens import find_dialect, span_of, tokenize

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sparkrex.columns.arrange import Arrangement
    from sparkrex.explanation import Explained
    from sparkrex.hosts.host import Evaluator
    from sparkrex.matching.contract import Matches
    from sparkrex.modes.events.language.syntax import EventOptions, EventText
    from sparkrex.scalar.expression import Expression
    from sparkrex.settings import Settings
    from sparkrex.statement.action import Action

Plan: TypeAlias = MatchRecognize | SegmentSearch | EventQuery

STREAM = "rex_stream"
"""The table of an event query that is no part of a statement."""


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A statement cut into relations, each with its parsed clause.

    An event query of its own is a statement of one relation over `STREAM`; what it does not say of its stream is in
    `event_options`.
    """

    statement: Statement
    dialect_name: str
    clauses: tuple[Clause | EventText, ...]
    event_options: EventOptions | None = None

    def patterns(self) -> list[str]:
        """The PATTERN of every relation as text."""
        return [
            f"PATTERN ({clause.pattern})" if isinstance(clause, Clause) else f"PATTERN {clause.pattern.pattern}"
            for clause in self.clauses
        ]


@lru_cache(maxsize=64)
def parse_query(text: str, dialect_name: str, literals: Literals | None = None) -> ParsedQuery:
    """Cut and parse a statement, its parameters replaced by literals; the last ones are remembered."""
    source = Source(text)
    dialect = find_dialect(dialect_name)
    statement = cut(source, dialect, secrets.token_hex(4), literals)
    rules = name_rules(dialect_name)
    clauses = tuple(
        (parse_events if relation.is_events else parse_clause)(
            relation.tokens, relation.clause, source, dialect, rules
        )
        for relation in statement.relations
    )
    return ParsedQuery(statement, dialect_name, clauses)


def parse_event_query(
    text: str, dialect_name: str, options: EventOptions, literals: Literals | None = None
) -> ParsedQuery:
    """An event query of its own as a statement over `STREAM`."""
    source = Source(text)
    dialect = find_dialect(dialect_name)
    tokens = tokenize(source, dialect)
    if literals is not None:
        tokens = bind(tokens, source, dialect, literals).tokens
    whole = Span(0, len(text))
    clause = parse_events(tokens, whole, source, dialect, name_rules(dialect_name))
    relation = Relation(
        placeholder=f"rex_{secrets.token_hex(4)}_0", input_sql=STREAM, input_table=STREAM, input_alias=None, prefix="",
        clause=whole, tokens=tuple(tokens), span=whole, column_aliases=None, columns_span=None,
        outer_names=frozenset(), is_events=True,
    )
    statement = Statement(source, dialect, (relation,), f"SELECT * FROM {relation.placeholder}", 0)
    return ParsedQuery(statement, dialect_name, (clause,), options)


@contextmanager
def explaining_outside(query: ParsedQuery) -> Iterator[None]:
    """Around the statement's own SQL: a host's complaint about what only row patterns have, in words that help."""
    try:
        yield
    except RexError as error:
        patterns = [clause.pattern for clause in query.clauses if isinstance(clause, Clause)]
        variables = {name for pattern in patterns for name in traverse.variables(pattern)}
        helpful = explained(error, query.statement, variables)
        if helpful is error:
            raise
        raise helpful from error


def parse_bound(text: str, dialect_name: str, event_options: EventOptions | None, args: Any) -> ParsedQuery:
    """A statement, or with options an event query, with the values of a call in the place of its parameters, if any."""
    literals = None if args is None else write_literals(args, dialect_name, find_dialect(dialect_name))
    if event_options is None:
        return parse_query(text, dialect_name, literals)
    return parse_event_query(text, dialect_name, event_options, literals)


def name_single_table(query: ParsedQuery, table: object) -> dict[str, object]:
    """A table without a name under the name of the one table that the query reads."""
    names = named_tables(query.statement)
    if len(names) == 1:
        return {names[0]: table}
    source = query.statement.source
    listed = ", ".join(f"{name}=..." for name in names)
    raise AnalysisError(
        "REX203", "the query reads no table" if not names else f"the query reads {len(names)} tables, and one is given",
        source, Span(0, min(1, len(source.text))),
        hint=f"write rex.sql(query, {listed})" if names else "leave the table out",
    )


def run_query(query: ParsedQuery, tables: Mapping[str, object], settings: Settings) -> pa.Table:
    """Run a parsed statement over in-memory tables."""
    host = _open_host(query, tables, settings)
    try:
        result: pa.Table | None = None
        for relation, clause in zip(query.statement.relations, query.clauses, strict=True):
            plan, table, evaluator = prepare_relation(query, relation, clause, host)
            result = run_relation(plan, table, evaluator, settings)
            host.register(relation.placeholder, result)
        if query.statement.bare_relation is not None and result is not None:
            return result.select([]) if result.column_names == [NO_COLUMNS] else result
        with explaining_outside(query):
            return host.query(host.translated(query.statement.host_sql), None)
    finally:
        host.close()


def compress_query(query: ParsedQuery, tables: Mapping[str, object], settings: Settings) -> pa.Table:
    """The matches of a statement that is one event query, as the buffer they share."""
    from sparkrex.modes.events.engine import compress_events

    host = _open_host(query, tables, settings)
    try:
        plan, table, evaluator = prepare_relation(query, query.statement.relations[0], query.clauses[0], host)
        assert isinstance(plan, EventQuery)  # nobody else asks for it
        return compress_events(plan, table, evaluator, settings)
    finally:
        host.close()


def explain_query(
    query: ParsedQuery, tables: Mapping[str, object], settings: Settings, *, analyze: bool = False
) -> list[Explained]:
    """Every relation and how it is answered. Those that others read are run to know their columns.

    With `analyze` all are run, and their stages measured.
    """
    host = _open_host(query, tables, settings)
    try:
        explained: list[Explained] = []
        for relation, clause in zip(query.statement.relations, query.clauses, strict=True):
            plan, table, evaluator = prepare_relation(query, relation, clause, host)
            explained.append(_explain_relation(plan, table, evaluator, settings, analyze=analyze))
            if relation is not query.statement.relations[-1]:
                host.register(relation.placeholder, run_relation(plan, table, evaluator, settings))
        return explained
    finally:
        host.close()


def _explain_relation(
    plan: Plan, table: pa.Table, evaluator: Evaluator, settings: Settings, *, analyze: bool
) -> Explained:
    if isinstance(plan, EventQuery):
        from sparkrex.modes.events.engine import explain_events

        return explain_events(plan, table, evaluator, settings, analyze=analyze)
    if isinstance(plan, SegmentSearch):
        from sparkrex.modes.segments.engine import explain_search

        return explain_search(plan, table, evaluator, settings, analyze=analyze)
    widened, sample = add_relation_columns(plan, table.slice(0, 0), evaluator)
    choice = choose_matcher(widened, sample, evaluator, settings)
    watch = Stopwatch()
    if analyze:
        run_relation(plan, table, evaluator, settings, watch)
    return RowsExplained(plan, choice, host_reasons(choice.conditions, sample), watch.laps)


def has_segments(query: ParsedQuery) -> bool:
    """Whether any relation is a segment search."""
    return any(isinstance(clause, Clause) and is_segment_clause(clause) for clause in query.clauses)


def _open_host(query: ParsedQuery, tables: Mapping[str, object], settings: Settings) -> DuckDbHost:
    statement = query.statement
    if statement.action is not None:
        _refuse_action(statement.action, statement)
    host = DuckDbHost(statement.source, statement.dialect, query.dialect_name, settings)
    try:
        for name, value in tables.items():
            host.register(name, to_arrow(name, value))
    except BaseException:
        host.close()
        raise
    return host


def _refuse_action(action: Action, statement: Statement) -> None:
    """In memory nothing is left of what a statement creates or changes."""
    if not statement.relations and not action.hides_matches and not action.changes:
        return
    place = span_of(action.head[0]) if action.head else Span(0, 1)
    if action.kind in ("EXPLAIN", "DESCRIBE", "DESC"):
        hint = "rex.explain(query) shows the plan"
    else:
        hint = "run the query alone: its result is a table that Python can keep or write"
    raise UnsupportedError(
        "REX303", f"{action.kind} is not possible in memory: nothing would keep the result", statement.source, place,
        hint=hint,
    )


def prepare_relation(
    query: ParsedQuery, relation: Relation, clause: Clause | EventText, host: DuckDbHost
) -> tuple[Plan, pa.Table, RelationEvaluator]:
    """Plan of a relation, the columns of its input that the plan uses, and its evaluator."""
    base: ArrowInput | None = host.tables.get(relation.input_table.lower()) if relation.input_table else None
    input_sql = ""
    if base is not None:
        described = list(zip(base.schema.names, host.column_types(relation.input_table or ""), strict=True))
    else:
        input_sql = host.translated(f"{relation.prefix}SELECT * FROM {relation.input_sql}")
        described = host.describe(input_sql)
    columns = tuple(InputColumn(name, kind) for name, kind in described)
    plan = _analyze(query, relation, clause, columns, host)
    used = used_columns(plan)
    if base is not None:
        table = read_columns(base, used)
    else:
        listed = ", ".join(_quoted(name) for name in used) or "NULL AS rex_none"
        table = host.query(f"SELECT {listed} FROM ({input_sql})", relation.span)
    return plan, table, RelationEvaluator(host, relation.prefix)


def _analyze(
    query: ParsedQuery, relation: Relation, clause: Clause | EventText, columns: tuple[InputColumn, ...],
    host: DuckDbHost,
) -> Plan:
    scope = Scope(
        source=query.statement.source, dialect=query.statement.dialect, dialect_name=query.dialect_name,
        host_dialect=host.dialect, rules=name_rules(query.dialect_name), columns=columns, alias=relation.input_alias,
        variables=(), unions={}, aggregate_names=AggregateNames(), table_columns=host.table_columns,
        outer_names=relation.outer_names, schema=relation.input_schema,
    )
    if not isinstance(clause, Clause):
        return analyze_events(clause, scope, relation, query.event_options)
    variables = traverse.variables(clause.pattern)
    scope = replace(scope, variables=variables, rules=scope.rules.spelling(variables))
    scope = replace(scope, unions=union_variables(clause, scope))
    if is_segment_clause(clause):
        from sparkrex.modes.segments.aggregates.registry import user_defined

        return analyze_segments(clause, scope, relation, user_defined())
    return analyze_clause(clause, scope, relation)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def used_columns(plan: Plan) -> list[str]:
    """Input columns that the plan reads or passes on, in input order; the first one if it needs none, to count rows."""
    if isinstance(plan, EventQuery):
        from sparkrex.modes.events.engine import event_columns

        read = event_columns(plan)
        return [column for column in plan.input_columns if column in read]
    if isinstance(plan, SegmentSearch):
        from sparkrex.modes.segments.engine import searched_columns

        searched = searched_columns(plan)
        return [column for column in plan.input_columns if column in searched] or list(plan.input_columns[:1])
    expressions: list[Expression] = [key.expression for key in plan.partition_by]
    expressions += [key.expression for key in plan.order_by]
    expressions += [measure.expression for measure in plan.measures]
    expressions += [definition.condition for definition in plan.definitions]
    used = {node.column for expression in expressions for node in walk(expression) if isinstance(node, ColumnAt)}
    used.update(plan.passed_columns())
    return [column for column in plan.input_columns if column in used] or list(plan.input_columns[:1])


def run_relation(
    plan: Plan, table: pa.Table, evaluator: Evaluator, settings: Settings, watch: Stopwatch | None = None
) -> pa.Table:
    """The result of one MATCH_RECOGNIZE or MATCH_EVENTS over its input: arrange, match, read, build."""
    watch = watch or Stopwatch()
    try:
        if isinstance(plan, EventQuery):
            from sparkrex.modes.events.engine import run_events

            return run_events(plan, table, evaluator, settings, watch)
        if isinstance(plan, SegmentSearch):
            from sparkrex.modes.segments.engine import run_search

            return run_search(plan, table, evaluator, settings)
        plan, table = add_relation_columns(plan, table, evaluator)
        arrangement, partition_columns = arrange_rows(plan, table, evaluator, settings.thread_count())
        watch.lap("order", f"{table.num_rows:,} rows, {len(arrangement.offsets) - 1:,} partitions")
        if settings.chunk_rows is not None and table.num_rows:
            result = _run_in_chunks(plan, table, arrangement, partition_columns, evaluator, settings)
            watch.lap("match and measures, in chunks", f"{result.num_rows:,} rows")
            return result
        choice = choose_matcher(plan, table.slice(0, 0), evaluator, settings)
        try:
            matches = find_matches(plan, table, arrangement, choice)
        except ExecutionError as error:
            if error.row is not None:
                names = [key.name for key in plan.partition_by]
                name_partition(error, names, partition_columns, int(arrangement.input_rows(np.array([error.row]))[0]))
            raise
        watch.lap("match", f"{len(matches):,} matches")
        reader = MatchReader(
            table, arrangement, matches, choice.variables, plan.dialect, evaluator, settings.thread_count()
        )
        result = build_output(plan, reader, partition_columns)
        watch.lap("measures", f"{result.num_rows:,} rows")
        return result
    except RexError as error:
        if error.source is None and error.span is not None:
            error.source = plan.source
        raise


def find_matches(plan: MatchRecognize, table: pa.Table, arrangement: Arrangement, choice: Choice) -> Matches:
    """Feed the matcher with the columns that conditions read."""
    used = {n.column for d in plan.definitions for n in walk(d.condition) if isinstance(n, ColumnAt)}
    read = table.select([name for name in table.column_names if name in used])
    if not used:
        read = pa.table({"rex_row": pa.nulls(table.num_rows, pa.int8())})
    columns = Columns(read, arrangement.offsets, arrangement.order, arrangement.kept, arrangement.scatter)
    return choice.matcher.feed(choice.matcher.open(), columns, opens=True, closes=True)


def _run_in_chunks(
    plan: MatchRecognize, table: pa.Table, arrangement: Arrangement, partition_columns: list[pa.ChunkedArray],
    evaluator: Evaluator, settings: Settings,
) -> pa.Table:
    """The same answer, fed `chunk_rows` rows at a time."""
    keys = [f"rex_key_{number}" for number in range(len(partition_columns))]
    for name, column in zip(keys, partition_columns, strict=True):
        table = table.append_column(name, column)
    if arrangement.order is not None:
        table = table.take(pa.array(arrangement.order))
    choice = choose_matcher(plan, table.slice(0, 0), evaluator, settings, measure_reach(plan))
    relation = StreamedRelation(plan, choice.matcher, choice.variables, evaluator, keys)
    results = [
        relation.feed(
            table.slice(chunk.first, chunk.last - chunk.first), chunk.offsets, opens=chunk.opens, closes=chunk.closes
        )
        for chunk in cut_chunks(arrangement.offsets, settings.chunk_rows or arrangement.n_rows)
    ]
    return pa.concat_tables(results)


def name_tables(tables: Mapping[str, object] | None, named: Mapping[str, object]) -> dict[str, Any]:
    """All tables of a call by name; one name twice, in any case, is an error."""
    everything: dict[str, Any] = {}
    for group in (tables or {}, named):
        for name, value in group.items():
            if name.lower() in {known.lower() for known in everything}:
                raise TypeError(f"table {name} is given twice")
            everything[name] = value
    return everything
