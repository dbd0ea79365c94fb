"""What is said to be proven equal on Spark is equal there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.scalar.proving import call_of, compare, entries, operands
from tests.scalar.test_proven import answered, column

from sparkrex.scalar.render.spark import SPARK

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TYPES = {"VARCHAR": "STRING", "TIMESTAMP": "TIMESTAMP_NTZ"}
"""Types that Spark calls otherwise."""


@pytest.mark.parametrize(("function", "kind"), [*entries("spark")])
def test_ours_is_spark_s(function: str, kind: str, spark: SparkSession) -> None:
    # Results beyond 64 bits are errors on both hosts; which rows have them is known from DuckDB.
    table, failed = answered(function, operands(kind, seed=len(function)))
    text = SPARK.render(call_of(function), column)
    schema = ", ".join(f"{name} {TYPES.get(kind, kind)}" for name in "xyz")
    found = spark.createDataFrame(table.drop_columns("h"), schema).selectExpr("*", f"{text} AS h").toArrow()
    assert found.num_rows == table.num_rows
    assert compare(function, "spark", found) == ([], [])
    if failed.num_rows:
        one = spark.createDataFrame(failed.drop_columns("h").slice(0, 1), schema)
        with pytest.raises(Exception, match="ARITHMETIC_OVERFLOW"):
            one.selectExpr(f"{text} AS h").toArrow()
