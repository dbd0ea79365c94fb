"""DuckDB, the in-memory host.

A connection of its own per statement: Python variables of the caller are not looked up, no extension is fetched, the
time zone is the settings'. Tables are registered, never copied. DuckDB is loaded and connected when something first
needs it: many a query needs no host.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cache
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError as SqlglotParseError
from sqlglot.errors import SqlglotError
from sqlglot.errors import UnsupportedError as SqlglotUnsupported

from sparkrex.errors import AnalysisError, ExecutionError, ParseError, RexError, UnsupportedError, nearest
from sparkrex.hosts.duckdb.types import arrow_column_type
from sparkrex.scalar.guards import FINER_THAN_MICROSECONDS
from sparkrex.scalar.spark_in_duckdb import translate
from sparkrex.source import Source, Span
from sparkrex.threads import run_aside

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import duckdb
    from sqlglot.dialects.dialect import Dialect

    from sparkrex.functions import Function
    from sparkrex.settings import Settings

_ROWS = "rex_rows"
_FEW_ROWS = 2_000
"""An expression over so many rows takes less time than a thread to wait for it."""
# Statements that can change nothing. Any other, or several at once, runs in an instance of its own.
_READS = re.compile(
    r"\s*\(*\s*(?:SELECT|WITH|VALUES|FROM|PATTERN)\b(?!.*\bINTO\b)[^;]*;?\s*\Z", re.IGNORECASE | re.DOTALL
)


class DuckDbHost:
    """Runs one statement's SQL over its tables."""

    dialect = "duckdb"

    def __init__(self, source: Source, dialect: Dialect, dialect_name: str, settings: Settings) -> None:
        self.source = source
        self.query_dialect = dialect
        self.dialect_name = dialect_name
        self.settings = settings
        self.tables: dict[str, Any] = {}
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._failure: tuple[str, BaseException] | None = None
        if settings.time_zone != "UTC":
            self._connection = self._connect()  # at once, because only DuckDB knows whether there is such a time zone

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """The statement's connection, with its settings and tables."""
        if self._connection is None:
            self._connection = self._connect()
        return self._connection

    def _connect(self) -> duckdb.DuckDBPyConnection:
        from duckdb.func import FunctionNullHandling, PythonUDFType

        from sparkrex.hosts.duckdb.instance import private_connection, shared_connection

        is_shared = _READS.match(self.source.text) and not self.settings.functions
        connection = (shared_connection if is_shared else private_connection)(self.settings.threads)
        for function in self.settings.functions:
            parameters, result = function.duckdb_types()
            connection.create_function(
                function.name, self._watched(function), list(parameters), result,
                # Given value by value DuckDB takes NaN for NULL; but only columns say how many rows there are.
                type=PythonUDFType.ARROW if parameters else PythonUDFType.NATIVE,
                null_handling=FunctionNullHandling.SPECIAL,
            )
        self._set_time_zone(connection)
        if self.dialect_name == "oracle":
            connection.execute("CREATE TEMP TABLE dual AS SELECT 'X' AS dummy")
        if self.query_dialect.TYPED_DIVISION:
            # Two integers divide to an integer, also in the SQL around the pattern.
            connection.execute("SET integer_division = true")
        for name, table in self.tables.items():
            connection.register(name, table)
        return connection

    def _watched(self, function: Function) -> Callable[..., Any]:
        """A user's function for DuckDB, which keeps no exception: the first one is kept here."""

        kind = _arrow_type(function.duckdb_types()[1])

        def call(*columns: pa.ChunkedArray) -> Any:
            try:
                if not columns:
                    return function.checked()
                rows = zip(*(column.to_pylist() for column in columns), strict=True)
                return pa.array([function.checked(*row) for row in rows], kind)
            except (Exception, SystemExit) as error:
                self._failure = self._failure or (function.name, error)
                raise

        # DuckDB counts the parameters that it sees.
        places = [Parameter(f"x{place}", Parameter.POSITIONAL_ONLY) for place in range(len(function.parameters))]
        call.__signature__ = Signature(places)  # type: ignore[attr-defined]
        return call

    def _set_time_zone(self, connection: duckdb.DuckDBPyConnection) -> None:
        import duckdb

        name = self.settings.time_zone
        try:
            connection.execute(f"SET TimeZone = '{name.replace(chr(39), '')}'")
        except duckdb.Error as error:
            import zoneinfo

            raise AnalysisError(
                "REX217", f"unknown time zone {name!r}", None, None,
                hint=nearest(name, zoneinfo.available_timezones()) or "names are as Europe/Zurich",
            ) from error

    def close(self) -> None:
        """Drop the connection."""
        if self._connection is not None:
            import duckdb

            with suppress(duckdb.Error):  # a statement that was interrupted has not come to its end yet
                self._connection.close()

    def register(self, name: str, table: Any) -> None:
        """Make a table known under a name."""
        self.tables[name.lower()] = table
        if self._connection is not None:
            self._connection.register(name, table)

    def translated(self, sql: str) -> str:
        """SQL of the query's dialect as DuckDB's."""
        if self.dialect_name == "duckdb":
            return sql
        try:
            trees = sqlglot.parse(sql, read=self.query_dialect)
        except SqlglotError as error:
            raise self._unreadable(error, sql) from error
        if len(trees) != 1 or trees[0] is None:
            raise ParseError("REX101", "one statement is expected", self.source, self._whole())
        tree = trees[0]
        if self.dialect_name.startswith(("spark", "databricks")) and "try_cast" not in sql.lower():
            tree = tree.transform(lambda node: exp.Cast(**node.args) if isinstance(node, exp.TryCast) else node)
        try:
            return translate(tree, self.query_dialect, "duckdb")
        except SqlglotUnsupported as error:
            raise UnsupportedError(
                "REX301", f"the SQL around MATCH_RECOGNIZE cannot be translated from {self.dialect_name} to duckdb",
                self.source, self._whole(), notes=(str(error).strip(),),
            ) from error

    def _unreadable(self, error: SqlglotError, sql: str) -> ParseError:
        """The error of SQL around the patterns that sqlglot cannot read, at the word where it stops."""
        details = error.errors[0] if isinstance(error, SqlglotParseError) and error.errors else {}
        message, place, notes = "the SQL around MATCH_RECOGNIZE cannot be read", None, [str(error).split("\n")[0]]
        if details.get("line") is not None and details.get("col") is not None:
            word = str(details.get("highlight") or " ")
            # sqlglot's column is that of the word's last character.
            place = self.source.place_in(sql, int(details["line"]), int(details["col"]) - len(word) + 1)
        if place is not None:
            found = self.source.text[place.start : place.end]
            message, notes = f"{message}: unexpected {found}", []
        return ParseError("REX101", message, self.source, place or self._whole(), notes=notes)

    def describe(self, sql: str) -> list[tuple[str, exp.DataType]]:
        """Column names and types of a query in DuckDB's dialect."""
        rows = self._run(f"DESCRIBE {sql}", None).fetchall()
        return [(row[0], _type(row[1])) for row in rows]

    def column_types(self, name: str) -> list[exp.DataType]:
        """Types of a registered table's columns, in order."""
        fields = self.tables[name.lower()].schema
        known = [kind for field in fields if (kind := arrow_column_type(field.type)) is not None]
        if len(known) == len(fields):
            return known
        quoted = '"' + name.replace('"', '""') + '"'
        return [kind for _, kind in self.describe(f"SELECT * FROM {quoted}")]

    def table_columns(self, name: str) -> frozenset[str] | None:
        """Column names of a registered table in lower case."""
        if name.lower() not in self.tables:
            return None
        quoted = '"' + name.replace('"', '""') + '"'
        return frozenset(column.lower() for column, _ in self.describe(f"SELECT * FROM {quoted}"))

    def query(self, sql: str, span: Span | None, *, is_short: bool = False) -> pa.Table:
        """A query in DuckDB's dialect. One that `is_short` takes no time that anybody would interrupt."""
        import duckdb

        connection = self.connection

        def run() -> pa.Table:
            return connection.sql(sql).to_arrow_table()

        try:
            # DuckDB looks for Ctrl-C itself, but not in every operator.
            return run() if is_short else run_aside(run, connection.interrupt)
        except duckdb.Error as error:
            raise self._convert_error(error, span) from error

    def _run(self, sql: str, span: Span | None) -> Any:
        import duckdb

        try:
            return self.connection.sql(sql)
        except duckdb.Error as error:
            raise self._convert_error(error, span) from error

    def _whole(self) -> Span:
        return Span(0, min(1, len(self.source.text)))

    def _convert_error(self, error: duckdb.Error, span: Span | None) -> RexError:
        """DuckDB's error as ours, at the place in the query that caused it."""
        import duckdb

        if isinstance(error, duckdb.FatalException | duckdb.InternalException):
            from sparkrex.hosts.duckdb.instance import forget_instances

            forget_instances()
        if "KeyboardInterrupt" in str(error):
            raise KeyboardInterrupt from error
        if self._failure is not None:
            (name, cause), self._failure = self._failure, None
            failed = ExecutionError(
                "REX423", f"{name} failed: {cause.__class__.__name__}: {cause}", self.source, span or self._whole()
            )
            failed.__cause__ = cause
            return failed
        text = str(error).split("\n")[0]
        message = text.split(": ", 1)[-1]
        if found := re.search(r"Table with name (\S+) does not exist", text):
            name = found.group(1)
            return AnalysisError(
                "REX203", f"table {name} does not exist", self.source, self._find(name, span),
                hint=(meant := nearest(name, self.tables))
                or "pass it as a keyword argument or in tables={...}; for tables of a Spark session pass spark=",
                command_hint=meant or f"name its files: --table {name}=PATH",
            )
        if found := re.search(r'(?:Referenced column|column named) "([^"]+)"', text):
            name = found.group(1)
            hint = str(error).split("\n")[1] if "\n" in str(error) else None
            return AnalysisError(
                "REX201", f"column {name} does not exist", self.source, self._find(name, span), hint=hint
            )
        if found := re.search(r'Referenced table "([^"]+)" not found', text):
            name = found.group(1)
            return AnalysisError("REX206", f"{name} is not a table of the query", self.source, self._find(name, span))
        if found := re.search(r"Function with name (\S+) does not exist", text):
            name = found.group(1)
            return AnalysisError(
                "REX213", f"function {name} does not exist", self.source, self._find(name, span),
                hint="the in-memory host is DuckDB; its functions are available",
            )
        if FINER_THAN_MICROSECONDS in text:
            return ExecutionError(
                "REX414", "a time has nanoseconds, and this is computed in microseconds", self.source,
                span or self._whole(), hint="round it in the input, for example CAST(ts AS TIMESTAMP)",
            )
        if isinstance(error, duckdb.ParserException):
            near = re.search(r'syntax error at or near "([^"]+)"', text)
            place = self._find_once(near.group(1)) if near and span is None else None
            return ParseError("REX101", message, self.source, span or place or self._whole())
        if "No function matches" in text or "best candidate function" in text:
            return AnalysisError(
                "REX214", _short(message), self.source, span or self._whole(), hint="check the types, or cast them"
            )
        if isinstance(error, duckdb.BinderException | duckdb.CatalogException):
            return AnalysisError("REX214", message, self.source, span or self._whole())
        if "Overflow" in text or isinstance(error, duckdb.OutOfRangeException):
            return ExecutionError("REX405", message, self.source, span or self._whole())
        if message.startswith("Division by zero"):
            message = "division by zero"  # DuckDB names the expression over columns of ours, and settings of its own
        return ExecutionError("REX404", message, self.source, span or self._whole())

    def _find_once(self, name: str) -> Span | None:
        """Where a word stands in the query, if it does so only once."""
        found = list(re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", self.source.text))
        return Span(*found[0].span()) if len(found) == 1 else None

    def _find(self, name: str, span: Span | None) -> Span:
        """Where a name stands in the query, inside `span` if it is known."""
        low, high = (span.start, span.end) if span is not None else (0, len(self.source.text))
        found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", self.source.text[low:high], re.IGNORECASE)
        if found is None:
            return span or self._whole()
        return Span(low + found.start(), low + found.end())


class RelationEvaluator:
    """The host as one relation's expressions see it: with the common table expressions in front of it."""

    def __init__(self, host: DuckDbHost, prefix: str) -> None:
        self.host = host
        self.prefix = prefix

    def evaluate(
        self, expressions: Sequence[str], table: pa.Table, spans: Sequence[Span | None], *, reads_relation: bool = False
    ) -> list[pa.ChunkedArray]:
        """See `hosts.host.Evaluator`. Order is kept by DuckDB; subqueries become joins, so there it is asked for."""
        if not expressions:
            return []
        listed = ", ".join(f"{text} AS e{number}" for number, text in enumerate(expressions))
        span = _cover(spans)
        if reads_relation:
            table = table.append_column("rex_id", pa.array(range(table.num_rows), pa.int64()))
            sql = f"{self._with()}SELECT {listed} FROM {_ROWS} ORDER BY rex_id"
        else:
            sql = f"SELECT {listed} FROM {_ROWS}"
        result = self._over(table, sql, span, is_short=not reads_relation and table.num_rows <= _FEW_ROWS)
        return [result.column(number) for number in range(len(expressions))]

    def query(self, sql: str, table: pa.Table, span: Span | None) -> pa.Table:
        """See `hosts.host.Evaluator`."""
        return self._over(table, sql, span, is_short=table.num_rows <= _FEW_ROWS)

    def _over(self, table: pa.Table, sql: str, span: Span | None, *, is_short: bool) -> pa.Table:
        # Registering replaces the table of the call before; unregistering would double the cost of a small query.
        self.host.connection.register(_ROWS, table)
        return self.host.query(sql, span, is_short=is_short)

    def _with(self) -> str:
        if not self.prefix:
            return ""
        # Only a whole statement can be translated; the select after the prefix is thrown away again.
        whole = self.host.translated(f"{self.prefix}SELECT 1")
        return re.sub(r"SELECT 1\s*\Z", "", whole)


def _cover(spans: Sequence[Span | None]) -> Span | None:
    known = [span for span in spans if span is not None]
    if not known:
        return None
    return Span(min(span.start for span in known), max(span.end for span in known))


def _short(message: str) -> str:
    return message.split(". You might need")[0].split(" In order to select")[0].rstrip(".")


def _type(text: str) -> exp.DataType:
    if text == "TIMESTAMPTZ_NS":  # of no name that sqlglot knows
        text = "TIMESTAMPTZ(9)"
    try:
        return exp.DataType.build(text, dialect="duckdb")
    except SqlglotError:
        return exp.DataType.build("UNKNOWN")


class AggregateNames:
    """Names of DuckDB's aggregate functions, in lower case; DuckDB is asked with the first name."""

    def __contains__(self, name: object) -> bool:
        return name in _aggregate_names()


@cache
def _aggregate_names() -> frozenset[str]:
    from sparkrex.hosts.duckdb.instance import shared_connection

    with shared_connection(None) as connection:
        rows = connection.sql("SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type = 'aggregate'")
        return frozenset(row[0] for row in rows.fetchall()) - {"first", "last"}


_ARROW = {
    "BOOLEAN": pa.bool_(), "BIGINT": pa.int64(), "DOUBLE": pa.float64(), "VARCHAR": pa.string(), "BLOB": pa.binary(),
    "DATE": pa.date32(),
}


def _arrow_type(name: str) -> pa.DataType:
    """The type of what a Python function gives, from DuckDB's name of it."""
    return pa.list_(_arrow_type(name[:-2])) if name.endswith("[]") else _ARROW[name]
