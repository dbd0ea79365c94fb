"""The mode of tests/modes on Spark, which the package has never heard of; its code travels with the task."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pyspark import cloudpickle
from tests.modes.every_nth import mode, plan
from tests.modes.test_every_nth import EXPECTED, QUERY, TABLE, every_nth  # noqa: F401  the last is a fixture

import sparkrex as rex
from sparkrex.modes.tables import ELSEWHERE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture(autouse=True)
def sent_by_value() -> Iterator[None]:
    """Workers cannot import the tests."""
    for module in (mode, plan):
        cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
    yield
    for module in (mode, plan):
        cloudpickle.unregister_pickle_by_value(module)  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("settings", [{}, {"sort_memory": 1, "chunk_rows": 3}])
def test_every_nth_on_spark(settings: dict[str, int], spark: SparkSession) -> None:
    frame = spark.createDataFrame(TABLE)
    answer = rex.sql(QUERY, t=frame, settings=settings)
    assert sorted(tuple(row) for row in answer.collect()) == EXPECTED
    assert "EveryNth 2 of k, ts, x" in str(rex.explain(QUERY, t=frame))


@pytest.mark.parametrize(
    "query", ["{}", "SELECT k, ts, x FROM ({}) s", "{} UNION ALL SELECT * FROM t WHERE x < 0"],
)
def test_a_whole_query_on_spark(query: str, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ELSEWHERE, "SAMPLED", "tests.modes.every_nth.query_language")
    frame = spark.createDataFrame(TABLE)
    answer = rex.sql(query.format("SELECT * FROM t SAMPLED 2 PARTITION BY k ORDER BY ts"), t=frame)
    assert sorted(tuple(row) for row in answer.collect()) == EXPECTED
