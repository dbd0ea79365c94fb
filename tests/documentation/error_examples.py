"""For every error code: what it means to a user, and a query that gets it.

`errors_page.py` runs the queries and writes `docs/errors.md` from what comes back, so the page shows the errors as they
are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql.types import StructField, TimestampType

from sparkrex.source import Source, Span
from sparkrex.spark.shipping import workers_lack
from sparkrex.spark.streaming.around import writing_error
from sparkrex.spark.streaming.checkpoint import no_state
from sparkrex.spark.streaming.requirements import provider_error
from sparkrex.spark.streaming.watermark import no_watermark, other_order
from sparkrex.streams.head import other_query

if TYPE_CHECKING:
    from sparkrex.errors import RexError

TICKS = pa.table(
    {
        "symbol": ["a", "a", "a", "a"],
        "ts": [1, 2, 3, 4],
        "price": [10.0, 8.0, 7.0, 9.0],
        "volume": [100, 200, 150, 0],
    }
)
"""The table `ticks` of every example."""


@dataclass(frozen=True)
class Example:
    """One code: advice in a sentence or two, a query over `ticks`, and how it is asked."""

    code: str
    advice: str
    query: str
    dialect: str = "spark"
    settings: dict[str, Any] = field(default_factory=dict)
    ticks: pa.Table | str | None = None
    """Another input under the name `ticks`, described by `where`."""
    where: str = ""
    args: Any = None
    """Values of parameters, shown by `where`."""
    aggregate: type | None = None
    """An aggregate of the user's own."""
    workload: dict[str, Any] = field(default_factory=dict)
    """Options of `rex.workload`: the query is a pattern of its own, called `rule`."""
    functions: dict[str, Any] = field(default_factory=dict)
    """Python functions of the user's own."""
    why: dict[str, Any] = field(default_factory=dict)
    """What `rex.why` is asked, shown by `where`; else the query is run."""
    error: RexError | None = None
    """The error, of an example that only a Spark session can give; tests/spark has it raised."""


def ratio(price: float, before: float) -> float:
    """A function that fails over some rows."""
    return before / (price - before)


class Luck:
    """An aggregate that fails over some rows."""

    def scan(self, x: Any) -> Any:
        """See `rex.aggregate`."""
        if 7 in x:
            raise ValueError("a seven")
        return 1


_WRITTEN = """CREATE TABLE runs AS SELECT * FROM ticks MATCH_RECOGNIZE (
  PARTITION BY symbol ORDER BY ts
  PATTERN (A+))"""
_TIME = StructField("ts", TimestampType())
_OF_A_STREAM = """SELECT * FROM ticks MATCH_RECOGNIZE (
  PARTITION BY symbol ORDER BY ts
  PATTERN (A+))"""

