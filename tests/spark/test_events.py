"""Event queries on Spark: the same matches as in memory; what Spark filters and shuffles; errors, composition."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import PySparkException
from tests.modes.events.test_engine import (
    CHAINS,
    CONTAMINATION,
    EVENTS,
    LETTERS,
    READINGS,
    SHIPMENTS,
    SHOPLIFTING,
    TICKS,
    TREND,
)
from tests.spark.sample import plan

import sparkrex as rex
from sparkrex.errors import AnalysisError, RexError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.filterwarnings("ignore:event query without partitions")


def _stream(n_rows: int = 400, seed: int = 7) -> pa.Table:
    """Four kinds of events in five partitions and in none, two at each time, in no order."""
    random = np.random.default_rng(seed)
    table = pa.table(
        {
            "ts": [datetime(2024, 5, 1) + timedelta(minutes=int(row)) for row in np.arange(n_rows) // 2],
            "id": np.arange(n_rows),
            "kind": random.choice(list("ABCX"), n_rows),
            "k": pa.array([None if key == 5 else f"k{key}" for key in random.integers(0, 6, n_rows)]),
            "x": random.integers(0, 20, n_rows),
            "v": np.round(random.random(n_rows) * 10, 2),
        }
    )
    return table.take(pa.array(random.permutation(n_rows)))


STREAM = _stream()
OPTIONS: dict[str, Any] = {"time": "ts", "type": "kind", "tie_break": "id"}


@pytest.fixture
def stream(spark: SparkSession) -> DataFrame:
    """The stream as a DataFrame of several partitions."""
    return spark.createDataFrame(STREAM).repartition(3)


@pytest.fixture
def letters(spark: SparkSession) -> DataFrame:
    """The few letters of the tests in memory."""
    return spark.createDataFrame(LETTERS)


def _plain(value: Any) -> Any:
    # Spark gives timestamps without their zone, which is UTC here.
    return value.replace(tzinfo=None) if isinstance(value, datetime) else value


def _rows(result: Any) -> list[tuple[Any, ...]]:
    rows = (row.values() for row in result.to_pylist()) if isinstance(result, pa.Table) else result.collect()
    return sorted((tuple(map(_plain, row)) for row in rows), key=repr)


def _same(query: str, frame: DataFrame, table: pa.Table = STREAM, **options: Any) -> list[tuple[Any, ...]]:
    options = {**OPTIONS, **options}
    found = _rows(rex.events(query, frame, **options))
    assert found == _rows(rex.events(query, table, **options))
    assert found
    return found


# The paper's queries.


def test_queries_1_to_3(spark: SparkSession) -> None:
    plain = {"tie_break": ()}
    _same(SHOPLIFTING, spark.createDataFrame(READINGS), READINGS, **plain)
    by_tag = SHOPLIFTING.replace("a.tag_id = b.tag_id AND a.tag_id = c.tag_id", "[tag_id]")
    _same(by_tag, spark.createDataFrame(READINGS), READINGS, **plain)
    assert len(_same(CONTAMINATION, spark.createDataFrame(SHIPMENTS), SHIPMENTS, **plain)) == 4
    query = f"{TREND} RETURN array_agg(a[].ts) AS a, b.ts AS b"
    assert _same(query, spark.createDataFrame(TICKS), TICKS, type=None, **plain) == [
        ([1, 2, 3, 4, 5, 6, 7], 8), ([1, 2, 3, 4, 5], 6), ([3, 4], 6),
    ]


# Strategies, windows, negation, ties.


@pytest.mark.parametrize("strategy", ["partition_contiguity", "skip_till_next_match", "skip_till_any_match"])
@pytest.mark.parametrize("window", ["9 minutes", "7 EVENTS"])
def test_strategies(strategy: str, window: str, stream: DataFrame) -> None:
    query = f"""PATTERN SEQ(A a, B+ b[], C c) WHERE {strategy}(a, b[], c) {{ [k] AND b[i].x >= b[i-1].x - 5 }}
        WITHIN {window} RETURN a.id AS a, array_agg(b[].id) AS b, c.ts AS c"""
    for settings in ({}, {"sort_memory": 1, "chunk_rows": 17}, {"chunk_rows": 50}, {"matcher": "basic"}):
        _same(query, stream, settings=settings)


def test_strict_contiguity_goes_through_one_task(stream: DataFrame, letters: DataFrame) -> None:
    query = "PATTERN SEQ(A a, B+ b[]) WHERE strict_contiguity(a, b[]) { %s } RETURN a.id AS a, array_agg(b[].id) AS b"
    for settings in ({}, {"chunk_rows": 7}):
        with pytest.warns(UserWarning, match="one task; use partition_contiguity"):
            _same(query % "b[1].x > 2", stream, settings=settings)
    _same((query % "[k]").replace("id", "ts"), letters, LETTERS, tie_break=())


def test_without_an_equivalence_test(stream: DataFrame) -> None:
    query = "PATTERN SEQ(A a, X x, B b) WHERE skip_till_next_match(a, x, b) { x.v > a.v } WITHIN 5 minutes"
    with pytest.warns(UserWarning, match=r"one task; add an equivalence test \[attribute\]") as caught:
        result = rex.events(query, stream, **OPTIONS)
    assert caught[0].filename == __file__
    # One task, so the numbers are those in memory.
    assert _rows(result) == _rows(rex.events(query, STREAM, **OPTIONS)) != []


@pytest.mark.parametrize(
    "pattern",
    ["SEQ(~(X x), A a, B b)", "SEQ(A a, ~(X x), B b)", "SEQ(A a, B b, ~(X x))", "SEQ(A a, B? o, ~(C x), B b)"],
)
def test_negation(pattern: str, stream: DataFrame) -> None:
    listed = "a, o, b" if "o," in pattern else "a, b"
    query = f"PATTERN {pattern} WHERE skip_till_any_match({listed}) {{ [k] AND x.v < a.v }} WITHIN 12 minutes"
    for settings in ({}, {"sort_memory": 1, "chunk_rows": 13}):
        found = rex.events(query, stream, settings=settings, **OPTIONS)
        assert _rows(found) == _rows(rex.events(query, STREAM, **OPTIONS)) != []


@pytest.mark.parametrize(
    ("pattern", "where", "returned"),
    [
        # Functions of one event are Spark's, of the rest the workers'; b may be missing.
        ("AND(A a, B? b, C c)", "upper(c.kind) || 'x' = 'Cx' AND coalesce(round(b.v), 3) + a.x > c.x", "b.id AS b"),
        ("AND(A a, KL(B b), C c)", "b[b.LEN].x > a.x AND count(b[]) < 3 AND c.x > 2 * b[1].x", "count(b[]) AS n"),
        ("AND(A a, NOT(X x), C c)", "x.v < a.v AND x.v < c.v", "c.v AS v"),
        ("SEQ(AND(A a, C c), NOT(X x), OR(B b, A d))", "x.v < d.v AND b.x > a.x AND d.x > c.x", "d.id AS d"),
    ],
)
def test_any_order(pattern: str, where: str, returned: str, stream: DataFrame) -> None:
    query = f"""PATTERN {pattern} WHERE {{ [k] AND {where} }} WITHIN 9 minutes
        RETURN a.id AS a, c.id AS c, {returned}"""
    for settings in ({}, {"sort_memory": 1, "chunk_rows": 17}, {"matcher": "basic"}):
        _same(query, stream, settings=settings)
    equal = query.replace("[k] AND", "a.k = c.k AND a.x < 18 AND")
    _same(equal, stream)


def test_any_order_partitioned_by_equalities(stream: DataFrame) -> None:
    query = "PATTERN AND(A a, B b) WHERE a.k = b.k WITHIN 9 minutes RETURN a.id AS a, b.id AS b"
    explained = str(rex.explain(rex.events(query, **OPTIONS), stream))
    assert "partition by equalities: a.k = b.k" in explained
    assert "begin b (state 3) if ((kind = 'B') AND (a.k = k))" in explained
    _same(query, stream)


def test_strict_ties_and_no_overlaps(stream: DataFrame) -> None:
    query = """PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) { [k] AND b.x > 0 } WITHIN 30 minutes %s
        RETURN a.id AS a, b.id AS b"""
    ordered, strict = _same(query % "", stream), _same(query % "", stream, ties="strict")
    assert ordered != strict
    assert len(_same(query % "OUTPUT NON-OVERLAPPING", stream)) < len(ordered)


def test_more_than_sequences(stream: DataFrame) -> None:
    _same(
        """PATTERN SEQ(A a, (B b | C c), SEQ(X x[], B y[]){1,2}) WHERE skip_till_any_match(a, b, c, x[], y[]) {
             [k] AND x[i].v > x[i-1].v AND avg(y[].v) > 3 } WITHIN 15 minutes
           RETURN a.id AS a, b.id AS b, c.id AS c, array_agg(x[].id) AS x, max(y[].v) AS y""",
        stream,
    )


# What is whose work.


def test_one_event_is_spark_s_and_several_the_workers(stream: DataFrame, spark: SparkSession) -> None:
    """Functions that only Spark has, in types, conditions and RETURN; a user's too."""
    spark.udf.register("rex_half", lambda value: None if value is None else value / 2, "double")
    query = """PATTERN SEQ(Small a, B+ b[], C? c) WHERE skip_till_next_match(a, b[], c) {
          [k] AND soundex(b[1].k) = soundex(a.k) AND b[i].v > avg(b[..i-1].v) * 1.1 AND sqrt(b[i].x) > 1 AND
          coalesce(c.v, 0) <= rex_half(a.x) + 3 } WITHIN 40 minutes
        RETURN upper(a.k) AS k, rex_half(b[b.LEN].v) + a.x AS h, count(b[]) AS n, date_format(b[1].ts, 'HH') AS hour,
          c.id AS c, soundex(a.kind) AS s"""
    types = {"Small": "kind = 'A' AND rex_half(x) < 8 AND soundex(kind) = 'A000'"}
    result = rex.events(query, stream, types=types, **OPTIONS)
    assert result.dtypes == [
        ("k", "string"), ("h", "double"), ("n", "bigint"), ("hour", "string"), ("c", "bigint"), ("s", "string"),
    ]
    in_memory = query.replace("soundex(b[1].k) = soundex(a.k) AND ", "").replace("rex_half(a.x)", "(a.x / 2.0)")
    in_memory = in_memory.replace("rex_half(b[b.LEN].v)", "b[b.LEN].v / 2").replace("soundex(a.kind)", "'A000'")
    in_memory = in_memory.replace("date_format(b[1].ts, 'HH')", "lpad(CAST(hour(b[1].ts) AS STRING), 2, '0')")
    expected = rex.events(in_memory, STREAM, types={"Small": "kind = 'A' AND x / 2.0 < 8"}, **OPTIONS)
    assert _rows(result) == _rows(expected) != []


