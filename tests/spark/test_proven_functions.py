"""Functions over several rows of a match on Spark: the table of what is proven equal, and queries that use it."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any
from unittest import mock

import duckdb
import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import functions as F  # noqa: N812  as everybody writes it
from tests.spark.sample import rows
from tests.spark.worker_functions.__main__ import FILE, compare_all
from tests.spark.worker_functions.compare import Case, Comparison, cases_of
from tests.spark.worker_functions.forms import form_of
from tests.spark.worker_functions.renderings import RENDERINGS
from tests.spark.worker_functions.table import catalogue_lines, written_table

import sparkrex as rex
from sparkrex.errors import RexError
from sparkrex.spark.proven_functions import plain_type, proven_functions, read_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame, SparkSession


def _slow(*values: object) -> object:
    """What `make test` has no time for."""
    return pytest.param(*values, marks=pytest.mark.slow)


def test_the_table_has_no_rendering_of_its_own() -> None:
    """What workers are told stands in the catalogue: whoever changes that has to compare again."""
    known = {(line.form, line.rendering, line.types, line.is_ansi) for line in catalogue_lines(RENDERINGS)}
    table = proven_functions().renderings
    strange = [key for key, rendering in table.items() if (key[0], rendering, key[1], key[2]) not in known]
    assert not strange
    assert len(table) > 1000


def test_no_signature_has_two_renderings() -> None:
    """Two may be equal to Spark each, but a table that depends on their order says nothing."""
    lines = [line for line in FILE.read_text("utf-8").splitlines() if not line.startswith("#")]
    seen: dict[tuple[str, str, str], str] = {}
    form = rendering = ""
    for line in lines:
        if line.startswith("  = "):
            rendering = line
        elif line.startswith("    "):
            mode, _, signature = line.strip().partition(": ")
            for one in ("ansi", "legacy") if mode == "both" else (mode,):
                assert seen.setdefault((form, signature.partition(" -> ")[0], one), rendering) == rendering, line
        else:
            form = line


def test_the_versions_are_those_that_it_was_made_with(spark: SparkSession) -> None:
    versions = {"spark": spark.version, "duckdb": duckdb.__version__, "arrow": pa.__version__}
    assert proven_functions().versions == versions, "compare again: python -m tests.spark.worker_functions"


@pytest.fixture
def settings_kept(spark: SparkSession) -> Iterator[None]:
    """The session's ANSI rules and time zone as they were."""
    names = ("spark.sql.ansi.enabled", "spark.sql.session.timeZone")
    before = {name: str(spark.conf.get(name)) for name in names}
    yield
    for name, value in before.items():
        spark.conf.set(name, value)


@pytest.mark.parametrize(("is_ansi", "zone"), [(True, "Europe/Zurich"), (False, "UTC")])
def test_a_sample_of_the_table_is_equal_still(
    is_ansi: bool, zone: str, spark: SparkSession, settings_kept: None
) -> None:
    """All of it is compared by the slow test below."""
    proven = [case for one in RENDERINGS for case in cases_of(one) if _is_proven(case, is_ansi=is_ansi)]
    sample = random.Random(f"sample {is_ansi}").sample(proven, 60)
    comparison = Comparison(spark, is_ansi=is_ansi, time_zone=zone, n_rows=120)
    types = [comparison.result_type(case) for case in sample]
    values = comparison.spark_values(sample)
    for case, kind, expected in zip(sample, types, values, strict=True):
        assert kind is not None
        assert comparison.difference(case, kind, expected) is None, (case.spark, case.types)


def _is_proven(case: Case, *, is_ansi: bool) -> bool:
    made = form_of(case.rendering.spark, case.types)
    if made is None:
        return False
    form, order = made
    types = tuple(plain_type(case.types[place]) for place in order)
    return (form.text, types, is_ansi) in proven_functions().renderings


@pytest.mark.parametrize(
    ("written", "wrong"),
    [("left({0}, {1})", "LEFT({0}, {1})"), ("reverse({0})", "REVERSE({0})"), ("round({0}, 2)", "ROUND({0}, 2)")],
)
def test_a_wrong_rendering_is_found(written: str, wrong: str, spark: SparkSession, settings_kept: None) -> None:
    """As DuckDB means them: a negative length, letters with accents, halves that are not what they seem."""
    from tests.spark.worker_functions.compare import Rendering

    kinds = {"left({0}, {1})": "sI", "reverse({0})": "s", "round({0}, 2)": "h"}[written]
    (case,) = cases_of(Rendering(written, kinds, wrong))
    comparison = Comparison(spark, is_ansi=True, time_zone="UTC")
    (expected,) = comparison.spark_values([case])
    kind = comparison.result_type(case)
    assert kind is not None
    assert comparison.difference(case, kind, expected) is not None


