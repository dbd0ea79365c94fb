"""Spark as the host: the SQL around the patterns, types, row-local expressions.

DataFrames are given to `spark.sql` as arguments and named by common table expressions in front of the user's text, so
nothing is registered in the session and the same code serves classic sessions and Spark Connect.
"""

from __future__ import annotations

import re
import secrets
from collections import Counter
from typing import TYPE_CHECKING, Any

import sqlglot
from pyspark.errors import AnalysisException, ParseException, PySparkException
from sqlglot import ErrorLevel, exp
from sqlglot.errors import SqlglotError

from sparkrex.errors import AnalysisError, ExecutionError, ParseError, RexError, UnsupportedError, nearest
from sparkrex.scalar.render.spark import quoted
from sparkrex.source import Source, Span
from sparkrex.spark.from_items import UntranslatableItemError, rewrite_from_items
from sparkrex.spark.streaming.around import stream_error
from sparkrex.spark.versions import condition_of, error_loggers, function_names
from sparkrex.statement.action import query_start
from sparkrex.syntax.tokens import find_dialect, tokenize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, SparkSession
    from sqlglot.dialects.dialect import Dialect

    from sparkrex.matching.silent import Lasting
    from sparkrex.spark.files.opening import SparkFiles
    from sparkrex.spark.streaming.checkpoint import Checkpoint

_CODES = {
    "TABLE_OR_VIEW_NOT_FOUND": ("REX203", "the table does not exist"),
    "UNRESOLVED_COLUMN": ("REX201", "the column does not exist"),
    "UNRESOLVED_ROUTINE": ("REX213", "the function does not exist"),
    "WRONG_NUM_ARGS": ("REX213", "the function has the wrong arguments"),
}