def test_a_component_that_is_not_there(letters: DataFrame) -> None:
    """Its columns are NULL, in conditions too."""
    _same(
        """PATTERN SEQ(A a, X? x, B b) WHERE skip_till_any_match(a, x, b) { [k] AND coalesce(x.x, 5) + 2 > 1 AND
             concat_ws('-', x.kind, 'z') <> b.kind }
           RETURN a.ts AS a, x.ts AS x, b.ts AS b, coalesce(x.kind, 'none') AS kind""",
        letters, LETTERS, tie_break=(),
    )


def test_other_types_are_left_out_before_the_shuffle(spark: SparkSession, tmp_path: Path) -> None:
    pq.write_table(STREAM, tmp_path / "stream.parquet")
    stream = spark.read.parquet(str(tmp_path))
    query = "PATTERN SEQ(A a, B b) WHERE %s(a, b) { [k] AND b.x > a.x } %s RETURN a.id AS a, b.id AS b"
    for strategy in ("skip_till_next_match", "skip_till_any_match"):
        text = plan(rex.events(query % (strategy, ""), stream, **OPTIONS))
        # Below the exchange: plans are read from the bottom.
        (below,) = text.split("hashpartitioning(k0#")[1:]
        (line,) = [line for line in below.splitlines() if "Filter " in line]
        assert re.search(r"kind#\d+ IN \(A,B\)|kind#\d+ = A\) OR \(kind#\d+ = B", line)
        assert "isnotnull(k#" in line
    for strategy, window in (("partition_contiguity", ""), ("skip_till_any_match", "WITHIN 5 EVENTS")):
        text = plan(rex.events(query % (strategy, window), stream, **OPTIONS))
        (line,) = [line for line in text.splitlines() if "Filter " in line]
        assert "isnotnull(k#" in line
        assert "kind" not in line