@pytest.mark.slow
def test_the_whole_table_is_equal_still(spark: SparkSession, settings_kept: None) -> None:
    """Some minutes: `python -m tests.spark.worker_functions` writes the table, this compares it with the one kept."""
    found = compare_all(spark, [case for one in RENDERINGS for case in cases_of(one)])
    assert read_table(written_table(found, spark.version)) == proven_functions()


def _ends(frame: DataFrame, condition: str) -> list[tuple[str, int]]:
    """By key the `id` of the first row behind the first one at which the condition holds."""
    query = f"""SELECT g, last_id FROM t MATCH_RECOGNIZE (
      PARTITION BY g ORDER BY id MEASURES LAST(id) AS last_id
      PATTERN (^ A+? B) DEFINE B AS {condition})"""
    return [(row[0], row[1]) for row in rows(rex.sql(query, t=frame))]


@pytest.fixture(scope="module")
def events(spark: SparkSession) -> DataFrame:
    table = pa.table({
        "g": ["x"] * 4 + ["y"] * 3,
        "id": [1, 2, 3, 4, 1, 2, 3],
        "v": pa.array([4, 1, 3, 2, 7, 7, 9], pa.int32()),
        "s": ["a", "b", None, "ab", "c", "c", "d"],
        "d": pa.array([0, 10, 40, 41, 100, 101, 200], pa.date32()),
    })
    return spark.createDataFrame(table)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        # NULL is left out of the joined text: a, b, ab.
        ("s = array_join(array_agg(A.s), '')", [("x", 4), ("y", 2)]),
        ("v < element_at(array_agg(A.v), -1)", [("x", 2)]),
        _slow("array_contains(array_agg(A.v), v)", [("y", 2)]),
        _slow("array_agg(A.v)[0] > v + 1", [("x", 2)]),
        _slow("array_max(array_agg(A.v)) = v + 1", [("x", 3)]),
        _slow("size(array_agg(A.s)) = 2", [("x", 3), ("y", 3)]),
        ("datediff(d, A.d) > 20", [("x", 3), ("y", 3)]),
        _slow("date_add(A.d, 1) = d", [("x", 4), ("y", 2)]),
        _slow("CAST(concat(v, A.v) AS INT) = 32", []),
        ("CAST(concat(A.v, v) AS INT) > 40", [("x", 2), ("y", 2)]),
        ("SUM(A.v + MATCH_NUMBER()) > 10", [("x", 4), ("y", 3)]),
        ("SUM(A.v + (SELECT count(*) FROM t)) > 20", [("x", 4), ("y", 3)]),
        ("lower(upper(concat(A.s, s, 'Σ'))) = 'abς'", [("x", 2)]),
        _slow("left(concat(A.s, s), v) = 'cc'", [("y", 2)]),
        _slow("year(greatest(d, A.d)) = 1970 AND month(greatest(d, A.d)) > 3", [("y", 2)]),
        _slow("lpad(concat(A.s, s), 4, '*') = '**cc'", [("y", 2)]),
        ("date_format(greatest(d, A.d), 'yyyy-MM-dd') > '1970-05-01'", [("y", 3)]),
        _slow("round((v + A.v) / 7D, 2) = 0.71D", [("x", 2)]),
        _slow("coalesce(nullif(A.s, s), 'same') = 'same'", [("x", 4), ("y", 2)]),
        _slow("CASE WHEN A.v > v THEN split_part(concat(A.s, ',', s), ',', 2) END = 'b'", [("x", 2)]),
    ],
)
def test_what_users_try_in_conditions(condition: str, expected: list[tuple[str, int]], events: DataFrame) -> None:
    assert _ends(events, condition) == expected


@pytest.mark.parametrize(
    ("condition", "code"), [("A.v * v * 4611686018427387904 > v", "REX405"), ("A.v DIV (v - v) IS NULL", "REX404")]
)
def test_arithmetic_over_rows_fails_without_ansi_rules_too(
    condition: str, code: str, events: DataFrame, spark: SparkSession, settings_kept: None
) -> None:
    spark.conf.set("spark.sql.ansi.enabled", "false")
    with pytest.raises(Exception, match=code):
        _ends(events, condition)


