"""Trend queries on Spark: the same answers as in memory, in one step or two; what Spark filters and sends; errors."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import PySparkException
from tests.spark.sample import plan

import sparkrex as rex
from sparkrex.errors import RexError
from sparkrex.spark.versions import to_frame

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.filterwarnings("ignore:trend query without partitions")


def _stream(n_rows: int = 300, seed: int = 5) -> pa.Table:
    """Four kinds of events, some at the same time, of five drivers or none, in three districts or none."""
    random = np.random.default_rng(seed)
    drivers, districts = random.integers(0, 6, n_rows), random.integers(0, 4, n_rows)
    table = pa.table(
        {
            "ts": [datetime(2024, 5, 1) + timedelta(seconds=20 * int(row)) for row in np.arange(n_rows) * 2 // 3],
            "id": np.arange(n_rows),
            "kind": random.choice(list("PTDX"), n_rows, p=(0.2, 0.4, 0.2, 0.2)),
            "driver": pa.array([None if driver == 5 else f"d{driver}" for driver in drivers]),
            "district": pa.array([None if district == 3 else int(district) for district in districts]),
            "speed": np.round(random.random(n_rows) * 100, 1),
            "fare": pa.array([Decimal(int(cents)) / 100 for cents in random.integers(0, 5_000, n_rows)],
                             pa.decimal128(7, 2)),
            "price": random.integers(1, 40, n_rows),
        }
    )
    return table.take(pa.array(random.permutation(n_rows)))


STREAM = _stream()
OPTIONS: dict[str, Any] = {"time": "ts", "type": "kind"}
CHUNKED = {"sort_memory": 1, "chunk_rows": 17}

TRIPS = """
    RETURN district, COUNT(*) AS trips, COUNT(T) AS legs, AVG(T.speed) AS mean, MIN(P.ts) AS first, MAX(T.speed) AS top,
           SUM(T.fare) AS fares, SUM(T.price) AS prices, COUNT(T.fare) AS paid
    PATTERN SEQ(P, T+, D) SEMANTICS {semantics}
    WHERE [driver] GROUP-BY district WITHIN 20 minutes SLIDE 5 minutes"""
FALLS = """
    RETURN COUNT(*) AS n, SUM(S.price) AS total, district PATTERN T S+ SEMANTICS skip-till-any-match
    WHERE S.price > NEXT(S).price AND S.speed < 90 GROUP-BY district WITHIN 10 minutes"""


@pytest.fixture
def stream(spark: SparkSession) -> DataFrame:
    """The stream as a DataFrame of several partitions."""
    return to_frame(spark, STREAM).repartition(3)


def _plain(value: Any) -> Any:
    # Spark gives timestamps without their zone, which is UTC here.
    return value.replace(tzinfo=None) if isinstance(value, datetime) else value


def _rows(result: Any) -> list[tuple[Any, ...]]:
    rows = (row.values() for row in result.to_pylist()) if isinstance(result, pa.Table) else result.collect()
    return sorted((tuple(map(_plain, row)) for row in rows), key=repr)


def _same(query: str, frame: DataFrame, table: pa.Table = STREAM, **options: Any) -> list[tuple[Any, ...]]:
    options = {**OPTIONS, **options}
    found = _rows(rex.trends(query, frame, **options))
    assert found == _rows(rex.trends(query, table, **options))
    assert found
    return found


# The same answers.


@pytest.mark.parametrize("semantics", ["skip-till-any-match", "skip-till-next-match", "contiguous"])
def test_partitions_of_a_group_are_merged(semantics: str, stream: DataFrame) -> None:
    query = TRIPS.format(semantics=semantics)
    _same(query, stream)
    _same(query, stream, settings=CHUNKED)
    _same(query, stream, counts="log", settings=CHUNKED)
    _same(query, stream, counts="text", settings=CHUNKED)
    _same(query, stream, counts="text")


@pytest.mark.parametrize("counts", ["exact", "log", "text"])
def test_partitions_that_are_groups(counts: str, stream: DataFrame) -> None:
    """One of them is that of NULL."""
    for settings in ({}, CHUNKED):
        found = _same(FALLS, stream, counts=counts, settings=settings)
        assert {row[-1] for row in found} == {None, 0, 1, 2}
    assert plan(rex.trends(FALLS, stream, **OPTIONS)).count("MapInArrow") == 1


def test_null_is_a_group_but_no_partition(stream: DataFrame) -> None:
    query = "RETURN driver, COUNT(*) AS n PATTERN SEQ(P, T) SEMANTICS skip-till-next-match WHERE {} GROUP-BY driver"
    with_null = _same(query.format("P.price > 0"), stream)
    assert None in {row[2] for row in with_null}
    for attributes in ("[driver]", "[driver, district]"):
        assert None not in {row[2] for row in _same(query.format(attributes), stream)}


def test_no_groups_at_all(stream: DataFrame) -> None:
    query = "RETURN COUNT(*) AS n, MAX(D.fare) AS most PATTERN SEQ(P, D) SEMANTICS skip-till-any-match {}"
    ((start, end, n, most),) = _same(query.format(""), stream)
    assert (start, end) == (None, None)
    assert n > 1000
    assert isinstance(most, Decimal)
    with pytest.warns(UserWarning, match="one task; add GROUP-BY or an equivalence test"):
        rex.trends(query.format(""), stream, **OPTIONS)
    ((_, _, fewer, _),) = _same(query.format("WHERE [driver]"), stream)
    assert fewer < n


@pytest.mark.parametrize(
    "query",
    [
        "PATTERN SEQ(P, ~X, T+) SEMANTICS skip-till-any-match WHERE [driver] AND T.speed < NEXT(T).speed",
        "PATTERN SEQ(P, ~SEQ(X, X), D) SEMANTICS skip-till-next-match WHERE [driver] AND X.speed > 10",
        "PATTERN SEQ(~X, T+, ~D) SEMANTICS skip-till-any-match WHERE [driver, district]",
        "PATTERN (SEQ((P | X), T*, D?))+ SEMANTICS contiguous WHERE [driver] AND T.speed > 50 AND length >= 2",
        "PATTERN SEQ(T a, T b+) SEMANTICS contiguous WHERE [district] AND a.price < NEXT(b).price",
        "PATTERN SEQ(P, T+) & SEQ(T+, D) SEMANTICS skip-till-any-match WHERE [driver]",
    ],
)
def test_negation_repetition_and_pairs(query: str, stream: DataFrame) -> None:
    for settings in ({}, CHUNKED):
        _same(f"RETURN district, COUNT(*) AS n {query} GROUP-BY district WITHIN 15 minutes", stream, settings=settings)


@pytest.mark.parametrize("semantics", ["skip-till-any-match", "contiguous"])
def test_windows_of_events(semantics: str, stream: DataFrame) -> None:
    """They number events of every type, so that none may be left out."""
    query = f"""RETURN COUNT(*) AS n, MIN(T.id) AS id PATTERN SEQ(P, T+) SEMANTICS {semantics}
        WHERE [driver] AND T.speed > 20 WITHIN 12 EVENTS SLIDE 4 EVENTS"""
    for settings in ({}, CHUNKED):
        found = _same(query, stream, ties="order", tie_break="id", settings=settings)
    assert {type(row[0]) for row in found} == {int}


def test_times_of_every_type(spark: SparkSession, stream: DataFrame) -> None:
    """Windows begin and end in the type of the time column; those over dates at times without a zone."""
    query = "RETURN COUNT(*) AS n, MIN(P.at) AS least PATTERN SEQ(P, T) SEMANTICS skip-till-next-match {} GROUP-BY {}"
    seconds = [20 * row // 3 for row in STREAM["id"].to_pylist()]
    days = [date(2024, 1, 1) + timedelta(days=int(row) % 40) for row in STREAM["id"].to_pylist()]
    columns = {
        "timestamp": (pa.array(STREAM["ts"].to_pylist(), pa.timestamp("us", "UTC")), "5 minutes", "timestamp"),
        "timestamp_ntz": (pa.array(STREAM["ts"].to_pylist(), pa.timestamp("us")), "5 minutes", "timestamp_ntz"),
        "date": (pa.array(days), "36 hours SLIDE 12 hours", "timestamp_ntz"),
        "int": (pa.array(seconds, pa.int32()), "500", "bigint"),
        "double": (pa.array([second / 8 for second in seconds]), "62.5 SLIDE 31.25", "double"),
        "decimal(9,2)": (
            pa.array([Decimal(second) for second in seconds], pa.decimal128(9, 2)), "1250.5 SLIDE 625.25",
            "decimal(38,2)",
        ),
    }
    for kind, (at, size, bound) in columns.items():
        table = STREAM.append_column("at", at)
        frame = to_frame(spark, table)
        if kind == "timestamp_ntz":
            frame = frame.withColumn("at", frame["at"].cast("timestamp_ntz"))
        assert dict(frame.dtypes)["at"] == kind
        for within, group in ((f"WITHIN {size}", "district"), ("", "driver")):
            one = query.replace("GROUP-BY {}", f"GROUP-BY {group} {within}").format("WHERE [driver]")
            _same(one, frame, table, time="at")
            found = rex.trends(one, frame, time="at", type="kind")
            assert [name for _, name in found.dtypes] == [bound, bound, "decimal(38,0)", kind]


def test_a_session_in_another_time_zone(spark: SparkSession, stream: DataFrame) -> None:
    """Windows are counted from 1970 in UTC, whatever the session's zone."""
    query = TRIPS.format(semantics="skip-till-next-match")
    expected = sorted(row[0] for row in _rows(rex.trends(query, STREAM, **OPTIONS)))
    spark.conf.set("spark.sql.session.timeZone", "Asia/Kolkata")
    try:
        found = rex.trends(query.replace("5 minutes", "300 seconds"), stream, **OPTIONS)
        starts = sorted(row[0] for row in found.selectExpr("to_utc_timestamp(window_start, 'Asia/Kolkata')").collect())
        instants = sorted(row[0] for row in found.selectExpr("unix_micros(window_start)").collect())
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
    assert len(starts) == len(expected)
    epoch = datetime(1970, 1, 1)
    assert instants == [(start - epoch) // timedelta(microseconds=1) for start in expected]


def test_in_sql(stream: DataFrame) -> None:
    clause = f"MATCH_TRENDS (TIME ts TYPE kind {TRIPS.format(semantics='skip-till-next-match')})"
    logs = clause.replace("TYPE kind", "TYPE kind COUNTS LOG")
    statements = [
        f"SELECT district, max(trips) AS most, count(*) AS n FROM s {clause} AS m GROUP BY district",
        f"SELECT m.district, m.window_start, m.mean FROM s {clause} AS m JOIN s ON m.first = s.ts AND s.kind = 'P'",
        f"WITH fast AS (SELECT * FROM s WHERE speed > 10) SELECT * FROM fast {logs} AS m WHERE m.trips > 0.4",
        f"SELECT a, b, d FROM s {clause} AS m (a, b, c, d, e, f, g, h, i, j, k)",
        """SELECT count(*) AS n FROM s MATCH_TRENDS (TIME ts TIE BREAK id TYPES (Slow AS speed < 50, Fast AS speed > 90)
             TIES ORDER RETURN COUNT(*) PATTERN SEQ(Slow+, Fast) SEMANTICS contiguous WHERE [driver]
             WITHIN 100 EVENTS)""",
    ]
    for statement in statements:
        assert _rows(rex.sql(statement, s=stream)) == _rows(rex.sql(statement, s=STREAM)) != [], statement


def test_types_of_results(stream: DataFrame) -> None:
    time = dict(stream.dtypes)["ts"]
    for counts, count, fares in (
        ("exact", "decimal(38,0)", "decimal(38,2)"), ("log", "double", "double"), ("text", "string", "string"),
    ):
        options: dict[str, Any] = {**OPTIONS, "counts": counts}
        found = rex.trends(TRIPS.format(semantics="contiguous"), stream, **options)
        assert found.dtypes == [
            ("window_start", time), ("window_end", time), ("district", "bigint"), ("trips", count), ("legs", count),
            ("mean", "double"), ("first", time), ("top", "double"), ("fares", fares), ("prices", count),
            ("paid", count),
        ]


# What is whose work.


def test_events_that_fit_nothing_are_left_out_before_the_shuffle(spark: SparkSession, tmp_path: Path) -> None:
    pq.write_table(STREAM, tmp_path / "stream.parquet")
    stream = spark.read.parquet(str(tmp_path))
    query = "RETURN COUNT(*) AS n PATTERN SEQ(P, T) SEMANTICS {} WHERE [driver] AND T.speed > 20 {}"
    options = {**OPTIONS, "ties": "order", "tie_break": "id"}

    def dropped(semantics: str, window: str = "") -> str:
        text = plan(rex.trends(query.format(semantics, window), stream, **options))
        (line,) = [line for line in text.splitlines() if "Filter " in line]
        assert "isnotnull(driver#" in line
        return line

    for semantics in ("skip-till-any-match", "skip-till-next-match"):
        line = dropped(semantics)
        assert re.search(r"kind#\d+ = P\) OR \(\(kind#\d+ = T\) AND \(speed#\d+ > 20", line), line
        assert "kind" not in dropped(semantics, "WITHIN 5 EVENTS")
    # What lies between others counts if the pattern does not name it.
    line = dropped("contiguous")
    assert "speed" in line
    assert "NOT" in line
    for semantics in ("skip-till-next-match", "contiguous"):
        _same(query.format(semantics, ""), stream, ties="order", tie_break="id")


def test_only_what_is_read_travels(stream: DataFrame, jobs: Callable[[], int]) -> None:
    text = plan(rex.trends(TRIPS.format(semantics="skip-till-any-match"), stream, **OPTIONS))
    (line,) = [line for line in text.splitlines() if "Project" in line and "AS rex_key0#" in line]
    assert all(name in line for name in ("district#", "driver#", "speed#", "fare#", "price#"))
    assert " id#" not in line
    assert text.count("hashpartitioning(rex_key0") == 1
    assert text.count("hashpartitioning(group0") == 1
    assert text.count("MapInArrow PartialTask") == 1
    assert text.count("MapInArrow WorkerTask") == 1
    assert jobs() == 0


def test_one_event_is_spark_s(stream: DataFrame, spark: SparkSession) -> None:
    """Functions that only Spark has, in types, conditions, comparisons and aggregates; a user's too."""
    spark.udf.register("rex_half", lambda value: None if value is None else value / 2, "double")
    query = """RETURN district, COUNT(*) AS n, SUM(rex_half(T.price)) AS half, MIN(crc32(T.driver)) AS least
        PATTERN SEQ(P, Fast T+) SEMANTICS skip-till-next-match
        WHERE [driver] AND soundex(P.driver) = 'D000' AND rex_half(T.price) < NEXT(T).price + 1 GROUP-BY district"""
    types = {"P": "kind = 'P'", "Fast": "rex_half(speed) > 10 AND soundex(kind) = 'T000'"}
    found = rex.trends(query, stream, time="ts", types=types)
    assert [kind for _, kind in found.dtypes][3:] == ["decimal(38,0)", "double", "bigint"]
    plain = query.replace("soundex(P.driver) = 'D000' AND", "").replace("crc32(T.driver)", "T.id")
    for name in ("price", "speed"):
        plain = plain.replace(f"rex_half(T.{name})", f"(T.{name} / 2.0)")
    types = {"P": "kind = 'P'", "Fast": "speed > 20 AND kind = 'T'"}
    expected = rex.trends(plain, STREAM, time="ts", types=types)
    assert [row[:5] for row in _rows(found)] == [row[:5] for row in _rows(expected)] != []


def test_what_can_fail_is_asked_of_bound_events_only(spark: SparkSession) -> None:
    table = pa.table({
        "ts": [1, 2, 3, 4], "kind": list("ABAA"), "text": ["10", "none", "20", "5"], "divisor": [1, 0, 2, 5],
    })
    query = """RETURN COUNT(*) AS n, SUM(CAST(A.text AS INT)) AS s PATTERN A+ {} SEMANTICS skip-till-any-match
        WHERE 10 / A.divisor > 1 AND CAST(A.text AS INT) < NEXT(A).ts * 100"""
    ((_, _, n, total),) = _rows(rex.trends(query.format(""), to_frame(spark, table), **OPTIONS))
    assert (n, total) == (7, 140)
    ((_, _, n, _),) = _rows(rex.trends(query.format("| B"), to_frame(spark, table), **OPTIONS))
    assert n == 8


def test_a_condition_that_changes_is_tested_once(spark: SparkSession) -> None:
    table = pa.table({"ts": range(400), "kind": ["A"] * 400})
    query = "RETURN COUNT(*) AS n PATTERN A{1,1} SEMANTICS skip-till-any-match WHERE rand(7) + 0 * A.ts < 0.5"
    ((_, _, n),) = rex.trends(query, to_frame(spark, table), **OPTIONS).collect()
    assert 150 < n < 250  # a quarter if the filter and the projection each drew


@pytest.mark.parametrize("key", ["array(driver)", "named_struct('a', driver)", "upper(driver) COLLATE UTF8_LCASE"])
def test_keys_that_spark_compares(key: str, stream: DataFrame) -> None:
    from pyspark.sql import functions

    frame = stream.filter("driver IS NOT NULL").withColumn("company", functions.expr(key))
    query = "RETURN COUNT(*) AS n {} PATTERN SEQ(P, T+) SEMANTICS skip-till-next-match WHERE [{}] GROUP-BY {}"
    for settings in ({}, CHUNKED):
        expected = _rows(rex.trends(query.format("", "driver", "district"), STREAM, **OPTIONS))
        found = rex.trends(query.format("", "company", "district"), frame, settings=settings, **OPTIONS)
        assert _rows(found) == expected
        found = rex.trends(query.format(", company", "district", "company"), frame, settings=settings, **OPTIONS)
        expected = _rows(rex.trends(query.format("", "district, driver", "driver"), STREAM, **OPTIONS))
        assert sorted(row[2] for row in _rows(found)) == sorted(row[2] for row in expected)


def test_groups_by_a_collation_are_merged_by_it(spark: SparkSession) -> None:
    rows = [(time, kind, name, shop) for shop in range(6) for time, kind in enumerate("AAB")
            for name in (("x", "X") if shop % 2 else ("X",))]
    frame = spark.createDataFrame(rows, "ts int, kind string, name string, shop int")
    frame = frame.selectExpr("ts * 2 + int(name = 'X') AS ts", "kind", "name COLLATE UTF8_LCASE AS name", "shop")
    query = """RETURN COUNT(*) AS n PATTERN SEQ(A, B) SEMANTICS skip-till-any-match WHERE [shop] GROUP-BY name"""
    for settings in ({}, CHUNKED):
        ((_, _, n),) = rex.trends(query, frame, settings=settings, **OPTIONS).collect()
        assert n == 3 * 2 + 3 * 8


def test_explain(stream: DataFrame, jobs: Callable[[], int]) -> None:
    query = rex.trends(TRIPS.format(semantics="contiguous"), **OPTIONS)
    text, in_memory = str(rex.explain(query, stream)), str(rex.explain(query, STREAM))
    assert text.startswith(in_memory)
    assert text.count("MapInArrow") == 2
    assert jobs() == 0


def test_no_rows(stream: DataFrame) -> None:
    for query in (TRIPS.format(semantics="contiguous"), FALLS):
        for settings in ({}, CHUNKED):
            assert rex.trends(query, stream.filter("false"), settings=settings, **OPTIONS).collect() == []


# Errors.


def test_ties(stream: DataFrame) -> None:
    query = "RETURN COUNT(*) AS n PATTERN SEQ(P, T+) SEMANTICS skip-till-any-match WHERE [driver] AND P.price > 0"
    for settings in ({}, CHUNKED):
        with pytest.raises(PySparkException, match=r"REX409\]: two events have the same ts") as caught:
            rex.trends(query, stream, ties="order", settings=settings, **OPTIONS).collect()
        assert re.search(r"in partition driver = 'd\d'", str(caught.value))
        assert "^^^^" in str(caught.value)
    _same(query, stream, ties="order", tie_break="id")


@pytest.mark.parametrize("group", ["GROUP-BY company", "GROUP-BY company, shop"])
def test_too_many_digits(group: str, spark: SparkSession) -> None:
    """The error names group and window, also where groups are merged; other ways of counting have no such limit."""
    table = pa.table({"ts": range(400), "kind": ["A"] * 400, "company": ["acme"] * 400, "shop": [7] * 400})
    frame = to_frame(spark, table)
    query = f"RETURN company, COUNT(*) AS n PATTERN A+ SEMANTICS skip-till-any-match WHERE [shop] {group} WITHIN 300"
    for settings in ({}, CHUNKED):
        with pytest.raises(PySparkException, match=r"REX416\]: COUNT\(\*\) has more than 38 digits") as caught:
            rex.trends(query, frame, settings=settings, **OPTIONS).collect()
        text = str(caught.value)
        assert "company = 'acme'" in text
        assert "in the window from 0 to 300" in text
        assert "rex_key" not in text
        assert "group0" not in text
        assert "^^^^" in text
        assert 'counts="log"' in text
    for counts in ("log", "text"):
        assert len(_same(query, frame, table, counts=counts)) == 2


def test_an_event_without_a_time(stream: DataFrame) -> None:
    from pyspark.sql import functions

    untimed = stream.withColumn("ts", functions.expr("CASE WHEN kind <> 'X' THEN ts END"))
    query = "RETURN COUNT(*) AS n PATTERN SEQ(P, T) SEMANTICS skip-till-any-match WHERE [driver]"
    assert rex.trends(query, untimed, **OPTIONS).count() == 1
    with pytest.raises(PySparkException, match=r"REX409\]: an event has no time: ts is NULL"):
        rex.trends(query.replace("T)", "X)"), untimed, **OPTIONS).collect()


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("RETURN COUNT(Q) PATTERN P SEMANTICS contiguous", "REX206"),
        ("RETURN SUM(P.driver) PATTERN P SEMANTICS contiguous", "REX214"),
        ("RETURN MIN(P.driver) PATTERN P SEMANTICS contiguous", "REX301"),
        ("RETURN SUM(struct(P.price)) PATTERN P SEMANTICS contiguous", "REX"),
        ("RETURN COUNT(*) PATTERN P SEMANTICS contiguous WHERE frobnicate(P.price) = 1", "REX213"),
        ("RETURN SUM(frobnicate(P.price)) PATTERN P SEMANTICS contiguous", "REX213"),
        ("RETURN COUNT(*) PATTERN P+ SEMANTICS contiguous WHERE frobnicate(P.price) < NEXT(P).price", "REX213"),
        ("RETURN COUNT(*) PATTERN P+ SEMANTICS contiguous WHERE array(P.price) < NEXT(P).price", "REX214"),
    ],
)
def test_what_is_wrong_shows_before_any_job(query: str, code: str, stream: DataFrame, jobs: Callable[[], int]) -> None:
    with pytest.raises(RexError, match=code) as caught:
        rex.trends(query, stream, **OPTIONS)
    assert caught.value.position is not None
    assert jobs() == 0
