"""Golden cases on Spark: the same answers as in memory, and the same errors.

Rows are compared as multisets: a DataFrame has no order. The most telling cases run by default; the others are slow. A
case with `spark: no, because ...` in its header asks for what Spark cannot give.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from tests.answers import differences, render_table
from tests.golden import CASES, case_files, read
from tests.spark.sample import arrow_rows

import sparkrex as rex
from sparkrex.errors import RexError
from sparkrex.spark.versions import to_frame

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession
    from tests.golden import Case

_N_DEFAULT = 16

# Codes of the errors that only a running job can meet: Spark wraps them, and raises its own where Spark evaluates.
_RUN_TIME_CODES = ("REX401", "REX402", "REX403", "REX404", "REX405", "REX406", "REX408", "REX422")


def representatives(cases: list[Case], n_cases: int) -> list[str]:
    """Names of so many cases, each the one with most tags, dialects and error codes that those before it have not."""
    features = {case.name: _features(case) for case in cases}
    missing = set().union(*features.values())
    chosen: list[str] = []
    while missing and len(chosen) < n_cases:
        best = max(features, key=lambda name: (len(features[name] & missing), name))
        chosen.append(best)
        missing -= features[best]
    return chosen


def _features(case: Case) -> set[str]:
    code = case.error.code if case.error is not None else "answer"
    return {*case.tags, f"dialect {case.dialect}", code}


def _parameters() -> Iterator[Any]:
    cases = [case for case in map(read, case_files()) if case.no_spark_because is None]
    chosen = representatives(cases, _N_DEFAULT)
    for case in cases:
        name = case.path.relative_to(CASES).with_suffix("").as_posix()
        yield pytest.param(case.path, id=name, marks=() if case.name in chosen else pytest.mark.slow)


@pytest.mark.parametrize("path", list(_parameters()))
@pytest.mark.filterwarnings("ignore:MATCH_RECOGNIZE without PARTITION BY")
@pytest.mark.filterwarnings("ignore:WINDOW without PARTITION BY")
@pytest.mark.filterwarnings("ignore:trend query without partitions")
@pytest.mark.filterwarnings("ignore:event query without partitions")
def test_case(path: Path, spark: SparkSession) -> None:
    check(read(path), spark)


def check(case: Case, spark: SparkSession) -> None:
    """Fails, with everything needed to see why, unless Spark gives the case's answer or error."""
    try:
        tables = {name: to_frame(spark, table) for name, table in case.arrow_tables().items()}
        frame = rex.sql(case.query, tables, dialect=case.dialect, spark=spark, settings=dict(case.settings) or None)
        answer = _without_zones(arrow_rows(frame))
    except RexError as error:
        if case.error is None:
            raise
        _check_error(case, error)
        return
    except PySparkException as error:
        if case.error is None or case.error.code not in _RUN_TIME_CODES:
            raise
        _check_job_error(case, str(error))
        return
    if case.error is not None:
        pytest.fail(_told(case, [f"expected {case.error.code}, got an answer"], answer))
    assert case.result is not None
    found = differences(case.result, answer, is_ordered=False)
    if found:
        pytest.fail(_told(case, found, answer))


def _without_zones(table: pa.Table) -> pa.Table:
    """Spark's TIMESTAMP as cases write it: the session's zone is UTC."""
    for index, field in enumerate(table.schema):
        if pa.types.is_timestamp(field.type) and field.type.tz is not None:
            column = table.column(index).cast(pa.timestamp("us"))
            table = table.set_column(index, field.name, column)
    return table


def _check_error(case: Case, error: RexError) -> None:
    """An error found before any job: the same code and place. The texts of Spark and DuckDB differ."""
    expected = case.error
    assert expected is not None
    found = []
    if error.code != expected.code:
        found.append(f"expected {expected.code}, got {error.code}")
    if expected.position is not None and error.position != expected.position:
        found.append(f"expected position {expected.position}, got {error.position}")
    if found:
        pytest.fail("\n".join([f"{case.name}: {case.title}", *found, str(error)]))


def _check_job_error(case: Case, shown: str) -> None:
    """An error of the job: ours with its code, its message and the query line, or Spark's own where Spark evaluates."""
    expected = case.error
    assert expected is not None
    if expected.code == "REX404" and "SQLSTATE" in shown and "REX" not in shown:
        return
    wanted = [expected.code, *expected.texts]
    if expected.position is not None:
        line, _ = expected.position
        wanted.append(f"{line} | ")
    missing = [text for text in wanted if text not in shown]
    if missing:
        pytest.fail("\n".join([f"{case.name}: {case.title}", f"not in the message: {missing}", shown]))


def _told(case: Case, found: list[str], answer: pa.Table) -> str:
    return "\n".join([f"{case.name}: {case.title}", *found, "", case.query, "", render_table(answer)])
