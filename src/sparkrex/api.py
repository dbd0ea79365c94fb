"""The public functions. The engine is loaded when the first query runs, so that importing the package stays cheap.

`sql` runs statements, `match`, `events` and `trends` a clause alone; `compile` and `explain` are for queries of every
language. A *query* is text, or a `Query`, which these functions make of text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, overload

from sparkrex.errors import AnalysisError, ParseError, UnsupportedError
from sparkrex.functions import make_functions
from sparkrex.query import Query
from sparkrex.settings import Settings, make_settings
from sparkrex.source import Source, Span

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from sparkrex.explanation import Explanation
    from sparkrex.pictures.diff import Diff
    from sparkrex.pictures.plot import Plot
    from sparkrex.query import Frame
    from sparkrex.reasons.answer import Why
    from sparkrex.spark.streaming.metrics import Progress
    from sparkrex.workloads.workload import Workload

    GivenSettings = Settings | Mapping[str, Any] | None
    GivenFunctions = Mapping[str, Callable[..., Any]] | None
    Ties = Literal["order", "strict"]
    CountsGiven = Literal["exact", "log", "text"]
    Origin = int | float | Decimal | str | date


def compile(
    query: str | Query, /, *, args: Any = None, dialect: str | None = None, planner: str | None = None,
    settings: GivenSettings = None, functions: GivenFunctions = None,
) -> Query:
    """Parse a statement once, to run it many times.

    Values in `args` are there while it is parsed, so that they may stand where only a constant can, as in WITHIN;
    others are given when the query is called. Of a `Query`, as `match`, `events` and `trends` make them, it gives the
    same one under other settings. `functions` are as for `sql`.

    >>> import sparkrex as rex
    >>> rex.compile("SELECT * FROM t MATCH_RECOGNIZE (ORDER BY x PATTERN (A B+) DEFINE B AS x > PREV(x))")
    <Query 'SELECT * FROM t MATCH_RECOGNIZE (ORDER BY x PATTERN (A B+) DEFINE B AS x > PREV(x))' in spark>
    """
    if isinstance(query, Query):
        if dialect is not None or args is not None:
            raise TypeError(f"{'dialect' if dialect is not None else 'args'}= is for text, and a query is given")
        chosen = query.settings if settings is None else make_settings(settings)
        made = query.with_settings(_with_functions(_with_planner(chosen, planner), functions))
    else:
        chosen = _with_functions(_with_planner(make_settings(settings), planner), functions)
        made = Query(_text(_QUERY, query), _dialect(dialect), chosen, args=args)
    if planner is not None and not made.has_segments:
        raise AnalysisError(
            "REX217", f"planner {planner!r} has nothing to plan: there is no segment search", None, None,
            hint="leave planner= out; it is for segment searches",
        )
    return made


@overload
def sql(
    query: str, /, *, args: Any = None, dialect: str | None = None, spark: None = None, planner: str | None = None,
    settings: GivenSettings = None, functions: GivenFunctions = None,
) -> pa.Table: ...
@overload
def sql(
    query: str, /, tables: object = None, *, args: Any = None, dialect: str | None = None, spark: SparkSession,
    planner: str | None = None, settings: GivenSettings = None, functions: GivenFunctions = None, **named: object,
) -> DataFrame: ...
@overload
def sql(
    query: str, /, tables: DataFrame | Mapping[str, DataFrame] | None = None, *, args: Any = None,
    dialect: str | None = None, spark: None = None, planner: str | None = None, settings: GivenSettings = None,
    functions: GivenFunctions = None, **named: DataFrame,
) -> DataFrame: ...
@overload
def sql(
    query: str, /, tables: Frame | Mapping[str, Frame] | None = None, *, args: Any = None, dialect: str | None = None,
    spark: None = None, planner: str | None = None, settings: GivenSettings = None, functions: GivenFunctions = None,
    **named: Frame,
) -> Frame: ...
@overload
def sql(
    query: str, /, tables: object = None, *, args: Any = None, dialect: str | None = None,
    spark: SparkSession | None = None, planner: str | None = None, settings: GivenSettings = None,
    functions: GivenFunctions = None, **named: object,
) -> Any: ...
def sql(
    query: str, /, tables: Any = None, *, args: Any = None, dialect: str | None = None, spark: Any = None,
    planner: str | None = None, settings: GivenSettings = None, functions: GivenFunctions = None, **named: Any,
) -> Any:
    """Run SQL with MATCH_RECOGNIZE, MATCH_EVENTS, MATCH_TRENDS or the clauses of SQL-TS, on Spark or in memory.

    Tables are keyword arguments, or go into `tables` under any name: Spark DataFrames, pyarrow tables, readers and
    datasets, pandas and polars frames, paths to Parquet, CSV or JSON files. A table without a name is the one that the
    query reads. A Spark DataFrame, or `spark=` for the tables of a session's catalog, gives a lazy Spark DataFrame;
    else all pandas give pandas (with Arrow's dtypes), all polars give polars, and anything else gives a pyarrow table.

    `args` are the values of parameters: a mapping for `:name`, a list for `?`. `dialect` is the SQL that the query is
    written in, Spark's if it is not given. `planner` is for segment searches: `optimizer`, which is the default, or one
    that goes by rules, such as `sm_left`. `functions` are Python functions by the names that the query calls them by,
    with annotations for their types or as PySpark's `udf` makes them; they may be given values of several rows.

    >>> import sparkrex as rex
    >>> rex.sql("SELECT * FROM (VALUES (1), (2)) AS t(x) MATCH_RECOGNIZE ("
    ...         "ORDER BY x MEASURES COUNT(*) AS n PATTERN (A+) DEFINE A AS x > :low)", args={"low": 0}).to_pylist()
    [{'n': 2}]
    """
    compiled = compile(
        _text(_QUERY, query), args=args, dialect=dialect, planner=planner, settings=settings, functions=functions
    )
    return compiled(tables, spark=spark, **named)


def explain(
    query: str | Query, /, tables: Any = None, *, args: Any = None, dialect: str | None = None, spark: Any = None,
    planner: str | None = None, analyze: bool = False, settings: GivenSettings = None,
    functions: GivenFunctions = None, **named: Any,
) -> Explanation:
    """The plan of a query over tables, as a tree: what was chosen, why, and why not the others.

    The query is a statement or a `Query`; tables are given as for `sql`. Of a row pattern it shows the matcher; of a
    segment search every rewriting step, the logical plan, and the physical plan with its estimates; of an event query
    the automaton with the formula of every edge. `analyze=True` runs the query and adds actual rows and timings.

    >>> import pyarrow as pa, sparkrex as rex
    >>> stream = pa.table({"ts": [1, 2, 3], "kind": ["A", "X", "B"]})
    >>> pairs = rex.events("PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b)", time="ts", type="kind")
    >>> print(str(rex.explain(pairs, stream)).splitlines()[0])
    MatchEvents skip_till_next_match, all matches
    """
    if isinstance(query, Query):
        made = compile(query, dialect=dialect, planner=planner, settings=settings, functions=functions)
        return made.explain(tables, args=args, spark=spark, analyze=analyze, **named)
    made = compile(query, args=args, dialect=dialect, planner=planner, settings=settings, functions=functions)
    return made.explain(tables, spark=spark, analyze=analyze, **named)


def plot(
    query: Any, /, tables: Any = None, *, x: str | None = None, y: str | None = None, key: Any = None,
    between: tuple[Any, Any] | None = None, panels: int = 6, title: str | None = None, start: str | None = None,
    end: str | None = None, label: str | None = None, args: Any = None, dialect: str | None = None,
    settings: GivenSettings = None, functions: GivenFunctions = None, **named: Any,
) -> Plot:
    """The matches of a query drawn on its rows; a notebook shows the picture, `save("matches.html")` keeps it.

    The query is a statement or a `Query`, and tables are given as for `sql`, in memory. Each partition is a panel with
    its matches as bands and their variables as colours: the first `panels` of those with matches, or those that `key`
    names, such as `key={"symbol": "AY"}`. `x` and `y` are columns; without them they are what ORDER BY names and the
    first number that DEFINE reads. `between` is a range of x.

    A result can be given in place of the query, with the table that it is of: `start` and `end` are its columns of
    begin and end, `label` what is written on matches, and `key` names the columns of partitions.

    >>> import pyarrow as pa, sparkrex as rex
    >>> ticks = pa.table({"ts": [1, 2, 3, 4], "price": [9.0, 7.0, 6.0, 8.0]})
    >>> rex.plot(rex.match("ORDER BY ts PATTERN (STRT DOWN+) DEFINE DOWN AS price < PREV(price)"), ticks)
    <Plot PATTERN (STRT DOWN+): 1 match>
    """
    from sparkrex.pictures.asked import plot_query, plot_result
    from sparkrex.pictures.from_result import ResultColumns
    from sparkrex.pictures.options import Options

    is_query = isinstance(query, str | Query)
    names = (key,) if isinstance(key, str) else tuple(key) if isinstance(key, list | tuple) else None
    if is_query and (names is not None or start is not None or end is not None or label is not None):
        given = "key= with names" if names is not None else "start=, end= and label="
        raise TypeError(f'{given} are for results; of a query, key={{"symbol": "AY"}} chooses partitions')
    if key is not None and names is None and not isinstance(key, Mapping):
        raise TypeError(f"key= is a {key.__class__.__name__}, not a mapping of keys to values")
    if not isinstance(panels, int) or panels < 1:
        raise AnalysisError("REX217", f"panels={panels!r} is not a number of panels", None, None, hint="from 1 on")
    options = Options(x, y, key if names is None else None, _range(between), panels, title)
    if is_query:
        made = _compiled(query, args, dialect, settings, functions)
        return plot_query(made, tables, named, None if isinstance(query, str) else args, options)
    if named or tables is None:
        raise TypeError("a result is drawn on one table: rex.plot(result, table, start=..., end=...)")
    if names is None and key is not None:
        names = tuple(key)
    return plot_result(query, tables, ResultColumns(start, end, label, names), options)


def diff(
    before: str | Query, after: str | Query, /, tables: Any = None, *, x: str | None = None, y: str | None = None,
    key: Mapping[str, Any] | None = None, between: tuple[Any, Any] | None = None, panels: int = 6,
    title: str | None = None, args: Any = None, dialect: str | None = None, settings: GivenSettings = None,
    functions: GivenFunctions = None, **named: Any,
) -> Diff:
    """Which matches came, went or moved when a query was edited: `table` lists them, and a notebook draws them.

    Both queries search the same tables, with the same PARTITION BY and ORDER BY. Matches are the same if they map the
    same rows to the same variables; one that went and one that came are a moved one if they overlap. The rest is as for
    `plot`.

    >>> import pyarrow as pa, sparkrex as rex
    >>> ticks = pa.table({"ts": [1, 2, 3, 4, 5], "price": [9, 7, 6, 8, 7]})
    >>> text = "ORDER BY ts PATTERN (STRT DOWN{}) DEFINE DOWN AS price < PREV(price)"
    >>> changed = rex.diff(rex.match(text.format("+")), rex.match(text.format("{2,}")), ticks)
    >>> changed.counts, changed.table.to_pylist()[0]["change"]
    ({'same': 1, 'came': 0, 'went': 1, 'moved': 0}, 'went')
    """
    from sparkrex.pictures.diff import diff_queries
    from sparkrex.pictures.options import Options

    options = Options(x, y, key, _range(between), panels, title)
    one, two = (
        (_compiled(query, args, dialect, settings, functions), None if isinstance(query, str) else args)
        for query in (before, after)
    )
    return diff_queries(one, two, tables, named, options)


def regions(
    query: str | Query, /, tables: Any = None, *, x: str | None = None, args: Any = None, dialect: str | None = None,
    settings: GivenSettings = None, functions: GivenFunctions = None, **named: Any,
) -> pa.Table:
    """The matches of a query as `start`, `end` and `label`: a table that Grafana draws as region annotations.

    `start` and `end` are the first and the last value of `x`, which is the column of ORDER BY if it is not given; the
    label is the key of the partition and the number of the match.

    >>> import pyarrow as pa, sparkrex as rex
    >>> ticks = pa.table({"ts": [1, 2, 3, 4], "price": [9.0, 7.0, 6.0, 8.0]})
    >>> rex.regions(rex.match("ORDER BY ts PATTERN (STRT DOWN+) DEFINE DOWN AS price < PREV(price)"), ticks).to_pylist()
    [{'start': 1, 'end': 3, 'label': '#1'}]
    """
    from sparkrex.pictures.regions import regions_of

    made = _compiled(query, args, dialect, settings, functions)
    return regions_of(made, tables, named, None if isinstance(query, str) else args, x)


def _compiled(
    query: str | Query, args: Any, dialect: str | None, settings: GivenSettings, functions: GivenFunctions
) -> Query:
    """A query as it is, for a call with values; or made of a text, with the values of its parameters in it."""
    if isinstance(query, Query):
        return compile(query, dialect=dialect, settings=settings, functions=functions)
    return compile(query, args=args, dialect=dialect, settings=settings, functions=functions)


def _range(between: Any) -> tuple[Any, Any] | None:
    if between is None:
        return None
    if not isinstance(between, tuple | list) or len(between) != 2:
        raise TypeError("between= is a pair: the least and the greatest value of x")
    return between[0], between[1]


def why(
    query: str | Query, /, tables: Any = None, *, key: Mapping[str, Any] | None = None, at: Any = None,
    args: Any = None, dialect: str | None = None, spark: Any = None, limit: int = 1_000_000,
    settings: GivenSettings = None, functions: GivenFunctions = None, **named: Any,
) -> Why:
    """Why a row pattern did not match: what stood in the way of every start, and by how little it was missed.

    Of a segment search it names the smallest parts of the pattern without a segment.

    Query and tables are as for `explain`. `key` names values of PARTITION BY; without it all partitions are looked
    into. `at` asks about one row: its number in the partition, from 1, or its value of the first column of ORDER BY.
    On Spark `key` is needed: the rows of that key are collected, up to `limit` of them, and looked into in memory.

    >>> import pyarrow as pa, sparkrex as rex
    >>> prices = pa.table({"ts": [1, 2, 3, 4], "price": [9.0, 8.0, 8.5, 8.25]})
    >>> clause = "ORDER BY ts PATTERN (DOWN UP UP) DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price)"
    >>> print(rex.why(rex.match(clause), prices, at=2))
    Why (DOWN UP UP) matched nothing:
      4 rows, 0 matches; 4 starts without a match, 0 never tried
      DOWN blocked 50% of the starts; the closest missed by 0.5
      UP blocked 50% of the starts; the closest missed by 0.25
    <BLANKLINE>
    Row 2 (ts = 2) starts no match: 1 more row needed, 1 blocker.
      last and closest: DOWN is row 2, UP is row 3; row 4 is not UP, missed by 0.25
        1 | ORDER BY ts PATTERN (DOWN UP UP) DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price)
                                                                                       ^^^^^ 8.25
                                                                                               ^^^^^^^^^^^ 8.5
    """
    if isinstance(query, Query):
        made = compile(query, dialect=dialect, settings=settings, functions=functions)
        return made.why(tables, key=key, at=at, args=args, spark=spark, limit=limit, **named)
    made = compile(query, args=args, dialect=dialect, settings=settings, functions=functions)
    return made.why(tables, key=key, at=at, spark=spark, limit=limit, **named)


def drain(
    checkpoint: str | Path, query: str | Query, /, tables: Any = None, *, args: Any = None, dialect: str | None = None,
    spark: Any = None, planner: str | None = None, settings: GivenSettings = None, **named: Any,
) -> DataFrame:
    """The rows that a streaming query has not given because only the end of its streams decides them.

    The query has stopped; `checkpoint` is its `checkpointLocation`. Query, tables and settings are those that it was
    started with, the tables as streams. What the query has written and these rows are together the answer over all rows
    that came in time. The checkpoint stays as it is: a query that goes on from it gives these rows again.
    """
    made = compile(query, dialect=dialect, planner=planner, settings=settings) if isinstance(query, Query) else compile(
        query, args=args, dialect=dialect, planner=planner, settings=settings
    )
    return made.drain(str(checkpoint), tables, args=args if isinstance(query, Query) else None, spark=spark, **named)


def state(checkpoint: str | Path, /, *, spark: SparkSession | None = None) -> pa.Table:
    """The open partitions of a streaming query that has stopped: their keys, rows that are kept, what they wait for.

    `rows_held` are held back because a match is undecided, `rows_waiting` have not been searched yet, since the
    watermark has not passed them. `due` is the time up to which the watermark has to come for a partition to be looked
    at again; NULL where only a row of its own can decide anything.
    """
    from sparkrex.spark.streaming.checkpoint import Checkpoint
    from sparkrex.spark.streaming.requirements import active_session

    return Checkpoint(spark or active_session(), str(checkpoint)).open_keys()


def progress(query: StreamingQuery, /) -> Progress:
    """What the newest batches of a streaming query did: `print` shows a line for each, `.batches` has dictionaries.

    Rows in, late rows and rows released by the watermark, result rows; and what is kept: open partitions, rows held
    back, bytes of state, and the time of the oldest row held back.
    """
    from sparkrex.spark.streaming.metrics import Progress

    return Progress(query)


@overload
def matches(result: DataFrame, /) -> DataFrame: ...
@overload
def matches(result: Frame, /) -> Frame: ...
def matches(result: Any, /) -> Any:
    """The matches of a result with side rows: exactly what the query gives without the setting `side_rows`.

    A filter over a DataFrame or a table; on a stream it is meant for `foreachBatch`, so that one query writes matches,
    late rows and failed ones to places of their own.

    >>> import pyarrow as pa, sparkrex as rex
    >>> steps = rex.match("ORDER BY x MEASURES COUNT(*) AS n PATTERN (A+)", settings={"side_rows": True})
    >>> result = steps(pa.table({"x": [1, 2, 3]}))
    >>> result.column_names, rex.matches(result).to_pylist()
    (['n', 'rex_kind', 'rex_row', 'rex_error'], [{'n': 3}])
    """
    from sparkrex.side_parts import matches_of

    return matches_of(result)


@overload
def late(result: DataFrame, /) -> DataFrame: ...
@overload
def late(result: Frame, /) -> Frame: ...
def late(result: Any, /) -> Any:
    """The late rows of a result with side rows, with the columns of the input. Of a table none is late.

    See `matches`.

    >>> import pyarrow as pa, sparkrex as rex
    >>> result = rex.match("ORDER BY x PATTERN (A+)", pa.table({"x": [1, 2]}), settings={"side_rows": True})
    >>> rex.late(result).column_names
    ['x']
    """
    from sparkrex.side_parts import late_of

    return late_of(result)


@overload
def failed(result: DataFrame, /) -> DataFrame: ...
@overload
def failed(result: Frame, /) -> Frame: ...
def failed(result: Any, /) -> Any:
    """The rows of a result with side rows at which a search failed: the columns of the input, and `rex_error`.

    There are some only with the setting `on_error="report"`. See `matches`.

    >>> import pyarrow as pa, sparkrex as rex
    >>> text = "ORDER BY x AFTER MATCH SKIP TO LAST B PATTERN (A B?) DEFINE B AS x > 2"
    >>> result = rex.match(text, pa.table({"x": [1, 2, 3]}), settings={"side_rows": True, "on_error": "report"})
    >>> rex.failed(result).select(["x"]).to_pylist()
    [{'x': 1}, {'x': 3}]
    """
    from sparkrex.side_parts import failed_of

    return failed_of(result)


@overload
def match(
    clause: str, table: None = None, /, *, args: Any = None, dialect: str | None = None, settings: GivenSettings = None,
) -> Query: ...
@overload
def match(
    clause: str, table: object, /, *, args: Any = None, dialect: str | None = None, spark: SparkSession,
    settings: GivenSettings = None,
) -> DataFrame: ...
@overload
def match(
    clause: str, table: DataFrame, /, *, args: Any = None, dialect: str | None = None, spark: None = None,
    settings: GivenSettings = None,
) -> DataFrame: ...
@overload
def match(
    clause: str, table: Frame, /, *, args: Any = None, dialect: str | None = None, spark: None = None,
    settings: GivenSettings = None,
) -> Frame: ...
@overload
def match(
    clause: str, table: object, /, *, args: Any = None, dialect: str | None = None, spark: SparkSession | None = None,
    settings: GivenSettings = None,
) -> Any: ...
def match(
    clause: str, table: Any = None, /, *, args: Any = None, dialect: str | None = None, spark: Any = None,
    settings: GivenSettings = None,
) -> Any:
    """The matches of a MATCH_RECOGNIZE clause in a table; without a table, a `Query` that finds them.

    `clause` is `MATCH_RECOGNIZE (...)`, or what stands between its parentheses. The table is given, and the result
    comes, as with `sql`. On Spark, `frame.transform(rex.match("..."))` reads well in a chain.

    >>> import pyarrow as pa, sparkrex as rex
    >>> table = pa.table({"x": [1, 2, 3]})
    >>> rex.match("ORDER BY x MEASURES COUNT(*) AS n PATTERN (A+)", table).to_pylist()
    [{'n': 3}]
    >>> above = rex.match("ORDER BY x MEASURES COUNT(*) AS n PATTERN (A+) DEFINE A AS x > :low")
    >>> above(table, args={"low": 1}).to_pylist()
    [{'n': 2}]
    """
    if found := re.match(r"\s*(SELECT|WITH)\b", _text("the clause", clause), re.IGNORECASE):
        raise ParseError(
            "REX101", "rex.match takes a clause, and this is a statement", Source(clause), Span(*found.span(1)),
            hint="rex.sql runs statements",
        )
    made = Query(clause, _dialect(dialect), make_settings(settings), keyword="MATCH_RECOGNIZE", args=args)
    return _run_if_given(made, table, spark)


@overload
def events(
    text: str, stream: None = None, /, *, time: str, type: str | None = None, types: Mapping[str, str] | None = None,
    tie_break: str | Sequence[str] = (), ties: Ties = "order", args: Any = None, dialect: str | None = None,
    settings: GivenSettings = None,
) -> Query: ...
@overload
def events(
    text: str, stream: object, /, *, time: str, type: str | None = None, types: Mapping[str, str] | None = None,
    tie_break: str | Sequence[str] = (), ties: Ties = "order", args: Any = None, dialect: str | None = None,
    spark: SparkSession, settings: GivenSettings = None,
) -> DataFrame: ...
@overload
def events(
    text: str, stream: DataFrame, /, *, time: str, type: str | None = None, types: Mapping[str, str] | None = None,
    tie_break: str | Sequence[str] = (), ties: Ties = "order", args: Any = None, dialect: str | None = None,
    spark: None = None, settings: GivenSettings = None,
) -> DataFrame: ...
@overload
def events(
    text: str, stream: Frame, /, *, time: str, type: str | None = None, types: Mapping[str, str] | None = None,
    tie_break: str | Sequence[str] = (), ties: Ties = "order", args: Any = None, dialect: str | None = None,
    spark: None = None, settings: GivenSettings = None,
) -> Frame: ...
@overload
def events(
    text: str, stream: object, /, *, time: str, type: str | None = None, types: Mapping[str, str] | None = None,
    tie_break: str | Sequence[str] = (), ties: Ties = "order", args: Any = None, dialect: str | None = None,
    spark: SparkSession | None = None, settings: GivenSettings = None,
) -> Any: ...
def events(
    text: str, stream: Any = None, /, *, time: str, type: str | None = None, types: Mapping[str, str] | None = None,
    tie_break: str | Sequence[str] = (), ties: Ties = "order", args: Any = None, dialect: str | None = None,
    spark: Any = None, settings: GivenSettings = None,
) -> Any:
    """The matches of an event query in a stream; without a stream, a `Query` that finds them.

    The stream is a table, given as for `sql`, and the result comes as with `sql`. `time` is its column by which events
    follow each other; `tie_break` names columns that order events of the same time, and with `ties="strict"` none of
    those follows another. An event's type is the value of the column `type`, or has a condition in `types`.

    >>> import pyarrow as pa, sparkrex as rex
    >>> stream = pa.table({"ts": [1, 2, 3], "kind": ["A", "X", "B"]})
    >>> text = "PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) RETURN a.ts AS first, b.ts AS last"
    >>> rex.events(text, stream, time="ts", type="kind").to_pylist()
    [{'first': 1, 'last': 3}]
    >>> pairs = rex.events(text, time="ts", type="kind")
    >>> pairs(stream).num_rows
    1
    """
    from sparkrex.languages.events.syntax import StreamOptions

    _text(_QUERY, text)
    _check_options(time, type, types, tie_break)
    columns = (tie_break,) if isinstance(tie_break, str) else tuple(tie_break)
    options = StreamOptions(time, columns, type, types, has_strict_ties=_is_strict(ties))
    made = Query(text, _dialect(dialect), make_settings(settings), keyword="MATCH_EVENTS", options=options, args=args)
    return _run_if_given(made, stream, spark)


@overload
def trends(
    text: str, stream: None = None, /, *, time: str, type: str | None = None, types: Mapping[str, str] | None = None,
    tie_break: str | Sequence[str] = (), ties: Ties = "strict", origin: Origin | None = None,
    counts: CountsGiven = "exact", args: Any = None, dialect: str | None = None,
    settings: GivenSettings = None,
) -> Query: ...
@overload
def trends(
    text: str, stream: object, /, *, time: str, type: str | None = None, types: Mapping[str, str] | None = None,
    tie_break: str | Sequence[str] = (), ties: Ties = "strict", origin: Origin | None = None,
    counts: CountsGiven = "exact", args: Any = None, dialect: str | None = None,
    spark: SparkSession, settings: GivenSettings = None,
) -> DataFrame: ...
@overload
def trends(
    text: str, stream: DataFrame, /, *, time: str, type: str | None = None, types: Mapping[str, str] | None = None,
    tie_break: str | Sequence[str] = (), ties: Ties = "strict", origin: Origin | None = None,
    counts: CountsGiven = "exact", args: Any = None, dialect: str | None = None,
    spark: None = None, settings: GivenSettings = None,
) -> DataFrame: ...
@overload
def trends(
    text: str, stream: Frame, /, *, time: str, type: str | None = None, types: Mapping[str, str] | None = None,
    tie_break: str | Sequence[str] = (), ties: Ties = "strict", origin: Origin | None = None,
    counts: CountsGiven = "exact", args: Any = None, dialect: str | None = None,
    spark: None = None, settings: GivenSettings = None,
) -> Frame: ...
@overload
def trends(
    text: str, stream: object, /, *, time: str, type: str | None = None, types: Mapping[str, str] | None = None,
    tie_break: str | Sequence[str] = (), ties: Ties = "strict", origin: Origin | None = None,
    counts: CountsGiven = "exact", args: Any = None, dialect: str | None = None,
    spark: SparkSession | None = None, settings: GivenSettings = None,
) -> Any: ...
def trends(
    text: str, stream: Any = None, /, *, time: str, type: str | None = None, types: Mapping[str, str] | None = None,
    tie_break: str | Sequence[str] = (), ties: Ties = "strict", origin: Origin | None = None,
    counts: CountsGiven = "exact", args: Any = None, dialect: str | None = None,
    spark: Any = None, settings: GivenSettings = None,
) -> Any:
    """Aggregates over all trends of a pattern in a stream; without a stream, a `Query` that computes them.

    The stream is a table, given as for `sql`, and the result comes as with `sql`: a row for every group and window that
    has a trend. `time`, `tie_break`, `type` and `types` are as for `events`; events of the same time do not follow each
    other unless `ties="order"` says that `tie_break` orders them. Windows are counted from `origin`, 1970 or 0 if it is
    not given. `counts` says how numbers of trends are given: exactly, up to 38 digits; as logarithms to base 10
    (`"log"`); or as text with all digits.

    >>> import pyarrow as pa, sparkrex as rex
    >>> stream = pa.table({"ts": [1, 2, 3, 4], "price": [9, 7, 8, 6]})
    >>> text = "RETURN COUNT(*) AS n PATTERN Stock S+ SEMANTICS skip-till-any-match WHERE S.price > NEXT(S).price"
    >>> rex.trends(text, stream, time="ts").column("n").to_pylist()
    [Decimal('11')]
    >>> falling = rex.trends(text, time="ts", counts="text")
    >>> falling(stream).column("n").to_pylist()
    ['11']
    """
    from sparkrex.languages.events.syntax import StreamOptions
    from sparkrex.modes.trends.language.syntax import TrendOptions
    from sparkrex.modes.trends.plan import Counts

    _text(_QUERY, text)
    _check_options(time, type, types, tie_break)
    if origin is not None and not isinstance(origin, int | float | Decimal | str | date):
        raise TypeError(f"origin= is a {origin.__class__.__name__}, not a time or a number")
    known = [way.value for way in Counts]
    if counts not in known:
        listed = " or ".join(f'counts="{way}"' for way in known)
        raise AnalysisError("REX217", f"unknown counts={counts!r}", None, None, hint=listed)
    columns = (tie_break,) if isinstance(tie_break, str) else tuple(tie_break)
    stream_options = StreamOptions(time, columns, type, types, has_strict_ties=_is_strict(ties))
    options = TrendOptions(stream_options, origin, Counts(counts))
    made = Query(text, _dialect(dialect), make_settings(settings), keyword="MATCH_TRENDS", options=options, args=args)
    return _run_if_given(made, stream, spark)


def workload(
    patterns: Any, /, *, time: str, type: str | None = None, types: Mapping[str, str] | None = None,
    tie_break: str | Sequence[str] = (), ties: Ties = "order", args: Any = None, dialect: str | None = None,
    method: str = "sa-edge", seed: int = 0, max_steps: int | None = 20_000, seconds: float | None = None,
    max_kleene: int = 20, on_overflow: Literal["stop", "error"] = "stop", strict: bool = False,
    on_progress: Callable[[int, float], None] | None = None, settings: GivenSettings = None,
) -> Workload:
    """Many event patterns that are watched together, by one plan that shares what they have in common.

    `patterns` are texts by name, a folder with a file for each, or a table with the columns name and text; each is an
    event query as `events` takes it, and is answered as `events` answers it. `time`, `type`, `types`, `tie_break` and
    `ties` are as for `events`.

    The plan is found by `method`: a local search (`sa-edge` and others), or `none`, `re`, `sh`, `sh-rr`, `sh-mdt` to
    compare with. It ends after `max_steps` or `seconds`; with the same `seed` and `max_steps` it finds the same plan.
    `on_progress` is told the number of steps and the cost of the best plan so far. A Kleene with more than `max_kleene`
    events of its type in a window stops its pattern, or with `on_overflow="error"` is an error. A pattern that cannot
    be read is left out with a warning, or with `strict=True` is an error.

    >>> import pyarrow as pa, sparkrex as rex
    >>> stream = pa.table({"ts": [1, 2, 3, 4], "kind": ["A", "B", "C", "A"], "floor": [1, 1, 1, 2]})
    >>> rules = rex.workload({
    ...     "intruder": "PATTERN SEQ(A a, B b, C c) WHERE a.floor = b.floor WITHIN 10",
    ...     "pair": "PATTERN AND(C c, A a) WHERE a.floor > c.floor WITHIN 5",
    ... }, time="ts", type="kind")
    >>> [(row["pattern"], row["variable"], row["ts"]) for row in rules.detect(stream).to_pylist()]
    [('intruder', 'a', 1), ('intruder', 'b', 2), ('intruder', 'c', 3), ('pair', 'c', 3), ('pair', 'a', 4)]
    """
    from sparkrex.languages.events.syntax import StreamOptions
    from sparkrex.modes.workload.plan import make_options
    from sparkrex.workloads.workload import Workload

    _check_options(time, type, types, tie_break)
    columns = (tie_break,) if isinstance(tie_break, str) else tuple(tie_break)
    stream_options = StreamOptions(time, columns, type, types, has_strict_ties=_is_strict(ties))
    options = make_options(method, seed, max_steps, seconds, max_kleene, on_overflow)
    if on_progress is not None and not callable(on_progress):
        raise TypeError(f"on_progress= is a {on_progress.__class__.__name__}, not a function")
    if not isinstance(strict, bool):
        raise TypeError(f"strict= is a {strict.__class__.__name__}, not True or False")
    made = make_settings(settings)
    if made.side_rows or made.reports:
        raise UnsupportedError(
            "REX301", "side_rows and on_error=\"report\" are not supported for workloads", None, None,
            hint="run the patterns that need them as queries of their own: rex.events",
            command_hint="run the patterns that need them as queries of their own, by rex run",
        )
    return Workload(
        patterns, stream_options, options, _dialect(dialect), made, args=args, strict=strict, on_progress=on_progress
    )


def decompress(buffer: pa.Table, /) -> pa.Table:
    """The matches in the `buffer` of an event query: one row per event, as RETURN EVENTS shows them.

    >>> import pyarrow as pa, sparkrex as rex
    >>> stream = pa.table({"ts": [1, 2, 3], "kind": ["A", "X", "B"]})
    >>> pairs = rex.events("PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b)", time="ts", type="kind")
    >>> rex.decompress(pairs.buffer(stream)).equals(pairs(stream))
    True
    """
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

    >>> import pyarrow as pa, sparkrex as rex
    >>> @rex.aggregate(name="doc_span")
    ... class Span:
    ...     def scan(self, x):
    ...         return x.max() - x.min()
    >>> clause = ("ORDER BY t MEASURES doc_span(S.x) AS width ALL MATCHES PATTERN (S) "
    ...           "DEFINE SEGMENT S AS doc_span(x) >= 4")
    >>> rex.match(clause, pa.table({"t": [1, 2, 3], "x": [1, 5, 2]})).to_pylist()
    [{'width': 4.0}, {'width': 4.0}]
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


def ship(spark: SparkSession, /) -> None:
    """Send this package to the executors of a Spark session, classic or Connect, whose Python lacks it.

    What the package needs (duckdb, numba, numpy, pyarrow, sqlglot) is compiled for a Python and a machine, so it must
    be there already: a worker is asked, and REX413 names what it lacks.
    """
    from sparkrex.spark import package

    package.ship(spark)


def _run_if_given(query: Query, table: Any, spark: Any) -> Any:
    """The result over a table, the query itself without one."""
    if table is not None:
        return query(table, spark=spark)
    if spark is not None:
        raise TypeError("spark= is for a call with a table; the query takes it when it is called")
    return query


def _dialect(name: object) -> str:
    """The SQL dialect by name. SQL-TS is recognised in all of them; by its own name it stands in Spark's."""
    written = "spark" if name is None else _text("dialect=", name).lower()
    return "spark" if written == "sqlts" else written


