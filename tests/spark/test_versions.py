"""What older versions of Spark lack or do otherwise, as far as the locked version can show it.

`make test-versions` runs the tests of Spark on the older versions themselves.
"""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.sql.pandas import types as pandas_types
from pyspark.sql.types import (
    ArrayType,
    DecimalType,
    MapType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)
from tests.spark.sample import arrow_rows

import sparkrex as rex
from sparkrex.spark import versions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_AT = datetime.datetime(2024, 1, 2, 3, 4, 5)
_TABLE = pa.table(
    {
        "number": pa.array([1, None], pa.int32()),
        "exact": pa.array([Decimal("1.25"), None], pa.decimal128(10, 2)),
        "real": pa.array([float("inf"), None]),
        "at": pa.array([_AT, None], pa.timestamp("us")),
        "zoned": pa.array([_AT.replace(tzinfo=datetime.UTC), None], pa.timestamp("us", "UTC")),
        "day": pa.array([_AT.date(), None]),
        "listed": pa.array([[1, None], None], pa.list_(pa.int64())),
        "mapped": pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int64())),
        "nested": pa.array([{"a": 1, "b": "x"}, None]),
        "bytes": pa.array([b"\x00", None]),
    }
)


def test_zones_are_set_where_pyspark_cannot(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark 4.0 and 4.1 give every timestamp in UTC."""
    parts = StructType([
        StructField("a", TimestampType()), StructField("n", TimestampNTZType()),
        StructField("l", ArrayType(TimestampType(), containsNull=False)),
        StructField("m", MapType(StringType(), TimestampType())), StructField("d", DecimalType(10, 2)),
    ])
    schema = StructType([*parts.fields, StructField("s", parts, nullable=False)])
    convert: Any = pandas_types.to_arrow_schema
    expected = versions.zoned_arrow_schema(schema, "Europe/Vienna")
    assert expected.field("a").type == pa.timestamp("us", "Europe/Vienna")

    def of_an_older_version(schema: StructType) -> pa.Schema:
        return convert(schema, timezone="UTC")

    monkeypatch.setattr(pandas_types, "to_arrow_schema", of_an_older_version)
    assert versions.zoned_arrow_schema(schema, "Europe/Vienna") == expected


def test_tables_row_by_row_keep_their_types(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = versions.to_frame(spark, _TABLE)
    monkeypatch.setattr(versions, "_VERSION", (3, 5))
    row_by_row = versions.to_frame(spark, _TABLE)
    assert row_by_row.schema == at_once.schema
    assert arrow_rows(row_by_row).to_pylist() == arrow_rows(at_once).to_pylist()


def test_what_a_version_lacks_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "_VERSION", (3, 5))

    class Session:
        """As far as the refusal looks at it."""

        __module__ = "pyspark.sql.connect.session"

    session: Any = Session()
    with pytest.raises(rex.UnsupportedError, match=r"REX301.*the table function needs Spark 4\.0 or later"):
        rex.register_table_function(session)
    with pytest.raises(rex.UnsupportedError, match=r"REX301.*Spark Connect needs Spark 4\.0 or later"):
        rex.sql("SELECT * FROM t MATCH_RECOGNIZE (PATTERN (A) DEFINE A AS true)", spark=session)
