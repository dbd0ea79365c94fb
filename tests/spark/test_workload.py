"""Workloads on Spark: the same matches as in memory; keys and branches, patterns of their own, stops and errors."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from tests.spark.sample import plan

import sparkrex as rex
from sparkrex.errors import AnalysisError, RexError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.filterwarnings("ignore:patterns without an equivalence test")


def _stream(n_rows: int = 300, seed: int = 5) -> pa.Table:
    """Four types of events, two at each time, in no order. Keys and values are NULL now and then."""
    random = np.random.default_rng(seed)

    def some(values: list[Any]) -> list[Any]:
        return [None if random.random() < 0.1 else value for value in values]

    prices = [Decimal(int(cents)).scaleb(-2) for cents in random.integers(0, 2000, n_rows)]
    table = pa.table(
        {
            "ts": [datetime(2024, 5, 1) + timedelta(minutes=int(row)) for row in np.arange(n_rows) // 2],
            "id": np.arange(n_rows),
            "kind": random.choice(list("ABCX"), n_rows),
            "k": some([f"k{key}" for key in random.integers(0, 4, n_rows)]),
            "j": some(random.integers(0, 3, n_rows).tolist()),
            "x": pa.array(some(random.integers(0, 20, n_rows).tolist()), pa.int64()),
            "price": pa.array(some(prices), pa.decimal128(10, 2)),
            "v": np.round(random.random(n_rows) * 10, 2),
        }
    )
    return table.take(pa.array(random.permutation(n_rows)))


STREAM = _stream()
OPTIONS: dict[str, Any] = {"time": "ts", "type": "kind", "tie_break": "id", "max_steps": 50}
SHARED = {
    "rise": "PATTERN SEQ(A a, B b, C c) WHERE [k] AND a.x < b.x AND b.x < c.x WITHIN 30 minutes",
    "both": "PATTERN AND(A a, B b) WHERE [k] AND a.x < b.x WITHIN 10 minutes",
    "alone": "PATTERN SEQ(NOT(X n), A a, B b) WHERE [k] AND n.v > a.v AND a.x < b.x WITHIN 12 minutes",
    "quiet": "PATTERN SEQ(A a, B b, NOT(C n)) WHERE [k] AND a.x < b.x WITHIN 15 minutes",
    "run": "PATTERN SEQ(A a, KL(B b), C c) WHERE [k] AND b[i].x > a.x AND b[b.LEN].v < c.v WITHIN 20 minutes",
    "formula": "PATTERN SEQ(A a, B b, C c) WHERE [k] AND a.x + b.x < c.x * 2 AND abs(a.v - c.v) < 1.5 "
               "WITHIN 25 minutes",
    "either": "PATTERN SEQ(A a, (B b | X y), C c) WHERE [k] AND a.x < c.x AND b.x > a.x AND y.v > c.v "
              "WITHIN 25 minutes",
    "maybe": "PATTERN SEQ(A a, X? y, B b) WHERE [k] AND coalesce(y.x, 5) > a.x AND b.x > a.x WITHIN 9 minutes",
    "near": "PATTERN SEQ(A a, B b) WHERE [k] AND b.x > 5 WITHIN 6 EVENTS",
}
"""Patterns with one key."""

Matches = Counter[tuple[str, tuple[Any, ...], frozenset[tuple[str, int]]]]


@pytest.fixture
def stream(spark: SparkSession) -> DataFrame:
    """The stream as a DataFrame of several partitions."""
    return spark.createDataFrame(STREAM).repartition(3)


def _matches(found: Any, texts: dict[str, str]) -> Matches:
    """Patterns, keys, and the variables and events of every match. Keys number their matches apart."""
    table = found.table
    rows = table.to_pylist() if isinstance(table, pa.Table) else [row.asDict() for row in table.collect()]
    events: dict[Any, list[tuple[str, int]]] = {}
    for row in rows:
        keys = tuple(row[key] for key in _keys(texts[row["pattern"]]))
        events.setdefault((row["pattern"], keys, row["match_id"]), []).append((row["variable"], row["id"]))
    return Counter((name, keys, frozenset(match)) for (name, keys, _), match in events.items())


def _keys(text: str) -> Iterator[str]:
    return (key for key in ("k", "j") if f"[{key}]" in text)


def _same(texts: dict[str, str], frame: DataFrame, table: pa.Table = STREAM, **options: Any) -> Matches:
    """The matches on Spark, which are those in memory; every pattern has some."""
    workload = rex.workload(texts, **{**OPTIONS, **options})
    found = _matches(workload.detect(frame), texts)
    settings = {**options.get("settings", {}), "sort_memory": 1 << 30}
    in_memory = rex.workload(texts, **{**OPTIONS, **options, "settings": settings}).detect(table)
    assert found == _matches(in_memory, texts)
    assert {name for name, _, _ in found} == set(texts)
    return found


def test_one_key_for_all(stream: DataFrame) -> None:
    found = _same(SHARED, stream)
    assert all(keys != (None,) for _, keys, _ in found)


def test_workers_that_stream_rows(stream: DataFrame) -> None:
    """Rows that were written to disk, a few at a time."""
    _same(SHARED, stream, settings={"sort_memory": 1, "chunk_rows": 17})


def test_other_keys_are_other_branches(stream: DataFrame, jobs: Callable[[], int]) -> None:
    texts = {
        "rise": SHARED["rise"], "level": "PATTERN SEQ(A a, B b) WHERE [j] AND a.x = b.x WITHIN 20 minutes",
        "pair": "PATTERN SEQ(A a, C c) WHERE [j] AND [k] AND a.x < c.x WITHIN 9 minutes",
        "same pair": "PATTERN AND(A a, C c) WHERE [k] AND [j] AND a.x < c.x WITHIN 5 minutes",
        "any": "PATTERN SEQ(A a, B b, C c) WHERE a.x < b.x AND b.x < c.x AND a.v < b.v AND b.v < c.v WITHIN 9 minutes",
        "other": "PATTERN SEQ(A a, B b) WHERE a.x < b.x AND a.v < b.v WITHIN 2 minutes",
    }
    workload = rex.workload(texts, **OPTIONS)
    warning = r"without an equivalence test \(any, other\): all events go through one task"
    with pytest.warns(UserWarning, match=warning) as caught:
        found = workload.detect(stream)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert jobs() == 0
    text = plan(found.table)
    assert text.count("MapInArrow") == 4
    assert text.count("SinglePartition") == 1
    assert found.table.columns == ["pattern", "match_id", "variable", *STREAM.column_names]
    assert found.table.dtypes[:3] == [("pattern", "string"), ("match_id", "bigint"), ("variable", "string")]
    matches = _matches(found, texts)
    assert matches == _matches(workload.detect(STREAM), texts)
    assert {name for name, _, _ in matches} == set(texts)


def test_patterns_of_their_own(stream: DataFrame) -> None:
    """Strategies, chains and aggregates that nothing is shared with, between patterns that share."""
    texts = {
        "next": "PATTERN SEQ(A a, B+ b[], C c) WHERE skip_till_next_match(a, b[], c) { [k] AND b[i].x > b[i-1].x } "
                "WITHIN 30 minutes",
        "rise": SHARED["rise"],
        "average": "PATTERN SEQ(A a, B+ b[], C c) WHERE [k] AND avg(b[].x) < c.x AND b[i].x > a.x WITHIN 9 minutes",
        "contiguous": "PATTERN SEQ(A a, B b) WHERE partition_contiguity(a, b) { [k] AND a.x < b.x }",
        "both": SHARED["both"],
        "strict": "PATTERN SEQ(A a, B b) WHERE strict_contiguity(a, b) { [k] }",
    }
    _same(texts, stream, settings={"sort_memory": 1, "chunk_rows": 20})


def test_types_by_condition(stream: DataFrame, spark: SparkSession) -> None:
    """Conditions that only Spark can test are Spark's work."""
    spark.udf.register("rex_low", lambda value: value is not None and value < 8, "boolean")
    texts = {
        "falls": "PATTERN SEQ(High h, Low l) WHERE [k] AND h.price > l.price WITHIN 8 minutes",
        "kinds": "PATTERN SEQ(High h, Low l, B b) WHERE [k] AND h.price > b.price WITHIN 6 minutes",
    }
    types = {"High": "x > 12 AND kind <> 'X'", "Low": "x < 8"}
    expected = _same(texts, stream, types=types)
    types["Low"] = "rex_low(x) AND soundex(kind) > ''"
    assert _matches(rex.workload(texts, types=types, **OPTIONS).detect(stream), texts) == expected


