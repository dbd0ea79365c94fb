"""One series without PARTITION BY, in files by path: tasks search slices and give what one search gives.

What slices must do on any rows is tested without Spark, in `tests/modes/rows/test_slices.py`.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.spark.test_files import explained

import sparkrex as rex
from sparkrex.spark.files import choosing

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

N_ROWS = 600
SLICED: dict[str, Any] = {"slices": True}


@pytest.fixture(autouse=True)
def small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """A task for next to nothing."""
    monkeypatch.setattr(choosing, "_LEAST_BYTES", 64)


def ticks() -> pa.Table:
    draw = np.random.default_rng(18)
    steps = draw.choice([1, 2, 60], N_ROWS, p=[0.88, 0.1, 0.02])
    return pa.table({
        "ts": pa.array(np.cumsum(steps) * 1_000_000 + 1_700_000_000_000_000, pa.timestamp("us", "UTC")),
        "n": np.arange(N_ROWS), "x": draw.integers(0, 4, N_ROWS), "price": draw.integers(90, 110, N_ROWS) / 4,
    })


def write(table: pa.Table, folder: Path, **options: Any) -> str:
    folder.mkdir()
    half = table.num_rows // 2
    for number, part in enumerate((table.slice(0, half), table.slice(half))):
        pq.write_table(part, folder / f"{number}.parquet", row_group_size=40, **options)
    return str(folder)


def clause(rest: str, order: str = "ts") -> str:
    return f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY {order} {rest})"


MEASURES = "MEASURES FIRST(n) AS f, LAST(n) AS l, count(*) AS c"
V_SHAPE = f"{MEASURES} PATTERN (S D+ U+) WITHIN INTERVAL '8' SECOND DEFINE D AS x < PREV(x), U AS x > PREV(x)"
BOUNDED = [
    V_SHAPE,
    V_SHAPE.replace("PATTERN", "AFTER MATCH SKIP TO NEXT ROW PATTERN"),
    f"""{MEASURES}, PREV(FIRST(x), 2) AS p ALL ROWS PER MATCH PATTERN (A B*) WITHIN INTERVAL '4' SECOND
      DEFINE A AS x > PREV(x)""",
    f"{MEASURES} PATTERN (A B+ C) WITHIN INTERVAL '9' SECOND DEFINE B AS price < A.price, C AS price > A.price + 1",
    f"{MEASURES} PATTERN (A B{{1,3}} C) DEFINE A AS x = 0, B AS x > 0, C AS NEXT(x) = 1",
    f"{MEASURES} PATTERN (A A) WITHIN INTERVAL '2' DAY DEFINE A AS x < 3",
    f"{MEASURES} PATTERN (A B* C) DEFINE C AS C.ts - A.ts <= INTERVAL '5' SECOND AND C.x = 2",
]


@pytest.mark.parametrize("rest", BOUNDED)
def test_slices_give_what_one_search_gives(spark: SparkSession, tmp_path: Path, rest: str) -> None:
    table = ticks()
    path = write(table, tmp_path / "t")
    query = clause(rest)
    assert "tasks search a slice of time each" in explained(spark, query, SLICED, t=path)
    found = rex.sql(query, t=path, spark=spark, settings=SLICED).toArrow()
    expected = rex.sql(query, t=table, dialect="spark")
    assert found.to_pylist() == expected.to_pylist()
    assert found.num_rows > 10


def test_a_series_of_numbers_days_and_in_no_order(spark: SparkSession, tmp_path: Path) -> None:
    table = ticks()
    days = pa.array([dt.date(2020, 1, 1) + dt.timedelta(days=n // 3) for n in range(N_ROWS)])
    table = table.append_column("day", days).take(np.argsort(np.arange(N_ROWS) // 20 * 40 - np.arange(N_ROWS) % 20))
    path = write(table, tmp_path / "t")
    for order in ("n", "day"):
        query = clause(V_SHAPE.replace("D+ U+) WITHIN INTERVAL '8' SECOND", "D{1,3} U{1,3})"), order)
        assert "tasks search a slice of time each" in explained(spark, query, SLICED, t=path)
        found = rex.sql(query, t=path, spark=spark, settings=SLICED).toArrow()
        assert found.to_pylist() == rex.sql(query, t=table, dialect="spark").to_pylist()


def test_conditions_of_the_input_and_few_rows(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = ticks()
    path = write(table, tmp_path / "t")
    query = clause(V_SHAPE).replace("FROM t", "FROM (SELECT * FROM t WHERE n > 100 AND x <> 1)")
    expected = rex.sql(query, t=table, dialect="spark").to_pylist()
    assert "2 more are left out by their statistics" in explained(spark, query, SLICED, t=path)
    assert rex.sql(query, t=path, spark=spark, settings=SLICED).toArrow().to_pylist() == expected
    monkeypatch.setattr(choosing, "_LEAST_BYTES", 1 << 20)
    assert "one task searches them: there are few" in explained(spark, query, SLICED, t=path)
    assert rex.sql(query, t=path, spark=spark, settings=SLICED).toArrow().to_pylist() == expected


@pytest.mark.parametrize(
    ("rest", "why"),
    [
        (V_SHAPE.replace("count(*)", "MATCH_NUMBER()"), "MATCH_NUMBER() counts the matches before"),
        (V_SHAPE.replace("PATTERN", "AFTER MATCH SKIP TO LAST U PATTERN"), "LAST U is not searched in slices"),
        (V_SHAPE.replace("LAST(n)", "NEXT(LAST(n))"), "measures read rows behind the match"),
        (V_SHAPE.replace("(S D+", "(^ S D+"), "the pattern has an anchor"),
        (V_SHAPE.replace("PATTERN", "ALL ROWS PER MATCH WITH UNMATCHED ROWS PATTERN"), "unmatched rows"),
    ],
)
def test_queries_that_one_task_searches_whatever_bounds_a_match(
    spark: SparkSession, tmp_path: Path, rest: str, why: str
) -> None:
    with pytest.warns(UserWarning, match="one task; add PARTITION BY if possible$"):
        assert why in explained(spark, clause(rest), SLICED, t=write(ticks(), tmp_path / "t"))


@pytest.mark.parametrize(
    ("rest", "order", "why"),
    [
        (V_SHAPE.replace("WITHIN INTERVAL '8' SECOND", ""), "ts", "nothing bounds how far a match may reach"),
        (f"{MEASURES} PATTERN (A{{2}}) DEFINE A AS x > 0", "price", "the first column of ORDER BY is of type double"),
        (f"{MEASURES} PATTERN (A{{2}}) DEFINE A AS x > 0", "x", "row groups that overlap in time"),
        (f"{MEASURES} PATTERN (A{{2}}) DEFINE A AS x > 0", "gap", "gap may be NULL"),
    ],
)
def test_queries_that_slices_could_answer_if_they_were_bounded(
    spark: SparkSession, tmp_path: Path, rest: str, order: str, why: str
) -> None:
    path = write(ticks().append_column("gap", pa.array([None, *range(1, N_ROWS)])), tmp_path / "t")
    with pytest.warns(UserWarning, match="one task.*in Parquet files named by path if.*as by WITHIN"):
        assert why in explained(spark, clause(rest, order), SLICED, t=path)


def test_an_error_says_at_which_row(spark: SparkSession, tmp_path: Path) -> None:
    table = ticks()
    rest = f"{MEASURES} PATTERN (A B) WITHIN INTERVAL '5' SECOND DEFINE A AS n < 500, B AS 1 / (B.n - A.n - 1) > 0"
    with pytest.raises(Exception, match=r"error\[REX404\]: division by zero") as caught:
        rex.sql(clause(rest), t=write(table, tmp_path / "t"), spark=spark, settings=SLICED).collect()
    assert "the match starts at the row of 2023-11-14" in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"slices": False}, "the setting slices is off"),
        ({"sort_memory": 1 << 11}, "may take more memory than sort_memory"),
    ],
)
def test_settings_that_leave_a_series_to_one_task(
    spark: SparkSession, tmp_path: Path, settings: dict[str, Any], why: str
) -> None:
    path = write(ticks(), tmp_path / "t")
    with pytest.warns(UserWarning, match="one task"):
        assert why in explained(spark, clause(V_SHAPE), t=path, settings=SLICED | settings)


def test_functions_of_several_rows_and_aggregates_of_sparks(spark: SparkSession, tmp_path: Path) -> None:
    table = ticks()
    path = write(table, tmp_path / "t")
    query = clause(V_SHAPE.replace("D AS x <", "D AS greatest(x, FIRST(x)) >= 0 AND x <"))
    assert "tasks search a slice of time each" in explained(spark, query, SLICED, t=path)
    assert rex.sql(query, t=path, spark=spark, settings=SLICED).toArrow().num_rows > 10
    counted = clause(V_SHAPE.replace("count(*)", "approx_count_distinct(x)"))
    with pytest.warns(UserWarning, match="one task"):
        assert "read by Spark: there is no PARTITION BY" in explained(spark, counted, SLICED, t=path)