def test_one_exchange_and_only_what_is_read(stream: DataFrame, jobs: Callable[[], int]) -> None:
    query = "PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) { [k] } RETURN a.ts AS a"
    assert plan(rex.events(query, stream.repartition("k"), **OPTIONS)).count("hashpartitioning(k") == 1
    sent = _sent(rex.events(query, stream, **OPTIONS))
    assert [name in sent for name in ("k#", "ts#", "id#", "kind#", "x#", "v#")] == [True] * 4 + [False] * 2
    sql = f"""SELECT match_id, x FROM s MATCH_EVENTS (TIME ts TIE BREAK id TYPE kind
        {query.replace("RETURN a.ts AS a", "")}) AS m"""
    sent = _sent(rex.sql(sql, s=stream))
    assert [name in sent for name in ("x#", "v#")] == [True, False]
    assert jobs() == 0


def _sent(frame: DataFrame) -> str:
    """The projection of what is shuffled."""
    (line,) = [line for line in plan(frame).splitlines() if "Project" in line and "AS k0#" in line]
    return line


def test_explain(stream: DataFrame, jobs: Callable[[], int]) -> None:
    query = """PATTERN SEQ(A a, B+ b[]) WHERE skip_till_any_match(a, b[]) { [k] AND b[i].x > b[i-1].x } WITHIN 5 minutes
        RETURN count(b[]) AS n"""
    text = str(rex.explain(rex.events(query, **OPTIONS), stream))
    in_memory = str(rex.explain(rex.events(query, **OPTIONS), STREAM))
    assert text.startswith(in_memory)
    assert "take b[i]" in in_memory
    assert "MapInArrow" in text[len(in_memory) :]
    sql = f"SELECT max(n) FROM s MATCH_EVENTS (TIME ts TIE BREAK id TYPE kind {query})"
    assert "MapInArrow" in str(rex.explain(sql, s=stream))
    assert jobs() == 0


