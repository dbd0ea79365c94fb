"""Random queries: Spark answers as the engine does in memory, which random tests of each mode hold to its oracle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.spark.random_queries import MODES, questions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_N_SHARES = 10
_N_PER_SHARE = 30


@pytest.mark.filterwarnings("ignore:.*go through one task")
@pytest.mark.filterwarnings("ignore:no event has type")
@pytest.mark.filterwarnings("ignore:SLIDE .* is larger than WITHIN")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "share", [0, *(pytest.param(share, marks=pytest.mark.slow) for share in range(1, _N_SHARES))]
)
def test_spark_answers_as_in_memory(mode: str, share: int, spark: SparkSession) -> None:
    n_answers = 0
    for question in questions(mode, str(share), _N_PER_SHARE):
        assert (difference := question.difference(spark)) is None, difference
        n_answers += len(question.answer(None)) > 1
    # Agreement about nothing would mean nothing.
    assert n_answers > _N_PER_SHARE // 8