class SparkHost:
    """Runs one statement's SQL in a session."""

    dialect = "spark"

    def __init__(self, spark: SparkSession, source: Source, dialect: Dialect, dialect_name: str) -> None:
        self.spark = spark
        self.source = source
        self.query_dialect = dialect
        self.dialect_name = dialect_name
        self.frames: dict[str, DataFrame] = {}
        self.files: dict[str, SparkFiles] = {}
        """Tables given by path, by name in lower case; their DataFrames are among `frames`."""
        self._filter = f"rex_{secrets.token_hex(8)}"
        self._variables: dict[str, exp.DataType | None] = {}
        self.checkpoint: Checkpoint | None = None
        """Of a streaming query that has stopped and is drained: its streams are what its state still holds."""
        self.n_alike: Counter[str] = Counter()
        """How many patterns over streams there have been so far, by fingerprint."""
        self.n_streams, self.is_shuffled = 0, False
        """How many patterns over streams there are, and whether the stream of one is shuffled before it."""
        self.lasting: list[Lasting] = []
        """What its streams keep of silent keys."""

    def analyzed(self, text: str, span: Span | None) -> DataFrame:
        """A query in Spark's dialect, its errors ours.

        Connect analyses on demand: asking for the schema makes errors appear here, not at the first action.
        """
        # PySpark logs every analysis error as a page of JSON before raising it.
        logger = error_loggers()[0]
        was_disabled, logger.disabled = logger.disabled, True
        try:
            frame = self._sql(text)
            _ = frame.schema
        except PySparkException as error:
            raise self.converted(error, span, text) from error
        finally:
            logger.disabled = was_disabled
        return frame

    def _sql(self, text: str) -> DataFrame:
        """The query with every known DataFrame that it names."""
        words = {token.text.lower() for token in tokenize(Source(text), find_dialect("spark"))}
        named = {name: frame for name, frame in self.frames.items() if name.lower() in words}
        if any(frame.isStreaming for frame in named.values()):
            # Spark plans a source once for each place that could read it, and a checkpoint belongs to their number.
            tables = _tables_of(text)
            named = {
                name: frame for name, frame in named.items()
                if tables is None or name.lower() in tables or not frame.isStreaming
            }
        arguments: dict[str, Any] = {
            f"rex_{number}": self._apart_from_caches(frame) for number, frame in enumerate(named.values())
        }
        defined = [
            f"{quoted(name).replace('{', '{{').replace('}', '}}')} AS (SELECT * FROM {{rex_{number}}})"
            for number, name in enumerate(named)
        ]
        escaped = text.replace("{", "{{").replace("}", "}}")
        if not defined:
            return self.spark.sql(text)
        return self.spark.sql(_with_tables(escaped, defined), **arguments)

    def _apart_from_caches(self, frame: DataFrame) -> DataFrame:
        """The same rows by a plan that nobody has cached, around the one that somebody may have.

        Spark gives a DataFrame to `sql` as a temporary view, and dropping the view uncaches whatever has the view's
        plan. A filter that is always true changes the plan as Spark compares it; the optimizer removes the filter after
        Spark has put the cached rows into the plan. The name in it makes it a filter of this statement alone, so that
        results of an earlier one that a user has cached stay cached too.
        """
        return frame.where(f"'{self._filter}' IS NOT NULL")

    def find(self, name: str) -> Span | None:
        """Where the query names a table, None if nowhere."""
        span = self._find(name, None)
        return span if self.source.text[span.start : span.end].lower() == name.lower() else None

    def translated(self, sql: str) -> str:
        """SQL of the query's dialect as Spark's; unchanged if they agree."""
        if self.dialect_name == "spark":
            return sql
        try:
            (tree,) = sqlglot.parse(sql, read=self.query_dialect)
            assert tree is not None
            tree = rewrite_from_items(tree, self.dialect_name)
            return tree.sql(dialect="spark", unsupported_level=ErrorLevel.RAISE)
        except UntranslatableItemError as error:
            raise UnsupportedError(
                "REX301", f"{error} cannot be translated from {self.dialect_name} to spark", self.source, Span(0, 1),
                hint="make the rows with Spark, and give the DataFrame",
                command_hint="write the rows to a file first, and give that with --table NAME=PATH",
            ) from error
        except SqlglotError as error:
            raise UnsupportedError(
                "REX301", f"the SQL around MATCH_RECOGNIZE cannot be translated from {self.dialect_name} to spark",
                self.source, Span(0, 1), notes=(str(error).split("\n")[0],),
            ) from error

    def time_zone(self) -> str:
        """The session's time zone."""
        return str(self.spark.conf.get("spark.sql.session.timeZone"))

    def types_of(self, texts: Sequence[str], span: Span | None) -> list[str]:
        """Spark's types of expressions that read nothing."""
        schema = self.analyzed(f"SELECT {', '.join(texts)}", span).schema
        return [field.dataType.simpleString() for field in schema]

    def has_ansi_rules(self) -> bool:
        """Whether the session has, whatever the query's dialect."""
        return str(self.spark.conf.get("spark.sql.ansi.enabled")).lower() == "true"

    def is_ansi(self) -> bool:
        """Whether the session's arithmetic fails rather than give NULL; other dialects have their own rules."""
        is_spark = self.dialect_name.startswith(("spark", "databricks"))
        return not is_spark or self.has_ansi_rules()

    def prefix(self, text: str) -> str:
        """A WITH clause in Spark's dialect. Only a whole statement can be translated."""
        return re.sub(r"SELECT 1\s*\Z", "", self.translated(f"{text}SELECT 1")) if text else ""

    def table_columns(self, name: str) -> frozenset[str] | None:
        """Column names of a known DataFrame or table in lower case."""
        for known, frame in self.frames.items():
            if known.lower() == name.lower():
                return frozenset(column.lower() for column in frame.columns)
        try:
            return frozenset(column.lower() for column in self.spark.table(quoted(name)).columns)
        except PySparkException:
            return None

    def session_variable(self, name: str) -> exp.DataType | None:
        """The type of a variable of the session, None if it has none of that name."""
        if name not in self._variables:
            try:
                (column,) = self.analyzed(f"SELECT system.session.{quoted(name)}", None).schema
                self._variables[name] = spark_type(column.dataType.simpleString())
            except RexError:
                self._variables[name] = None
        return self._variables[name]

    def converted(self, error: PySparkException, span: Span | None, sent: str = "") -> RexError:
        """Spark's error as ours, at the place in the query that caused it; `sent` is the SQL that it is about."""
        condition = condition_of(error)
        parameters = error.getMessageParameters() or {}
        message = next((line for line in str(error).split("\n") if line.strip()), "")
        message = re.sub(r"^\[[^\]]*\]\s*", "", message).split(" SQLSTATE")[0]
        name = next((value.strip("`") for key, value in parameters.items() if key in _NAMES), "")
        name = name.split(".")[-1].strip("`")
        place = self._find(name, span)
        if "Streaming query is not allowed in subquery" in message:
            return stream_error(self.source, place, "a table of a subquery")
        if name.startswith("_pyspark_"):  # the view that PySpark makes of a DataFrame, in that DataFrame's session
            given = ", ".join(self.frames)
            message = f"a DataFrame among {given} belongs to another Spark session"
            return AnalysisError("REX203", message, self.source, place, hint="use DataFrames of one session")
        if isinstance(error, ParseException):
            stopped = self._syntax_place(error, sent) if span is None else None
            return ParseError("REX101", message, self.source, stopped or place)
        for prefix, (code, _) in _CODES.items():
            if condition.startswith(prefix):
                hint = nearest(name, self.frames) if code == "REX203" else None
                files = f"name its files: --table {name}=PATH" if code == "REX203" else None
                return AnalysisError(code, message, self.source, place, hint=hint, command_hint=hint or files)
        if isinstance(error, AnalysisException):
            return AnalysisError("REX214", message, self.source, place)
        return ExecutionError("REX404", message, self.source, place)

    def _syntax_place(self, error: ParseException, sent: str) -> Span | None:
        """Where Spark's parser stopped. What it read may have common table expressions in front of the text sent."""
        found = re.search(r"line (\d+), pos (\d+)", str(error))
        read = re.search(r"== SQL ==\n(.*)", str(error), re.DOTALL)
        if found is None or read is None:
            return None
        shown = [line for line in read.group(1).split("\n") if not re.fullmatch(r"-*\^+", line)]
        line, column = int(found[1]), int(found[2])
        if line > len(shown) or line < 1:
            return None
        rest = "\n".join([shown[line - 1][column:], *shown[line:]]).rstrip()
        offset = sent.rstrip().rfind(rest) if rest else -1
        if offset < 0:
            return None
        return self.source.place_in(sent, *Source(sent).position(offset))

    def _find(self, name: str, span: Span | None) -> Span:
        low, high = (span.start, span.end) if span is not None else (0, len(self.source.text))
        pattern = rf"(?<!\w){re.escape(name)}(?!\w)"
        found = re.search(pattern, self.source.text[low:high], re.IGNORECASE) if name else None
        if found is None:
            return span or Span(0, min(1, len(self.source.text)))
        return Span(low + found.start(), low + found.end())


