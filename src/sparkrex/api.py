"""The public functions. The engine is loaded when the first query runs, so that importing the package stays cheap."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any, overload

from sparkrex.errors import AnalysisError, InternalError, ParseError, RexError, UnsupportedError
from sparkrex.settings import Settings, make_settings
from sparkrex.source import Source, Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    from sparkrex.explanation import Explanation
    from sparkrex.modes.events.language.syntax import EventOptions
    from sparkrex.pipeline import ParsedQuery

_CLAUSE_TABLE = "rex_input"
_WHOLE_CLAUSE = re.compile(r"(?:\s|--[^\n]*\n|/\*.*?\*/)*MATCH_RECOGNIZE\s*\(", re.IGNORECASE | re.DOTALL)


class CompiledQuery:
    """A query cut and parsed once. Call it with tables, as often as needed."""

    def __init__(
        self, text: str, dialect: str, settings: Settings, event_options: EventOptions | None = None, args: Any = None
    ) -> None:
        from sparkrex.pipeline import parse_bound

        self.text = text
        self.dialect = dialect
        self.settings = settings
        self._event_options = event_options
        # Values known from the start stand in the query while it is parsed: then they may stand anywhere.
        self._args = args
        with _faults_reported(self.text):
            self._parsed: ParsedQuery = parse_bound(text, dialect, event_options, args)

    def __call__(self, tables: Any = None, /, *, args: Any = None, spark: Any = None, **named: object) -> Any:
        """The result over these tables: a Spark DataFrame if Spark is involved, else a pyarrow table.

        `args` are the values of parameters: a mapping for `:name`, a list for `?`.
        """
        from sparkrex.columns.inputs import is_spark, to_arrow
        from sparkrex.pipeline import run_query

        parsed, everything = self._bound(args), self._named(tables, named)
        if spark is not None or any(is_spark(value) for value in everything.values()):
            from sparkrex.spark.batch import run_on_spark

            tables = {name: value if is_spark(value) else to_arrow(name, value) for name, value in everything.items()}
            with _faults_reported(self.text):
                return run_on_spark(parsed, tables, spark, self.settings)
        arrow = {name: to_arrow(name, value) for name, value in everything.items()}
        with _faults_reported(self.text):
            return run_query(parsed, arrow, self.settings)

    def _bound(self, args: Any) -> ParsedQuery:
        """The query with the values of its parameters; without any it must have none."""
        from sparkrex.pipeline import parse_bound

        if args is None and (self._args is not None or not re.search("[:?]", self.text)):
            return self._parsed
        with _faults_reported(self.text):
            return parse_bound(self.text, self.dialect, self._event_options, () if args is None else args)

    def _named(self, tables: Any, named: Mapping[str, object]) -> dict[str, Any]:
        """All tables of a call by name; one that has none is the one that the query reads."""
        from sparkrex.pipeline import name_single_table, name_tables

        if tables is None or isinstance(tables, Mapping):
            return name_tables(tables, named)
        return name_tables(name_single_table(self._parsed, tables), named)

    def compressed(
        self, tables: Any = None, /, *, args: Any = None, spark: Any = None, **named: object
    ) -> pa.Table:
        """The matches of an event query in memory as the buffer that they share; see `decompress`."""
        from sparkrex.columns.inputs import is_spark, to_arrow
        from sparkrex.pipeline import compress_query

        parsed, everything = self._bound(args), self._named(tables, named)
        if spark is not None or any(is_spark(value) for value in everything.values()):
            raise UnsupportedError(
                "REX301", "compressed=True is for streams in memory", None, None,
                hint="on Spark, RETURN what you need of each match",
            )
        arrow = {name: to_arrow(name, value) for name, value in everything.items()}
        with _faults_reported(self.text):
            return compress_query(parsed, arrow, self.settings)

    def reader(self, tables: Any = None, /, *, args: Any = None, **named: object) -> pa.RecordBatchReader:
        """The result of an in-memory query as a stream of record batches."""
        return self(tables, args=args, **named).to_reader()

    def explain(
        self, tables: Any = None, /, *, args: Any = None, spark: Any = None, analyze: bool = False, **named: object,
    ) -> Explanation:
        """The plan over these tables, with Spark's own plan under it if Spark is involved.

        `analyze` runs the query in memory and adds what was found and how long every stage and operator took.
        """
        from sparkrex.columns.inputs import is_spark, to_arrow
        from sparkrex.explanation import explain_relations
        from sparkrex.pipeline import explain_query

        parsed, everything = self._bound(args), self._named(tables, named)
        statement = parsed.statement
        is_bare = statement.bare_relation is not None
        if spark is not None or any(is_spark(value) for value in everything.values()):
            from sparkrex.spark.batch import explain_on_spark, physical_plan

            if analyze:
                raise UnsupportedError(
                    "REX301", "analyze=True is for queries in memory", None, None,
                    hint="Spark's own interface shows the time of every stage",
                )
            tables = {name: value if is_spark(value) else to_arrow(name, value) for name, value in everything.items()}
            with _faults_reported(self.text):
                found, frame = explain_on_spark(parsed, tables, spark, self.settings)
                return explain_relations(
                    found, "spark", statement.host_sql, is_bare=is_bare, host_plan=physical_plan(frame)
                )
        arrow = {name: to_arrow(name, value) for name, value in everything.items()}
        with _faults_reported(self.text):
            explained = explain_query(parsed, arrow, self.settings, analyze=analyze)
            return explain_relations(explained, "duckdb", statement.host_sql, is_bare=is_bare)

    @property
    def has_segments(self) -> bool:
        """Whether a segment search is in it."""
        return "segments" in self._parsed.modes()

    def __str__(self) -> str:
        patterns = "; ".join(self._parsed.patterns()) or "no MATCH_RECOGNIZE"
        return f"{self.text.strip()}\n-- {self.dialect}; {patterns}"

    def __repr__(self) -> str:
        return f"CompiledQuery({self.text!r}, dialect={self.dialect!r})"


def compile(
    query: str, /, *, dialect: str = "spark", settings: Settings | Mapping[str, Any] | None = None
) -> CompiledQuery:
    """Parse a query once, to run it many times."""
    return CompiledQuery(_text("the query", query), _text("dialect=", dialect).lower(), make_settings(settings))


def sql(
    query: str, /, tables: Any = None, *, args: Any = None, dialect: str = "spark", spark: object = None,
    planner: str | None = None, settings: Settings | Mapping[str, Any] | None = None, **named: object,
) -> Any:
    """Run SQL with MATCH_RECOGNIZE, on Spark or in memory.

    Tables are keyword arguments, or go into `tables` under any name: Spark DataFrames, pyarrow tables, readers and
    datasets, pandas and polars frames, paths to Parquet or CSV files. A Spark DataFrame, or `spark=` for the tables of
    a session's catalog, gives a lazy Spark DataFrame; else the result is a pyarrow table. A table without a name is the
    one that the query reads. `args` are the values of parameters: a mapping for `:name`, a list for `?`. `planner` is
    for segment searches: `optimizer`, which is the default, or one that goes by rules, such as `sm_left`.

    >>> import sparkrex as rex
    >>> rex.sql("SELECT * FROM (VALUES (1), (2)) AS t(x) MATCH_RECOGNIZE ("
    ...         "ORDER BY x MEASURES COUNT(*) AS n PATTERN (A+) DEFINE A AS x > 0)").to_pylist()
    [{'n': 2}]
    """
    return _planned(query, dialect, planner, settings, args)(tables, spark=spark, **named)


def explain(
    query: str, /, tables: Any = None, *, args: Any = None, dialect: str = "spark", spark: object = None,
    planner: str | None = None, analyze: bool = False, settings: Settings | Mapping[str, Any] | None = None,
    **named: object,
) -> Explanation:
    """The plan of a query as a tree: the matcher, why, and why not the others.

    Of a segment search: every rewriting step, the logical plan, the physical plan with its estimates. `analyze=True`
    runs the query and adds what was found and how long every stage and operator took.
    """
    return _planned(query, dialect, planner, settings, args).explain(tables, spark=spark, analyze=analyze, **named)


def match(
    clause: str, /, *, args: Any = None, dialect: str = "spark", settings: Settings | Mapping[str, Any] | None = None
) -> Callable[[Any], Any]:
    """A function from a table or Spark DataFrame to its matches.

    `clause` is `MATCH_RECOGNIZE (...)`, or what stands between its parentheses; `args` are values of its parameters.

    >>> import pyarrow as pa, sparkrex as rex
    >>> rex.match("ORDER BY x MEASURES COUNT(*) AS n PATTERN (A+)")(pa.table({"x": [1, 2, 3]})).to_pylist()
    [{'n': 3}]
    """
    is_whole = _WHOLE_CLAUSE.match(_text("the clause", clause)) is not None
    if found := re.match(r"\s*(SELECT|WITH)\b", clause, re.IGNORECASE):
        raise ParseError(
            "REX101", "rex.match takes a clause, and this is a statement", Source(clause), Span(*found.span(1)),
            hint="rex.sql runs statements",
        )
    text = f"SELECT * FROM {_CLAUSE_TABLE} " + (clause if is_whole else f"MATCH_RECOGNIZE ({clause}\n)")
    compiled = CompiledQuery(text, _text("dialect=", dialect).lower(), make_settings(settings), args=args)

    def matched(table: Any) -> Any:
        """The matches in one table."""
        return compiled({_CLAUSE_TABLE: table})

    return matched


def events(
    query: str, stream: Any, /, *, time: str, type: str | None = None, types: Mapping[str, str] | None = None,
    tie_break: str | Sequence[str] = (), ties: str = "order", compressed: bool = False, args: Any = None,
    dialect: str = "spark", spark: object = None, settings: Settings | Mapping[str, Any] | None = None,
) -> Any:
    """Find the matches of an event pattern in a stream, on Spark or in memory.

    `stream` is a table as `sql` takes it, and `time` its column by which events follow each other; `tie_break` names
    columns that order events of the same time. `ties="strict"` means that of those none follows another. An event's
    type is the value of the column `type`, or has a condition in `types`. `compressed=True` gives the buffer that all
    matches share, as a table of pointers, for `decompress`.

    >>> import pyarrow as pa, sparkrex as rex
    >>> ticks = pa.table({"ts": [1, 2, 3], "kind": ["A", "X", "B"]})
    >>> query = "PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) RETURN a.ts AS first, b.ts AS last"
    >>> rex.events(query, ticks, time="ts", type="kind").to_pylist()
    [{'first': 1, 'last': 3}]
    """
    compiled = _compiled_events(query, time, type, types, tie_break, ties, dialect, settings, args)
    return (compiled.compressed if compressed else compiled)(_stream(stream), spark=spark)


def explain_events(
    query: str, stream: Any, /, *, time: str, type: str | None = None, types: Mapping[str, str] | None = None,
    tie_break: str | Sequence[str] = (), ties: str = "order", args: Any = None, dialect: str = "spark",
    spark: object = None, analyze: bool = False, settings: Settings | Mapping[str, Any] | None = None,
) -> Explanation:
    """The plan of an event query: the automaton with the formula of every edge, and how many runs there may be.

    `analyze=True` runs the query and adds what was found and how long every stage took.
    """
    compiled = _compiled_events(query, time, type, types, tie_break, ties, dialect, settings, args)
    return compiled.explain(_stream(stream), spark=spark, analyze=analyze)


def decompress(buffer: pa.Table, /) -> pa.Table:
    """The matches in what `events(..., compressed=True)` gave: one row per event, as RETURN EVENTS shows them."""
    import pyarrow

    from sparkrex.modes.events.buffer import decompress_events

    if not isinstance(buffer, pyarrow.Table):
        raise TypeError(f"the buffer is a {buffer.__class__.__name__}, not a pyarrow table")
    return decompress_events(buffer)


@overload
def aggregate(definition: type, /) -> type: ...
@overload
def aggregate(*, name: str | None = None, cost: Any = "linear") -> Callable[[type], type]: ...
def aggregate(definition: type | None = None, /, *, name: str | None = None, cost: Any = "linear") -> Any:
    """Register a class as an aggregate over segments, and profile it.

    `scan(self, x, ...)` takes the values of one segment, an array for each column, rows with a NULL left out, and gives
    a number or None. With `index(self, x, ...)`, over whole columns, and `lookup(self, index, start, end)`, over arrays
    of segments, first and last rows as positions in those columns, segments share work. `cost` says how the time of
    `scan` grows with the segment: constant, linear or quadratic.
    """
    from sparkrex.modes.segments.aggregates import registry
    from sparkrex.syntax.scalar_text import is_scalar_function

    if definition is not None and not isinstance(definition, type):
        raise TypeError("rex.aggregate takes a class with a method scan(self, x, ...)")

    def register(definition: type) -> type:
        # A query that calls it means the function of SQL.
        if is_scalar_function(name or definition.__name__):
            raise ValueError(f"{name or definition.__name__} is a function of SQL")
        return registry.aggregate(name=name, cost=cost)(definition)

    return register if definition is None else register(definition)


def register_table_function(spark: Any, name: str = "match_recognize") -> None:
    """Register the table function `name(TABLE(t), 'clause')` in a Spark session, for clients that have SQL only."""
    from sparkrex.spark.versions import need_version

    need_version((4, 0), "the table function")  # whose module cannot be imported before
    from sparkrex.spark import table_function

    table_function.register_table_function(spark, name)


@contextmanager
def _faults_reported(text: str) -> Iterator[None]:
    """Inside, where all input is checked, anything unexpected is a fault of ours, and is said to be one."""
    try:
        yield
    except (RexError, MemoryError, Warning):  # a warning, where the caller has warnings raised
        raise
    except RecursionError as error:
        raise UnsupportedError(
            "REX106", "the query is nested too deeply, or has an expression of hundreds of operators", Source(text),
            _deepest(text),
            hint="compute a part of it in a subquery, use IN for many alternatives, or raise sys.setrecursionlimit",
        ) from error
    except Exception as error:
        # What Spark, or the way to it, says in its own words is no fault of ours: the session has ended.
        if type(error).__module__.split(".")[0] in ("pyspark", "py4j", "grpc"):
            raise
        if "KeyboardInterrupt" in str(error) or str(error) == "Query interrupted":
            # DuckDB met Ctrl-C while it ran, or while it asked Python for a table, and says so in its own way.
            raise KeyboardInterrupt from error
        raise InternalError(
            "REX901", f"{type(error).__name__}: {error}", None, None,
            hint="this is a fault of SparkRex; please report it with the query and the traceback",
        ) from error


def _deepest(text: str) -> Span:
    """Where most parentheses are open."""
    open_now = list(accumulate((letter == "(") - (letter == ")") for letter in text))
    place = open_now.index(max(open_now))
    return Span(place, place + 1)


def _compiled_events(
    query: str, time: str, type: str | None, types: Mapping[str, str] | None, tie_break: str | Sequence[str], ties: str,
    dialect: str, settings: Settings | Mapping[str, Any] | None, args: Any,
) -> CompiledQuery:
    from sparkrex.modes.events.language.syntax import EventOptions

    if ties not in ("order", "strict"):
        raise AnalysisError("REX217", f"unknown ties={ties!r}", None, None, hint='ties="order" or ties="strict"')
    _check_options(time, type, types, tie_break)
    columns = (tie_break,) if isinstance(tie_break, str) else tuple(tie_break)
    options = EventOptions(time, columns, type, types, has_strict_ties=ties == "strict")
    return CompiledQuery(
        _text("the query", query), _text("dialect=", dialect).lower(), make_settings(settings), options, args
    )


def _text(what: str, value: object) -> str:
    """A string given for an argument, or the error of another kind of value."""
    if not isinstance(value, str):
        raise TypeError(f"{what} is a {value.__class__.__name__}, not a string")
    return value


def _check_options(time: object, kind: object, types: object, tie_break: object) -> None:
    """What `rex.events` is told of its stream has the right kinds."""
    _text("time=", time)
    if kind is not None:
        _text("type=", kind)
    if types is not None and not isinstance(types, Mapping):
        raise TypeError(f"types= is a {types.__class__.__name__}, not a mapping of names to conditions")
    for name, condition in (types or {}).items():
        if not isinstance(condition, str):
            raise TypeError(f"types= has a {condition.__class__.__name__} for {name}, not a string")
    is_names = isinstance(tie_break, Sequence) and all(isinstance(name, str) for name in tie_break)
    if not is_names or isinstance(tie_break, bytes):
        raise TypeError(f"tie_break= is a {tie_break.__class__.__name__}, not names of columns")


def _stream(stream: object) -> dict[str, object]:
    """The stream under the name that the engine knows it by; what is no table is called what the user calls it."""
    from sparkrex.columns.inputs import is_spark, to_arrow
    from sparkrex.pipeline import STREAM

    return {STREAM: stream if is_spark(stream) else to_arrow("stream", stream)}


def _planned(
    query: str, dialect: str, planner: str | None, settings: Settings | Mapping[str, Any] | None, args: Any
) -> CompiledQuery:
    """The compiled query; a planner given by name must exist, and have something to plan."""
    text, name, settings = _text("the query", query), _text("dialect=", dialect).lower(), make_settings(settings)
    if planner is None:
        return CompiledQuery(text, name, settings, args=args)
    settings = replace(settings, planner=make_settings({"planner": planner}).planner)
    compiled = CompiledQuery(text, name, settings, args=args)
    if not compiled.has_segments:
        raise AnalysisError(
            "REX217", f"planner {planner!r} has nothing to plan: row patterns need no planner", None, None,
            hint="leave planner= out; it is for segment searches",
        )
    return compiled