def test_values_of_all_kinds(stream: DataFrame) -> None:
    """Decimals, timestamps and text in conditions; one with a NULL does not hold."""
    texts = {
        "decimals": "PATTERN SEQ(A a, B b) WHERE [k] AND a.price < b.price AND b.price - a.price <= 3.5 "
                    "WITHIN 30 minutes",
        "times": "PATTERN SEQ(A a, B b) WHERE [k] AND b.ts >= a.ts + INTERVAL '5' MINUTE AND a.x = b.x "
                 "WITHIN 40 minutes",
        "text": "PATTERN SEQ(A a, X y) WHERE upper(a.k) < upper(y.k) AND a.x = y.x WITHIN 15 minutes",
        "null": "PATTERN SEQ(A a, B b) WHERE [k] AND a.x IS NULL AND b.x IS NOT NULL WITHIN 9 minutes",
        "own": "PATTERN SEQ(A a, B b) WHERE [k] AND a.price > 10 AND sqrt(b.x) > 2 AND hour(b.ts) = 1 WITHIN 9 minutes",
        "parameter": "PATTERN SEQ(A a, B b) WHERE [k] AND a.x > :low AND b.x > a.x WITHIN 9 minutes",
    }
    _same(texts, stream, args={"low": 10})


def test_strict_ties(stream: DataFrame) -> None:
    texts = {name: SHARED[name] for name in ("rise", "both", "quiet")}
    in_order = rex.workload(texts, **OPTIONS).detect(STREAM)
    assert _same(texts, stream, ties="strict") != _matches(in_order, texts)


