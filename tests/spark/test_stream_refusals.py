"""What cannot work on a stream is an error at its place in the query, before the query starts."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from tests.spark.stream_files import Files, ticks

import sparkrex as rex
from sparkrex.spark.streaming.requirements import check_protobuf

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

_QUERY = "SELECT * FROM ticks MATCH_RECOGNIZE ({keys} ORDER BY {order} PATTERN (A B) DEFINE B AS price > PREV(price))"
_MESSAGES = "pyspark.sql.streaming.proto.StateMessage_pb2"
_EVENTS = "PATTERN SEQ(Buy a, Sell b) WHERE skip_till_next_match(a, b) { [sym] } WITHIN 9 seconds RETURN a.ts AS t"


@pytest.fixture(scope="module")
def files(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Files:
    """One file."""
    made = Files(spark, tmp_path_factory.mktemp("refused"))
    made.add(ticks(1, 10).append_column("received", pa.array([None] * 10, pa.timestamp("us", "UTC"))))
    return made


def refused(ask: Callable[[], object], code: str, at: str | None, words: str) -> None:
    """The error of a query, at the last place where the text stands."""
    with pytest.raises(rex.RexError, match=words) as raised:
        ask()
    error = raised.value
    assert error.code == code
    if at is not None:
        assert error.source is not None
        assert error.span is not None
        assert error.source.text[error.span.start : error.span.end].startswith(at)
    assert error.hint


def asked(frame: DataFrame, order: str = "ts", keys: str = "PARTITION BY sym") -> Callable[[], Any]:
    """A query with this order and these keys."""
    return lambda: rex.sql(_QUERY.format(order=order, keys=keys), ticks=frame)


@pytest.mark.parametrize(
    ("order", "at", "words"),
    [
        ("price", "price", "rows are ordered by price first, and the watermark of the stream is on ts"),
        ("received, ts", "received", "ordered by received first"),
        ("date_trunc('hour', ts)", "date_trunc", "ordered by an expression first"),
        ("ts DESC", "ts", "DESC: a stream is read from its earliest row on"),
        ("ts NULLS LAST", "ts", "NULLS LAST"),
    ],
)
def test_another_order(files: Files, order: str, at: str, words: str) -> None:
    refused(asked(files.stream(), order), "REX231", at, words)


def test_another_time_of_events(files: Files) -> None:
    query = rex.events(_EVENTS, time="received", type="kind")
    refused(lambda: query(files.stream()), "REX231", None, "ordered by received first")


def test_a_rename_is_the_same_column(files: Files) -> None:
    text = _QUERY.format(order="at, price", keys="PARTITION BY sym").replace(
        "FROM ticks", "FROM (SELECT sym, ts AS at, price FROM ticks WHERE price > 1)"
    )
    assert rex.sql(text, ticks=files.stream()).isStreaming


def test_watermarks(files: Files) -> None:
    bare = files.spark.readStream.schema(files.whole().schema).parquet(str(files.folder / "in"))
    refused(asked(bare), "REX230", "ticks MATCH_RECOGNIZE", "has no watermark")
    both = files.stream().join(files.stream().selectExpr("sym", "ts AS at"), on="sym")
    refused(asked(both), "REX231", "ticks MATCH_RECOGNIZE", "2 watermarked columns, ts and at")


@pytest.mark.parametrize(
    ("kind", "hint", "note"),
    [
        ("timestamp", 'stream.withWatermark("at", "10 seconds")', ""),
        (
            "timestamp_ntz",
            'stream.withColumn("at", stream["at"].cast("timestamp")).withWatermark("at", "10 seconds")',
            "at is a timestamp_ntz, and",
        ),
        ("date", '.cast("timestamp"))', "at is a date, and"),
        ("string", '.cast("timestamp"))', "at is a string, and"),
        ("bigint", '.cast("timestamp"))', "at is a bigint, and Spark's watermarks are on a TIMESTAMP; the cast"),
    ],
)
def test_the_hint_sets_a_watermark_on_the_order_column(files: Files, kind: str, hint: str, note: str) -> None:
    bare = files.spark.readStream.schema(files.whole().schema).parquet(str(files.folder / "in"))
    stream = bare.selectExpr("*", f"CAST(ts AS {kind}) AS at")
    with pytest.raises(rex.AnalysisError, match="has no watermark") as raised:
        asked(stream, order="at")()
    assert hint in str(raised.value.hint)
    assert note in str(raised.value)
    # What the hint says can be done.
    made = eval(str(raised.value.hint).partition(": ")[2], {"stream": stream})
    assert asked(made, order="at")().isStreaming
    if kind != "timestamp":
        with pytest.raises(rex.AnalysisError) as raised:
            asked(stream.withWatermark("ts", "1 second"), order="at")()
        assert hint in str(raised.value.hint)


@pytest.mark.parametrize(
    ("key", "code", "words"),
    [
        ("array(sym)", "REX302", r"array\(sym\) of type array<string> is not supported on streams"),
        ("pair", "REX302", "pair of type struct<.*> is not supported on streams"),
        ("folded", "REX302", "folded of type string collate UTF8_LCASE is not supported on streams"),
        ("since", "REX302", "since of type interval day to second is not supported on streams"),
        ("attributes", "REX214", "attributes of type map<.*> can be neither ordered nor compared"),
        ("parsed", "REX214", "parsed of type variant can be neither ordered nor compared"),
    ],
)
def test_keys(files: Files, key: str, code: str, words: str) -> None:
    stream = files.stream().selectExpr(
        "*", "struct(sym, kind) AS pair", "sym COLLATE UTF8_LCASE AS folded", "ts - TIMESTAMP '2020-01-01' AS since",
        "map(sym, 1) AS attributes", "parse_json('1') AS parsed",
    )
    refused(asked(stream, keys=f"PARTITION BY {key}"), code, key, words)


def test_searches_that_need_whole_partitions(files: Files) -> None:
    text = """SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY sym ORDER BY ts MEASURES last(A.ts) AS t ALL MATCHES
      PATTERN (A) DEFINE SEGMENT A AS avg(price) > 60)"""
    refused(lambda: rex.sql(text, ticks=files.stream()), "REX302", "ticks MATCH_RECOGNIZE", "needs whole partitions")


@pytest.mark.parametrize("kind", ["CREATE TABLE kept AS", "INSERT INTO kept", "CREATE OR REPLACE TABLE kept AS"])
def test_statements_that_write(files: Files, kind: str) -> None:
    text = f"{kind} {_QUERY.format(order='ts', keys='PARTITION BY sym')}"
    refused(lambda: rex.sql(text, ticks=files.stream()), "REX302", kind.split()[0], "it is started")


@pytest.mark.parametrize("limit", ["LIMIT 5", "OFFSET 5", "ORDER BY sym", "SORT BY sym"])
def test_limits_and_orders(files: Files, limit: str) -> None:
    text = _QUERY.format(order="ts", keys="PARTITION BY sym")
    refused(lambda: rex.sql(f"{text} {limit}", ticks=files.stream()), "REX302", limit.split()[0], "never end")


_PATTERN = """MATCH_RECOGNIZE (PARTITION BY sym ORDER BY ts MEASURES FIRST(ts) AS began, MATCH_ROWTIME() AS at
      PATTERN (A B) DEFINE B AS price > PREV(price))"""


@pytest.mark.parametrize("text", [
    f"SELECT began FROM ticks {_PATTERN} UNION ALL SELECT began FROM few {_PATTERN}",
    f"SELECT x.at FROM (SELECT * FROM ticks {_PATTERN}) x JOIN (SELECT * FROM few {_PATTERN}) y USING (sym, at)",
    f"SELECT * FROM (SELECT t.* FROM ticks t JOIN few f ON t.sym = f.sym AND t.ts = f.ts) {_PATTERN}",
    f"SELECT * FROM (SELECT * FROM ticks UNION ALL SELECT * FROM few) {_PATTERN}",
    f"SELECT * FROM (SELECT /*+ BROADCAST(n) */ t.* FROM ticks t JOIN names n USING (sym)) {_PATTERN}",
    f"SELECT * FROM ticks {_PATTERN} WHERE sym IN (SELECT sym FROM names)",
    f"SELECT * FROM seen {_PATTERN}",
    f"SELECT * FROM STREAM seen {_PATTERN}",
    f"SELECT * FROM ticks {_PATTERN.replace('PREV(price)', '(SELECT count(*) FROM names)')}",
])
def test_several_streams_and_tables(files: Files, spark: SparkSession, text: str) -> None:
    stream, names = files.stream(), spark.sql("SELECT 'a' AS sym")
    stream.createOrReplaceTempView("seen")
    try:
        found = rex.sql(text, spark=spark, ticks=stream, few=stream.where("kind = 'Buy'"), names=names)
        assert found.isStreaming
    finally:
        spark.catalog.dropTempView("seen")


def test_several_patterns_over_a_stream_that_is_shuffled(files: Files) -> None:
    """Spark may shuffle it once, and then tells only one of them the watermark."""
    stream = files.stream().repartition(2, "sym")
    text = f"SELECT began FROM ticks {_PATTERN}"
    twice = f"{text} UNION ALL SELECT began FROM ticks {_PATTERN.replace('A B', 'A B B')}"
    assert rex.sql(text, ticks=stream).isStreaming
    refused(lambda: rex.sql(twice, ticks=stream), "REX421", f"ticks {_PATTERN.replace('A B', 'A B B')}", "watermark")
    files.spark.conf.set("spark.sql.exchange.reuse", "false")
    try:
        assert rex.sql(twice, ticks=stream).isStreaming
    finally:
        files.spark.conf.unset("spark.sql.exchange.reuse")


@pytest.mark.parametrize(
    ("text", "code", "at", "words"),
    [
        (
            "SELECT * FROM (SELECT t.*, f.ts AS other FROM ticks t JOIN few f ON t.sym = f.sym AND t.ts = f.ts) "
            f"{_PATTERN}", "REX231", "(SELECT", "2 watermarked columns, ts and other",
        ),
        (f"SELECT * FROM ticks {_PATTERN} WHERE sym IN (SELECT sym FROM few)", "REX302", None, "is a stream"),
        (
            f"SELECT * FROM ticks {_PATTERN.replace('PREV(price)', '(SELECT max(price) FROM few)')}", "REX302", None,
            "is a stream",
        ),
        (
            f"SELECT * FROM (SELECT * FROM ticks {_PATTERN}) MATCH_RECOGNIZE (PARTITION BY sym ORDER BY began "
            "PATTERN (A B))", "REX231", "began", "the watermark of the stream is on at",
        ),
    ],
)
def test_streams_where_none_can_stand(files: Files, text: str, code: str, at: str | None, words: str) -> None:
    stream = files.stream()
    refused(lambda: rex.sql(text, ticks=stream, few=stream.where("kind = 'Buy'")), code, at, words)


def test_a_view_over_the_result_is_a_stream(files: Files, spark: SparkSession) -> None:
    rex.sql(f"CREATE TEMP VIEW shapes AS {_QUERY.format(order='ts', keys='PARTITION BY sym')}", ticks=files.stream())
    assert spark.table("shapes").isStreaming
    spark.catalog.dropTempView("shapes")


def test_the_state_store(files: Files, spark: SparkSession) -> None:
    name = "spark.sql.streaming.stateStore.providerClass"
    kept = str(spark.conf.get(name))
    spark.conf.set(name, "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider")
    try:
        refused(asked(files.stream()), "REX421", None, "in RocksDB only")
    finally:
        spark.conf.set(name, kept)


def test_changelogs_are_asked_for(files: Files, spark: SparkSession) -> None:
    name = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
    spark.conf.set(name, "false")
    try:
        with pytest.warns(UserWarning, match=f'uploads all of its state.*\n.*{name}", "true"'):
            asked(files.stream())()
    finally:
        spark.conf.set(name, "true")


@pytest.mark.parametrize("lacks", ["google", "google.protobuf"])
def test_protobuf_is_missing(monkeypatch: pytest.MonkeyPatch, lacks: str) -> None:
    """Also where nothing else of `google` is there, as in an environment with PySpark alone."""
    for name in list(sys.modules):
        if name == _MESSAGES or name.partition(".")[0] == "google":
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, lacks, None)
    refused(check_protobuf, "REX421", None, "protobuf, which is not installed")


def test_protobuf_is_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    runtime_version = import_module("google.protobuf.runtime_version")
    monkeypatch.delitem(sys.modules, _MESSAGES, raising=False)
    monkeypatch.setattr(runtime_version, "MAJOR", 3)
    refused(check_protobuf, "REX421", None, "does not fit Spark's")


def test_checkpoints(files: Files, tmp_path: Path) -> None:
    text = _QUERY.format(order="ts", keys="PARTITION BY sym")
    empty = str(tmp_path)
    refused(lambda: rex.state(empty), "REX420", None, "has no state of a pattern")
    refused(lambda: rex.drain(empty, text, ticks=files.stream()), "REX420", None, "has no state")
    refused(lambda: rex.drain(empty, text, ticks=files.whole()), "REX420", None, "reads no stream")
    with pytest.raises(TypeError, match="streaming DataFrames"):
        rex.drain(empty, text, ticks=ticks(1, 3))


def test_the_session_of_another_thread(files: Files, spark: SparkSession, tmp_path: Path) -> None:
    """Where py4j has another connection, as after Ctrl-C, no session is active; there is one all the same."""
    own: Any = spark
    of_jvm = own._get_j_spark_session_class(own._jvm)
    of_jvm.clearActiveSession()
    try:
        assert type(own).getActiveSession() is None
        refused(lambda: rex.state(tmp_path), "REX420", None, "has no state of a pattern")
    finally:
        of_jvm.setActiveSession(own._jsparkSession)


def test_it_is_explained(files: Files) -> None:
    text = str(rex.explain(_QUERY.format(order="ts", keys="PARTITION BY sym"), ticks=files.stream()))
    assert "query.explain()" in text
    assert "PATTERN" in text or "pattern" in text
    assert "Rows wait for the watermark of ts, 5 seconds behind the latest row; states are in 32 buckets" in text
    columns = next(line for line in text.splitlines() if line.startswith("Columns that Spark computes: "))
    assert all(part in columns for part in ("k0 is sym", "o1 is ts", "is price"))