class AggregateNames:
    """Names of aggregates of a session, in lower case: Spark's own, and those that a user has registered."""

    def __init__(self, host: SparkHost) -> None:
        self._host = host
        self._known: dict[object, bool] = {}

    def __contains__(self, name: object) -> bool:
        if name in AGGREGATE_NAMES:
            return True
        if name not in self._known:
            self._known[name] = isinstance(name, str) and name not in function_names() and self._is_registered(name)
        return self._known[name]

    def _is_registered(self, name: str) -> bool:
        """Whether Spark says that it is an aggregate, which no key can be."""
        try:
            self._host.analyzed(f"SELECT 1 FROM (SELECT 1 AS a) GROUP BY {quoted(name)}(a)", None)
        except RexError as error:
            cause = error.__cause__
            return isinstance(cause, PySparkException) and "GROUP_BY_AGGREGATE" in condition_of(cause)
        return False


_NAMES = ("relationName", "objectName", "routineName", "functionName")


def _tables_of(text: str) -> set[str] | None:
    """The names in the places of tables, in lower case; None if it cannot be told."""
    try:
        trees = sqlglot.parse(text, read="spark")
    except SqlglotError:
        return None
    return {table.name.lower() for tree in trees if tree is not None for table in tree.find_all(exp.Table)}


def _with_tables(text: str, tables: list[str]) -> str:
    """The query with common table expressions in front of its own, after what is to be done with its rows."""
    tokens = tokenize(Source(text), find_dialect("spark"))
    if start := query_start(tokens):
        head, query = text[: tokens[start].start], text[tokens[start].start :]
        return f"{head}{_with_tables(query, tables)}"
    listed = ", ".join(tables)
    found = re.match(r"\s*WITH(\s+RECURSIVE)?\s", text, re.IGNORECASE)
    if found is None:
        return f"WITH {listed} {text}"
    return f"{text[: found.end()]}{listed}, {text[found.end() :]}"


def spark_type(text: str) -> exp.DataType:
    """sqlglot's type of a Spark type name."""
    try:
        return exp.DataType.build(text, dialect="spark")
    except SqlglotError:
        return exp.DataType.build("UNKNOWN")


AGGREGATE_NAMES = frozenset({
    "any", "any_value", "approx_count_distinct", "approx_percentile", "array_agg", "avg", "bit_and", "bit_or",
    "bit_xor", "bool_and", "bool_or", "collect_list", "collect_set", "corr", "count", "count_if", "covar_pop",
    "covar_samp", "every", "first_value", "histogram_numeric", "kurtosis", "last_value", "listagg", "max", "max_by",
    "mean", "median", "min", "min_by", "mode", "percentile", "percentile_approx", "percentile_cont",
    "percentile_disc", "regr_avgx", "regr_avgy", "regr_count", "regr_intercept", "regr_r2", "regr_slope",
    "regr_sxx", "regr_sxy", "regr_syy", "skewness", "some", "std", "stddev", "stddev_pop", "stddev_samp",
    "string_agg", "sum", "try_avg", "try_sum", "var_pop", "var_samp", "variance",
})
"""Spark's aggregate functions by name."""

