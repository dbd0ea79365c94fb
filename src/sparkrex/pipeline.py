"""The pipeline in one process: text to table.

`parse_query` cuts and parses once; running analyses each MATCH_RECOGNIZE or MATCH_EVENTS over its input's columns,
matches, and hands the result back to the host under a placeholder name.
"""

from __future__ import annotations

import re
import secrets
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sparkrex.columns.inputs import ArrowInput, read_columns, to_arrow
from sparkrex.errors import AnalysisError, RexError, UnsupportedError, nearest
from sparkrex.hosts.duckdb.host import AggregateNames, DuckDbHost, RelationEvaluator
from sparkrex.matching.gaps import check_gap_order
from sparkrex.matching.output import NO_COLUMNS
from sparkrex.matching.side_rows import KIND, ROW, check_kept, check_names, with_input_row, with_kind
from sparkrex.modes.protocol import Buffered, Locating, Reasoning, Rewriting
from sparkrex.modes.tables import language_of, mode_of
from sparkrex.scalar.analyze.scope import InputColumn, Scope
from sparkrex.source import Source, Span
from sparkrex.statement.cut import Relation, Statement, cut
from sparkrex.statement.named_tables import named_tables
from sparkrex.statement.outside import explained
from sparkrex.statement.own_clause import cut_clause
from sparkrex.statement.parameters import Literals, has_parameters, write_literals
from sparkrex.stopwatch import Stopwatch
from sparkrex.syntax.names import name_rules
from sparkrex.syntax.tokens import find_dialect, span_of, tokenize

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sparkrex.hosts.host import Evaluator
    from sparkrex.matching.located import Located, LocatedWindows
    from sparkrex.modes.plan import Plan
    from sparkrex.modes.protocol import Explained
    from sparkrex.reasons.answer import Why
    from sparkrex.reasons.asked import Asked
    from sparkrex.settings import Settings
    from sparkrex.statement.action import Action