def test_what_a_pattern_returns(stream: DataFrame, jobs: Callable[[], int]) -> None:
    texts = {
        "returned": f"{SHARED['rise']} RETURN a.k AS k, c.x - a.x AS more, c.ts AS at",
        "events": SHARED["both"],
    }
    workload = rex.workload(texts, **OPTIONS)
    found, expected = workload.detect(stream), workload.detect(STREAM)
    returned = found["returned"]
    assert jobs() == 0
    assert returned.columns == ["k", "more", "at"]
    assert Counter(map(tuple, returned.collect())) == Counter(
        (row["k"], row["more"], row["at"].replace(tzinfo=None)) for row in expected["returned"].to_pylist()
    )
    assert found["events"].columns == ["match_id", "variable", *STREAM.column_names]
    assert found["events"].count() == expected["events"].num_rows
    assert found.table.filter("pattern = 'returned'").count() == 3 * expected["returned"].num_rows
    assert list(found) == list(texts)
    with pytest.raises(KeyError, match="did you mean events"):
        found["event"]


def _many() -> pa.Table:
    """Six events of a Kleene's type under one key, two under the other."""
    keys = ["p"] * 7 + ["q"] * 3
    return pa.table({"ts": range(10), "kind": [*"KKKKKKE", *"KKE"], "k": keys, "id": range(10)})


KLEENE = {
    "kleene": "PATTERN SEQ(KL(K k), E e) WHERE [k] WITHIN 100", "single": "PATTERN SEQ(K k, E e) WHERE [k] WITHIN 100",
}


def test_a_kleene_with_too_many_events_stops(spark: SparkSession) -> None:
    frame = spark.createDataFrame(_many())
    found = rex.workload(KLEENE, time="ts", type="kind", max_kleene=4).detect(frame)
    stopped = [row.asDict() for row in found.stopped.collect()]
    assert stopped == [{"pattern": "kleene", "ts": 4, "kind": "K", "k": "p", "id": 4}]
    matches = _matches(found, KLEENE)
    # Under the other key it goes on; the other pattern does so everywhere.
    assert Counter((name, keys) for name, keys, _ in matches) == {
        ("kleene", ("q",)): 3, ("single", ("p",)): 6, ("single", ("q",)): 2,
    }


def test_too_many_events_may_be_an_error_of_a_worker(spark: SparkSession) -> None:
    frame = spark.createDataFrame(_many())
    workload = rex.workload(KLEENE, time="ts", type="kind", max_kleene=4, on_overflow="error")
    with pytest.raises(PySparkException, match=r"REX418\]: the pattern kleene has more than max_kleene = 4") as caught:
        workload.detect(frame).table.collect()
    assert "in partition k = 'p'" in str(caught.value)
    assert "1 | PATTERN SEQ(KL(K k), E e)" in str(caught.value)
    assert "^^^^" in str(caught.value)


