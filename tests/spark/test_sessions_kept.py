"""Streams and caches on a classic session; `connect_checks.py` asks the same of a Connect session."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.spark import sessions_kept

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession


def test_streams_are_refused(spark: SparkSession, ticks: DataFrame, tmp_path: Path) -> None:
    sessions_kept.refuse_streams(spark, ticks, tmp_path)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_streams_are_refused_by_the_table_function(spark: SparkSession, ticks: DataFrame, tmp_path: Path) -> None:
    sessions_kept.refuse_a_stream_in_the_table_function(spark, ticks, tmp_path)


def test_what_is_cached_stays_cached(spark: SparkSession, ticks: DataFrame) -> None:
    sessions_kept.keep_caches(spark, ticks)