# What comes out.


def test_return_events(stream: DataFrame, spark: SparkSession) -> None:
    query = "PATTERN SEQ(A a, B+ b[]) WHERE skip_till_next_match(a, b[]) { [k] } WITHIN 10 minutes RETURN EVENTS"
    expected = rex.events(query, STREAM, **OPTIONS)
    found = rex.events(query, stream, **OPTIONS)
    assert found.columns == expected.column_names
    assert found.dtypes[:2] == [("match_id", "bigint"), ("variable", "string")]
    assert _rows(found) == _rows(expected)
    # The same number in whatever task, and if the rows arrive in another order or chunk by chunk.
    spark.conf.set("spark.sql.adaptive.coalescePartitions.enabled", "false")
    try:
        found = rex.events(query, stream, **OPTIONS)
        again = rex.events(query, stream.orderBy("x", "id"), settings={"sort_memory": 1}, **OPTIONS)
        assert _rows(found.coalesce(1)) == _rows(expected)
        assert _rows(found) == _rows(again) == _rows(expected)
    finally:
        spark.conf.unset("spark.sql.adaptive.coalescePartitions.enabled")


def test_composition(letters: DataFrame, stream: DataFrame) -> None:
    statements = [
        f"SELECT k, max(n) AS longest FROM t {EVENTS} AS m WHERE m.ts > 0 GROUP BY k",
        f"SELECT name, n FROM t {EVENTS} AS m JOIN names ON m.k = names.k",
        f"""WITH big AS (SELECT * FROM t WHERE x > 2), found AS (SELECT * FROM big {EVENTS})
            SELECT k, n FROM found""",
        f"SELECT * FROM t {EVENTS} AS m (x, y, z)",
        f"""SELECT * FROM t {EVENTS} AS chains MATCH_EVENTS (
              TIME ts TIE BREAK n PATTERN SEQ(Chain c, Chain d)
              WHERE skip_till_any_match(c, d) {{ c.k <> d.k AND c.n = d.n }} RETURN c.k AS a, d.k AS b, c.n AS n)""",
        f"""SELECT * FROM t {EVENTS} AS m MATCH_RECOGNIZE (
              PARTITION BY k ORDER BY ts, n MEASURES count(*) AS n PATTERN (S G+) DEFINE G AS n > PREV(n))""",
        """SELECT * FROM t MATCH_RECOGNIZE (
              PARTITION BY k ORDER BY ts MEASURES first(ts) AS ts, count(*) AS n PATTERN (A B+) DEFINE B AS kind = 'B')
           AS m MATCH_EVENTS (TIME ts PATTERN SEQ(Run a, Run b) WHERE skip_till_next_match(a, b) { b.n > a.n }
                              RETURN a.k AS a, b.k AS b)""",
        """SELECT id, count(*) AS n, count(DISTINCT v) AS nv FROM t MATCH_EVENTS (
              TIME ts TYPE kind PATTERN SEQ(A a, B+ b[]) WHERE skip_till_any_match(a, b[])) AS m (id, v, ts, k, kind, x)
           GROUP BY id""",
    ]
    names = pa.table({"k": ["p", "q"], "name": ["pea", "quince"]})
    for statement in statements:
        assert _rows(rex.sql(statement, t=letters, names=names)) == _rows(
            rex.sql(statement, t=LETTERS, names=names)
        ) != [], statement
    result = rex.events("PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) { [k] } RETURN a.k AS k", stream,
                        **OPTIONS)
    assert result.join(stream, "k").filter("kind = 'C'").groupBy("k").count().count() == 5


