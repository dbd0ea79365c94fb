"""A query without its table: what `match`, `events` and `compile` give, and what can be done with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, assert_type

import pyarrow as pa
import pytest

import sparkrex as rex
from sparkrex import pipeline
from sparkrex.modes.rows.runner import RowRunner
from sparkrex.modes.tables import MODES, mode_of
from sparkrex.settings import MATCHERS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

TABLE = pa.table({"ts": [1, 2, 3, 4], "kind": ["A", "B", "B", "C"], "x": [5, 6, 7, 8]})
EVENTS = "PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b)"
PAIRS = rex.events(EVENTS, time="ts", type="kind")
RUNS = rex.match("ORDER BY ts MEASURES COUNT(*) AS n PATTERN (A+) DEFINE A AS x > 5")
STATEMENT = rex.compile("SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES COUNT(*) AS n PATTERN (A+))")
SEGMENTS = rex.match("ORDER BY ts PATTERN (S) DEFINE SEGMENT S AS avg(x) > 6 AND window(1, 2)")


def test_without_a_table_it_is_a_query() -> None:
    for query in (PAIRS, RUNS, STATEMENT):
        assert isinstance(query, rex.Query)
    assert RUNS(TABLE).to_pylist() == [{"n": 3}]
    assert PAIRS(TABLE) == rex.events(EVENTS, TABLE, time="ts", type="kind")
    assert TABLE.to_pandas().pipe(RUNS).to_dict("records") == [{"n": 3}]


def check_types(frame: DataFrame, spark: SparkSession) -> None:
    """Nothing runs here: mypy reads it."""
    assert_type(rex.match("..."), rex.Query)
    assert_type(rex.match("...", frame), "DataFrame")
    assert_type(rex.match("...", TABLE, spark=spark), "DataFrame")
    assert_type(rex.events("...", time="ts"), rex.Query)
    assert_type(rex.events("...", frame, time="ts"), "DataFrame")
    assert_type(rex.sql("...", t=frame, u=frame), "DataFrame")
    assert_type(rex.sql("...", "a.parquet", spark=spark), "DataFrame")
    assert_type(rex.compile("...")(t=frame), "DataFrame")
    assert_type(frame.transform(rex.events("...", time="ts")), "DataFrame")
    assert_type(rex.explain(rex.match("..."), frame), rex.Explanation)


def test_one_explain_for_every_language() -> None:
    assert str(rex.explain(PAIRS, TABLE)) == str(PAIRS.explain(TABLE))
    assert str(rex.explain(PAIRS, TABLE)).startswith("MatchEvents")
    assert str(rex.explain(STATEMENT, t=TABLE)) == str(rex.explain(STATEMENT.text, t=TABLE))
    assert "Segment" in str(rex.explain(SEGMENTS, TABLE))
    assert "matcher basic" in str(rex.explain(PAIRS, TABLE, settings={"matcher": "basic"}))
    analyzed, planned = (str(rex.explain(RUNS, TABLE, analyze=analyze)) for analyze in (True, False))
    assert "1 match" in analyzed
    assert "1 match" not in planned


def test_one_compile_for_every_language() -> None:
    """Of a query it gives the same under other settings, the first one unchanged."""
    other = rex.compile(PAIRS, settings={"matcher": "backtrack"})
    assert (other.settings.matcher, PAIRS.settings.matcher) == ("backtrack", None)
    assert other(TABLE) == PAIRS(TABLE)
    assert rex.compile(SEGMENTS, planner="sm_left").settings.planner == "sm_left"
    with pytest.raises(rex.AnalysisError, match=r"REX217.*nothing to plan"):
        rex.compile(RUNS, planner="sm_left")
    with pytest.raises(TypeError, match="dialect= is for text, and a query is given"):
        rex.compile(PAIRS, dialect="duckdb")


@pytest.mark.parametrize("query", [PAIRS, RUNS])
def test_tables_of_a_clause(query: Any) -> None:
    with pytest.raises(TypeError, match="the query reads one table, and none is given"):
        query()
    with pytest.raises(TypeError, match="t= is one table too many"):
        query(t=TABLE)
    with pytest.raises(TypeError, match="the input is a list, not a table"):
        query([1, 2])
    with pytest.raises(rex.ExecutionError, match=r"REX407.*the input: there is no file nowhere\.parquet"):
        query("nowhere.parquet")
    with pytest.raises(TypeError, match="spark= is for a call with a table"):
        rex.match("PATTERN (A)", spark=object())  # type: ignore[call-overload]  # what is tested
    with pytest.raises(TypeError, match="spark= is a object, not a SparkSession"):
        rex.match("PATTERN (A)", TABLE, spark=object())  # type: ignore[call-overload]  # what is tested


@pytest.mark.parametrize(
    ("clause", "code", "at"),
    [
        ("ORDER BY ts PATTERN (A) DEFINE B AS x > 1", "REX204", "B AS"),
        ("ORDER BY nope PATTERN (A)", "REX201", "nope"),
        ("ORDER BY ts PATTERN (A)) DEFINE A AS x > 1", "REX101", ") DEFINE"),
        ("ORDER BY ts PATTERN (A DEFINE A AS x > 1", "REX101", "(A DEFINE"),
        ("ORDER BY ts MEASURES (x + 1 AS y PATTERN (A)", "REX101", "(x + 1"),
        ("MATCH_RECOGNIZE (ORDER BY ts PATTERN (A)) WHERE x > 1", "REX101", "WHERE"),
        ("MATCH_RECOGNIZE (ORDER BY ts PATTERN (A)) DEFINE A AS x > 1)", "REX101", ") DEFINE"),
        ("MATCH_RECOGNISE (ORDER BY ts PATTERN (A))", "REX101", "MATCH_RECOGNISE"),
        ("ORDER BY ts PATTERN (A) DEFINE A AS x > 'a'", "REX404", "x > 'a'"),
    ],
)
def test_errors_stand_at_their_place_in_the_clause(clause: str, code: str, at: str) -> None:
    """The text in the message is the user's, without a table's name that the user did not write."""
    with pytest.raises(rex.RexError) as raised:
        rex.match(clause, TABLE)
    assert raised.value.position == (1, clause.index(at) + 1), str(raised.value)
    assert raised.value.code == code
    assert "rex_" not in str(raised.value)


def test_a_clause_may_have_a_column_list() -> None:
    found = rex.match("MATCH_RECOGNIZE (ORDER BY ts MEASURES COUNT(*) AS n PATTERN (A+)) AS m (how_many);", TABLE)
    assert found.to_pylist() == [{"how_many": 4}]


def test_a_query_without_parameters_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Although its text has colons and question marks."""
    text = "PATTERN SEQ(A? a, B b) WHERE skip_till_any_match(a, b) RETURN ':x ?' AS word, b.x::int AS x"
    query = rex.events(text, time="ts", type="kind", dialect="duckdb")
    with_one = rex.match("ORDER BY ts MEASURES COUNT(*) AS n PATTERN (A?) DEFINE A AS x > :low")

    def parsed(*_: object) -> None:
        raise AssertionError("parsed again")

    monkeypatch.setattr(pipeline, "parse_clause", parsed)
    nothing: list[Any] = [None, {}, []]
    for args in nothing:
        assert query(TABLE, args=args).num_rows == 4
    with pytest.raises(rex.InternalError, match="parsed again"):
        with_one(TABLE, args={"low": 1})


