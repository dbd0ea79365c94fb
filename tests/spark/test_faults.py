"""A fault of ours on the Spark side is reported as one, on the driver and in a worker; what Spark says is not."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import PySparkException, PythonException
from tests.api.mistakes import TABLE

import sparkrex as rex
from sparkrex.spark import batch, relation
from sparkrex.spark.shipping import shipped_task

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

    from sparkrex.spark.worker import WorkerTask

pytestmark = pytest.mark.spark
QUERY = (
    "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY sym ORDER BY id MEASURES COUNT(*) AS n PATTERN (A+) "
    "DEFINE A AS price > 0)"
)


@contextlib.contextmanager
def failing_with(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def failing(*arguments: object) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(batch, "lower_relation", failing)
        yield


@pytest.mark.parametrize("fault", [KeyError("labels"), ValueError("zip() argument 2 is longer than argument 1")])
def test_a_fault_on_the_driver(fault: Exception, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = spark.createDataFrame(TABLE)
    events = "PATTERN SEQ(Buy a, Sell b) WHERE skip_till_any_match(a, b)"
    calls: list[Any] = [
        lambda: rex.sql(QUERY, t=frame), lambda: rex.explain(QUERY, t=frame),
        lambda: rex.events(events, frame, time="id", type="kind"),
    ]
    for call in calls:
        with failing_with(fault, monkeypatch), pytest.raises(rex.InternalError) as caught:
            call()
        assert caught.value.code == "REX901"
        assert caught.value.__cause__ is fault
        assert "fault of SparkRex" in str(caught.value)


@pytest.mark.parametrize("error", [MemoryError(), KeyboardInterrupt(), PySparkException("the session has ended")])
def test_what_is_no_fault_passes(
    error: BaseException, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    with failing_with(error, monkeypatch), pytest.raises(type(error)) as caught:
        rex.sql(QUERY, t=spark.createDataFrame(TABLE))
    assert caught.value is error


def test_a_wrong_argument_stays_a_type_error(spark: SparkSession) -> None:
    with pytest.raises(TypeError, match="u= is a int, not a table"):
        rex.sql(QUERY, t=spark.createDataFrame(TABLE), u=3)


def test_a_fault_in_a_worker(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(task: WorkerTask) -> Any:
        return shipped_task(replace(task, settings="no settings"))  # type: ignore[arg-type]  # the worker looks in vain

    monkeypatch.setattr(relation, "shipped_task", broken)
    with pytest.raises(PythonException) as caught:
        rex.sql(QUERY, t=spark.createDataFrame(TABLE)).collect()
    shown = str(caught.value)
    assert "internal error[REX901]: " in shown
    assert "MATCH_RECOGNIZE (PARTITION BY sym" in shown  # the query
    assert "please report it with the query and the traceback" in shown
    assert "in _run" in shown  # the traceback