def _with_planner(settings: Settings, planner: str | None) -> Settings:
    """The settings with a planner given by name, which must exist."""
    return settings if planner is None else replace(settings, planner=make_settings({"planner": planner}).planner)


def _with_functions(settings: Settings, functions: Any) -> Settings:
    """The settings with the Python functions of a call."""
    if functions is None:
        return settings
    from sparkrex.syntax.scalar_text import is_function

    made = make_functions(functions)
    for function in made:
        # A query that calls it means the function of SQL.
        if is_function(function.name):
            raise AnalysisError(
                "REX217", f"functions= has {function.name}, which is a function of SQL", None, None,
                hint="give it another name",
            )
    return replace(settings, functions=made)


def _text(what: str, value: object) -> str:
    """A string given for an argument, or the error of another kind of value."""
    if not isinstance(value, str):
        name = value.__class__.__name__
        instead = _INSTEAD.get(name, "") if what == _QUERY else ""
        raise TypeError(f"{what} is a {name}, not a string{instead}")
    return value


_QUERY = "the query"
_INSTEAD = {
    "Workload": ": a workload has methods of its own, detect(stream), explain(stream) and drain(checkpoint, stream)",
    "DataFrame": ": give its text, or what rex.compile, rex.match or rex.events made of it; tables come behind it",
    "Query": ": it has been made of one already; call it with tables",
}
"""What to do where something else is given for the query."""


def _is_strict(ties: object) -> bool:
    """Whether events of one time never follow each other."""
    if ties not in ("order", "strict"):
        raise AnalysisError("REX217", f"unknown ties={ties!r}", None, None, hint='ties="order" or ties="strict"')
    return ties == "strict"


def _check_options(time: object, kind: object, types: object, tie_break: object) -> None:
    """What `events` and `trends` are told of their stream has the right kinds."""
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