def test_buffer_is_of_event_queries() -> None:
    assert rex.decompress(PAIRS.buffer(TABLE)) == PAIRS(TABLE)
    for query, tables in ((RUNS, (TABLE,)), (SEGMENTS, (TABLE,)), (STATEMENT, ({"t": TABLE},))):
        with pytest.raises(rex.UnsupportedError, match=r"REX301.*this query has no buffer") as raised:
            query.buffer(*tables)
        assert raised.value.position is not None
        assert raised.value.hint is not None
    alone = rex.compile(f"SELECT * FROM t MATCH_EVENTS (TIME ts TYPE kind {EVENTS})")
    assert rex.decompress(alone.buffer(t=TABLE)) == PAIRS(TABLE)
    with pytest.raises(rex.UnsupportedError, match="REX301"):
        rex.compile(f"SELECT count(*) FROM t MATCH_EVENTS (TIME ts TYPE kind {EVENTS})").buffer(t=TABLE)


def test_matchers_are_those_of_the_modes() -> None:
    assert set(MATCHERS) == {name for mode in MODES for name in mode_of(mode).matchers}


@pytest.mark.parametrize(
    ("query", "matcher", "known"),
    [
        (RUNS, "nfab", "rows: automaton, ops, ops_forward, ops_reverse, backtrack, interpreter"),
        (PAIRS, "automaton", "events: nfab, basic, backtrack"),
        (SEGMENTS, "backtrack", "segments: none"),
    ],
)
def test_a_matcher_of_another_mode(query: rex.Query, matcher: str, known: str) -> None:
    other = rex.compile(query, settings={"matcher": matcher})
    for call in (other, other.explain, other.reader):
        with pytest.raises(rex.AnalysisError, match="REX217") as raised:
            call(TABLE)
        assert known in str(raised.value.hint)


def test_a_statement_of_two_modes_takes_the_matchers_of_both() -> None:
    text = (
        f"SELECT count(*) AS n FROM t MATCH_EVENTS (TIME ts TYPE kind {EVENTS}) e CROSS JOIN "
        "t MATCH_RECOGNIZE (ORDER BY ts MEASURES COUNT(*) AS m PATTERN (A+)) r"
    )
    expected = rex.sql(text, t=TABLE)
    for matcher in ("automaton", "backtrack", "interpreter", "nfab", "basic"):
        assert rex.sql(text, t=TABLE, settings={"matcher": matcher}) == expected


