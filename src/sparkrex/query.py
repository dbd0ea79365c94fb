"""A query of any language, parsed once: what `rex.compile`, `rex.match` and `rex.events` give.

The engine is loaded when the first query is made, so that importing the package stays cheap.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from typing import TYPE_CHECKING, Any, TypeVar, overload

from sparkrex.errors import UnsupportedError
from sparkrex.faults import faults_reported

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from sparkrex.explanation import Explanation
    from sparkrex.pipeline import ParsedQuery
    from sparkrex.reasons.answer import Why
    from sparkrex.settings import Settings

Frame = TypeVar("Frame", "pd.DataFrame", "pl.DataFrame", "pa.Table")
"""Tables in memory whose kind the result has. Spark's are not among them: where a type checker does not know one of
these libraries it takes all for Any, and a DataFrame of Spark's would be lost with them."""


class Query:
    """A query parsed once. Call it with tables, as often as needed.

    A statement's tables are keyword arguments, or a mapping of names; one table alone is the one that it reads. The
    query of `rex.match` or `rex.events` reads one table, which has no name, so it can be part of a chain:
    `frame.transform(query)` on Spark, `frame.pipe(query)` in pandas and polars.

    >>> import pyarrow as pa, sparkrex as rex
    >>> longest = rex.compile("SELECT max(n) AS n FROM t MATCH_RECOGNIZE ("
    ...                       "ORDER BY x MEASURES COUNT(*) AS n PATTERN (A B*) DEFINE B AS x = PREV(x) + 1)")
    >>> [longest(t=pa.table({"x": x})).to_pylist() for x in ([1, 2, 4], [1, 2, 3])]
    [[{'n': 2}], [{'n': 3}]]
    """

    # `keyword` and `options` are for a clause of its own: its language, and what the call says of its input.

    def __init__(
        self, text: str, dialect: str, settings: Settings, *, keyword: str | None = None, options: Any = None,
        args: Any = None,
    ) -> None:
        from sparkrex.pipeline import parse_bound, reads_parameters

        self.text = text
        self.dialect = dialect
        self.settings = settings
        self._keyword = keyword
        self._options = options
        # Values known from the start are there while it is parsed: then they may stand where only a constant can.
        self._has_values = args is not None
        with faults_reported(text):
            self._parsed: ParsedQuery = parse_bound(text, dialect, keyword, options, args)
            self._has_parameters = not self._has_values and reads_parameters(text, dialect)

    @overload
    def __call__(self, /, *, args: Any = None, spark: None = None) -> pa.Table: ...
    @overload
    def __call__(
        self, tables: object = None, /, *, args: Any = None, spark: SparkSession, **named: object
    ) -> DataFrame: ...
    @overload
    def __call__(
        self, tables: DataFrame | Mapping[str, DataFrame] | None = None, /, *, args: Any = None, spark: None = None,
        **named: DataFrame,
    ) -> DataFrame: ...
    @overload
    def __call__(
        self, tables: Frame | Mapping[str, Frame] | None = None, /, *, args: Any = None, spark: None = None,
        **named: Frame,
    ) -> Frame: ...
    @overload
    def __call__(
        self, tables: object = None, /, *, args: Any = None, spark: SparkSession | None = None, **named: object
    ) -> Any: ...
    def __call__(self, tables: Any = None, /, *, args: Any = None, spark: Any = None, **named: Any) -> Any:
        """The result over these tables.

        If Spark is involved it is a lazy Spark DataFrame. Else all pandas give pandas, with Arrow's dtypes, all polars
        give polars, and anything else gives a pyarrow table. `args` are the values of parameters: a mapping for
        `:name`, a list for `?`.
        """
        from sparkrex.columns.results import result_library, to_library
        from sparkrex.pipeline import run_query

        parsed, given = self._bound(args), self._name_tables_of_call(tables, named)
        if _is_on_spark(given, spark):
            from sparkrex.spark.batch import run_on_spark

            on_spark = _for_spark(given)
            with faults_reported(self.text):
                return run_on_spark(parsed, on_spark, spark, self.settings)
        library = result_library(given.values())
        arrow = _in_memory(given)
        with faults_reported(self.text):
            return to_library(run_query(parsed, arrow, self.settings), library)

    def reader(self, tables: Any = None, /, *, args: Any = None, **named: Any) -> pa.RecordBatchReader:
        """The result of a query in memory as a stream of Arrow's record batches.

        Where the statement is the relation itself (`SELECT * FROM t MATCH_RECOGNIZE (...)`, or a clause alone), batches
        come as they are decided, and only a part of the result is in memory.

        >>> import pyarrow as pa, sparkrex as rex
        >>> query = rex.match("ORDER BY x MEASURES COUNT(*) AS n PATTERN (A+)")
        >>> [batch.num_rows for batch in query.reader(pa.table({"x": [1, 2, 3]}))]
        [1]
        """
        import pyarrow

        from sparkrex.pipeline import read_query

        parsed, given = self._bound(args), self._name_tables_of_call(tables, named)
        _refuse_spark(given, None, "reader()", "a DataFrame has toLocalIterator() and, from Spark 4, toArrow()")
        arrow = _in_memory(given)
        with faults_reported(self.text):
            reader = read_query(parsed, arrow, self.settings)
        return pyarrow.RecordBatchReader.from_batches(reader.schema, _guard_batches(reader, self.text))

    def buffer(self, tables: Any = None, /, *, args: Any = None, **named: Any) -> pa.Table:
        """The matches of an event query in memory as the buffer that they share, for `rex.decompress`.

        >>> import pyarrow as pa, sparkrex as rex
        >>> stream = pa.table({"ts": [1, 2, 3], "kind": ["A", "B", "B"]})
        >>> pairs = rex.events("PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b)", time="ts", type="kind")
        >>> rex.decompress(pairs.buffer(stream)).column("ts").to_pylist()
        [1, 2, 1, 3]
        """
        from sparkrex.pipeline import buffer_query

        parsed, given = self._bound(args), self._name_tables_of_call(tables, named)
        _refuse_spark(given, None, "buffer()", "RETURN what you need of each match")
        arrow = _in_memory(given)
        with faults_reported(self.text):
            return buffer_query(parsed, arrow, self.settings)

    def explain(
        self, tables: Any = None, /, *, args: Any = None, spark: Any = None, analyze: bool = False, **named: Any
    ) -> Explanation:
        """The plan over these tables, with Spark's own plan under it if Spark is involved.

        `analyze` runs the query and adds actual rows and timings. On Spark the workers run each pattern alone: what
        they find is counted and goes nowhere, and the statement around is not run.
        """
        from sparkrex.explanation import explain_relations
        from sparkrex.pipeline import explain_query

        parsed, given = self._bound(args), self._name_tables_of_call(tables, named)
        statement = parsed.statement
        is_bare = statement.bare_relation is not None
        if _is_on_spark(given, spark):
            from sparkrex.spark.batch import explain_on_spark, physical_plan

            on_spark = _for_spark(given)
            with faults_reported(self.text):
                found, frame = explain_on_spark(parsed, on_spark, spark, self.settings, analyze=analyze)
                return explain_relations(
                    found, "spark", statement.host_sql, is_bare=is_bare, host_plan=physical_plan(frame),
                    rewritten=parsed.rewritten(),
                )
        arrow = _in_memory(given)
        with faults_reported(self.text):
            explained = explain_query(parsed, arrow, self.settings, analyze=analyze)
            return explain_relations(
                explained, "duckdb", statement.host_sql, is_bare=is_bare, rewritten=parsed.rewritten()
            )

    def columns(
        self, tables: Any = None, /, *, args: Any = None, spark: Any = None, **named: Any
    ) -> list[tuple[str, str]]:
        """The columns of the result over these tables, with their types: the query is analysed, and not run.

        >>> import pyarrow as pa, sparkrex as rex
        >>> rex.match("ORDER BY x MEASURES COUNT(*) AS n PATTERN (A+)").columns(pa.table({"x": [1, 2]}))
        [('n', 'BIGINT')]
        """
        from sparkrex.pipeline import describe_query

        parsed, given = self._bound(args), self._name_tables_of_call(tables, named)
        if _is_on_spark(given, spark):
            from sparkrex.spark.batch import explain_on_spark

            on_spark = _for_spark(given)
            with faults_reported(self.text):
                _, frame = explain_on_spark(parsed, on_spark, spark, self.settings)
                return [(field.name, field.dataType.simpleString().upper()) for field in frame.schema]
        arrow = _in_memory(given)
        with faults_reported(self.text):
            return describe_query(parsed, arrow, self.settings)

    def bound_in_memory(
        self, tables: Any, named: Mapping[str, object], args: Any, what: str
    ) -> tuple[ParsedQuery, dict[str, Any]]:
        """The parsed query with the values of a call, and its tables as Arrow. On Spark there is no `what`."""
        parsed, given = self._bound(args), self._name_tables_of_call(tables, named)
        _refuse_spark(given, None, what, "collect what it should show: frame.where(...).toArrow(), or toPandas()")
        return parsed, _in_memory(given)

    def why(
        self, tables: Any = None, /, *, key: Mapping[str, Any] | None = None, at: Any = None, args: Any = None,
        spark: Any = None, limit: int = 1_000_000, **named: Any,
    ) -> Why:
        """Why the pattern of the query did not match, in the rows of a key. See `rex.why`."""
        from sparkrex.pipeline import why_query
        from sparkrex.reasons.asked import Asked

        if key is not None and not isinstance(key, Mapping):
            raise TypeError(f"key= is a {key.__class__.__name__}, not a mapping of names to values")
        parsed, given, asked = self._bound(args), self._name_tables_of_call(tables, named), Asked(key, at)
        if _is_on_spark(given, spark):
            from sparkrex.spark.why import why_on_spark

            on_spark = _for_spark(given)
            with faults_reported(self.text):
                return why_on_spark(parsed, on_spark, spark, self.settings, asked, limit)
        arrow = _in_memory(given)
        with faults_reported(self.text):
            return why_query(parsed, arrow, self.settings, asked)

    def drain(
        self, checkpoint: str, tables: Any = None, /, *, args: Any = None, spark: Any = None, **named: Any
    ) -> DataFrame:
        """What the end of its streams decides, of a streaming query that has stopped. See `rex.drain`."""
        parsed, given = self._bound(args), self._name_tables_of_call(tables, named)
        if not _is_on_spark(given, spark):
            raise TypeError("drain() needs the streaming DataFrames that the query was started with")
        from sparkrex.spark.batch import run_on_spark

        on_spark = _for_spark(given)
        with faults_reported(self.text):
            return run_on_spark(parsed, on_spark, spark, self.settings, str(checkpoint))

    def with_settings(self, settings: Settings) -> Query:
        """The same query under other settings; nothing is parsed again."""
        other = copy(self)
        other.settings = settings
        return other

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the tables that a statement reads; a clause alone has a table without a name.

        >>> import sparkrex as rex
        >>> rex.compile("SELECT * FROM t JOIN u ON t.x = u.x").tables
        ('t', 'u')
        """
        from sparkrex.pipeline import table_names

        return () if self._keyword is not None else table_names(self._parsed)

    @property
    def has_segments(self) -> bool:
        """Whether a segment search is in it."""
        return "segments" in self._parsed.modes()

    def _bound(self, args: Any) -> ParsedQuery:
        """The query with the values of its parameters; without any it must have none."""
        from sparkrex.pipeline import check_matcher, parse_bound

        with faults_reported(self.text):
            if args is None or (not args and hasattr(args, "__len__")):
                args = () if self._has_parameters else None
            parsed = self._parsed
            if args is not None:
                parsed = parse_bound(self.text, self.dialect, self._keyword, self._options, args)
            check_matcher(parsed, self.settings)
        return parsed

    def _name_tables_of_call(self, tables: Any, named: Mapping[str, object]) -> dict[str, Any]:
        """All tables of a call by name; one that has none is the one that the query reads."""
        from sparkrex.pipeline import INPUT, name_single_table, name_tables

        if self._keyword is not None:
            if named:
                raise TypeError(f"{next(iter(named))}= is one table too many: the query reads one, which has no name")
            if tables is None:
                raise TypeError("the query reads one table, and none is given")
            return {INPUT: tables}
        if tables is None or isinstance(tables, Mapping):
            return name_tables(tables, named)
        return name_tables(name_single_table(self._parsed, tables), named)

    def __str__(self) -> str:
        patterns = "; ".join(self._parsed.patterns()) or "no pattern"
        return f"{self.text.strip()}\n-- {self.dialect}; {patterns}"

    def __repr__(self) -> str:
        return f"<Query {' '.join(self.text.split())!r} in {self.dialect}>"


def _is_on_spark(given: Mapping[str, object], spark: object) -> bool:
    from sparkrex.columns.inputs import check_session, is_spark

    check_session(spark)
    return spark is not None or any(is_spark(value) for value in given.values())


def _refuse_spark(given: Mapping[str, object], spark: object, what: str, hint: str) -> None:
    if _is_on_spark(given, spark):
        raise UnsupportedError("REX301", f"{what} is for queries in memory", None, None, hint=hint)


def _in_memory(given: Mapping[str, Any]) -> dict[str, Any]:
    """The tables as Arrow; a mistake in them is the user's, so it is found outside of `faults_reported`."""
    from sparkrex.columns.inputs import to_arrow
    from sparkrex.pipeline import INPUT

    return {name: to_arrow("" if name == INPUT else name, value) for name, value in given.items()}


def _for_spark(given: Mapping[str, Any]) -> dict[str, Any]:
    """The tables for Spark, which reads paths by itself."""
    from sparkrex.pipeline import INPUT
    from sparkrex.spark.files.opening import table_for_spark

    return {name: table_for_spark("" if name == INPUT else name, value) for name, value in given.items()}


def _guard_batches(reader: pa.RecordBatchReader, text: str) -> Iterator[pa.RecordBatch]:
    """The batches; most of the work is done, and may fail, while they are read."""
    with faults_reported(text):
        yield from reader
