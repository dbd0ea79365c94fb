"""What of Spark's SQL workers evaluate, and what is outside that language, in words."""

from __future__ import annotations

import pyarrow as pa
import pytest
import sqlglot

from sparkrex.spark.files.row_language import OutsideError, evaluate
from sparkrex.spark.files.row_sql import read_row
from sparkrex.spark.files.simple_input import read_input

NAN = float("nan")
ROWS = pa.table({
    "a": pa.array([1, None, 3, 4], pa.int32()), "x": [1.0, NAN, None, 2.0], "y": [NAN, NAN, 1.0, 2.0],
    "z": pa.array([-0.0, 1.5, NAN, 0.0], pa.float32()), "s": ["a", "ab", None, "ü"], "t": ["a", "b", "c", None],
})
TYPES = {field.name: field.type for field in ROWS.schema}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = y", [False, True, None, True]), ("x < y", [True, False, None, False]),
        ("x > y", [False, False, None, False]),
        ("x >= y", [False, True, None, True]), ("x <= y", [True, True, None, True]),
        ("x <> y", [True, False, None, False]),
        ("x <=> y", [False, True, False, True]), ("x > 1.5", [False, True, None, True]),
        ("z = 0", [True, False, False, True]), ("z > 0.1", [False, True, True, False]),
        ("a = 3 OR s = 'ab'", [False, True, True, False]), ("a > 1 AND x > 0", [False, None, None, True]),
        ("NOT (a > 1)", [True, None, False, False]), ("a IN (1, 4)", [True, None, False, True]),
        ("a BETWEEN 1 AND 3", [True, None, True, False]), ("s IS NULL", [False, False, True, False]),
        ("s < t", [False, True, None, None]), ("s <=> t", [True, False, False, False]),
        ("x * 2.0 - y", [NAN, NAN, None, 2.0]), ("a <=> NULL IS NULL", None),
    ],
)
def test_values(text: str, expected: list[object] | None) -> None:
    tree = sqlglot.parse_one(text, read="spark")
    if expected is None:
        with pytest.raises(OutsideError):
            read_row(tree, TYPES)
        return
    found = evaluate(read_row(tree, TYPES), ROWS).to_pylist()
    assert list(map(str, found)) == list(map(str, expected))


@pytest.mark.parametrize(
    "text",
    [
        "a + 1", "a / 2", "upper(s)", "s LIKE 'a%'", "a = 1.5", "a = '1'", "s = 1", "x = 1e3",
        "x > 0.1234567890123456789",
        "z > 16777217", "z = x", "a = 9223372036854775808", "rand() < 0.5", "CAST(a AS STRING)", "1 = 1", "a = NULL",
        "s = t COLLATE UTF8_LCASE", "a IN (1, 2.5)", "a AND x > 1", "s || t", "coalesce(a, 1) = 1",
    ],
)
def test_what_is_outside(text: str) -> None:
    with pytest.raises(OutsideError):
        read_row(sqlglot.parse_one(text, read="spark"), TYPES)


TABLES = {"ticks": ["key", "ts", "price"]}


@pytest.mark.parametrize(
    ("text", "columns", "conditions"),
    [
        ("ticks", ["key", "ts", "price"], []),
        ("ticks AS t", ["key", "ts", "price"], []),
        ("(SELECT * FROM ticks WHERE price > 1) AS t", ["key", "ts", "price"], ['"price" > 1']),
        ("(SELECT t.key AS k, ts FROM ticks t WHERE t.key = 1)", ["k", "ts"], ['"key" = 1']),
        (
            "(SELECT k FROM (SELECT key AS k, price AS p FROM ticks WHERE ts > '2026-01-01') WHERE p > 1)", ["k"],
            ['"ts" > \'2026-01-01\'', '"price" > 1'],
        ),
    ],
)
def test_simple_inputs(text: str, columns: list[str], conditions: list[str]) -> None:
    found = read_input(f"SELECT * FROM {text}", TABLES)
    assert (found.table, list(found.columns), [part.sql() for part in found.where]) == ("ticks", columns, conditions)


def test_common_table_expressions_see_those_before_them() -> None:
    text = (
        "WITH a AS (SELECT * FROM ticks WHERE key = 1), b AS (SELECT key, ts FROM a WHERE price > 2), "
        "ticks AS (SELECT key FROM b) SELECT * FROM ticks"
    )
    found = read_input(text, TABLES)
    assert list(found.columns) == ["key"] and [part.sql() for part in found.where] == ['"key" = 1', '"price" > 2']


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("ticks JOIN other", "a join"), ("(SELECT DISTINCT key FROM ticks)", "DISTINCT"),
        ("(SELECT key FROM ticks LIMIT 3)", "LIMIT"), ("(SELECT key FROM ticks GROUP BY key)", "GROUP"),
        ("(SELECT key FROM ticks UNION ALL SELECT key FROM ticks)", "UNION"), ("other", "other, which is no path"),
        ("(SELECT * EXCEPT (key) FROM ticks)", "EXCEPT"), ("(SELECT key FROM ticks TABLESAMPLE (3 ROWS))", "SAMPLE"),
        ("(SELECT key, key FROM ticks)", "two columns called key"), ("a.ticks", "DB"),
        ("(SELECT 1 AS x)", "without a table"),
        ("(SELECT key FROM ticks WHERE key IN (SELECT 1))", "a subquery"),
        ("(SELECT _metadata.file_path f FROM ticks)", "field"),
        ("(SELECT /*+ COALESCE(1) */ * FROM ticks)", "HINT"), ("ticks AS t(a, b, c)", "behind an alias"),
    ],
)
def test_inputs_that_are_left_to_spark(text: str, reason: str) -> None:
    with pytest.raises(OutsideError, match=reason):
        read_input(f"SELECT * FROM {text}", TABLES)