_READ_ROWS = 1 << 20
"""Rows that are matched at a time where the result is read in batches."""
INPUT = "rex_input"
"""The table of a clause that is not part of a statement."""


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A statement cut into relations, each with its parsed clause.

    A clause of its own is a statement of one relation over `INPUT`; what it does not say of that is in `options`, which
    its language knows.
    """

    statement: Statement
    dialect_name: str
    clauses: tuple[Any, ...]
    options: Any = None

    def patterns(self) -> list[str]:
        """The PATTERN of every relation as text."""
        pairs = zip(self.statement.relations, self.clauses, strict=True)
        return [language_of(relation.keyword).pattern_text(clause) for relation, clause in pairs]

    def rewritten(self) -> str | None:
        """The statement with MATCH_RECOGNIZE in the place of languages that can be written so, None without any."""
        texts: dict[str, str] = {}
        found = False
        for relation, clause in zip(self.statement.relations, self.clauses, strict=True):
            language = language_of(relation.keyword)
            if isinstance(language, Rewriting):
                clause_text = language.rewritten(clause)
                found = True
            else:
                span = relation.clause
                clause_text = f"{relation.keyword} ({self.statement.source.text[span.start : span.end]})"
            texts[relation.placeholder] = f"{_put_back(relation.input_sql, texts)} {clause_text}"
        return _put_back(self.statement.host_sql, texts) if found else None

    def modes(self) -> set[str]:
        """The modes that answer its relations, by name."""
        pairs = zip(self.statement.relations, self.clauses, strict=True)
        return {language_of(relation.keyword).mode(clause) for relation, clause in pairs}

    def variables(self) -> set[str]:
        """The pattern variables of all relations."""
        pairs = zip(self.statement.relations, self.clauses, strict=True)
        return {name for relation, clause in pairs for name in language_of(relation.keyword).variables(clause)}


def _put_back(text: str, relations: Mapping[str, str]) -> str:
    """The text with relations in the place of their placeholders."""
    return re.sub(r"\brex_[0-9a-f]+_[0-9]+\b", lambda found: relations.get(found[0], found[0]), text)


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


def parse_clause(
    text: str, keyword: str, dialect_name: str, options: Any = None, literals: Literals | None = None
) -> ParsedQuery:
    """A clause of its own, in the language of a keyword, as a statement over `INPUT`."""
    return replace(_parse_clause(text, keyword, dialect_name, literals), options=options)


@lru_cache(maxsize=64)
def _parse_clause(text: str, keyword: str, dialect_name: str, literals: Literals | None) -> ParsedQuery:
    dialect = find_dialect(dialect_name)
    statement = cut_clause(Source(text), keyword, dialect, INPUT, secrets.token_hex(4), literals)
    (relation,) = statement.relations
    clause = language_of(keyword).parse(
        relation.tokens, relation.clause, statement.source, dialect, name_rules(dialect_name)
    )
    return ParsedQuery(statement, dialect_name, (clause,))


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


def parse_bound(text: str, dialect_name: str, keyword: str | None, options: Any, args: Any) -> ParsedQuery:
    """A statement, or the clause of a keyword, with the values of a call in the place of its parameters, if any."""
    literals = None if args is None else write_literals(args, dialect_name, find_dialect(dialect_name))
    if keyword is None:
        return parse_query(text, dialect_name, literals)
    return parse_clause(text, keyword, dialect_name, options, literals)


@lru_cache(maxsize=64)
def reads_parameters(text: str, dialect_name: str) -> bool:
    """Whether the text has parameters, which a call must give values for."""
    if ":" not in text and "?" not in text:
        return False
    source = Source(text)
    return has_parameters(tokenize(source, find_dialect(dialect_name)), source)


def check_matcher(query: ParsedQuery, settings: Settings) -> None:
    """An error if no mode of the query has the matcher that the settings name.

    In a statement of several modes, those that do not have it choose by themselves.
    """
    if settings.matcher is None:
        return
    known = {mode: mode_of(mode).matchers for mode in sorted(query.modes())}
    if not known or any(settings.matcher in names for names in known.values()):
        return
    listed = (f"{mode}: {', '.join(names) or 'none'}" for mode, names in known.items())
    modes = f"its mode is {''.join(known)}" if len(known) == 1 else f"its modes are {' and '.join(known)}"
    raise AnalysisError(
        "REX217", f"the query has no matcher {settings.matcher!r}: {modes}", None, None,
        hint=f"matchers of {'; of '.join(listed)}",
    )


def table_names(query: ParsedQuery) -> tuple[str, ...]:
    """The tables that the query reads and does not make itself."""
    return tuple(named_tables(query.statement))


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
        hint=f"name them: {listed}" if names else "leave the table out",
    )


def run_query(query: ParsedQuery, tables: Mapping[str, object], settings: Settings) -> pa.Table:
    """Run a parsed statement over in-memory tables."""
    check_single(query, settings)
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
            found = host.query(host.translated(query.statement.host_sql), None)
        if settings.side_rows and query.statement.relations:
            check_kept(found.column_names)
        return found
    finally:
        host.close()


@contextmanager
def open_relation(
    query: ParsedQuery, tables: Mapping[str, object], settings: Settings
) -> Iterator[tuple[Plan, pa.Table, RelationEvaluator]]:
    """Plan, rows and evaluator of a query that is one relation, as long as the block lasts."""
    host = _open_host(query, tables, settings)
    try:
        yield prepare_relation(query, query.statement.relations[0], query.clauses[0], host)
    finally:
        host.close()


def read_query(query: ParsedQuery, tables: Mapping[str, object], settings: Settings) -> pa.RecordBatchReader:
    """The result in batches; of a statement that is one relation, as it is decided.

    Rows are put in order first, and then matched some at a time, so that only a part of the result is in memory.
    """
    *before, last = zip(query.statement.relations, query.clauses, strict=True) if query.statement.relations else (None,)
    if query.statement.bare_relation is None or last is None:
        return run_query(query, tables, settings).to_reader()
    if settings.chunk_rows is None:
        settings = replace(settings, chunk_rows=_READ_ROWS)

    def batches() -> Iterator[pa.RecordBatch | pa.Schema]:
        host = _open_host(query, tables, settings)
        try:
            for relation, clause in before:
                plan, table, evaluator = prepare_relation(query, relation, clause, host)
                host.register(relation.placeholder, run_relation(plan, table, evaluator, settings))
            plan, table, evaluator = prepare_relation(query, *last, host)
            is_first = True
            for result in relation_results(plan, table, evaluator, settings):
                shown = result.select([]) if result.column_names == [NO_COLUMNS] else result
                if is_first:
                    yield shown.schema
                is_first = False
                yield from shown.to_batches()
        finally:
            host.close()

    rest = batches()
    schema = next(rest)  # with it the first rows have been matched
    return pa.RecordBatchReader.from_batches(schema, rest)


def buffer_query(query: ParsedQuery, tables: Mapping[str, object], settings: Settings) -> pa.Table:
    """The matches of a statement that is one relation, as the buffer that they share."""
    statement = query.statement
    mode = mode_of(next(iter(query.modes()))) if len(statement.relations) == 1 else None
    if statement.bare_relation is None or not isinstance(mode, Buffered):
        raise UnsupportedError(
            "REX301", "this query has no buffer: only an event query of its own has one", statement.source,
            statement.relations[0].span if statement.relations else Span(0, min(1, len(statement.source.text))),
            hint="call the query for its result; rex.events(text, time=...) makes an event query",
        )
    host = _open_host(query, tables, settings)
    try:
        plan, table, evaluator = prepare_relation(query, statement.relations[0], query.clauses[0], host)
        return mode.buffer(plan, table, evaluator, settings)
    finally:
        host.close()


def locate_answers(
    query: ParsedQuery, tables: Mapping[str, object], settings: Settings, columns: Sequence[str] = ()
) -> tuple[Plan, Located | LocatedWindows]:
    """The plan of a statement's last relation, and where its answers lie. `columns` of its input are read too.

    What the statement makes of the relation, as in WHERE around it, has no say.
    """
    relations = query.statement.relations
    if not relations:
        raise UnsupportedError(
            "REX301", "the statement has no pattern, so there is nothing to show", query.statement.source,
            Span(0, min(1, len(query.statement.source.text))), hint="show a query with MATCH_RECOGNIZE, or its result",
        )
    settings = replace(settings, side_rows=False)
    host = _open_host(query, tables, settings)
    try:
        *before, last = zip(relations, query.clauses, strict=True)
        for relation, clause in before:
            plan, table, evaluator = prepare_relation(query, relation, clause, host)
            host.register(relation.placeholder, run_relation(plan, table, evaluator, settings))
        plan, table, evaluator = prepare_relation(query, *last, host, beside=columns)
        mode = mode_of(plan.mode)
        if not isinstance(mode, Locating):
            raise UnsupportedError(
                "REX301", f"pictures of {plan.mode} are not supported", plan.source, plan.span,
                hint="show one of its patterns alone",
            )
        try:
            return plan, mode.locate(plan, table, evaluator, settings)
        except RexError as error:
            if error.source is None and error.span is not None:
                error.source = plan.source
            raise
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


def describe_query(query: ParsedQuery, tables: Mapping[str, object], settings: Settings) -> list[tuple[str, str]]:
    """Names and types of the result's columns, types in the words of the query's dialect. No row is read."""
    check_single(query, settings)
    arrow = {name: to_arrow(name, value) for name, value in tables.items()}
    host = _open_host(query, {name: value.schema.empty_table() for name, value in arrow.items()}, settings)
    try:
        result: pa.Table | None = None
        for relation, clause in zip(query.statement.relations, query.clauses, strict=True):
            plan, table, evaluator = prepare_relation(query, relation, clause, host, reads_rows=False)
            result = run_relation(plan, table, evaluator, settings)
            host.register(relation.placeholder, result)
        if query.statement.bare_relation is not None and result is not None and result.column_names == [NO_COLUMNS]:
            return []
        with explaining_outside(query):
            described = host.describe(host.translated(query.statement.host_sql))
        return [(name, kind.sql(query.statement.dialect)) for name, kind in described]
    finally:
        host.close()


def why_query(
    query: ParsedQuery, tables: Mapping[str, object], settings: Settings, asked: Asked, given: object = None
) -> Why:
    """Why the one pattern of a statement did not match. `given` are the rows that it reads, if they are known."""
    relation = asked_relation(query)
    host = _open_host(query, tables, settings)
    try:
        if given is not None:
            relation = replace(relation, input_table=INPUT)
            host.register(INPUT, to_arrow("", given))
        plan, table, evaluator = prepare_relation(query, relation, query.clauses[0], host)
        mode = mode_of(plan.mode)
        if not isinstance(mode, Reasoning):
            raise UnsupportedError(
                "REX301", f"rex.why knows row patterns and segments, and this is a query of the mode {plan.mode}",
                query.statement.source, relation.span, hint="rex.explain shows how it is answered",
            )
        try:
            return mode.why(plan, table, evaluator, settings, asked)
        except RexError as error:
            if error.source is None and error.span is not None:
                error.source = plan.source
            raise
    finally:
        host.close()


def asked_relation(query: ParsedQuery) -> Relation:
    """The one pattern of a statement."""
    relations = query.statement.relations
    if len(relations) != 1:
        source = query.statement.source
        raise UnsupportedError(
            "REX301", f"rex.why is asked about one pattern, and the query has {len(relations) or 'none'}", source,
            relations[1].span if relations else Span(0, min(1, len(source.text))),
            hint="ask about each in a query of its own" if relations else None,
        )
    return relations[0]


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
        hint, command_hint = "rex.explain(query) shows the plan", "rex explain QUERY shows the plan"
    else:
        hint = "run the query alone: its result is a table that Python can keep or write"
        command_hint = "give the query alone: rex run writes its result to --output"
    raise UnsupportedError(
        "REX303", f"{action.kind} is not possible in memory: nothing would keep the result", statement.source, place,
        hint=hint, command_hint=command_hint,
    )


def prepare_relation(
    query: ParsedQuery, relation: Relation, clause: Any, host: DuckDbHost, *, beside: Sequence[str] = (),
    reads_rows: bool = True,
) -> tuple[Plan, pa.Table, RelationEvaluator]:
    """Plan of a relation, the columns of its input that the plan uses, and its evaluator.

    Columns named `beside` are read too. Without `reads_rows` the columns are empty, whatever the input would compute.
    """
    base: ArrowInput | None = host.tables.get(relation.input_table.lower()) if relation.input_table else None
    input_sql = ""
    if base is not None:
        described = list(zip(base.schema.names, host.column_types(relation.input_table or ""), strict=True))
    else:
        input_sql = host.translated(f"{relation.prefix}SELECT * FROM {relation.input_sql}")
        try:
            described = host.describe(input_sql)
        except AnalysisError as error:
            if relation.has_written_input and error.span == Span(0, min(1, len(query.statement.source.text))):
                error.span = _named_place(error, relation, query.statement.source)
            raise
    columns = tuple(InputColumn(name, kind) for name, kind in described)
    plan = _analyze(query, relation, clause, columns, host)
    used = plan.columns_read()
    if beside:
        wanted = {_input_column(name, columns) for name in beside}.union(used)
        used = [column.name for column in columns if column.name in wanted]
    if host.settings.side_rows:
        used = [column.name for column in columns]
        check_names((*used, *plan.output_columns()))
    if base is not None:
        table = read_columns(base, used)
    else:
        listed = ", ".join(_quote(name) for name in used) or "NULL AS rex_none"
        limit = "" if reads_rows else " LIMIT 0"
        table = host.query(f"SELECT {listed} FROM ({input_sql}){limit}", relation.span)
    if host.settings.side_rows:
        table = with_input_row(table)
    return plan, table, RelationEvaluator(host, relation.prefix)


def _input_column(name: str, columns: tuple[InputColumn, ...]) -> str:
    """The column that a call names; case matters only where two differ in nothing else."""
    found = [column.name for column in columns if column.name == name]
    found = found or [column.name for column in columns if column.name.lower() == name.lower()]
    if found:
        return found[0]
    names = [column.name for column in columns]
    raise AnalysisError(
        "REX201", f"the input has no column {name}", None, None,
        hint=nearest(name, names) or f"the input has {', '.join(names) or 'no columns'}",
    )


def _named_place(error: AnalysisError, relation: Relation, source: Source) -> Span:
    """Where the first name of a host's complaint stands: in the relation if it is there, else anywhere in the query."""
    for name in re.findall(r'"(\w+)"', error.message):
        pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
        inside = pattern.search(source.text, relation.span.start, relation.span.end)
        if (found := inside or pattern.search(source.text)) is not None:
            return Span(*found.span())
    return relation.span


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
    return follow_settings(language.analyze(clause, scope, relation, query.options), scope, host.settings)


