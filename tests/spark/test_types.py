"""Types: every one that Arrow carries passes, and measures have the types that Spark gives them."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.sql import functions as F  # noqa: N812  as everybody writes it
from tests.spark.sample import rows

import sparkrex as rex
from sparkrex.errors import RexError, UnsupportedError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TYPES = {
    "tinyint": "CAST(id AS TINYINT)",
    "smallint": "CAST(-id AS SMALLINT)",
    "int": "CAST(id AS INT)",
    "float": "CAST(id / 3 AS FLOAT)",
    "double": "id / 7",
    "decimal(9,2)": "CAST(id / 8 AS DECIMAL(9,2))",
    "decimal(38,10)": "CAST('1234567890123456789012345678.0123456789' AS DECIMAL(38,10)) + id",
    "string": "concat('né', id)",
    "char": "CAST(id AS CHAR(4))",
    "varchar": "CAST(id AS VARCHAR(4))",
    "collated": "concat('A', id) COLLATE UTF8_LCASE",
    "binary": "unhex(concat('00ff0', id))",
    "boolean": "id % 2 = 0",
    "date": "date '2024-02-28' + CAST(id AS INT)",
    "timestamp": "timestamp '2024-02-28 23:59:59.123456'",
    "timestamp_ntz": "timestamp_ntz '1904-02-28 23:59:59.123456'",
    "interval_day": "make_dt_interval(id, 2, 3, 4.5)",
    "interval_hour": "INTERVAL '5' HOUR",
    "array": "array(id, NULL, id * 2)",
    "nested_array": "array(array('x', NULL), NULL, array())",
    "struct": "named_struct('a', id, 'b', array(named_struct('c', NULL)))",
    "map": "map('k', id, 'l', NULL)",
    "map_of_structs": "map(id, named_struct('m', map('n', array(1.5D))))",
    "variant": "parse_json(concat('{\"a\": [1, ', id, ']}'))",
    "void": "NULL",
}


def test_every_type_passes_through(spark: SparkSession) -> None:
    """As a column of ALL ROWS PER MATCH, and as a measure; the third row is all NULL."""
    columns = [f"if(id = 3, NULL, {sql}) AS `{name}`" for name, sql in TYPES.items()]
    frame = spark.range(1, 6).selectExpr("id", "id % 2 AS g", *columns)
    measures = ", ".join(f"FIRST(`{name}`) AS `first {name}`" for name in TYPES)
    clause = f"PARTITION BY g ORDER BY id MEASURES {measures} ALL ROWS PER MATCH PATTERN (A+)"
    found = frame.transform(rex.match(clause))
    types = {field.name: field.dataType for field in frame.schema}
    assert {field.name: field.dataType.simpleString() for field in found.schema} == {
        **{name: kind.simpleString() for name, kind in types.items()},
        **{f"first {name}": types[name].simpleString() for name in TYPES},
    }
    given = {row["id"]: row for row in frame.collect()}
    answered = {row["id"]: row for row in found.collect()}
    assert given.keys() == answered.keys()
    for id_, row in answered.items():
        for name in TYPES:
            assert _plain(row[name]) == _plain(given[id_][name]), (id_, name)
            assert _plain(row[f"first {name}"]) == _plain(given[2 - id_ % 2][name]), (id_, name)


def _plain(value: Any) -> Any:
    """A variant compares by what it holds."""
    return value.toJson() if type(value).__name__ == "VariantVal" else value


@pytest.mark.parametrize("sql", ["make_ym_interval(1, 2)", "make_interval(1, 2, 3)"])
def test_a_type_that_arrow_cannot_carry_is_refused_only_if_needed(sql: str, spark: SparkSession) -> None:
    frame = spark.range(4).selectExpr("id", "id % 2 AS g", f"{sql} AS span")
    clause = "PARTITION BY g ORDER BY id MEASURES COUNT(*) AS n {} PATTERN (A+)"
    one = rex.sql(f"SELECT * FROM t MATCH_RECOGNIZE ({clause.format('')})", t=frame)
    assert rows(one) == [(0, 2), (1, 2)]
    with pytest.raises(UnsupportedError, match="span") as caught:
        rex.sql(f"SELECT * FROM t MATCH_RECOGNIZE ({clause.format('ALL ROWS PER MATCH')})", t=frame)
    assert "interval" in str(caught.value)
    assert "cast" in str(caught.value)


def test_types_of_measures_are_those_of_spark(spark: SparkSession) -> None:
    frame = spark.createDataFrame(
        pa.table({
            "g": [1, 1], "id": [1, 2], "i": pa.array([1, 2], pa.int32()), "d": [Decimal("1.50"), Decimal("2.25")],
            "f": pa.array([1.5, 2.5], pa.float32()),
        })
    )
    measures = {
        "sum(i)": "bigint", "avg(i)": "double", "i + 1": "int", "i / 2": "double", "sum(d)": "decimal(13,2)",
        "avg(d)": "decimal(7,6)", "d * d": "decimal(7,4)", "sum(f)": "double", "max(f)": "float", "count(*)": "bigint",
        "array_agg(i)": "array<int>", "classifier()": "string", "match_number()": "bigint", "stddev(i)": "double",
        "first(i) = 1": "boolean", "concat('x', last(i))": "string",
    }
    listed = [f"{sql} AS `{sql}`" for sql in measures]
    clause = f"PARTITION BY g ORDER BY id MEASURES {', '.join(listed)} PATTERN (A+)"
    found = frame.transform(rex.match(clause))
    assert {field.name: field.dataType.simpleString() for field in found.schema} == {"g": "bigint", **measures}
    for sql, kind in measures.items():
        if sql not in ("classifier()", "match_number()"):
            of_spark = frame.selectExpr(f"{sql} AS x") if "(" not in sql else frame.agg(F.expr(sql).alias("x"))
            assert of_spark.schema["x"].dataType.simpleString() == kind, sql
    assert [row["sum(d)"] for row in found.collect()] == [Decimal("3.75")]


def test_parts_of_nested_values(spark: SparkSession) -> None:
    frame = spark.range(3).selectExpr(
        "id AS g", "id", "struct(id AS a, 'x' AS b) AS s", "map('k', id) AS m", "array(id, id + 1) AS l"
    )
    clause = """PARTITION BY g ORDER BY id
      MEASURES s.a AS sa, LAST(A.s.b) AS sb, A.m['k'] AS mk, FIRST(A.l)[1] AS l1, SUM(s.a) AS n, array_agg(s) AS ss
      PATTERN (A) DEFINE A AS A.s.a >= 1 AND m['k'] > 0 AND l[0] > 0"""
    assert rows(frame.transform(rex.match(clause))) == [
        (1, 1, "x", 1, 2, 1, [(1, "x")]), (2, 2, "x", 2, 3, 2, [(2, "x")])
    ]


@pytest.mark.parametrize("sql", ["map('k', id)", "parse_json('1')"])
@pytest.mark.parametrize("clause", ["PARTITION BY v ORDER BY id", "PARTITION BY id ORDER BY v"])
def test_keys_that_cannot_be_ordered_are_refused(sql: str, clause: str, spark: SparkSession) -> None:
    frame = spark.range(3).selectExpr("id", f"{sql} AS v")
    query = f"SELECT * FROM t MATCH_RECOGNIZE ({clause} MEASURES COUNT(*) AS n PATTERN (A+))"
    with pytest.raises(RexError) as caught:
        rex.sql(query, t=frame)
    assert caught.value.code == "REX214"
    assert caught.value.position == (1, query.index(" BY v") + 5)