def test_events_without_an_order_are_an_error(stream: DataFrame) -> None:
    twice = stream.union(stream.filter("k = 'k3'"))
    with pytest.raises(PySparkException, match=r"REX409\]: two events have the same ts and id,") as caught:
        rex.workload(SHARED, **OPTIONS).detect(twice).table.collect()
    assert "in partition k = 'k3'" in str(caught.value)


@pytest.mark.parametrize(("text", "code"), [
    ("PATTERN SEQ(A a, B b) WHERE [kk] WITHIN 5 minutes", "REX201"),
    ("PATTERN SEQ(A a, B b) WHERE [k] AND frobnicate(a.x) > 1 WITHIN 5 minutes", "REX213"),
    ("PATTERN SEQ(A a, B b) WHERE [k] AND levenshtein(a.k, b.k) > 1 WITHIN 5 minutes", "REX301"),
    ("PATTERN SEQ(A a, B b) WHERE [k] AND a.x < b.x AND b.x < a.x WITHIN 5 minutes", "REX229"),
    ("PATTERN SEQ(A a, B b) WHERE [k] WITHIN 0 minutes", "REX226"),
])
def test_what_is_wrong_shows_before_any_job(text: str, code: str, stream: DataFrame, jobs: Callable[[], int]) -> None:
    with pytest.raises(RexError, match=code) as caught:
        rex.workload({**SHARED, "wrong": text}, **OPTIONS).detect(stream)
    assert "in the pattern wrong" in str(caught.value)
    assert "1 | PATTERN SEQ(A a, B b)" in str(caught.value)
    assert jobs() == 0


def test_tables_in_memory_and_patterns_of_spark(spark: SparkSession) -> None:
    texts = {name: SHARED[name] for name in ("rise", "both")}
    patterns = spark.createDataFrame(list(texts.items()), ["name", "text"])
    workload = rex.workload(patterns, **OPTIONS)
    assert workload.names == ("rise", "both")
    assert _matches(workload.detect(STREAM, spark=spark), texts) == _matches(workload.detect(STREAM), texts)


def test_a_column_that_the_result_has_too(stream: DataFrame) -> None:
    with pytest.raises(AnalysisError, match=r"REX205.*column pattern"):
        rex.workload(SHARED, **OPTIONS).detect(stream.withColumnRenamed("v", "pattern"))


def test_an_empty_stream(stream: DataFrame) -> None:
    found = rex.workload(SHARED, **OPTIONS).detect(stream.filter("false"))
    assert (found.table.count(), found.stopped.count()) == (0, 0)


def test_a_pattern_that_shares_in_memory_alone(spark: SparkSession) -> None:
    """What Spark computes of an event that may be missing is known to the event matcher only. Numbers are the same."""
    text = "PATTERN SEQ(AND(KL(B b), A a), C? c) WHERE (c.x = c.v OR c.x IS NULL) AND b[i].v > 3 WITHIN 9"
    table = pa.table({
        "ts": [1, 2, 3, 4, 5, 6, 7], "kind": list("ABBABCB"), "x": [0, 0, 1, None, 3, None, 4],
        "v": [4, 5, 4, 6, 7, 8, 9],
    })
    workload = rex.workload({"p": text}, time="ts", type="kind")
    frame = spark.createDataFrame(table)
    assert "unshared" not in str(workload.explain(table))
    assert "by the event matcher, unshared" in str(workload.explain(frame))
    on_spark = {(row["match_id"], row["variable"], row["ts"]) for row in workload.detect(frame).collect()}
    in_memory = [(row["match_id"], row["variable"], row["ts"]) for row in workload.detect(table).to_pylist()]
    assert on_spark == set(in_memory)
    assert len(in_memory) > 50


@pytest.mark.filterwarnings("ignore:event query without partitions")
def test_types_may_be_bytes(spark: SparkSession) -> None:
    rows = [(1, bytearray(b"A")), (2, bytearray(b"\xff")), (3, bytearray(b"B"))]
    frame = spark.createDataFrame(rows, "ts long, kind binary")
    found = rex.workload({"p": "PATTERN SEQ(A a, B b)"}, time="ts", type="kind").detect(frame)
    assert sorted(row.ts for row in found.table.collect()) == [1, 3]
    assert found["p"].count() == 2