def test_no_columns_and_no_rows(stream: DataFrame) -> None:
    query = "PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) { [k] } RETURN 1 AS one"
    _same(query, stream)
    statement = f"SELECT count(*) AS n FROM s MATCH_EVENTS (TIME ts TIE BREAK id TYPE kind {query})"
    assert _rows(rex.sql(statement, s=stream)) == _rows(rex.sql(statement, s=STREAM))
    empty = stream.filter("false")
    assert rex.events(query.replace("1 AS one", "b.v + 1 AS v"), empty, **OPTIONS).collect() == []
    assert rex.events(query.replace("1 AS one", "EVENTS"), empty, **OPTIONS).collect() == []


def test_keys_and_tie_breaks_that_spark_compares(stream: DataFrame) -> None:
    """Arrays, structs and collated strings as attributes and tie-breaks."""
    query = """PATTERN SEQ(A a, B+ b[]) WHERE skip_till_next_match(a, b[]) { [k] AND b[i].x >= b[i-1].x }
        WITHIN 1 hours RETURN a.id AS a, array_agg(b[].id) AS b"""
    expected = _same(query, stream)
    for key in ("array(k)", "named_struct('a', k)", "upper(k) COLLATE UTF8_LCASE"):
        frame = stream.filter("k IS NOT NULL").withColumn("k", _expr(key))
        assert _rows(rex.events(query, frame, settings={"chunk_rows": 20}, **OPTIONS)) == expected
    frame = stream.withColumn("pair", _expr("struct(id % 2 AS r, id)"))
    table = STREAM.append_column("r", pa.compute.bit_wise_and(STREAM["id"], 1))
    for test in ("[k] AND", ""):
        one = query.replace("[k] AND", test)
        found = rex.events(one, frame, **{**OPTIONS, "tie_break": "pair"})
        assert _rows(found) == _rows(rex.events(one, table, **{**OPTIONS, "tie_break": ["r", "id"]}))
    tied = frame.withColumn("pair", _expr("array(id % 2 * 0)"))
    with pytest.raises(PySparkException, match=r"REX409.*same ts and pair"):
        rex.events(query, tied, **{**OPTIONS, "tie_break": "pair"}).collect()
    with pytest.raises(AnalysisError, match=r"REX214.*STRUCT.*a time or a number"):
        rex.events(query.replace("WITHIN 1 hours", ""), frame, time="pair", type="kind")