EXAMPLES = (
    Example(
        "REX101",
        "The text around MATCH_RECOGNIZE is not a statement: a parenthesis or a quote is not closed, or "
        "MATCH_RECOGNIZE does not follow a table in FROM.",
        """SELECT * FROM ticks MATCH_RECOGNIZE (
  PATTERN (A B)
  DEFINE B AS (price > 8""",
    ),
    Example(
        "REX102",
        "The clauses have a fixed order: PARTITION BY, ORDER BY, MEASURES, rows per match, AFTER MATCH SKIP, PATTERN, "
        "WITHIN, SUBSET, DEFINE. Only PATTERN is required, and each may occur once. SHOW TIMEOUT MATCHES needs WITHIN.",
        """SELECT * FROM ticks MATCH_RECOGNIZE (
  MEASURES price AS p
  ORDER BY ts
  PATTERN (A))""",
    ),
    Example(
        "REX103",
        "PATTERN holds names, parentheses, `|`, `&`, `~`, quantifiers, `^`, `$`, `{- -}` and PERMUTE, nothing else, "
        "and at least one of them.",
        """SELECT * FROM ticks MATCH_RECOGNIZE (
  ORDER BY ts
  PATTERN (A % B))""",
    ),
    Example(
        "REX104",
        "A condition, a measure or a key is not one SQL expression in the query's dialect.",
        """SELECT * FROM ticks MATCH_RECOGNIZE (
  ORDER BY ts
  MEASURES price + AS p
  PATTERN (A))""",
    ),
    Example(
        "REX105",
        "`{0}` and `{2,1}` allow no row at all. Leave the part out, or write `?` or `*`.",
        """SELECT * FROM ticks MATCH_RECOGNIZE (
  ORDER BY ts
  PATTERN (A B{2,1}))""",
    ),
    Example(
        "REX106",
        "The pattern is nested more deeply, or unfolds to more instructions, than the engine takes. "
        "PERMUTE of n parts and `{n}` of a large group are what makes patterns large. PERMUTE of plain variables is "
        "compiled by sets and may have 14 of them; with quantifiers or alternatives inside, every order is "
        "written out: 8 such parts have 40,320 orders. In a segment query one And, or one concatenation, may have 300 "
        "parts. In an event query one AND may have eight components.",
        """SELECT * FROM ticks MATCH_RECOGNIZE (
  ORDER BY ts
  PATTERN (((A{1000}){1000}){1000}))""",
    ),
    Example(
        "REX107",
        "The clauses of an event query have a fixed order: PATTERN, WHERE, WITHIN, OUTPUT, RETURN. Inside MATCH_EVENTS "
        "TIME, TIE BREAK, TYPE, TYPES and TIES come before them. A trend query has RETURN, PATTERN, SEMANTICS, WHERE, "
        "GROUP-BY, WITHIN and SLIDE, and inside MATCH_TRENDS ORIGIN and COUNTS too before them.",
        """SELECT * FROM ticks MATCH_EVENTS (
  TIME ts
  PATTERN SEQ(Tick a, Tick b)
  WITHIN 3
  WHERE skip_till_next_match(a, b))""",
    ),
    Example(
        "REX108",
        "An event pattern is `SEQ( ... )` of components with commas between them: a type of events and a variable, "
        "`Tick a`; with a quantifier the variable is an array, `Tick+ b[]`; `~(Tick c)` is negated. Alternatives stand "
        "in parentheses: `(Buy a | Sell b)`. `AND( ... )` has components in any order. In a trend pattern variables "
        "may be left out, `SEQ(Buy+, Sell)`, and `&` stands between two patterns.",
        """SELECT * FROM ticks MATCH_EVENTS (
  TIME ts
  PATTERN SEQ(Tick a Tick b)
  WHERE skip_till_next_match(a, b))""",
    ),
    Example(
        "REX109",
        "A query of SQL-TS is `SELECT ... FROM t CLUSTER BY keys SEQUENCE BY keys AS (elements) WHERE ...`, with one "
        "table or subquery in FROM; CLUSTER BY and WHERE may be left out. Elements are names, a star stands before "
        "one: `(X, *Y, Z)`. See [SQL-TS](sqlts.md).",
        """SELECT X.ts, Y.ts
FROM ticks CLUSTER BY symbol AS (X, *Y)
WHERE Y.price < X.price""",
    ),
    Example(
        "REX110",
        "A window with a row pattern has, in this order, PARTITION BY, ORDER BY, MEASURES, the frame, AFTER "
        "MATCH SKIP, INITIAL or SEEK, PATTERN, SUBSET and DEFINE; the frame, PATTERN and DEFINE are required. "
        "See [windows](windows.md).",
        """SELECT ts, last OVER w FROM ticks
WINDOW w AS (ORDER BY ts MEASURES LAST(price) AS last)""",
    ),
    Example(
        "REX201",
        "The input has no such column. Case does not matter.",
        """SELECT * FROM ticks MATCH_RECOGNIZE (
  ORDER BY ts
  PATTERN (A)
  DEFINE A AS prize > 8)""",
    ),
    Example(
        "REX202",
        "Two columns of the input have that name, and neither is spelt exactly so. Give one of them another name.",
        """SELECT * FROM ticks MATCH_RECOGNIZE (
  ORDER BY ts
  MEASURES FIRST(Price) AS p
  PATTERN (A))""",
        ticks=TICKS.append_column("PRICE", TICKS["volume"]),
        where="With one more column in `ticks`, called `PRICE`:",
    ),
    Example(
        "REX203",
        "The query names a table that was not passed in: `rex.sql(query, ticks=...)` or `tables={...}`.",
        """SELECT * FROM tics MATCH_RECOGNIZE (
  ORDER BY ts
  PATTERN (A))""",
    ),
    Example(
        "REX204",
        "A clause names a variable that the pattern never uses.",
        """SELECT * FROM ticks MATCH_RECOGNIZE (
  ORDER BY ts
  PATTERN (A B+)
  DEFINE B AS price < PREV(price),
         C AS price > PREV(price))""",
    ),
    Example(
        "REX205",
        "A variable, a union variable or an output column is defined twice.",
        """SELECT * FROM ticks MATCH_RECOGNIZE (
  ORDER BY ts
  PATTERN (A B)
  DEFINE B AS price > 8,
         B AS price < 9)""",
    ),
    Example(
        "REX206",
        "The name before the dot is neither a pattern variable nor a union variable, nor a table or struct "
        "column.",
        """SELECT * FROM ticks MATCH_RECOGNIZE (
  ORDER BY ts
  MEASURES LAST(UPP.price) AS top
  PATTERN (STRT UP+)
  DEFINE UP AS price > PREV(price))""",
    ),
    Example(
        "REX207",
        "PREV and NEXT go around FIRST and LAST, never the other way, and RUNNING or FINAL belongs before FIRST, LAST "
        "and aggregates.",
        """SELECT * FROM ticks MATCH_RECOGNIZE (
  ORDER BY ts
  MEASURES FIRST(PREV(price)) AS p
  PATTERN (A+))""",
    ),
    Example(
        "REX208",
        "How far navigation goes must be known before the first row is read: a whole number, zero or more.",
        """SELECT * FROM ticks MATCH_RECOGNIZE (
  ORDER BY ts
  PATTERN (A B)
  DEFINE B AS price > PREV(price, volume))""",
    ),
    Example(
        "REX209",
        "A condition is decided while the match is still growing, so it cannot see the final match.",
        """SELECT * FROM ticks MATCH_RECOGNIZE (
  ORDER BY ts
  PATTERN (A B+)
  DEFINE B AS price < FINAL LAST(A.price))""",
    ),
    Example(
        "REX210",
        "An aggregate may not be inside another, nor inside navigation, and navigation may not be inside it.",
        """SELECT * FROM ticks MATCH_RECOGNIZE (
  ORDER BY ts
  MEASURES sum(max(price)) AS p
  PATTERN (A+))""",
    ),
    Example(
        "REX211",
        "One navigation, or one aggregate, looks at the rows of one variable (or of one union variable).",
        """SELECT * FROM ticks MATCH_RECOGNIZE (
  ORDER BY ts
  MEASURES LAST(A.price + B.price) AS p
  PATTERN (A B)
  DEFINE B AS price < 9)""",
    ),
    Example(
        "REX212",
        "WITH UNMATCHED ROWS promises every row and an exclusion takes rows away: the standard forbids the two "
        "together. SHOW TIMEOUT MATCHES gives one row per timeout and goes with ONE ROW PER MATCH.",
        """SELECT * FROM ticks MATCH_RECOGNIZE (
  ORDER BY ts
  ALL ROWS PER MATCH WITH UNMATCHED ROWS
  PATTERN (A {- B+ -}))""",
    ),
    Example(
        "REX213",
        "The host knows no such function, or not with these arguments.",
        """SELECT * FROM ticks MATCH_RECOGNIZE (
  ORDER BY ts
  MEASURES no_such_function(price) AS p
  PATTERN (A))""",
    ),
    Example(
        "REX214",
        "An expression has another type than its place needs. A condition is a boolean.",
        """SELECT * FROM ticks MATCH_RECOGNIZE (
  ORDER BY ts
  PATTERN (A)
  DEFINE A AS price + 1)""",
    ),
    Example(
        "REX215",
        "WITHIN compares every row's order key with the first row's, so there must be one, it must ascend, and it must "
        "be a time or a number.",
        """SELECT * FROM ticks MATCH_RECOGNIZE (
  ORDER BY ts DESC
  PATTERN (A B) WITHIN INTERVAL '1' HOUR
  DEFINE B AS price > 8)""",
    ),
    Example(
        "REX216",
        "The column list after the alias has another number of names than the relation has columns.",
        """SELECT * FROM ticks MATCH_RECOGNIZE (
  ORDER BY ts
  MEASURES price AS p
  PATTERN (A)) AS m (p, q)""",
    ),
    Example(
        "REX217",
        "The dialect, the planner, the matcher or a setting is not one that SparkRex knows, or the matcher is one of "
        "another mode than the query's. `docs/settings.md` lists the settings.",
        """SELECT * FROM ticks MATCH_RECOGNIZE (PATTERN (A))""",
        dialect="klingon",
    ),
    Example(
        "REX218",
        "`window(n)` and `window(low, high)` count rows; `window(column, size, unit)` and `window(column, low, high, "
        "unit)` compare the column's last value with its first. Bounds are numbers, not negative, the lower one first, "
        "or NULL.",
        """SELECT * FROM ticks MATCH_RECOGNIZE (
  ORDER BY ts
  PATTERN (S)
  DEFINE SEGMENT S AS window(0, 60, MINUTE))""",
    ),
    Example(
        "REX219",
        "A condition may ask for the segment of another variable, which is then matched first. No variable can be "
        "matched first in a circle.",
        """SELECT * FROM ticks MATCH_RECOGNIZE (
  ORDER BY ts
  PATTERN (S T)
  DEFINE SEGMENT S AS max(price) > max(T.price),
         SEGMENT T AS min(price) < min(S.price))""",
    ),
    Example(
        "REX220",
        "What is under `~` does not occur, so nothing outside can refer to it. A variable that one match goes "
        "through twice has two segments: give each place a name of its own.",
        """SELECT * FROM ticks MATCH_RECOGNIZE (
  ORDER BY ts
  MEASURES last(FALL.price) AS low
  PATTERN (S & ~(FALL W))
  DEFINE SEGMENT S AS window(1, 3),
         SEGMENT FALL AS last(price) < first(price),
         SEGMENT W AS true)""",
    ),
    Example(
        "REX221",
        "A row may belong to several segments of one match, so a segment query gives one row per match, and has no "
        "CLASSIFIER(), no exclusion and no union variables.",
        """SELECT * FROM ticks MATCH_RECOGNIZE (
  ORDER BY ts
  ALL ROWS PER MATCH
  PATTERN (S)
  DEFINE SEGMENT S AS avg(price) > 8)""",
    ),
    Example(
        "REX222",
        "An event's type is the value of the type column, or a named condition. Names that have no condition need a "
        "type column; without both, the pattern can name one type only.",
        """SELECT * FROM ticks MATCH_EVENTS (
  TIME ts
  TYPES (Calm AS volume < 150, Busy AS volume >= 150)
  PATTERN SEQ(Calm a, Bussy b)
  WHERE skip_till_next_match(a, b))""",
    ),
    Example(
        "REX223",
        "The strategy says which events a match may pass over: strict_contiguity, partition_contiguity (which needs an "
        "equivalence test such as `[symbol]`), skip_till_next_match or skip_till_any_match. It lists the variables of "
        "the pattern; negated ones may be left out. Without any, skip_till_any_match is meant. A trend query has "
        "SEMANTICS skip-till-any-match, skip-till-next-match or contiguous.",
        """SELECT * FROM ticks MATCH_EVENTS (
  TIME ts
  PATTERN SEQ(Tick+ a[], Tick b)
  WHERE partition_contiguity(a[], b) { a[i].price < a[i-1].price })""",
    ),
    Example(
        "REX224",
        "`v.x` is an attribute of a single event. Of an array, `v[1]` is the first event, `v[v.LEN]` the last, and "
        "`v[]` inside an aggregate all of them. `v[i]` is each event from the second on, and only predicates with "
        "`v[i]` have `v[i-1]`, the one before it, and `v[..i-1]`, all before it. In a trend query `v.x` is of any "
        "event of v, and `NEXT(w).x` of an event of w that directly follows it.",
        """SELECT * FROM ticks MATCH_EVENTS (
  TIME ts
  PATTERN SEQ(Tick+ a[], Tick b)
  WHERE skip_till_next_match(a[], b) { b.price > a[i-1].price })""",
    ),
    Example(
        "REX225",
        "A negated component says what must not be there: one event, in the outermost SEQ or AND, which nothing "
        "outside its own predicates can refer to. At the beginning or the end of a pattern it needs WITHIN, to know "
        "how far to look. In a trend pattern it may be a whole pattern, as an item of any SEQ.",
        """SELECT * FROM ticks MATCH_EVENTS (
  TIME ts
  PATTERN SEQ(Tick a, ~(Tick b), Tick c)
  WHERE skip_till_next_match(a, c) { b.volume = 0 }
  RETURN a.ts, b.volume)""",
    ),
    Example(
        "REX226",
        "WITHIN has units on a column of times (`3 hours`), none on a column of numbers, and counts events with "
        "`500 EVENTS`. It is never negative. For trends it is larger than zero, SLIDE is of the same kind, and "
        "windows of events need events in a definite order (`ties=\"order\"`).",
        """SELECT * FROM ticks MATCH_EVENTS (
  TIME ts
  PATTERN SEQ(Tick a, Tick b)
  WHERE skip_till_next_match(a, b)
  WITHIN 3 hours)""",
    ),
    Example(
        "REX227",
        "If every component may be left out, a match could be of nothing.",
        """SELECT * FROM ticks MATCH_EVENTS (
  TIME ts
  PATTERN SEQ(Tick* a[], Tick? b)
  WHERE skip_till_next_match(a[], b))""",
    ),
    Example(
        "REX228",
        "In SQL-TS a condition belongs to the last element that it names, and a column is read from an element's row. "
        "Only columns of CLUSTER BY, which are the same in all rows of a match, may stand alone.",
        """SELECT X.ts, Y.ts
FROM ticks CLUSTER BY symbol SEQUENCE BY ts AS (X, *Y)
WHERE Y.price < X.price AND volume > 100""",
    ),
    Example(
        "REX229",
        "A pattern of a workload whose conditions are proven never to hold together would be watched for ever. The "
        "error shows the proof.",
        "PATTERN SEQ(Tick a, Tick b) WHERE a.price < b.price AND b.price <= a.price WITHIN 2",
        where="As a pattern of `rex.workload`:", workload={"time": "ts"},
    ),
    Example(
        "REX230",
        "Rows of a stream come in any order, and only the watermark says that all rows up to a time are there.",
        _OF_A_STREAM,
        where="With `ticks=spark.readStream.table(...)`:",
        error=no_watermark(_TIME, Source(_OF_A_STREAM), Span(14, 77)),
    ),
    Example(
        "REX231",
        "Rows of a stream are ordered by its watermarked column first, from the earliest on: by any other order it "
        "would never be known which rows are still to come. Of two watermarked columns, leave one out.",
        _OF_A_STREAM,
        where='With `ticks=spark.readStream.table(...).withWatermark("received", "10 seconds")`:',
        error=other_order(_TIME, "received", Source(_OF_A_STREAM), Span(70, 72)),
    ),
    Example(
        "REX232",
        "A match in a window lies in a frame of rows that begins at the current row: `ROWS BETWEEN CURRENT "
        "ROW AND` `CURRENT ROW`, `n FOLLOWING` or `UNBOUNDED FOLLOWING`.",
        """SELECT ts, count(*) OVER w FROM ticks
WINDOW w AS (ORDER BY ts
             ROWS BETWEEN 1 PRECEDING AND UNBOUNDED FOLLOWING
             PATTERN (A B+) DEFINE B AS price < PREV(price))""",
    ),
    Example(
        "REX233",
        "Over the rows of a match there are aggregates, `first_value`, `last_value` and `nth_value`. "
        "Functions that take no frame have nothing to do with a match.",
        """SELECT ts, rank() OVER w FROM ticks
WINDOW w AS (ORDER BY ts
             MEASURES LAST(price) AS last
             ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING
             PATTERN (A B+) DEFINE B AS price < PREV(price))""",
    ),
    Example(
        "REX234",
        "A name before OVER is a measure of that window. Every measure that is called has a name of its own.",
        """SELECT ts, first OVER w FROM ticks
WINDOW w AS (ORDER BY ts
             MEASURES LAST(price) AS last
             ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING
             PATTERN (A B+) DEFINE B AS price < PREV(price))""",
    ),
    Example(
        "REX235",
        "Window functions and measures stand in the SELECT list, in ORDER BY and in QUALIFY, and not inside "
        "each other. In any other place, compute them in a subquery.",
        """SELECT ts FROM ticks WHERE last OVER w > 7
WINDOW w AS (ORDER BY ts
             MEASURES LAST(price) AS last
             ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING
             PATTERN (A B+) DEFINE B AS price < PREV(price))""",
    ),
    Example(
        "REX236",
        "Names behind OVER, and in front of what a window adds, are windows of the same query. A window with "
        "a frame cannot be extended, and what the other one has cannot be given again.",
        """SELECT ts, sum(price) OVER (w ORDER BY price) FROM ticks
WINDOW w AS (ORDER BY ts
             MEASURES LAST(price) AS last
             ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING
             PATTERN (A B+) DEFINE B AS price < PREV(price))""",
    ),
    Example(
        "REX238",
        "Every `:name` and `?` of a query needs a value in `args=`, and every value a place in the query. In PATTERN "
        "a `?` is a quantifier.",
        """SELECT * FROM ticks MATCH_RECOGNIZE (
  ORDER BY ts
  PATTERN (A B?)
  DEFINE A AS price > :low)""",
        args={"lowest": 7},
        where='With `args={"lowest": 7}`:',
    ),
    Example(
        "REX239",
        "A parameter is a scalar: a number, a boolean, a string, a date, a time, a timestamp, a `timedelta` for an "
        "interval, bytes, or None for NULL.",
        """SELECT * FROM ticks MATCH_RECOGNIZE (
  ORDER BY ts
  PATTERN (A)
  DEFINE A AS volume IN (:volumes))""",
        args={"volumes": [100, 200]},
        where='With `args={"volumes": [100, 200]}`:',
    ),
    Example(
        "REX240",
        "`key=` names values of PARTITION BY that the rows have, and `at=` a row of the partition, counted from 1, or "
        "a value of the first column of ORDER BY. On Spark a key is needed, because its rows are collected.",
        """SELECT * FROM ticks MATCH_RECOGNIZE (
  PARTITION BY symbol ORDER BY ts
  PATTERN (A B+)
  DEFINE B AS price < PREV(price))""",
        why={"key": {"symbol": "b"}},
        where='With `rex.why(query, ticks=ticks, key={"symbol": "b"})`:',
    ),
    Example(
        "REX301",
        "The query has a meaning that SparkRex cannot compute yet; the message says what, and a way round it where "
        "there is one.",
        """SELECT * FROM ticks, LATERAL ticks MATCH_RECOGNIZE (
  ORDER BY ts
  PATTERN (A+))""",
    ),
    Example(
        "REX302",
        "What patterns over a stream cannot have: the message says what, and a way round it where there is one.",
        _WRITTEN,
        where="With `ticks=spark.readStream.table(...)`:",
        error=writing_error("CREATE TABLE", Source(_WRITTEN), Span(0, 20)),
    ),
    Example(
        "REX303",
        "In memory nothing would keep what a statement creates or changes. On Spark temporary views, CREATE TABLE AS "
        "and INSERT take matches; a permanent view, MERGE and others do not.",
        """CREATE VIEW runs AS SELECT * FROM ticks MATCH_RECOGNIZE (
  ORDER BY ts
  PATTERN (A+))""",
    ),
    Example(
        "REX401",
        "Skipping to the first row of the match would find the same match for ever.",
        """SELECT * FROM ticks MATCH_RECOGNIZE (
  PARTITION BY symbol
  ORDER BY ts
  AFTER MATCH SKIP TO FIRST A
  PATTERN (A B+)
  DEFINE B AS price < PREV(price))""",
    ),
    Example(
        "REX402",
        "The match has no row of the variable that AFTER MATCH SKIP names. A union variable that covers all "
        "possibilities avoids this.",
        """SELECT * FROM ticks MATCH_RECOGNIZE (
  PARTITION BY symbol
  ORDER BY ts
  AFTER MATCH SKIP TO LAST C
  PATTERN (A C? B)
  DEFINE B AS price < PREV(price),
         C AS price > 100)""",
    ),
    Example(
        "REX403",
        "Conditions that read the match (aggregates, FIRST, LAST with an offset, CLASSIFIER) can make a search take "
        "exponential time; this is the guard. Patterns whose conditions only read rows near the current one never get "
        "this error. Raise the setting, or make the variables exclude each other.",
        """SELECT * FROM ticks MATCH_RECOGNIZE (
  ORDER BY ts
  PATTERN ((A | B)+ C)
  DEFINE A AS sum(A.price) > 0,
         B AS sum(B.price) > 0,
         C AS price > 100)""",
        settings={"max_steps": 5},
    ),
    Example(
        "REX404",
        "DuckDB, which runs everything around the matches, refused. Its own message is in the note.",
        """SELECT CAST(symbol AS INT) FROM ticks MATCH_RECOGNIZE (
  ORDER BY ts
  MEASURES A.symbol AS symbol
  PATTERN (A))""",
    ),
    Example(
        "REX405",
        "Integers and decimals never wrap round: what does not fit is an error.",
        """SELECT * FROM ticks MATCH_RECOGNIZE (
  ORDER BY ts
  MEASURES sum(volume + 9223372036854775000) AS total
  PATTERN (A+))""",
    ),
    Example(
        "REX406",
        "While a match is undecided its rows are held back, and the setting `max_open_rows` bounds how many.",
        """SELECT * FROM ticks MATCH_RECOGNIZE (
  ORDER BY ts
  PATTERN (A+ B)
  DEFINE B AS price < 0)""",
        settings={"chunk_rows": 1, "max_open_rows": 2},
    ),
    Example(
        "REX407",
        "A file does not exist, is not Parquet or CSV, or a column has a type that cannot be read. A file that "
        "workers of Spark read by path has gone, has changed since the query was made, or cannot be decoded: make the "
        "query again.",
        """SELECT * FROM ticks MATCH_RECOGNIZE (
  ORDER BY ts
  PATTERN (A))""",
        ticks="nowhere.parquet",
        where="With `ticks=\"nowhere.parquet\"`:",
    ),
    Example(
        "REX408",
        "A Not, a repetition or a variable without a window can have as many segments as there are pairs of rows. The "
        "setting `max_segments` bounds how many any part of the pattern may have at a time. A window in the pattern "
        "is the better remedy.",
        """SELECT * FROM ticks MATCH_RECOGNIZE (
  ORDER BY ts
  PATTERN (~FALL)
  DEFINE SEGMENT FALL AS last(price) < first(price))""",
        settings={"max_segments": 3},
    ),
    Example(
        "REX409",
        "Events follow each other by time and tie-break columns. Two events of a partition that are equal in all of "
        "them have no order, and an event whose time is NULL has none either.",
        """SELECT * FROM ticks MATCH_EVENTS (
  TIME ts
  PATTERN SEQ(Tick a, Tick b)
  WHERE skip_till_next_match(a, b) { [symbol] AND b.price < a.price }
  RETURN a.price AS high, b.price AS low)""",
        ticks=pa.concat_tables([TICKS, TICKS.slice(3)]),
        where="With the last row of `ticks` twice:",
    ),
    Example(
        "REX410",
        "Under skip_till_any_match a repetition may have exponentially many matches. An equivalence test, WITHIN, "
        "conditions between `b[i]` and `b[i-1]`, or skip_till_next_match make them fewer; `docs/events.md` has more. "
        "For totals over all matches, none of which is listed, see `docs/trends.md`.",
        """SELECT * FROM ticks MATCH_EVENTS (
  TIME ts
  PATTERN SEQ(Tick a, Tick+ b[])
  WHERE skip_till_any_match(a, b[])
  RETURN EVENTS)""",
        settings={"max_event_memory": 10_000},
        ticks=pa.table({"ts": list(range(16))}),
        where="With sixteen ticks, `ts` from 0 to 15:",
    ),
    Example(
        "REX411",
        "What your class raised, and over which rows. Division by zero is not a failure but NULL.",
        """SELECT * FROM ticks MATCH_RECOGNIZE (
  PARTITION BY symbol ORDER BY ts
  PATTERN (S)
  DEFINE SEGMENT S AS luck(price) > 0)""",
        where="With an aggregate `luck` whose `scan` raises `ValueError('a seven')` where there is one:",
        aggregate=Luck,
    ),
    Example(
        "REX413",
        "Workers run a Python of their own. On this machine that is what `PYSPARK_PYTHON` says, else the `python3` of "
        "the path, not the Python that runs your script. On a cluster it is what `spark.pyspark.python` says.",
        "",
        where="With workers that run the system's Python:",
        error=workers_lack("/usr/bin/python3", "sparkrex"),
    ),
    Example(
        "REX414",
        "In memory, intervals and differences of times are computed in microseconds. A time in nanoseconds that is not "
        "a whole number of them would be rounded, so it is refused; comparing and reading such times is exact.",
        """SELECT * FROM ticks MATCH_RECOGNIZE (
  ORDER BY ts
  PATTERN (A B)
  DEFINE B AS ts - PREV(ts) < INTERVAL '1' SECOND)""",
        ticks=pa.table({"ts": pa.array([1, 2], pa.int64()).view(pa.timestamp("ns", "UTC"))}),
        where="With two times of one and two nanoseconds after 1970:",
    ),
    Example(
        "REX415",
        "What is held back between two chunks of rows takes memory, and the setting `max_state_memory` bounds it.",
        """SELECT * FROM ticks MATCH_RECOGNIZE (
  ORDER BY ts
  PATTERN (A+ B)
  DEFINE B AS price < 0)""",
        settings={"chunk_rows": 1, "max_state_memory": 64},
    ),
    Example(
        "REX416",
        "A number of trends can double with every event. Up to 38 digits are exact; ask for logarithms or all digits.",
        """WITH days AS (SELECT explode(sequence(1, 130)) AS day)
SELECT * FROM days MATCH_TRENDS (
  TIME day
  RETURN COUNT(*) AS n
  PATTERN Day d+
  SEMANTICS skip-till-any-match)""",
    ),
    Example(
        "REX417",
        "The setting `positive` names columns whose values are all above zero, which proofs then believe. A value that "
        "is not is found before any answer is given.",
        """SELECT * FROM (SELECT ts, price - 11 AS gain FROM ticks) MATCH_RECOGNIZE (
  ORDER BY ts
  MEASURES A.ts AS at
  PATTERN (A B)
  DEFINE B AS gain < 0.98 * PREV(gain))""",
        settings={"positive": ("gain",)},
    ),
    Example(
        "REX418",
        "n events of a Kleene's type in a window have 2^n - 1 arrays. Above `max_kleene` events a pattern of a "
        "workload stops, unless `on_overflow` asks for an error.",
        "PATTERN SEQ(KL(Tick a), Tick b) WITHIN 10",
        where='As a pattern of `rex.workload` with `max_kleene=3, on_overflow="error"`:',
        workload={"time": "ts", "max_kleene": 3, "on_overflow": "error"},
    ),
    Example(
        "REX419",
        "A checkpoint is of one query. What it holds back would mean something else to another one. States also have a "
        "format; one that this version does not read, or a damaged one, is refused.",
        "",
        where="For a stream that goes on from the checkpoint of another query:",
        error=other_query("PATTERN (A B) DEFINE A AS price > 7", "PATTERN (A B+) DEFINE A AS price > 7"),
    ),
    Example(
        "REX420",
        "`rex.drain` and `rex.state` read what a streaming query that has stopped keeps in its checkpoint.",
        "",
        where="For a folder that is not the checkpoint of such a query:",
        error=no_state("checkpoints/other"),
    ),
    Example(
        "REX421",
        "Spark keeps the state of a stream in a store that can be chosen, and only one of them serves. A checkpoint "
        "keeps the one with which it was begun.",
        "",
        where="For a stream in a session that has not been told so:",
        error=provider_error(),
    ),
    Example(
        "REX422",
        "The end of a frame is a number of rows for each row, also for those that are skipped: 0 or more, and "
        "never NULL.",
        """SELECT ts, count(*) OVER w FROM ticks
WINDOW w AS (ORDER BY ts
             ROWS BETWEEN CURRENT ROW AND volume - 150 FOLLOWING
             PATTERN (A B+) DEFINE B AS price < PREV(price))""",
    ),
    Example(
        "REX423",
        "What a function given by `functions=` raised. The type of what it returns counts too: a function that says "
        "`-> float` and returns a string fails.",
        """SELECT * FROM ticks MATCH_RECOGNIZE (
  PARTITION BY symbol ORDER BY ts
  PATTERN (A B)
  DEFINE B AS ratio(price, A.price - 1) > 100)""",
        where="With `functions={\"ratio\": ratio}`, which divides by `price - before`:",
        functions={"ratio": ratio},
    ),
    Example(
        "REX901",
        "A fault of SparkRex itself, never yours. Please report it with the query.",
        "",
    ),
)
