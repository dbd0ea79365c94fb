"""What a table shows of its columns."""

from __future__ import annotations

import math
from decimal import Decimal

import pyarrow as pa
import pytest

from sparkrex.evaluate.facts import facts_of, value_kind
from sparkrex.scalar.prove import ValueKind


@pytest.mark.parametrize(
    ("type_", "kind"),
    [
        (pa.int8(), ValueKind.INTEGER), (pa.uint64(), ValueKind.INTEGER), (pa.float64(), ValueKind.DOUBLE),
        (pa.float32(), ValueKind.NUMBER), (pa.decimal128(18, 18), ValueKind.DECIMAL),
        (pa.decimal128(19, 2), ValueKind.NUMBER), (pa.decimal256(50, 2), ValueKind.NUMBER),
        (pa.string(), ValueKind.TEXT), (pa.large_string(), ValueKind.TEXT),
        (pa.dictionary(pa.int32(), pa.string()), ValueKind.TEXT),
        (pa.dictionary(pa.int32(), pa.int64()), ValueKind.OTHER), (pa.bool_(), ValueKind.BOOLEAN),
        (pa.date32(), ValueKind.TIME), (pa.timestamp("us"), ValueKind.TIME), (pa.time64("us"), ValueKind.TIME),
        (pa.timestamp("ns"), ValueKind.OTHER), (pa.timestamp("us", "UTC"), ValueKind.OTHER),
        (pa.list_(pa.int64()), ValueKind.OTHER), (pa.null(), ValueKind.OTHER), (pa.binary(), ValueKind.OTHER),
    ],
)
def test_kinds(type_: pa.DataType, kind: ValueKind) -> None:
    assert value_kind(type_) is kind


def test_what_values_show() -> None:
    table = pa.table({
        "above": [1.0, math.nan, math.inf], "some": [1.0, None, 5e-324], "zero": [1.0, -0.0, 2.0],
        "below": [1, -1, 2], "none": pa.array([None] * 3, pa.float64()), "nan": [math.nan] * 3,
        "money": [Decimal("0.01"), Decimal("1.00"), None], "text": ["a", "b", "c"],
        "hidden": pa.chunked_array([[math.nan], [-1.0, math.nan]]),
    })
    facts = facts_of(table.schema, table)
    assert facts.positive == {"above", "some", "none", "nan", "money"}
    assert facts.never_null == {"above", "zero", "below", "nan", "text", "hidden"}
    assert facts_of(table.schema, table, ["some", "below"]).positive == {"some"}


def test_a_schema_shows_kinds_only() -> None:
    facts = facts_of(pa.schema({"x": pa.int64()}))
    assert (facts.kinds, facts.never_null, facts.positive) == ({"x": ValueKind.INTEGER}, frozenset(), frozenset())


def test_an_empty_table_and_names_given_twice() -> None:
    table = pa.table([pa.array([], pa.int64())], ["x"])
    assert facts_of(table.schema, table).positive == {"x"}
    twice = pa.table([pa.array([1]), pa.array([-1])], ["x", "x"])
    assert facts_of(twice.schema, twice).kinds == {}