def _expr(text: str) -> Any:
    from pyspark.sql import functions

    return functions.expr(text)


# Errors.


def test_ties_are_an_error_with_place_and_key(stream: DataFrame) -> None:
    query = "PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) { [k] } RETURN a.ts AS a"
    twice = stream.union(stream.filter("k = 'k3'"))
    for settings in ({}, {"sort_memory": 1, "chunk_rows": 9}):
        with pytest.raises(PySparkException, match=r"REX409\]: two events have the same ts and id,") as caught:
            rex.events(query, twice, settings=settings, **OPTIONS).collect()
        assert "in partition k = 'k3'" in str(caught.value)
        assert "^^^^" in str(caught.value)
        assert "Traceback" not in str(caught.value).split("REX409")[1]
    # A key that reads like the name of a column that only we know.
    odd = twice.withColumn("k", _expr("concat('k0 = ', k)"))
    with pytest.raises(PySparkException, match=r"in partition k = 'k0 = k3'"):
        rex.events(query, odd, **OPTIONS).collect()
    # An event that the query does not name may have no time.
    untimed = stream.withColumn("ts", _expr("CASE WHEN kind <> 'X' THEN ts END"))
    assert rex.events(query, untimed, **OPTIONS).count() > 0
    with pytest.raises(PySparkException, match=r"REX409\]: an event has no time: ts is NULL"):
        rex.events(query.replace("B b", "X b"), untimed, **OPTIONS).collect()


def test_memory_is_bounded(spark: SparkSession) -> None:
    many = pa.table({"ts": range(40), "kind": ["A"] + ["B"] * 39, "k": ["one"] * 40})
    query = "PATTERN SEQ(A a, B+ b[]) WHERE skip_till_any_match(a, b[]) { [k] } RETURN count(b[]) AS n"
    with pytest.raises(PySparkException, match=r"REX410\]: [^\n]*max_event_memory = 1,000,000 bytes") as caught:
        rex.events(
            query, spark.createDataFrame(many), time="ts", type="kind", settings={"max_event_memory": 1_000_000}
        ).collect()
    assert "^^^^" in str(caught.value)
    assert "in partition k = 'one'" in str(caught.value)
    assert "rex.trends" in str(caught.value)


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("PATTERN SEQ(A a) WHERE skip_till_next_match(a) { [kk] }", "REX201"),
        ("PATTERN SEQ(A a) WHERE partition_contiguity(a)", "REX223"),
        ("PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a)", "REX223"),
        ("PATTERN SEQ(A a) WHERE skip_till_next_match(a) { frobnicate(a.x) > 1 AND [k] }", "REX213"),
        ("PATTERN SEQ(A a) WHERE skip_till_next_match(a) { [k] } RETURN frobnicate(a.x) AS f", "REX213"),
        ("PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) { [k] AND levenshtein(a.k, b.k) > 1 }", "REX301"),
        ("PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) { [k] AND md5(concat(a.k, b.k)) < 'b' }", "REX301"),
        ("PATTERN SEQ(A a, B+ b[]) WHERE skip_till_next_match(a, b[]) { [k] } RETURN skewness(b[].x) AS s", "REX301"),
    ],
)
def test_what_is_wrong_shows_before_any_job(
    query: str, code: str, stream: DataFrame, jobs: Callable[[], int]
) -> None:
    with pytest.raises(RexError, match=code):
        rex.events(query, stream, **OPTIONS)
    assert jobs() == 0