@pytest.mark.parametrize(
    "rows_per_match",
    [
        "ONE ROW PER MATCH", "ALL ROWS PER MATCH WITH UNMATCHED ROWS",
        _slow("ALL ROWS PER MATCH"), _slow("ALL ROWS PER MATCH OMIT EMPTY MATCHES"),
    ],
)
@pytest.mark.parametrize("skip", ["PAST LAST ROW", "TO NEXT ROW"])
def test_spark_aggregates_what_the_workers_gather(rows_per_match: str, skip: str, events: DataFrame) -> None:
    """`try_sum` is Spark's to compute, `sum` a worker's: for every row of every kind of result they agree."""
    if "UNMATCHED" in rows_per_match and skip == "TO NEXT ROW":
        pytest.skip("the standard has no such query")
    query = f"""SELECT * FROM t MATCH_RECOGNIZE (
      PARTITION BY g ORDER BY id
      MEASURES SUM(v) AS ours, try_sum(v) AS theirs, SUM(B.v) FILTER (WHERE B.v < 4) AS our_few,
        try_sum(B.v) FILTER (WHERE B.v < 4) AS their_few,
        FINAL SUM(B.v) AS our_final, FINAL try_sum(B.v) AS their_final,
        COUNT(*) AS n, regr_count(v, id) AS their_n, MATCH_NUMBER() AS number
      {rows_per_match} AFTER MATCH SKIP {skip}
      PATTERN (A B+ | Z?) DEFINE B AS v < PREV(v), A AS v > 3, Z AS v > 100)"""
    result = rex.sql(query, t=events).collect()
    assert len(result) >= 2
    for row in result:
        assert (row["theirs"], row["their_few"], row["their_final"]) == (row["ours"], row["our_few"], row["our_final"])
        assert (row["their_n"] or 0) == (row["n"] or 0)
    numbers = [(row["g"], row["number"]) for row in result if row["number"] is not None]
    assert rows_per_match != "ONE ROW PER MATCH" or len(set(numbers)) == len(numbers)


def test_aggregates_of_spark_beside_others(events: DataFrame) -> None:
    query = """SELECT * FROM t MATCH_RECOGNIZE (
      PARTITION BY g ORDER BY id
      MEASURES corr(v, id) AS c, percentile_approx(v, 0.5) AS p, approx_count_distinct(s) AS n, any_value(s) AS a,
        last_value(v) AS l, first_value(s, true) AS f, any_value(v + id) AS e, last_value(nullif(v, 2)) AS last_null,
        last_value(nullif(v, 2)) IGNORE NULLS AS last_there, first_value(s, true) FILTER (WHERE id > 2) AS late,
        array_agg(v) AS listed, regr_slope(v, MATCH_NUMBER()) AS none
      PATTERN (^ A+))"""
    found = {row["g"]: row for row in rex.sql(query, t=events).collect()}
    grouped = events.groupBy("g").agg(*(
        F.expr(text) for text in ("corr(v, id) AS c", "percentile_approx(v, 0.5) AS p", "approx_count_distinct(s) AS n")
    ))
    for row in grouped.collect():
        mine = found[row["g"]]
        assert (mine["p"], mine["n"]) == (row["p"], row["n"])
        assert mine["c"] == pytest.approx(row["c"], abs=1e-12)
    names = ("a", "l", "f", "e", "last_null", "last_there", "late", "listed", "none")
    assert [tuple(row[name] for name in names) for _, row in sorted(found.items())] == [
        ("a", 2, "a", 5, None, 3, "ab", [4, 1, 3, 2], None), ("c", 9, "c", 8, 9, 9, "d", [7, 7, 9], None)
    ]


def test_an_aggregate_of_the_users(spark: SparkSession, events: DataFrame) -> None:
    """Beside Spark's own, over no rows, and twice."""
    import pandas as pd
    from pyspark.sql.pandas import functions as pandas_functions

    make: Any = pandas_functions.pandas_udf

    def span(values: pd.Series) -> float:
        return float(values.max() - values.min())

    span.__annotations__ = {"values": pd.Series, "return": float}
    spark.udf.register("span_of", make(span, "double"))
    try:
        query = """SELECT * FROM t MATCH_RECOGNIZE (
          PARTITION BY g ORDER BY id
          MEASURES span_of(A.v) AS a, try_sum(v) AS s, span_of(B.v) AS b, COUNT(*) AS n, array_agg(v) AS listed
          PATTERN (^ A+ B?) DEFINE A AS v <> 2)"""
        found = sorted(rows(rex.sql(query, t=events)))
    finally:
        spark.sql("DROP TEMPORARY FUNCTION span_of")
    assert found == [("x", 3.0, 10, 0.0, 4, [4, 1, 3, 2]), ("y", 2.0, 23, None, 3, [7, 7, 9])]


def test_explain_names_the_shuffle(events: DataFrame) -> None:
    text = """SELECT * FROM t MATCH_RECOGNIZE (
      PARTITION BY g ORDER BY id MEASURES corr(v, id) AS c PATTERN (A+))"""
    assert "Spark aggregates corr over what was gathered: one more shuffle" in str(rex.explain(text, t=events))


