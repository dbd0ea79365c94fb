"""Types of Arrow columns that are known without asking DuckDB are those that DuckDB would tell."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from sparkrex.hosts.duckdb.host import DuckDbHost
from sparkrex.hosts.duckdb.types import arrow_column_type
from sparkrex.settings import Settings
from sparkrex.source import Source
from sparkrex.syntax.tokens import find_dialect

UNITS = ("s", "ms", "us", "ns")
FLAT = [
    pa.bool_(), pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(),
    pa.float32(), pa.float64(), pa.date32(), pa.date64(), pa.string(), pa.large_string(), pa.string_view(),
    pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(4), pa.decimal32(5, 2), pa.decimal64(12, 3),
    *(pa.decimal128(precision, scale) for precision in (1, 9, 18, 19, 38) for scale in (0, 1)),
    *(pa.timestamp(unit, zone) for unit in UNITS for zone in (None, "UTC", "Europe/Paris")),
    *(pa.duration(unit) for unit in UNITS), pa.month_day_nano_interval(),
    pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns"),
]
NESTED = [
    pa.null(), pa.list_(pa.int32()), pa.large_list(pa.int64()), pa.list_(pa.int8(), 3),
    pa.struct([("a", pa.int32())]), pa.map_(pa.string(), pa.int32()),
    *(pa.dictionary(index, value) for index in (pa.int8(), pa.int32()) for value in (pa.string(), pa.int64())),
]
REFUSED = [pa.float16(), pa.decimal256(50, 2), pa.decimal128(5, -2)]


def host() -> DuckDbHost:
    return DuckDbHost(Source("SELECT 1"), find_dialect("spark"), "spark", Settings())


@pytest.mark.parametrize("kind", FLAT + NESTED, ids=str)
def test_a_known_type_is_duckdbs(kind: pa.DataType) -> None:
    table = pa.schema([("x", kind)]).empty_table()
    asked = host()
    asked.register("t", table)
    [(_, expected)] = asked.describe("SELECT * FROM t")
    known = arrow_column_type(kind)
    assert known is None or repr(known) == repr(expected)
    assert [repr(found) for found in asked.column_types("T")] == [repr(expected)]


@pytest.mark.parametrize("kind", REFUSED, ids=str)
def test_a_type_that_duckdb_refuses_is_not_claimed(kind: pa.DataType) -> None:
    assert arrow_column_type(kind) is None


def test_a_dataset_has_the_types_of_its_table() -> None:
    kinds = [kind for kind in FLAT if arrow_column_type(kind) is not None]
    table = pa.schema([(f"c{number}", kind) for number, kind in enumerate(kinds)]).empty_table()
    asked = host()
    asked.register("t", ds.dataset(table))
    expected = [repr(kind) for _, kind in asked.describe("SELECT * FROM t")]
    assert [repr(kind) for kind in asked.column_types("t")] == expected


def test_common_types_are_known() -> None:
    """The point of the list: a usual table is planned without DuckDB."""
    for kind in (pa.int64(), pa.float64(), pa.string(), pa.timestamp("us"), pa.decimal128(18, 2), pa.date32()):
        assert arrow_column_type(kind) is not None