def test_types_of_the_call_that_spark_refuses(stream: DataFrame) -> None:
    query = "PATTERN SEQ(Odd a) WHERE skip_till_next_match(a) { [k] }"
    with pytest.raises(RexError, match="REX213"):
        rex.events(query, stream, time="ts", tie_break="id", types={"Odd": "frobnicate(x) = 1"})


def test_buffers_and_readers_are_for_memory(stream: DataFrame) -> None:
    query = rex.events("PATTERN SEQ(A a) WHERE skip_till_next_match(a)", **OPTIONS)
    for call, name in ((query.buffer, "buffer"), (query.reader, "reader")):
        with pytest.raises(UnsupportedError, match=rf"REX301.*{name}\(\) is for queries in memory"):
            call(stream)


def test_a_query_in_a_chain_and_ties_broken_by_the_setting(stream: DataFrame) -> None:
    text = "PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) { [k] } RETURN a.id AS a, b.id AS b"
    expected = _rows(rex.events(text, STREAM, **OPTIONS))
    assert expected
    assert _rows(stream.transform(rex.events(text, **OPTIONS))) == expected
    options: dict[str, Any] = {"time": "ts", "type": "kind", "settings": {"tie_break": "id"}}
    assert _rows(stream.transform(rex.events(text, **options))) == expected
    assert _rows(rex.events(text, STREAM, **options)) == expected


def test_in_memory_streams_on_spark(spark: SparkSession) -> None:
    query = CHAINS.format(strategy="skip_till_any_match")
    found = rex.events(query, LETTERS, time="ts", type="kind", spark=spark)
    assert _rows(found) == _rows(rex.events(query, LETTERS, time="ts", type="kind"))


@pytest.mark.parametrize(
    "condition",
    ["count(b[]) > 1", "c.x > count(b[])", "b[i].x > count(b[..i-1])", "count(b[]) > 1 AND count(b[].v) < 4"],
)
def test_counts_in_conditions(condition: str, spark: SparkSession) -> None:
    """Spark's query and the workers' are analysed one after the other, from one tree."""
    query = (
        f"PATTERN SEQ(A a, B+ b[], C c) WHERE skip_till_next_match(a, b[], c) {{ [k] AND {condition} }} WITHIN 2 hours "
        "RETURN a.id AS a, count(b[]) AS n, c.id AS c"
    )
    expected = _rows(rex.events(query, STREAM, dialect="spark", **OPTIONS))
    assert expected
    assert _rows(rex.events(query, spark.createDataFrame(STREAM), **OPTIONS)) == expected


@pytest.mark.parametrize("times", [[1.0, float("nan")], [-(2**63), 2**63 - 1]])
def test_windows_at_the_ends_of_time(times: list[Any], spark: SparkSession) -> None:
    frame = spark.createDataFrame(pa.table({"ts": times, "kind": ["A", "B"]}))
    query = "PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) {} RETURN a.ts AS a"
    assert len(rex.events(query.format("WITHIN 3"), frame, time="ts", type="kind").collect()) == 0
    assert len(rex.events(query.format("WITHIN 3 EVENTS"), frame, time="ts", type="kind").collect()) == 1