def test_an_aggregate_that_spark_refuses_is_named(events: DataFrame) -> None:
    text = "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY g ORDER BY id MEASURES corr(d, s) AS c PATTERN (A+))"
    with pytest.raises(RexError) as caught:
        rex.sql(text, t=events)
    assert (caught.value.code, caught.value.position) == ("REX214", (1, 70))


def _functions() -> dict[str, Callable[..., object]]:
    """Made here, so that they travel to the workers by value: those cannot import this module."""

    def weighed(price: int | None, before: int | None) -> float:
        return 0.0 if price is None or before is None else price / before

    def spread(prices: list[int]) -> int:
        return max(prices) - min(prices)

    def fails(price: int, before: int) -> bool:
        raise ValueError(f"{price} after {before} is cursed")

    def lies(price: int, before: int) -> int:
        return "12"  # type: ignore[return-value]

    return {"weighed": weighed, "spread": spread, "fails": fails, "lies": lies}


FUNCTIONS = _functions()


def test_a_python_function_of_several_rows(events: DataFrame, jobs: Callable[[], int]) -> None:
    """The session has none of them: `spread` is registered for the measure, which Spark computes."""
    query = """SELECT * FROM t MATCH_RECOGNIZE (
      PARTITION BY g ORDER BY id MEASURES LAST(id) AS last_id, spread(array_agg(v)) AS width
      PATTERN (^ A+? B) DEFINE B AS weighed(v, A.v) > 1.2 OR spread(array_agg(v)) > 2)"""
    in_memory = rex.sql(query, t=events.toArrow(), functions=FUNCTIONS).to_pylist()
    assert in_memory == [{"g": "x", "last_id": 2, "width": 3}, {"g": "y", "last_id": 3, "width": 2}]
    assert rows(rex.sql(query, t=events, functions=FUNCTIONS)) == [tuple(row.values()) for row in in_memory]


@pytest.mark.parametrize(
    ("condition", "code", "message"),
    [
        ("fails(v, A.v)", "REX423", "fails failed: ValueError: 1 after 4 is cursed"),
        ("lies(v, A.v) > 1", "REX423", "lies failed: TypeError: it returned a str, not a int"),
    ],
)
def test_an_error_of_a_python_function_has_its_place(
    condition: str, code: str, message: str, events: DataFrame
) -> None:
    query = f"""SELECT * FROM t MATCH_RECOGNIZE (
      PARTITION BY g ORDER BY id PATTERN (^ A B) DEFINE B AS {condition})"""
    for table in (events.toArrow(), events):
        with pytest.raises((RexError, PySparkException)) as caught:
            result = rex.sql(query, t=table, functions=FUNCTIONS)
            result.collect()
        assert f"error[{code}]: {message}" in str(caught.value)
        assert "2 |       PARTITION BY g" in str(caught.value)


@pytest.mark.parametrize(
    ("condition", "code", "hint"),
    [
        ("weighed(s, A.v) > 1", "REX214", "weighed(bigint, bigint) -> double"),
        ("weighed(v + A.v) > 1", "REX213", "weighed(bigint, bigint) -> double"),
        ("soundex(concat(A.s, s)) > 'A'", "REX301", "functions="),
        ("pow(v, A.v) > 1", "REX301", "x * x"),
        ("v > corr(A.v, A.id)", "REX301", "functions="),
    ],
)
def test_what_stays_refused_says_what_to_do(
    condition: str, code: str, hint: str, events: DataFrame, jobs: Callable[[], int]
) -> None:
    query = f"SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY g ORDER BY id PATTERN (A+ B) DEFINE B AS {condition})"
    with pytest.raises(RexError) as caught:
        rex.sql(query, t=events, functions=FUNCTIONS)
    assert caught.value.code == code, str(caught.value)
    assert hint in str(caught.value)
    assert jobs() == 0


def test_a_worker_with_other_versions_refuses(events: DataFrame) -> None:
    query = """SELECT * FROM t MATCH_RECOGNIZE (
      PARTITION BY g ORDER BY id PATTERN (A B) DEFINE B AS upper(concat(A.s, s)) = 'AB')"""
    from sparkrex.modes.rows.mode import MODE
    from sparkrex.spark.worker_expressions import check_evaluators

    plans = []
    made = MODE.task

    def task(mode: object, *given: Any) -> Any:
        plans.append(given[0].worker)
        return made(*given)

    with mock.patch.object(type(MODE), "task", task):
        rex.sql(query, t=events)
    check_evaluators(plans[0])
    other = mock.patch.object(duckdb, "__version__", "9.9.9")
    with other, pytest.raises(RexError, match=r"the worker has duckdb 9\.9\.9"):
        check_evaluators(plans[0])
