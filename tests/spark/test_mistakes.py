"""What a new user is told about common mistakes on Spark: before any job runs, at the same place as in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.api.mistakes import MISTAKES, TABLE, Mistake
from tests.api.test_mistakes import ask, check

import sparkrex as rex

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore:.*go through one task")]
# Where Spark's own words differ from DuckDB's, place and code are the same.
_OTHER_WORDS = {"mode_of_events", "sql_around"}


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_mistake(mistake: Mistake, spark: SparkSession) -> None:
    frame = spark.createDataFrame(TABLE)
    with pytest.raises(rex.RexError) as raised:
        ask(mistake, frame)
    if mistake.name in _OTHER_WORDS:
        assert raised.value.code == mistake.code
        assert raised.value.position is not None
    else:
        check(mistake, raised.value)