def follow_settings(plan: Plan, scope: Scope, settings: Settings) -> Plan:
    """The plan with what settings say of its order and its partitions."""
    plan = _break_ties(plan, scope, settings)
    gap = settings.gap_microseconds()
    if gap is None:
        return plan
    plan = plan.with_partition_gap(gap)
    check_gap_order(plan)
    return plan


def _break_ties(plan: Plan, scope: Scope, settings: Settings) -> Plan:
    """The plan with rows that its order keys leave equal ordered by the columns of the setting `tie_break`."""
    columns = []
    for name in settings.tie_break:
        found = scope.find_column(name, Span(0, 0))
        if found is None:
            names = [column.name for column in scope.columns]
            raise AnalysisError(
                "REX201", f"setting tie_break: the input has no column {name}", None, None,
                hint=nearest(name, names) or f"the input has {', '.join(names) or 'no columns'}",
            )
        columns.append(found.name)
    return plan.with_tie_break(columns)


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def check_reporting(plan: Plan, settings: Settings, *, is_stream: bool) -> None:
    """Raise REX301 if a search cannot go on where it fails, or has no side rows."""
    if settings.side_rows and not plan.has_side_rows:
        raise UnsupportedError(
            "REX301", f"side_rows is not supported for {plan.mode}", plan.source, plan.span,
            hint="leave the setting out: every row of the input is a row of the result",
        )
    if not settings.reports or plan.gives_up_starts or (is_stream and plan.gives_up_events):
        return
    what = plan.mode if plan.gives_up_events else f"searches of {plan.mode}"
    where = " of a table" if plan.gives_up_events else ""
    raise UnsupportedError(
        "REX301", f'on_error="report" is not supported for {what}{where}', plan.source, plan.span,
        hint="leave the setting out, and the rows at which the search fails in a subquery",
    )


def check_single(query: ParsedQuery, settings: Settings) -> None:
    """Raise REX301 for side rows of several patterns: one would search in the side rows of another."""
    if settings.side_rows and len(query.statement.relations) > 1:
        raise UnsupportedError(
            "REX301", "side_rows in a statement with several patterns", query.statement.source,
            query.statement.relations[1].span,
            hint="one call for each; rex.matches(result) for what the next one reads",
        )


def run_relation(
    plan: Plan, table: pa.Table, evaluator: Evaluator, settings: Settings, watch: Stopwatch | None = None
) -> pa.Table:
    """The result of one relation over its input."""
    return pa.concat_tables(relation_results(plan, table, evaluator, settings, watch))


def relation_results(
    plan: Plan, table: pa.Table, evaluator: Evaluator, settings: Settings, watch: Stopwatch | None = None
) -> Iterator[pa.Table]:
    """The same, piece by piece as it is decided."""
    try:
        check_reporting(plan, settings, is_stream=False)
        for result in mode_of(plan.mode).results(plan, table, evaluator, settings, watch or Stopwatch()):
            if settings.side_rows and KIND not in result.column_names:
                yield with_kind(result, table.schema.field(ROW).type)
            else:
                yield result
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