def test_ties_are_broken_by_the_setting_in_every_mode() -> None:
    table = pa.table({"ts": [1, 1, 1], "id": [3, 1, 2], "kind": ["C", "A", "B"]})
    settings = {"tie_break": "id"}
    rows = "ORDER BY ts MEASURES FIRST(id) AS a, LAST(id) AS b PATTERN (A+)"
    assert rex.match(rows, table).to_pylist() == [{"a": 3, "b": 2}]
    assert rex.match(rows, table, settings=settings).to_pylist() == [{"a": 1, "b": 3}]
    segments = "ORDER BY ts MEASURES first(S.id) AS a, last(S.id) AS b PATTERN (S) DEFINE SEGMENT S AS window(2)"
    assert rex.match(segments, table).to_pylist() == [{"a": 3, "b": 1}, {"a": 1, "b": 2}]
    assert rex.match(segments, table, settings=settings).to_pylist() == [{"a": 1, "b": 2}, {"a": 2, "b": 3}]
    events = "PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) RETURN a.id AS a, b.id AS b"
    for options in ({"settings": settings}, {"tie_break": "id"}, {"tie_break": "ts", "settings": settings}):
        found = rex.events(events, table, time="ts", type="kind", **options)
        assert found.to_pylist() == [{"a": 1, "b": 2}]
    shown = rex.match("ORDER BY ts ALL ROWS PER MATCH PATTERN (A)", table, settings=settings)
    assert shown.column_names == ["ts", "id", "kind"]  # as without the setting
    with pytest.raises(rex.AnalysisError, match=r"REX201.*setting tie_break: the input has no column no"):
        rex.match(rows, table, settings={"tie_break": "no"})


def test_an_explanation_draws_itself() -> None:
    found = rex.explain("SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts PATTERN (A) DEFINE A AS x < 7)", t=TABLE)
    assert isinstance(found, rex.Explanation)
    drawn = found._repr_html_()
    assert "monospace" in drawn
    assert "x &lt; 7" in drawn.replace("[running last]", "")
    assert "<" not in drawn.removeprefix(drawn[: drawn.index(">") + 1]).removesuffix("</pre>")


LATE = """ORDER BY ts MEASURES FIRST(ts) AS a AFTER MATCH SKIP TO LAST B PATTERN (A B?) DEFINE B AS x > PREV(x)"""


@pytest.mark.parametrize("clause", [LATE, f"MATCH_RECOGNIZE ({LATE})"])
def test_a_reader_gives_batches_as_they_are_decided(clause: str) -> None:
    """The last rows end in an error, and what comes before them has been read by then."""
    table = pa.table({"ts": range(9), "x": [1, 2, 3, 4, 5, 6, 7, 8, 0]})
    reader = rex.match(clause, settings={"chunk_rows": 3}).reader(table)
    assert reader.schema.names == ["a"]
    read = []
    with pytest.raises(rex.ExecutionError, match="REX402"):
        for batch in reader:
            read += batch.column("a").to_pylist()
    assert read == [0, 1, 2, 3, 4]


def test_a_reader_reads_the_whole_answer() -> None:
    table = pa.table({"k": [i % 3 for i in range(50)], "ts": range(50), "x": [i * 7 % 10 for i in range(50)]})
    query = rex.compile("""SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES MATCH_NUMBER() AS n
        ALL ROWS PER MATCH PATTERN (A B+) DEFINE B AS x > PREV(x))""", settings={"chunk_rows": 4})
    assert query.reader(t=table).read_all().equals(rex.sql(query.text, t=table))
    joined = rex.compile(f"SELECT count(*) AS n FROM ({query.text}) AS s")
    assert joined.reader(t=table).read_all().to_pylist() == [{"n": rex.sql(query.text, t=table).num_rows}]


def test_a_fault_while_batches_are_read_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not as a bare traceback: the second feed goes wrong, when the reader has long been given out."""
    feeds = RowRunner.feed
    fed: list[int] = []

    def feed(runner: RowRunner, *arguments: Any) -> pa.Table:
        fed.append(1)
        if len(fed) == 2:
            raise ValueError("odd")
        return feeds(runner, *arguments)

    monkeypatch.setattr(RowRunner, "feed", feed)
    query = rex.match("ORDER BY ts MEASURES ts AS a PATTERN (A)", settings={"chunk_rows": 3})
    reader = query.reader(pa.table({"ts": range(9)}))
    with pytest.raises(rex.InternalError, match=r"REX901.*ValueError: odd"):
        reader.read_all()
