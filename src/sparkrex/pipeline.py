"""The pipeline in one process: text to table.

`parse_query` cuts and parses once; running analyses each MATCH_RECOGNIZE or MATCH_EVENTS over its input's columns,
matches, and hands the result back to the host under a placeholder name.
"""

from __future__ import annotations

import secrets
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from sparkrex.columns.inputs import ArrowInput, read_columns, to_arrow
from sparkrex.errors import AnalysisError, RexError, UnsupportedError
from sparkrex.hosts.duckdb.host import AggregateNames, DuckDbHost, RelationEvaluator
from sparkrex.matching.output import NO_COLUMNS
from sparkrex.modes.tables import language_of, mode_of
from sparkrex.scalar.analyze.scope import InputColumn, Scope
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

    import pyarrow as pa

    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.plan import Plan
    from sparkrex.modes.protocol import Explained
    from sparkrex.settings import Settings
    from sparkrex.statement.action import Action

_EVENTS = "MATCH_EVENTS"
STREAM = "rex_stream"
"""The table of an event query that is no part of a statement."""


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A statement cut into relations, each with its parsed clause.

    An event query of its own is a statement of one relation over `STREAM`; what it does not say of its stream is in
    `options`, which its language knows.
    """

    statement: Statement
    dialect_name: str
    clauses: tuple[Any, ...]
    options: Any = None

    def patterns(self) -> list[str]:
        """The PATTERN of every relation as text."""
        pairs = zip(self.statement.relations, self.clauses, strict=True)
        return [language_of(relation.keyword).pattern_text(clause) for relation, clause in pairs]

    def modes(self) -> set[str]:
        """The modes that answer its relations, by name."""
        pairs = zip(self.statement.relations, self.clauses, strict=True)
        return {language_of(relation.keyword).mode(clause) for relation, clause in pairs}

    def variables(self) -> set[str]:
        """The pattern variables of all relations."""
        pairs = zip(self.statement.relations, self.clauses, strict=True)
        return {name for relation, clause in pairs for name in language_of(relation.keyword).variables(clause)}


@lru_cache(maxsize=64)
def parse_query(text: str, dialect_name: str, literals: Literals | None = None) -> ParsedQuery:
    """Cut and parse a statement, its parameters replaced by literals; the last ones are remembered."""
    source = Source(text)
    dialect = find_dialect(dialect_name)
    statement = cut(source, dialect, secrets.token_hex(4), literals)
    rules = name_rules(dialect_name)
    clauses = tuple(
        language_of(relation.keyword).parse(relation.tokens, relation.clause, source, dialect, rules)
        for relation in statement.relations
    )
    return ParsedQuery(statement, dialect_name, clauses)


def parse_event_query(
    text: str, dialect_name: str, options: Any, literals: Literals | None = None
) -> ParsedQuery:
    """An event query of its own as a statement over `STREAM`."""
    source = Source(text)
    dialect = find_dialect(dialect_name)
    tokens = tokenize(source, dialect)
    if literals is not None:
        tokens = bind(tokens, source, dialect, literals).tokens
    whole = Span(0, len(text))
    clause = language_of(_EVENTS).parse(tokens, whole, source, dialect, name_rules(dialect_name))
    relation = Relation(
        placeholder=f"rex_{secrets.token_hex(4)}_0", input_sql=STREAM, input_table=STREAM, input_alias=None, prefix="",
        clause=whole, tokens=tuple(tokens), span=whole, column_aliases=None, columns_span=None,
        outer_names=frozenset(), keyword=_EVENTS,
    )
    statement = Statement(source, dialect, (relation,), f"SELECT * FROM {relation.placeholder}", 0)
    return ParsedQuery(statement, dialect_name, (clause,), options)


@contextmanager
def explaining_outside(query: ParsedQuery) -> Iterator[None]:
    """Around the statement's own SQL: a host's complaint about what only row patterns have, in words that help."""
    try:
        yield
    except RexError as error:
        helpful = explained(error, query.statement, query.variables())
        if helpful is error:
            raise
        raise helpful from error


def parse_bound(text: str, dialect_name: str, event_options: Any, args: Any) -> ParsedQuery:
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
        return compress_events(plan, table, evaluator, settings)  # type: ignore[arg-type]  # nobody else asks for it
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
            found = mode_of(plan.mode).explain(plan, table, evaluator, settings, analyze=analyze)
            explained.append(found)
            if relation is not query.statement.relations[-1]:
                host.register(relation.placeholder, run_relation(plan, table, evaluator, settings))
        return explained
    finally:
        host.close()


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
    query: ParsedQuery, relation: Relation, clause: Any, host: DuckDbHost
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
    used = plan.columns_read()
    if base is not None:
        table = read_columns(base, used)
    else:
        listed = ", ".join(_quoted(name) for name in used) or "NULL AS rex_none"
        table = host.query(f"SELECT {listed} FROM ({input_sql})", relation.span)
    return plan, table, RelationEvaluator(host, relation.prefix)


def _analyze(
    query: ParsedQuery, relation: Relation, clause: Any, columns: tuple[InputColumn, ...], host: DuckDbHost
) -> Plan:
    language = language_of(relation.keyword)
    variables = language.variables(clause)
    scope = Scope(
        source=query.statement.source, dialect=query.statement.dialect, dialect_name=query.dialect_name,
        host_dialect=host.dialect, rules=name_rules(query.dialect_name).spelling(variables), columns=columns,
        alias=relation.input_alias, variables=variables, unions={}, aggregate_names=AggregateNames(),
        table_columns=host.table_columns, outer_names=relation.outer_names, schema=relation.input_schema,
    )
    return language.analyze(clause, scope, relation, query.options)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def run_relation(
    plan: Plan, table: pa.Table, evaluator: Evaluator, settings: Settings, watch: Stopwatch | None = None
) -> pa.Table:
    """The result of one relation over its input."""
    try:
        return mode_of(plan.mode).run(plan, table, evaluator, settings, watch or Stopwatch())
    except RexError as error:
        if error.source is None and error.span is not None:
            error.source = plan.source
        raise


def name_tables(tables: Mapping[str, object] | None, named: Mapping[str, object]) -> dict[str, Any]:
    """All tables of a call by name; one name twice, in any case, is an error."""
    everything: dict[str, Any] = {}
    for group in (tables or {}, named):
        for name, value in group.items():
            if name.lower() in {known.lower() for known in everything}:
                raise TypeError(f"table {name} is given twice")
            everything[name] = value
    return everything
