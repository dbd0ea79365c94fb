"""Segment queries on Spark: the same rows as in memory, whatever the series' key; errors, plans, users' aggregates."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from tests.modes.segments.templates import TEMPLATES
from tests.spark.sample import plan

import sparkrex as rex
from sparkrex.errors import AnalysisError, UnsupportedError
from sparkrex.modes.segments.aggregates.registry import forget

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

_DAY = datetime(2024, 1, 1, tzinfo=UTC)


def _waves(keys: str, n_rows: int, step: timedelta, seed: int) -> pa.Table:
    """A series of ups and downs for every key; rows in no order."""
    rng = np.random.default_rng(seed)
    rows: list[dict[str, Any]] = []
    for place, key in enumerate(keys):
        wave = 40 * np.sin(np.arange(n_rows) / (3 + place)) + rng.normal(0, 3, n_rows) + 60
        rows += [
            {
                "ticker": "GOOG" if key == "a" else key, "city": key, "tstamp": _DAY + row * step, "n": row,
                "price": float(value), "temp": float(value) / 2, "rides": float(value), "confirmed": float(value),
                "peak": round(float(value)), "note": f"{key}{row}",
            }
            for row, value in enumerate(wave)
        ]
    order = rng.permutation(len(rows))
    return pa.Table.from_pylist([rows[place] for place in order])


WAVES = _waves("abc", 45, timedelta(days=1), seed=5)
MINUTES = _waves("ab", 25, timedelta(minutes=4), seed=6)
# On data this small some templates need weaker conditions to have matches.
_WEAKER = {
    "v_shape": {"window(15, null)": "window(4, null)"},
    "head_shldr": {"window(3, 10)": "window(2, 10)"},
    "outlier": {"2.61": "1.2"},
    "cld_wave": {">= 3.0": ">= -1.0", "< -18": "< -9", "window(25, 30)": "window(8, 12)"},
    "rptd_pttrn": {
        "window(21)": "window(4)", "window(49)": "window(20)", "1/3": "0.9", "> 3": "> 1.1",
    },
    "rebound": {"> 4": "> 0.1"},
    "AFA_Q1": {"{5}": "{1}"},
}
_BY_TIME = "PARTITION BY city ORDER BY tstamp"


@pytest.fixture
def waves(spark: SparkSession) -> DataFrame:
    """The waves as a DataFrame of two partitions."""
    return spark.createDataFrame(WAVES).repartition(2)


def _clause(name: str) -> str:
    clause = TEMPLATES[name]
    for written, weaker in _WEAKER.get(name, {}).items():
        assert written in clause
        clause = clause.replace(written, weaker)
    return clause.replace("\nPATTERN", "\nMEASURES START_INDEX() AS i, END_INDEX() AS j, first(tstamp) AS t\nPATTERN")


def _plain(value: Any) -> Any:
    # Spark gives timestamps without their zone, which is UTC here.
    return value.replace(tzinfo=None) if isinstance(value, datetime) else value


def _rows(result: Any) -> list[tuple[Any, ...]]:
    rows = (row.values() for row in result.to_pylist()) if isinstance(result, pa.Table) else result.collect()
    return sorted((tuple(map(_plain, row)) for row in rows), key=repr)


def _same(clause: str, frame: DataFrame, table: pa.Table = WAVES, **settings: Any) -> list[tuple[Any, ...]]:
    match = rex.match(clause, settings=settings)
    found = _rows(frame.transform(match))
    assert found == _rows(match(table))
    assert found
    return found


@pytest.mark.parametrize("name", TEMPLATES)
@pytest.mark.filterwarnings("ignore:MATCH_RECOGNIZE without PARTITION BY")
def test_templates(name: str, spark: SparkSession) -> None:
    table = MINUTES if name.startswith("OpenCEP") else WAVES
    if name == "rptd_pttrn":
        table = WAVES.filter(pa.compute.equal(WAVES["city"], "a"))
    _same(_clause(name), spark.createDataFrame(table).repartition(2), table)


def test_measures_are_combined_by_spark(waves: DataFrame) -> None:
    clause = f"""{_BY_TIME}
      MEASURES MATCH_NUMBER() AS m, upper(concat(first(A.note), '-', last(B.note))) AS notes, avg(A.price) + 1 AS p,
        END_INDEX() - START_INDEX() + 1 AS n, count(*) AS c, sum(B.peak) AS peaks, last(tstamp) AS t
      PATTERN (A B)
      DEFINE SEGMENT A AS window(2, 4) AND last(price) > first(price) + 5,
             SEGMENT B AS window(tstamp, 2, DAY) AND last(price) < A.price AND corr(A.price, B.price) < 0"""
    result = waves.transform(rex.match(clause))
    assert [kind for _, kind in result.dtypes] == [
        "string", "bigint", "string", "double", "bigint", "bigint", "bigint", "timestamp",
    ]
    assert all(row[4] == row[5] for row in _same(clause, waves))


def test_what_speaks_of_one_row_is_computed_by_spark(waves: DataFrame) -> None:
    """Functions that workers do not know, also where there is no row, and arguments of aggregates."""
    clause = f"""{_BY_TIME} MEASURES START_INDEX() AS i, END_INDEX() AS j, first(B.n) AS b
      PATTERN ((A (B | C)) & W)
      DEFINE A AS soundex(note) IS NOT NULL AND n > 5, B AS coalesce(PREV(A.price, 10), 0) < price,
        SEGMENT C AS levenshtein(first(note), 'a20') < 2 AND window(2, 3), SEGMENT W AS sum(price * 2) > 40"""
    with pytest.raises(UnsupportedError):
        rex.match(clause)(WAVES)
    table = WAVES.append_column("twice", pa.compute.multiply(WAVES["price"], 2.0))
    found = _rows(waves.transform(rex.match(clause)))
    simple = clause.replace("soundex(note) IS NOT NULL AND ", "").replace("sum(price * 2)", "sum(twice)")
    simple = simple.replace("levenshtein(first(note), 'a20') < 2", "first(near)")
    close = [_distance(note, "a20") < 2 for note in WAVES["note"].to_pylist()]
    assert found == _rows(rex.match(simple)(table.append_column("near", pa.array(close))))
    assert found


def _distance(one: str, other: str) -> int:
    row = list(range(len(other) + 1))
    for place, letter in enumerate(one, 1):
        above, row[0] = row[0], place
        for column, known in enumerate(other, 1):
            above, row[column] = row[column], min(row[column] + 1, row[column - 1] + 1, above + (letter != known))
    return row[-1]


def test_keys_of_any_kind(waves: DataFrame) -> None:
    """Expressions, and types that Spark orders: series are cut where it numbers them from 1."""
    body = """MEASURES START_INDEX() AS i, MATCH_NUMBER() AS m PATTERN (S)
      DEFINE SEGMENT S AS window(tstamp, 2, 3, DAY) AND last(price) > first(price)"""
    _same(f"PARTITION BY upper(city) AS key, peak % 2 AS odd ORDER BY tstamp {body}", waves)
    arrays = waves.selectExpr("array(city) AS key", "tstamp", "price")
    clause = f"PARTITION BY key ORDER BY tstamp {body}"
    found = _rows(arrays.transform(rex.match(clause)))
    plainly = _rows(rex.match(clause.replace("key", "city"))(WAVES))
    assert [(row[0][0], *row[1:]) for row in found] == plainly
    structs = waves.selectExpr("city AS key", "struct(tstamp, 1 AS one) AS tstamp", "price")
    rows_only = clause.replace("window(tstamp, 2, 3, DAY)", "window(3, 4)")
    assert _rows(structs.transform(rex.match(rows_only))) == plainly


def test_sorted_on_disk_and_searched_series_by_series(waves: DataFrame) -> None:
    body = "MEASURES first(S.n) AS f, MATCH_NUMBER() AS m PATTERN (S)"
    _same(f"{_BY_TIME} {body} DEFINE SEGMENT S AS window(3) AND price > first(price)", waves, sort_memory=1_000)


@pytest.mark.parametrize("body", [
    "PATTERN (S) DEFINE SEGMENT S AS window(3, 9) AND linear_reg_r2(n, price) > 0.8",
    "AFTER MATCH SKIP PAST LAST ROW PATTERN (S) DEFINE SEGMENT S AS window(tstamp, 2, 6, DAY) AND price > first(price)",
    "PATTERN ((UP DOWN) & W) DEFINE SEGMENT UP AS price > first(price), DOWN AS price < PREV(price),"
    " SEGMENT W AS window(tstamp, 1, 8, DAY)",
    "PATTERN (S) DEFINE SEGMENT S AS avg(price) > 60 AND price > first(price)",  # without a bound: whole series
])
@pytest.mark.parametrize("chunk_rows", [7, 50])
def test_sorted_on_disk_and_searched_in_chunks(waves: DataFrame, body: str, chunk_rows: int) -> None:
    """By keys that the workers order, and by keys that Spark does."""
    clause = f"""{_BY_TIME} MEASURES START_INDEX() AS i, END_INDEX() AS j, MATCH_NUMBER() AS m, stddev(price) AS s,
      linear_reg_slope(n, price) AS slope {body}"""
    settings = {"sort_memory": 1, "chunk_rows": chunk_rows}
    found = _same(clause, waves, **settings)
    arrays = waves.selectExpr("array(city) AS city", "tstamp", "n", "price")
    by_spark = _rows(arrays.transform(rex.match(clause, settings=settings)))
    assert [(row[0][0], *row[1:]) for row in by_spark] == found == _rows(rex.match(clause)(WAVES))


def test_plain_patterns_under_all_matches(waves: DataFrame) -> None:
    _same(
        f"""{_BY_TIME} MEASURES first(U.n) AS f, last(U.n) AS l ALL MATCHES PATTERN (P U+ D)
        DEFINE U AS price > PREV(price), D AS price < LAST(U.price) AND tstamp - FIRST(U.tstamp) <= INTERVAL 5 DAY""",
        waves,
    )


def test_plain_patterns_that_no_segments_stand_for(waves: DataFrame) -> None:
    clause = f"""{_BY_TIME} MEASURES START_INDEX() AS i, END_INDEX() AS j, sum(U.peak) AS s ALL MATCHES
      PATTERN (P U+ D?)
      DEFINE U AS price > 1.02 * avg(U.price) OR (count(U.*) = 1 AND price > P.price + 9),
             D AS price < first(U.price)"""
    assert "every mapping" in str(rex.explain(f"SELECT * FROM w MATCH_RECOGNIZE ({clause})", w=waves))
    _same(clause, waves)


def test_aggregates_of_segments_in_measures(waves: DataFrame) -> None:
    clause = f"""{_BY_TIME}
      MEASURES START_INDEX() AS i, mann_kendall_test(A.price) AS mk, linear_reg_slope(A.tstamp, A.price * 2) AS slope,
        range(A.peak) AS spread, range(B.tstamp) AS time, corr(A.price, B.price) AS r, equal_up_down_ticks(price) AS e,
        round(linear_reg_r2(n, price), 3) AS r2, sum(DISTINCT A.peak) AS peaks
      PATTERN (A B) DEFINE SEGMENT A AS window(4) AND linear_reg_slope(n, price - temp) > 2, SEGMENT B AS window(4)"""
    result = waves.transform(rex.match(clause))
    assert [kind for _, kind in result.dtypes] == [
        "string", "bigint", "double", "double", "bigint", "double", "double", "boolean", "double", "bigint",
    ]
    _same(clause, waves)


def test_after_match_skip(waves: DataFrame) -> None:
    _same(f"{_BY_TIME} MEASURES first(S.n) AS f AFTER MATCH SKIP PAST LAST ROW PATTERN (S)"
          " DEFINE SEGMENT S AS window(2, 4) AND last(price) > first(price)", waves)


def test_the_planner_is_that_of_the_workers(waves: DataFrame) -> None:
    clause = _clause("cld_wave")
    query = f"SELECT * FROM waves MATCH_RECOGNIZE ({clause})"
    found = _rows(rex.sql(query, waves=waves))
    assert found
    assert _rows(rex.sql(query, waves=waves, planner="sm_left")) == found


def test_explain(waves: DataFrame, jobs: Callable[[], int]) -> None:
    text = str(rex.explain(f"SELECT * FROM waves MATCH_RECOGNIZE ({_clause('cld_wave')})", waves=waves))
    assert "logical plan" in text
    assert "embed windows" in text
    assert "by the workers of spark" in text
    assert "DOWN [..5 rows] AS" in text
    assert "MapInArrow" in text
    assert jobs() == 0


def test_one_shuffle_and_only_what_is_read(waves: DataFrame) -> None:
    body = "MEASURES START_INDEX() AS i PATTERN (S) DEFINE SEGMENT S AS window(3) AND price > first(price)"
    text = plan(waves.transform(rex.match(f"{_BY_TIME} {body}")))
    assert "note" not in text.split("MapInArrow")[0]
    assert text.count("hashpartitioning") == 1


def test_the_table_function(spark: SparkSession, waves: DataFrame) -> None:
    clause = "PARTITION BY city ORDER BY n MEASURES START_INDEX() AS i PATTERN (S) DEFINE SEGMENT S AS" \
        " window(3) AND price > first(price)"
    rex.register_table_function(spark, "rex_segments")
    waves.createOrReplaceTempView("rex_waves")
    found = spark.sql(f"SELECT * FROM rex_segments(TABLE(rex_waves), '{clause}')")
    assert _rows(found) == _rows(rex.match(clause)(WAVES))


@pytest.mark.filterwarnings("ignore:MATCH_RECOGNIZE without PARTITION BY")
def test_no_columns(waves: DataFrame) -> None:
    clause = "ORDER BY city, n PATTERN (S) DEFINE SEGMENT S AS window(3) AND price > first(price)"
    query = f"SELECT count(*) AS n FROM w MATCH_RECOGNIZE ({clause})"
    ((n_found,),) = _rows(rex.sql(query, w=WAVES))
    assert n_found > 0
    assert _rows(rex.sql(query, w=waves)) == [(n_found,)]


# Errors


def test_what_is_wrong_shows_before_any_job(waves: DataFrame, jobs: Callable[[], int]) -> None:
    with pytest.raises(AnalysisError, match=r"REX213.*roughness"):
        waves.transform(rex.match(f"{_BY_TIME} PATTERN (S) DEFINE SEGMENT S AS roughness(price) > 1"))
    several_rows = "PATTERN (S) DEFINE SEGMENT S AS levenshtein(first(note), last(note)) > 1"
    with pytest.raises(UnsupportedError, match="REX301"):
        waves.transform(rex.match(f"{_BY_TIME} {several_rows}"))
    assert jobs() == 0


def test_errors_of_workers_say_where(waves: DataFrame) -> None:
    clause = f"{_BY_TIME} MEASURES first(n) AS f PATTERN (S) DEFINE SEGMENT S AS window(2)" \
        " AND (last(n) + first(n)) * 9223372036854775807 > 1"
    with pytest.raises(PySparkException, match="REX405") as caught:
        waves.transform(rex.match(clause)).collect()
    assert "in partition city = '" in str(caught.value)
    assert "^^^" in str(caught.value)
    # Keys that Spark orders.
    arrays = waves.selectExpr("array(city) AS city", "tstamp", "n")
    with pytest.raises(PySparkException, match=r"in partition city = \['"):
        arrays.transform(rex.match(clause)).collect()


def test_too_many_segments(waves: DataFrame) -> None:
    clause = f"{_BY_TIME} MEASURES first(n) AS f PATTERN (S) DEFINE SEGMENT S AS true"
    with pytest.raises(PySparkException, match=r"REX408[^\n]*max_segments = 100"):
        waves.transform(rex.match(clause, settings={"max_segments": 100})).collect()


# Aggregates of the user's own


def test_users_aggregates_go_with_the_task(waves: DataFrame) -> None:
    class roughness:  # noqa: N801  as users write aggregates
        """How far the values wander, over how far they get."""

        def scan(self, x: Any) -> float | None:
            return float(np.abs(np.diff(x)).sum() / abs(x[-1] - x[0])) if len(x) > 1 and x[-1] != x[0] else None

    rex.aggregate(roughness)
    try:
        body = "MEASURES first(n) AS f PATTERN (S) DEFINE SEGMENT S AS roughness(price) > 1.5 AND window(3, 5)"
        _same(f"{_BY_TIME} {body}", waves)
    finally:
        forget("roughness")


def test_an_aggregate_that_fails_in_a_worker(waves: DataFrame) -> None:
    class moody:  # noqa: N801  as users write aggregates
        """Fails over three whole numbers."""

        def scan(self, x: Any) -> float:
            if len(x) == 3 and (x == x.round()).all():
                raise ValueError("no threes")
            return 1.0

    rex.aggregate(moody)
    try:
        clause = f"{_BY_TIME} MEASURES first(n) AS f PATTERN (S) DEFINE SEGMENT S AS moody(n) > 0 AND window(3)"
        with pytest.raises(PySparkException, match=r"REX411[^\n]*ValueError: no threes(?s:.*)in partition"):
            waves.transform(rex.match(clause)).collect()
    finally:
        forget("moody")


def test_an_aggregate_that_cannot_be_sent(waves: DataFrame) -> None:
    class locked:  # noqa: N801  as users write aggregates
        """Holds what cannot be pickled."""

        def __init__(self) -> None:
            self.lock = threading.Lock()

        def scan(self, x: Any) -> float:
            return float(len(x))

    rex.aggregate(locked)
    try:
        with pytest.raises(UnsupportedError, match=r"REX301.*locked cannot be sent"):
            waves.transform(rex.match(f"{_BY_TIME} PATTERN (S) DEFINE SEGMENT S AS locked(price) > 1 AND window(3)"))
    finally:
        forget("locked")
